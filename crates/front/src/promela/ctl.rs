//! CTL formulas over Promela's expressions, an extension of SPIN's language.
//!
//! Propositions are those of LTL ([`formula`](super::formula)). Every temporal operator needs a quantifier of its
//! own, and every quantifier a temporal operator: `A(p U q)`.

use super::ast::{BinaryOp, Expr, ExprKind, Formula, Quantifier, TemporalOp, UnaryOp};
use super::propositions::{MayFault, Propositions, decided};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use entail_temporal::Ctl;
use entail_temporal::ctl::{MAX_HEIGHT, Path};
use entail_temporal::formula::Proposition;

/// A formula and its propositions.
#[derive(Clone, Debug)]
pub struct CtlFormula {
    pub formula: Ctl,
    /// The propositions by number: the first occurrence of each.
    pub propositions: Vec<Expr>,
}

/// The formula of `ctl name { … }`.
pub fn of_unit(formula: &Formula, may_fault: MayFault, problems: &mut Vec<Diagnostic>) -> Option<CtlFormula> {
    of_expr(formula.expr.as_ref()?, may_fault, problems)
}

fn of_expr(expr: &Expr, may_fault: MayFault, problems: &mut Vec<Diagnostic>) -> Option<CtlFormula> {
    let mut reader = Reader { propositions: Propositions::new(may_fault), height: 0 };
    match reader.formula(expr) {
        Ok(formula) => Some(CtlFormula { formula, propositions: reader.propositions.exprs }),
        Err(problem) => problem.refuse(problems),
    }
}

struct Reader<'a> {
    propositions: Propositions<'a>,
    /// The nesting depth.
    height: usize,
}

impl Reader<'_> {
    fn formula(&mut self, expr: &Expr) -> Result<Ctl, Diagnostic> {
        // There is room for the negation of a proposition.
        if self.height + 1 == MAX_HEIGHT {
            let message = format!("the formula is too large: it is nested more than {MAX_HEIGHT} operators deep");
            return Err(Diagnostic::error(expr.span, message));
        }
        self.height += 1;
        let formula = self.formula_below(expr);
        self.height -= 1;
        formula
    }

    fn formula_below(&mut self, expr: &Expr) -> Result<Ctl, Diagnostic> {
        if let ExprKind::Unary(UnaryOp::Not, operand) = &expr.kind {
            return Ok(!self.formula(operand)?);
        }
        if let Some((proposition, holds)) = self.propositions.as_one(expr, None)? {
            return Ok(literal(proposition, holds));
        }
        match &expr.kind {
            ExprKind::Const(value) => Ok(Ctl::Const(*value != 0)),
            ExprKind::Binary(BinaryOp::And, left, right) => Ok(Ctl::and(self.formula(left)?, self.formula(right)?)),
            ExprKind::Binary(BinaryOp::Or, left, right) => Ok(Ctl::or(self.formula(left)?, self.formula(right)?)),
            ExprKind::Temporal(op, operands) => match (op, &operands[..]) {
                (TemporalOp::Implies, [left, right]) => {
                    Ok(Ctl::Implies(Box::new(self.formula(left)?), Box::new(self.formula(right)?)))
                }
                (TemporalOp::Equivalent, [left, right]) => {
                    Ok(Ctl::Equivalent(Box::new(self.formula(left)?), Box::new(self.formula(right)?)))
                }
                _ => Err(unquantified(*op, expr.span)),
            },
            ExprKind::Runs(quantifier, path) => {
                Ok(Ctl::Runs(*quantifier, Box::new(self.path(*quantifier, path, expr.span)?)))
            }
            _ => {
                let (proposition, holds) = self.propositions.number(expr)?;
                Ok(literal(proposition, holds))
            }
        }
    }

    /// The left operand of a path operator. It matters only where the right operand, evaluated first, does not
    /// decide.
    fn left(&mut self, left: &Expr, right: &Expr, open: bool) -> Result<Ctl, Diagnostic> {
        let guard = decided(right, open);
        match self.propositions.as_one(left, guard.as_ref())? {
            Some((proposition, holds)) => Ok(literal(proposition, holds)),
            None => self.formula(left),
        }
    }

    /// The path formula after a quantifier; both together are at `whole`.
    fn path(&mut self, quantifier: Quantifier, expr: &Expr, whole: Span) -> Result<Path, Diagnostic> {
        let ExprKind::Temporal(op, operands) = &expr.kind else { return Err(without_operator(quantifier, whole)) };
        Ok(match (op, &operands[..]) {
            (TemporalOp::Next, [operand]) => Path::Next(self.formula(operand)?),
            (TemporalOp::Always, [operand]) => Path::Always(self.formula(operand)?),
            (TemporalOp::Eventually, [operand]) => Path::Eventually(self.formula(operand)?),
            (TemporalOp::Until, [left, right]) => Path::Until(self.left(left, right, false)?, self.formula(right)?),
            (TemporalOp::WeakUntil, [left, right]) => {
                Path::WeakUntil(self.left(left, right, false)?, self.formula(right)?)
            }
            (TemporalOp::Release, [left, right]) => {
                Path::Release(self.left(left, right, true)?, self.formula(right)?)
            }
            _ => return Err(without_operator(quantifier, whole)),
        })
    }
}

fn literal(proposition: Proposition, holds: bool) -> Ctl {
    let proposition = Ctl::Proposition(proposition);
    if holds { proposition } else { !proposition }
}

/// Reports `[] p` without a quantifier.
fn unquantified(op: TemporalOp, span: Span) -> Diagnostic {
    let (symbol, hint) = match op {
        TemporalOp::Always => ("[]", "write `AG p` or `EG p`"),
        TemporalOp::Eventually => ("<>", "write `AF p` or `EF p`"),
        TemporalOp::Next => ("X", "write `AX p` or `EX p`"),
        TemporalOp::Until => ("U", "write `A(p U q)` or `E(p U q)`"),
        TemporalOp::WeakUntil => ("W", "write `A(p W q)` or `E(p W q)`"),
        TemporalOp::Release => ("R", "write `A(p R q)` or `E(p R q)`"),
        TemporalOp::Implies => ("->", "write `p -> q`"),
        TemporalOp::Equivalent => ("<->", "write `p <-> q`"),
    };
    let message = format!("in CTL `{symbol}` needs a quantifier of its own");
    Diagnostic::error(span, message).hint(hint)
}

/// Reports `A p` without a temporal operator.
fn without_operator(quantifier: Quantifier, span: Span) -> Diagnostic {
    let which = quantifier.letter();
    let message = format!("`{which}` quantifies over runs, and needs a temporal operator of its own");
    let hint = format!("write `{which}G p`, `{which}F p`, `{which}X p` or `{which}((p && q) U (r && s))`");
    Diagnostic::error(span, message).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::render;
    use crate::promela::formula::read_expr;
    use crate::promela::parse::Logic;
    use crate::promela::{preprocess, text};
    use crate::source::Sources;

    impl CtlFormula {
        fn names(&self) -> Vec<String> {
            self.propositions.iter().map(text::expression).collect()
        }
    }

    fn read_text(text: &str) -> Result<CtlFormula, String> {
        let (mut sources, mut problems) = (Sources::default(), Vec::new());
        let options = preprocess::Options::default();
        let expr = read_expr(Logic::Ctl, "formula", text, &options, &mut sources, &mut problems);
        expr.and_then(|expr| of_expr(&expr, &mut |_| false, &mut problems))
            .ok_or_else(|| render(&problems, &sources, false))
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let read = read_text(text).unwrap_or_else(|shown| panic!("{shown}"));
        assert_eq!(read.formula.print(&read.names()).to_string(), expected);
    }

    #[track_caller]
    fn check_refused(text: &str, expected: &str) {
        let shown = read_text(text).map(|read| read.names()).unwrap_err();
        assert!(shown.contains(expected), "{shown}");
    }

    #[test]
    fn every_operator_has_its_notations() {
        for quantifier in ["A", "E"] {
            check(&format!("{quantifier}G p"), &format!("{quantifier}G p"));
            check(&format!("{quantifier}F p"), &format!("{quantifier}F p"));
            check(&format!("{quantifier}X p"), &format!("{quantifier}X p"));
            check(&format!("{quantifier} [] p"), &format!("{quantifier}G p"));
            check(&format!("{quantifier}[]p"), &format!("{quantifier}G p"));
            check(&format!("{quantifier} <> p"), &format!("{quantifier}F p"));
            check(&format!("{quantifier} X p"), &format!("{quantifier}X p"));
            check(&format!("{quantifier} always p"), &format!("{quantifier}G p"));
            check(&format!("{quantifier} eventually p"), &format!("{quantifier}F p"));
            check(&format!("{quantifier} next p"), &format!("{quantifier}X p"));
            check(&format!("{quantifier}([] p)"), &format!("{quantifier}G p"));
            for (op, shown) in [("U", "U"), ("until", "U"), ("stronguntil", "U"), ("W", "W"), ("weakuntil", "W")] {
                check(&format!("{quantifier}(p {op} q)"), &format!("{quantifier}(p {shown} q)"));
            }
            for op in ["V", "R", "release"] {
                check(&format!("{quantifier}(p {op} q)"), &format!("{quantifier}(p R q)"));
            }
        }
        check("p implies AF q", "p -> AF q");
        check("p equivalent !q", "p <-> !q");
        check("true && (false || p)", "true && (false || p)");
    }

    #[test]
    fn operators_before_formulas_bind_tightest() {
        check("AG EF p", "AG EF p");
        check("AG p && q", "AG p && q");
        check("AG (p && q)", "AG (p && q)");
        check("AG !p -> q", "AG !p -> q");
        check("!AG p", "!AG p");
        check("AG (request -> AF granted)", "AG (request -> AF granted)");
        check("a || b && c", "a || (b && c)");
        check("a -> b -> c", "(a -> b) -> c");
        check("a -> b <-> c", "(a -> b) <-> c");
        check("A(x == 1 U AG y)", "A((x == 1) U AG y)");
        check("E((p && q) U r) || p", "E((p && q) U r) || p");
    }

    #[test]
    fn quantifiers_are_names_where_no_expression_follows() {
        check("AG A", "AG A");
        check("AG (A == 1 && E < AG)", "AG ((A == 1) && (E < AG))");
        check("A -> E", "A -> E");
        check("A - 1 == E[2]", "A - 1 == E[2]");
        check("AG (A@end || E:x == 1)", "AG (A@end || (E:x == 1))");
        check("E(A R E)", "E(A R E)");
        check("EF R", "EF R");
        check("A(A U A)", "A(A U A)");
        check("AF AF", "AF AF");
    }

    #[test]
    fn propositions_are_those_of_linear_time() {
        let names = |text: &str| read_text(text).unwrap().names();
        assert_eq!(names("AG (x == 1 -> EF (x != 1 && y))"), ["x == 1", "y"]);
        assert_eq!(names("AF P@end && EG (q[1]:x == 2)"), ["P@end", "q[1]:x == 2"]);
        assert_eq!(names("EF full(c) && !AG nempty(c)"), ["full(c)", "nempty(c)"]);
        check("AG (x < 2 || EX (x >= 2))", "AG ((x < 2) || EX !(x < 2))");
    }

    #[test]
    fn every_temporal_operator_has_a_quantifier_and_every_quantifier_an_operator() {
        check_refused("[] p", "`[]` needs a quantifier of its own");
        check_refused("AG (p -> <> q)", "write `AF p` or `EF p`");
        check_refused("X p", "write `AX p` or `EX p`");
        check_refused("AG [] p", "formula:1:4");
        check_refused("p U q", "write `A(p U q)` or `E(p U q)`");
        check_refused("A(p W q W r)", "`W` needs a quantifier");
        check_refused("AG p V q", "`R` needs a quantifier");
        check_refused("A p", "`A` quantifies over runs, and needs a temporal operator");
        check_refused("q && E(p)", "formula:1:6");
        check_refused("A(p -> q)", "write `AG p`");
        check_refused("E !p", "`E` quantifies over runs");
        check_refused("A(p && q U r)", "A((p && q) U (r && s))");
        check_refused("A E [] p", "`A` quantifies over runs");
    }

    #[test]
    fn mistakes_are_shown_where_they_are() {
        check_refused("", "the formula is empty");
        check_refused("", "AG (request -> AF granted)");
        check_refused("/* nothing */", "the formula is empty");
        check_refused("AG (", "formula:1:4");
        check_refused("AG (p -> AF q", "formula:1:13");
        check_refused("A(p U q", "formula:1:7");
        check_refused("A(p U)", "formula:1:6");
        check_refused("AG p)", "formula:1:5");
        check_refused("p q", "formula:1:3");
        check_refused("AG x == y", "write `AG (x == y)` rather than `AG x == y`");
        check_refused("x + AF y == 2", "formula:1:5");
    }

    #[test]
    fn size_is_limited() {
        let formula = |count: usize| (0..count).map(|n| format!("p{n}")).collect::<Vec<_>>().join(" && ");
        assert_eq!(read_text(&formula(64)).unwrap().propositions.len(), 64);
        check_refused(&formula(65), "more than 64 propositions");
        let deep = |count: usize| format!("{}p", "EX ".repeat(count));
        assert!(read_text(&deep(MAX_HEIGHT - 2)).is_ok());
        check_refused(&deep(MAX_HEIGHT - 1), "it is nested more than 256 operators deep");
        check_refused(&format!("{}p{}", "EX (".repeat(300), ")".repeat(300)), "nested more than 128 levels deep");
        check_refused(&format!("A{}", " R".repeat(100_000)), "formula:1:");
    }
}
