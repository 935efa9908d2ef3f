//! The tableau construction: a state is a formula, an edge is a requirement on the current letter and a formula for the
//! rest.
//!
//! After Couvreur: On-the-fly verification of linear temporal logic, FM 1999, without decision diagrams. An edge that
//! postpones the right side of an `U` *promises* it; an edge is in the acceptance set of a right side if it does not
//! promise it.

use crate::automaton::{Automaton, Edge, Marks, State};
use crate::cube::Cube;
use crate::formula::{Formula, Formulas, Node};
use crate::limits::{Budget, Limit, Limits};
use crate::{labels, prune};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The automaton of the words that satisfy a formula, without useless states.
pub fn translate(formulas: &mut Formulas, formula: Formula, limits: Limits) -> Result<Automaton, Limit> {
    if let Some(limit) = formulas.excess(formula) {
        return Err(limit);
    }
    let budget = Budget::of(limits);
    let mut tableau = Tableau { formulas, terms: HashMap::new(), promises: Vec::new(), budget };
    let mut automaton = tableau.build(formula, limits)?;
    prune::prune(&mut automaton);
    labels::merge(&mut automaton, limits.deadline);
    Ok(automaton)
}

/// A disjunct of a formula: requirements on the current letter, and on the next state.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    now: Cube,
    promises: u64,
    /// The obligations of the next state: a sorted conjunction.
    next: Vec<Formula>,
}

struct Tableau<'a> {
    formulas: &'a mut Formulas,
    terms: HashMap<Formula, Rc<[Term]>>,
    /// The promises (Couvreur), by number.
    promises: Vec<Formula>,
    budget: Budget<'a>,
}

impl Tableau<'_> {
    fn build(&mut self, formula: Formula, limits: Limits) -> Result<Automaton, Limit> {
        let mut numbers = HashMap::from([(formula, State::INITIAL)]);
        let mut order = vec![formula];
        let mut promised: Vec<Vec<Edge>> = Vec::new();
        let mut count = 0;
        while let Some(&state) = order.get(promised.len()) {
            let mut leaving = Vec::new();
            for term in self.terms(state)?.iter() {
                let next = self.formulas.tracked_conjunction(term.next.iter().copied());
                if next == Formula::FALSE {
                    continue;
                }
                let target = *numbers.entry(next).or_insert_with(|| {
                    order.push(next);
                    State(order.len() as u32 - 1)
                });
                leaving.push(Edge { target, marks: Marks(term.promises), label: term.now });
            }
            leaving.sort_unstable();
            leaving.dedup();
            count += leaving.len();
            limits.check(order.len(), count)?;
            promised.push(leaving);
        }
        let sets = self.promises.len() as u32;
        for edge in promised.iter_mut().flatten() {
            edge.marks = Marks(Marks::all(sets).0 & !edge.marks.0);
        }
        Ok(Automaton { edges: promised, sets })
    }

    /// The terms of a formula, without superfluous ones.
    fn terms(&mut self, formula: Formula) -> Result<Rc<[Term]>, Limit> {
        for part in self.present_parts(formula) {
            let terms = match self.formulas.node(part).clone() {
                Node::True => vec![Term::TRUE],
                Node::False => Vec::new(),
                Node::Literal { proposition, positive } => {
                    vec![Term { now: Cube::literal(proposition, positive), ..Term::TRUE }]
                }
                Node::Next(operand) => vec![Term { next: self.conjuncts(operand), ..Term::TRUE }],
                Node::And(operands) => {
                    let mut all = vec![Term::TRUE];
                    for operand in operands.iter() {
                        let terms = self.known(*operand);
                        all = self.both(&all, &terms)?;
                    }
                    all
                }
                Node::Or(operands) => {
                    let any = operands.iter().flat_map(|operand| self.known(*operand).to_vec()).collect();
                    self.irredundant(any)?
                }
                Node::Until(left, right) => {
                    let promises = self.promise(right)?;
                    let put_off = Term { promises, next: vec![part], ..Term::TRUE };
                    let mut either = self.known(right).to_vec();
                    either.extend(self.both(&self.known(left), &[put_off])?);
                    self.irredundant(either)?
                }
                Node::Release(left, right) => {
                    let mut either = self.known(left).to_vec();
                    either.push(Term { next: vec![part], ..Term::TRUE });
                    self.both(&self.known(right), &either)?
                }
            };
            self.terms.insert(part, terms.into());
        }
        Ok(self.known(formula))
    }

    /// The terms of a formula that were computed before.
    fn known(&self, formula: Formula) -> Rc<[Term]> {
        self.terms.get(&formula).cloned().unwrap_or_default()
    }

    /// The subformulas of the current state whose terms are not known yet, operands first.
    fn present_parts(&self, formula: Formula) -> Vec<Formula> {
        let mut seen = HashSet::new();
        let mut waiting = vec![formula];
        while let Some(part) = waiting.pop() {
            if self.terms.contains_key(&part) || !seen.insert(part) {
                continue;
            }
            if !matches!(self.formulas.node(part), Node::Next(_)) {
                waiting.extend(self.formulas.operands(part));
            }
        }
        let mut parts: Vec<Formula> = seen.into_iter().collect();
        parts.sort_unstable();
        parts
    }

    fn conjuncts(&self, formula: Formula) -> Vec<Formula> {
        match self.formulas.node(formula) {
            Node::And(operands) => operands.to_vec(),
            _ => vec![formula],
        }
    }

    fn promise(&mut self, right: Formula) -> Result<u64, Limit> {
        let known = self.promises.iter().position(|&promise| promise == right);
        let number = known.unwrap_or(self.promises.len());
        if number == 64 {
            return Err(Limit::AcceptanceSets);
        }
        if known.is_none() {
            self.promises.push(right);
        }
        Ok(1 << number)
    }

    fn both(&mut self, left: &[Term], right: &[Term]) -> Result<Vec<Term>, Limit> {
        self.budget.spend(8 * left.len() as u64 * right.len() as u64)?;
        let pairs = left.iter().flat_map(|one| right.iter().filter_map(|other| one.and(other)));
        self.irredundant(pairs.collect())
    }

    fn irredundant(&mut self, terms: Vec<Term>) -> Result<Vec<Term>, Limit> {
        let mut kept: Vec<Term> = Vec::new();
        for term in terms {
            self.budget.spend(1 + 2 * kept.len() as u64)?;
            if kept.iter().any(|other| self.makes_superfluous(other, &term)) {
                continue;
            }
            let mut at = 0;
            while at < kept.len() {
                if self.makes_superfluous(&term, &kept[at]) {
                    kept.remove(at);
                } else {
                    at += 1;
                }
            }
            kept.push(term);
        }
        Ok(kept)
    }

    /// Whether `general` covers every word that `specific` covers, with no more promises.
    fn makes_superfluous(&mut self, general: &Term, specific: &Term) -> bool {
        specific.now.implies(general.now)
            && general.promises & !specific.promises == 0
            && general
                .next
                .iter()
                .all(|&needed| specific.next.iter().any(|&given| self.formulas.surely_implies(given, needed)))
    }
}

impl Term {
    const TRUE: Term = Term { now: Cube::TRUE, promises: 0, next: Vec::new() };

    fn and(&self, other: &Term) -> Option<Term> {
        let now = self.now.and(other.now)?;
        let mut next = [&self.next[..], &other.next[..]].concat();
        next.sort_unstable();
        next.dedup();
        Some(Term { now, promises: self.promises | other.promises, next })
    }
}
