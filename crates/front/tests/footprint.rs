//! Footprints against the observed dependencies between steps, in random models.

use std::collections::{BTreeSet, HashSet, VecDeque};

use entail_front::source::Sources;
use entail_front::{ModelSource, Options, bir, esml, promela};
use entail_ir::interpret::Step;
use entail_ir::{Footprint, Footprints, Interpreter, System};
use entail_model::{Fired, Model, StateBuf};
use entail_testkit::promela::generate;
use entail_testkit::rng::Rng;
use entail_testkit::{bir as random_bir, esml as random_esml};

const MODELS: u64 = 1_000;
/// The number of states of a model that are examined.
const MOST_STATES: usize = 200;

struct Watcher<'a, 's> {
    interpreter: &'a Interpreter<'s>,
    footprints: &'a Footprints,
    /// The number of pairs of steps that do not conflict.
    apart: usize,
    /// The number of steps that another step has enabled.
    enabled: usize,
}

/// The target of a step, if it is a stable state and there is no fault.
fn after(interpreter: &Interpreter, state: &StateBuf, step: Step) -> Option<StateBuf> {
    let mut next = state.clone();
    let done = interpreter.fire(step, &mut next) == Fired::Done;
    (done && !interpreter.is_transient(&next)).then_some(next)
}

fn possible(interpreter: &Interpreter, state: &StateBuf) -> Vec<Step> {
    let mut steps = Vec::new();
    interpreter.enabled(state, &mut steps);
    steps
}

fn actors(step: Step) -> BTreeSet<usize> {
    std::iter::once(step.process()).chain(step.partner().map(|(process, _)| process)).collect()
}

impl Watcher<'_, '_> {
    fn name(&self, step: Step) -> String {
        let system = self.interpreter.system();
        let statement = system.statement(system.edge(step.edge()).statement);
        format!("{step:?}, `{}` in line {},", statement.text, statement.line)
    }

    fn footprint(&self, step: Step) -> Footprint {
        let mut footprint = self.footprints.of(step.edge()).clone();
        if let Some((_, edge)) = step.partner() {
            footprint.join(self.footprints.of(edge));
        }
        footprint
    }

    /// Whether a process exists, and the next process to be started cannot reuse its slot.
    ///
    /// A process that reuses a slot is a new process, like one with a new slot. The footprint of a `run` need
    /// not enable the steps of the new process: for stubborn sets, a step includes all future steps of the
    /// processes that it may start (`Draft::later`), so a step that depends on the new process depends on the
    /// step that starts it. The previous process in the slot has ended and never moves again. Which slot is
    /// reused depends on which processes have ended and which numbers are stored: the footprints of these
    /// steps write `Deaths`, which a `run` reads, so they conflict with it. `entail`'s tests compare the
    /// verdicts of such models (`everywhere/reuse.rs`, `tests/models/bir/place-of-another.bir`).
    fn lives(&self, state: &StateBuf, process: usize) -> bool {
        let system = self.interpreter.system();
        let view = self.interpreter.view(state);
        view.processes.get(process).is_some_and(|process| {
            let location = &system.process_type(process.process_type).locations[process.location.index()];
            !(system.reclaims && location.is_final())
        })
    }

    fn look(&mut self, state: &StateBuf, text: &str) {
        let steps = possible(self.interpreter, state);
        for &one in &steps {
            let Some(next) = after(self.interpreter, state, one) else { continue };
            let of_one = self.footprint(one);
            let steps_after = possible(self.interpreter, &next);
            for &other in steps.iter().filter(|other| actors(**other).is_disjoint(&actors(one))) {
                if of_one.conflicts(&self.footprint(other)) {
                    continue;
                }
                self.apart += 1;
                assert!(steps_after.contains(&other), "{} prevents {}:\n{text}", self.name(one), self.name(other));
                let Some(way) = after(self.interpreter, state, other) else { continue };
                let ends = (after(self.interpreter, &next, other), after(self.interpreter, &way, one));
                assert_eq!(ends.0, ends.1, "{} and {} do not commute:\n{text}", self.name(one), self.name(other));
            }
            let new = steps_after.iter().filter(|step| !steps.contains(step));
            for &enabled in new.filter(|step| actors(**step).is_disjoint(&actors(one))) {
                if actors(enabled).iter().all(|process| self.lives(state, *process)) {
                    self.enabled += 1;
                    let may = of_one.may_enable(&self.footprint(enabled));
                    assert!(may, "{} makes {} possible:\n{text}", self.name(one), self.name(enabled));
                }
            }
        }
    }
}

/// Examines the first states of a model. Returns the number of pairs of steps that did not conflict, and of
/// steps that were enabled.
fn watch(system: &System, text: &str) -> (usize, usize) {
    let (interpreter, footprints) = (Interpreter::new(system), Footprints::new(system));
    let mut watcher = Watcher { interpreter: &interpreter, footprints: &footprints, apart: 0, enabled: 0 };
    let (mut known, mut waiting) = (HashSet::new(), VecDeque::new());
    interpreter.initial_states(&mut |state| waiting.push_back(state.to_vec()));
    while let Some(state) = waiting.pop_front() {
        if known.len() == MOST_STATES || !known.insert(state.clone()) {
            continue;
        }
        if !interpreter.is_transient(&state) {
            watcher.look(&state, text);
        }
        for step in possible(&interpreter, &state) {
            let mut next = state.clone();
            if !interpreter.fire(step, &mut next).is_broken() {
                waiting.push_back(next);
            }
        }
    }
    (watcher.apart, watcher.enabled)
}

/// The specification of footprints: steps that do not conflict commute, and a disabled step is enabled only
/// by a write to an object that it waits for.
fn check(models: impl Iterator<Item = (Option<ModelSource>, String)>, shares: bool) {
    let (mut apart, mut enabled) = (0, 0);
    for (model, text) in models {
        let Some(model) = model else { continue };
        let (more, woken) = watch(&model.system, &text);
        (apart, enabled) = (apart + more, enabled + woken);
    }
    // If processes share only rendezvous channels, only a partner can enable a step.
    assert!(apart > 5_000 && (enabled > 500 || !shares), "{apart}, {enabled}");
}

#[test]
fn footprints_of_promela_are_true() {
    check(
        (0..MODELS).map(generate).filter(|program| program.flaw.is_none()).map(|program| {
            let text = program.to_string();
            (promela::load_text("model.pml", &text, &mut Sources::default(), &mut Vec::new()), text)
        }),
        true,
    );
}

#[test]
fn footprints_of_esml_are_true() {
    check(
        (0..MODELS).map(|seed| {
            let text = random_esml::text(&random_esml::generate(&mut Rng::new(seed)));
            let (mut sources, mut problems) = (Sources::default(), Vec::new());
            (esml::load_text("model.esml", &text, &Options::default(), &mut sources, &mut problems), text)
        }),
        false,
    );
}

#[test]
fn footprints_of_bir_are_true() {
    check(
        (0..MODELS).map(|seed| {
            let text = random_bir::text(&random_bir::generate(&mut Rng::new(seed)));
            let (mut sources, mut problems) = (Sources::default(), Vec::new());
            (bir::load_text("model.bir", &text, &Options::default(), &mut sources, &mut problems), text)
        }),
        true,
    );
}

/// Every element of the arrays is reset separately. Comparing a footprint with so many objects with others
/// must not take seconds.
#[test]
fn footprints_of_large_arrays_are_small() {
    let text = "typedef M { byte a, b, c, d, e, f }
        M s[255], r[255];
        byte n;
        active proctype A() { byte i;
            do :: atomic { for (i : 1 .. n) { if :: s[i].a == r[i].a -> goto out :: else fi } } od;
            out: skip }
        active proctype B() { n = 2 }";
    let model = promela::load_text("arrays.pml", text, &mut Sources::default(), &mut Vec::new()).expect("a model");
    let system = entail_ir::passes::optimised(&model.system, entail_ir::Passes::ALL);
    let most = system.edges.iter().map(|edge| edge.forgets.len()).max();
    assert!(most > Some(1000), "{most:?} places are forgotten at once");
    let footprints = Footprints::new(&system);
    for id in (0..system.edges.len() as u32).map(entail_ir::EdgeId) {
        let Footprint { waits, reads, writes } = footprints.of(id);
        assert!(waits.len() + reads.len() + writes.len() < 100, "{id:?}");
    }
}
