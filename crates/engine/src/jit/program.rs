//! Analysis of a system before code generation.

use crate::jit::facts::Facts;
use crate::jit::fallback::Execution;
use crate::jit::reach::Reach;
use entail_ir::interpret::{Codes, Layout, ProcessVector};
use entail_ir::{
    Action, ChannelTypeId, Edge, EdgeId, Enabling, Expr, Location, LocationId, Place, ProcessTypeId, Receive,
    Scalar, System,
};

pub(crate) struct Program<'a> {
    pub system: &'a System,
    pub layout: &'a Layout,
    pub reach: Reach,
    pub facts: Facts,
    /// The distinct channel types, up to renaming.
    pub shapes: Vec<Shape>,
    /// By channel type: the index into `shapes`.
    pub shape_of: Vec<usize>,
    /// The length of every state, as long as no process has ended.
    pub len: Option<usize>,
    /// The packing of all states, if it is known.
    pub codes: Option<&'a Codes>,
    /// States exist only as words, except in the interpreter.
    pub only_words: bool,
    pub uses_timeout: bool,
    /// Some process may have ended.
    pub may_end: bool,
    /// Some edge gives its process exclusive control.
    pub uses_exclusive: bool,
    /// Whether receiving by rendezvous is always left to the interpreter.
    pub meets_by_interpreter: bool,
    /// A message offered in a rendezvous may have a different number of fields than its channel.
    pub offers_may_fail: bool,
    /// The maximal number of fields that a receiver reads.
    pub most_fields: usize,
    /// The dead variables that senders reset in a rendezvous.
    pub told_to_forget: Vec<&'a Place>,
    /// By edge.
    ways: Vec<Execution>,
}

/// The representation of a channel and of its messages.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shape {
    pub capacity: u32,
    pub fields: Vec<Scalar>,
    pub length_bytes: u32,
    /// The size of one message, in bytes.
    pub message: u32,
}

impl<'a> Program<'a> {
    /// The maximum over all process types.
    pub fn most_stations(&self) -> usize {
        let types = (0..self.system.process_types.len()).map(|id| ProcessTypeId(id as u16));
        types.map(|id| self.layout.stations(id).len()).max().unwrap_or(0)
    }

    /// For all states, or for those of one process vector with one packing.
    pub fn new(system: &'a System, layout: &'a Layout, special: Option<(&ProcessVector, &'a Codes)>) -> Self {
        let reach = Reach::new(system);
        let mut facts = Facts::new(system, layout, &reach);
        if let Some((vector, _)) = special {
            facts = facts.within(vector);
        }
        let mut shapes = Vec::new();
        let shape_of = (0..system.channel_types.len())
            .map(|id| {
                let shape = Shape::new(system, layout, id);
                shapes.iter().position(|other| *other == shape).unwrap_or_else(|| {
                    shapes.push(shape);
                    shapes.len() - 1
                })
            })
            .collect();
        if shapes.is_empty() {
            // A placeholder for expressions that refer to channels although there are none.
            shapes.push(Shape { capacity: 1, fields: Vec::new(), length_bytes: 1, message: 0 });
        }
        let len = match special {
            Some((vector, _)) => Some(vector.len as usize),
            None => facts.fixed().map(|fixed| {
                let sizes = fixed.iter().map(|process| layout.process_size(process.process_type));
                layout.first_process + sizes.sum::<usize>()
            }),
        };
        // Invariants are also evaluated when a process has just ended.
        let all_there = special.is_some() && system.invariants.is_empty();
        let may_end = !all_there && reach.edges(system).any(|(_, _, edge)| edge.target.is_none());
        let uses_exclusive = reach.edges(system).any(|(_, _, edge)| edge.atomic);
        let mut program = Program {
            system,
            layout,
            facts,
            shapes,
            shape_of,
            len,
            codes: special.map(|(_, codes)| codes),
            only_words: false,
            uses_timeout: system.edges.iter().any(|edge| edge.action.mentions_timeout()),
            may_end,
            uses_exclusive,
            reach,
            meets_by_interpreter: false,
            offers_may_fail: false,
            most_fields: 0,
            told_to_forget: Vec::new(),
            ways: Vec::new(),
        };
        let offers_may_fail = program.each_edge().any(|(of, _, edge)| program.may_offer_wrongly(edge, of));
        program.offers_may_fail = offers_may_fail;
        let receives = program.each_edge().flat_map(|(_, _, edge)| program.receives(&edge.action));
        let most_fields = receives.map(|receive| receive.fields.len()).max().unwrap_or(0);
        program.most_fields = most_fields;
        let offering = program.each_edge().filter(|(of, _, edge)| program.may_offer(edge, *of));
        let told_to_forget = offering.flat_map(|(_, _, edge)| &edge.forgets).collect();
        program.told_to_forget = told_to_forget;
        program.meets_by_interpreter = program.cannot_meet();
        program.only_words = program.codes.is_some() && program.can_do_with_words();
        let mut ways = vec![Execution::Native; system.edges.len()];
        for (of, id, edge) in program.each_edge() {
            ways[id.index()] = program.execution_of(edge, of);
        }
        program.ways = ways;
        program
    }

    /// The sizes in bytes of the numbers that senders reset in a rendezvous.
    pub fn forgotten_sizes(&self) -> Vec<u32> {
        let mut sizes: Vec<_> = self.told_to_forget.iter().map(|place| place.scalar.size()).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    pub fn execution(&self, edge: EdgeId) -> Execution {
        self.ways[edge.index()]
    }

    /// All reachable edges, with the types of their processes.
    pub fn each_edge(&self) -> impl Iterator<Item = (ProcessTypeId, EdgeId, &'a Edge)> {
        self.reach.edges(self.system)
    }

    /// The maximal number of entries that a process of this type writes for a state, without those of a rendezvous and
    /// those of the interpreter.
    pub fn most_steps(&self, of: ProcessTypeId) -> usize {
        self.reach.locations(self.system, of).map(|(_, location)| location.count as usize).max().unwrap_or(0)
    }

    /// Whether all steps of such processes are left to the interpreter.
    pub fn is_interpreted(&self, of: ProcessTypeId) -> bool {
        let process_type = self.system.process_type(of);
        process_type.deterministic
            || process_type.provided.as_ref().is_some_and(|condition| self.is_hard(condition))
    }

    /// The value of a constant expression.
    pub fn known(&self, expr: &Expr, of: Option<ProcessTypeId>) -> Option<i32> {
        match expr {
            Expr::Load(place) => self.facts.known(place, of),
            other => other.constant(),
        }
    }

    /// The kinds of channels that the expression may refer to.
    pub fn shapes_of(&self, channel: &Expr, of: Option<ProcessTypeId>) -> Vec<&Shape> {
        let known = self.known(channel, of).and_then(|number| self.global_channel(number));
        known.map_or_else(|| self.shapes.iter().collect(), |channel| vec![&self.shapes[channel.shape]])
    }

    /// A channel with a constant offset.
    pub fn global_channel(&self, number: i32) -> Option<GlobalChannel> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        let channels = &self.layout.global_channels;
        let channel_type = channels.get(index)?;
        let before: usize = channels[..index].iter().map(|id| self.layout.channel(*id).size).sum();
        let start = self.layout.globals() + self.system.globals.size as usize + before;
        Some(GlobalChannel { shape: self.shape_of[channel_type.index()], start: start as u32 })
    }

    pub fn may_meet(&self, channel: &Expr, of: ProcessTypeId) -> bool {
        self.shapes_of(channel, Some(of)).iter().any(|shape| shape.capacity == 0)
    }

    /// Whether the edge may be the receiving side of a rendezvous.
    pub fn may_accept(&self, edge: &Edge, of: ProcessTypeId) -> bool {
        self.receives(&edge.action).iter().any(|receive| self.may_meet(&receive.channel, of))
    }

    /// Whether the edge may be the sending side of a rendezvous.
    pub fn may_offer(&self, edge: &Edge, of: ProcessTypeId) -> bool {
        matches!(&edge.action, Action::Send(send) if self.may_meet(&send.channel, of))
    }

    fn may_offer_wrongly(&self, edge: &Edge, of: ProcessTypeId) -> bool {
        let Action::Send(send) = &edge.action else { return false };
        let shapes = self.shapes_of(&send.channel, Some(of));
        shapes.iter().any(|shape| shape.capacity == 0 && shape.fields.len() != send.fields.len())
    }

    /// The number of fields of the messages that may be offered to a receive, if it is constant.
    pub fn offered_fields(&self, receive: &Receive, of: ProcessTypeId) -> Option<usize> {
        let shapes = self.shapes_of(&receive.channel, Some(of));
        let mut counts = shapes.iter().filter(|shape| shape.capacity == 0).map(|shape| shape.fields.len());
        let first = counts.next()?;
        counts.all(|count| count == first).then_some(first)
    }

    /// The locations where a process of this type may receive from the channel (from any rendezvous channel if it is
    /// unknown).
    pub fn accepting(&self, of: ProcessTypeId, channel: Option<i32>) -> Vec<LocationId> {
        let accepts = |edge: &Edge| {
            self.receives(&edge.action).iter().any(|receive| {
                // If there is no such channel, that is a fault for any offer.
                let known = self.known(&receive.channel, Some(of)).filter(|n| self.global_channel(*n).is_some());
                let same = channel.zip(known).is_none_or(|(offered, known)| offered == known);
                same && self.may_meet(&receive.channel, of)
            })
        };
        let locations = self.reach.locations(self.system, of);
        locations
            .filter(|(_, location)| self.system.edges_of(location).iter().any(accepts))
            .map(|(id, _)| id)
            .collect()
    }

    /// Whether a process at the location may receive by rendezvous.
    pub fn accepts_at(&self, of: ProcessTypeId, location: &Location) -> bool {
        self.system.edges_of(location).iter().any(|edge| self.may_accept(edge, of))
    }

    /// The receives with which the action can begin.
    pub fn receives<'e>(&self, action: &'e Action) -> Vec<&'e Receive> {
        match action.enabling() {
            Enabling::Receive(receive) => vec![receive],
            Enabling::AnyOf(actions) => actions.iter().flat_map(|action| self.receives(action)).collect(),
            Enabling::Always | Enabling::Condition(_) | Enabling::Else | Enabling::Send(_) | Enabling::Youngest => {
                Vec::new()
            }
        }
    }

    /// Whether a process at the location can always move, if it may move at all.
    pub fn is_never_stuck(&self, of: ProcessTypeId, location: LocationId) -> bool {
        let process_type = self.system.process_type(of);
        process_type.provided.is_none() && self.system.is_never_stuck(&process_type.locations[location.index()])
    }

    /// Whether the interpreter must decide if a process at the location can move.
    pub fn asks_interpreter(&self, of: ProcessTypeId, location: LocationId) -> bool {
        let process_type = self.system.process_type(of);
        let location = &process_type.locations[location.index()];
        let hard_edge = |id| {
            let edge = self.system.edge(EdgeId(id));
            let meets_by_interpreter = self.meets_by_interpreter || self.system.lazy_messages;
            self.execution(EdgeId(id)) == Execution::Interpreted || meets_by_interpreter && self.may_offer(edge, of)
        };
        process_type.provided.as_ref().is_some_and(|condition| self.is_hard(condition))
            || (location.first..location.first + location.count).any(hard_edge)
    }
}

/// A channel that exists initially.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GlobalChannel {
    /// Index into [`Program::shapes`].
    pub shape: usize,
    pub start: u32,
}

impl Shape {
    fn new(system: &System, layout: &Layout, id: usize) -> Self {
        let channel_type = &system.channel_types[id];
        let layout = layout.channel(ChannelTypeId(id as u16));
        Shape {
            capacity: u32::from(channel_type.capacity),
            fields: channel_type.fields.clone(),
            length_bytes: layout.length_bytes as u32,
            message: layout.message as u32,
        }
    }

    /// The offset of a field in a message.
    pub fn field_offset(&self, field: usize) -> u32 {
        self.fields[..field].iter().map(|field| field.size()).sum()
    }
}
