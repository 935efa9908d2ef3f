//! The verifier of systems: engines rely on what it checks.

#[cfg(test)]
mod tests;

use crate::monitor::{Event, Monitor, MonitorEdge, Watched};
use crate::text::Names;
use crate::{
    Action, Base, Block, BlockNode, ChannelTypeId, Child, Edge, Effect, EnumerationId, Expr, Field, Frame, Init,
    Location, LocationId, Meaning, NodeId, Pattern, Place, ProcessType, ProcessTypeId, Range, Scalar, Shape,
    StatementId, System,
};
use std::fmt::Display;

/// The depth to which expressions and shapes may be nested, so that recursion is safe. Front ends accept less.
pub const MAX_DEPTH: usize = 1100;

/// The size that a frame or the messages of a channel may have: a state is copied at every step.
pub const MAX_BYTES: u32 = 1 << 24;

/// The number of identifiers of 16 bits.
const MAX_IDS: usize = 1 << 16;

/// Lists all defects of a system, each with its location.
pub fn verify(system: &System) -> Result<(), Vec<String>> {
    let mut verifier = Verifier { system, process: None, started: false, problems: Vec::new() };
    verifier.system();
    if verifier.problems.is_empty() { Ok(()) } else { Err(verifier.problems) }
}

struct Verifier<'a> {
    system: &'a System,
    /// The process type that is being checked.
    process: Option<ProcessTypeId>,
    /// Whether the action that is being checked has started a process.
    started: bool,
    problems: Vec<String>,
}

impl<'a> Verifier<'a> {
    fn require(&mut self, fact: bool, otherwise: impl FnOnce() -> String) {
        if !fact {
            self.problems.push(otherwise());
        }
    }

    /// Checks a part, and prefixes its problems with its name.
    fn within(&mut self, part: impl Display, check: impl FnOnce(&mut Self)) {
        let before = self.problems.len();
        check(self);
        for problem in &mut self.problems[before..] {
            *problem = format!("{part}: {problem}");
        }
    }

    fn system(&mut self) {
        let system = self.system;
        for (id, channel_type) in system.channel_types.iter().enumerate() {
            self.within(format_args!("channel type {id}"), |this| {
                channel_type.fields.iter().for_each(|field| this.scalar(*field));
                let bytes = u64::from(channel_type.message_size()) * u64::from(channel_type.capacity);
                this.require(bytes <= u64::from(MAX_BYTES), || format!("{bytes} bytes are too many"));
            });
        }
        self.within("globals", |this| this.frame(&system.globals, &Base::Global));
        self.require(system.process_types.len() <= MAX_IDS, || "too many process types".to_owned());
        for (id, process_type) in (0..=u16::MAX).zip(&system.process_types) {
            self.process = Some(ProcessTypeId(id));
            self.within(format_args!("process {}", process_type.name), |this| this.process_type(process_type));
        }
        self.process = None;
        for (what, all) in [("invariant", &system.invariants), ("proposition", &system.propositions)] {
            for (number, (condition, statement)) in all.iter().enumerate() {
                self.within(format_args!("{what} {number}"), |this| {
                    this.expr(condition, 1);
                    this.statement_id(*statement);
                });
            }
        }
        system.monitor.iter().for_each(|monitor| self.within("monitor", |this| this.monitor(monitor)));
        self.edge_ranges();
        for (number, start) in system.start.iter().enumerate() {
            self.within(format_args!("start {number}"), |this| {
                this.process_type_id(start.process_type);
            });
        }
    }

    fn frame(&mut self, frame: &'a Frame, base: &Base) {
        self.require(frame.size <= MAX_BYTES, || format!("{} bytes are too many", frame.size));
        for variable in &frame.variables {
            self.within(&variable.name, |this| {
                this.part(variable.offset, &variable.shape, frame.size);
                this.shape(&variable.shape, 1);
            });
        }
        for (number, init) in frame.init.iter().enumerate() {
            self.within(format_args!("init {number}"), |this| this.init(init, base));
        }
    }

    fn init(&mut self, init: &'a Init, base: &Base) {
        let place = match init {
            Init::Value(place, value) => {
                self.expr(value, 1);
                place
            }
            Init::Channel(place, channel_type) => {
                self.channel_type_id(*channel_type);
                let meaning = place.scalar.meaning;
                self.require(meaning == Meaning::Channel, || "a channel is stored where none is kept".to_owned());
                place
            }
        };
        let nameless = place.base == Base::Nowhere && matches!(init, Init::Channel(..));
        self.require(nameless || place.base == *base, || "it sets a variable of another frame".to_owned());
        self.place(place, 1);
    }

    fn shape(&mut self, shape: &'a Shape, depth: usize) {
        if depth > MAX_DEPTH {
            return self.require(false, || "nested too deeply".to_owned());
        }
        match shape {
            Shape::Scalar(scalar) => self.scalar(*scalar),
            Shape::Array { element, len } => {
                self.require(*len > 0, || "an array has no elements".to_owned());
                self.shape(element, depth + 1);
            }
            Shape::Record { fields, size } => {
                for Field { name, offset, shape } in fields {
                    self.within(format_args!("field {name}"), |this| {
                        this.part(*offset, shape, *size);
                        this.shape(shape, depth + 1);
                    });
                }
            }
        }
    }

    fn part(&mut self, offset: u32, shape: &Shape, whole: u32) {
        let end = u64::from(offset) + u64::from(shape.size());
        self.require(end <= u64::from(whole), || format!("ends at byte {end} of {whole}"));
    }

    fn scalar(&mut self, scalar: Scalar) {
        self.require((1..=32).contains(&scalar.bits), || format!("a number has {} bits", scalar.bits));
        if let Some(range @ Range { low, high }) = scalar.range {
            let fits = |value| scalar.truncate(value) == value;
            self.require(low <= high && fits(low) && fits(high), || format!("{range:?} does not fit its number"));
        }
        match scalar.meaning {
            Meaning::Enumeration(id) => self.enumeration_id(id),
            Meaning::Number | Meaning::Boolean | Meaning::Channel | Meaning::Process | Meaning::Thread => {}
        }
    }

    fn process_type(&mut self, process_type: &'a ProcessType) {
        let ProcessType {
            name: _,
            params,
            frame,
            locations,
            entry,
            labels,
            provided,
            deterministic: _,
            declared_at,
        } = process_type;
        self.statement_id(*declared_at);
        self.frame(frame, &Base::Local);
        for (number, place) in params.iter().enumerate() {
            self.within(format_args!("parameter {number}"), |this| this.param(place));
        }
        provided.iter().for_each(|condition| self.within("provided", |this| this.expr(condition, 1)));
        for label in labels {
            self.within(format_args!("label {}", label.name), |this| this.location_id(label.location));
        }
        self.require(locations.len() <= MAX_IDS, || "too many locations".to_owned());
        let unused = locations.first().is_none_or(|location| *location == Location::default());
        self.require(unused, || "location 0 is used".to_owned());
        self.within("entry", |this| this.destination(*entry));
        for (id, location) in locations.iter().enumerate() {
            self.within(format_args!("L{id}"), |this| this.location(location));
        }
    }

    fn param(&mut self, place: &'a Place) {
        self.place(place, 1);
        self.require(place.base == Base::Local && place.indices.is_empty(), || {
            "it is no local variable".to_owned()
        });
    }

    fn location(&mut self, location: &Location) {
        let edges = self.system.edges.iter().enumerate();
        let mut plain = false;
        for (id, edge) in edges.skip(location.first as usize).take(location.count as usize) {
            self.within(format_args!("edge {id}"), |this| {
                this.require(!plain || edge.escape.is_none(), || {
                    "an edge with an escape group follows one without".to_owned()
                });
                this.edge(edge);
            });
            plain |= edge.escape.is_none();
        }
    }

    fn edge(&mut self, edge: &'a Edge) {
        self.statement_id(edge.statement);
        edge.target.iter().for_each(|target| self.destination(*target));
        edge.escape.iter().for_each(|group| self.location_id(*group));
        for place in &edge.forgets {
            self.place(place, 0);
            let is_plain = place.indices.is_empty() && matches!(place.base, Base::Global | Base::Local);
            self.require(is_plain, || "it forgets a place with indices, or outside of its process".to_owned());
        }
        if let Action::Deterministic(block) = &edge.action { self.block(block) } else { self.action(&edge.action) }
    }

    /// Every edge belongs to exactly one location.
    fn edge_ranges(&mut self) {
        let mut owned = vec![false; self.system.edges.len()];
        for process_type in &self.system.process_types {
            for (id, location) in process_type.locations.iter().enumerate() {
                let (first, count) = (location.first as usize, location.count as usize);
                let range = first.checked_add(count).and_then(|end| owned.get_mut(first..end));
                let taken = range.map(|range| {
                    let taken = range.contains(&true);
                    range.fill(true);
                    taken
                });
                self.within(format_args!("process {}: L{id}", process_type.name), |this| {
                    this.require(taken.is_some(), || "its edges do not exist".to_owned());
                    this.require(taken != Some(true), || "its edges belong to another location, too".to_owned());
                });
            }
        }
        let orphan = owned.iter().position(|owned| !owned);
        self.require(orphan.is_none(), || format!("edge {} belongs to no location", orphan.unwrap_or_default()));
    }

    fn block(&mut self, block: &'a Block) {
        block.entry.actions().iter().for_each(|action| self.action(action));
        self.require(!block.nodes.is_empty(), || "a block has no nodes".to_owned());
        let nodes = block.nodes.len();
        for (id, node) in block.nodes.iter().enumerate() {
            self.within(format_args!("n{id}"), |this| match node {
                BlockNode::Do { action, statement, next } => {
                    this.statement_id(*statement);
                    this.action(action);
                    next.iter().for_each(|next| this.node_id(*next, nodes));
                }
                BlockNode::Choose { alternatives, statement } => {
                    this.statement_id(*statement);
                    this.require(!alternatives.is_empty(), || "there is nothing to choose".to_owned());
                    alternatives.iter().for_each(|next| this.node_id(*next, nodes));
                }
                BlockNode::Jump(next) => next.iter().for_each(|next| this.node_id(*next, nodes)),
            });
        }
    }

    fn action(&mut self, action: &'a Action) {
        match action.effect() {
            Effect::Nothing | Effect::Assign(..) | Effect::Send(_) | Effect::Receive(_) | Effect::Other => {
                action.each_child(&mut |child| match child {
                    Child::Expr(expr) => self.expr(expr, 1),
                    Child::Store(place) => self.place(place, 1),
                    Child::Action(part) => self.action(part),
                });
            }
            Effect::Run(run, then) => {
                run.args.iter().for_each(|arg| self.expr(arg, 1));
                let params = self.process_type_id(run.process_type).map(|started| started.params.len());
                let args = run.args.len();
                self.require(params.is_none_or(|params| params == args), || format!("{args} arguments do not fit"));
                if self.started {
                    return self.require(false, || "an action starts two processes".to_owned());
                }
                self.started = true;
                self.action(then);
                self.started = false;
            }
            Effect::Block(_) => self.require(false, || "a block is part of an action".to_owned()),
        }
    }

    fn monitor(&mut self, monitor: &'a Monitor) {
        let Monitor { rule: _, watched, states } = monitor;
        for Watched { direction: _, channel, statement } in watched {
            self.expr(channel, 1);
            self.statement_id(*statement);
        }
        self.require(states.len() <= MAX_IDS, || "too many states".to_owned());
        let is_over = states.last().is_some_and(|last| last.edges.is_empty());
        self.require(is_over, || "its last state is not final".to_owned());
        for (id, post) in states.iter().enumerate() {
            self.within(format_args!("M{id}"), |this| {
                post.edges.iter().for_each(|edge| this.expected(edge, states.len()));
            });
        }
    }

    fn expected(&mut self, expected: &'a MonitorEdge, states: usize) {
        let MonitorEdge { event, target, statement } = expected;
        self.require(usize::from(*target) < states, || format!("there is no state {target}"));
        self.statement_id(*statement);
        if let Some(Event { direction: _, channel, fields }) = event {
            self.expr(channel, 1);
            self.patterns(fields, 1);
            let stores = fields.iter().any(|field| matches!(field, Pattern::Store(_)));
            self.require(!stores, || "a monitor must not store fields".to_owned());
        }
    }

    fn patterns(&mut self, patterns: &'a [Pattern], depth: usize) {
        for pattern in patterns {
            match pattern {
                Pattern::Store(place) => self.place(place, depth),
                Pattern::Equal(value) => self.expr(value, depth),
                Pattern::Ignore => {}
            }
        }
    }

    fn expr(&mut self, expr: &'a Expr, depth: usize) {
        if depth > MAX_DEPTH {
            return self.require(false, || "nested too deeply".to_owned());
        }
        let below = depth + 1;
        match expr {
            Expr::Const(_)
            | Expr::Myself
            | Expr::ProcessCount
            | Expr::Timeout
            | Expr::NonProgress
            | Expr::Accepting
            | Expr::Fault(_)
            | Expr::Binary(..)
            | Expr::Conditional(_)
            | Expr::Unary(..)
            | Expr::Length(_)
            | Expr::Channel(..)
            | Expr::Enabled(_)
            | Expr::LocationOf(_)
            | Expr::PriorityOf(_) => expr.each_child(&mut |child| self.expr(child, below)),
            Expr::Load(place) => self.place(place, below),
            Expr::Poll(poll) => {
                self.expr(&poll.channel, below);
                self.patterns(&poll.fields, below);
            }
            Expr::Last => {
                self.require(self.system.uses_last, || "which process moved last is not remembered".to_owned());
            }
            Expr::Started => self.require(self.started, || "no process has been started".to_owned()),
            Expr::At(process, location) => {
                self.expr(process, below);
                self.some_location(*location);
            }
            Expr::Find(process_type) => {
                self.process_type_id(*process_type);
            }
        }
    }

    fn place(&mut self, place: &'a Place, depth: usize) {
        if let Base::Remote(process, of) = &place.base {
            self.expr(process, depth);
            if self.process_type_id(*of).is_none() {
                return;
            }
        }
        self.scalar(place.scalar);
        let mut end = u64::from(place.offset) + u64::from(place.scalar.size());
        for index in &place.indices {
            self.expr(&index.value, depth);
            let sane = index.len > 0 && index.stride >= place.scalar.size();
            self.require(sane, || format!("an index runs over {} elements of {} bytes", index.len, index.stride));
            end = end.saturating_add(u64::from(index.stride) * u64::from(index.len.saturating_sub(1)));
        }
        if place.base == Base::Nowhere {
            return;
        }
        let names = Names { system: self.system, process: self.process };
        match names.frame(&place.base).map(|frame| u64::from(frame.size)) {
            Some(size) => {
                self.require(end <= size, || format!("{} ends at byte {end} of {size}", names.show(place)))
            }
            None => self.require(false, || "there are no local variables here".to_owned()),
        }
    }
}

/// Identifiers.
impl<'a> Verifier<'a> {
    fn process_type_id(&mut self, id: ProcessTypeId) -> Option<&'a ProcessType> {
        let found = self.system.process_types.get(id.index());
        self.require(found.is_some(), || format!("there is no process type {}", id.0));
        found
    }

    fn channel_type_id(&mut self, id: ChannelTypeId) {
        let exists = id.index() < self.system.channel_types.len();
        self.require(exists, || format!("there is no channel type {}", id.0));
    }

    fn enumeration_id(&mut self, id: EnumerationId) {
        let exists = id.index() < self.system.enumerations.len();
        self.require(exists, || format!("there is no enumeration {}", id.0));
    }

    fn statement_id(&mut self, id: StatementId) {
        self.require(id.index() < self.system.statements.len(), || format!("there is no statement {}", id.0));
    }

    fn node_id(&mut self, id: NodeId, nodes: usize) {
        self.require((id.0 as usize) < nodes, || format!("there is no node {}", id.0));
    }

    fn locations(&self) -> &'a [Location] {
        self.process.map_or(&[], |process| &self.system.process_type(process).locations)
    }

    fn location_id(&mut self, id: LocationId) {
        let exists = id.0 != 0 && id.index() < self.locations().len();
        self.require(exists, || format!("there is no location {}", id.0));
    }

    /// A location of an unknown process type.
    fn some_location(&mut self, id: LocationId) {
        let exists = self.system.process_types.iter().any(|process| id.index() < process.locations.len());
        self.require(exists && id.0 != 0, || format!("no process has a location {}", id.0));
    }

    /// A location that is no end state has an edge, if a process can be there.
    fn destination(&mut self, id: LocationId) {
        self.location_id(id);
        let empty = self.locations().get(id.index()).is_some_and(|location| location.count == 0 && !location.end);
        self.require(!empty, || format!("location {} has no edges", id.0));
    }
}
