//! Random CTL formulas over random Promela models: verdicts are compared with the definition, and all evidence with
//! the complete graph, which the interpreter builds.

use super::{Because, Evidence, Run};
use crate::config::{Backend, Config};
use crate::coverage::Coverage;
use crate::plan::{Goal, Plan};
use crate::progress::Watch;
use crate::property::forbidden;
use crate::report::Searched;
use entail_front::source::Sources;
use entail_front::{Meaning, ModelSource, Specification, promela};
use entail_ir::interpret::Step;
use entail_ir::{Interpreter, System};
use entail_model::Model;
use entail_search::{Checks, Errors};
use entail_temporal::Fairness;
use entail_temporal::ctl::{Asked, Ctl, Path, Quantifier};
use entail_testkit::ctl::{self, Kripke, Truth};
use entail_testkit::promela::generate_subject;
use entail_testkit::rng::Rng;
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

/// Larger graphs are skipped.
const MOST_STATES: usize = 400;

/// A random model with formulas; `None` if it is not usable.
fn model(seed: u64) -> Option<(ModelSource, String)> {
    let (program, variables) = generate_subject(seed)?;
    let mut rng = Rng::new(seed);
    let relation =
        |rng: &mut Rng| format!("{} {} {}", rng.pick(&variables), rng.pick(&["==", "!=", "<"]), rng.below(3));
    let names: Vec<_> = (0..3).map(|_| relation(&mut rng)).collect();
    let operators = 1 + rng.below(6);
    let formula = ctl::formula(&mut rng, operators, 3);
    let (p, q) = (&names[0], &names[1]);
    // Some runs of every third model end in a fault.
    let fault = "byte faulty[1], beyond = 1;\nactive proctype Faulty() { (";
    let faulty =
        if seed.is_multiple_of(3) { format!("{fault}{p}) -> faulty[beyond] = 1 }}\n") } else { String::new() };
    let text = format!(
        "{program}\n{faulty}ctl any {{ {} }}\nctl ag {{ AG ({p}) }}\nctl af {{ AF ({p}) }}\nctl au {{ A(({p}) U ({q})) }}\n\
         ctl response {{ AG (({p}) -> AF ({q})) }}\n\
         ltl g {{ [] ({p}) }}\nltl f {{ <> ({p}) }}\nltl u {{ ({p}) U ({q}) }}\nltl r {{ [] (({p}) -> <> ({q})) }}\n",
        formula.print(&names)
    );
    let mut problems = Vec::new();
    let model = promela::load_text("model.pml", &text, &mut Sources::default(), &mut problems)?;
    // `!!` is no double negation in Promela, so some random formulas cannot be read.
    let is_readable = model.properties.iter().all(|property| property.meaning.is_some());
    is_readable.then_some((model, text))
}

fn plan(fairness: Fairness, backend: Backend) -> Plan {
    let checks = Checks { faults: true, assertions: false, end_states: false, errors: Errors::First };
    let plan = Plan::default();
    Plan { config: Config { backend, fair: fairness, ..plan.config }, checks, ..plan }
}

fn run(plan: &Plan, system: &System, goal: Goal) -> Searched {
    let mut watch = Watch::silent(Coverage::new(system));
    plan.run_unkept(&Interpreter::new(system), goal, &AtomicBool::new(false), &mut watch)
}

fn meaning<'m>(model: &'m ModelSource, name: &str) -> (&'m Specification, System) {
    let property = model.properties.iter().find(|property| property.name == name).expect("it was written");
    let Meaning { says, propositions, .. } = property.meaning.as_ref().expect("it can be checked");
    (says, System { propositions: propositions.clone(), ..model.in_motion() })
}

/// The truth value of a CTL formula, if it is known, with its evidence.
fn branching(plan: &Plan, model: &ModelSource, name: &str) -> (Option<bool>, Option<Evidence<Step>>) {
    let (says, system) = meaning(model, name);
    let Specification::Ctl(formula) = says else { panic!("`{name}` is not of branching time") };
    let asked = Asked::of(formula, plan.config.fair).expect("a small formula");
    let done = run(plan, &system, Goal::Ctl(formula, &asked));
    (known(&done), done.evidence)
}

fn known(done: &Searched) -> Option<bool> {
    let is_known = done.outcome.errors > 0 || done.outcome.ignored_fault.is_none();
    is_known.then_some(done.outcome.errors == 0)
}

fn linear(plan: &Plan, model: &ModelSource, name: &str) -> Option<bool> {
    let (says, system) = meaning(model, name);
    let (claim, _) = forbidden(says, Default::default()).expect("a small formula").expect("it is of linear time");
    known(&run(plan, &system, Goal::Claim(&claim)))
}

/// Validates evidence.
struct Validator<'a, 's> {
    interpreter: &'a Interpreter<'s>,
    kripke: &'a Kripke,
    fairness: Fairness,
    runs: usize,
    nested: usize,
}

impl Validator<'_, '_> {
    fn check(&mut self, evidence: &Evidence<Step>, state: usize) {
        let Evidence { formula, holds, because } = evidence;
        assert_eq!(self.holding(formula).at(state), Some(*holds), "{formula:?}");
        match (formula, because) {
            (_, Because::State) => assert!(formula.is_of_state()),
            (Ctl::Runs(quantifier, _), Because::NoRun) => {
                assert_eq!(*holds, *quantifier == Quantifier::All);
            }
            (Ctl::Runs(quantifier, path), Because::Run(run)) => {
                assert_eq!(*holds, *quantifier == Quantifier::Some);
                self.check_run(path, *holds, run, state);
            }
            (_, Because::Parts(parts)) => {
                parts.iter().for_each(|part| self.check(part, state));
                assert_eq!(decided(formula, parts), Some(*holds), "{formula:?}");
            }
            (_, Because::NoRun | Because::Run(_)) => panic!("{formula:?} is not about runs"),
        }
    }

    fn check_run(&mut self, path: &Path, holds: bool, run: &Run<Step>, start: usize) {
        let Run { steps, cycle_start, stations, .. } = run;
        let mut state = self.kripke.states[start].clone();
        // The states after each step, and the processes that move before them.
        let (mut stable, mut movers) = (vec![(0, start)], BTreeSet::new());
        for (after, &step) in (1..).zip(steps) {
            let mut enabled = Vec::new();
            self.interpreter.enabled(&state, &mut enabled);
            assert!(enabled.contains(&step) && !self.interpreter.fire(step, &mut state).is_broken());
            if cycle_start.is_some_and(|begins| after > begins) {
                movers.insert(step.process());
            }
            if !self.interpreter.is_transient(&state) {
                stable.push((after, self.number(&state)));
            }
        }
        let (last, before) = stable.split_last().expect("there is the first one");
        assert_eq!(last.0, steps.len(), "the last state is a stable one");
        let among = |states: &[(usize, usize)], formula: &Ctl| {
            let so = self.holding(formula);
            states.iter().all(|(_, state)| so.at(*state) == Some(holds))
        };
        let ends = std::slice::from_ref(last);
        let is_so = match (path, cycle_start) {
            (Path::Next(operand), None) => before.len() <= 1 && among(ends, operand),
            (Path::Always(operand), None) => !holds && among(ends, operand),
            (Path::Eventually(operand), None) => holds && among(ends, operand),
            (Path::Always(operand), Some(_)) => holds && among(&stable, operand),
            (Path::Eventually(operand), Some(_)) => !holds && among(&stable, operand),
            (Path::Until(left, right) | Path::WeakUntil(left, right), None) if holds => {
                among(before, left) && among(ends, right)
            }
            (Path::Until(left, right) | Path::WeakUntil(left, right), None) => {
                among(&stable, right) && among(ends, left)
            }
            (Path::Release(left, right), None) if holds => among(&stable, right) && among(ends, left),
            (Path::Release(left, right), None) => among(before, left) && among(ends, right),
            (Path::Until(_, right), Some(_)) => !holds && among(&stable, right),
            (Path::WeakUntil(left, _), Some(_)) => holds && among(&stable, left),
            (Path::Release(_, right), Some(_)) => holds && among(&stable, right),
            (Path::Next(_), Some(_)) => false,
        };
        assert!(is_so, "{path:?} {holds}: {run:?}");
        match *cycle_start {
            None => {
                let goes_on = self.holding(&Ctl::some(Path::Always(Ctl::Const(true)))).at(last.1);
                assert_ne!(goes_on, Some(false), "{run:?}");
            }
            Some(begins) => {
                let from =
                    stable.iter().position(|(after, _)| *after == begins).expect("it begins where it is stable");
                assert_eq!(stable[from].1, last.1, "it goes round");
                self.check_round(&stable[from..], &movers, path, holds);
            }
        }
        for (after, part) in stations {
            let at = stable.iter().find(|(number, _)| number == after).expect("a station is stable");
            self.nested += 1;
            self.check(part, at.1);
        }
        self.runs += 1;
    }

    /// The cycle is fair. Under component fairness, so is the whole component, and the formula holds in all of it.
    fn check_round(&self, round: &[(usize, usize)], movers: &BTreeSet<usize>, path: &Path, holds: bool) {
        if self.fairness == Fairness::None {
            return;
        }
        let places = || round.iter().map(|(_, state)| &self.kripke.places[*state]);
        let most = places().map(|place| place.processes).max().unwrap_or(0);
        for process in (0..most).filter(|process| !movers.contains(process)) {
            let excused = match self.fairness {
                Fairness::None => true,
                Fairness::Weak => places().any(|place| !place.enabled.contains(&process)),
                Fairness::Strong | Fairness::Component => places().all(|place| !place.enabled.contains(&process)),
                Fairness::Impartial => places().any(|place| place.processes <= process),
            };
            assert!(excused, "process {process} is neglected");
        }
        if self.fairness != Fairness::Component {
            return;
        }
        let components = self.kripke.components(&self.kripke.all());
        let whole = components.iter().find(|part| part.contains(&round[0].1)).expect("each state is in one");
        assert!(self.kripke.is_fair(whole, self.fairness));
        let (Path::Always(kept) | Path::Eventually(kept) | Path::Release(_, kept)) = path else { return };
        let so = self.holding(kept);
        assert!(whole.iter().all(|state| so.at(*state) == Some(holds)));
    }

    fn holding(&self, formula: &Ctl) -> Truth {
        self.kripke.holding(formula, self.fairness)
    }

    fn number(&self, state: &[u8]) -> usize {
        self.kripke.states.iter().position(|known| known == state).expect("it can be reached")
    }
}

/// The truth value of a formula, as far as its parts determine it.
fn decided(formula: &Ctl, parts: &[Evidence<Step>]) -> Option<bool> {
    let part = |operand: &Ctl| parts.iter().find(|part| part.formula == *operand).map(|part| part.holds);
    match formula {
        Ctl::Const(_) | Ctl::Proposition(_) | Ctl::Runs(..) => None,
        Ctl::Not(operand) => part(operand).map(|so| !so),
        Ctl::And(left, right) => match (part(left), part(right)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (left, right) => left.and(right),
        },
        Ctl::Or(left, right) => match (part(left), part(right)) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (left, right) => left.and(right),
        },
        Ctl::Implies(left, right) => match (part(left), part(right)) {
            (Some(false), _) | (_, Some(true)) => Some(true),
            (left, right) => left.and(right),
        },
        Ctl::Equivalent(left, right) => part(left).zip(part(right)).map(|(left, right)| left == right),
    }
}

#[test]
fn answers_and_evidence_are_right() {
    let (mut models, mut yes, mut runs, mut nested, mut unknown, mut despite) = (0, 0, 0, 0, 0, 0);
    for seed in 0..400 {
        let Some((model, text)) = model(seed) else { continue };
        let (says, system) = meaning(&model, "any");
        let Specification::Ctl(formula) = says else { panic!("it is of branching time") };
        let interpreter = Interpreter::new(&system);
        // Operators inside `<->` count twice.
        if Fairness::ALL.iter().any(|&fairness| Asked::of(formula, fairness).is_none()) {
            continue;
        }
        let Some(kripke) = Kripke::of(&interpreter, MOST_STATES) else { continue };
        let backend = if seed % 2 == 0 { Backend::Jit } else { Backend::Interpret };
        for fairness in Fairness::ALL {
            let (holds, evidence) = branching(&plan(fairness, backend), &model, "any");
            let expected = kripke.holding(formula, fairness).at(0);
            assert_eq!(holds, expected, "seed {seed}, {fairness:?}:\n{text}");
            despite += usize::from(kripke.has_faults() && holds.is_some());
            if holds.is_none() {
                unknown += 1;
                continue;
            }
            let evidence = evidence.unwrap_or_else(|| panic!("seed {seed}: no evidence:\n{text}"));
            let mut validator =
                Validator { interpreter: &interpreter, kripke: &kripke, fairness, runs: 0, nested: 0 };
            validator.check(&evidence, 0);
            (runs, nested) = (runs + validator.runs, nested + validator.nested);
            yes += usize::from(holds == Some(true));
        }
        models += 1;
    }
    assert!(models > 100 && runs > 200 && nested > 50, "{models}, {yes}, {runs}, {nested}");
    assert!(unknown > 10 && despite > 10, "{unknown}, {despite}");
}

#[test]
fn linear_and_branching_time_agree_on_what_all_fair_runs_do() {
    let (mut models, mut yes, mut differ) = (0, 0, 0);
    for seed in 0..250 {
        let Some((model, text)) = model(seed) else { continue };
        let (_, system) = meaning(&model, "ag");
        let Some(kripke) = Kripke::of(&Interpreter::new(&system), MOST_STATES) else { continue };
        for (of_branching, of_linear) in [("ag", "g"), ("af", "f"), ("au", "u"), ("response", "r")] {
            let answers = [Fairness::None, Fairness::Weak, Fairness::Strong, Fairness::Impartial].map(|fairness| {
                let plan = plan(fairness, Backend::Jit);
                let (holds, _) = branching(&plan, &model, of_branching);
                let of_linear = linear(&plan, &model, of_linear);
                // With faults, one of them may be more conclusive.
                let agree = match (holds, of_linear) {
                    (Some(holds), Some(of_linear)) => holds == of_linear,
                    (None, _) | (_, None) => kripke.has_faults(),
                };
                assert!(agree, "seed {seed}, {of_branching}, {fairness:?}: {holds:?}, {of_linear:?}:\n{text}");
                holds
            });
            yes += answers.iter().filter(|holds| **holds == Some(true)).count();
            differ += usize::from(answers != [answers[0]; 4]);
        }
        models += 1;
    }
    assert!(models > 60 && yes > models && yes < 15 * models && differ > 10, "{models}, {yes}, {differ}");
}
