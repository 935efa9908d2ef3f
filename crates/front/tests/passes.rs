//! Passes against the original systems, in random models: every property has the same answer.

use std::collections::{BTreeSet, HashSet, VecDeque};

use entail_front::source::Sources;
use entail_front::{ModelSource, Options, bir, esml, promela};
use entail_ir::interpret::Step;
use entail_ir::passes::optimised;
use entail_ir::verify::verify;
use entail_ir::{
    BinaryOp, EdgeId, Expr, Interpreter, LocationId, Meaning, Passes, Place, ProcessTypeId, Scalar, Shape,
    StatementId, System, Variable, text,
};
use entail_model::{Fault, FaultKind, Fired, Model, Propositional, StateBuf};
use entail_testkit::promela::generate;
use entail_testkit::rng::Rng;
use entail_testkit::{bir as random_bir, esml as random_esml};

/// Enough to detect a pass that is wrong more often than once in some hundred models.
const MODELS: u64 = 500;
const MANY_MODELS: u64 = 20_000;
/// Models with more states are skipped.
const MOST_STATES: usize = 1_500;

/// The observable behaviour of a system.
#[derive(Debug, Default, PartialEq, Eq)]
struct Answers {
    /// The edges that were taken.
    edges: BTreeSet<EdgeId>,
    /// Kind and place.
    faults: BTreeSet<(String, u32)>,
    /// The locations of the processes in states without successors, and whether these end states are valid.
    ends: BTreeSet<(bool, Vec<(ProcessTypeId, LocationId)>)>,
    /// The propositions that hold in a stable state, and those that hold in its successor, if they differ.
    changes: BTreeSet<(u64, u64)>,
    first: Option<u64>,
}

/// The states of the original and of the changed system after the same steps.
type Both = (StateBuf, StateBuf);

struct Follower<'a, 's> {
    original: &'a Interpreter<'s>,
    changed: &'a Interpreter<'s>,
    answers: Answers,
    /// Stable states of the changed system.
    stable: HashSet<StateBuf>,
}

impl Follower<'_, '_> {
    /// Takes all steps of the changed system in both systems; `None` if there are too many states.
    fn follow(mut self) -> Option<(Answers, usize)> {
        let first = (initial(self.original), initial(self.changed));
        self.answers.first = Some(self.changed.valuation(&first.1, &mut ()).holds);
        let (mut known, mut waiting) = (HashSet::from([first.clone()]), VecDeque::from([first]));
        while let Some(both) = waiting.pop_front() {
            self.stable.insert(both.1.clone());
            // From a stable state through transient states to other stable ones.
            let valuation = self.compare(&both);
            let (mut passed, mut open) = (HashSet::from([both.clone()]), vec![both]);
            while let Some(both) = open.pop() {
                for next in self.steps(&both) {
                    if self.changed.is_transient(&next.1) {
                        if passed.insert(next.clone()) {
                            self.compare(&next);
                            open.push(next);
                        }
                        continue;
                    }
                    let holds = self.changed.valuation(&next.1, &mut ()).holds;
                    if holds != valuation {
                        self.answers.changes.insert((valuation, holds));
                    }
                    if known.insert(next.clone()) {
                        waiting.push_back(next);
                    }
                }
                if passed.len() > MOST_STATES {
                    return None;
                }
            }
            if known.len() > MOST_STATES {
                return None;
            }
        }
        Some((self.answers, self.stable.len()))
    }

    /// Compares two states that the same steps lead to. Returns the propositions that hold.
    fn compare(&self, (state, changed): &Both) -> u64 {
        let valuation = self.changed.valuation(changed, &mut ());
        assert_eq!(self.original.valuation(state, &mut ()), valuation, "propositions");
        assert_eq!(self.original.marks(state), self.changed.marks(changed), "marks");
        assert!(self.changed.is_transient(changed) || !self.original.is_transient(state), "transient");
        valuation.holds
    }

    /// All steps of the changed system. A process that continues without a stop is exclusive there, while
    /// other processes could move in the original.
    fn steps(&mut self, (state, changed): &Both) -> Vec<Both> {
        let (mut possible, mut steps) = (Vec::new(), Vec::new());
        self.original.enabled(state, &mut possible);
        self.changed.enabled(changed, &mut steps);
        if self.changed.is_transient(changed) && !self.original.is_transient(state) {
            let goes_on = usize::from(changed[0]) - 1;
            possible.retain(|step| step.process() == goes_on);
        }
        assert_eq!(possible, steps, "steps");
        if steps.is_empty() {
            let places = self.changed.view(changed).processes;
            let places = places.iter().map(|process| (process.process_type, process.location)).collect();
            self.answers.ends.insert((self.changed.marks(changed).valid_end, places));
        }
        steps.into_iter().filter_map(|step| self.step(step, state, changed)).collect()
    }

    fn step(&mut self, step: Step, state: &StateBuf, changed: &StateBuf) -> Option<Both> {
        let mut next = (state.clone(), changed.clone());
        let fired = (self.original.fire(step, &mut next.0), self.changed.fire(step, &mut next.1));
        let edges = [Some(step.edge()), step.partner().map(|(_, edge)| edge)];
        self.answers.edges.extend(edges.into_iter().flatten());
        // Invariants are not checked in transient states.
        let looks_later = self.changed.is_transient(&next.1) && !self.original.is_transient(&next.0);
        let is_later = matches!(fired.0, Fired::Failed(Fault { kind: FaultKind::Invariant, .. })) && looks_later;
        assert!(fired.0 == fired.1 || is_later && fired.1 == Fired::Done, "{step:?}: {fired:?}");
        match fired.1 {
            Fired::Done => {}
            Fired::Failed(fault) | Fired::Broken(fault) => {
                self.answers.faults.insert((format!("{:?}", fault.kind), fault.place));
            }
        }
        (!fired.1.is_broken()).then_some(next)
    }
}

fn initial(interpreter: &Interpreter) -> StateBuf {
    let mut first = Vec::new();
    interpreter.initial_states(&mut |state| first = state.to_vec());
    first
}

fn follow(original: &System, changed: &System) -> Option<(Answers, usize)> {
    let (original, changed) = (&Interpreter::new(original), &Interpreter::new(changed));
    Follower { original, changed, answers: Answers::default(), stable: HashSet::new() }.follow()
}

/// Each pass alone, and all together.
fn selections() -> [(&'static str, Passes); 5] {
    let none = Passes::NONE;
    [
        ("constants", Passes { constants: true, ..none }),
        ("unread", Passes { unread: true, ..none }),
        ("forget", Passes { forget: true, ..none }),
        ("merge", Passes { merge: true, ..none }),
        ("all", Passes::ALL),
    ]
}

/// Adds propositions about some globals, in some models.
fn with_propositions(mut system: System, rng: &mut Rng) -> System {
    let number = |variable: &Variable| match &variable.shape {
        Shape::Scalar(scalar) if scalar.meaning != Meaning::Channel => Some((variable.offset, *scalar)),
        Shape::Scalar(_) | Shape::Array { .. } | Shape::Record { .. } => None,
    };
    let numbers: Vec<(u32, Scalar)> = system.globals.variables.iter().filter_map(number).collect();
    for _ in 0..if numbers.is_empty() { 0 } else { rng.below(3) } {
        let &(offset, scalar) = rng.pick(&numbers);
        let op = *rng.pick(&[BinaryOp::Eq, BinaryOp::Lt, BinaryOp::Ne]);
        let number = Expr::load(Place::global(offset, scalar));
        let condition = Expr::binary(op, number, Expr::Const(rng.below(4) as i32));
        system.propositions.push((condition, StatementId(0)));
    }
    system
}

/// Compares a system with the result of each selection of passes. Returns the numbers of stable states before
/// and after them; `None` if there are too many.
fn compare(system: &System, model_text: &str) -> Option<[(usize, usize); 5]> {
    let (expected, before) = follow(system, system)?;
    Some(selections().map(|(name, passes)| {
        let changed = optimised(system, passes);
        assert_eq!(verify(&changed), Ok(()), "{name} of\n{model_text}");
        let found = std::panic::catch_unwind(|| follow(system, &changed));
        let told = || format!("{name} of\n{model_text}\n{}\nis\n{}", text::print(system), text::print(&changed));
        let Ok(found) = found else { panic!("{}", told()) };
        // Systems with very many transient states are skipped.
        let Some((found, after)) = found else { return (0, 0) };
        assert!(found == expected, "{expected:?}\n{found:?}\n{}", told());
        (before, after)
    }))
}

/// All answers are the same with every selection of passes, and there are fewer states.
fn check(models: impl Iterator<Item = (Option<ModelSource>, String)>) {
    let (mut rng, mut compared, mut totals) = (Rng::new(7), 0, [(0, 0); 5]);
    for (model, model_text) in models {
        let Some(model) = model else { continue };
        let system = with_propositions(model.system, &mut rng);
        let Some(counts) = compare(&system, &model_text) else { continue };
        compared += 1;
        for (total, (before, after)) in totals.iter_mut().zip(counts) {
            *total = (total.0 + before, total.1 + after);
        }
    }
    let names = selections().map(|(name, _)| name);
    println!("{compared} models, states before and behind {names:?}: {totals:?}");
    assert!(compared > 100, "{compared}");
    let is_less = |(before, after): &(usize, usize)| after < before;
    assert!(totals[4].1 < totals[4].0 && totals.iter().filter(|total| is_less(total)).count() > 1, "{totals:?}");
}

fn random_promela(seeds: std::ops::Range<u64>) -> impl Iterator<Item = (Option<ModelSource>, String)> {
    seeds.map(generate).filter(|program| program.flaw.is_none()).map(|program| {
        let text = program.to_string();
        (promela::load_text("model.pml", &text, &mut Sources::default(), &mut Vec::new()), text)
    })
}

fn random_esml(seeds: std::ops::Range<u64>) -> impl Iterator<Item = (Option<ModelSource>, String)> {
    seeds.map(|seed| {
        let text = random_esml::text(&random_esml::generate(&mut Rng::new(seed)));
        let (mut sources, mut problems) = (Sources::default(), Vec::new());
        (esml::load_text("model.esml", &text, &Options::default(), &mut sources, &mut problems), text)
    })
}

fn random_bir(seeds: std::ops::Range<u64>) -> impl Iterator<Item = (Option<ModelSource>, String)> {
    seeds.map(|seed| {
        let text = random_bir::text(&random_bir::generate(&mut Rng::new(seed)));
        let (mut sources, mut problems) = (Sources::default(), Vec::new());
        (bir::load_text("model.bir", &text, &Options::default(), &mut sources, &mut problems), text)
    })
}

#[test]
fn nothing_asked_of_promela_sees_a_pass() {
    check(random_promela(0..MODELS));
}

#[test]
fn nothing_asked_of_esml_sees_a_pass() {
    check(random_esml(0..MODELS));
}

#[test]
fn nothing_asked_of_bir_sees_a_pass() {
    check(random_bir(0..MODELS));
}

/// A regression test.
#[test]
fn nothing_asked_of_these_sees_a_pass() {
    for text in [
        // While `p` is exclusive, one of the senders moves.
        "byte x; chan rv = [0] of { byte };
         active proctype p() { byte i; do :: rv?_ -> i = 1 od }
         active [2] proctype s() { if :: rv!1 :: else -> x = 1 fi }",
        // A poll reads the message, although no process receives it.
        "byte x; chan q = [1] of { byte };
         active proctype p() { q!2; if :: q?[2] -> x = 1 :: else fi }",
        // Before `p` ends the run, other processes continue.
        "byte x; chan q = [1] of { byte };
         active proctype p() { byte i = 3; byte a[2]; q!1; a[i] = 1 }
         active proctype r() { q?_; x = 1; x = 2 }",
    ] {
        let model = promela::load_text("model.pml", text, &mut Sources::default(), &mut Vec::new());
        compare(&model.expect("a model").system, text);
    }
}

#[test]
#[ignore = "takes long"]
fn nothing_asked_of_much_promela_sees_a_pass() {
    check(random_promela(0..MANY_MODELS));
}

#[test]
#[ignore = "takes long"]
fn nothing_asked_of_much_esml_sees_a_pass() {
    check(random_esml(0..MANY_MODELS));
}

#[test]
#[ignore = "takes long"]
fn nothing_asked_of_much_bir_sees_a_pass() {
    check(random_bir(0..MANY_MODELS));
}
