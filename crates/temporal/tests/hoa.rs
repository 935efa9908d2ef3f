//! Reading and writing the HOA format.

use entail_temporal::hoa::{self, NamedAutomaton};
use entail_temporal::{Formulas, Limits, translate};
use entail_testkit::ltl::{formula, word};
use entail_testkit::rng::Rng;

#[test]
fn automata_are_read_as_they_were_written() {
    let mut rng = Rng::new(7);
    let names = ["a", "x == \"1\"", "c\\d"].map(str::to_owned);
    for _ in 0..300 {
        let mut formulas = Formulas::default();
        let operators = rng.below(9);
        let random = formula(&mut rng, &mut formulas, operators, 3);
        let automaton = translate(&mut formulas, random, Limits::default()).unwrap();
        let text = hoa::print(&automaton, &names, "a \"formula\"");
        let named = NamedAutomaton { automaton, propositions: names.to_vec(), title: Some("a \"formula\"".into()) };
        assert_eq!(hoa::read(&text).as_ref(), Ok(&named), "{text}");
    }
}

/// An automaton over one proposition, and whether it accepts the words in which that holds infinitely often.
fn is_infinitely_often(text: &str) -> bool {
    let named = hoa::read(text).unwrap_or_else(|problem| panic!("{problem:?}"));
    let mut rng = Rng::new(1);
    (0..200).map(|_| word(&mut rng, 1)).all(|word| named.automaton.accepts(&word) == word.cycle.contains(&1))
}

#[test]
fn acceptance_may_be_on_states_or_edges() {
    let on_edges = "HOA: v1 Start: 0 AP: 1 \"p\" Acceptance: 1 Inf(0) --BODY-- State: 0 [0] 0 {0} [!0] 0 --END--";
    let on_states = "HOA: v1 States: 2 Start: 1 AP: 1 \"p\" acc-name: Buchi Acceptance: 1 Inf(0)
        tool: \"by hand\" properties: state-acc --BODY-- /* the second /* is initial */ */
        State: 0 \"seen\" {0} [0] 0 [!0] 1
        State: 1 [0] 0 [!0] 1 --END--";
    assert!(is_infinitely_often(on_edges) && is_infinitely_often(on_states));
}

#[test]
fn labels_may_be_on_states_or_left_out_or_have_names() {
    let on_states = "HOA: v1 Start: 0 Start: 1 AP: 1 \"p\" Acceptance: 1 Inf(0) --BODY--
        State: [0] 0 {0} 0 1 State: [!0] 1 0 1 --END--";
    let left_out = "HOA: v1 Start: 0 AP: 1 \"p\" Acceptance: 1 Inf(0) --BODY-- State: 0 0 0 {0} --END--";
    let named = "HOA: v1 Start: 0 AP: 1 \"p\" Alias: @yes 0&!f|f Acceptance: 2 (Inf(0) & Inf(1)) --BODY--
        State: 0 [@yes] 0 {0 1} [!@yes] 0 --END--";
    assert!(is_infinitely_often(on_states) && is_infinitely_often(left_out) && is_infinitely_often(named));
}

#[test]
fn sets_that_do_not_count_are_left_out() {
    let text = "HOA: v1 Start: 0 AP: 1 \"p\" Acceptance: 3 Inf(2) --BODY-- State: 0 [0] 0 {2} [!0] 0 {0 1} --END--";
    assert!(is_infinitely_often(text));
}

#[test]
fn syntax_errors_have_places() {
    let before = "HOA: v1 States: 1 Start: 0 AP: 1 \"p\" ";
    let after = "Acceptance: 1 Inf(0) --BODY-- State: 0 ";
    for (text, place, message) in [
        ("never { }".to_owned(), "never", "expected `HOA: v1`"),
        ("HOA: v2".to_owned(), "v2", "expected `v1`"),
        (format!("{before}Acceptance: 1 Fin(0) --BODY-- --END--"), "Fin", "only Büchi acceptance"),
        (format!("{before}Acceptance: 2 Inf(0)|Inf(1) --BODY-- --END--"), "|", "only Büchi acceptance"),
        (format!("{before}Acceptance: 1 Inf(1) --BODY-- --END--"), "1) --B", "only 1 acceptance sets"),
        (format!("{before}--BODY-- --END--"), "--BODY--", "there is no `Acceptance:`"),
        (format!("{before}Controllable-AP: 0 {after}--END--"), "Controllable-AP:", "is not known"),
        (format!("{before}{after}[0] 1 --END--"), "1 --END", "only 1 states"),
        (format!("{before}{after}[1] 0 --END--"), "1] 0", "only 1 propositions"),
        (format!("{before}{after}[0] 0&0 --END--"), "&0", "alternating automata cannot be read"),
        (format!("{before}{after}[@a] 0 --END--"), "@a", "not defined"),
        (format!("{before}{after}[0 0 --END--"), "0 --END", "expected `]`"),
        (format!("{before}{after}0 0 0 --END--"), "0 --END", "more edges without labels than letters"),
        (format!("{before}{after}[0] 0"), "", "expected `State:` or `--END--`"),
        (format!("{before}{after}[0] 0 --ABORT--"), "--ABORT--", "expected `State:` or `--END--`"),
        (format!("{before}{after}[0] 99999999999 --END--"), "99999999999", "too large"),
        (format!("{before}{after}[0] 0 ; --END--"), ";", "begins nothing"),
        (format!("{before} /* {after}"), "", "does not end"),
        (format!("{before}{after}--END-- HOA: v1"), "HOA: v1", "expected the end"),
    ] {
        let problem = hoa::read(&text).unwrap_err();
        assert!(problem.message.contains(message), "{text}: {problem:?}");
        assert!(text[problem.start..].starts_with(place), "{text}: {problem:?}");
    }
}

#[test]
fn texts_cut_anywhere_or_repeated_have_an_answer() {
    let text = "HOA: v1 Start: 0 AP: 1 \"p\" Alias: @yes 0&!(f|f) Acceptance: 2 (Inf(0)) --BODY--
        State: 0 \"x\" {1} [@yes] 0 {0 1} [!@yes] 0 --END--";
    assert!(hoa::read(text).is_ok());
    for at in 0..text.len() - 1 {
        assert!(hoa::read(&text[..at]).is_err());
        for other in ["(", "!", "{", "&", "--BODY--", "State:", "99", "\""] {
            let _ = hoa::read(&format!("{}{other}{}", &text[..at], &text[at..]));
        }
    }
    let deep = format!("HOA: v1 AP: 1 \"p\" Acceptance: 0 t --BODY-- State: 0 [{}", "(".repeat(1_000_000));
    assert!(hoa::read(&deep).is_err());
}
