//! The values observed in the states of one process vector, and the choice of values that get a code.

use std::io;

use entail_disk::{Reader, Snapshot, Writer, damaged, snapshot};
use entail_ir::interpret::{Exclusive, Number, ProcessVector, StateNumbers};
use entail_ir::{Interpreter, ProcessTypeId, Range, Ranges};
use entail_model::State;

/// The maximal number of extra bits for a number that was still growing at the end of the sample.
const SLACK: u32 = 5;
/// A number that grew at least this often is considered a counter.
const COUNTS: u64 = 4;

/// The values observed in the states of one process vector.
pub(crate) struct Observed {
    pub vector: ProcessVector,
    pub known: StateNumbers,
    pub states: u64,
    /// The number of them that were packed long.
    pub longs: u64,
    numbers: Vec<Extent>,
    /// For each number that is a control location: the range of locations in which the process can stay.
    stops: Vec<Option<Range>>,
    is_atomic: bool,
    pub exclusive: Exclusive,
    /// The offset of the number of processes. Codes before it have the same width in all process vectors.
    count_at: u32,
}

/// The values of a number, as signed and as unsigned values: often -1, or 255, occurs besides small numbers.
#[derive(Clone, Copy)]
struct Extent {
    signed: Range,
    unsigned: (u32, u32),
    /// How often its range grew, and after how many states the last time.
    times: u64,
    grew: u64,
}

snapshot!(Extent { signed, unsigned, times, grew });

/// How many unobserved values get a code.
#[derive(Clone, Copy)]
struct Generosity {
    /// Extra bits for numbers that were still growing at the end, and one bit for counters.
    slack: u32,
    /// All locations of a process: a run may have phases that differ only in one process.
    all_stops: bool,
}

/// A transient state is processed faster if its words contain the process that has exclusive control. The choice of
/// processes that get a code for it.
#[derive(Clone, Copy)]
enum Exclusives {
    Everywhere,
    /// Processes at a location in which they could also stay, or close to one.
    NearStops,
    Nowhere,
}

impl Observed {
    /// Without observations.
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

    /// The number of observations that were new.
    pub fn growth(&self) -> u64 {
        self.numbers.iter().map(|extent| extent.times).sum()
    }

    /// The number of bits of a state, in whole words. `others` is the number of bits besides its numbers, of which
    /// `spare` are unused.
    pub fn room(&self, others: u32, spare: u32) -> u32 {
        let least = self.ranges(Generosity { slack: 0, all_stops: false });
        // With an automaton state, states take more memory anyway, and speed has priority.
        let exclusive = if spare > 0 { self.exclusive_bits(&least, Exclusives::NearStops) } else { 0 };
        (bits_of(&least) + others + exclusive).next_multiple_of(u64::BITS)
    }

    /// For each number, the range of values that get a code. `complete` means that all states were observed. Chooses
    /// the most generous ranges that do not take another word.
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

    /// The number of bits for the process with exclusive control.
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

/// The number of bits for the values of all ranges.
pub(crate) fn bits_of(ranges: &[Range]) -> u32 {
    ranges.iter().map(|range| bits(range.low, range.high)).sum()
}

/// The number of bits for the values of a range.
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

    /// The smaller one of the signed and the unsigned range, with some extra bits, but no more than the number can ever
    /// use.
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
        // Unused codes go to neighbouring values, preferably down to 0, where many numbers begin.
        let spare = (room - span(narrow.low, narrow.high)).min(i32::MAX as u32) as i32;
        let lowest = narrow.low.saturating_sub(spare);
        let low = if narrow.low >= 0 && lowest <= 0 { 0 } else { narrow.low.saturating_sub(spare / 2) };
        Range { low, high: low.wrapping_add(room as i32) }
    }
}
