//! Variables that never change again. Which channels a process uses, and which elements of arrays, is often fixed
//! when it starts. These values show that processes use different channels or elements.

use std::collections::BTreeSet;

use super::StateReader;
use crate::footprint::{Known, Span, join, meets};
use crate::interpret::{Layout, ProcessVector};
use crate::{Base, Expr, Meaning, Place, ProcessTypeId, System};

/// As many channels among the globals are tracked as a word has bits.
const MOST_CHANNELS: usize = 64;

/// The offsets of such variables.
pub(super) struct FrozenVariables {
    /// For each byte of the globals, whether no edge stores anything there.
    fixed: Vec<bool>,
    /// The bytes of the globals where edges store channels.
    channels: Vec<u32>,
    /// Per process type: the locals that stand for channels or in indices, and that no edge changes: offset and
    /// number of bytes.
    locals: Vec<Vec<(u32, u8)>>,
    /// Per process type and station: which of the channels may still be stored by a process there, or by processes
    /// that it starts.
    stores: Vec<Vec<u64>>,
}

/// The values of such variables.
pub(super) struct FrozenValues<'a> {
    frozen: &'a FrozenVariables,
    globals: Vec<Option<u8>>,
    /// Per process.
    locals: Vec<Vec<Option<u8>>>,
    /// Per process: the numbers of its channels.
    channels: Vec<Span>,
    new_channels: Span,
}

impl FrozenValues<'_> {
    pub fn of(&self, process: usize) -> Known<'_> {
        Known {
            number: Some(process as i32),
            locals: &self.locals[process],
            own_channels: Some(self.channels[process]),
            ..self.of_anybody()
        }
    }

    pub fn of_anybody(&self) -> Known<'_> {
        Known { globals: &self.globals, new_channels: Some(self.new_channels), ..Known::NOTHING }
    }

    /// Whether a variable of a process denotes the same channel as long as the process lives.
    pub fn is_frozen(&self, of: ProcessTypeId, place: &Place) -> bool {
        let is_it = |(at, bytes): &(u32, u8)| *at == place.offset && u32::from(*bytes) == place.scalar.size();
        place.indices.is_empty()
            && place.scalar.meaning == Meaning::Channel
            && self.frozen.locals[of.index()].iter().any(is_it)
    }
}

impl FrozenVariables {
    pub fn new(system: &System, layout: &Layout) -> FrozenVariables {
        let (mut changed, mut channels) = (Vec::new(), Vec::new());
        let mut stored = vec![Vec::new(); system.process_types.len()];
        for (of, process) in system.process_types.iter().enumerate() {
            for edge in process.locations.iter().flat_map(|location| system.edges_of(location)) {
                changed.extend(edge.forgets.iter().filter(|place| place.base == Base::Global).map(bytes));
                edge.action.each_store(&mut |place| match &place.base {
                    Base::Global => {
                        changed.push(bytes(place));
                        if place.scalar.meaning == Meaning::Channel {
                            channels.push(bytes(place));
                        }
                    }
                    Base::Local => stored[of].push(bytes(place)),
                    Base::Remote(_, of) => stored[of.index()].push(bytes(place)),
                    Base::Nowhere => {}
                });
            }
        }
        stored.iter_mut().chain([&mut changed, &mut channels]).for_each(join);
        let mut fixed = vec![true; system.globals.size as usize];
        for span in changed {
            fixed[span.from as usize..span.to as usize].fill(false);
        }
        let channels: Vec<u32> = channels.iter().flat_map(|span| span.from..span.to).take(MOST_CHANNELS).collect();
        let locals =
            (0..).map(ProcessTypeId).zip(&stored).map(|(of, stored)| deciding(system, of, stored)).collect();
        let stores = stores(system, layout, &channels);
        FrozenVariables { fixed, channels, locals, stores }
    }

    /// Appends the values of all frozen variables, and which variables are frozen.
    pub fn key(
        &self,
        layout: &Layout,
        vector: &ProcessVector,
        stations: &[u16],
        reader: &impl StateReader,
        key: &mut Vec<u32>,
    ) {
        key.extend(&vector.types);
        for (of, start) in vector.types.iter().zip(&vector.starts) {
            let frame = start + layout.process_header as u32;
            key.extend(self.locals[*of as usize].iter().map(|(at, bytes)| reader.number(frame + at, *bytes)));
        }
        if !self.channels.is_empty() {
            let open = self.open(vector, stations);
            key.extend([open as u32, (open >> 32) as u32]);
            key.extend(self.closed(open).map(|at| reader.number(layout.globals() as u32 + at, 1)));
        }
    }

    /// The values of the frozen variables in a state.
    pub fn facts(
        &self,
        layout: &Layout,
        vector: &ProcessVector,
        stations: &[u16],
        state: &[u8],
    ) -> FrozenValues<'_> {
        let first = layout.globals();
        let mut globals: Vec<Option<u8>> =
            self.fixed.iter().zip(&state[first..]).map(|(fixed, byte)| fixed.then_some(*byte)).collect();
        for at in self.closed(self.open(vector, stations)) {
            globals[at as usize] = Some(state[first + at as usize]);
        }
        let locals = vector.types.iter().zip(&vector.starts).map(|(of, start)| {
            let (frame, mut known) = (*start as usize + layout.process_header, Vec::new());
            for (at, bytes) in &self.locals[*of as usize] {
                for at in *at as usize..*at as usize + usize::from(*bytes) {
                    known.resize(known.len().max(at + 1), None);
                    known[at] = Some(state[frame + at]);
                }
            }
            known
        });
        let mut next = 1 + layout.global_channels.len() as u32;
        let channels = vector.types.iter().map(|of| {
            let from = next;
            next += layout.channels_of(ProcessTypeId(*of as u16)) as u32;
            Span { from, to: next }
        });
        let channels = channels.collect();
        let new_channels = Span { from: next, to: u32::MAX };
        FrozenValues { frozen: self, globals, locals: locals.collect(), channels, new_channels }
    }

    /// The channels that some process may still store.
    fn open(&self, vector: &ProcessVector, stations: &[u16]) -> u64 {
        let stores = |(of, station): (&u32, &u16)| self.stores[*of as usize][usize::from(*station)];
        vector.types.iter().zip(stations).map(stores).fold(0, |open, stores| open | stores)
    }

    fn closed(&self, open: u64) -> impl Iterator<Item = u32> {
        self.channels.iter().enumerate().filter(move |(number, _)| open >> number & 1 == 0).map(|(_, at)| *at)
    }
}

/// All bytes that the place may occupy.
fn bytes(place: &Place) -> Span {
    let reach: u32 = place.indices.iter().map(|index| index.len.saturating_sub(1) * index.stride).sum();
    Span { from: place.offset, to: place.offset + reach + place.scalar.size() }
}

/// The locals that stand for channels or in indices, and to which nothing is stored.
fn deciding(system: &System, of: ProcessTypeId, stored: &[Span]) -> Vec<(u32, u8)> {
    let mut found = BTreeSet::new();
    let mut note = |place: &Place| {
        let is_frozen = place.base == Base::Local && place.indices.is_empty();
        if is_frozen && !meets(stored, bytes(place)) {
            found.insert((place.offset, place.scalar.size() as u8));
        }
    };
    for edge in system.process_type(of).locations.iter().flat_map(|location| system.edges_of(location)) {
        let mut in_indices = |place: &Place| {
            for index in &place.indices {
                index.value.each(&mut |part| {
                    if let Expr::Load(place) = part {
                        note(place);
                    }
                });
            }
        };
        edge.action.each_store(&mut in_indices);
        edge.action.each_expr(&mut |expr| {
            if let Expr::Load(place) = expr {
                in_indices(place);
            }
        });
        edge.action.each_expr(&mut |expr| match expr {
            Expr::Load(place) if place.scalar.meaning == Meaning::Channel => note(place),
            _ => {}
        });
    }
    found.into_iter().collect()
}

/// Per process type and station: which of these channels a process may still store, or processes that it starts.
fn stores(system: &System, layout: &Layout, channels: &[u32]) -> Vec<Vec<u64>> {
    let of_action = |edge: &crate::Edge| {
        let mut stores = 0;
        edge.action.each_store(&mut |place| {
            if place.base == Base::Global {
                let is_it = |(_, at): &(usize, &u32)| bytes(place).meets(Span::one(**at));
                let these = channels.iter().enumerate().filter(is_it).map(|(number, _)| 1_u64 << number);
                stores |= these.fold(0, |all, one| all | one);
            }
        });
        stores
    };
    let types: Vec<ProcessTypeId> = (0..system.process_types.len() as u16).map(ProcessTypeId).collect();
    let entry = |of: ProcessTypeId| system.process_type(of).entry.index();
    // A fixed point over the successor locations.
    let by_edge: Vec<u64> = system.edges.iter().map(of_action).collect();
    let mut all: Vec<Vec<u64>> = types.iter().map(|of| vec![0; system.process_type(*of).locations.len()]).collect();
    let mut grows = !channels.is_empty();
    while grows {
        grows = false;
        for of in &types {
            for (at, location) in system.process_type(*of).locations.iter().enumerate().rev() {
                let mut stores = all[of.index()][at];
                for id in location.edges() {
                    let edge = system.edge(id);
                    stores |= by_edge[id.index()] | edge.target.map_or(0, |target| all[of.index()][target.index()]);
                    edge.action.each_run(&mut |run| {
                        stores |= all[run.process_type.index()][entry(run.process_type)];
                    });
                }
                grows |= stores != all[of.index()][at];
                all[of.index()][at] = stores;
            }
        }
    }
    let of_type = |of: &ProcessTypeId| layout.stations(*of).iter().map(|at| all[of.index()][at.index()]).collect();
    types.iter().map(of_type).collect()
}
