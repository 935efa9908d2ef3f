//! A short excursion before the search: which values do the numbers of a system really have?
//!
//! The beginning of the state space is explored breadth first, and in between long walks are taken into the depth, as
//! long as there is something new to see. What is seen decides how states are packed; what is not seen costs memory
//! later, but is not lost.

use std::collections::{HashMap, HashSet, VecDeque};

use entail_ir::interpret::{Engine, Number, Outline, Source, Variation};
use entail_ir::{Interpreter, Range, Ranges};
use entail_model::{Fired, Model, State, StateBuf};

/// How many states are expanded breadth first in the first round; in each round after it, twice as many as before.
const BREADTH: usize = 2_000;
/// How many steps a walk has, and how many states there are for each one in the same round.
const DEPTH: usize = 500;
const ROUNDS: u32 = 6;
/// How many bits more than was seen are given, at most, to a number that was still growing in the end.
const SLACK: u32 = 5;
/// How often a number must have grown to look as if it counted something.
const COUNTS: u64 = 4;

/// What was seen of one outline.
pub(crate) struct Seen {
    pub outline: Outline,
    /// Of each number: the values that are to have a code.
    pub ranges: Vec<Range>,
}

/// Everything that was seen, the commonest outline first.
pub(crate) fn explore<E: Engine>(interpreter: &Interpreter, engine: &E, ranges: &Ranges) -> Vec<Seen> {
    let mut scout = Scout { interpreter, ranges, logs: HashMap::new(), scratch: Vec::new(), random: 1 };
    let mut front = Front::new(interpreter);
    let mut complete = false;
    for round in 0..ROUNDS {
        let states = BREADTH << round;
        let before = scout.growth();
        complete = scout.look_around(engine, &mut front, states);
        if complete {
            break;
        }
        (0..states / DEPTH).for_each(|_| scout.go_far(engine, &front.initial));
        if round > 0 && scout.growth() == before {
            break;
        }
    }
    // What is only passed through has no short form.
    let mut logs: Vec<Log> = scout.logs.into_values().filter(|log| log.states > 0).collect();
    logs.sort_by(|one, other| {
        other.states.cmp(&one.states).then_with(|| one.outline.types.cmp(&other.outline.types))
    });
    let others = 1 + usize::BITS - logs.len().saturating_sub(1).leading_zeros();
    logs.into_iter().map(|log| log.seen(complete, others)).collect()
}

struct Scout<'a> {
    interpreter: &'a Interpreter<'a>,
    ranges: &'a Ranges,
    /// By the types of the processes.
    logs: HashMap<Vec<u32>, Log>,
    scratch: Vec<u64>,
    random: u64,
}

/// The states to be expanded next.
#[derive(Default)]
struct Front {
    initial: StateBuf,
    known: HashSet<StateBuf>,
    queue: VecDeque<StateBuf>,
}

impl Front {
    fn new(interpreter: &Interpreter) -> Front {
        let mut front = Front::default();
        interpreter.initial_states(&mut |state| {
            front.initial = state.to_vec();
            front.known.insert(state.to_vec());
            front.queue.push_back(state.to_vec());
        });
        front
    }
}

/// What was seen of the states of one outline.
struct Log {
    outline: Outline,
    known: Variation,
    states: u64,
    numbers: Vec<Extent>,
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

impl Scout<'_> {
    /// How often something was new.
    fn growth(&self) -> u64 {
        self.logs.values().flat_map(|log| &log.numbers).map(|extent| extent.times).sum()
    }

    /// Expands so many states; whether these were all there are.
    fn look_around<E: Engine>(&mut self, engine: &E, front: &mut Front, states: usize) -> bool {
        for _ in 0..states {
            let Some(state) = front.queue.pop_front() else { return true };
            self.expand(engine, &state, |next| {
                if !front.known.contains(next) {
                    front.known.insert(next.to_vec());
                    front.queue.push_back(next.to_vec());
                }
            });
        }
        false
    }

    /// Takes a random walk.
    fn go_far<E: Engine>(&mut self, engine: &E, initial: &State) {
        let mut state = initial.to_vec();
        let (mut successors, mut ends) = (StateBuf::new(), Vec::new());
        for _ in 0..DEPTH {
            successors.clear();
            ends.clear();
            self.expand(engine, &state, |next| {
                successors.extend_from_slice(next);
                ends.push(successors.len());
            });
            self.random = self.random.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
            let Some(choice) = ((self.random >> 33) as usize).checked_rem(ends.len()) else { break };
            let start = if choice == 0 { 0 } else { ends[choice - 1] };
            state.clear();
            state.extend_from_slice(&successors[start..ends[choice]]);
        }
    }

    /// Notes the state, and calls `each` for every successor of it.
    fn expand<E: Engine>(&mut self, engine: &E, state: &State, mut each: impl FnMut(&State)) {
        let (interpreter, ranges) = (self.interpreter, self.ranges);
        let log = self.logs.entry(interpreter.layout().types_of(state)).or_insert_with(|| {
            let outline = interpreter.layout().outline(interpreter.system(), state);
            let known = Variation::new(interpreter.system(), interpreter.layout(), ranges, &outline);
            Log { outline, known, states: 0, numbers: Vec::new() }
        });
        if !interpreter.is_transient(state) {
            log.note(state);
        }
        let from = Source { state, outline: &log.outline, packed: None };
        engine.expand(from, &mut self.scratch, &mut |_, fired: Fired, next: &State| {
            if !fired.is_broken() {
                each(next);
            }
        });
    }
}

impl Log {
    fn note(&mut self, state: &State) {
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

    /// `others` is the number of bits that a state has besides its numbers.
    fn seen(self, complete: bool, others: u32) -> Seen {
        let words = |ranges: &[Range]| {
            let bits: u32 = ranges.iter().map(|range| bits(range.low, range.high)).sum();
            (bits + others).div_ceil(u64::BITS)
        };
        // To be generous is good, but not so good that a state should take a word more for it.
        let fewest = words(&self.ranges(Generosity { slack: 0, all_stations: false }));
        let most = if complete { 0 } else { SLACK };
        let ways = [true, false].into_iter().flat_map(|all_stations| {
            (0..=most).rev().map(move |slack| Generosity { slack, all_stations: all_stations && !complete })
        });
        let ranges = ways.map(|way| self.ranges(way)).find(|ranges| words(ranges) == fewest);
        Seen { ranges: ranges.unwrap_or_default(), outline: self.outline }
    }

    /// The values to have a code.
    fn ranges(&self, Generosity { slack, all_stations }: Generosity) -> Vec<Range> {
        let numbers = self.known.numbers.iter().zip(&self.numbers);
        let spare = |extent: &Extent| match extent.times {
            _ if extent.grew > self.states / 2 => slack,
            COUNTS.. => slack.min(1),
            _ => 0,
        };
        let is_station = |number: &Number| self.outline.starts.binary_search(&(number.at.wrapping_sub(1))).is_ok();
        let range = |(number, extent): (&Number, &Extent)| {
            if all_stations && is_station(number) {
                number.range
            } else {
                extent.range(number.range, spare(extent))
            }
        };
        numbers.map(range).collect()
    }
}

/// How much more than what was seen is to have a code.
#[derive(Clone, Copy)]
struct Generosity {
    /// So many bits for numbers that were still growing in the end, and one for those that look as if they counted.
    slack: u32,
    /// All places where a process can be: a run may go through phases that are alike but for one process.
    all_stations: bool,
}

fn bits(low: i32, high: i32) -> u32 {
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
        if slack == 0 { narrow } else { Range { low: narrow.low, high: narrow.low.wrapping_add(room as i32) } }
    }
}
