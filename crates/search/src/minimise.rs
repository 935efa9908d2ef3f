//! Minimisation of counterexamples: a run to the same error with fewer steps, fewer processes and fewer context
//! switches.
//!
//! Removes steps, or moves them forward, as long as the rest is a run to that error. The result is a local minimum.

use crate::{Counterexample, ErrorKind};
use entail_model::{Concurrent, Deadline, Fired, StateBuf};

/// The maximal number of steps to try.
pub const EFFORT: u64 = 2_000_000;

/// Copying this many steps takes as long as trying one.
const COPIES: usize = 64;

/// The clock is read after this many tries, a power of two.
const BETWEEN_LOOKS: u64 = 64;

/// A smaller run, as far as effort and time permit. An infinite run is returned unchanged.
pub fn minimised<M: Concurrent>(
    model: &M,
    found: &Counterexample<M::Step>,
    effort: u64,
    deadline: Deadline,
) -> Counterexample<M::Step> {
    let mut editor = Editor { model, found, effort, deadline, enabled: Vec::new() };
    let is_finite = !matches!(found.error, ErrorKind::Cycle { .. }) && !found.start.is_empty();
    let mut steps = found.steps.clone();
    if is_finite && editor.leads_there(&steps) {
        editor.leave_out_processes(&mut steps);
        editor.leave_out_steps(&mut steps);
        editor.straighten(&mut steps);
    }
    Counterexample { steps, ..found.clone() }
}

/// The number of context switches.
pub fn context_switches<M: Concurrent>(model: &M, steps: &[M::Step]) -> usize {
    steps.windows(2).filter(|pair| model.owner(pair[0]) != model.owner(pair[1])).count()
}

struct Editor<'a, M: Concurrent> {
    model: &'a M,
    found: &'a Counterexample<M::Step>,
    /// The number of steps that may still be tried.
    effort: u64,
    deadline: Deadline<'a>,
    enabled: Vec<M::Step>,
}

impl<M: Concurrent> Editor<'_, M> {
    /// Whether these steps are a run to the error, and to none before it.
    fn leads_there(&mut self, steps: &[M::Step]) -> bool {
        let mut state: StateBuf = self.found.start.clone();
        let Some((&last, before)) = steps.split_last() else {
            return self.found.error == ErrorKind::InvalidEnd && self.is_invalid_end(&state);
        };
        let faultless = before.iter().all(|&step| self.take(step, &mut state) == Some(Fired::Done));
        match (faultless.then(|| self.take(last, &mut state)).flatten(), self.found.error) {
            (Some(Fired::Done), ErrorKind::InvalidEnd) => self.is_invalid_end(&state),
            (Some(Fired::Failed(fault) | Fired::Broken(fault)), ErrorKind::Fault(wanted)) => fault == wanted,
            _ => false,
        }
    }

    /// Returns `None` if no effort or time is left.
    fn spend(&mut self, effort: u64) -> Option<()> {
        let left = self.effort.saturating_sub(effort);
        let is_over = left / BETWEEN_LOOKS != self.effort / BETWEEN_LOOKS && self.deadline.is_over();
        let had_some = self.effort > 0;
        self.effort = if is_over { 0 } else { left };
        had_some.then_some(())
    }

    /// Spends the effort of copying a run of so many steps; returns whether there was enough.
    fn may_try(&mut self, steps: usize) -> bool {
        self.spend((steps / COPIES) as u64).is_some()
    }

    /// Takes a step, if it is enabled and effort is left.
    fn take(&mut self, step: M::Step, state: &mut StateBuf) -> Option<Fired> {
        self.spend(1)?;
        self.enabled.clear();
        self.model.enabled(state, &mut self.enabled);
        self.enabled.contains(&step).then(|| self.model.fire(step, state))
    }

    fn is_invalid_end(&mut self, state: &StateBuf) -> bool {
        self.enabled.clear();
        self.model.enabled(state, &mut self.enabled);
        self.enabled.is_empty() && !self.model.is_transient(state) && !self.model.marks(state).valid_end
    }

    /// Removes all steps of a process, or all from some step on.
    fn leave_out_processes(&mut self, steps: &mut Vec<M::Step>) {
        let mut owners: Vec<usize> = steps.iter().map(|&step| self.model.owner(step)).collect();
        owners.sort_unstable();
        owners.dedup();
        for owner in owners {
            let own: Vec<usize> =
                (0..steps.len()).filter(|&index| self.model.owner(steps[index]) == owner).collect();
            for &first in &own {
                if !self.may_try(steps.len()) {
                    return;
                }
                let is_left = |&(index, step): &(usize, M::Step)| index < first || self.model.owner(step) != owner;
                let rest: Vec<M::Step> =
                    steps.iter().copied().enumerate().filter(is_left).map(|(_, step)| step).collect();
                if self.leads_there(&rest) {
                    *steps = rest;
                    break;
                }
            }
        }
    }

    /// Removes consecutive steps: many at first, then fewer.
    fn leave_out_steps(&mut self, steps: &mut Vec<M::Step>) {
        let mut size = steps.len() / 2;
        while size > 0 {
            let mut first = 0;
            while first + size <= steps.len() && self.may_try(steps.len()) {
                let rest = [&steps[..first], &steps[first + size..]].concat();
                if self.leads_there(&rest) {
                    *steps = rest;
                } else {
                    first += size;
                }
            }
            size /= 2;
        }
    }

    /// Moves steps of a process forward to its previous step, which saves context switches.
    fn straighten(&mut self, steps: &mut [M::Step]) {
        for index in 1..steps.len() {
            let owner = self.model.owner(steps[index - 1]);
            if self.model.owner(steps[index]) == owner {
                continue;
            }
            if !self.may_try(steps.len()) {
                return;
            }
            let next = (index..steps.len()).find(|&later| self.model.owner(steps[later]) == owner);
            let Some(next) = next else { continue };
            let before = context_switches(self.model, steps);
            steps[index..=next].rotate_right(1);
            if context_switches(self.model, steps) > before || !self.leads_there(steps) {
                steps[index..=next].rotate_left(1);
            }
        }
    }
}
