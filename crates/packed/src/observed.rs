//! The values observed in the states of one process vector, and which of them get a code.

use std::io;

use entail_disk::{Reader, Snapshot, Writer, damaged, snapshot};
use entail_ir::interpret::{Exclusive, Number, ProcessVector, StateNumbers};
use entail_ir::{Interpreter, ProcessTypeId, Range, Ranges};
use entail_model::State;

/// How many bits more than was seen are given, at most, to a number that was still growing in the end.
const SLACK: u32 = 5;
/// How often a number must have grown to look as if it counted something.
const COUNTS: u64 = 4;

/// The values observed in the states of one process vector.
pub(crate) struct Observed {
    pub vector: ProcessVector,
    pub known: StateNumbers,
    pub states: u64,
    /// How many of them were packed long.
    pub longs: u64,
    numbers: Vec<Extent>,
    /// Of each number that says where a process is: all places where one can stay.
    stops: Vec<Option<Range>>,
    is_atomic: bool,
    pub exclusive: Exclusive,
    /// The offset of the number of processes. Codes before it have the same width in all process vectors.
    count_at: u32,
}

/// The values a number had, read in both ways: often -1, or 255, stands beside small numbers.
#[derive(Clone, Copy)]
struct Extent {
    signed: Range,
    unsigned: (u32, u32),
    /// How often it was found to be larger, and after how many states the last time.
    times: u64,
    grew: u64,
}

snapshot!(Extent { signed, unsigned, times, grew });

/// How many unobserved values get a code.
#[derive(Clone, Copy)]
struct Generosity {
    /// So many bits for numbers that were still growing in the end, and one for those that look as if they counted.
    slack: u32,
    /// All places where a process can be: a run may go through phases that are alike but for one process.
    all_stops: bool,
}

/// A transient state is handled faster if it says in the same words which process alone may move: for which ones is
/// that so?
#[derive(Clone, Copy)]
enum Exclusives {
    Everywhere,
    /// Those where that process is where it could also stay, or nearly so.
    NearStops,
    Nowhere,
}

impl Observed {
    /// Nothing is observed yet.
    pub fn new(interpreter: &Interpreter, ranges: &Ranges, vector: ProcessVector) -> Observed {
        let (system, layout) = (interpreter.system(), interpreter.layout());
        let known = StateNumbers::new(system, layout, ranges, &vector);
        let stops = |number: &Number| {
            let process = vector.starts.binary_search(&number.at.wrapping_sub(1)).ok()?;
            let count = layout.stops(ProcessTypeId(vector.types[process] as u16));
            Some(Range { low: 0, high: i32::from(count) - 1 })
        };
        let stops = known.numbers.iter().map(stops).collect();
        let is_atomic = system.edges.iter().any(|edge| edge.atomic);
        let exclusive = Exclusive::new(system, &vector);
        let count_at = layout.process_count as u32;
        Observed { vector, known, states: 0, longs: 0, numbers: Vec::new(), stops, is_atomic, exclusive, count_at }
    }

    pub fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.vector.types.save(to)?;
        self.states.save(to)?;
        self.longs.save(to)?;
        self.numbers.save(to)
    }

    pub fn load(interpreter: &Interpreter, ranges: &Ranges, from: &mut Reader) -> io::Result<Observed> {
        let (system, layout) = (interpreter.system(), interpreter.layout());
        let types: Vec<u32> = Snapshot::load(from)?;
        let known = |id: &u32| (*id as usize) < system.process_types.len();
        if types.len() > usize::from(u8::MAX) || !types.iter().all(known) {
            return Err(damaged("states with processes that the model does not have"));
        }
        let types: Vec<_> = types.iter().map(|id| ProcessTypeId(*id as u16)).collect();
        let mut observed = Observed::new(interpreter, ranges, layout.process_vector_of(system, &types));
        (observed.states, observed.longs, observed.numbers) =
            (Snapshot::load(from)?, Snapshot::load(from)?, Snapshot::load(from)?);
        if ![0, observed.known.numbers.len()].contains(&observed.numbers.len()) {
            return Err(damaged("states with other numbers than those of the model"));
        }
        Ok(observed)
    }

    pub fn note(&mut self, state: &State) {
        self.states += 1;
        let first = self.numbers.is_empty();
        for (index, number) in self.known.numbers.iter().enumerate() {
            let (at, bytes) = (number.at as usize, usize::from(number.bytes));
            let mut value = [0; 4];
            value[..bytes].copy_from_slice(&state[at..at + bytes]);
            let unsigned = u32::from_le_bytes(value);
            let unused = 32 - 8 * bytes as u32;
            let signed = (unsigned << unused) as i32 >> unused;
            if first {
                let signed = Range { low: signed, high: signed };
                self.numbers.push(Extent { signed, unsigned: (unsigned, unsigned), times: 0, grew: 0 });
            } else {
                self.numbers[index].include(signed, unsigned, self.states);
            }
        }
    }

    /// How often something was new.
    pub fn growth(&self) -> u64 {
        self.numbers.iter().map(|extent| extent.times).sum()
    }

    /// How many bits a state takes, in whole words. `others` are those that it has besides its numbers, some of them
    /// `spare`.
    pub fn room(&self, others: u32, spare: u32) -> u32 {
        let least = self.ranges(Generosity { slack: 0, all_stops: false });
        // With an automaton's state, states take more memory anyway, and speed comes first.
        let exclusive = if spare > 0 { self.exclusive_bits(&least, Exclusives::NearStops) } else { 0 };
        (bits_of(&least) + others + exclusive).next_multiple_of(u64::BITS)
    }

    /// Of each number, the values that are to have a code. `complete`: all states were seen. To be generous is good, but
    /// not so good that a state should take a word more for it.
    pub fn coded(&self, others: u32, spare: u32, complete: bool) -> Vec<Range> {
        let room = self.room(others, spare);
        let most = if complete { 0 } else { SLACK };
        let exclusives = [Exclusives::Everywhere, Exclusives::NearStops, Exclusives::Nowhere];
        let ways = exclusives.into_iter().flat_map(|exclusive| {
            [!complete, false].into_iter().flat_map(move |all_stops| {
                (0..=most).rev().map(move |slack| (Generosity { slack, all_stops }, exclusive))
            })
        });
        let fitting = ways.map(|(way, exclusive)| (self.ranges(way), exclusive));
        let mut fitting = fitting.filter(|(ranges, exclusive)| {
            bits_of(ranges) + others + self.exclusive_bits(ranges, *exclusive) <= room
        });
        // The last choice always fits.
        fitting.next().map_or_else(|| self.ranges(Generosity { slack: 0, all_stops: false }), |(ranges, _)| ranges)
    }

    /// How many bits it takes to tell which process alone may move.
    fn exclusive_bits(&self, ranges: &[Range], exclusives: Exclusives) -> u32 {
        let far = |(index, range): (usize, &Range)| {
            let last = self.known.numbers[index].range.high;
            let passes = self.stops[index].is_some_and(|stops| stops.high < last);
            if passes { (last - range.low) >> bits(range.low, range.high) } else { 0 }
        };
        match exclusives {
            Exclusives::Everywhere if self.is_atomic => {
                bits(0, self.exclusive.most() + ranges.iter().enumerate().map(far).sum::<i32>())
            }
            Exclusives::NearStops if self.is_atomic => bits(0, self.exclusive.most()),
            Exclusives::Everywhere | Exclusives::NearStops | Exclusives::Nowhere => 0,
        }
    }

    fn ranges(&self, Generosity { slack, all_stops }: Generosity) -> Vec<Range> {
        let spare = |extent: &Extent| match extent.times {
            _ if extent.grew > self.states / 2 => slack,
            COUNTS.. => slack.min(1),
            _ => 0,
        };
        let numbers = self.known.numbers.iter().zip(&self.numbers).zip(&self.stops);
        numbers
            .map(|((number, extent), stops)| match stops {
                _ if number.at < self.count_at => number.range,
                Some(stops) if all_stops && stops.contains(extent.signed.high) => *stops,
                Some(_) | None => extent.range(number.range, spare(extent)),
            })
            .collect()
    }
}

/// How many bits it takes to tell the values of all ranges apart.
pub(crate) fn bits_of(ranges: &[Range]) -> u32 {
    ranges.iter().map(|range| bits(range.low, range.high)).sum()
}

/// How many bits it takes to tell the values of a range apart.
pub(crate) fn bits(low: i32, high: i32) -> u32 {
    u32::BITS - (high.wrapping_sub(low) as u32).leading_zeros()
}

impl Extent {
    fn include(&mut self, signed: i32, unsigned: u32, state: u64) {
        let (low, high) = self.unsigned;
        if !self.signed.contains(signed) || unsigned < low || unsigned > high {
            self.signed = Range { low: self.signed.low.min(signed), high: self.signed.high.max(signed) };
            self.unsigned = (low.min(unsigned), high.max(unsigned));
            self.times += 1;
            self.grew = state;
        }
    }

    /// The smaller one of the two readings, with some bits to spare, but no more than the number can ever have.
    fn range(&self, known: Range, slack: u32) -> Range {
        let (low, high) = self.unsigned;
        let span = |low: i32, high: i32| high.wrapping_sub(low) as u32;
        let unsigned = Range { low: low as i32, high: high as i32 };
        let narrow = if span(self.signed.low, self.signed.high) < span(unsigned.low, unsigned.high) {
            self.signed
        } else {
            unsigned
        };
        let bits = bits(narrow.low, narrow.high) + slack;
        let room = ((1u64 << bits.min(u32::BITS)) - 1) as u32;
        if room >= span(known.low, known.high) {
            return known;
        }
        // Codes that are left over go to neighbouring values; best down to 0, where many numbers begin.
        let spare = (room - span(narrow.low, narrow.high)).min(i32::MAX as u32) as i32;
        let lowest = narrow.low.saturating_sub(spare);
        let low = if narrow.low >= 0 && lowest <= 0 { 0 } else { narrow.low.saturating_sub(spare / 2) };
        Range { low, high: low.wrapping_add(room as i32) }
    }
}
