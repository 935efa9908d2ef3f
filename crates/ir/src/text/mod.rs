//! The text form of systems, which `entail show ir` prints and file tests use.
//!
//! It is complete: [`parse`] of the output of [`print()`] gives the same system. It is line-oriented; indentation is
//! ignored, and `//` begins a comment.
//!
//! ```text
//! enum mtype from 1 { ack, nak }
//! channel c0 "[2] of { mtype }": 2 of (u8(mtype))
//!
//! globals size 2
//!   var q: u8(chan) at 0
//!   var tries: u3[0, 5] at 1
//!   let q = new c0
//!
//! process sender size 0 entry L1 declared s0
//!   L1:
//!     q ! (1) when tries < 5 -> L2 atomic @s1
//!     when (tries > 2) && full(q) -> L2 @s2
//!   L2: end
//!     end -> exit @s3
//!
//! invariant tries != 4 @s4
//!
//! monitor requires
//!   watch q ! @s1
//!   M0: end
//!     expect q ! (== 1) -> M0 @s5
//!   M1: end
//!
//! start sender
//!
//! s0: "proctype sender()" at "net.pml":3:1 spin 0
//! ```
//!
//! There is no precedence: an operation within another kind of operation is in parentheses, and `a - b - c` is
//! left-associative. A place is written by name, `table[i].count`, if that name resolves to exactly this place;
//! otherwise by its position in the frame, `local[4][i of 3 by 8]:u8`. In a name's path `[2]` is part of the
//! position, `[(2)]` an index that is checked at run time.

mod lex;
mod names;
mod parse;
mod print;

#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;

use crate::BinaryOp;
use std::fmt;

pub use parse::parse;
pub use print::print;

pub(crate) use names::Names;

/// The reason why a text is not a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Counted from 1; 0 if the error concerns the whole system.
    pub line: usize,
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}", self.message),
            line => write!(f, "line {line}: {}", self.message),
        }
    }
}

impl std::error::Error for ParseError {}

/// The default priority, which is not printed.
const USUAL_PRIORITY: u8 = 1;

/// Reserved words at the beginning of a line, of an operand or of a type. A name that is one of them is quoted.
const RESERVED: [&str; 54] = [
    "_",
    "_last",
    "_nonprogress",
    "_processes",
    "_self",
    "_started",
    "_timeout",
    "assert",
    "any",
    "at",
    "bool",
    "chan",
    "channel",
    "choose",
    "deterministic",
    "else",
    "empty",
    "enabled",
    "end",
    "enter",
    "enum",
    "expect",
    "fault",
    "find",
    "full",
    "global",
    "globals",
    "invariant",
    "jump",
    "label",
    "len",
    "let",
    "local",
    "location",
    "monitor",
    "nempty",
    "new",
    "nfull",
    "param",
    "pid",
    "poll",
    "print",
    "printname",
    "priority",
    "process",
    "proposition",
    "provided",
    "run",
    "skip",
    "start",
    "uses",
    "var",
    "watch",
    "when",
];

/// Whether a name needs no quotes.
fn is_plain(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !RESERVED.contains(&name)
}

const BINARY_OPS: [BinaryOp; 18] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::Div,
    BinaryOp::Rem,
    BinaryOp::BitAnd,
    BinaryOp::BitXor,
    BinaryOp::BitOr,
    BinaryOp::Shl,
    BinaryOp::Shr,
    BinaryOp::Lt,
    BinaryOp::Gt,
    BinaryOp::Le,
    BinaryOp::Ge,
    BinaryOp::Eq,
    BinaryOp::Ne,
    BinaryOp::And,
    BinaryOp::Or,
];
