//! Logs of search events, for learners and for programs.

use crate::config::{Config, LogKind};
use crate::observer::Observer;
use crate::output::{self, Content, LOG_BEGINS, Outputs};
use crate::progress::Listener;
use crate::violation::Kind;
use entail_ir::interpret::Step;
use entail_ir::{EdgeId, Interpreter, Statement, System};
use entail_model::{Event, EventTarget, Named, StateName};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

/// Writes a line of `word=value` for each event of one search.
pub struct Log<'s> {
    interpreter: &'s Interpreter<'s>,
    out: To<'s>,
    to: PathBuf,
    kinds: Vec<LogKind>,
    /// The first line of the log of a search.
    begins: String,
    /// The process name of each edge.
    names: Vec<&'s str>,
    /// States are numbered in the order of their first event.
    numbers: HashMap<StateName, u64>,
    /// The reason why the log was cut off.
    over: Option<Over>,
}

/// The destination of the log.
enum To<'s> {
    File(BufWriter<File>),
    Observer(&'s dyn Observer),
    Nowhere,
}

enum Over {
    Full,
    Failed(String),
}

/// Limits the memory for state numbers; a longer log would be of no use.
const MOST_STATES: usize = 1 << 24;

/// The file for the logs of all searches, created when the first one begins.
#[derive(Debug, Default)]
pub struct LogFile(OnceCell<File>);

impl LogFile {
    /// The file, or `None` if the log goes to standard error. It gets its name immediately, so that a log can be
    /// followed.
    pub fn open(&self, config: &Config, outputs: &Outputs) -> Result<Option<File>, String> {
        let Some(path) = &config.log_file else { return Ok(None) };
        let file = match self.0.get() {
            Some(file) => file,
            None => {
                let made = outputs.create(path, Content::Log)?.finish()?;
                self.0.get_or_init(|| made)
            }
        };
        file.try_clone().map(Some).map_err(|error| output::cannot(path, error))
    }
}

impl<'s> Log<'s> {
    /// The log of the search for a property, appended to earlier ones; `None` if logging is off.
    pub fn of(
        config: &Config,
        file: Result<Option<File>, String>,
        interpreter: &'s Interpreter<'s>,
        model: &str,
        property: &str,
        observer: &'s dyn Observer,
    ) -> Option<Log<'s>> {
        if config.log.is_empty() {
            return None;
        }
        let (out, over) = match file {
            Ok(None) => (To::Observer(observer), None),
            Ok(Some(file)) => (To::File(BufWriter::new(file)), None),
            Err(problem) => (To::Nowhere, Some(Over::Failed(problem))),
        };
        Some(Log {
            interpreter,
            out,
            to: config.log_file.clone().unwrap_or("the log".into()),
            kinds: config.log.clone(),
            begins: format!("{LOG_BEGINS}model={model:?} property={property:?}"),
            names: names(interpreter.system()),
            numbers: HashMap::new(),
            over,
        })
    }

    /// Finishes the log; an error if it is incomplete.
    pub fn finish(mut self) -> Result<(), String> {
        let to = self.to;
        let failed = |error| Over::Failed(output::cannot(&to, error));
        match self.over.or_else(|| self.out.finish().err().map(failed)) {
            None => Ok(()),
            Some(Over::Full) => {
                Err(format!("{} ends after {MOST_STATES} states, before the end of the search", to.display()))
            }
            Some(Over::Failed(problem)) => Err(problem),
        }
    }

    /// The line for an event, if its kind is logged.
    fn line(&mut self, event: Event<Step>) -> Option<String> {
        let Some(kind) = kind(&event) else {
            self.numbers.clear();
            return Some(self.begins.clone());
        };
        // States get numbers even if their events are not logged.
        let words = self.words(event);
        let is_wanted = self.kinds.iter().any(|wanted| *wanted == LogKind::Search || *wanted == kind);
        is_wanted.then(|| format!("event={}{words}", kind.name()))
    }

    fn words(&mut self, event: Event<Step>) -> String {
        match event {
            Event::Begun => String::new(),
            Event::New { state }
            | Event::Known { state, .. }
            | Event::Pushed { state }
            | Event::Popped { state }
            | Event::Taken { state }
            | Event::Accepted { state } => format!(" state={}", self.number(state)),
            Event::Tried { from, passed, step, to } => {
                let from = self.number(from);
                let to = match to {
                    EventTarget::Nowhere => "none".to_owned(),
                    EventTarget::Transient => "inside".to_owned(),
                    EventTarget::Stable(state) => self.number(state).to_string(),
                };
                let step = step.map_or(String::new(), |step| self.step(step));
                format!(" state={from} passed={passed} to={to}{step}")
            }
            Event::Inside { begins } => format!(" begins={}", if begins { "yes" } else { "no" }),
            Event::Wrong { state, fault } => {
                let what =
                    fault.map_or(Kind::InvalidEnd.words().to_owned(), |fault| self.interpreter.describe(fault));
                format!(" state={} message={what:?}", self.number(state))
            }
        }
    }

    fn number(&mut self, state: StateName) -> u64 {
        let next = self.numbers.len() as u64;
        *self.numbers.entry(state).or_insert(next)
    }

    fn step(&self, step: Step) -> String {
        let first = self.half(step.edge()).map(|words| format!(" process={}{words}", step.process()));
        let partner = |(process, edge)| self.half(edge).map(|words| format!(" partner={process}{words}"));
        [first, step.partner().and_then(partner)].into_iter().flatten().collect()
    }

    /// The statement of a process; `None` for the step without an edge of a model that cannot start.
    fn half(&self, edge: EdgeId) -> Option<String> {
        let name = self.names.get(edge.index())?;
        let system = self.interpreter.system();
        let Statement { file, line, text, .. } = system.statement(system.edge(edge).statement);
        Some(format!(" name={name:?} file={file:?} line={line} statement={text:?}"))
    }
}

impl To<'_> {
    fn line(&mut self, line: &str) -> io::Result<()> {
        match self {
            To::File(file) => writeln!(file, "{line}"),
            To::Observer(observer) => {
                observer.log(line);
                Ok(())
            }
            To::Nowhere => Ok(()),
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        match self {
            To::File(file) => file.flush(),
            To::Observer(_) | To::Nowhere => Ok(()),
        }
    }
}

impl Listener for Log<'_> {
    fn happened(&mut self, event: Event<Step>) {
        if self.over.is_some() {
            return;
        }
        let Some(line) = self.line(event) else { return };
        if let Err(error) = self.out.line(&line) {
            self.over = Some(Over::Failed(output::cannot(&self.to, error)));
        } else if self.numbers.len() > MOST_STATES {
            let _ = self.out.line("event=cut");
            self.over = Some(Over::Full);
        }
    }
}

/// `None` for the begin of a search, which is always logged.
fn kind(event: &Event<Step>) -> Option<LogKind> {
    Some(match event {
        Event::Begun => return None,
        Event::New { .. } => LogKind::New,
        Event::Known { closes_cycle: true, .. } => LogKind::Cycle,
        Event::Known { closes_cycle: false, .. } => LogKind::Match,
        Event::Pushed { .. } => LogKind::Push,
        Event::Popped { .. } => LogKind::Pop,
        Event::Taken { .. } => LogKind::Take,
        Event::Tried { .. } => LogKind::Try,
        Event::Inside { .. } => LogKind::Inside,
        Event::Accepted { .. } => LogKind::Accept,
        Event::Wrong { .. } => LogKind::Error,
    })
}

fn names(system: &System) -> Vec<&str> {
    let mut names = vec![""; system.edges.len()];
    for process_type in &system.process_types {
        for edge in process_type.locations.iter().flat_map(|location| location.edges()) {
            names[edge.index()] = &process_type.name;
        }
    }
    names
}
