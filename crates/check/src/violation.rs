//! Violations, with their messages and positions.

use entail_ir::interpret::{Step, Waiting};
use entail_ir::monitor::MonitorEdge;
use entail_ir::{Interpreter, Statement};
use entail_model::{Fault, FaultKind, Model, State};

/// An error in a run.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The kind of error.
    pub kind: Kind,
    /// The error in a sentence.
    pub message: String,
    /// The reasons, a clause for each process involved.
    pub reasons: Vec<String>,
    /// `None` if the model cannot start.
    pub place: Option<Statement>,
}

/// The number of waiting processes to name.
const MOST_LISTED: usize = 3;

/// A kind of error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A step fails.
    Fault(FaultKind),
    /// An invalid end state.
    InvalidEnd,
    /// The run ends before the trace does.
    Incomplete,
    /// An infinite run violates a property.
    Cycle,
    /// A non-progress cycle.
    NonProgress,
}

impl Violation {
    /// A fault in a step; `started` is false if the model could not start.
    pub fn fault(interpreter: &Interpreter, fault: Fault, started: bool) -> Violation {
        let kind = Kind::Fault(fault.kind);
        if !started {
            let message = format!("the model cannot start: {}", kind.words());
            return Violation { kind, message, reasons: Vec::new(), place: None };
        }
        let place = interpreter.system().statements.get(fault.place as usize).cloned();
        Violation { kind, message: interpreter.describe(fault), reasons: Vec::new(), place }
    }

    /// The violation if `state` is an invalid end state.
    pub fn invalid_end(interpreter: &Interpreter, state: &State) -> Option<Violation> {
        let mut steps = Vec::new();
        interpreter.enabled(state, &mut steps);
        let ends = steps.is_empty() && !interpreter.is_transient(state);
        (ends && !interpreter.marks(state).valid_end).then(|| Violation::end(interpreter, state))
    }

    /// A violation by the cycle `steps`.
    pub fn cycle(interpreter: &Interpreter, kind: Kind, steps: &[Step]) -> Violation {
        let system = interpreter.system();
        let place = steps.first().map(|step| system.statement(system.edge(step.edge()).statement).clone());
        let message = match steps.len() {
            0 => "the run ends, and its last state repeats forever".to_owned(),
            1 => "the last step repeats forever".to_owned(),
            count => format!("the last {count} steps repeat forever"),
        };
        Violation { kind, message, reasons: Vec::new(), place }
    }

    /// A violation by a bad prefix, with its last step.
    pub fn refuted(interpreter: &Interpreter, last: Option<&Step>) -> Violation {
        let system = interpreter.system();
        let place = last.map(|step| system.statement(system.edge(step.edge()).statement).clone());
        let message = match last {
            None => "the property is violated in the initial state".to_owned(),
            Some(_) => FaultKind::Refuted.words().to_owned(),
        };
        Violation { kind: Kind::Fault(FaultKind::Refuted), message, reasons: Vec::new(), place }
    }

    /// The violation of the invalid end state `state`.
    pub fn end(interpreter: &Interpreter, state: &State) -> Violation {
        if let Some(awaited) = interpreter.awaited(state) {
            return Violation::incomplete(interpreter, awaited);
        }
        let waiting = interpreter.waiting(state);
        let listed = &waiting[..waiting.len().min(MOST_LISTED)];
        let where_at = |Waiting { process, name, statement, .. }: &Waiting| {
            format!("{name}({process}) waits at {}:{}, {}", statement.file, statement.line, statement.text)
        };
        let why = |Waiting { process, name, reason, .. }: &Waiting| {
            reason.as_ref().map(|reason| format!("{name}({process}): {reason}"))
        };
        let mut places: Vec<_> = listed.iter().map(where_at).collect();
        if waiting.len() > MOST_LISTED {
            places.push(format!("and {} more", waiting.len() - MOST_LISTED));
        }
        let message = format!("invalid end state: {}", places.join("; "));
        let place = waiting.first().map(|first| first.statement.clone());
        Violation { kind: Kind::InvalidEnd, message, reasons: listed.iter().filter_map(why).collect(), place }
    }
}

impl Violation {
    /// The run ends while the trace still expects one of these events.
    fn incomplete(interpreter: &Interpreter, awaited: &[MonitorEdge]) -> Violation {
        let statement = |expected: &MonitorEdge| interpreter.system().statement(expected.statement);
        let texts: Vec<_> = awaited.iter().map(|expected| format!("`{}`", statement(expected).text)).collect();
        let message = format!("when the run ends, the trace still expects {}", texts.join(" or "));
        Violation {
            kind: Kind::Incomplete,
            message,
            reasons: Vec::new(),
            place: awaited.first().map(statement).cloned(),
        }
    }
}

impl Kind {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::InvalidEnd => "invalid_end_state",
            Kind::Incomplete => "incomplete_trace",
            Kind::Cycle => "acceptance_cycle",
            Kind::NonProgress => "non_progress_cycle",
            Kind::Fault(kind) => kind.name(),
        }
    }

    /// A short description.
    pub fn words(self) -> &'static str {
        match self {
            Kind::InvalidEnd => "invalid end state",
            Kind::Incomplete => "incomplete trace",
            Kind::Cycle => "acceptance cycle",
            Kind::NonProgress => "non-progress cycle",
            Kind::Fault(kind) => kind.words(),
        }
    }
}
