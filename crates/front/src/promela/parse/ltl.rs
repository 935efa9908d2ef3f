//! Formulas: the temporal operators. All other parts are ordinary expressions.

use super::expr::{Infix, Operator, Prefix};
use super::recover::Closing;
use super::{Logic, Parsed, Parser, words};
use crate::PropertyKind;
use crate::promela::ast::{Expr, Formula, Quantifier, TemporalOp};
use crate::promela::token::TokenKind;

impl Parser<'_> {
    /// A formula outside of a model.
    pub(super) fn lone_formula(&mut self, logic: Logic) -> Parsed<Expr> {
        self.logic = Some(logic);
        let formula = self.full_expr_or("a formula")?;
        if self.cursor.token().is_some() {
            return Err(self.expected("an operator or the end of the formula"));
        }
        Ok(formula)
    }

    /// Whether `ctl {` or `ctl name {` comes next. SPIN has no such unit, and elsewhere `ctl` is a name.
    pub(super) fn at_ctl(&self) -> bool {
        let is_word = |text: &str| text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let ahead = |n| self.cursor.ahead(n);
        self.at("ctl") && (ahead(1) == "{" || is_word(ahead(1)) && ahead(2) == "{")
    }

    /// `ltl name { formula }` or `ctl name { formula }`; the keyword comes next.
    pub(super) fn formula(&mut self, logic: Logic) -> Parsed<Formula> {
        let start = self.cursor.place();
        self.cursor.advance();
        let name = if self.at("{") { None } else { Some(self.name("`{` or the formula's name")?) };
        let property = self.property_name(logic, name.as_ref().map(|name| &*name.name));
        let opener = self.expect("{")?;
        let before = self.reported();
        self.logic = Some(logic);
        let expr = self.full_expr().and_then(|expr| {
            while self.eat(";") {}
            self.expect_closing("}", opener).map(|_| expr)
        });
        self.logic = None;
        let expr = match expr {
            Ok(expr) => Some(expr),
            Err(reported) => {
                if self.skip_behind("{", "}") != Closing::Closed || self.cursor.is_halted() {
                    return Err(reported);
                }
                // Its braces are closed, so parsing continues normally.
                self.problems[before..]
                    .iter_mut()
                    .for_each(|problem| problem.property = Some(property.as_str().into()));
                None
            }
        };
        Ok(Formula { name, expr, span: self.cursor.since(start) })
    }

    /// The name of a formula's property: its own name, or a number.
    fn property_name(&mut self, logic: Logic, name: Option<&str>) -> String {
        let (kind, unnamed) = match logic {
            Logic::Ltl => (PropertyKind::Ltl, &mut self.unnamed_linear),
            Logic::Ctl => (PropertyKind::Ctl, &mut self.unnamed_branching),
        };
        if let Some(name) = name {
            return kind.name_of(name);
        }
        *unnamed += 1;
        format!("{}_{}", kind.name(), *unnamed - 1)
    }

    /// A unary temporal operator or a quantifier, and the number of its tokens.
    pub(super) fn temporal_prefix(&self) -> Option<(Prefix, usize)> {
        if let Some(prefix) = self.quantifier() {
            return Some((prefix, 1));
        }
        let (op, tokens) = match (self.text(), self.cursor.ahead(1)) {
            ("[", "]") => (TemporalOp::Always, 2),
            ("<", ">") => (TemporalOp::Eventually, 2),
            ("always", _) => (TemporalOp::Always, 1),
            ("eventually", _) => (TemporalOp::Eventually, 1),
            ("X" | "next", _) => (TemporalOp::Next, 1),
            _ => return None,
        };
        self.logic.map(|_| (Prefix::Temporal(op), tokens))
    }

    /// A binary temporal operator. All of them are left-associative, including implication.
    pub(super) fn temporal_infix(&self) -> Option<Infix> {
        let ahead = |n| self.cursor.ahead(n);
        let (op, level, tokens) = match (self.text(), ahead(1), ahead(2)) {
            ("<", "->", _) => (TemporalOp::Equivalent, 0, 2),
            ("<", "-", ">") => (TemporalOp::Equivalent, 0, 3),
            ("equivalent", ..) => (TemporalOp::Equivalent, 0, 1),
            ("->" | "implies", ..) => (TemporalOp::Implies, 0, 1),
            ("U" | "until" | "stronguntil", ..) => (TemporalOp::Until, 3, 1),
            ("W" | "weakuntil", ..) => (TemporalOp::WeakUntil, 3, 1),
            // SPIN has no `R`; between two operands it is unambiguous.
            ("V" | "R" | "release", ..) => (TemporalOp::Release, 3, 1),
            _ => return None,
        };
        self.logic.map(|_| Infix { operator: Operator::Temporal(op), level, tokens })
    }

    /// `A`, `E`, `AG` and so on. They can also be names; but an operand never follows a name.
    fn quantifier(&self) -> Option<Prefix> {
        let (quantifier, op) = match self.text() {
            "A" => (Quantifier::All, None),
            "AG" => (Quantifier::All, Some(TemporalOp::Always)),
            "AF" => (Quantifier::All, Some(TemporalOp::Eventually)),
            "AX" => (Quantifier::All, Some(TemporalOp::Next)),
            "E" => (Quantifier::Some, None),
            "EG" => (Quantifier::Some, Some(TemporalOp::Always)),
            "EF" => (Quantifier::Some, Some(TemporalOp::Eventually)),
            "EX" => (Quantifier::Some, Some(TemporalOp::Next)),
            _ => return None,
        };
        (self.logic == Some(Logic::Ctl) && self.operand_ahead(1)).then_some(Prefix::Runs(quantifier, op))
    }

    /// Whether an expression begins with the `n`th token after the next one. `R` is a name unless it is
    /// between two expressions; `-` always begins an expression.
    fn operand_ahead(&self, n: usize) -> bool {
        self.may_begin_operand(n) && (self.cursor.ahead(n) != "R" || !self.may_begin_operand(n + 1))
    }

    fn may_begin_operand(&self, n: usize) -> bool {
        let Some(token) = self.cursor.token_ahead(n) else { return false };
        match token.kind {
            TokenKind::Word => !words::is_between(&token.text),
            TokenKind::Number | TokenKind::Character => true,
            TokenKind::Punct => {
                let two = (&*token.text, self.cursor.ahead(n + 1));
                matches!(two, ("(" | "!" | "~", _) | ("[", "]") | ("<", ">"))
            }
            TokenKind::String | TokenKind::Unknown => false,
        }
    }
}
