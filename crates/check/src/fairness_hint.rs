//! Finds a process that starves in an infinite counterexample.

use entail_ir::Interpreter;
use entail_ir::interpret::Step;
use entail_model::{Model, State};
use entail_temporal::Fairness;
use std::collections::BTreeSet;

/// An enabled process that never moves in the cycle, and a kind of fairness that excludes such runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FairnessHint {
    /// The name and number of the process.
    pub process: String,
    /// The kind of fairness.
    pub fairness: Fairness,
}

impl FairnessHint {
    /// Finds such a process in the run from `start` whose cycle begins after `begins` steps. `None` if the run is fair, or if
    /// no stronger kind of fairness excludes it.
    pub fn by(
        interpreter: &Interpreter,
        start: &State,
        steps: &[Step],
        begins: usize,
        asked: Fairness,
    ) -> Option<FairnessHint> {
        let mut state = start.to_vec();
        for &step in &steps[..begins] {
            let _ = interpreter.fire(step, &mut state);
        }
        let mut enabled: Vec<BTreeSet<usize>> = Vec::new();
        for &step in &steps[begins..] {
            if !interpreter.is_transient(&state) {
                let mut possible = Vec::new();
                interpreter.enabled(&state, &mut possible);
                enabled.push(possible.into_iter().map(Step::process).collect());
            }
            let _ = interpreter.fire(step, &mut state);
        }
        let moving: BTreeSet<usize> = steps[begins..].iter().copied().map(Step::process).collect();
        let always = enabled.iter().cloned().reduce(|all, some| &all & &some).unwrap_or_default();
        let sometimes = enabled.iter().cloned().reduce(|all, some| &all | &some).unwrap_or_default();
        let (process, fairness) = match asked {
            Fairness::None => {
                let weak = always.difference(&moving).next().map(|process| (process, Fairness::Weak));
                weak.or_else(|| sometimes.difference(&moving).next().map(|process| (process, Fairness::Strong)))
            }
            Fairness::Weak => sometimes.difference(&moving).next().map(|process| (process, Fairness::Strong)),
            Fairness::Strong | Fairness::Impartial | Fairness::Component => None,
        }?;
        let view = interpreter.view(&state);
        let name = &interpreter.system().process_type(view.processes.get(*process)?.process_type).name;
        Some(FairnessHint { process: format!("{name}({process})"), fairness })
    }

    /// The hint in the report.
    pub fn hint(&self) -> String {
        let FairnessHint { process, fairness } = self;
        let (when, option) = match fairness {
            Fairness::None | Fairness::Weak => ("continuously", "weak"),
            Fairness::Strong | Fairness::Impartial | Fairness::Component => ("infinitely often", "strong"),
        };
        format!("{process} is {when} enabled in the cycle but never moves; `--fair {option}` excludes such runs")
    }
}
