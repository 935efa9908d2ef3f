//! The effect of passes on small systems: the changed lines of the text form.

use super::{Passes, optimised};
use crate::text::{parse, print};
use crate::verify::verify;

const CONSTANTS: Passes = Passes { constants: true, ..Passes::NONE };
const UNREAD: Passes = Passes { unread: true, ..Passes::NONE };
const FORGET: Passes = Passes { forget: true, ..Passes::NONE };
const MERGE: Passes = Passes { merge: true, ..Passes::NONE };

/// The lines that a pass changes, before and after.
#[track_caller]
fn check(passes: Passes, before: &str, expected: &[&str]) {
    let text = format!("{before}\ns0: \"\" at \"\":1:1 spin 0\n");
    let system = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let changed = optimised(&system, passes);
    assert_eq!((verify(&system), verify(&changed)), (Ok(()), Ok(())));
    let (before, after) = (print(&system), print(&changed));
    assert_eq!(differences(&before, &after), expected, "\n{after}");
}

/// Removed lines, marked by `-`, and new ones, marked by `+`. Passes change or remove lines, and add none.
fn differences(before: &str, after: &str) -> Vec<String> {
    let (mut found, mut after) = (Vec::new(), after.lines().peekable());
    let left = |line: &str| line.trim_start().split([':', ' ']).next().map(str::to_owned);
    let mut lines = before.lines().peekable();
    while let Some(line) = lines.next() {
        if after.next_if_eq(&line).is_some() {
            continue;
        }
        found.push(format!("- {}", line.trim()));
        let is_dropped = after.peek() == lines.peek() && left(line).as_deref() == Some("let");
        if !is_dropped {
            found.extend(after.next().map(|line| format!("+ {}", line.trim())));
        }
    }
    found
}

#[test]
fn what_is_always_the_same_becomes_a_number() {
    check(
        CONSTANTS,
        "globals size 2
           var limit: u8 at 0
           var x: u8 at 1
           let limit = 3
         process P size 0 entry L1 declared s0
           L1:
             when (x < limit) && (limit > 0) -> L2 @s0
             x = x + (limit * 2) -> L1 @s0
           L2:
             end -> exit @s0
         start P",
        &[
            "- when (x < limit) && (limit > 0) -> L2 @s0",
            "+ when x < 3 -> L2 @s0",
            "- x = x + (limit * 2) -> L1 @s0",
            "+ x = x + 6 -> L1 @s0",
        ],
    );
}

#[test]
fn what_goes_wrong_still_does() {
    check(
        CONSTANTS,
        "globals size 2
           var zero: u8 at 0
           var x: u8 at 1
         process P size 0 entry L1 declared s0
           L1:
             x = 4 / zero -> L1 @s0
             when ((1 / x) == 1) && zero -> L1 @s0
             when zero && ((1 / x) == 1) -> L1 @s0
         start P",
        &[
            "- x = 4 / zero -> L1 @s0",
            "+ x = 4 / 0 -> L1 @s0",
            "- when ((1 / x) == 1) && zero -> L1 @s0",
            "+ when ((1 / x) == 1) && 0 -> L1 @s0",
            "- when zero && ((1 / x) == 1) -> L1 @s0",
            "+ when 0 -> L1 @s0",
        ],
    );
}

#[test]
fn where_nobody_comes_nothing_happens() {
    check(
        CONSTANTS,
        "globals size 2
           var never: u8 at 0
           var x: u8 at 1
         process P size 0 entry L1 declared s0
           L1:
             when never -> L2 @s0
             x = x + 1 -> L1 @s0
           L2:
             never = 1 -> L1 @s0
         start P",
        &[],
    );
    // The variable is constant because its assignment is unreachable: this requires that unreachable code is
    // considered first.
    check(
        CONSTANTS,
        "globals size 2
           var x: u8 at 1
         process P size 0 entry L1 declared s0
           L1:
             when 1 > 2 -> L2 @s0
             x = x + 1 -> L1 @s0
           L2:
             x = 200 -> L1 @s0
         start P",
        &["- when 1 > 2 -> L2 @s0", "+ when 0 -> L2 @s0", "- x = 200 -> L1 @s0", "+ when 0 -> L1 @s0"],
    );
}

#[test]
fn an_element_that_only_leads_to_itself_is_unread_but_its_index_is_checked() {
    check(
        UNREAD,
        "globals size 5
           var a: [u8; 5] at 0
         process P size 0 entry L1 declared s0
           L1:
             a[_self] = a[_self] + 1 -> L1 @s0
         start P",
        &["- a[_self] = a[_self] + 1 -> L1 @s0", "+ nowhere[0][_self of 5 by 1]:u8 = 0 -> L1 @s0"],
    );
}

#[test]
fn what_only_leads_to_itself_is_unread() {
    check(
        UNREAD,
        "globals size 3
           var x: u8 at 0
           var count: u8 at 1
           var sum: u8 at 2
           let count = 1
         process P size 0 entry L1 declared s0
           L1:
             count = count + 1 -> L2 @s0
           L2:
             sum = sum + count -> L3 @s0
           L3:
             when x == 0 -> L1 @s0
         start P",
        &[
            "- let count = 1",
            "- count = count + 1 -> L2 @s0",
            "+ nowhere[0]:u8 = 0 -> L2 @s0",
            "- sum = sum + count -> L3 @s0",
            "+ nowhere[0]:u8 = 0 -> L3 @s0",
        ],
    );
}

#[test]
fn what_may_go_wrong_is_looked_at() {
    check(
        UNREAD,
        "globals size 8
           var log: [u8; 3] at 0
           var i: u8 at 3
           var quotient: u8 at 4
           var divisor: u8 at 5
           var small: u2[0, 3] at 6
           var next: u8 at 7
         process P size 0 entry L1 declared s0
           L1:
             log[i] = divisor -> L2 @s0
           L2:
             quotient = 1 / divisor -> L3 @s0
           L3:
             small = next -> L4 @s0
           L4:
             i = 5 -> L5 @s0
           L5:
             next = 9 -> L1 @s0
         start P",
        &[
            "- log[i] = divisor -> L2 @s0",
            "+ nowhere[0][i of 3 by 1]:u8 = 0 -> L2 @s0",
            "- quotient = 1 / divisor -> L3 @s0",
            "+ nowhere[0]:u8 = 1 / divisor -> L3 @s0",
            "- small = next -> L4 @s0",
            "+ nowhere[0]:u2[0, 3] = next -> L4 @s0",
        ],
    );
}

#[test]
fn what_may_go_wrong_is_looked_at_where_it_is_stored_again() {
    check(
        UNREAD,
        "globals size 3
           var quotient: u8 at 0
           var x: u8 at 1
           var sum: u8 at 2
         process P size 0 entry L1 declared s0
           L1:
             quotient = 6 / (quotient - 1) -> L2 @s0
           L2:
             x = x % (x + sum) -> L3 @s0
           L3:
             sum = sum + 1 -> L1 @s0
         start P",
        &[],
    );
}

#[test]
fn fields_that_no_receiver_looks_at_are_not_sent() {
    check(
        UNREAD,
        "channel c0 \"two\": 2 of (u8, u8)
         globals size 4
           var q: u8(chan) at 0
           var x: u8 at 1
           var y: u8 at 2
           var got: u8 at 3
           let q = new c0
         process P size 0 entry L1 declared s0
           L1:
             q ! (x, y) -> L2 @s0
             when x == 1 -> L1 @s0
           L2:
             q ? (== 1, got) -> L3 @s0
           L3:
             y = y + 1 -> L1 @s0
         start P",
        &[
            "- q ! (x, y) -> L2 @s0",
            "+ q ! (x, 0) -> L2 @s0",
            "- q ? (== 1, got) -> L3 @s0",
            "+ q ? (== 1, _) -> L3 @s0",
            "- y = y + 1 -> L1 @s0",
            "+ nowhere[0]:u8 = 0 -> L1 @s0",
        ],
    );
}

#[test]
fn dead_numbers_are_forgotten() {
    check(
        FORGET,
        "globals size 1
           var x: u8 at 0
         process P size 3 entry L1 declared s0
           var i: u8 at 0
           var a: [u8; 2] at 1
           L1:
             i = x -> L2 @s0
           L2:
             a[1] = i -> L3 @s0
           L3:
             x = a[1] -> L1 @s0
         start P
         start P",
        &[
            "- i = x -> L2 @s0",
            "+ i = x -> L2 forgets a[0] forgets a[1] @s0",
            "- a[1] = i -> L3 @s0",
            "+ a[1] = i -> L3 forgets i @s0",
            "- x = a[1] -> L1 @s0",
            "+ x = a[1] -> L1 forgets a[1] @s0",
        ],
    );
}

#[test]
fn a_global_that_one_process_has_to_itself_is_forgotten() {
    let globals = "globals size 2
           var mine: u8 at 0
           var x: u8 at 1
         process P size 0 entry L1 declared s0
           L1:
             mine = x -> L2 @s0
           L2:
             x = mine -> L1 @s0
         start P";
    check(
        FORGET,
        globals,
        &[
            "- mine = x -> L2 @s0",
            "+ mine = x -> L2 forgets x @s0",
            "- x = mine -> L1 @s0",
            "+ x = mine -> L1 forgets mine @s0",
        ],
    );
    // With two processes it belongs to neither, and a property that reads it must see its value.
    check(FORGET, &format!("{globals}\nstart P"), &[]);
    check(
        FORGET,
        &globals.replace("start P", "proposition mine == 1 @s0\nstart P"),
        &["- mine = x -> L2 @s0", "+ mine = x -> L2 forgets x @s0"],
    );
}

#[test]
fn a_global_that_nobody_touches_is_nobodys_to_forget() {
    check(
        FORGET,
        "globals size 1
           var x: u8 at 0
         process P size 0 entry L1 declared s0
           L1:
             skip -> L2 @s0
           L2:
             end -> exit @s0
         process Q size 0 entry L1 declared s0
           L1:
             skip -> L2 @s0
           L2:
             end -> exit @s0
         start P
         start Q",
        &[],
    );
}

#[test]
fn a_sender_forgets_in_a_rendezvous() {
    check(
        FORGET,
        "channel c0 \"none\": 0 of (u8)
         globals size 1
           var q: u8(chan) at 0
           let q = new c0
         process P size 1 entry L1 declared s0
           var i: u8 at 0
           L1:
             i = 7 -> L2 @s0
           L2:
             q ! (i) -> L1 @s0
         process R size 1 entry L1 declared s0
           var got: u8 at 0
           L1:
             q ? (got) -> L1 @s0
         start P
         start R",
        &[
            "- q ! (i) -> L1 @s0",
            "+ q ! (i) -> L1 forgets i @s0",
            "- q ? (got) -> L1 @s0",
            "+ q ? (got) -> L1 forgets got @s0",
        ],
    );
}

#[test]
fn a_receive_overwrites_even_what_the_message_lacks() {
    check(
        FORGET,
        "channel c0 \"short\": 0 of (u8)
         channel c1 \"long\": 1 of (u8, u8)
         globals size 3
           var short: u8(chan) at 0
           var long: u8(chan) at 1
           var any: u8(chan) at 2
           let short = new c0
           let long = new c1
         process P size 1 entry L1 declared s0
           var got: u8 at 0
           L1:
             any ? (== 1, got) -> L2 @s0
           L2:
             when got -> L1 @s0
         process Q size 0 entry L1 declared s0
           L1:
             any = short -> L2 @s0
           L2:
             any = long -> L1 @s0
         start P
         start Q",
        &["- when got -> L1 @s0", "+ when got -> L1 forgets got @s0"],
    );
}

#[test]
fn a_chain_of_private_statements_is_one_step() {
    check(
        MERGE,
        "globals size 1
           var x: u8 at 0
         process P size 1 entry L1 declared s0
           var i: u8 at 0
           L1:
             x = 1 -> L2 @s0
           L2:
             i = 2 -> L3 @s0
           L3:
             skip -> L4 @s0
           L4:
             x = i -> L1 @s0
         start P
         start P",
        &["- x = 1 -> L2 @s0", "+ x = 1 -> L2 atomic @s0", "- i = 2 -> L3 @s0", "+ i = 2 -> L3 atomic @s0"],
    );
}

#[test]
fn what_only_leads_on_costs_no_state() {
    check(
        MERGE,
        "globals size 1
           var x: u8 at 0
         process P size 0 entry L1 declared s0
           L1:
             x = 1 -> L2 @s0
           L2:
             skip -> L3 @s0
           L3:
             skip -> L4 @s0
           L4:
             x = 2 -> L1 @s0
         start P
         start P",
        &["- x = 1 -> L2 @s0", "+ x = 1 -> L2 atomic @s0", "- skip -> L3 @s0", "+ skip -> L3 atomic @s0"],
    );
}

#[test]
fn where_priorities_decide_only_what_nobody_notices_leads_on() {
    check(
        MERGE,
        "uses priorities
         globals size 1
           var x: u8 at 0
         process P size 1 entry L1 declared s0
           var i: u8 at 0
           L1:
             x = 1 -> L2 @s0
           L2:
             i = 2 -> L3 @s0
           L3:
             i = 3 -> L4 @s0
           L4:
             assert x == 1 -> L5 @s0
           L5:
             print \"x\" -> L6 @s0
           L6:
             priority(_self) = 5 -> L7 @s0
           L7:
             i = 0 -> L8 @s0
           L8:
             x = i -> L1 @s0
         start P
         start P",
        &[
            "- i = 2 -> L3 @s0",
            "+ i = 2 -> L3 atomic @s0",
            "- assert x == 1 -> L5 @s0",
            "+ assert x == 1 -> L5 atomic @s0",
        ],
    );
}

#[test]
fn who_goes_round_for_ever_stops_somewhere() {
    check(
        MERGE,
        "globals size 0
         process P size 1 entry L1 declared s0
           var i: u8 at 0
           L1:
             i = 1 -> L2 @s0
           L2:
             i = 2 -> L1 @s0
         start P",
        &["- i = 1 -> L2 @s0", "+ i = 1 -> L2 atomic @s0"],
    );
}

#[test]
fn marks_and_places_that_are_asked_for_are_stops() {
    let system = |mark: &str, question: &str| {
        format!(
            "globals size 1
               var x: u8 at 0
             process P size 1 entry L1 declared s0
               var i: u8 at 0
               L1:
                 x = 1 -> L2 @s0
               L2:{mark}
                 i = 2 -> L3 @s0
               L3:
                 x = i -> L1 @s0
             {question}
             start P
             start P"
        )
    };
    let merged = ["- x = 1 -> L2 @s0", "+ x = 1 -> L2 atomic @s0"];
    check(MERGE, &system("", ""), &merged);
    for mark in [" end", " accept", " progress"] {
        check(MERGE, &system(mark, ""), &[]);
    }
    check(MERGE, &system("", "proposition at(0, L2) @s0"), &[]);
}

#[test]
fn a_statement_that_may_break_off_the_run_is_a_step() {
    check(
        MERGE,
        "globals size 1
           var x: u8 at 0
         process P size 4 entry L1 declared s0
           var i: u8 at 0
           var a: [u8; 3] at 1
           L1:
             x = x + 1 -> L2 @s0
           L2:
             a[i] = 2 -> L3 @s0
           L3:
             i = x -> L1 @s0
         start P
         start P",
        &[],
    );
}
