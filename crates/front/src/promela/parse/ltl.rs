//! Formulas: the temporal operators. Everything else in them is an expression like any other.

use super::expr::{Infix, Operator, Prefix};
use super::{Parsed, Parser};
use crate::promela::ast::{Expr, Ltl, TemporalOp};

impl Parser<'_> {
    /// A formula that stands alone.
    pub(super) fn lone_formula(&mut self) -> Parsed<Expr> {
        self.in_formula = true;
        let formula = self.full_expr_or("a formula")?;
        if self.cursor.token().is_some() {
            return Err(self.expected("an operator or the end of the formula"));
        }
        Ok(formula)
    }

    /// `ltl name { formula }`
    pub(super) fn ltl(&mut self) -> Parsed<Ltl> {
        let start = self.expect("ltl")?;
        let name = if self.at("{") { None } else { Some(self.name("`{` or the formula's name")?) };
        self.in_formula = true;
        let formula = self.braces(|parser| {
            let formula = parser.full_expr()?;
            while parser.eat(";") {}
            Ok(formula)
        });
        self.in_formula = false;
        Ok(Ltl { name, formula: formula?, span: self.cursor.since(start) })
    }

    /// A temporal operator before a formula, and how many tokens it is made of.
    pub(super) fn temporal_prefix(&self) -> Option<(Prefix, usize)> {
        let (op, tokens) = match (self.text(), self.cursor.ahead(1)) {
            ("[", "]") => (TemporalOp::Always, 2),
            ("<", ">") => (TemporalOp::Eventually, 2),
            ("always", _) => (TemporalOp::Always, 1),
            ("eventually", _) => (TemporalOp::Eventually, 1),
            ("X" | "next", _) => (TemporalOp::Next, 1),
            _ => return None,
        };
        self.in_formula.then_some((Prefix::Temporal(op), tokens))
    }

    /// A temporal operator between formulas. All of them group to the left, implication too.
    pub(super) fn temporal_infix(&self) -> Option<Infix> {
        let ahead = |n| self.cursor.ahead(n);
        let (op, level, tokens) = match (self.text(), ahead(1), ahead(2)) {
            ("<", "->", _) => (TemporalOp::Equivalent, 0, 2),
            ("<", "-", ">") => (TemporalOp::Equivalent, 0, 3),
            ("equivalent", ..) => (TemporalOp::Equivalent, 0, 1),
            ("->" | "implies", ..) => (TemporalOp::Implies, 0, 1),
            ("U" | "until" | "stronguntil", ..) => (TemporalOp::Until, 3, 1),
            ("W" | "weakuntil", ..) => (TemporalOp::WeakUntil, 3, 1),
            // SPIN knows no `R`; between two operands nothing else could be meant.
            ("V" | "R" | "release", ..) => (TemporalOp::Release, 3, 1),
            _ => return None,
        };
        self.in_formula.then_some(Infix { operator: Operator::Temporal(op), level, tokens })
    }
}
