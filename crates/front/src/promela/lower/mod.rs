//! Lowers the syntax tree to automata.
//!
//! The first pass builds the graph of every body (`flow`), in the order of the text, so that names and
//! numbers agree with SPIN's. The second pass, with all names known, turns graphs into automata and
//! statements into actions.

mod automaton;
mod claim;
mod dstep;
mod expr;
mod flow;
mod graph;
mod scope;
mod statement;
mod trace;
mod warn;

use super::ast::{self, ExprKind, Ident, Program, ReceiveArg, StmtKind, Unit};
use super::{text, walk};
use crate::diagnostic::Diagnostic;
use crate::source::{Sources, Span};
use crate::{Meaning, PropertyKind};
use automaton::{Automaton, Transition};
use entail_ir::interpret::Step;
use entail_ir::{
    Action, Edge, Init, Label, Location, LocationId, Place, ProcessType, ProcessTypeId, Start, Statement,
    StatementId, System,
};
use expr::{Lowering, Signature, Uses};
use flow::{Element, ElementId, Flow, Kind};
use scope::{Home, PendingInit, ScopeId, Scopes, Ty};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The system of a program.
pub struct Lowered {
    pub system: System,
    /// The meanings of its claims and formulas, in the order of the text; `None` if there are errors.
    pub meanings: Vec<Option<Meaning>>,
    /// The properties of its labels, and whether they are checked by default.
    pub of_labels: Vec<(PropertyKind, Meaning, bool)>,
}

/// Lowers a program to a system. If there is none, the problems contain errors.
pub fn lower(program: &Program, sources: &Sources, problems: &mut Vec<Diagnostic>) -> Option<Lowered> {
    let mut first = Vec::new();
    let (lowered, unread) = lower_without(HashSet::new(), program, sources, &mut first);
    if unread.is_empty() {
        problems.append(&mut first);
        return lowered;
    }
    // A `hidden` variable is not part of the state. This is sound only if nothing reads it, which is known only now.
    lower_without(unread, program, sources, problems).0
}

/// Lowers the program without the `unread` variables. Also returns the hidden variables that nothing reads.
fn lower_without(
    unread: HashSet<Arc<str>>,
    program: &Program,
    sources: &Sources,
    problems: &mut Vec<Diagnostic>,
) -> (Option<Lowered>, HashSet<Arc<str>>) {
    trace::check_single(program, problems);
    let mut layout = Layout::new(Scopes::new(unread), problems);
    layout.units(program);
    layout.separate_remote_labels(program);
    let Layout { scopes, bodies, mut claims, .. } = layout;
    warn::warn_counted_claims(program, &claims, problems);
    let mut assembly = Assembly::new(sources, problems, scopes, &bodies);
    assembly.processes(bodies);
    let mut claims = claims.iter_mut();
    let names = super::property_names(program);
    let mut meanings = Vec::new();
    // Number all bodies in the order of the text, as SPIN does.
    let mut number = 0;
    for unit in &program.units {
        match unit {
            Unit::Ltl(formula) => {
                let name = &names[meanings.len()];
                meanings.push(assembly.alone(name, |assembly| assembly.linear(formula)));
            }
            Unit::Ctl(formula) => {
                let name = &names[meanings.len()];
                meanings.push(assembly.alone(name, |assembly| assembly.ctl(formula)));
            }
            Unit::HoaClaim(hoa_claim) => meanings.push(Some(assembly.hoa_claim(hoa_claim))),
            Unit::Never(_) => meanings.push(claims.next().and_then(|flow| assembly.never(flow, number))),
            Unit::Trace(trace) => meanings.push(claims.next().and_then(|flow| assembly.trace(trace, flow))),
            Unit::Proctype(_) | Unit::Init(_) | Unit::Typedef(_) | Unit::Mtype(_) | Unit::Decl(_) => {}
        }
        let has_body = matches!(unit, Unit::Proctype(_) | Unit::Init(_) | Unit::Never(_) | Unit::Trace(_));
        number += u32::from(has_body);
    }
    let of_labels = assembly.of_labels();
    let unread = assembly.scopes.unread_hidden();
    (assembly.finish().map(|system| Lowered { system, meanings, of_labels }), unread)
}

/// A state contains the type of a process as one byte, and `init` needs a number too.
const MAX_PROCESS_TYPES: usize = 254;

/// A process type whose graph has been built.
struct Body<'p> {
    source: ast::Process<'p>,
    flow: Flow,
    scope: ScopeId,
    params: Vec<scope::VarId>,
}

/// The first pass: declarations and control flow, in the order of the text.
struct Layout<'p, 'd> {
    scopes: Scopes,
    bodies: Vec<Body<'p>>,
    claims: Vec<Flow>,
    next_id: u32,
    problems: &'d mut Vec<Diagnostic>,
}

impl<'p, 'd> Layout<'p, 'd> {
    fn new(scopes: Scopes, problems: &'d mut Vec<Diagnostic>) -> Self {
        Layout { scopes, bodies: Vec::new(), claims: Vec::new(), next_id: 0, problems }
    }

    fn units(&mut self, program: &'p Program) {
        for unit in &program.units {
            match unit {
                Unit::Proctype(proctype) if self.bodies.len() >= MAX_PROCESS_TYPES => {
                    let message = format!("more than {MAX_PROCESS_TYPES} proctypes");
                    self.problems.push(Diagnostic::error(proctype.name.span, message));
                    return;
                }
                Unit::Init(init) if self.bodies.len() > MAX_PROCESS_TYPES => {
                    let message = format!("an `init` after {} other units with bodies", self.bodies.len());
                    self.problems.push(Diagnostic::error(init.span, message));
                    return;
                }
                Unit::Proctype(proctype) => self.process(proctype.process()),
                Unit::Init(init) => self.process(init.process()),
                Unit::Never(claim) => self.claim(&claim.body, claim.end),
                Unit::Trace(trace) => self.claim(&trace.body, trace.end),
                Unit::Ltl(_) | Unit::Ctl(_) | Unit::HoaClaim(_) => {}
                Unit::Typedef(typedef) => self.scopes.declare_record(typedef, self.problems),
                Unit::Mtype(mtype) => self.scopes.declare_mtype(mtype, self.problems),
                Unit::Decl(decl) => self.scopes.declare_global(decl, self.problems),
            }
        }
    }

    /// Labels that other processes refer to must have locations.
    fn separate_remote_labels(&mut self, program: &Program) {
        let mut labels = Vec::new();
        walk::each_expr(program, &mut |expr| {
            if let ExprKind::RemoteLabel { proctype, label, .. } = &expr.kind {
                labels.push((proctype.name.clone(), label.name.clone()));
            }
        });
        for (proctype, label) in labels {
            if let Some(body) = self.bodies.iter_mut().find(|body| body.source.name.name == proctype) {
                body.flow.separate_label(&label, &mut self.next_id);
            }
        }
    }

    /// Declares a process type, and builds its graph.
    fn process(&mut self, source: ast::Process<'p>) {
        self.check_unique(&source);
        let scope = self.scopes.process();
        let params = source.params.iter().flat_map(|decl| self.scopes.declare_param(scope, decl, self.problems));
        let params = params.collect();
        let flow = self.flow(scope, source.body, source.end, false);
        if let Some(span) = flow.elements.iter().find_map(receives_pid) {
            self.scopes.declare_pid(scope, span, self.problems);
        }
        self.bodies.push(Body { source, flow, scope, params });
    }

    /// Builds the graphs of claims for their numbers; the claims are checked later.
    fn claim(&mut self, body: &[ast::Step], end: Span) {
        let scope = self.scopes.child(Scopes::GLOBAL);
        let claim = self.flow(scope, body, end, true);
        self.claims.push(claim);
    }

    fn flow(&mut self, scope: ScopeId, body: &[ast::Step], end: Span, in_claim: bool) -> Flow {
        let builder = flow::Builder::new(&mut self.scopes, scope, in_claim, &mut self.next_id, self.problems);
        builder.body(body, end)
    }

    /// Several processes may be called `init`.
    fn check_unique(&mut self, source: &ast::Process<'_>) {
        let Ident { name, span } = &source.name;
        let Some(earlier) = self.bodies.iter().find(|body| body.source.name.name == *name) else { return };
        let first = earlier.source.name.span;
        self.problems.push(match source.proctype {
            Some(_) => Diagnostic::error(*span, format!("`{name}` is declared twice"))
                .related(first, "first declared here"),
            None => Diagnostic::warning(*span, "another `init`: each is a process of its own")
                .related(first, "the first one"),
        });
    }
}

/// The second pass: automata, actions, initial values.
struct Assembly<'a> {
    sources: &'a Sources,
    problems: &'a mut Vec<Diagnostic>,
    scopes: Scopes,
    signatures: Vec<Signature>,
    uses: Uses,
    system: System,
}

impl<'a> Assembly<'a> {
    fn new(sources: &'a Sources, problems: &'a mut Vec<Diagnostic>, scopes: Scopes, bodies: &[Body<'_>]) -> Self {
        let signatures = bodies.iter().map(|body| Signature {
            name: body.source.name.clone(),
            params: body.params.clone(),
            labels: body
                .flow
                .labels
                .iter()
                .map(|label| {
                    let number = body.flow[label.element].number;
                    (label.name.name.clone(), LocationId(number as u16))
                })
                .collect(),
        });
        let signatures = signatures.collect();
        Assembly { sources, problems, scopes, signatures, uses: Uses::default(), system: System::default() }
    }

    fn processes(&mut self, bodies: Vec<Body<'_>>) {
        if bodies.is_empty() {
            self.problems.push(
                Diagnostic::general("the model has no process")
                    .hint("declare one with `active proctype main() { … }` or `init { … }`"),
            );
        }
        for (index, body) in bodies.into_iter().enumerate() {
            self.start(index, &body);
            self.process(body);
        }
        if self.system.start.is_empty() && !self.system.process_types.is_empty() {
            self.problems.push(
                Diagnostic::general("no process is active: the model has no steps")
                    .hint("write `active` before a proctype, or start processes from `init`"),
            );
        }
    }

    /// The initial processes of this type.
    fn start(&mut self, index: usize, body: &Body<'_>) {
        let count = body.source.proctype.map_or(1, |proctype| self.active(proctype, body.scope));
        let priority = match body.source.priority {
            None => 1,
            Some(priority) => {
                self.uses.priorities = true;
                self.lowering(body.scope, u32::MAX).priority(priority)
            }
        };
        let start = Start { process_type: ProcessTypeId(index as u16), priority };
        self.system.start.extend(std::iter::repeat_n(start, count));
    }

    fn active(&mut self, proctype: &ast::Proctype, scope: ScopeId) -> usize {
        let Some(active) = &proctype.active else { return 0 };
        match self.scopes.fold(active, scope) {
            Some(count @ 0..=255) => count as usize,
            Some(_) => {
                self.problems.push(Diagnostic::error(active.span, "the number of processes must be 0 to 255"));
                0
            }
            None => {
                self.problems.push(Diagnostic::error(active.span, "the number of processes must be a constant"));
                0
            }
        }
    }

    fn process(&mut self, mut body: Body<'_>) {
        let Some(automaton) = automaton::build(&mut body.flow, &self.scopes, self.problems) else {
            // The statements may have problems of their own.
            self.check_statements(&body.flow);
            return;
        };
        if automaton.outgoing.len() > usize::from(u16::MAX) {
            let message = format!("`{}` has more than 65535 statements", body.source.name.name);
            self.problems.push(Diagnostic::error(body.source.name.span, message));
            return;
        }
        for (channel, scope, order) in &body.flow.exclusive {
            let mut lowering = self.lowering(*scope, *order);
            lowering.channel(channel);
            if channel.parts.iter().any(|part| part.index.is_some()) {
                lowering.error(channel.span, "`xr` and `xs` are about a whole channel variable, not an element");
            }
        }
        let declared_at = self.statement(&body.source.name.name, body.source.name.span, 0, 0);
        let mut statements = Statements { made: HashMap::new() };
        let locations = self.locations(&body, &automaton, &mut statements);
        // After an error, the control flow may not be the intended one.
        if !self.problems.iter().any(Diagnostic::is_error) {
            self.warn_unreachable(&body.flow, &automaton);
        }
        let proctype = body.source.proctype;
        let provided = proctype.and_then(|proctype| proctype.provided.as_ref());
        let provided = provided.map(|provided| self.lowering(body.scope, u32::MAX).expr(provided));
        let deterministic = proctype.is_some_and(|proctype| proctype.deterministic);
        let index = self.system.process_types.len();
        let signature = &self.signatures[index];
        let labels =
            signature.labels.iter().map(|(name, location)| Label { name: name.to_string(), location: *location });
        let labels = labels.collect();
        let params = self.params(index);
        self.system.process_types.push(ProcessType {
            name: body.source.name.name.to_string(),
            params,
            frame: entail_ir::Frame::default(),
            locations,
            entry: LocationId(automaton.entry as u16),
            labels,
            provided,
            deterministic,
            declared_at,
        });
    }

    /// Lowers all statements to report their problems.
    fn check_statements(&mut self, flow: &Flow) {
        for element in &flow.elements {
            if let Kind::Simple(stmt) = &element.kind {
                self.action(element, stmt);
            }
        }
    }

    fn params(&mut self, index: usize) -> Vec<Place> {
        let signatures = std::mem::take(&mut self.signatures);
        let places = self.lowering(Scopes::GLOBAL, 0).parameter_places(&signatures[index]);
        self.signatures = signatures;
        places
    }

    fn locations(&mut self, body: &Body<'_>, automaton: &Automaton, statements: &mut Statements) -> Vec<Location> {
        let mut locations = Vec::new();
        for (number, transitions) in automaton.outgoing.iter().enumerate() {
            let first = self.system.edges.len() as u32;
            for transition in transitions {
                let edge = self.edge(body, transition, statements);
                self.system.edges.push(edge);
            }
            let count = self.system.edges.len() as u32 - first;
            if count == 0 {
                locations.push(Location::default());
                continue;
            }
            let marks = automaton.marks[number];
            let (end, accept, progress) = (marks.end, marks.accept, marks.progress);
            locations.push(Location { first, count, end, accept, progress });
        }
        locations
    }

    fn edge(&mut self, body: &Body<'_>, transition: &Transition, statements: &mut Statements) -> Edge {
        let (action, statement) = self.lower_element(&body.flow, transition.element, statements);
        Edge {
            target: (transition.target > 0).then_some(LocationId(transition.target as u16)),
            action,
            atomic: transition.atomic,
            escape: transition.escape.map(|number| LocationId(number as u16)),
            forgets: Vec::new(),
            statement,
        }
    }

    /// The action and the statement of an element; computed once.
    fn lower_element(&mut self, flow: &Flow, id: ElementId, statements: &mut Statements) -> (Action, StatementId) {
        if let Some(made) = statements.made.get(&id) {
            return made.clone();
        }
        let element = &flow[id];
        let text = describe(element, flow);
        let location = if is_structural(element, flow, id) { 0 } else { element.number };
        let statement = self.statement(&text, element.span, element.id, location);
        let action = match &element.kind {
            Kind::Simple(stmt) => {
                let action = self.action(element, stmt);
                if element.deterministic && matches!(action, Action::Run(..)) {
                    self.problems.push(
                        Diagnostic::error(element.span, "`run` inside a `d_step`").hint("use `atomic` instead"),
                    );
                }
                action
            }
            Kind::Else => Action::Else,
            Kind::End => Action::End,
            Kind::DStep(sequence) => {
                let mut lower = |id, _: &Element| self.lower_element(flow, id, statements);
                Action::Deterministic(Box::new(dstep::block(flow, *sequence, &mut lower)))
            }
            Kind::Nothing
            | Kind::Goto(_)
            | Kind::Joint
            | Kind::Exit
            | Kind::If
            | Kind::Do
            | Kind::Unless
            | Kind::Atomic(_)
            | Kind::Block(_) => Action::Skip,
        };
        statements.made.insert(id, (action.clone(), statement));
        (action, statement)
    }

    fn statement(&mut self, text: &str, span: Span, id: u32, location: u32) -> StatementId {
        let place = self.sources.place(span);
        self.system.statements.push(Statement {
            text: text.to_string(),
            file: place.file,
            line: place.line,
            column: place.column,
            spin_id: id,
            location: LocationId(location as u16),
        });
        StatementId(self.system.statements.len() as u32 - 1)
    }

    fn lowering(&mut self, scope: ScopeId, order: u32) -> Lowering<'_> {
        Lowering {
            scopes: &mut self.scopes,
            signatures: &self.signatures,
            problems: self.problems,
            scope,
            order,
            uses: &mut self.uses,
            run: None,
            in_d_step: false,
        }
    }

    /// The action of a statement of a process.
    fn action(&mut self, element: &Element, stmt: &ast::Stmt) -> Action {
        let lowering = self.lowering(element.scope, element.order);
        Lowering { in_d_step: element.deterministic, ..lowering }.action(stmt)
    }

    fn finish(mut self) -> Option<System> {
        let inits = std::mem::take(&mut self.scopes.inits);
        for (frame, mut pending) in inits.into_iter().enumerate() {
            if frame == 0 {
                pending.sort_by_key(|init| init.rank);
            }
            let lowered = pending.iter().flat_map(|init| self.initial_values(init)).collect();
            self.scopes.frames[frame].init = lowered;
        }
        self.warn_unused();
        if self.system.edges.len() > Step::MAX_EDGES {
            self.problems.push(Diagnostic::general(format!("more than {} statements", Step::MAX_EDGES)));
        }
        if self.problems.iter().any(Diagnostic::is_error) {
            return None;
        }
        let mut frames = std::mem::take(&mut self.scopes.frames).into_iter();
        self.system.globals = frames.next().unwrap_or_default();
        for (process, frame) in self.system.process_types.iter_mut().zip(frames) {
            process.frame = frame;
        }
        self.system.channel_types = self.scopes.channel_types;
        self.system.enumerations = self.scopes.enumerations;
        self.system.uses_last = self.uses.last;
        self.system.uses_priorities = self.uses.priorities;
        Some(self.system)
    }

    fn initial_values(&mut self, pending: &PendingInit) -> Vec<Init> {
        let var = self.scopes.vars[pending.var.0 as usize].clone();
        let base = if var.home == Home::Global { Place::global } else { Place::local };
        let mut inits = Vec::new();
        match var.ty {
            Ty::Scalar(scalar) => {
                let places = (0..var.len.unwrap_or(1)).map(|i| base(var.offset + i * scalar.size(), scalar));
                self.scalar_inits(pending, pending.init.as_ref(), var.channel, places.collect(), &mut inits);
            }
            Ty::Record(_) => {
                self.check_names(pending);
                self.record_inits(pending, var.ty, var.len, var.offset, base, &mut inits);
            }
        }
        inits
    }

    /// A record ignores its initial value; but the names in the value must exist, and it must not be a record.
    fn check_names(&mut self, pending: &PendingInit) {
        for value in pending.init.iter().flat_map(ast::Initialiser::values) {
            self.lowering(pending.scope, pending.order).expr(value);
        }
    }

    fn record_inits(
        &mut self,
        pending: &PendingInit,
        ty: Ty,
        len: Option<u32>,
        offset: u32,
        base: fn(u32, entail_ir::Scalar) -> Place,
        inits: &mut Vec<Init>,
    ) {
        let Ty::Record(id) = ty else { return };
        let record = self.scopes.record(id).clone();
        if record.size == 0 {
            return;
        }
        for i in 0..len.unwrap_or(1) {
            for field in &record.fields {
                let at = offset + i * record.size + field.offset;
                match field.ty {
                    Ty::Scalar(scalar) => {
                        let places = (0..field.len.unwrap_or(1)).map(|i| base(at + i * scalar.size(), scalar));
                        self.scalar_inits(pending, field.init.as_ref(), field.channel, places.collect(), inits);
                    }
                    Ty::Record(_) => self.record_inits(pending, field.ty, field.len, at, base, inits),
                }
            }
        }
    }

    /// The initial values of a scalar, or of the elements of an array.
    fn scalar_inits(
        &mut self,
        pending: &PendingInit,
        init: Option<&ast::Initialiser>,
        channel: Option<entail_ir::ChannelTypeId>,
        places: Vec<Place>,
        inits: &mut Vec<Init>,
    ) {
        let mut lowering = self.lowering(pending.scope, pending.order);
        match init {
            None => {}
            Some(ast::Initialiser::Channel(_)) => {
                let channel = channel.into_iter().cycle();
                inits.extend(places.into_iter().zip(channel).map(|(place, channel)| Init::Channel(place, channel)));
            }
            Some(ast::Initialiser::Expr(value)) => {
                let span = value.span;
                let value = lowering.expr(value);
                if let (Some(constant), Some(place)) = (value.constant(), places.first()) {
                    lowering.check_constant(place.scalar, constant, span);
                }
                if lowering.run.take().is_some() {
                    lowering.error(span, "`run` in an initial value");
                }
                inits.extend(places.into_iter().map(|place| Init::Value(place, value.clone())));
            }
            Some(ast::Initialiser::List(values, span)) => {
                let values: Vec<_> = values.iter().map(|value| lowering.expr(value)).collect();
                if values.len() > places.len() {
                    let message = format!("{} values for an array of {}", values.len(), places.len());
                    lowering.problems.push(Diagnostic::warning(*span, message));
                }
                // The last value of a list that is too short is repeated.
                let last = values.last().cloned();
                let values = values.into_iter().map(Some).chain(std::iter::repeat(last)).flatten();
                inits.extend(places.into_iter().zip(values).map(|(place, value)| Init::Value(place, value)));
            }
        }
    }
}

/// The position where an element receives a message into `_pid`.
fn receives_pid(element: &Element) -> Option<Span> {
    let Kind::Simple(stmt) = &element.kind else { return None };
    let mut stmt: &ast::Stmt = stmt;
    while let StmtKind::Labelled(_, inner) = &stmt.kind {
        stmt = inner;
    }
    let StmtKind::Receive(receive) = &stmt.kind else { return None };
    receive.args.iter().find_map(|arg| match arg {
        ReceiveArg::Var(var) => var.is("_pid").then_some(var.span),
        ReceiveArg::Eval(_) | ReceiveArg::Const(..) => None,
    })
}

/// The lowered statements of one body.
struct Statements {
    made: HashMap<ElementId, (Action, StatementId)>,
}

/// The text of an element for reports.
fn describe(element: &Element, flow: &Flow) -> String {
    match &element.kind {
        Kind::Simple(stmt) => text::statement(stmt),
        Kind::Nothing => "skip".into(),
        Kind::Else => "else".into(),
        Kind::Goto(flow::Jump::Label(label)) => format!("goto {}", label.name),
        Kind::Goto(flow::Jump::Break(_)) | Kind::Exit => "break".into(),
        Kind::Joint => "(join)".into(),
        Kind::If => "if".into(),
        Kind::Do => "do".into(),
        Kind::Unless => "unless".into(),
        Kind::Atomic(_) => "atomic".into(),
        Kind::Block(_) => "{ … }".into(),
        Kind::End => "-end-".into(),
        Kind::DStep(inner) => {
            let first = flow[*inner].first.map(|first| flow.beginning(first));
            match first.map(|first| &flow[first].kind) {
                Some(Kind::Simple(stmt)) => format!("d_step {{ {} … }}", text::statement(stmt)),
                _ => "d_step { … }".into(),
            }
        }
    }
}

/// Whether an element only controls the flow: SPIN never reports it as unreached.
fn is_structural(element: &Element, flow: &Flow, id: ElementId) -> bool {
    flow.is_skip(id) || !matches!(element.kind, Kind::Simple(_) | Kind::DStep(_) | Kind::End)
}
