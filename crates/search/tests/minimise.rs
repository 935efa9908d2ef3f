//! Minimised counterexamples lead to the same error.

use entail_model::{Concurrent, Deadline, Fault, FaultKind, Fired, Marks, Model, State, StateBuf};
use entail_search::{Counterexample, EFFORT, ErrorKind, context_switches, minimised};
use entail_testkit::rng::Rng;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Each process counts to its limit. A dependent process waits until the previous one has come as far.
struct Counters {
    limits: Vec<u8>,
    needs_another: Vec<bool>,
    /// The process and the number that it must not reach.
    forbidden: Option<(usize, u8)>,
}

const FAULT: Fault = Fault { kind: FaultKind::Assertion, place: 0, times: 1 };

impl Model for Counters {
    type Step = usize;
    type Scratch = ();

    fn initial_states(&self, each: &mut dyn FnMut(&State)) {
        each(&vec![0; self.limits.len()]);
    }

    fn enabled(&self, state: &State, steps: &mut Vec<usize>) {
        let may = |process: &usize| {
            let waits = self.needs_another[*process] && state[*process - 1] <= state[*process];
            state[*process] < self.limits[*process] && !waits
        };
        steps.extend((0..self.limits.len()).filter(may));
    }

    fn fire(&self, step: usize, state: &mut StateBuf) -> Fired {
        state[step] += 1;
        if self.forbidden == Some((step, state[step])) { Fired::Failed(FAULT) } else { Fired::Done }
    }

    fn marks(&self, _: &State) -> Marks {
        Marks::default()
    }
}

impl Concurrent for Counters {
    fn processes(&self, _: &State) -> usize {
        self.limits.len()
    }

    fn owner(&self, step: usize) -> usize {
        step
    }
}

impl Counters {
    fn run(&self, error: ErrorKind, steps: Vec<usize>) -> Counterexample<usize> {
        Counterexample { error, start: vec![0; self.limits.len()], steps }
    }

    /// Whether these steps are enabled, one after the other, and only the last one has a fault, if one should.
    fn is_run(&self, run: &Counterexample<usize>) -> bool {
        let mut state = run.start.clone();
        let wrong = matches!(run.error, ErrorKind::Fault(_));
        let possible = run.steps.iter().enumerate().all(|(index, &step)| {
            let mut enabled = Vec::new();
            self.enabled(&state, &mut enabled);
            let last = index + 1 == run.steps.len();
            enabled.contains(&step) && (self.fire(step, &mut state) != Fired::Done) == (wrong && last)
        });
        let mut enabled = Vec::new();
        self.enabled(&state, &mut enabled);
        possible && (wrong || enabled.is_empty())
    }
}

#[test]
fn processes_that_have_nothing_to_do_with_it_are_left_out() {
    let model = Counters { limits: vec![9, 9, 9], needs_another: vec![false; 3], forbidden: Some((1, 3)) };
    let found = model.run(ErrorKind::Fault(FAULT), vec![0, 1, 2, 0, 1, 2, 0, 0, 1]);
    assert!(model.is_run(&found));
    assert_eq!(minimised(&model, &found, EFFORT, Deadline::NEVER).steps, [1, 1, 1]);
}

#[test]
fn what_others_need_is_kept() {
    let model =
        Counters { limits: vec![9, 9, 9], needs_another: vec![false, true, false], forbidden: Some((1, 2)) };
    let found = model.run(ErrorKind::Fault(FAULT), vec![2, 0, 1, 2, 0, 0, 1]);
    assert_eq!(minimised(&model, &found, EFFORT, Deadline::NEVER).steps, [0, 0, 1, 1]);
}

#[test]
fn processes_take_turns_less_often() {
    let model = Counters { limits: vec![3, 3], needs_another: vec![false; 2], forbidden: None };
    let found = model.run(ErrorKind::InvalidEnd, vec![0, 1, 0, 1, 0, 1]);
    assert_eq!(minimised(&model, &found, EFFORT, Deadline::NEVER).steps, [0, 0, 0, 1, 1, 1]);
}

#[test]
fn whatever_is_left_leads_to_the_error() {
    let mut rng = Rng::new(7);
    for _ in 0..500 {
        let processes = 2 + rng.below(3);
        let model = Counters {
            limits: (0..processes).map(|_| 1 + rng.below(4) as u8).collect(),
            needs_another: (0..processes).map(|process| process > 0 && rng.chance(0.5)).collect(),
            forbidden: rng.chance(0.5).then(|| (rng.below(processes), 1 + rng.below(4) as u8)),
        };
        let mut state = vec![0; processes];
        let (mut steps, mut error) = (Vec::new(), ErrorKind::InvalidEnd);
        loop {
            let mut enabled = Vec::new();
            model.enabled(&state, &mut enabled);
            if enabled.is_empty() || error != ErrorKind::InvalidEnd {
                break;
            }
            let step = *rng.pick(&enabled);
            steps.push(step);
            if let Fired::Failed(fault) = model.fire(step, &mut state) {
                error = ErrorKind::Fault(fault);
            }
        }
        let found = model.run(error, steps);
        let less = minimised(&model, &found, EFFORT, Deadline::NEVER);
        assert!(model.is_run(&less), "{:?} became {:?}", found.steps, less.steps);
        assert!(less.steps.len() <= found.steps.len());
        assert!(context_switches(&model, &less.steps) <= context_switches(&model, &found.steps));
    }
}

#[test]
fn without_effort_a_run_stays_as_it_is() {
    let model = Counters { limits: vec![3, 3], needs_another: vec![false; 2], forbidden: None };
    let found = model.run(ErrorKind::InvalidEnd, vec![0, 1, 0, 1, 0, 1]);
    assert_eq!(minimised(&model, &found, 0, Deadline::NEVER), found);
}

/// Two processes alternate, so there are as many candidates as steps, and each is as long as the run.
#[test]
fn a_long_run_is_left_as_it_is_when_the_time_is_up() {
    let model = Counters { limits: vec![255; 250], needs_another: vec![false; 250], forbidden: Some((249, 255)) };
    let steps: Vec<usize> = (0..255).flat_map(|_| 0..250).collect();
    let found = model.run(ErrorKind::Fault(FAULT), steps);
    let stop = AtomicBool::new(false);
    let (began, deadline) = (Instant::now(), Deadline::after(Some(Duration::from_millis(50)), &stop));
    let less = minimised(&model, &found, u64::MAX, deadline);
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert!(model.is_run(&less));
}
