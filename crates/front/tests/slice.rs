//! The contents of slices.

use entail_front::PropertyKind;
use entail_front::diagnostic::render;
use entail_front::promela::slice::{Aim, Sliced};
use entail_front::promela::{self, print};
use entail_front::source::Sources;
use entail_temporal::Fairness;
use std::fs;
use std::path::Path;

fn sliced(text: &str, aim: Aim) -> Sliced {
    let (mut sources, mut problems) = (Sources::default(), Vec::new());
    let program = promela::read_text("model.pml", text, &mut sources, &mut problems);
    let slice = program.and_then(|it| promela::slice_of(&it, &[aim], Fairness::None, &sources, &mut problems));
    slice.unwrap_or_else(|| panic!("{}", render(&problems, &sources, false))).1
}

/// The variables that the slice for a formula lacks, and the slice itself.
fn without(text: &str, formula: &str) -> (Vec<String>, String) {
    let sliced = sliced(&format!("{text}\nltl p {{ {formula} }}\n"), Aim::Property("p".into()));
    let dropped = sliced.explanation.dropped.into_iter().map(|dropped| dropped.text).collect();
    (dropped, print::program(&sliced.program))
}

#[test]
fn characters_and_lines_are_counted_without_words() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/wordcount.pml");
    let sliced = sliced(&fs::read_to_string(example).unwrap(), Aim::Property("counted".into()));
    let texts = |list: &[promela::slice::Dropped]| list.iter().map(|it| it.text.clone()).collect::<Vec<_>>();
    assert_eq!(texts(&sliced.explanation.dropped), ["nw", "inword"]);
    let statements =
        ["c == 32 || c == 10", "inword = 0", "!inword", "nw++", "inword = 1", "printf(\"%d %d %d\", nl, nw, nc)"];
    assert_eq!(texts(&sliced.explanation.statements), statements);
    let kept: Vec<_> = sliced.explanation.kept.iter().map(|kept| &*kept.name).collect();
    assert_eq!(kept, ["text", "c", "nl", "nc", "left"]);
    assert!(sliced.explanation.kept.iter().all(|kept| kept.because.last().unwrap().contains("the property reads")));
}

#[test]
fn what_a_loop_does_may_go_but_not_the_loop() {
    let model = "byte x, y;
        active proctype a() { do :: y = 1 - y od }
        active proctype b() { x = 1 }";
    let (dropped, text) = without(model, "<> (x == 1)");
    assert_eq!(dropped, ["y"]);
    assert!(text.contains("do\n\t:: skip\n\tod"), "{text}");
    // Termination does not matter to a safety property.
    let (dropped, text) = without(model, "[] (x == 0)");
    assert_eq!(dropped, ["y"]);
    assert!(!text.contains("do"), "{text}");
}

#[test]
fn a_loop_that_may_end_is_kept_with_what_ends_it() {
    let model = "byte x, y, z;
        active proctype a() { do :: y < 9 -> y++; z++ :: else -> break od; x = 1 }";
    for formula in ["<> (x == 1)", "[] (x == 0)"] {
        assert_eq!(without(model, formula).0, ["z"], "{formula}");
    }
}

#[test]
fn a_loop_without_end_does_not_turn_into_a_way_past_it() {
    let model = "byte x, y;
        active proctype a() { if :: y > 0 -> do :: y = 1 od :: else fi; x = 1 }
        active proctype b() { y = 1 }";
    let (dropped, text) = without(model, "[] (x == 0)");
    assert_eq!(dropped, [""; 0]);
    assert!(text.contains("od"), "{text}");
}

#[test]
fn who_waits_before_something_of_interest_waits_in_the_slice() {
    let model = "byte x, go, y;
        active proctype a() { go == 1; x = 1; y == 1 }
        active proctype b() { go = 1; y = 1 }";
    assert_eq!(without(model, "[] (x == 0)").0, ["y"]);
    let ends = sliced(model, Aim::Safety { assertions: true, ends: true });
    let dropped: Vec<_> = ends.explanation.dropped.iter().map(|dropped| &*dropped.text).collect();
    assert_eq!(dropped, ["x"]);
}

/// A message is sent to one channel, received through another variable that holds the channel, and passed on
/// in a message.
#[test]
fn channels_that_may_be_the_same_are_one() {
    let model = "chan one = [1] of { byte }; chan other = [1] of { byte }; chan post = [1] of { chan }; byte x;
        proctype receiver() { chan c; post?c; c?x }
        init { run receiver(); post!one; one!1; other!1 }";
    let (dropped, text) = without(model, "[] (x == 0)");
    assert_eq!(dropped, ["other"]);
    assert!(text.contains("one ! 1") && !text.contains("other ! 1"), "{text}");
}

/// A sender in an atomic sequence can observe whether its partner is ready: if it is not, other processes
/// observe the partial effects of the sequence.
#[test]
fn who_is_not_ready_to_meet_another_is_not_made_ready() {
    let model = "byte x, y; chan meet = [0] of { bit };
        active proctype a() { atomic { x = 1; meet!0; x = 0 } }
        active proctype b() { y = 1; meet?_ }";
    let (dropped, text) = without(model, "[] (x == 0)");
    assert_eq!(dropped, ["y"]);
    assert!(text.contains("skip;\n\tmeet?_"), "{text}");
}

#[test]
fn messages_that_nobody_wants_are_received_and_forgotten() {
    let model = "byte x, y; chan c = [1] of { byte, byte };
        active proctype a() { c!1,2 }
        active proctype b() { c?x,y }";
    let (dropped, text) = without(model, "[] (x == 0)");
    assert_eq!(dropped, ["y"]);
    assert!(text.contains("c?x,_"), "{text}");
}

#[test]
fn a_process_gets_only_what_it_needs() {
    let model = "byte x, y, z;
        proctype a(byte p; byte q) { x = p; y = q }
        init { run a(1, z) }";
    let (dropped, text) = without(model, "[] (x == 0)");
    assert_eq!(dropped, ["y", "z", "q"]);
    assert!(text.contains("proctype a(byte p)") && text.contains("run a(1)"), "{text}");
}

#[test]
fn a_declaration_in_the_middle_stays_an_assignment() {
    let model = "byte x, y, z;
        active proctype a() { y = 1; byte b = z; x = b }
        active proctype c() { z = 1 }";
    let (dropped, text) = without(model, "[] (x == 0)");
    assert_eq!(dropped, ["y"]);
    assert!(text.contains("skip;\n\tbyte b = z"), "{text}");
}

#[test]
fn where_steps_count_every_step_stays() {
    let model = "byte x, y; active proctype a() { y = 1; y = 2; x = 1 }";
    for formula in ["X (x == 0)", "[] (_nr_pr < 2)"] {
        let (dropped, text) = without(model, formula);
        assert!(dropped.contains(&"y".to_string()), "{formula}");
        assert_eq!(text.matches("assert(1)").count(), if formula.starts_with('X') { 2 } else { 3 }, "{text}");
    }
}

#[test]
fn what_may_go_wrong_stays() {
    let model = "byte x, y, z, a[3];
        active proctype p() { y = 1 / z; a[z] = 1; a[1] = 2; x = 1 }";
    assert_eq!(without(model, "[] (x == 0)").0, [""; 0]);
}

#[test]
fn places_that_are_looked_at_stay() {
    let model = "byte x, y; active proctype p() { y = 1; there: y = 2; x = 1 }";
    let (dropped, text) = without(model, "[] !(p@there)");
    assert_eq!(dropped, ["x", "y"]);
    assert!(text.contains("assert(1);\n\tthere: assert(1);\n\tassert(1)"), "{text}");
    let accepting = sliced(&model.replace("there", "accept_here"), Aim::Labels(PropertyKind::Acceptance));
    assert!(print::program(&accepting.program).contains("accept_here"));
}
