//! Witnesses as text.

use super::{Because, Evidence, Run};
use crate::run::Walk;
use crate::units::plural;
use entail_ir::Interpreter;
use entail_ir::interpret::Step;
use entail_model::{Fault, FaultKind, StateBuf};
use entail_search::{Counterexample, ErrorKind};
use entail_temporal::Fairness;
use entail_temporal::ctl::{Ctl, Path, Quantifier};
use std::fmt::Write as _;
use std::path::PathBuf;

/// The explanation of why a formula holds or fails.
#[derive(Clone, Debug)]
pub struct Argument {
    /// The formula.
    pub formula: String,
    /// Whether it holds.
    pub holds: bool,
    /// The reason in a sentence.
    pub reason: String,
    /// The run that shows it, if there is one.
    pub run: Option<ShownRun>,
    /// Explanations of subformulas, each with the number of steps of the run before its state.
    pub parts: Vec<(usize, Argument)>,
    /// The number of further states without an explanation.
    pub untold: usize,
}

/// A run of a witness.
#[derive(Clone, Debug)]
pub struct ShownRun {
    /// The number of steps.
    pub steps: usize,
    /// The number of steps before the cycle, if the run is infinite.
    pub cycle_start: Option<usize>,
    /// The last steps as text.
    pub last_steps: Vec<String>,
    /// All steps in short form, if the run is drawn.
    pub actions: Vec<String>,
    /// The trail of the run, including the path from the initial state.
    pub trail: Option<PathBuf>,
}

/// Turns witnesses into text.
pub struct Explainer<'a, 's, W> {
    pub interpreter: &'a Interpreter<'s>,
    pub fairness: Fairness,
    pub start: &'a StateBuf,
    /// Saves a run from the initial state, and returns the file.
    pub keep: W,
    /// Whether runs are drawn.
    pub draws: bool,
    /// The number of runs so far.
    pub runs: usize,
}

impl<W: FnMut(&Counterexample<Step>) -> Option<PathBuf>> Explainer<'_, '_, W> {
    /// Explains a witness. `before` is the path from the initial state to the state of the witness.
    pub fn tell(&mut self, evidence: &Evidence<Step>, before: &[Step]) -> Argument {
        let Evidence { formula, holds, because } = evidence;
        let mut argument = Argument {
            formula: self.name(formula),
            holds: *holds,
            reason: self.reason(evidence),
            run: None,
            parts: Vec::new(),
            untold: 0,
        };
        match because {
            Because::State | Because::NoRun => {}
            Because::Parts(parts) => {
                argument.parts.extend(parts.iter().map(|part| (0, self.tell(part, before))));
            }
            Because::Run(run) => {
                argument.run = Some(self.run(run, before));
                argument.untold = run.untold;
                for (after, part) in &run.stations {
                    let before = [before, &run.steps[..*after]].concat();
                    argument.parts.push((*after, self.tell(part, &before)));
                }
            }
        }
        argument
    }

    fn run(&mut self, run: &Run<Step>, before: &[Step]) -> ShownRun {
        let refuted = Fault { kind: FaultKind::Refuted, place: u32::MAX, times: 1 };
        let begins = run.cycle_start.map(|begins| before.len() + begins);
        let error = begins.map_or(ErrorKind::Fault(refuted), |begins| ErrorKind::Cycle { begins });
        let whole = Counterexample { error, start: self.start.clone(), steps: [before, &run.steps].concat() };
        let mut walk = Walk::from(self.interpreter, self.start.clone());
        for &step in before {
            walk.pass(step);
        }
        let drawn = if self.draws { &run.steps[..] } else { &[] };
        let actions = Walk::from(self.interpreter, walk.state.clone()).actions(drawn);
        // A run without steps is at the end of another run, whose trail shows it.
        let trail = if run.steps.is_empty() && self.runs > 0 { None } else { (self.keep)(&whole) };
        self.runs += 1;
        ShownRun {
            steps: run.steps.len(),
            cycle_start: run.cycle_start,
            last_steps: walk.tell_last(&run.steps, run.cycle_start),
            actions,
            trail,
        }
    }

    fn name(&self, formula: &Ctl) -> String {
        let system = self.interpreter.system();
        let names = system.propositions.iter().map(|(_, statement)| system.statement(*statement).text.clone());
        formula.print(&names.collect::<Vec<_>>()).to_string()
    }

    fn reason(&self, evidence: &Evidence<Step>) -> String {
        let Evidence { formula, holds, because } = evidence;
        match (formula, because) {
            (_, Because::State) => "in this state".to_owned(),
            (Ctl::Runs(_, path), Because::Run(run)) => self.reason_of_run(path, *holds, run),
            (Ctl::Runs(quantifier, path), Because::NoRun) => self.reason_of_none(*quantifier, path),
            _ => "for the following reasons".to_owned(),
        }
    }

    fn reason_of_run(&self, path: &Path, holds: bool, run: &Run<Step>) -> String {
        let after = match run.steps.len() {
            0 => "already here".to_owned(),
            1 => "after this step".to_owned(),
            count => format!("after these {count} steps"),
        };
        let name = |formula: &Ctl| self.name(formula);
        // The cycle covers only part of the component: under component fairness a run takes all steps of it.
        let everywhere = self.fairness == Fairness::Component;
        let always = |formula: &Ctl| {
            let elsewhere = if everywhere { ", and in all of its strongly connected component" } else { "" };
            format!("{} is always true on this run{elsewhere}", name(formula))
        };
        let never = |formula: &Ctl| {
            let elsewhere = if everywhere { ", nor elsewhere in its strongly connected component" } else { "" };
            format!("{} is never true on this run{elsewhere}", name(formula))
        };
        match (path, holds, run.cycle_start) {
            (Path::Next(operand) | Path::Always(operand) | Path::Eventually(operand), _, None) => {
                format!("{after}, {} is {holds}", name(operand))
            }
            (Path::Until(left, right) | Path::WeakUntil(left, right), true, None) => {
                format!("{after}, {} is true, and {} until then", name(right), name(left))
            }
            (Path::Until(left, right) | Path::WeakUntil(left, right), false, None) => {
                format!("{after}, {} is false, and {} has not been true", name(left), name(right))
            }
            (Path::Release(left, right), true, None) => {
                format!("{after}, {} is true, and {} until and including then", name(left), name(right))
            }
            (Path::Release(left, right), false, None) => {
                format!("{after}, {} is false, and {} has not been true", name(right), name(left))
            }
            (Path::Release(_, right), true, Some(_)) => always(right),
            (Path::Until(left, _) | Path::WeakUntil(left, _), true, Some(_)) => always(left),
            (Path::Until(_, right) | Path::WeakUntil(_, right), false, Some(_)) => never(right),
            (Path::Next(operand) | Path::Always(operand) | Path::Eventually(operand), true, Some(_)) => {
                always(operand)
            }
            (Path::Next(operand) | Path::Always(operand) | Path::Eventually(operand), false, Some(_))
            | (Path::Release(operand, _), false, Some(_)) => never(operand),
        }
    }

    fn reason_of_none(&self, quantifier: Quantifier, path: &Path) -> String {
        let run = match self.fairness {
            Fairness::None => "run",
            Fairness::Weak | Fairness::Strong | Fairness::Impartial | Fairness::Component => "fair run",
        };
        let name = |formula: &Ctl| self.name(formula);
        match (quantifier, path) {
            (Quantifier::Some, Path::Next(operand)) => format!("after no step is {} true", name(operand)),
            (Quantifier::Some, Path::Always(operand)) => {
                format!("on every {run} from here, {} becomes false", name(operand))
            }
            (Quantifier::Some, Path::Eventually(operand)) => {
                format!("no {run} from here reaches {}", name(operand))
            }
            (Quantifier::All, Path::Next(operand)) => format!("after every step {} is true", name(operand)),
            (Quantifier::All, Path::Always(operand)) => {
                format!("{} is true in every state of every {run} from here", name(operand))
            }
            (Quantifier::All, Path::Eventually(operand)) => {
                format!("every {run} from here reaches {}", name(operand))
            }
            (Quantifier::Some, Path::Until(..) | Path::WeakUntil(..) | Path::Release(..)) => {
                format!("no {run} from here satisfies the path formula")
            }
            (Quantifier::All, Path::Until(..) | Path::WeakUntil(..) | Path::Release(..)) => {
                format!("every {run} from here satisfies the path formula")
            }
        }
    }
}

impl Argument {
    /// The explanation line by line, with subformulas indented below.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text, 1, "");
        text
    }

    fn write(&self, text: &mut String, depth: usize, when: &str) {
        let margin = "  ".repeat(depth);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{margin}{when}{} {}: {}", self.formula, verb(self.holds), self.reason);
        let mut last = 0;
        if let Some(run) = &self.run {
            let shown = run.last_steps.len();
            if run.steps > shown {
                let _ = writeln!(text, "{margin}  (the last {shown} of {})", plural(run.steps as u64, "step"));
            }
            for line in run.last_steps.iter().flat_map(|step| step.lines()) {
                let _ = writeln!(text, "{}{line}", "  ".repeat(depth - 1));
            }
            last = run.steps;
        }
        for (after, part) in &self.parts {
            match (&self.run, *after) {
                (None, _) => part.write(text, depth + 1, ""),
                (Some(_), after) if after == last => part.write(text, depth + 1, ""),
                (Some(_), 0) => part.write(text, depth + 1, "at the beginning, "),
                (Some(_), after) => {
                    part.write(text, depth + 1, &format!("after {}, ", plural(after as u64, "step")));
                }
            }
        }
        if self.untold > 0 {
            let _ = writeln!(text, "{margin}  and so on, for {}", plural(self.untold as u64, "more state"));
        }
    }

    /// All runs in it, outer ones first.
    pub fn runs(&self) -> Vec<&ShownRun> {
        let inner = self.parts.iter().flat_map(|(_, part)| part.runs());
        self.run.iter().chain(inner).collect()
    }
}

pub fn verb(holds: bool) -> &'static str {
    if holds { "holds" } else { "fails" }
}
