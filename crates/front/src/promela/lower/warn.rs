//! What is probably a mistake, but not an error.

use super::Assembly;
use super::automaton::Automaton;
use super::flow::{Flow, Kind};
use super::scope::frame_index;
use crate::diagnostic::Diagnostic;
use std::collections::HashSet;

impl Assembly<'_> {
    /// Statements that no control flow leads to; of several in a row only the first.
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

    /// Variables that are never mentioned again.
    pub(super) fn warn_unused(&mut self) {
        let unused = self.scopes.vars.iter().filter(|var| !var.used.get() && !var.is_param);
        let warnings = unused.map(|var| {
            let what = if frame_index(var.home) == 0 { "global variable" } else { "variable" };
            Diagnostic::warning(var.name.span, format!("unused {what} `{}`", var.name.name))
        });
        self.problems.extend(warnings.collect::<Vec<_>>());
    }
}
