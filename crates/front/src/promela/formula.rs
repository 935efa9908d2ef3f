//! LTL formulas over Promela's expressions.
//!
//! `&&`, `||`, `!` and the temporal operators belong to the formula; their other operands are propositions. Equal
//! propositions are identified, and so are complementary comparisons: otherwise an automaton would have to consider
//! impossible combinations.
//!
//! A proposition that may fault matters only where `&&`, `||` and `->` evaluate it, from left to right. An automaton
//! knows no such order. So a subformula without temporal operators is a single proposition if a part of it may fault;
//! below temporal operators, such a part is guarded by the operands before it.

use super::ast::{BinaryOp, Expr, ExprKind, TemporalOp, UnaryOp};
use super::parse::Logic;
use super::propositions::{MayFault, Propositions, conjunction, decided, temporal_inside};
use super::{ast, parse, preprocess, text};
use crate::diagnostic::Diagnostic;
use crate::source::{Sources, Span};
use entail_temporal::formula::MAX_PROPOSITIONS;
use entail_temporal::{Formula, Formulas};
use std::collections::HashMap;

/// A formula and its propositions.
#[derive(Clone, Debug)]
pub struct Temporal {
    pub formulas: Formulas,
    pub formula: Formula,
    /// The propositions by number: the first occurrence of each.
    pub propositions: Vec<Expr>,
    /// The antecedent `p` of every `[] (p -> …)` that is a conjunct of the formula.
    pub antecedents: Vec<Expr>,
    /// The span of the formula.
    pub span: Span,
}

impl Temporal {
    /// The propositions as text.
    pub fn names(&self) -> Vec<String> {
        self.propositions.iter().map(text::expression).collect()
    }
}

/// Reads a formula from its text; `None` if there are errors.
pub fn read(
    name: &str,
    text: &str,
    options: &preprocess::Options,
    sources: &mut Sources,
    problems: &mut Vec<Diagnostic>,
) -> Option<Temporal> {
    let expr = read_expr(Logic::Ltl, name, text, options, sources, problems)?;
    // Without a model there is nothing that could fault.
    of_expr(&expr, &mut |_| false, problems)
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
        return empty(logic).refuse(problems);
    }
    parse::parse_formula(logic, tokens, problems)
}

/// Reports a missing formula.
pub(super) fn empty(logic: Logic) -> Diagnostic {
    let example = match logic {
        Logic::Ltl => "[] (request -> <> granted)",
        Logic::Ctl => "AG (request -> AF granted)",
    };
    Diagnostic::general("the formula is empty").hint(format!("a formula is, for example, `{example}`"))
}

/// The formula of `ltl name { … }`.
pub fn of_unit(formula: &ast::Formula, may_fault: MayFault, problems: &mut Vec<Diagnostic>) -> Option<Temporal> {
    of_expr(formula.expr.as_ref()?, may_fault, problems)
}

fn of_expr(expr: &Expr, may_fault: MayFault, problems: &mut Vec<Diagnostic>) -> Option<Temporal> {
    let propositions = Propositions::new(may_fault);
    let mut reader = Reader { formulas: Formulas::default(), propositions, read: HashMap::new() };
    match reader.formula(expr, None) {
        Ok(formula) => {
            let Reader { formulas, propositions, .. } = reader;
            let propositions = propositions.exprs;
            let mut antecedents = Vec::new();
            find_antecedents(expr, &mut antecedents);
            antecedents.truncate(MAX_PROPOSITIONS - propositions.len());
            Some(Temporal { formulas, formula, propositions, antecedents, span: expr.span })
        }
        Err(problem) => problem.refuse(problems),
    }
}

/// The parser limits the depth of formulas.
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

struct Reader<'a> {
    formulas: Formulas,
    propositions: Propositions<'a>,
    /// The subformulas that have been read, by span and guard.
    read: HashMap<(*const Expr, Option<String>), Formula>,
}

impl Reader<'_> {
    /// Reads a subformula that matters only if the guard is true. The parser limits the depth of formulas.
    fn formula(&mut self, expr: &Expr, guard: Option<&Expr>) -> Result<Formula, Diagnostic> {
        let guard = if self.propositions.are_risky(expr)? { guard } else { None };
        let key = (std::ptr::from_ref(expr), guard.map(text::expression));
        if let Some(&known) = self.read.get(&key) {
            return Ok(known);
        }
        let formula = self.formula_anew(expr, guard)?;
        self.read.insert(key, formula);
        Ok(formula)
    }

    fn formula_anew(&mut self, expr: &Expr, guard: Option<&Expr>) -> Result<Formula, Diagnostic> {
        if let ExprKind::Unary(UnaryOp::Not, operand) = &expr.kind {
            let operand = self.formula(operand, guard)?;
            return Ok(self.formulas.not(operand));
        }
        if let Some((proposition, holds)) = self.propositions.as_one(expr, guard)? {
            return Ok(self.formulas.literal(proposition, holds));
        }
        match &expr.kind {
            ExprKind::Const(value) => Ok(if *value == 0 { Formula::FALSE } else { Formula::TRUE }),
            ExprKind::Binary(BinaryOp::And, left, right) => {
                let after = self.after(guard, left, true, right)?;
                let operands = [self.formula(left, guard)?, self.formula(right, after.as_ref())?];
                Ok(self.formulas.and(operands))
            }
            ExprKind::Binary(BinaryOp::Or, left, right) => {
                let after = self.after(guard, left, false, right)?;
                let operands = [self.formula(left, guard)?, self.formula(right, after.as_ref())?];
                Ok(self.formulas.or(operands))
            }
            ExprKind::Temporal(op, operands) => match &operands[..] {
                [operand] => self.unary(*op, operand, guard),
                [left, right] => self.binary(*op, left, right, guard),
                _ => Ok(Formula::TRUE),
            },
            _ => {
                let (proposition, holds) = self.propositions.number(expr)?;
                Ok(self.formulas.literal(proposition, holds))
            }
        }
    }

    /// The guard of the second operand: the first one has this value, which does not decide.
    fn after(
        &mut self,
        guard: Option<&Expr>,
        first: &Expr,
        value: bool,
        second: &Expr,
    ) -> Result<Option<Expr>, Diagnostic> {
        let matters = self.propositions.are_risky(second)?;
        Ok(if matters { conjunction(guard.cloned(), decided(first, value)) } else { None })
    }

    /// A guard concerns only the current state; it does not extend to later ones.
    fn unary(&mut self, op: TemporalOp, operand: &Expr, guard: Option<&Expr>) -> Result<Formula, Diagnostic> {
        let later = self.formula(operand, None)?;
        let later = match op {
            TemporalOp::Next => return Ok(self.formulas.next(later)),
            TemporalOp::Always => self.formulas.always(later),
            _ => self.formulas.eventually(later),
        };
        if guard.is_none() {
            return Ok(later);
        }
        let (now, later) = (self.formula(operand, guard)?, self.formulas.next(later));
        Ok(if op == TemporalOp::Always { self.formulas.and([now, later]) } else { self.formulas.or([now, later]) })
    }

    fn binary(
        &mut self,
        op: TemporalOp,
        left: &Expr,
        right: &Expr,
        guard: Option<&Expr>,
    ) -> Result<Formula, Diagnostic> {
        // For these, the right operand is evaluated first, and the left one only if the right one does not decide.
        let open = match op {
            TemporalOp::Until | TemporalOp::WeakUntil => self.after(None, right, false, left)?,
            TemporalOp::Release => self.after(None, right, true, left)?,
            TemporalOp::Implies => {
                let after = self.after(guard, left, true, right)?;
                let (left, right) = (self.formula(left, guard)?, self.formula(right, after.as_ref())?);
                return Ok(self.formulas.implies(left, right));
            }
            _ => {
                let (left, right) = (self.formula(left, guard)?, self.formula(right, guard)?);
                return Ok(self.formulas.equivalent(left, right));
            }
        };
        let (later_left, later_right) = (self.formula(left, open.as_ref())?, self.formula(right, None)?);
        let later = match op {
            TemporalOp::Until => self.formulas.until(later_left, later_right),
            TemporalOp::WeakUntil => self.formulas.weak_until(later_left, later_right),
            _ => self.formulas.release(later_left, later_right),
        };
        if guard.is_none() {
            return Ok(later);
        }
        let open = conjunction(guard.cloned(), open);
        let (left, right) = (self.formula(left, open.as_ref())?, self.formula(right, guard)?);
        let later = self.formulas.next(later);
        Ok(if op == TemporalOp::Release {
            let left_or_later = self.formulas.or([left, later]);
            self.formulas.and([right, left_or_later])
        } else {
            let left_and_later = self.formulas.and([left, later]);
            self.formulas.or([right, left_and_later])
        })
    }
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
        check_refused("[] x == y", "it cannot be an operand");
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
