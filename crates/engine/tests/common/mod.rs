//! Compares two engines.

pub mod random;

use entail_engine::{Jit, Scratch, Tuning};
use entail_front::{Granularity, Language, ModelSource, Options, source::Sources};
use entail_ir::interpret::{
    Codes, Engine, Exclusive, Kind, Layout, ProcessVector, Sink, Source, StateNumbers, Step,
};
use entail_ir::{Interpreter, Ranges, System, text};
use entail_model::{Fired, Key, Model, State, StateKey, Transition, WideKey};
use entail_testkit::rng::Rng;
use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One step of a state, as an engine reports it.
type Taken = (Step, Fired, Vec<u8>);

/// Counts of comparisons.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compared {
    pub states: usize,
    pub steps: usize,
    pub transient: usize,
    pub faults: usize,
    /// Successors given as words.
    pub words: usize,
    /// Those of them that have two words.
    pub pairs: usize,
    /// States expanded only as words.
    pub only_words: usize,
    /// States expanded as words with stable successors only.
    pub plain: usize,
}

impl std::ops::AddAssign for Compared {
    fn add_assign(&mut self, other: Compared) {
        self.states += other.states;
        self.steps += other.steps;
        self.transient += other.transient;
        self.faults += other.faults;
        self.words += other.words;
        self.pairs += other.pairs;
        self.only_words += other.only_words;
        self.plain += other.plain;
    }
}

/// The number of states for which code specialised for one packing is used.
const SPECIAL_USES: usize = 500;

/// The process vector that the system was specialised for.
struct Special {
    /// Of the processes.
    types: Vec<u32>,
    codes: Arc<Codes>,
    uses: usize,
}

/// An interpreter and a compiled system, which must agree.
pub struct Pair<'s> {
    interpreter: Interpreter<'s>,
    jit: Jit<'s>,
    desk: Scratch,
    /// States with the same processes share their process vector.
    vectors: HashMap<Vec<u32>, (ProcessVector, StateNumbers)>,
    ranges: Ranges,
    special: Option<Special>,
    pub compared: Compared,
}

impl<'s> Pair<'s> {
    /// `None` for the few systems that are not compiled.
    pub fn new(system: &'s System, tuning: Tuning) -> Option<Self> {
        let interpreter = Interpreter::new(system);
        let jit = match Jit::compile(&interpreter, tuning) {
            Ok(jit) => jit,
            Err(why) => {
                assert!(system.uses_priorities, "not compiled: {why}\n{}", text::print(system));
                return None;
            }
        };
        Some(Pair {
            interpreter,
            jit,
            desk: Scratch::default(),
            vectors: HashMap::new(),
            ranges: Ranges::new(system),
            special: None,
            compared: Compared::default(),
        })
    }

    pub fn initial(&self) -> Vec<Vec<u8>> {
        let mut states = Vec::new();
        self.interpreter.initial_states(&mut |state| states.push(state.to_vec()));
        states
    }

    /// The steps of a state, on which both engines agree.
    pub fn steps(&mut self, name: &str, state: &State) -> Vec<Taken> {
        let Pair { interpreter, jit, desk, vectors, ranges, special, compared } = self;
        let nothing = (ProcessVector::default(), StateNumbers { numbers: Vec::new(), template: Vec::new() });
        let (vector, variation) = if state.is_empty() {
            &nothing
        } else {
            let fresh = interpreter.layout().process_vector(interpreter.system(), state);
            vectors.entry(fresh.types.clone()).or_insert_with(|| {
                let variation = StateNumbers::new(interpreter.system(), interpreter.layout(), ranges, &fresh);
                (fresh, variation)
            })
        };
        let expected = all_steps(interpreter, state, vector, &mut ());
        let found = all_steps(jit, state, vector, desk);
        if expected != found {
            let values = if state.is_empty() { Vec::new() } else { interpreter.values(state) };
            let different = expected.iter().zip(&found).position(|(a, b)| a != b);
            let at = different.unwrap_or(expected.len().min(found.len()));
            panic!(
                "{name}\n{}\nstate {state:?}\n{values:#?}\n{} steps expected, {} found; number {at} differs:\n\
                 expected {:?}\nfound    {:?}",
                text::print(interpreter.system()),
                expected.len(),
                found.len(),
                expected.get(at),
                found.get(at),
            );
        }
        if !state.is_empty() {
            let exclusive = Exclusive::new(interpreter.system(), vector);
            let kind = (interpreter.layout(), vector);
            let fresh = Arc::new(codes(state, variation, exclusive, kind, compared.states as u64));
            let renew = special.as_ref().is_none_or(|special| special.uses == SPECIAL_USES);
            if renew {
                jit.specialise(vector, &fresh);
                *special = Some(Special { types: vector.types.clone(), codes: Arc::clone(&fresh), uses: 0 });
            }
            let special = special.as_mut().expect("just made, if not before");
            special.uses += 1;
            // With code for this packing, if there is any, and with the general code.
            let prepared = (special.types == vector.types).then_some(&special.codes);
            for codes in prepared.into_iter().chain([&fresh]) {
                let Some(packed) = codes.pack(state) else { continue };
                let mut words = Words { expected: expected.iter(), codes, words: 0, pairs: 0 };
                let mut again = Vec::new();
                codes.unpack(packed, &mut again);
                assert_eq!(again, state, "{name}");
                let only_words = jit.reads_words(codes);
                compared.only_words += usize::from(only_words);
                let state = if only_words { &[] } else { state };
                let from = Source { state, vector, packed: Some((packed, codes)) };
                jit.expand(from, desk, &mut words);
                assert!(words.expected.next().is_none(), "{name}: a step is missing in {state:?}");
                compared.words += words.words;
                compared.pairs += words.pairs;
                if again[0] == 0 {
                    let kind = Kind { vector, codes };
                    let is_plain = if codes.is_wide() {
                        expand_words::<WideKey>((interpreter, jit), kind, (&again, packed), desk)
                    } else {
                        expand_words::<Key>((interpreter, jit), kind, (&again, packed), desk)
                    };
                    compared.plain += usize::from(is_plain);
                }
            }
        }
        compared.states += 1;
        compared.steps += found.len();
        compared.transient += usize::from(interpreter.is_transient(state));
        compared.faults += found.iter().filter(|(_, fired, _)| *fired != Fired::Done).count();
        found
    }

    /// Compares all states up to a limit, breadth first.
    pub fn explore(&mut self, name: &str, limit: usize) {
        let mut queue: VecDeque<_> = self.initial().into();
        let mut seen: HashSet<Vec<u8>> = queue.iter().cloned().collect();
        while let Some(state) = queue.pop_front() {
            for (_, fired, successor) in self.steps(name, &state) {
                let goes_on = !matches!(fired, Fired::Broken(_));
                if goes_on && seen.len() < limit && !seen.contains(&successor) {
                    seen.insert(successor.clone());
                    queue.push_back(successor);
                }
            }
        }
    }

    /// Compares the states of a random walk, which restarts when it ends.
    pub fn walk(&mut self, name: &str, steps: usize, rng: &mut Rng) {
        let initial = self.initial();
        let mut state = rng.pick(&initial).clone();
        for _ in 0..steps {
            let mut taken = self.steps(name, &state);
            taken.retain(|(_, fired, _)| !matches!(fired, Fired::Broken(_)));
            state = if taken.is_empty() { rng.pick(&initial).clone() } else { rng.pick(&taken).2.clone() };
        }
    }
}

fn all_steps<E: Engine>(engine: &E, state: &State, vector: &ProcessVector, desk: &mut E::Scratch) -> Vec<Taken> {
    let mut steps = Vec::new();
    let from = Source { state, vector, packed: None };
    engine.expand(from, desk, &mut |step, fired, successor: &State| {
        // The state after a step that could not be completed is unspecified.
        let kept = if matches!(fired, Fired::Broken(_)) { &[] } else { successor };
        steps.push((step, fired, kept.to_vec()));
    });
    steps
}

/// Whether a state can be expanded as words; if so, checks its successors.
fn expand_words<K: StateKey>(
    (interpreter, jit): (&Interpreter, &Jit),
    kind: Kind,
    (state, words): (&State, [u64; 2]),
    desk: &mut Scratch,
) -> bool {
    let codes = kind.codes;
    // The same state three times, so that leftovers would show.
    let mut told = [const { Vec::new() }; 3];
    let unpack = |state: K, unpacked: &mut Vec<u8>| codes.unpack(state.words(), unpacked);
    let mut transitions = Vec::new();
    let count = jit.expand_words(kind, &[K::from_words(words); 3], desk, unpack, &mut transitions);
    assert!(count == 0 || count == 3, "{count}");
    for Transition { step, next, from, passed, .. } in transitions {
        told[from as usize].push((passed.into(), step, next.map(K::words)));
    }
    if count == 0 {
        return false;
    }
    let mut expected = Vec::new();
    let is_usual = pass(interpreter, codes, &mut vec![state.to_vec()], &mut expected);
    assert!(is_usual && !expected.is_empty(), "{expected:?}");
    told.iter().for_each(|told| assert_eq!(*told, expected));
    true
}

/// A naive implementation: all steps from the last state of a path to stable states; returns whether the fast path
/// applies.
fn pass(
    interpreter: &Interpreter,
    codes: &Codes,
    path: &mut Vec<Vec<u8>>,
    taken: &mut Vec<(usize, Step, Option<[u64; 2]>)>,
) -> bool {
    let state = path.last().expect("a path has states");
    all_steps(interpreter, state, &ProcessVector::default(), &mut ()).into_iter().all(|(step, fired, next)| {
        let Some(words) = codes.pack(&next).filter(|_| fired == Fired::Done) else { return false };
        taken.push((path.len() - 1, step, (next[0] == 0).then_some(words)));
        if next[0] == 0 || path.contains(&next) {
            return true;
        }
        path.push(next);
        let is_usual = pass(interpreter, codes, path, taken);
        path.pop();
        is_usual
    })
}

/// Codes for the numbers of a state and for some near them: all in one word or two, so that many have few or none.
fn codes(
    state: &State,
    variation: &StateNumbers,
    exclusive: Exclusive,
    (layout, vector): (&Layout, &ProcessVector),
    seed: u64,
) -> Codes {
    let mut rng = Rng::new(seed);
    let wide = rng.below(2) == 1;
    let mut codes = Codes::new(&variation.template, wide);
    let most = if wide { 127 } else { 63 };
    let mut left = most;
    for number in &variation.numbers {
        let (at, bytes) = (number.at as usize, usize::from(number.bytes));
        let mut value = [0; 4];
        value[..bytes].copy_from_slice(&state[at..at + bytes]);
        let mut bits = rng.below(8).min(left);
        if left > 63 && left - bits < 63 {
            // Up to the end of the first word.
            bits = left - 63;
        }
        left -= bits;
        let low = u32::from_le_bytes(value).wrapping_sub(rng.below(1 << bits) as u32);
        codes.push(number.at, number.bytes, low & u32::MAX >> (32 - 8 * bytes), bits as u8);
    }
    let from = (most - left).max(most - 63);
    codes.push_exclusive((from + rng.below(most - from + 1)) as u32, exclusive, layout, vector);
    codes
}

/// Compares steps to words with the expected ones.
struct Words<'a> {
    expected: std::slice::Iter<'a, Taken>,
    codes: &'a Codes,
    words: usize,
    pairs: usize,
}

impl Sink for Words<'_> {
    fn state(&mut self, step: Step, fired: Fired, state: &State) {
        let kept = if matches!(fired, Fired::Broken(_)) { &[] } else { state };
        assert_eq!(self.expected.next(), Some(&(step, fired, kept.to_vec())));
    }

    fn words(&mut self, steps: &[[u64; 2]]) {
        assert!(!self.codes.is_wide());
        steps.iter().for_each(|&[step, word]| self.compare(step, word, [word, 0]));
    }

    fn pairs(&mut self, steps: &[[u64; 3]]) {
        assert!(self.codes.is_wide());
        steps.iter().for_each(|&[step, high, low]| self.compare(step, high, [low, high]));
        self.pairs += steps.len();
    }
}

impl Words<'_> {
    fn compare(&mut self, step: u64, last: u64, words: [u64; 2]) {
        let (expected, fired, state) = self.expected.next().expect("no more steps than expected");
        assert_eq!((step, *fired), (expected.bits(), Fired::Done));
        assert_eq!(last >= self.codes.transient(), state[0] != 0, "{expected:?} to {state:?}");
        assert_eq!(Some(words), self.codes.pack(state), "{expected:?} to {state:?} with {:?}", self.codes);
        self.words += 1;
    }
}

/// Explores a system with both engines; returns counts of the comparisons.
pub fn same(name: &str, system: &System, limit: usize, tuning: Tuning) -> Compared {
    let Some(mut pair) = Pair::new(system, tuning) else { return Compared::default() };
    pair.explore(name, limit);
    pair.compared
}

/// The two ways to generate code.
pub fn ways() -> [Tuning; 2] {
    [false, true].map(|separate| Tuning { separate, ..Tuning::default() })
}

/// Parses a model; `None` if it is invalid.
pub fn read(language: Language, text: &str, granularity: Granularity) -> Option<ModelSource> {
    let options = Options { granularity, ..Options::default() };
    let (mut sources, mut problems) = (Sources::default(), Vec::new());
    match language {
        Language::Promela => entail_front::promela::load_text("random", text, &mut sources, &mut problems),
        Language::Esml => entail_front::esml::load_text("random", text, &options, &mut sources, &mut problems),
        Language::Bir => entail_front::bir::load_text("random", text, &options, &mut sources, &mut problems),
    }
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Public models in a folder beside the project, if it exists.
pub fn public_models() -> Vec<PathBuf> {
    let folder = root().join("../shared/models/promela");
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut models: Vec<_> = entries.map(|entry| entry.expect("the folder can be read").path()).collect();
    models.sort();
    models
}
