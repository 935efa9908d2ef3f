//! Lowers `trace` and `notrace` to monitors.

use super::automaton::{self, Automaton};
use super::expr::{Lowering, Transfer};
use super::flow::{ElementId, Flow, Kind};
use super::{Assembly, Statements, describe};
use crate::diagnostic::Diagnostic;
use crate::promela::ast::{Branch, Expr, ExprKind, Program, Step, Stmt, StmtKind, Structure, Trace, Unit};
use crate::{Meaning, Specification};
use entail_ir as ir;
use entail_ir::monitor::{Direction, Event, Monitor, MonitorEdge, MonitorState, Rule, Watched};
use entail_ir::{Pattern, StatementId};
use std::collections::HashMap;

const EVENTS: &str = "a trace is made of sends, receives, `if`, `do`, `break`, `goto` and labels";

/// Reports a second trace: a model has at most one, as in SPIN.
pub fn check_single(program: &Program, problems: &mut Vec<Diagnostic>) {
    let mut traces = program.units.iter().filter_map(|unit| match unit {
        Unit::Trace(trace) => Some(trace),
        _ => None,
    });
    let Some(first) = traces.next() else { return };
    problems.extend(traces.map(|other| {
        Diagnostic::error(other.span, "a model can have only one `trace` or `notrace`")
            .related(first.span, "the first one is here")
    }));
}

/// The events of a trace, by element.
type Events = HashMap<ElementId, (Event, StatementId)>;

impl Assembly<'_> {
    /// The monitor of a trace. It moves with each event on a channel that the trace names.
    pub(super) fn trace(&mut self, trace: &Trace, flow: &mut Flow) -> Option<Meaning> {
        check_events(&trace.body, self.problems);
        let automaton = automaton::build(flow, &self.scopes, self.problems);
        let (events, watched) = self.events(flow);
        let automaton = automaton?;
        if automaton.outgoing.len() > usize::from(u16::MAX) {
            return Diagnostic::error(trace.span, "a trace of more than 65535 statements").refuse(self.problems);
        }
        let rule = if trace.negated { Rule::Forbids } else { Rule::Requires };
        let states = self.states(flow, &automaton, &events);
        let says = Specification::Monitor(Monitor { rule, watched, states });
        Some(Meaning { says, propositions: Vec::new(), antecedents: Vec::new() })
    }

    /// All events of the text, including unreachable ones, and the channels to watch.
    fn events(&mut self, flow: &Flow) -> (Events, Vec<Watched>) {
        let (mut events, mut all) = (Events::new(), Vec::<Watched>::new());
        for (id, element) in (0..).map(ElementId).zip(&flow.elements) {
            let Kind::Simple(stmt) = &element.kind else { continue };
            let Some(event) = self.lowering(element.scope, element.order).event(stmt) else { continue };
            let statement = self.statement(&describe(element, flow), element.span, element.id, element.number);
            let watched = Watched { direction: event.direction, channel: event.channel.clone(), statement };
            if !all.iter().any(|known| Watched { statement, ..known.clone() } == watched) {
                all.push(watched);
            }
            events.insert(id, (event, statement));
        }
        (events, all)
    }

    fn states(&mut self, flow: &Flow, automaton: &Automaton, events: &Events) -> Vec<MonitorState> {
        let over = flow.elements.iter().find(|element| matches!(element.kind, Kind::End));
        let locations = states_of(automaton, over.map_or(0, |over| over.number));
        let state_of: HashMap<u32, u16> = locations.iter().copied().zip(0..).collect();
        let mut statements = Statements { made: HashMap::new() };
        let (_, running) = locations.split_last().unwrap_or((&0, &[]));
        let mut states = Vec::new();
        for &location in running {
            let edges = automaton.outgoing[location as usize].iter().map(|transition| {
                // A `goto` consumes an event too; it accepts any event.
                let (event, statement) = match events.get(&transition.element) {
                    Some((event, statement)) => (Some(event.clone()), *statement),
                    None => (None, self.lower_element(flow, transition.element, &mut statements).1),
                };
                MonitorEdge { event, target: state_of[&transition.target], statement }
            });
            states.push(MonitorState { edges: edges.collect(), end: automaton.marks[location as usize].end });
        }
        states.push(MonitorState { edges: Vec::new(), end: true });
        states
    }
}

/// The reachable locations of a trace: the initial one first, the final one last.
fn states_of(automaton: &Automaton, over: u32) -> Vec<u32> {
    let mut seen = vec![false; automaton.outgoing.len()];
    seen[over as usize] = true;
    let (mut found, mut next) = (Vec::new(), 0);
    let mut visit = |location: u32, found: &mut Vec<u32>| {
        if !std::mem::replace(&mut seen[location as usize], true) {
            found.push(location);
        }
    };
    visit(automaton.entry, &mut found);
    while let Some(&location) = found.get(next) {
        automaton.outgoing[location as usize].iter().for_each(|edge| visit(edge.target, &mut found));
        next += 1;
    }
    found.push(over);
    found
}

impl Lowering<'_> {
    /// The event of a statement in a trace; `None` if it is not an event.
    fn event(&mut self, stmt: &Stmt) -> Option<Event> {
        let before = self.problems.iter().filter(|problem| problem.is_error()).count();
        let (direction, channel, fields) = match &stmt.kind {
            StmtKind::Send(send) => {
                let fields = send.args.iter().flat_map(|arg| self.sent(arg)).collect();
                (Direction::Send, &send.channel, fields)
            }
            StmtKind::Receive(receive) => {
                let fields = self.patterns(&receive.args, Transfer::Receive, None, stmt.span);
                (Direction::Receive, &receive.channel, fields.into_iter().map(unstored).collect())
            }
            _ => return None,
        };
        let fields: Vec<Pattern> = fields;
        let (channel, channel_type) = self.channel(channel);
        let mismatch = channel_type.and_then(|channel| self.arity_mismatch(fields.len(), channel));
        // Fields with errors are not counted.
        let is_wrong = self.problems.iter().filter(|problem| problem.is_error()).count() > before;
        if let Some(message) = mismatch.filter(|_| !is_wrong) {
            self.error(stmt.span, message);
        }
        if self.run.take().is_some() {
            self.error(stmt.span, "`run` in a trace");
        }
        Some(Event { direction, channel, fields })
    }

    /// The patterns for a field of a send in a trace. Only constants are compared.
    fn sent(&mut self, arg: &Expr) -> Vec<Pattern> {
        let name = match &arg.kind {
            ExprKind::Const(value) => return vec![Pattern::Equal(ir::Expr::Const(*value))],
            ExprKind::Var(var) => var.name().map(|name| &*name.name),
            _ => {
                let warning = Diagnostic::warning(arg.span, "this fits every value: only constants are compared");
                warning.hint("write `_`, or the number itself").refuse(self.problems)
            }
        };
        if name == Some("_") {
            return vec![Pattern::Ignore];
        }
        if let Some((_, value)) = name.and_then(|name| self.scopes.member(name)) {
            return vec![Pattern::Equal(ir::Expr::Const(value))];
        }
        self.args(std::slice::from_ref(arg)).iter().map(|_| Pattern::Ignore).collect()
    }
}

/// A variable in a trace matches any value.
fn unstored(pattern: Pattern) -> Pattern {
    match pattern {
        Pattern::Store(_) | Pattern::Ignore => Pattern::Ignore,
        Pattern::Equal(value) => Pattern::Equal(value),
    }
}

fn check_events(steps: &[Step], problems: &mut Vec<Diagnostic>) {
    for step in steps {
        match step {
            Step::Decl(decl) => {
                problems.push(Diagnostic::error(decl.span, "a trace has no variables of its own"));
            }
            Step::Exclusive(_) => {}
            Step::Stmt(stmt) => check_event(stmt, problems),
        }
    }
}

fn check_event(stmt: &Stmt, problems: &mut Vec<Diagnostic>) {
    let hint = match stmt.kind.structure() {
        // A label without a statement labels an implicit `skip`.
        Structure::Labelled(label, inner) if inner.span == label.span => return,
        Structure::Labelled(_, inner) => return check_event(inner, problems),
        Structure::Break | Structure::Goto(_) => return,
        Structure::If(branches) | Structure::Do(branches) => {
            let bodies = branches.iter().map(|Branch { body, .. }| body);
            return bodies.for_each(|body| check_events(body, problems));
        }
        Structure::Unless(body, escape) => {
            check_event(body, problems);
            return check_event(escape, problems);
        }
        Structure::Simple => match &stmt.kind {
            StmtKind::Send(send) if !send.sorted => return,
            StmtKind::Send(_) => "write `!`, which `!!` fits too",
            StmtKind::Receive(receive) if receive.keep => "a message that stays in its channel is not received",
            StmtKind::Receive(receive) if !receive.random => return,
            StmtKind::Receive(_) => "write `?`, which `??` fits too",
            _ => EVENTS,
        },
        Structure::For(_)
        | Structure::Atomic(_)
        | Structure::DStep(_)
        | Structure::Block(_)
        | Structure::Inlined(..) => EVENTS,
    };
    problems.push(Diagnostic::error(stmt.span, "this is not an event").hint(hint));
}
