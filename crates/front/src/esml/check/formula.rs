//! Formulas. A subformula without temporal operators is one proposition, so that `&`, `OR` and `=>` in it are
//! evaluated with short circuit.

use super::{Checker, Meaning, or_similar};
use crate::diagnostic::Diagnostic;
use crate::esml::ast::{self, ExprKind};
use crate::esml::code::{Access, BinaryOp, Formula, Proposition, Root};
use entail_temporal::ctl::MAX_HEIGHT;
use entail_temporal::formula::{self, MAX_PROPOSITIONS};
use entail_temporal::{Ctl, Limit};

impl Checker<'_> {
    pub fn formula(&mut self, name: &str, expr: &ast::Expr) {
        self.temporal = true;
        let mut propositions = Vec::new();
        let says = self.says(expr, 0, &mut propositions);
        self.temporal = false;
        let formula = |says| Formula { name: name.to_owned(), says, propositions, span: expr.span };
        self.program.formulas.extend(says.map(formula));
    }

    /// Lowers a formula that is nested in `height` operators; `None` if there are errors.
    fn says(&mut self, expr: &ast::Expr, height: usize, propositions: &mut Vec<Proposition>) -> Option<Ctl> {
        if !is_temporal(expr) {
            return self.proposition(expr, propositions);
        }
        if height + 1 == MAX_HEIGHT {
            return self.problems.refuse(
                expr.span,
                format!("the formula is too large: it is nested more than {MAX_HEIGHT} operators deep"),
            );
        }
        let mut below = |operand: &ast::Expr| self.says(operand, height + 1, propositions);
        // Report problems of the right operand even if the left one has some.
        let mut both = |left: &ast::Expr, right: &ast::Expr| {
            let (left, right) = (below(left), below(right));
            Some((left?, right?))
        };
        match &expr.kind {
            ExprKind::Not(operand) => below(operand).map(|operand| !operand),
            ExprKind::Binary(op, operands) => {
                let (left, right) = both(&operands.0, &operands.1)?;
                Some(if *op == BinaryOp::And { Ctl::and(left, right) } else { Ctl::or(left, right) })
            }
            ExprKind::Implies(operands) => {
                let (left, right) = both(&operands.0, &operands.1)?;
                Some(Ctl::Implies(Box::new(left), Box::new(right)))
            }
            ExprKind::Runs(quantifier, path) => {
                let path = path.map(below).complete()?;
                Some(Ctl::Runs(*quantifier, Box::new(path)))
            }
            ExprKind::Number(_)
            | ExprKind::Boolean(_)
            | ExprKind::Access(_)
            | ExprKind::Len(_)
            | ExprKind::Head(_)
            | ExprKind::Negate(_) => None,
        }
    }

    fn proposition(&mut self, expr: &ast::Expr, propositions: &mut Vec<Proposition>) -> Option<Ctl> {
        let condition = self.condition(expr);
        if let Some(value) = condition.constant() {
            return Some(Ctl::Const(value != 0));
        }
        let text = self.text(expr.span);
        let text = without_parentheses(&text);
        let known = propositions.iter().position(|known| known.text == text);
        let number = known.unwrap_or_else(|| {
            propositions.push(Proposition { text: text.to_owned(), condition, span: expr.span });
            propositions.len() - 1
        });
        if number == MAX_PROPOSITIONS {
            self.problems.error(expr.span, format!("the formula is too large: {}", Limit::Propositions));
        }
        (number < MAX_PROPOSITIONS).then_some(Ctl::Proposition(formula::Proposition(number as u8)))
    }

    /// `Process.variable`, or `Process[number].variable`.
    pub fn remote(&mut self, access: &ast::Access) -> Option<Access> {
        let process = match self.lookup(&access.name)? {
            Meaning::Process(process) => process,
            meaning @ (Meaning::Constant(_)
            | Meaning::Type(_)
            | Meaning::Variable(_)
            | Meaning::Param(_)
            | Meaning::Channel(_)) => {
                let problem = format!("`{}` is {}", access.name.text, meaning.describe());
                let problem = Diagnostic::error(access.name.span, problem);
                self.problems.report(problem.hint("a formula speaks of variables as `Process.variable`"));
                return None;
            }
        };
        let (instance, selectors) = match access.selectors.split_first() {
            Some((ast::Selector::Index(index), selectors)) => (Some(&**index), selectors),
            Some((ast::Selector::Field(_), _)) | None => (None, &access.selectors[..]),
        };
        let Some((ast::Selector::Field(field), selectors)) = selectors.split_first() else {
            let problem = format!("which variable of `{}` is meant?", access.name.text);
            self.problems.report(Diagnostic::error(access.span, problem).hint("write `Process.variable`"));
            return None;
        };
        let vars = &self.program.processes[process].vars;
        let Some(variable) = vars.iter().position(|(name, _)| *name == field.text) else {
            let known = vars.iter().map(|(name, _)| name.as_str());
            let message = format!("`{}` has no variable `{}`", access.name.text, field.text);
            self.missing(Diagnostic::error(field.span, or_similar(message, &field.text, known)));
            return None;
        };
        let ty = vars[variable].1;
        let activation = self.activation_of(process, &access.name, instance, &field.text)?;
        self.select(Root::Remote { activation, variable }, &field.text, ty, selectors)
    }

    /// Resolves a process of a type. Processes have the numbers that reports show: `P(2)` is `P[2]`.
    fn activation_of(
        &mut self,
        process: usize,
        name: &ast::Name,
        instance: Option<&ast::Expr>,
        variable: &str,
    ) -> Option<usize> {
        let number = match instance {
            Some(instance) => Some(self.constant(instance)?),
            None => None,
        };
        let activations = self.program.activations.iter().enumerate();
        let of_type = activations.filter(|(_, activation)| activation.process == process);
        let of_type: Vec<usize> = of_type.map(|(number, _)| number).collect();
        let name_of = |number: usize| format!("`{}[{number}].{variable}`", name.text);
        let choice = match &of_type[..] {
            [] => {
                self.missing(Diagnostic::error(name.span, format!("no process `{}` is activated", name.text)));
                return None;
            }
            [one] => format!("write {}", name_of(*one)),
            [first, .., last] => format!("write {} or {}, for example", name_of(*first), name_of(*last)),
        };
        match (number, instance) {
            (Some(number), Some(instance)) => {
                let found = of_type.iter().find(|of_type| i32::try_from(**of_type) == Ok(number));
                if found.is_none() {
                    let problem = format!("process {number} is no `{}`", name.text);
                    self.missing(Diagnostic::error(instance.span, problem).hint(choice));
                }
                found.copied()
            }
            _ if of_type.len() == 1 => Some(of_type[0]),
            _ => {
                let problem = format!("there are {} processes `{}`: which one is meant?", of_type.len(), name.text);
                self.problems.report(Diagnostic::error(name.span, problem).hint(choice));
                None
            }
        }
    }
}

/// Whether it is a formula about runs rather than about a state.
fn is_temporal(expr: &ast::Expr) -> bool {
    match &expr.kind {
        ExprKind::Runs(..) => true,
        ExprKind::Not(operand) => is_temporal(operand),
        ExprKind::Binary(BinaryOp::And | BinaryOp::Or, operands) | ExprKind::Implies(operands) => {
            is_temporal(&operands.0) || is_temporal(&operands.1)
        }
        ExprKind::Binary(BinaryOp::Compare(_) | BinaryOp::Compute(_), _)
        | ExprKind::Number(_)
        | ExprKind::Boolean(_)
        | ExprKind::Access(_)
        | ExprKind::Len(_)
        | ExprKind::Head(_)
        | ExprKind::Negate(_) => false,
    }
}

/// A text without its outer parentheses.
fn without_parentheses(mut text: &str) -> &str {
    while let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        let closes_early = |depth: &mut i32, letter: char| {
            *depth += i32::from(letter == '(') - i32::from(letter == ')');
            Some(*depth < 0)
        };
        if inner.chars().scan(0, closes_early).any(|early| early) {
            break;
        }
        text = inner.trim();
    }
    text
}
