//! Branching time: what can be said of the runs that begin in a state. (CTL, after Clarke and Emerson.)

use crate::formula::Proposition;
use std::fmt;

/// Something that is true or false in a state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ctl {
    Const(bool),
    Proposition(Proposition),
    Not(Box<Ctl>),
    And(Box<Ctl>, Box<Ctl>),
    Or(Box<Ctl>, Box<Ctl>),
    Implies(Box<Ctl>, Box<Ctl>),
    Equivalent(Box<Ctl>, Box<Ctl>),
    /// All runs that begin in the state, or some, are of a kind.
    Runs(Quantifier, Box<Path>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    All,
    Some,
}

/// Something that is true or false of a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Path {
    /// In the second state.
    Next(Ctl),
    Always(Ctl),
    Eventually(Ctl),
    /// The second one holds at some time, and the first one until then.
    Until(Ctl, Ctl),
    /// The same, or the first one for ever.
    WeakUntil(Ctl, Ctl),
    /// The second one holds until and including when the first one does, or for ever.
    Release(Ctl, Ctl),
}

/// How deep formulas may nest, so that whoever walks through one recursively stays far from the end of its stack.
pub const MAX_HEIGHT: usize = 256;

impl Ctl {
    pub fn and(left: Ctl, right: Ctl) -> Ctl {
        Ctl::And(Box::new(left), Box::new(right))
    }

    pub fn or(left: Ctl, right: Ctl) -> Ctl {
        Ctl::Or(Box::new(left), Box::new(right))
    }

    pub fn all(path: Path) -> Ctl {
        Ctl::Runs(Quantifier::All, Box::new(path))
    }

    pub fn some(path: Path) -> Ctl {
        Ctl::Runs(Quantifier::Some, Box::new(path))
    }

    /// As text, given the names of the propositions.
    pub fn print<'f>(&'f self, names: &'f [String]) -> impl fmt::Display + 'f {
        Printed { formula: self, names, inside: false }
    }
}

impl std::ops::Not for Ctl {
    type Output = Ctl;

    fn not(self) -> Ctl {
        Ctl::Not(Box::new(self))
    }
}

struct Printed<'f> {
    formula: &'f Ctl,
    names: &'f [String],
    /// Whether it stands beside an operator, so that it needs parentheses if it has one of its own.
    inside: bool,
}

impl Printed<'_> {
    fn operand<'g>(&'g self, formula: &'g Ctl) -> Printed<'g> {
        Printed { formula, names: self.names, inside: true }
    }

    fn binary(&self, f: &mut fmt::Formatter, left: &Ctl, operator: &str, right: &Ctl) -> fmt::Result {
        let (open, close) = if self.inside { ("(", ")") } else { ("", "") };
        write!(f, "{open}{} {operator} {}{close}", self.operand(left), self.operand(right))
    }
}

impl fmt::Display for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.formula {
            Ctl::Const(value) => write!(f, "{value}"),
            Ctl::Proposition(proposition) => {
                let name = self.names.get(usize::from(proposition.0)).map_or("?", String::as_str);
                let plain = name.chars().all(|letter| letter.is_alphanumeric() || "_@[].".contains(letter));
                if plain || !self.inside { f.write_str(name) } else { write!(f, "({name})") }
            }
            Ctl::Not(operand) => write!(f, "!{}", self.operand(operand)),
            Ctl::And(left, right) => self.binary(f, left, "&&", right),
            Ctl::Or(left, right) => self.binary(f, left, "||", right),
            Ctl::Implies(left, right) => self.binary(f, left, "->", right),
            Ctl::Equivalent(left, right) => self.binary(f, left, "<->", right),
            Ctl::Runs(quantifier, path) => {
                let which = match quantifier {
                    Quantifier::All => "A",
                    Quantifier::Some => "E",
                };
                match &**path {
                    Path::Next(operand) => write!(f, "{which}X {}", self.operand(operand)),
                    Path::Always(operand) => write!(f, "{which}G {}", self.operand(operand)),
                    Path::Eventually(operand) => write!(f, "{which}F {}", self.operand(operand)),
                    Path::Until(left, right) => {
                        write!(f, "{which}({} U {})", self.operand(left), self.operand(right))
                    }
                    Path::WeakUntil(left, right) => {
                        write!(f, "{which}({} W {})", self.operand(left), self.operand(right))
                    }
                    Path::Release(left, right) => {
                        write!(f, "{which}({} R {})", self.operand(left), self.operand(right))
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_printed_as_they_are_written() {
        let (p, q) = (Ctl::Proposition(Proposition(0)), Ctl::Proposition(Proposition(1)));
        let names = ["x == 1".to_owned(), "ready".to_owned()];
        let can_reset = Ctl::all(Path::Always(Ctl::some(Path::Eventually(q.clone()))));
        assert_eq!(can_reset.print(&names).to_string(), "AG EF ready");
        let until = Ctl::and(!q.clone(), Ctl::all(Path::Until(p.clone(), q)));
        assert_eq!(until.print(&names).to_string(), "!ready && A((x == 1) U ready)");
        assert_eq!(p.print(&names).to_string(), "x == 1");
    }
}
