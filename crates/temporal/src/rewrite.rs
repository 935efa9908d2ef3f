//! Simplification of formulas.
//!
//! The rules are those of Somenzi and Bloem (CAV 2000), Etessami and Holzmann (CONCUR 2000) and Babiak and others
//! (TACAS 2012). Below, `e` is eventual, `u` universal and `s` both (see [`crate::formula`]).

use crate::formula::{Formula, Formulas, Node};
use std::collections::HashMap;

/// Rules enable further rules, but few rounds suffice.
const ROUNDS: usize = 4;

impl Formulas {
    /// A formula that is too large is not simplified; the translation rejects it.
    pub fn simplify(&mut self, formula: Formula) -> Formula {
        let mut simple = formula;
        if self.excess(formula).is_some() {
            return simple;
        }
        for _ in 0..ROUNDS {
            let simpler = self.simplify_once(simple);
            if simpler == simple {
                break;
            }
            simple = simpler;
        }
        simple
    }

    fn simplify_once(&mut self, formula: Formula) -> Formula {
        let mut simple: HashMap<Formula, Formula> = HashMap::new();
        for part in self.parts(formula) {
            let simpler = match self.node(part).clone() {
                Node::True | Node::False | Node::Literal { .. } => part,
                Node::And(operands) => {
                    let operands = operands.iter().map(|operand| simple[operand]).collect();
                    self.simple_and(operands)
                }
                Node::Or(operands) => {
                    let operands = operands.iter().map(|operand| simple[operand]).collect();
                    self.simple_or(operands)
                }
                Node::Next(operand) => self.simple_next(simple[&operand]),
                Node::Until(left, right) => self.simple_until(simple[&left], simple[&right]),
                Node::Release(left, right) => self.simple_release(simple[&left], simple[&right]),
            };
            simple.insert(part, simpler);
        }
        simple[&formula]
    }

    fn simple_next(&mut self, operand: Formula) -> Formula {
        // X s = s
        if self.is_suspendable(operand) { operand } else { self.next(operand) }
    }

    fn simple_until(&mut self, left: Formula, right: Formula) -> Formula {
        // a U e = e, and a U b = b where a implies b
        if self.facts(right).eventual || self.surely_implies(left, right) {
            return right;
        }
        // a U b = F b if !b implies a
        let not_right = self.not(right);
        let left = if self.surely_implies(not_right, left) { Formula::TRUE } else { left };
        match (self.node(left).clone(), self.node(right).clone()) {
            // F X a = X F a
            (Node::True, Node::Next(inner)) => {
                let eventually = self.simple_until(Formula::TRUE, inner);
                self.simple_next(eventually)
            }
            // X a U X b = X (a U b)
            (Node::Next(a), Node::Next(b)) => {
                let until = self.simple_until(a, b);
                self.simple_next(until)
            }
            // F (a U b) = F b
            (Node::True, Node::Until(_, b)) => self.simple_until(Formula::TRUE, b),
            // a U (b U c) = b U c where a implies b, and a U c where b implies a
            (_, Node::Until(b, _)) if self.surely_implies(left, b) => right,
            (_, Node::Until(b, c)) if self.surely_implies(b, left) => self.simple_until(left, c),
            // (a U b) U b = a U b
            (Node::Until(_, b), _) if b == right => left,
            // a U (b || e) = a U b || e
            (_, Node::Or(operands)) => {
                let (apart, kept) = self.split(&operands, |formulas, one| formulas.facts(one).eventual);
                self.distribute(left, kept, apart, Side::Or)
            }
            // a U (b && s) = a U b && s
            (_, Node::And(operands)) => {
                let (apart, kept) = self.split(&operands, |formulas, one| formulas.is_suspendable(one));
                self.distribute(left, kept, apart, Side::And)
            }
            _ => self.until(left, right),
        }
    }

    fn distribute(&mut self, left: Formula, kept: Vec<Formula>, mut apart: Vec<Formula>, side: Side) -> Formula {
        let join = |formulas: &mut Formulas, operands: Vec<Formula>| match side {
            Side::And => formulas.and(operands),
            Side::Or => formulas.or(operands),
        };
        let rest = join(self, kept);
        if apart.is_empty() {
            return self.until(left, rest);
        }
        apart.push(self.simple_until(left, rest));
        join(self, apart)
    }

    fn simple_release(&mut self, left: Formula, right: Formula) -> Formula {
        // By duality, if the negations exist already.
        let (not_left, not_right) = (self.not(left), self.not(right));
        let until = self.simple_until(not_left, not_right);
        self.not(until)
    }

    fn split(
        &mut self,
        operands: &[Formula],
        apart: impl Fn(&Formulas, Formula) -> bool,
    ) -> (Vec<Formula>, Vec<Formula>) {
        operands.iter().partition(|&&operand| apart(self, operand))
    }

    fn simple_or(&mut self, operands: Vec<Formula>) -> Formula {
        // By duality.
        let operands = operands.into_iter().map(|operand| self.not(operand)).collect();
        let and = self.simple_and(operands);
        self.not(and)
    }

    fn simple_and(&mut self, operands: Vec<Formula>) -> Formula {
        let all = self.conjunction(operands);
        let Node::And(operands) = self.node(all).clone() else { return all };
        for (at, &one) in operands.iter().enumerate() {
            if operands[at + 1..].iter().any(|&other| self.surely_excludes(one, other)) {
                return Formula::FALSE;
            }
        }
        let mut merged: Vec<Formula> = Vec::new();
        for &operand in operands.iter() {
            let found = (0..merged.len()).find_map(|at| Some((at, self.merge(merged[at], operand)?)));
            match found {
                Some((at, both)) => merged[at] = both,
                None => merged.push(operand),
            }
        }
        self.conjunction(merged)
    }

    /// One formula for the conjunction of two, if there is one with fewer temporal operators.
    fn merge(&mut self, one: Formula, other: Formula) -> Option<Formula> {
        match (self.node(one).clone(), self.node(other).clone()) {
            // X a && X b = X (a && b)
            (Node::Next(a), Node::Next(b)) => {
                let both = self.simple_and(vec![a, b]);
                Some(self.simple_next(both))
            }
            // FG a && FG b = FG (a && b)
            (Node::Until(Formula::TRUE, a), Node::Until(Formula::TRUE, b))
                if self.is_suspendable(one) && self.is_suspendable(other) =>
            {
                let both = self.simple_and(vec![a, b]);
                Some(self.simple_until(Formula::TRUE, both))
            }
            // a U c && b U c = (a && b) U c
            (Node::Until(a, c), Node::Until(b, d)) if c == d => {
                let both = self.simple_and(vec![a, b]);
                Some(self.simple_until(both, c))
            }
            // c R a && c R b = c R (a && b), unless the formula is suspendable
            (Node::Release(c, a), Node::Release(d, b))
                if c == d && !self.is_suspendable(one) && !self.is_suspendable(other) =>
            {
                let both = self.simple_and(vec![a, b]);
                Some(self.simple_release(c, both))
            }
            _ => None,
        }
    }
}

#[derive(Clone, Copy)]
enum Side {
    And,
    Or,
}
