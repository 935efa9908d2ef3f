//! Constructs of full BIR that this subset lacks, with hints.

use super::Parser;
use crate::bir::token::Kind;
use crate::diagnostic::Diagnostic;
use crate::kit::Parsed;

/// The construct that a keyword of full BIR begins, and a hint.
fn missing(word: &str) -> Option<(&'static str, &'static str)> {
    Some(match word {
        "virtual" | "invoke" => {
            ("calls of methods and functions", "write the body of the function into the transformation")
        }
        "function" | "fun" => ("functions", "write their actions where they are called, or make a thread of them"),
        "extension" => ("extensions", "model their operations with variables and transformations"),
        "throw" | "try" | "catch" | "throwable" => {
            ("exceptions", "store the error in a variable, and go to a location that handles it")
        }
        "extends" => ("records that extend others", "repeat the fields, or make the other record a field"),
        "new" => ("objects on a heap", "declare a global array of records, and use indices for references"),
        "null" => ("references", "use indices into an array, and -1 for none"),
        "string" => ("strings", "use an enumeration: `enum Message { HELLO, BYE }`"),
        "float" | "double" => ("floating-point numbers", "use `int`, with a smaller unit"),
        "long" => ("64-bit numbers", "use `int`, which has 32 bits"),
        "while" => (
            "loops and other statements",
            "make it locations: `loc test: when c do { … } goto test; when !c do { } goto next;`",
        ),
        "atomic" => ("blocks of statements", "all actions of one `do { … }` are one step already"),
        _ => return None,
    })
}

impl Parser<'_, '_> {
    /// Reports the next word if it is a keyword of full BIR only.
    pub(super) fn refuse_missing(&mut self) -> Parsed<()> {
        if self.kind() != Kind::Name {
            return Ok(());
        }
        let span = self.span();
        let word = self.text(span);
        match missing(word) {
            Some((what, instead)) => {
                let problem = Diagnostic::error(span, format!("`{word}`: {what} are not supported"));
                self.report(problem.hint(instead))
            }
            None => Ok(()),
        }
    }

    /// The same where an action is expected, where such a word may also be an ordinary variable.
    pub(super) fn refuse_missing_action(&mut self) -> Parsed<()> {
        let is_variable = matches!(self.second(), Kind::Assign | Kind::Dot | Kind::OpenBracket);
        if is_variable { Ok(()) } else { self.refuse_missing() }
    }

    /// Reports a generic type.
    pub(super) fn generic<T>(&mut self) -> Parsed<T> {
        let problem = Diagnostic::error(self.span(), "generic types are not supported");
        self.report(problem.hint("declare a type of its own for every type it is used with"))
    }

    /// Reports a string, which is not allowed anywhere.
    pub(super) fn refuse_text<T>(&mut self) -> Parsed<T> {
        let problem = Diagnostic::error(self.span(), "strings are not supported");
        self.report(problem.hint("use an enumeration: `enum Message { HELLO, BYE }`"))
    }
}
