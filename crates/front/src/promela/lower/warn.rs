//! Warnings.

use super::Assembly;
use super::automaton::Automaton;
use super::flow::{Flow, Kind};
use super::scope::frame_index;
use crate::diagnostic::Diagnostic;
use crate::promela::ast::{ExprKind, Program, Unit};
use crate::promela::walk;
use std::collections::HashSet;

/// Warns where SPIN's verifier counts a claim or a formula as a process. Here it is an observer: checking a
/// property changes neither the model's behaviour nor the values of its expressions.
pub(super) fn warn_counted_claims(program: &Program, claims: &[Flow], problems: &mut Vec<Diagnostic>) {
    let is_claim = |unit: &Unit| matches!(unit, Unit::Ltl(_) | Unit::Never(_));
    if !program.units.iter().any(is_claim) {
        return;
    }
    let (mut counts, mut asks_progress) = (None, false);
    walk::each_expr(program, &mut |expr| match &expr.kind {
        ExprKind::Var(var) if &*var.parts[0].name.name == "_nr_pr" => {
            counts.get_or_insert(expr.span);
        }
        ExprKind::NonProgress => asks_progress = true,
        _ => {}
    });
    problems.extend(counts.map(|span| {
        let message =
            "`_nr_pr` counts processes only, but SPIN's verifier adds 1 where it checks a claim or a formula";
        Diagnostic::warning(span, message)
    }));
    let labels = claims.iter().flat_map(|claim| claim.labels.iter()).filter(|_| asks_progress);
    problems.extend(labels.filter(|label| label.name.name.starts_with("progress")).map(|label| {
        let message = "`np_` considers processes only, but SPIN's verifier also considers this label of the claim";
        Diagnostic::warning(label.name.span, message)
    }));
}

impl Assembly<'_> {
    /// Warns about unreachable statements; of several in a row, only about the first.
    pub(super) fn warn_unreachable(&mut self, flow: &Flow, automaton: &Automaton) {
        let mut reached = HashSet::from([automaton.entry]);
        let mut pending = vec![automaton.entry];
        let mut statements = HashSet::new();
        while let Some(location) = pending.pop() {
            for transition in &automaton.outgoing[location as usize] {
                statements.insert(transition.element);
                if reached.insert(transition.target) {
                    pending.push(transition.target);
                }
            }
        }
        let mut previous_unreached = false;
        for transition in automaton.outgoing.iter().flatten() {
            let element = &flow[transition.element];
            if !matches!(element.kind, Kind::Simple(_) | Kind::DStep(_)) {
                continue;
            }
            let unreached = !statements.contains(&transition.element);
            if unreached && !previous_unreached {
                self.problems.push(Diagnostic::warning(element.span, "unreachable: no statement leads here"));
            }
            previous_unreached = unreached;
        }
    }

    /// Warns about variables that are never used.
    pub(super) fn warn_unused(&mut self) {
        let unused = self.scopes.vars.iter().filter(|var| !var.used.get() && !var.is_param);
        let warnings = unused.map(|var| {
            let what = if frame_index(var.home) == 0 { "global variable" } else { "variable" };
            Diagnostic::warning(var.name.span, format!("unused {what} `{}`", var.name.name))
        });
        self.problems.extend(warnings.collect::<Vec<_>>());
    }
}
