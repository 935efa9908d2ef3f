//! Syntactic implication between formulas.
//!
//! After Somenzi, Bloem: Efficient Büchi automata from LTL formulae, CAV 2000, and Babiak, Křetínský, Řehák, Strejček:
//! LTL to Büchi automata translation: fast and more deterministic, TACAS 2012.

use crate::formula::{Formula, Formulas, MAX_HEIGHT, Node};

impl Formulas {
    /// Whether `left` implies `right`, as far as the syntax shows; `false` means unknown.
    pub(crate) fn surely_implies(&mut self, left: Formula, right: Formula) -> bool {
        // Each step descends on one side.
        if self.height(left) + self.height(right) > MAX_HEIGHT {
            return left == right;
        }
        if left == right || left == Formula::FALSE || right == Formula::TRUE {
            return true;
        }
        if let Some(&known) = self.implications.get(&(left, right)) {
            return known;
        }
        let implied = self.shown_by_right(left, right) || self.shown_by_left(left, right);
        self.implications.insert((left, right), implied);
        implied
    }

    fn shown_by_right(&mut self, left: Formula, right: Formula) -> bool {
        match self.node(right).clone() {
            Node::True | Node::False | Node::Literal { .. } => false,
            Node::And(operands) => operands.iter().all(|&operand| self.surely_implies(left, operand)),
            Node::Or(operands) => operands.iter().any(|&operand| self.surely_implies(left, operand)),
            Node::Next(operand) => match *self.node(left) {
                Node::Next(inner) => self.surely_implies(inner, operand),
                _ => self.facts(left).universal && self.surely_implies(left, operand),
            },
            Node::Until(a, b) => {
                if self.surely_implies(left, b) {
                    return true;
                }
                match *self.node(left) {
                    Node::Until(c, d) => self.surely_implies(c, a) && self.surely_implies(d, right),
                    _ => false,
                }
            }
            Node::Release(a, b) => {
                if !self.surely_implies(left, b) {
                    return false;
                }
                if self.facts(left).universal || self.surely_implies(left, a) {
                    return true;
                }
                match *self.node(left) {
                    Node::Release(c, _) => self.surely_implies(c, a),
                    _ => false,
                }
            }
        }
    }

    fn shown_by_left(&mut self, left: Formula, right: Formula) -> bool {
        match self.node(left).clone() {
            Node::True | Node::False | Node::Literal { .. } => false,
            Node::And(operands) => operands.iter().any(|&operand| self.surely_implies(operand, right)),
            Node::Or(operands) => operands.iter().all(|&operand| self.surely_implies(operand, right)),
            Node::Next(operand) => self.facts(right).eventual && self.surely_implies(operand, right),
            Node::Until(a, b) => {
                self.surely_implies(b, right) && (self.facts(right).eventual || self.surely_implies(a, right))
            }
            Node::Release(_, b) => self.surely_implies(b, right),
        }
    }

    /// Whether no word satisfies both, as far as the syntax shows.
    pub(crate) fn surely_excludes(&mut self, left: Formula, right: Formula) -> bool {
        let negation = self.not(right);
        self.surely_implies(left, negation)
    }

    /// The conjunction, without operands that others imply.
    pub(crate) fn conjunction(&mut self, operands: impl IntoIterator<Item = Formula>) -> Formula {
        let all = self.and(operands);
        let Node::And(operands) = self.node(all).clone() else { return all };
        let mut kept = operands.to_vec();
        self.drop_dominated(&mut kept, |formulas, dropped, by| formulas.surely_implies(by, dropped));
        self.and(kept)
    }

    /// The conjunction, without operands that others imply and also fulfil: each `U` in a dropped operand is still
    /// postponed and fulfilled by the same promises. Otherwise, `GF (a && F b)` could drop an `F b` each time it
    /// requires one, and `b` would never have to hold.
    pub(crate) fn tracked_conjunction(&mut self, operands: impl IntoIterator<Item = Formula>) -> Formula {
        let all = self.and(operands);
        let Node::And(operands) = self.node(all).clone() else { return all };
        let mut kept = operands.to_vec();
        self.drop_dominated(&mut kept, |formulas, dropped, by| {
            formulas.surely_implies(by, dropped) && formulas.sees_to(by, dropped)
        });
        self.and(kept)
    }

    /// Whether `left`, which implies `right`, makes the promises that `right` would make.
    fn sees_to(&mut self, left: Formula, right: Formula) -> bool {
        if left == right || !self.facts(right).has_until {
            return true;
        }
        match (self.node(left).clone(), self.node(right).clone()) {
            (Node::Until(a, b), Node::Until(c, d)) if b == d => {
                c == Formula::TRUE || self.surely_implies(a, c) && self.sees_to(a, c)
            }
            (Node::And(operands), _) => {
                operands.iter().any(|&one| self.surely_implies(one, right) && self.sees_to(one, right))
            }
            (Node::Release(_, b), _) => self.surely_implies(b, right) && self.sees_to(b, right),
            _ => false,
        }
    }

    fn drop_dominated(
        &mut self,
        operands: &mut Vec<Formula>,
        mut dominates: impl FnMut(&mut Formulas, Formula, Formula) -> bool,
    ) {
        let mut at = 0;
        while at < operands.len() {
            let one = operands[at];
            let is_dominated = operands.iter().any(|&other| other != one && dominates(self, one, other));
            if is_dominated {
                operands.remove(at);
            } else {
                at += 1;
            }
        }
    }
}
