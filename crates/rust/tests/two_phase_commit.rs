//! The example of docs/rust-models.md.

#[path = "../examples/two_phase_commit.rs"]
#[expect(dead_code, reason = "its main function")]
mod example;

use entail_rust::{Check, Fairness, Order, Store, Verdict};
use example::{Action, Message, TwoPhaseCommit};

const FAIR: Check = Check {
    order: Order::BreadthFirst,
    store: Store::Exact,
    hash_bits: None,
    array: None,
    cache: None,
    fairness: Fairness::Weak,
    depth: None,
    time: None,
    memory: None,
    stop: None,
    threads: None,
};

#[test]
fn patient_participants_agree() {
    let report = FAIR.run(&TwoPhaseCommit { participants: 3, hasty: false }).unwrap();
    assert!(report.holds(), "{report}");
}

#[test]
fn hasty_participants_disagree_on_a_shortest_run() {
    let report = FAIR.run(&TwoPhaseCommit { participants: 2, hasty: true }).unwrap();
    let Verdict::Violated(run) = &report.property("all agree").unwrap().verdict else { panic!("{report}") };
    // Both vote, both votes are counted, the coordinator decides; one participant obeys, the other has aborted.
    assert_eq!(run.steps.len(), 7, "{run}");
    let actions: Vec<_> = run.steps.iter().map(|(action, _)| *action).collect();
    assert!(actions.contains(&Action::Decide(Message::Commit)), "{actions:?}");
    assert!(actions.iter().any(|action| matches!(action, Action::GiveUp(_))), "{actions:?}");
}

/// The output that docs/rust-models.md quotes, without the states.
#[test]
fn the_guide_quotes_what_is_printed() {
    let guide = include_str!("../../../docs/rust-models.md");
    let report = |hasty| FAIR.run(&TwoPhaseCommit { participants: 3, hasty }).unwrap().to_string();
    assert!(guide.contains(&report(false)), "{}", report(false));
    let hasty = report(true);
    let told = hasty.lines().take_while(|line| !line.starts_with("no deadlock"));
    let actions: String = told.filter(|line| !line.starts_with("      ")).map(|line| format!("{line}\n")).collect();
    assert!(guide.contains(&actions), "{actions}");
}

#[test]
fn every_run_ends_in_a_decision() {
    let unfair = Check { fairness: Fairness::None, ..FAIR };
    let report = unfair.run(&TwoPhaseCommit { participants: 2, hasty: false }).unwrap();
    let verdict = &report.property("all decide").unwrap().verdict;
    // No action is possible twice, so every run ends, and only where all have decided.
    assert!(matches!(verdict, Verdict::Holds), "{report}");
}

#[test]
fn every_search_and_store_gives_the_same_answer() {
    let stores = [Store::Exact, Store::Tree, Store::Plain, Store::Collapse, Store::Dfa];
    let exact = |order, store, hasty| {
        let array = (store == Store::Bitstate).then_some(1 << 16);
        let cache = (store == Store::Cache).then_some(50);
        let check = Check { order, store, array, cache, fairness: Fairness::None, ..FAIR };
        let report = check.run(&TwoPhaseCommit { participants: 3, hasty }).unwrap();
        report.properties.iter().map(|checked| (checked.states, verdict(&checked.verdict))).collect::<Vec<_>>()
    };
    for order in [Order::BreadthFirst, Order::DepthFirst, Order::Nested] {
        for store in stores {
            assert_eq!(
                exact(order, store, false),
                exact(Order::BreadthFirst, Store::Tree, false),
                "{order:?} {store:?}"
            );
            let verdicts = |order, store| exact(order, store, true).into_iter().map(|(_, verdict)| verdict);
            assert!(verdicts(order, store).eq(verdicts(Order::BreadthFirst, Store::Tree)), "{order:?} {store:?}");
        }
    }
    let few = exact(Order::DepthFirst, Store::Cache, false);
    assert!(few.iter().all(|(_, verdict)| *verdict == "holds"), "{few:?}");
    for store in [Store::Compact, Store::Bitstate] {
        let lossy = exact(Order::BreadthFirst, store, false);
        assert_eq!(lossy[0].1, "inconclusive", "{store:?}");
        assert_eq!(exact(Order::BreadthFirst, store, true)[0].1, "violated", "{store:?}");
    }
}

fn verdict(verdict: &Verdict<TwoPhaseCommit>) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Violated(_) => "violated",
        Verdict::Inconclusive(_) => "inconclusive",
    }
}
