//! Every printed system can be parsed, and the parser terminates on any text.

use super::samples::{everything, random};
use super::{parse, print};
use crate::verify::{MAX_DEPTH, verify};
use crate::{Action, BinaryOp, Expr, System, UnaryOp};
use proptest::prelude::*;

#[track_caller]
fn round_trip(system: &System) {
    assert_eq!(verify(system), Ok(()));
    let text = print(system);
    let parsed = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(parsed, *system, "\n{text}");
}

#[test]
fn the_empty_system_survives() {
    round_trip(&System::default());
}

#[test]
fn every_kind_of_thing_survives() {
    round_trip(&everything());
}

#[test]
fn edges_in_another_order_than_their_locations_survive() {
    let text = print(&everything());
    assert!(text.contains("  L1: from e2\n"), "{text}");
}

#[test]
fn an_empty_location_keeps_its_position() {
    let mut system = everything();
    for first in 0..=system.edges.len() {
        system.process_types[0].locations[3].first = first as u32;
        round_trip(&system);
    }
}

fn nested(depth: usize, wrap: impl Fn(Expr) -> Expr) -> System {
    let mut system = everything();
    system.edges[0].action = Action::Guard((1..depth).fold(Expr::Const(5), |inner, _| wrap(inner)));
    system
}

#[test]
fn the_deepest_expressions_survive() {
    round_trip(&nested(MAX_DEPTH, |inner| Expr::binary(BinaryOp::Or, inner, Expr::Const(1))));
    round_trip(&nested(MAX_DEPTH, |inner| Expr::binary(BinaryOp::Or, Expr::Const(1), inner)));
    round_trip(&nested(MAX_DEPTH - 1, |inner| {
        Expr::binary(BinaryOp::Or, Expr::Length(Box::new(Expr::Const(1))), inner)
    }));
    round_trip(&nested(MAX_DEPTH / 2, |inner| {
        Expr::binary(BinaryOp::Or, Expr::binary(BinaryOp::Add, inner, Expr::Const(1)), Expr::Const(2))
    }));
    round_trip(&nested(MAX_DEPTH, |inner| Expr::unary(UnaryOp::Not, inner)));
    round_trip(&nested(MAX_DEPTH, |inner| Expr::unary(UnaryOp::Negate, inner)));
    round_trip(&nested(MAX_DEPTH, |inner| Expr::Length(Box::new(inner))));
    round_trip(&nested(MAX_DEPTH, |inner| Expr::Conditional(Box::new((inner, Expr::Const(1), Expr::Const(2))))));
    let poll = |channel| Expr::Poll(Box::new(crate::Poll { channel, anywhere: true, fields: vec![] }));
    round_trip(&nested(MAX_DEPTH, poll));
}

#[test]
fn deeper_expressions_are_refused() {
    for opening in ["(", "!", "~", "-", "!!", "len(", "poll(", "a[", "P(", "[", "run P() then "] {
        for start in ["when ", "var x: ", ""] {
            let line = format!("{start}{}", opening.repeat(5_000));
            let text =
                format!("globals size 9\nvar a: [u8; 9] at 0\nprocess P size 0 entry L1 declared s0\nL1:\n{line}");
            assert!(parse(&text).is_err());
        }
    }
}

#[test]
fn long_chains_do_not_add_up() {
    let chain = "1 + ".repeat(MAX_DEPTH - 10);
    let text = format!("{HEAD}when {}1", format!("({chain}").repeat(MAX_DEPTH - 10));
    let inner = format!("{HEAD}when ({chain}1){}", " - 1".repeat(MAX_DEPTH - 10));
    assert!(parse(&text).is_err());
    refused(&inner, 5, "nested too deeply");
}

proptest! {
    #[test]
    fn random_systems_survive(seed: u64) {
        round_trip(&random(seed));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "(?s).{0,200}") {
        let _ = parse(&text);
    }

    /// Reserved words in unexpected positions.
    #[test]
    fn any_words_are_read_or_refused(words in prop::collection::vec(prop::sample::select(WORDS), 0..60)) {
        let _ = parse(&format!("{HEAD}{}", words.join(" ")));
    }

    /// Texts that are almost valid.
    #[test]
    fn a_damaged_text_is_read_or_refused(seed: u64, at: prop::sample::Index, len in 0..9usize, new in "\\PC{0,4}") {
        let mut text: Vec<char> = print(&random(seed)).chars().collect();
        let start = at.index(text.len());
        let end = (start + len).min(text.len());
        text.splice(start..end, new.chars());
        let _ = parse(&text.into_iter().collect::<String>());
    }
}

const HEAD: &str = "globals size 9\nvar a: [u8; 9] at 0\nprocess P size 0 entry L1 declared s0\nL1:\n";

const WORDS: &[&str] = &[
    "\n",
    "\n",
    "\n",
    "a",
    "P",
    "a[",
    "]",
    "(",
    ")",
    "#1",
    "#70000",
    "L1:",
    "L65535:",
    "n0:",
    "s0:",
    "e9",
    "from",
    "L1",
    "s0",
    "@",
    "@s0",
    "->",
    "-> exit @s0\n",
    "-> L1 @s0\n",
    "when",
    "run",
    "then",
    "skip",
    "else",
    "end",
    "!",
    "!!",
    "?",
    "??",
    "-",
    "~",
    "==",
    "=",
    "+",
    ":",
    ",",
    ".",
    "4294967295",
    "99999999999999999999",
    "0",
    "7",
    "\"x\"",
    "\"",
    "_",
    "global[0]:u8",
    "local[",
    "of",
    "by",
    "u8",
    "i0",
    "u99",
    "(#9)",
    "(chan)",
    "record",
    "{",
    "}",
    ";",
    "at",
    "size",
    "deterministic",
    "always",
    "enter",
    "choose",
    "jump",
    "n9",
    "process",
    "globals",
    "var",
    "param",
    "let",
    "new",
    "c0",
    "label",
    "provided",
    "start",
    "uses last\n",
    "enum",
    "channel",
    "poll(",
    "find(",
    "len(",
    "priority",
    "_started",
];

#[track_caller]
fn refused(text: &str, line: usize, message: &str) {
    let error = parse(text).expect_err("it should be refused");
    assert_eq!((error.line, error.message.as_str()), (line, message));
}

#[test]
fn errors_say_where_they_are() {
    refused("\n  ?", 2, "expected an operand, found ?");
    refused("// fine\nuses luck", 2, "nothing is known about the use of luck");
    refused("enum a from 0 { b, c", 1, "expected ,, found the end of the line");
    refused("enum \"a\\q\" { }", 1, "\\q is no escape");
    refused("start §", 1, "'§' has no meaning here");
    refused("var x: u8 at 0", 1, "this belongs to the globals or into a process");
    refused("globals size 4294967296", 1, "4294967296 is too large");
    refused("globals size 1\nvar x: u8 at 0\nlet y = 1", 3, "no variable is called y");
    refused("globals size 1\nvar x: u8 at 0\nlet x.a = 1", 3, "x is no record");
    refused("globals size 1\nvar x: u8 at 0\nlet x[0] = 1", 3, "x is not an array");
    refused("globals size 2\nvar x: [u8; 2] at 0\nlet x[2] = 1", 3, "x has 2 elements, not 2");
    refused("globals size 2\nvar x: [u8; 2] at 0\nlet x = 1", 3, "x is not a number as a whole");
    refused("globals size 1\nvar x: u8 at 0\nlet x = 1 + 1 * 1", 3, "expected the end of the line, found *");
    refused("globals size 1\nvar x: u8(color) at 0", 2, "no enumeration is called color");
    refused("channel c1 q: 1 of ()", 1, "expected c0, found c1");
    refused("s0: \"x\" at \"f\":1:2 spin x", 1, "expected a number, found x");
    refused(&format!("{HEAD}skip -> L1"), 5, "expected @, found the end of the line");
    refused(&format!("{HEAD}skip -> L70000 @s0"), 5, "L70000 is too large");
    refused(&format!("{HEAD}a + 1 = 3 -> L1 @s0"), 5, "a is not a number as a whole");
    refused(&format!("{HEAD}a[1] -> L1 @s0"), 5, "expected =, !, !!, ? or ??, found ->");
    refused(&format!("{HEAD}7 = 3 -> L1 @s0"), 5, "only a place or a priority can be assigned to");
    refused(&format!("{HEAD}when 2147483648 -> L1 @s0"), 5, "2147483648 does not fit 32 bits");
    refused(&format!("{HEAD}n0: jump exit"), 5, "this belongs into a deterministic block");
    refused(&format!("{HEAD}L1: end"), 5, "L1 is out of order");
    refused("skip -> L1 @s0", 1, "an edge needs a location before it");
    refused("start P", 1, "no process type is called P");
    refused("watch 1 ! @s0", 1, "this belongs into a monitor");
    refused("monitor requires\nmonitor forbids", 2, "there is another monitor");
    refused("monitor allows", 1, "expected requires, found allows");
    refused("monitor requires\nexpect any -> M0 @s0", 2, "this must follow a state of the monitor");
    refused("monitor requires\nM1: end", 2, "expected M0, found M1");
    refused("monitor requires\nM0:\nexpect 1 -> M0 @s0", 3, "expected ?, found ->");
}

#[test]
fn errors_of_the_whole_have_no_line() {
    refused("start #0", 0, "start 0: there is no process type 0");
    refused(
        &format!("{HEAD}skip -> exit @s0\nL2: from e5\nskip -> exit @s0"),
        0,
        "edges overlap or leave a gap at e1",
    );
}

/// The text form as users see it; the text is its own expected result.
#[test]
fn the_form_is_pleasant_to_read() {
    let text = r#"enum mtype from 1 { ack, nak }
channel c0 "[2] of { mtype, byte }": 2 of (u8(mtype), u8)

globals size 12
  var wire: u8(chan) at 0
  var busy: u1(bool) at 1
  var count: [u16; 4] at 2
  var last: record 2 { kind: u8(mtype) at 0, data: u8 at 1 } at 10
  let wire = new c0
  let count[2] = 7

process sender size 1 entry L1 declared s0
  var me: u8 at 0
  param me
  provided !busy
  label again L1
  L1: progress
    when _timeout -> L3 escape L3 @s3
    wire ! (1, me) -> L2 atomic @s1
    when (count[me] > 2) && full(wire) && (me != 0) -> L3 @s2
    else -> L1 @s3
  L2:
    count[me] = count[me] + 1 -> L1 @s4
  L3: end
    end -> exit @s5

process ":init:" size 4 entry L5 declared s0
  var i: i32 at 0
  L4:
    deterministic -> L5 @s4
      enter when i < 4
      enter wire ?? (last.kind, == 3) keep
      n0: choose (n1, n2) @s1
      n1: when i < 4 -> n3 @s2
      n2: else -> exit @s3
      n3: count[i] = sender(i).me - global[10]:u16 -> n4 @s3
      n4: jump n0
    assert i == 4 -> L5 @s4
  L5: accept
    run sender(_self) priority 3 then i = _started -> L4 @s1
    print "%d is here\n" (i) -> L4 @s2

start ":init:"

s0: "proctype sender(byte me)" at "net.pml":3:1 spin 0
s1: "wire!ack(me)" at "net.pml":5:4 spin 1 L1
s2: "count[me]>2&&full(wire)" at "net.pml":6:4 spin 2 L1
s3: "else" at "net.pml":7:4 spin 3 L1
s4: "count[me]++" at "net.pml":8:4 spin 4 L2
s5: "-end-" at "net.pml":9:1 spin 5 L3
"#;
    let system = parse(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(print(&system), text);
}
