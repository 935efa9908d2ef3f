//! Two engines side by side.

pub mod random;

use entail_front::{Granularity, Language, ModelSource, Options, source::Sources};
use entail_ir::interpret::{Engine, Outline, Step};
use entail_ir::{Interpreter, System, text};
use entail_jit::{Jit, Tuning};
use entail_model::{Fired, Model, State};
use entail_testkit::rng::Rng;
use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};

/// One step of a state, as an engine tells it.
type Taken = (Step, Fired, Vec<u8>);

/// What has been compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compared {
    pub states: usize,
    pub steps: usize,
    pub transient: usize,
    pub faults: usize,
}

impl std::ops::AddAssign for Compared {
    fn add_assign(&mut self, other: Compared) {
        self.states += other.states;
        self.steps += other.steps;
        self.transient += other.transient;
        self.faults += other.faults;
    }
}

/// An interpreter and a compiled system that must not differ.
pub struct Pair<'s> {
    interpreter: Interpreter<'s>,
    jit: Jit<'s>,
    scratch: Vec<u64>,
    /// States with the same processes share their outline.
    outlines: HashMap<Vec<u32>, Outline>,
    pub compared: Compared,
}

impl<'s> Pair<'s> {
    /// `None` for the few systems that are not compiled.
    pub fn new(system: &'s System, tuning: Tuning) -> Option<Self> {
        let interpreter = Interpreter::new(system);
        let jit = match Jit::compile_with(&interpreter, tuning) {
            Ok(jit) => jit,
            Err(why) => {
                assert!(system.uses_priorities, "not compiled: {why}\n{}", text::print(system));
                return None;
            }
        };
        Some(Pair {
            interpreter,
            jit,
            scratch: Vec::new(),
            outlines: HashMap::new(),
            compared: Compared::default(),
        })
    }

    pub fn initial(&self) -> Vec<Vec<u8>> {
        let mut states = Vec::new();
        self.interpreter.initial_states(&mut |state| states.push(state.to_vec()));
        states
    }

    /// The steps of a state, about which both agree.
    pub fn steps(&mut self, name: &str, state: &State) -> Vec<Taken> {
        let Pair { interpreter, jit, scratch, outlines, compared } = self;
        let outline = if state.is_empty() {
            &Outline::default()
        } else {
            let fresh = interpreter.layout().outline(interpreter.system(), state);
            outlines.entry(fresh.types.clone()).or_insert(fresh)
        };
        let expected = all_steps(interpreter, state, outline, &mut Vec::new());
        let found = all_steps(jit, state, outline, scratch);
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
        compared.states += 1;
        compared.steps += found.len();
        compared.transient += usize::from(interpreter.is_transient(state));
        compared.faults += found.iter().filter(|(_, fired, _)| *fired != Fired::Done).count();
        found
    }

    /// Compares all states up to a limit, nearest first.
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

    /// Compares the states of a random walk, which begins again where it ends.
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

fn all_steps(engine: &impl Engine, state: &State, outline: &Outline, scratch: &mut Vec<u64>) -> Vec<Taken> {
    let mut steps = Vec::new();
    engine.expand(state, outline, scratch, |step, fired, successor| {
        // What a step leaves behind that could not be completed means nothing.
        let kept = if matches!(fired, Fired::Broken(_)) { &[] } else { successor };
        steps.push((step, fired, kept.to_vec()));
    });
    steps
}

/// Explores a system with both engines; returns what was compared.
pub fn same(name: &str, system: &System, limit: usize, tuning: Tuning) -> Compared {
    let Some(mut pair) = Pair::new(system, tuning) else { return Compared::default() };
    pair.explore(name, limit);
    pair.compared
}

/// The two ways in which code is made.
pub fn ways() -> [Tuning; 2] {
    [false, true].map(|separate| Tuning { separate, ..Tuning::default() })
}

/// Reads a model from its text; `None` if it is wrong.
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

/// Public models that lie beside the project, if they do.
pub fn public_models() -> Vec<PathBuf> {
    let folder = root().join("../shared/models/promela");
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut models: Vec<_> = entries.map(|entry| entry.expect("the folder can be read").path()).collect();
    models.sort();
    models
}
