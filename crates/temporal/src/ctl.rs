//! CTL, after Clarke and Emerson: formulas about the runs that begin in a state.

use crate::fairness::Fairness;
use crate::formula::{Formula, Formulas, Proposition};
use entail_model::{AfterFault, Subformula, SubformulaId, Subformulas};
use std::collections::HashMap;
use std::fmt;

/// A state formula.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ctl {
    Const(bool),
    Proposition(Proposition),
    Not(Box<Ctl>),
    And(Box<Ctl>, Box<Ctl>),
    Or(Box<Ctl>, Box<Ctl>),
    Implies(Box<Ctl>, Box<Ctl>),
    Equivalent(Box<Ctl>, Box<Ctl>),
    /// All runs from the state, or some, satisfy a path formula.
    Runs(Quantifier, Box<Path>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    All,
    Some,
}

impl Quantifier {
    /// The letter for it in formulas.
    pub fn letter(self) -> char {
        match self {
            Quantifier::All => 'A',
            Quantifier::Some => 'E',
        }
    }
}

/// A path formula over state formulas.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Path<T = Ctl> {
    /// The formula holds in the second state.
    Next(T),
    Always(T),
    Eventually(T),
    /// The second formula holds eventually, and the first one until then.
    Until(T, T),
    /// The same, or the first formula always holds.
    WeakUntil(T, T),
    /// The second formula holds up to and including the state where the first one does, or always.
    Release(T, T),
}

impl<T> Path<T> {
    /// The same formula over other operands, which are made in order.
    pub fn map<'p, U>(&'p self, mut make: impl FnMut(&'p T) -> U) -> Path<U> {
        match self {
            Path::Next(operand) => Path::Next(make(operand)),
            Path::Always(operand) => Path::Always(make(operand)),
            Path::Eventually(operand) => Path::Eventually(make(operand)),
            Path::Until(left, right) => Path::Until(make(left), make(right)),
            Path::WeakUntil(left, right) => Path::WeakUntil(make(left), make(right)),
            Path::Release(left, right) => Path::Release(make(left), make(right)),
        }
    }
}

impl<T> Path<Option<T>> {
    /// The formula, if all operands exist.
    pub fn complete(self) -> Option<Path<T>> {
        Some(match self {
            Path::Next(operand) => Path::Next(operand?),
            Path::Always(operand) => Path::Always(operand?),
            Path::Eventually(operand) => Path::Eventually(operand?),
            Path::Until(left, right) => Path::Until(left?, right?),
            Path::WeakUntil(left, right) => Path::WeakUntil(left?, right?),
            Path::Release(left, right) => Path::Release(left?, right?),
        })
    }
}

/// The maximum nesting depth, which bounds the stack of recursive functions.
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

    /// Whether the formula has no path quantifiers.
    pub fn is_of_state(&self) -> bool {
        match self {
            Ctl::Const(_) | Ctl::Proposition(_) => true,
            Ctl::Not(operand) => operand.is_of_state(),
            Ctl::And(left, right)
            | Ctl::Or(left, right)
            | Ctl::Implies(left, right)
            | Ctl::Equivalent(left, right) => left.is_of_state() && right.is_of_state(),
            Ctl::Runs(..) => false,
        }
    }

    /// The value of a formula without path quantifiers, given the propositions that hold, one bit for each.
    pub fn is_true(&self, holds: u64) -> bool {
        match self {
            Ctl::Const(value) => *value,
            Ctl::Proposition(proposition) => holds >> proposition.0 & 1 == 1,
            Ctl::Not(operand) => !operand.is_true(holds),
            Ctl::And(left, right) => left.is_true(holds) && right.is_true(holds),
            Ctl::Or(left, right) => left.is_true(holds) || right.is_true(holds),
            Ctl::Implies(left, right) => !left.is_true(holds) || right.is_true(holds),
            Ctl::Equivalent(left, right) => left.is_true(holds) == right.is_true(holds),
            Ctl::Runs(..) => false,
        }
    }

    /// The target of a reachability formula, which states that no run or some run reaches it, as an LTL formula; `None`
    /// for other formulas.
    pub fn deciding(&self, formulas: &mut Formulas) -> Option<Formula> {
        let Ctl::Runs(quantifier, path) = self else { return None };
        let (first, then) = match (quantifier, &**path) {
            (Quantifier::All, Path::Always(operand)) => (Ctl::Const(true), !operand.clone()),
            (Quantifier::All, Path::WeakUntil(left, right)) => {
                (!right.clone(), Ctl::and(!left.clone(), !right.clone()))
            }
            (Quantifier::All, Path::Release(left, right)) => (!left.clone(), !right.clone()),
            (Quantifier::Some, Path::Eventually(operand)) => (Ctl::Const(true), operand.clone()),
            (Quantifier::Some, Path::Until(left, right)) => (left.clone(), right.clone()),
            (Quantifier::All, Path::Next(_) | Path::Eventually(_) | Path::Until(..))
            | (Quantifier::Some, Path::Next(_) | Path::Always(_) | Path::WeakUntil(..) | Path::Release(..)) => {
                return None;
            }
        };
        if !first.is_of_state() || !then.is_of_state() {
            return None;
        }
        let (first, then) = (first.of_state(formulas), then.of_state(formulas));
        Some(formulas.until(first, then))
    }

    /// The part of the formula without path quantifiers, evaluated in the first state of a run.
    fn of_state(&self, formulas: &mut Formulas) -> Formula {
        match self {
            Ctl::Const(true) => Formula::TRUE,
            Ctl::Const(false) | Ctl::Runs(..) => Formula::FALSE,
            Ctl::Proposition(proposition) => formulas.proposition(*proposition),
            Ctl::Not(operand) => {
                let operand = operand.of_state(formulas);
                formulas.not(operand)
            }
            Ctl::And(left, right) => {
                let operands = [left, right].map(|operand| operand.of_state(formulas));
                formulas.and(operands)
            }
            Ctl::Or(left, right) => {
                let operands = [left, right].map(|operand| operand.of_state(formulas));
                formulas.or(operands)
            }
            Ctl::Implies(left, right) => {
                let [left, right] = [left, right].map(|operand| operand.of_state(formulas));
                formulas.implies(left, right)
            }
            Ctl::Equivalent(left, right) => {
                let [left, right] = [left, right].map(|operand| operand.of_state(formulas));
                formulas.equivalent(left, right)
            }
        }
    }

    /// The formula as text, given the names of the propositions.
    pub fn print<'f>(&'f self, names: &'f [String]) -> impl fmt::Display + 'f {
        Printed { formula: self, names, inside: false }
    }
}

/// A formula to check in three-valued logic. A run that ends in a fault is inconclusive: the formula is true if it is
/// true for every continuation beyond faults, and false if it is false for every one.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Is the formula true for every continuation beyond faults?
    pub surely: CtlChecker,
    /// Is it true for some continuation?
    pub perhaps: CtlChecker,
}

/// A formula and all its subformulas.
#[derive(Clone, Debug)]
pub struct CtlChecker {
    pub questions: Subformulas,
    pub whole: SubformulaId,
}

impl Asked {
    /// Path quantifiers range over fair runs (fair CTL, after Clarke, Emerson and Sistla). `None` if there are too many
    /// subformulas.
    pub fn of(formula: &Ctl, fairness: Fairness) -> Option<Asked> {
        let checker = |after_fault| {
            let mut asking =
                Asking { questions: Subformulas::default(), known: HashMap::new(), fairness, after_fault };
            let whole = asking.state(formula);
            let questions = asking.questions;
            (questions.temporal() <= Subformulas::MOST_TEMPORAL).then_some(CtlChecker { questions, whole })
        };
        Some(Asked { surely: checker(AfterFault::No)?, perhaps: checker(AfterFault::Yes)? })
    }

    /// Both formulas, in the order to check them.
    pub fn both(&self) -> [(&Subformulas, SubformulaId); 2] {
        [&self.surely, &self.perhaps].map(|checker| (&checker.questions, checker.whole))
    }
}

struct Asking {
    questions: Subformulas,
    /// Subformulas by address: both sides of `<->` are translated twice, with all of their operands.
    known: HashMap<(*const Ctl, AfterFault), SubformulaId>,
    fairness: Fairness,
    /// The assumption about continuations beyond faults for the current operand. A negation inverts it.
    after_fault: AfterFault,
}

impl Asking {
    /// The recursion is bounded by the depth of formulas.
    fn state(&mut self, formula: &Ctl) -> SubformulaId {
        let place = (std::ptr::from_ref(formula), self.after_fault);
        if let Some(known) = self.known.get(&place) {
            return *known;
        }
        let asked = match formula {
            Ctl::Const(value) => self.questions.add(Subformula::Const(*value)),
            Ctl::Proposition(proposition) => self.questions.add(Subformula::Proposition(u32::from(proposition.0))),
            Ctl::Not(operand) => self.negated(operand),
            Ctl::And(left, right) => {
                let (left, right) = (self.state(left), self.state(right));
                self.questions.add(Subformula::And(left, right))
            }
            Ctl::Or(left, right) => {
                let (left, right) = (self.state(left), self.state(right));
                self.questions.add(Subformula::Or(left, right))
            }
            Ctl::Implies(left, right) => {
                let (not_left, right) = (self.negated(left), self.state(right));
                self.questions.add(Subformula::Or(not_left, right))
            }
            Ctl::Equivalent(left, right) => {
                let (is_left, is_right) = (self.state(left), self.state(right));
                let both = self.questions.add(Subformula::And(is_left, is_right));
                let (not_left, not_right) = (self.negated(left), self.negated(right));
                let neither = self.questions.add(Subformula::And(not_left, not_right));
                self.questions.add(Subformula::Or(both, neither))
            }
            Ctl::Runs(Quantifier::Some, path) => self.some(path),
            Ctl::Runs(Quantifier::All, path) => {
                self.after_fault = !self.after_fault;
                let some = self.some_other(path);
                self.after_fault = !self.after_fault;
                self.not(some)
            }
        };
        self.known.insert(place, asked);
        asked
    }

    /// An existentially quantified path formula.
    fn some(&mut self, path: &Path) -> SubformulaId {
        match path.map(|operand| self.state(operand)) {
            Path::Next(operand) => self.next(operand),
            Path::Always(operand) => {
                let never = self.questions.add(Subformula::Const(false));
                self.weak_until(operand, never)
            }
            Path::Eventually(operand) => {
                let always = self.questions.add(Subformula::Const(true));
                self.until(always, operand)
            }
            Path::Until(left, right) => self.until(left, right),
            Path::WeakUntil(left, right) => self.weak_until(left, right),
            Path::Release(left, right) => {
                let both = self.questions.add(Subformula::And(right, left));
                self.weak_until(right, both)
            }
        }
    }

    /// Whether a run violates a path formula.
    fn some_other(&mut self, path: &Path) -> SubformulaId {
        match path.map(|operand| self.negated(operand)) {
            Path::Next(not) => self.next(not),
            Path::Always(not) => {
                let always = self.questions.add(Subformula::Const(true));
                self.until(always, not)
            }
            Path::Eventually(not) => {
                let never = self.questions.add(Subformula::Const(false));
                self.weak_until(not, never)
            }
            Path::Until(not_left, not_right) => {
                let neither = self.questions.add(Subformula::And(not_right, not_left));
                self.weak_until(not_right, neither)
            }
            Path::WeakUntil(not_left, not_right) => {
                let neither = self.questions.add(Subformula::And(not_right, not_left));
                self.until(not_right, neither)
            }
            Path::Release(not_left, not_right) => self.until(not_left, not_right),
        }
    }

    fn negated(&mut self, operand: &Ctl) -> SubformulaId {
        self.after_fault = !self.after_fault;
        let operand = self.state(operand);
        self.after_fault = !self.after_fault;
        self.not(operand)
    }

    fn not(&mut self, operand: SubformulaId) -> SubformulaId {
        match self.questions.get(operand) {
            Subformula::Not(inner) => inner,
            _ => self.questions.add(Subformula::Not(operand)),
        }
    }

    fn next(&mut self, then: SubformulaId) -> SubformulaId {
        let (then, after_fault) = (self.continued(then), self.after_fault);
        self.questions.add(Subformula::Next { then, after_fault })
    }

    fn until(&mut self, first: SubformulaId, then: SubformulaId) -> SubformulaId {
        let (then, after_fault) = (self.continued(then), self.after_fault);
        self.questions.add(Subformula::Until { first, then, after_fault })
    }

    fn weak_until(&mut self, first: SubformulaId, then: SubformulaId) -> SubformulaId {
        let (then, after_fault) = (self.continued(then), self.after_fault);
        match self.fairness {
            Fairness::None | Fairness::Weak | Fairness::Strong | Fairness::Impartial => {
                self.questions.add(Subformula::WeakUntil { first, then, after_fault })
            }
            Fairness::Component => {
                let component = self.questions.add(Subformula::FairComponent(first));
                self.questions.add(Subformula::UntilComponent { first, then, component, after_fault })
            }
        }
    }

    /// The states in which `then` holds and a fair run begins.
    fn continued(&mut self, then: SubformulaId) -> SubformulaId {
        if self.fairness.is_realizable() || self.questions.get(then) == Subformula::Const(false) {
            return then;
        }
        let (always, never) =
            (self.questions.add(Subformula::Const(true)), self.questions.add(Subformula::Const(false)));
        let fair = self.weak_until(always, never);
        self.questions.add(Subformula::And(then, fair))
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
    /// Whether the formula is an operand, and needs parentheses if it has an operator of its own.
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
                let which = quantifier.letter();
                match path.map(|operand| self.operand(operand)) {
                    Path::Next(operand) => write!(f, "{which}X {operand}"),
                    Path::Always(operand) => write!(f, "{which}G {operand}"),
                    Path::Eventually(operand) => write!(f, "{which}F {operand}"),
                    Path::Until(left, right) => write!(f, "{which}({left} U {right})"),
                    Path::WeakUntil(left, right) => write!(f, "{which}({left} W {right})"),
                    Path::Release(left, right) => write!(f, "{which}({left} R {right})"),
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
