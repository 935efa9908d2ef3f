//! The fixed point of the slice: from what the property reads, along data and control dependence.

use super::bubbles::{Bubbles, Interest, Station, on_cycles};
use super::channels::Channels;
use super::criterion::Criterion;
use super::effects::{EffectAnalysis, Effects, Item, Mandatory};
use super::graph::{EdgeId, EdgeLabel, Graph, LoopPart};
use super::names::{BodyId, Names, VarId};
use crate::promela::ast::{ExprKind, Initialiser, Program, Step, StmtKind, Unit};
use crate::promela::walk;
use crate::source::Span;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// A statement of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    pub body: BodyId,
    pub edge: EdgeId,
}

/// The reason why an item is kept.
#[derive(Clone, Copy, Debug)]
pub enum Why {
    /// The property reads it.
    Property,
    Assertion,
    Mandatory(Mandatory),
    /// It writes a kept item.
    Writes(Item),
    /// A kept statement reads it.
    Needed(At),
    /// It decides whether a statement is reached, or a process continues.
    Decides(At, Option<At>),
    /// A process may wait for it before a statement, or indefinitely.
    Waits(At, Option<At>),
    /// It is passed to a new process, which needs it.
    Given(VarId),
    /// The declaration of a kept variable reads it.
    Declares(VarId),
}

/// The fate of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Keep,
    /// It is replaced by a statement without effect.
    Idle,
    /// The same, but as a step of its own.
    Step,
    Gone,
}

/// One process type.
pub struct Process<'p> {
    pub name: Arc<str>,
    pub graph: Graph<'p>,
    pub effects: Vec<Effects>,
    pub relevant: Vec<Option<Why>>,
    cyclic: Vec<bool>,
    /// By edge: its source locations.
    sources: Vec<Vec<usize>>,
    bubbles: Bubbles,
    /// Locations where it matters which statements are enabled.
    matters: Vec<bool>,
}

pub struct Relevance<'a, 'p> {
    pub names: &'a Names<'p>,
    pub channels: &'a Channels,
    pub criterion: &'a Criterion,
    pub processes: Vec<Process<'p>>,
    pub items: BTreeMap<Item, Why>,
    /// The arguments of new processes: the parameter, the items that the argument reads, and whether it may fault.
    given: Vec<(VarId, Vec<Item>, bool)>,
    grown: bool,
}

impl<'a, 'p> Relevance<'a, 'p> {
    pub fn of(
        program: &'p Program,
        names: &'a Names<'p>,
        channels: &'a Channels,
        criterion: &'a Criterion,
    ) -> Relevance<'a, 'p> {
        let (processes, items) = (Vec::new(), BTreeMap::new());
        let mut relevance =
            Relevance { names, channels, criterion, processes, items, given: Vec::new(), grown: true };
        program.processes().for_each(|process| relevance.add(process.name.name, process.body));
        relevance.begin(program);
        while std::mem::take(&mut relevance.grown) {
            relevance.spread();
        }
        relevance
    }

    pub fn is_kept(&self, item: Item) -> bool {
        self.items.contains_key(&item)
    }

    pub fn is_kept_var(&self, var: VarId) -> bool {
        self.is_kept(Item::Var(var))
    }

    pub fn effect_analysis(&self, body: Option<BodyId>) -> EffectAnalysis<'a, 'p> {
        EffectAnalysis { names: self.names, channels: self.channels, body }
    }

    pub fn fate(&self, at: At) -> Fate {
        let process = &self.processes[at.body.0];
        let sources = &process.sources[at.edge.0];
        let is_exact = |&at: &usize| process.graph.locations[at].exact;
        if process.relevant[at.edge.0].is_some() {
            return Fate::Keep;
        }
        if process.is_guard(at.edge) && sources.iter().any(|&at| process.matters[at]) {
            return Fate::Keep;
        }
        if sources.iter().all(|&at| process.bubbles.stations[at] != Station::At(at)) {
            return Fate::Gone;
        }
        if sources.iter().any(is_exact) { Fate::Step } else { Fate::Idle }
    }

    /// Whether no relevant statement lies between two locations.
    pub fn is_same_place(&self, body: BodyId, from: usize, to: usize) -> bool {
        let process = &self.processes[body.0];
        !process.graph.reached[from] || process.bubbles.stations[from] == process.bubbles.stations[to]
    }

    fn add(&mut self, name: Arc<str>, body: &'p [Step]) {
        let id = BodyId(self.processes.len());
        let mut graph = Graph::of(body);
        let is_exact = self.criterion.steps.is_some() || self.criterion.exact[id.0];
        graph.locations.iter_mut().for_each(|location| location.exact |= is_exact);
        let mut sources = vec![Vec::new(); graph.edges.len()];
        for (at, location) in graph.locations.iter().enumerate().filter(|(at, _)| graph.reached[*at]) {
            location.edges.iter().for_each(|edge| sources[edge.0].push(at));
        }
        let effect_analysis = self.effect_analysis(Some(id));
        let exact = |edge: usize| sources[edge].iter().any(|&at| graph.locations[at].exact);
        let effects: Vec<_> = graph
            .edges
            .iter()
            .enumerate()
            .map(|(edge, it)| effect_analysis.effects(it.label, exact(edge)))
            .collect();
        let relevant = vec![None; graph.edges.len()];
        let (bubbles, matters) = (Bubbles::default(), vec![false; graph.locations.len()]);
        let cyclic = on_cycles(&graph.successors());
        self.processes.push(Process { name, graph, effects, relevant, cyclic, sources, bubbles, matters });
    }

    /// The items that are kept because of the properties, or in any case.
    fn begin(&mut self, program: &Program) {
        let mut found = Vec::new();
        let outside = self.effect_analysis(None);
        for unit in &program.units {
            match unit {
                Unit::Ltl(_) | Unit::Ctl(_) | Unit::HoaClaim(_) | Unit::Never(_) => {
                    walk::unit_exprs(unit, &mut |expr| outside.expr(expr, &mut found));
                }
                Unit::Trace(_) => {
                    let channels = self.names.ids().filter(|&id| self.names[id].holds_channels());
                    found.extend(channels.flat_map(|id| [Item::Var(id), Item::Messages(self.channels.class(id))]));
                }
                Unit::Typedef(typedef) => {
                    let sizes =
                        typedef.fields.iter().flat_map(|field| &field.vars).filter_map(|it| it.array.as_ref());
                    sizes.for_each(|size| outside.expr(size, &mut found));
                }
                Unit::Proctype(proctype) => {
                    let body = self.names.proctypes.get(&proctype.name.name).copied();
                    let effect_analysis = self.effect_analysis(body);
                    let numbers = [&proctype.active, &proctype.provided, &proctype.priority];
                    numbers.into_iter().flatten().for_each(|it| effect_analysis.expr(it, &mut found));
                }
                Unit::Init(_) | Unit::Mtype(_) | Unit::Decl(_) => {}
            }
        }
        found.into_iter().for_each(|item| self.keep(item, Why::Property));
        for id in self.names.ids() {
            let var = &self.names[id];
            let is_local_channel = var.owner.is_some() && var.holds_channels();
            let may_fail = var.declared.iter().any(|(body, _, declarator)| match &declarator.init {
                Some(Initialiser::Expr(value)) => self.effect_analysis(*body).may_fail(value),
                Some(Initialiser::List(..) | Initialiser::Channel(_)) | None => false,
            });
            if may_fail || is_local_channel && self.criterion.unbounded {
                self.keep(Item::Var(id), Why::Mandatory(Mandatory::MayFail));
            }
        }
        self.find_given(program);
        for body in 0..self.processes.len() {
            for edge in 0..self.processes[body].graph.edges.len() {
                let process = &self.processes[body];
                let is_assertion = matches!(process.graph.edges[edge].label, EdgeLabel::Stmt(stmt)
                    if matches!(stmt.kind, StmtKind::Assert(_)));
                let why = match process.effects[edge].mandatory {
                    Some(mandatory) => Some(Why::Mandatory(mandatory)),
                    None if is_assertion && self.criterion.assertions => Some(Why::Assertion),
                    None => None,
                };
                if let Some(why) = why {
                    self.keep_edge(At { body: BodyId(body), edge: EdgeId(edge) }, why);
                }
            }
        }
    }

    fn find_given(&mut self, program: &Program) {
        let processes = program.units.iter().filter(|unit| unit.process().is_some());
        for (number, process) in processes.enumerate() {
            let effect_analysis = self.effect_analysis(Some(BodyId(number)));
            let mut given = Vec::new();
            walk::unit_exprs(process, &mut |expr| {
                let ExprKind::Run { proctype, args, .. } = &expr.kind else { return };
                let Some(started) = self.names.proctypes.get(&proctype.name) else { return };
                for (param, arg) in self.names.params[started.0].iter().zip(args) {
                    let mut needs = Vec::new();
                    effect_analysis.expr(arg, &mut needs);
                    given.push((*param, needs, effect_analysis.may_fail(arg)));
                }
            });
            self.given.extend(given);
        }
    }

    fn keep(&mut self, item: Item, why: Why) {
        if let std::collections::btree_map::Entry::Vacant(entry) = self.items.entry(item) {
            entry.insert(why);
            self.grown = true;
        }
    }

    fn keep_edge(&mut self, at: At, why: Why) {
        let relevant = &mut self.processes[at.body.0].relevant[at.edge.0];
        if relevant.is_none() {
            *relevant = Some(why);
            self.grown = true;
        }
    }

    fn spread(&mut self) {
        for body in 0..self.processes.len() {
            self.spread_data(BodyId(body));
            self.spread_control(BodyId(body));
        }
        for (param, needs, may_fail) in self.given.clone() {
            if may_fail {
                self.keep(Item::Var(param), Why::Mandatory(Mandatory::MayFail));
            }
            if self.is_kept_var(param) {
                needs.into_iter().for_each(|item| self.keep(item, Why::Given(param)));
            }
        }
        for id in self.names.ids().filter(|&id| self.is_kept_var(id)).collect::<Vec<_>>() {
            let mut needs = Vec::new();
            for (body, _, var) in &self.names[id].declared {
                let effect_analysis = self.effect_analysis(*body);
                let values = var.init.iter().flat_map(Initialiser::values).chain(&var.array);
                values.for_each(|value| effect_analysis.expr(value, &mut needs));
                if let Some(Initialiser::Channel(channel)) = &var.init {
                    effect_analysis.expr(&channel.capacity, &mut needs);
                }
            }
            needs.into_iter().for_each(|item| self.keep(item, Why::Declares(id)));
        }
    }

    /// A statement that writes a kept item is kept, with everything that it reads.
    fn spread_data(&mut self, body: BodyId) {
        for edge in (0..self.processes[body.0].graph.edges.len()).map(EdgeId) {
            let at = At { body, edge };
            let process = &self.processes[body.0];
            if process.relevant[edge.0].is_none()
                && let Some(item) = process.effects[edge.0].writes.iter().find(|item| self.is_kept(**item))
            {
                let why = Why::Writes(*item);
                self.keep_edge(at, why);
            }
            let process = &self.processes[body.0];
            if process.relevant[edge.0].is_some() {
                let reads = process.effects[edge.0].reads.clone();
                reads.into_iter().for_each(|item| self.keep(item, Why::Needed(at)));
            }
        }
    }

    /// Control dependence: where paths part that do not join before a relevant statement, it matters which are
    /// enabled; and where a process may be blocked, whether a statement is enabled.
    fn spread_control(&mut self, body: BodyId) {
        let process = &self.processes[body.0];
        let relevant: Vec<_> = process.relevant.iter().map(Option::is_some).collect();
        let interest = Interest {
            graph: &process.graph,
            effects: &process.effects,
            relevant: &relevant,
            preserve: self.criterion.preserve,
            terminations: self.criterion.terminations,
            cyclic: &process.cyclic,
        };
        let bubbles = interest.bubbles();
        let mut matters = vec![false; process.graph.locations.len()];
        let mut found = Vec::new();
        for (at, location) in process.graph.locations.iter().enumerate() {
            let stays = bubbles.stations[at] == Station::At(at) && process.graph.reached[at];
            if !stays || location.edges.is_empty() {
                continue;
            }
            let target = |edge: &EdgeId| bubbles.stations[process.graph.edges[edge.0].to];
            let part = |edge: &EdgeId| relevant[edge.0] || target(edge) != target(&location.edges[0]);
            let decides = location.edges.len() > 1 && (location.exact || location.edges.iter().any(part));
            let waits = !interest.is_open(at);
            matters[at] = decides || waits;
            if matters[at] {
                let next = nearest(&process.graph, &relevant, at).map(|edge| At { body, edge });
                found.extend(location.edges.iter().map(|&edge| (At { body, edge }, waits, next)));
            }
        }
        let process = &mut self.processes[body.0];
        (process.bubbles, process.matters) = (bubbles, matters);
        for (at, waits, next) in found {
            let why = if waits { Why::Waits(at, next) } else { Why::Decides(at, next) };
            let effects = &self.processes[body.0].effects[at.edge.0];
            let (communicates, asks) = (effects.communicates, effects.asks.clone());
            if communicates {
                self.keep_edge(at, why);
            }
            asks.into_iter().for_each(|item| self.keep(item, why));
        }
    }
}

/// A relevant statement soon after a location.
fn nearest(graph: &Graph, relevant: &[bool], start: usize) -> Option<EdgeId> {
    let mut seen = vec![false; graph.locations.len()];
    let mut queue = VecDeque::from([start]);
    seen[start] = true;
    while let Some(at) = queue.pop_front() {
        for &edge in &graph.locations[at].edges {
            if relevant[edge.0] {
                return Some(edge);
            }
            let to = graph.edges[edge.0].to;
            if !std::mem::replace(&mut seen[to], true) {
                queue.push_back(to);
            }
        }
    }
    None
}

impl Process<'_> {
    /// Whether an edge only tests a condition.
    fn is_guard(&self, edge: EdgeId) -> bool {
        match self.graph.edges[edge.0].label {
            EdgeLabel::Stmt(stmt) => matches!(stmt.kind, StmtKind::Expr(_) | StmtKind::Else),
            EdgeLabel::Declared(..) => false,
            EdgeLabel::Loop(_, loop_part) => matches!(loop_part, LoopPart::Test | LoopPart::Leave),
        }
    }

    pub fn span(&self, edge: EdgeId) -> Span {
        match self.graph.edges[edge.0].label {
            EdgeLabel::Stmt(stmt) | EdgeLabel::Loop(stmt, _) => stmt.span,
            EdgeLabel::Declared(var) => var.name.span,
        }
    }
}
