//! The layout of a state.
//!
//! ```text
//! exclusive │ last? │ process count │ watch? │ globals │ global channels │ process 0 │ its channels │ process 1 │ …
//! watch:    the state of the monitor (2 bytes)
//! process:  type │ station (1 or 2 bytes) │ priority? │ locals
//! channel:  length (1 or 2 bytes) │ capacity × message; a rendezvous takes no bytes
//! ```
//!
//! `exclusive` is the number of the process that alone may move, plus 1, or 0. It is 0 in every stored state. A
//! *station* is a location where a process can be; stations are numbered without gaps. Numbers are little-endian.
//! Parts marked `?` exist only if the system needs them. Free slots of a channel are 0, so that equal states have
//! equal bytes.

use crate::{Action, ChannelType, ChannelTypeId, Init, LocationId, ProcessType, ProcessTypeId, Scalar, System};
use entail_model::State;

/// The state of a monitor takes two bytes.
const WATCH_BYTES: usize = 2;

/// The sizes and offsets that all states of a system have in common.
#[derive(Clone, Debug)]
pub struct Layout {
    pub last: Option<usize>,
    pub watch: Option<usize>,
    pub process_count: usize,
    pub(crate) globals: usize,
    /// The offset of the first process.
    pub first_process: usize,
    pub location_bytes: usize,
    /// Per process type: the locations where a process can be.
    stations: Vec<Vec<LocationId>>,
    /// Per process type: the number of stations where a process can stop. They come first.
    stops: Vec<u16>,
    /// Per process type and location: its station.
    station_of: Vec<Vec<u16>>,
    pub(crate) priority: bool,
    /// From the beginning of a process to its locals.
    pub process_header: usize,
    /// Per process type: header, locals, and channels.
    process_sizes: Vec<usize>,
    /// Per process type: the channels that are created with a process.
    process_channels: Vec<Vec<ChannelTypeId>>,
    pub global_channels: Vec<ChannelTypeId>,
    /// Per channel type.
    channels: Vec<ChannelLayout>,
}

/// The layout of one type of channel.
#[derive(Clone, Copy, Debug)]
pub struct ChannelLayout {
    pub size: usize,
    pub length_bytes: usize,
    /// The size of a message in bytes.
    pub message: usize,
}

/// The positions of the processes and channels of one state.
#[derive(Clone, Debug, Default)]
pub struct View {
    pub processes: Vec<ProcessView>,
    /// Channel number `n` is `channels[n - 1]`; number 0 denotes no channel.
    pub channels: Vec<ChannelView>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessView {
    pub process_type: ProcessTypeId,
    pub location: LocationId,
    /// The offset of the process in the state.
    pub start: usize,
    /// The offset of its locals.
    pub locals: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelView {
    pub channel_type: ChannelTypeId,
    /// The offset of the channel in the state.
    pub start: usize,
}

/// The processes and channels of a state, and their positions. Flat arrays, which compiled code can read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ProcessVector {
    /// The type of each process.
    pub types: Vec<u32>,
    /// The offset of each process.
    pub starts: Vec<u32>,
    /// The type of each channel; number `n` is at `n - 1`.
    pub channel_types: Vec<u32>,
    pub channel_starts: Vec<u32>,
    /// The length of the state.
    pub len: u32,
}

impl Layout {
    pub fn new(system: &System) -> Self {
        let channels: Vec<_> = system.channel_types.iter().map(ChannelLayout::new).collect();
        let channels_of = |init: &[Init]| -> Vec<ChannelTypeId> {
            init.iter()
                .filter_map(|init| match init {
                    Init::Channel(_, channel_type) => Some(*channel_type),
                    Init::Value(..) => None,
                })
                .collect()
        };
        let size_of = |types: &[ChannelTypeId]| types.iter().map(|id| channels[id.index()].size).sum::<usize>();

        let (stations, stops): (Vec<_>, Vec<_>) =
            system.process_types.iter().map(|process| stations(process, system)).unzip();
        let station_of = |(process, stations): (&ProcessType, &Vec<LocationId>)| {
            let mut station_of = vec![0; process.locations.len()];
            (0..).zip(stations).for_each(|(station, location)| station_of[location.index()] = station);
            station_of
        };
        let station_of = system.process_types.iter().zip(&stations).map(station_of).collect();
        let most_stations = stations.iter().map(Vec::len).max();
        let location_bytes = if most_stations.unwrap_or(0) <= 256 { 1 } else { 2 };
        let process_header = 1 + location_bytes + usize::from(system.uses_priorities);
        let process_channels: Vec<_> =
            system.process_types.iter().map(|process| channels_of(&process.frame.init)).collect();
        let process_sizes = system
            .process_types
            .iter()
            .zip(&process_channels)
            .map(|(process, channels)| process_header + process.frame.size as usize + size_of(channels))
            .collect();

        let last = system.uses_last.then_some(1);
        let process_count = 1 + usize::from(system.uses_last);
        let watch = system.monitor.as_ref().map(|_| process_count + 1);
        let globals = process_count + 1 + if watch.is_some() { WATCH_BYTES } else { 0 };
        let global_channels = channels_of(&system.globals.init);
        let first_process = globals + system.globals.size as usize + size_of(&global_channels);
        Layout {
            last,
            watch,
            process_count,
            globals,
            first_process,
            location_bytes,
            stations,
            stops,
            station_of,
            priority: system.uses_priorities,
            process_header,
            process_sizes,
            process_channels,
            global_channels,
            channels,
        }
    }

    /// Finds the processes and channels of `state`.
    pub fn view(&self, system: &System, state: &State) -> View {
        let processes = usize::from(state[self.process_count]);
        let mut view = View {
            // A step may start one more.
            processes: Vec::with_capacity(processes + 1),
            channels: Vec::with_capacity(self.global_channels.len()),
        };
        self.add_channels(&self.global_channels, self.globals + system.globals.size as usize, &mut view);
        let mut start = self.first_process;
        for _ in 0..processes {
            start = self.add_process(system, state, start, &mut view);
        }
        view
    }

    /// The process vector of a state.
    pub fn process_vector(&self, system: &System, state: &State) -> ProcessVector {
        let View { processes, channels } = self.view(system, state);
        ProcessVector {
            types: processes.iter().map(|process| u32::from(process.process_type.0)).collect(),
            starts: processes.iter().map(|process| process.start as u32).collect(),
            channel_types: channels.iter().map(|channel| u32::from(channel.channel_type.0)).collect(),
            channel_starts: channels.iter().map(|channel| channel.start as u32).collect(),
            len: state.len() as u32,
        }
    }

    /// The types of the processes of a state.
    pub fn types_of(&self, state: &State) -> Vec<u32> {
        let mut start = self.first_process;
        let mut types = Vec::new();
        for _ in 0..state[self.process_count] {
            let process_type = ProcessTypeId(u16::from(state[start]));
            types.push(u32::from(process_type.0));
            start += self.process_size(process_type);
        }
        types
    }

    /// The process vector of states with processes of these types.
    pub fn process_vector_of(&self, system: &System, types: &[ProcessTypeId]) -> ProcessVector {
        let mut state = vec![0; self.first_process];
        state[self.process_count] = types.len() as u8;
        for &process_type in types {
            let start = state.len();
            state.resize(start + self.process_size(process_type), 0);
            state[start] = process_type.0 as u8;
        }
        self.process_vector(system, &state)
    }

    /// Adds the process that begins at `start`, and its channels; returns where the next one begins.
    pub(crate) fn add_process(&self, system: &System, state: &State, start: usize, view: &mut View) -> usize {
        let process_type = ProcessTypeId(u16::from(state[start]));
        let locals = start + self.process_header;
        let location = self.location(state, start);
        view.processes.push(ProcessView { process_type, location, start, locals });
        let types = &self.process_channels[process_type.index()];
        if !types.is_empty() {
            let frame = system.process_type(process_type).frame.size as usize;
            self.add_channels(types, locals + frame, view);
        }
        start + self.process_sizes[process_type.index()]
    }

    fn add_channels(&self, types: &[ChannelTypeId], mut start: usize, view: &mut View) {
        for &channel_type in types {
            view.channels.push(ChannelView { channel_type, start });
            start += self.channels[channel_type.index()].size;
        }
    }

    /// Bytes of a process of this type, with its channels.
    pub fn process_size(&self, process_type: ProcessTypeId) -> usize {
        self.process_sizes[process_type.index()]
    }

    /// The number of channels that are created with a process of this type.
    pub fn channels_of(&self, process_type: ProcessTypeId) -> usize {
        self.process_channels[process_type.index()].len()
    }

    pub fn channel(&self, channel_type: ChannelTypeId) -> ChannelLayout {
        self.channels[channel_type.index()]
    }

    pub(super) fn location(&self, state: &State, process: usize) -> LocationId {
        let low = u16::from(state[process + 1]);
        let station = if self.location_bytes == 1 { low } else { low | u16::from(state[process + 2]) << 8 };
        self.stations[usize::from(state[process])][usize::from(station)]
    }

    /// The locations where a process of this type can be, by station.
    pub fn stations(&self, process_type: ProcessTypeId) -> &[LocationId] {
        &self.stations[process_type.index()]
    }

    /// The stations where a process of this type usually does not stop; they are the last ones.
    pub fn passed(&self, process_type: ProcessTypeId) -> Option<std::ops::Range<u16>> {
        let passed = self.stops(process_type)..self.stations(process_type).len() as u16;
        (!passed.is_empty()).then_some(passed)
    }

    /// The number of stations where a process of this type usually stops; they are the first ones.
    pub fn stops(&self, process_type: ProcessTypeId) -> u16 {
        self.stops[process_type.index()]
    }

    /// The station of a location where a process of this type can be.
    pub fn station(&self, process_type: ProcessTypeId, location: LocationId) -> u16 {
        self.station_of[process_type.index()][location.index()]
    }

    pub(crate) fn set_location(&self, state: &mut State, process: usize, location: LocationId) {
        let station = self.station_of[usize::from(state[process])][location.index()];
        state[process + 1] = station as u8;
        if self.location_bytes == 2 {
            state[process + 2] = (station >> 8) as u8;
        }
    }

    /// 1 where the system has no priorities.
    pub fn priority(&self, state: &State, process: usize) -> u8 {
        if self.priority { state[process + 1 + self.location_bytes] } else { 1 }
    }

    pub(crate) fn set_priority(&self, state: &mut State, process: usize, priority: u8) {
        if self.priority {
            state[process + 1 + self.location_bytes] = priority;
        }
    }

    /// The state of the monitor, which must exist.
    pub(super) fn watch(&self, state: &State, watch: usize) -> usize {
        usize::from(u16::from_le_bytes([state[watch], state[watch + 1]]))
    }

    pub(super) fn set_watch(&self, state: &mut State, watch: usize, post: u16) {
        state[watch..watch + WATCH_BYTES].copy_from_slice(&post.to_le_bytes());
    }

    /// The offset of the globals.
    pub fn globals(&self) -> usize {
        self.globals
    }

    /// The number of messages in the channel.
    pub fn channel_length(&self, state: &State, channel: ChannelView) -> usize {
        let layout = self.channel(channel.channel_type);
        match layout.length_bytes {
            0 => 0,
            1 => usize::from(state[channel.start]),
            _ => usize::from(u16::from_le_bytes([state[channel.start], state[channel.start + 1]])),
        }
    }

    pub(crate) fn set_channel_length(&self, state: &mut State, channel: ChannelView, length: usize) {
        let layout = self.channel(channel.channel_type);
        state[channel.start] = length as u8;
        if layout.length_bytes == 2 {
            state[channel.start + 1] = (length >> 8) as u8;
        }
    }

    /// The offset of a message of the channel in the state.
    pub fn message(&self, channel: ChannelView, slot: usize) -> usize {
        let layout = self.channel(channel.channel_type);
        channel.start + layout.length_bytes + slot * layout.message
    }
}

/// The stations of a process type: its entry and the targets of edges. Those where a process can stop come first, so
/// that their numbers are small; their number is returned too.
fn stations(process_type: &ProcessType, system: &System) -> (Vec<LocationId>, u16) {
    let mut reached = vec![false; process_type.locations.len()];
    let mut pending = vec![process_type.entry];
    while let Some(location) = pending.pop() {
        if !std::mem::replace(&mut reached[location.index()], true) {
            let edges = system.edges_of(&process_type.locations[location.index()]);
            pending.extend(edges.iter().filter_map(|edge| edge.target));
        }
    }
    let all = (0..).map(LocationId).zip(reached).filter_map(|(location, reached)| reached.then_some(location));
    let passed = passed(process_type, system);
    let (passed, others): (Vec<_>, Vec<_>) = all.partition(|location| passed[location.index()]);
    let stops = others.len() as u16;
    (others.into_iter().chain(passed).collect(), stops)
}

/// Per location: whether a process continues from there without interruption, as far as its edges show.
fn passed(process_type: &ProcessType, system: &System) -> Vec<bool> {
    let edges_of = |location| system.edges_of(location).iter();
    let mut passed: Vec<bool> =
        process_type.locations.iter().map(|location| system.is_never_stuck(location)).collect();
    passed[process_type.entry.index()] = false;
    for edge in process_type.locations.iter().flat_map(edges_of) {
        // A rendezvous may pass control to another process.
        let keeps_on = edge.atomic && !matches!(edge.action, Action::Send(_) | Action::Receive(_));
        if let Some(target) = edge.target.filter(|_| !keeps_on) {
            passed[target.index()] = false;
        }
    }
    passed
}

impl ChannelLayout {
    fn new(channel: &ChannelType) -> Self {
        let message = channel.message_size() as usize;
        let length_bytes = match channel.capacity {
            0 => 0,
            1..=255 => 1,
            256.. => 2,
        };
        ChannelLayout { size: length_bytes + usize::from(channel.capacity) * message, length_bytes, message }
    }
}

/// Reads a number from its bytes.
pub fn load(state: &State, at: usize, scalar: Scalar) -> i32 {
    let bits = match scalar.size() {
        1 => i32::from(state[at]),
        2 => i32::from(u16::from_le_bytes([state[at], state[at + 1]])),
        _ => i32::from_le_bytes([state[at], state[at + 1], state[at + 2], state[at + 3]]),
    };
    if scalar.signed { scalar.truncate(bits) } else { bits }
}

/// Writes a number. It is truncated; unused bits are 0, also of negative numbers.
pub fn store(state: &mut State, at: usize, scalar: Scalar, value: i32) {
    let bits = Scalar { signed: false, ..scalar }.truncate(value);
    match scalar.size() {
        1 => state[at] = bits as u8,
        2 => state[at..at + 2].copy_from_slice(&(bits as u16).to_le_bytes()),
        _ => state[at..at + 4].copy_from_slice(&bits.to_le_bytes()),
    }
}
