//! Formulas: temporal logic over Promela's expressions.
//!
//! `&&`, `||`, `!` and the temporal operators belong to the formula; whatever stands below them is a proposition. Equal
//! propositions are one, and so are opposite comparisons: where they were kept apart, an automaton would have to try
//! what can never be.

use super::ast::{BinaryOp, Expr, ExprKind, TemporalOp, UnaryOp};
use super::parse::Logic;
use super::{ast, parse, preprocess, text, walk};
use crate::diagnostic::Diagnostic;
use crate::source::{Sources, Span};
use entail_temporal::formula::{MAX_PROPOSITIONS, Proposition};
use entail_temporal::{Formula, Formulas, Limit};
use std::collections::HashMap;

/// A formula and what its propositions are.
#[derive(Clone, Debug)]
pub struct Temporal {
    pub formulas: Formulas,
    pub formula: Formula,
    /// By their numbers: where each of them stands first.
    pub propositions: Vec<Expr>,
    /// The `p` of every `[] (p -> …)` that is all of it, or one of several things that it says.
    pub antecedents: Vec<Expr>,
    /// Where all of it stands.
    pub span: Span,
}

impl Temporal {
    /// The propositions as text.
    pub fn names(&self) -> Vec<String> {
        self.propositions.iter().map(text::expression).collect()
    }
}

/// Reads a formula from its text. Without one there are errors among the problems.
pub fn read(
    name: &str,
    text: &str,
    options: &preprocess::Options,
    sources: &mut Sources,
    problems: &mut Vec<Diagnostic>,
) -> Option<Temporal> {
    let expr = read_expr(Logic::Linear, name, text, options, sources, problems)?;
    of_expr(&expr, problems)
}

/// The expression that is written as a formula.
pub(super) fn read_expr(
    logic: Logic,
    name: &str,
    text: &str,
    options: &preprocess::Options,
    sources: &mut Sources,
    problems: &mut Vec<Diagnostic>,
) -> Option<Expr> {
    let tokens = preprocess::preprocess_text(name, text, options, sources, problems);
    if problems.iter().any(Diagnostic::is_error) {
        return None;
    }
    if tokens.is_empty() {
        problems.push(empty(logic));
        return None;
    }
    parse::parse_formula(logic, tokens, problems)
}

/// There is no formula where one is wanted.
pub(super) fn empty(logic: Logic) -> Diagnostic {
    let example = match logic {
        Logic::Linear => "[] (request -> <> granted)",
        Logic::Branching => "AG (request -> AF granted)",
    };
    Diagnostic::general("the formula is empty").hint(format!("a formula is, for example, `{example}`"))
}

/// The formula of `ltl name { … }`.
pub fn of_unit(formula: &ast::Formula, problems: &mut Vec<Diagnostic>) -> Option<Temporal> {
    of_expr(&formula.expr, problems)
}

fn of_expr(expr: &Expr, problems: &mut Vec<Diagnostic>) -> Option<Temporal> {
    let mut reader = Reader { formulas: Formulas::default(), propositions: Propositions::default() };
    match reader.formula(expr) {
        Ok(formula) => {
            let Reader { formulas, propositions } = reader;
            let propositions = propositions.exprs;
            let mut antecedents = Vec::new();
            find_antecedents(expr, &mut antecedents);
            antecedents.truncate(MAX_PROPOSITIONS - propositions.len());
            Some(Temporal { formulas, formula, propositions, antecedents, span: expr.span })
        }
        Err(problem) => {
            problems.push(problem);
            None
        }
    }
}

/// The parser has limited how deep formulas are.
fn find_antecedents(expr: &Expr, found: &mut Vec<Expr>) {
    match &expr.kind {
        ExprKind::Binary(BinaryOp::And, left, right) => {
            find_antecedents(left, found);
            find_antecedents(right, found);
        }
        ExprKind::Temporal(TemporalOp::Always, operands) => {
            if let [Expr { kind: ExprKind::Temporal(TemporalOp::Implies, operands), .. }] = &operands[..]
                && let [antecedent, _] = &operands[..]
                && temporal_inside(antecedent).is_none()
                && !matches!(antecedent.kind, ExprKind::Const(_))
            {
                found.push(antecedent.clone());
            }
        }
        _ => {}
    }
}

struct Reader {
    formulas: Formulas,
    propositions: Propositions,
}

/// The propositions of a formula.
#[derive(Default)]
pub(super) struct Propositions {
    /// By their numbers: where each of them stands first.
    pub exprs: Vec<Expr>,
    /// By their texts.
    numbers: HashMap<String, Proposition>,
}

impl Reader {
    /// The parser has limited how deep formulas are.
    fn formula(&mut self, expr: &Expr) -> Result<Formula, Diagnostic> {
        match &expr.kind {
            ExprKind::Const(value) => Ok(if *value == 0 { Formula::FALSE } else { Formula::TRUE }),
            ExprKind::Unary(UnaryOp::Not, operand) => {
                let operand = self.formula(operand)?;
                Ok(self.formulas.not(operand))
            }
            ExprKind::Binary(BinaryOp::And, left, right) => {
                let operands = [self.formula(left)?, self.formula(right)?];
                Ok(self.formulas.and(operands))
            }
            ExprKind::Binary(BinaryOp::Or, left, right) => {
                let operands = [self.formula(left)?, self.formula(right)?];
                Ok(self.formulas.or(operands))
            }
            ExprKind::Temporal(op, operands) => self.temporal(*op, operands),
            _ => {
                let (proposition, holds) = self.propositions.number(expr)?;
                Ok(self.formulas.literal(proposition, holds))
            }
        }
    }

    fn temporal(&mut self, op: TemporalOp, operands: &[Expr]) -> Result<Formula, Diagnostic> {
        let operands = operands.iter().map(|operand| self.formula(operand)).collect::<Result<Vec<_>, _>>()?;
        let (Some(&first), Some(&last)) = (operands.first(), operands.last()) else { return Ok(Formula::TRUE) };
        let formulas = &mut self.formulas;
        Ok(match op {
            TemporalOp::Always => formulas.always(first),
            TemporalOp::Eventually => formulas.eventually(first),
            TemporalOp::Next => formulas.next(first),
            TemporalOp::Until => formulas.until(first, last),
            TemporalOp::WeakUntil => formulas.weak_until(first, last),
            TemporalOp::Release => formulas.release(first, last),
            TemporalOp::Implies => formulas.implies(first, last),
            TemporalOp::Equivalent => formulas.equivalent(first, last),
        })
    }
}

impl Propositions {
    /// The proposition that holds, or else does not, where this does.
    pub fn number(&mut self, expr: &Expr) -> Result<(Proposition, bool), Diagnostic> {
        refuse_temporal(expr)?;
        let text = text::expression(expr);
        if let Some(&known) = self.numbers.get(&text) {
            return Ok((known, true));
        }
        if let Some(&known) = opposite(expr).and_then(|opposite| self.numbers.get(&opposite)) {
            return Ok((known, false));
        }
        if self.exprs.len() == MAX_PROPOSITIONS {
            let message = format!("the formula is too large: {}", Limit::Propositions);
            return Err(Diagnostic::error(expr.span, message));
        }
        let proposition = Proposition(self.exprs.len() as u8);
        self.exprs.push(expr.clone());
        self.numbers.insert(text, proposition);
        Ok((proposition, true))
    }
}

/// Propositions are about one state.
pub fn refuse_temporal(proposition: &Expr) -> Result<(), Diagnostic> {
    temporal_inside(proposition).map_or(Ok(()), Err)
}

/// A temporal operator where only numbers can be.
fn temporal_inside(expr: &Expr) -> Option<Diagnostic> {
    let mut found = None;
    walk::expr(expr, &mut |inner| {
        let operator = match inner.kind {
            ExprKind::Temporal(..) => "[]",
            ExprKind::Runs(..) => "AG",
            _ => return,
        };
        found.get_or_insert((inner.span, operator));
    });
    let message = "a formula is no number: nothing can be computed from it";
    found.map(|(span, operator)| {
        let hint = format!(
            "the operators before an expression bind tightest: write `{operator} (x == y)` rather than `{operator} x == y`"
        );
        Diagnostic::error(span, message).hint(hint)
    })
}

/// The comparison that holds whenever this one does not.
fn opposite(expr: &Expr) -> Option<String> {
    let ExprKind::Binary(op, left, right) = &expr.kind else { return None };
    let op = match op {
        BinaryOp::Eq => BinaryOp::Ne,
        BinaryOp::Ne => BinaryOp::Eq,
        BinaryOp::Lt => BinaryOp::Ge,
        BinaryOp::Ge => BinaryOp::Lt,
        BinaryOp::Gt => BinaryOp::Le,
        BinaryOp::Le => BinaryOp::Gt,
        BinaryOp::Or
        | BinaryOp::And
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::BitAnd
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Rem => return None,
    };
    let kind = ExprKind::Binary(op, left.clone(), right.clone());
    Some(text::expression(&Expr { kind, span: expr.span }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::render;

    fn read_text(text: &str) -> Result<Temporal, String> {
        let (mut sources, mut problems) = (Sources::default(), Vec::new());
        let options = preprocess::Options::default();
        read("formula", text, &options, &mut sources, &mut problems)
            .ok_or_else(|| render(&problems, &sources, false))
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let temporal = read_text(text).unwrap();
        assert_eq!(temporal.formulas.print(temporal.formula, &temporal.names()), expected);
    }

    #[track_caller]
    fn check_refused(text: &str, expected: &str) {
        let shown = read_text(text).map(|temporal| temporal.names()).unwrap_err();
        assert!(shown.contains(expected), "{shown}");
    }

    #[test]
    fn operators_group_as_in_the_formulas_of_spin() {
        check("a U b U c", "(a U b) U c");
        check("a -> b -> c", "c || (a && !b)");
        check("a U b && c", "(a U b) && c");
        check("a || b && c", "a || (b && c)");
        check("[] a U b", "[] a U b");
        check("[] (a U b)", "[] (a U b)");
        check("!a U b", "!a U b");
        check("a W b", "b V (a || b)");
        check("a == b U c", "(a == b) U c");
    }

    #[test]
    fn words_and_symbols_are_the_same() {
        check("always a implies eventually b", "<> b || <> !a");
        check("[] a -> <> b", "<> b || <> !a");
        check("a until b release c", "(a U b) V c");
        check("a U b R c", "(a U b) V c");
        check("next a equivalent true", "X a");
    }

    #[test]
    fn propositions_are_shared() {
        let names = |text: &str| read_text(text).unwrap().names();
        assert_eq!(names("[] (x == 1 -> <> (x != 1 && y))"), ["x == 1", "y"]);
        assert_eq!(names("(x + 1 < 3) U (x + 1 >= 3)"), ["x + 1 < 3"]);
        assert_eq!(names("<> P@end && [] (q:x == 2)"), ["P@end", "q:x == 2"]);
        check("[] (x == 1 -> x != 1)", "[] !(x == 1)");
    }

    #[test]
    fn mistakes_are_shown_where_they_are() {
        check_refused("", "the formula is empty");
        check_refused("/* nothing */", "the formula is empty");
        check_refused("[] (p -> <> q", "formula:1:13");
        check_refused("p q", "formula:1:3");
        check_refused("p => q", "found `=`");
        check_refused("[] x == y", "nothing can be computed from it");
        check_refused("p U", "expected an expression, found its end");
        check_refused("[]", "expected a formula, found its end");
    }

    #[test]
    fn sixty_four_propositions_are_enough() {
        let formula = |count: usize| (0..count).map(|n| format!("p{n}")).collect::<Vec<_>>().join(" && ");
        assert_eq!(read_text(&formula(64)).unwrap().propositions.len(), 64);
        check_refused(&formula(65), "more than 64 propositions");
    }
}
