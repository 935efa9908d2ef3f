//! The propositions of a formula.

use super::ast::{BinaryOp, Expr, ExprKind, TemporalOp, UnaryOp};
use super::{text, walk};
use crate::diagnostic::Diagnostic;
use entail_temporal::Limit;
use entail_temporal::formula::{MAX_PROPOSITIONS, Proposition};
use std::collections::HashMap;

/// Whether an expression without boolean operators may fault.
pub type MayFault<'a> = &'a mut dyn FnMut(&Expr) -> bool;

/// The propositions of a formula.
pub struct Propositions<'a> {
    /// The propositions by number: the first occurrence of each.
    pub exprs: Vec<Expr>,
    /// By their texts.
    numbers: HashMap<String, Proposition>,
    may_fault: MayFault<'a>,
    /// Whether the subformula at a span has a proposition that may fault.
    risky: HashMap<*const Expr, bool>,
}

impl<'a> Propositions<'a> {
    pub fn new(may_fault: MayFault<'a>) -> Propositions<'a> {
        Propositions { exprs: Vec::new(), numbers: HashMap::new(), may_fault, risky: HashMap::new() }
    }

    /// The proposition for an expression, or for its complement.
    pub fn number(&mut self, expr: &Expr) -> Result<(Proposition, bool), Diagnostic> {
        refuse_temporal(expr)?;
        let text = text::expression(expr);
        if let Some(&known) = opposite(expr).and_then(|opposite| self.numbers.get(&opposite))
            && !self.numbers.contains_key(&text)
        {
            return Ok((known, false));
        }
        Ok((self.add(text, expr)?, true))
    }

    /// A state formula as a single proposition, if a part of it may fault.
    pub fn as_one(&mut self, expr: &Expr, guard: Option<&Expr>) -> Result<Option<(Proposition, bool)>, Diagnostic> {
        if !self.are_risky(expr)? || !is_about_state(expr) {
            return Ok(None);
        }
        match guard {
            None if operands(expr).is_none() => self.number(expr).map(Some),
            None => self.add(text::expression(expr), expr).map(|one| Some((one, true))),
            Some(guard) => {
                let guarded = both(guard.clone(), expr.clone());
                self.add(text::expression(&guarded), &guarded).map(|one| Some((one, true)))
            }
        }
    }

    /// Whether some proposition of a formula may fault.
    pub fn are_risky(&mut self, expr: &Expr) -> Result<bool, Diagnostic> {
        let place = std::ptr::from_ref(expr);
        if let Some(&known) = self.risky.get(&place) {
            return Ok(known);
        }
        let risky = match &expr.kind {
            ExprKind::Runs(_, path) => self.are_risky(path)?,
            ExprKind::Temporal(_, operands) => {
                operands.iter().try_fold(false, |risky, operand| Ok(risky | self.are_risky(operand)?))?
            }
            _ => match operands(expr) {
                Some(operands) => {
                    operands.into_iter().try_fold(false, |risky, operand| Ok(risky | self.are_risky(operand)?))?
                }
                None => {
                    refuse_temporal(expr)?;
                    (self.may_fault)(expr)
                }
            },
        };
        self.risky.insert(place, risky);
        Ok(risky)
    }

    fn add(&mut self, text: String, expr: &Expr) -> Result<Proposition, Diagnostic> {
        if let Some(&known) = self.numbers.get(&text) {
            return Ok(known);
        }
        if self.exprs.len() == MAX_PROPOSITIONS {
            let message = format!("the formula is too large: {}", Limit::Propositions);
            return Err(Diagnostic::error(expr.span, message));
        }
        let proposition = Proposition(self.exprs.len() as u8);
        self.exprs.push(expr.clone());
        self.numbers.insert(text, proposition);
        Ok(proposition)
    }
}

/// The operands of a boolean operator.
fn operands(expr: &Expr) -> Option<Vec<&Expr>> {
    match &expr.kind {
        ExprKind::Unary(UnaryOp::Not, operand) => Some(vec![operand]),
        ExprKind::Binary(BinaryOp::And | BinaryOp::Or, left, right) => Some(vec![left, right]),
        ExprKind::Temporal(TemporalOp::Implies | TemporalOp::Equivalent, operands) => {
            Some(operands.iter().collect())
        }
        _ => None,
    }
}

/// Whether only boolean operators stand above the propositions.
fn is_about_state(expr: &Expr) -> bool {
    match operands(expr) {
        Some(operands) => operands.into_iter().all(is_about_state),
        None => !matches!(expr.kind, ExprKind::Temporal(..) | ExprKind::Runs(..)),
    }
}

/// The propositions that hold, or fail, in the current state if a formula is true, or false.
pub fn decided(expr: &Expr, value: bool) -> Option<Expr> {
    if is_about_state(expr) {
        return Some(if value { expr.clone() } else { negation(expr.clone()) });
    }
    match &expr.kind {
        ExprKind::Unary(UnaryOp::Not, operand) => decided(operand, !value),
        ExprKind::Binary(BinaryOp::And, left, right) if value => {
            conjunction(decided(left, true), decided(right, true))
        }
        ExprKind::Binary(BinaryOp::Or, left, right) if !value => {
            conjunction(decided(left, false), decided(right, false))
        }
        ExprKind::Temporal(TemporalOp::Implies, operands) if !value => match &operands[..] {
            [left, right] => conjunction(decided(left, true), decided(right, false)),
            _ => None,
        },
        _ => None,
    }
}

pub fn conjunction(left: Option<Expr>, right: Option<Expr>) -> Option<Expr> {
    match (left, right) {
        (Some(left), Some(right)) => Some(both(left, right)),
        (one, None) | (None, one) => one,
    }
}

fn both(left: Expr, right: Expr) -> Expr {
    let span = right.span;
    Expr { kind: ExprKind::Binary(BinaryOp::And, Box::new(left), Box::new(right)), span }
}

fn negation(expr: Expr) -> Expr {
    let span = expr.span;
    Expr { kind: ExprKind::Unary(UnaryOp::Not, Box::new(expr)), span }
}

/// Propositions contain no temporal operators.
pub fn refuse_temporal(proposition: &Expr) -> Result<(), Diagnostic> {
    temporal_inside(proposition).map_or(Ok(()), Err)
}

/// Reports a temporal operator in an arithmetic expression.
pub fn temporal_inside(expr: &Expr) -> Option<Diagnostic> {
    let mut found = None;
    walk::expr(expr, &mut |inner| {
        let operator = match inner.kind {
            ExprKind::Temporal(..) => "[]",
            ExprKind::Runs(..) => "AG",
            _ => return,
        };
        found.get_or_insert((inner.span, operator));
    });
    let message = "a formula is not a number: it cannot be an operand";
    found.map(|(span, operator)| {
        let hint = format!(
            "the operators before an expression bind tightest: write `{operator} (x == y)` rather than `{operator} x == y`"
        );
        Diagnostic::error(span, message).hint(hint)
    })
}

/// The complementary comparison.
fn opposite(expr: &Expr) -> Option<String> {
    let ExprKind::Binary(op, left, right) = &expr.kind else { return None };
    let kind = ExprKind::Binary(op.opposite()?, left.clone(), right.clone());
    Some(text::expression(&Expr { kind, span: expr.span }))
}
