//! What all searches do with a step: count it, check it, look it up, and look at the clock.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::time::Instant;

use entail_model::{Model, Observer, Progress, State, StateBuf, Store, Visit};

use crate::descent::{Descent, Led};
use crate::{Checks, Counterexample, End, ErrorKind, Errors, Limit, Limits, Outcome, Stats};

/// A search under way. Its methods break off with the reason why the search is to end.
pub(crate) struct Run<'a, M: Model, S, O: ?Sized> {
    pub model: &'a M,
    pub store: &'a mut S,
    checks: &'a Checks,
    limits: &'a Limits<'a>,
    observer: &'a mut O,
    pub stats: Stats,
    /// Whether something was left unexplored because it lies too deep.
    cut: bool,
    errors: u64,
    first: Option<Found<M::Step>>,
    started: Instant,
    pulse: Pulse,
}

/// The first error.
pub(crate) struct Found<S> {
    /// Starts where the descent started that met it.
    pub counterexample: Counterexample<S>,
    /// The depth of the search at that time.
    pub depth: u64,
}

/// Where the search may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ahead {
    /// The step led nowhere.
    Nothing,
    /// To a stable state that has been visited before.
    Known,
    Transient,
    New,
}

impl<'a, M: Model, S: Store, O: Observer<M::Step> + ?Sized> Run<'a, M, S, O> {
    pub fn new(
        model: &'a M,
        store: &'a mut S,
        checks: &'a Checks,
        limits: &'a Limits<'a>,
        observer: &'a mut O,
    ) -> Self {
        Run {
            model,
            store,
            checks,
            limits,
            observer,
            stats: Stats::default(),
            cut: false,
            errors: 0,
            first: None,
            started: Instant::now(),
            pulse: Pulse::default(),
        }
    }

    /// Visits the initial states, each once, and returns them. They are all known before the first step, so that
    /// what counts as matched does not depend on the order of the search.
    pub fn visit_initial_states(&mut self) -> ControlFlow<End, Vec<StateBuf>> {
        let mut states = Vec::new();
        self.model.initial_states(&mut |state| states.push(state.to_vec()));
        let mut distinct = Vec::new();
        for state in states {
            if self.visit(&state)? == Ahead::New {
                distinct.push(state);
            }
        }
        ControlFlow::Continue(distinct)
    }

    /// Takes the next step of `descent`; `None` when it is at its end.
    #[inline]
    pub fn step(&mut self, descent: &mut Descent<M>) -> ControlFlow<End, Option<Ahead>> {
        self.keep_watch()?;
        let Some(taken) = descent.advance() else { return ControlFlow::Continue(None) };
        self.observer.stepped(taken.step);
        if let Some(fault) = taken.fault.filter(|fault| self.checks.count(fault)) {
            self.error(ErrorKind::Fault(fault), fault.times, descent)?;
        }
        let ahead = match taken.led {
            Led::Nowhere => Ahead::Nothing,
            Led::Transient => Ahead::Transient,
            Led::Stable => {
                let ahead = self.visit(descent.reached())?;
                self.stats.matched += u64::from(ahead == Ahead::Known);
                ahead
            }
        };
        ControlFlow::Continue(Some(ahead))
    }

    #[inline]
    fn visit(&mut self, state: &State) -> ControlFlow<End, Ahead> {
        match self.store.visit(state) {
            Visit::New => {
                self.stats.stored += 1;
                ControlFlow::Continue(Ahead::New)
            }
            Visit::Seen => ControlFlow::Continue(Ahead::Known),
            Visit::Full => ControlFlow::Break(End::Limit(Limit::Memory)),
        }
    }

    /// Whether states at this depth, which has been reached, are to be expanded.
    #[inline]
    pub fn may_expand(&mut self, depth: u64) -> bool {
        self.stats.depth = self.stats.depth.max(depth);
        let may = self.limits.depth.is_none_or(|limit| depth < limit);
        self.cut |= !may;
        may
    }

    /// Checks whether the run may end in the stable state just entered, if it does.
    #[inline]
    pub fn check_end(&mut self, descent: &Descent<M>) -> ControlFlow<End> {
        if descent.is_stuck() && self.checks.end_states && !self.model.marks(descent.reached()).valid_end {
            self.error(ErrorKind::InvalidEnd, 1, descent)?;
        }
        ControlFlow::Continue(())
    }

    /// What has come of it, and the first error apart, whose path the search may have to complete.
    pub fn finish(self, explored: ControlFlow<End>) -> (Outcome<M::Step>, Option<Found<M::Step>>) {
        let end = match explored {
            ControlFlow::Break(end) => end,
            ControlFlow::Continue(()) if self.cut => End::Limit(Limit::Depth),
            ControlFlow::Continue(()) => End::Complete,
        };
        (Outcome { end, stats: self.stats, errors: self.errors, counterexample: None }, self.first)
    }

    #[cold]
    fn error(&mut self, error: ErrorKind, times: u32, descent: &Descent<M>) -> ControlFlow<End> {
        self.errors += u64::from(times);
        let depth = self.stats.depth;
        self.first.get_or_insert_with(|| {
            let (start, steps) = (descent.origin().to_vec(), descent.path().to_vec());
            Found { counterexample: Counterexample { error, start, steps }, depth }
        });
        match self.checks.errors {
            Errors::First => ControlFlow::Break(End::Error),
            Errors::All => ControlFlow::Continue(()),
        }
    }

    #[inline]
    fn keep_watch(&mut self) -> ControlFlow<End> {
        match self.pulse.beat() {
            Beat::Rest => ControlFlow::Continue(()),
            Beat::Look => self.look_at_limits(),
            Beat::Tell => {
                self.tell_progress();
                self.look_at_limits()
            }
        }
    }

    #[cold]
    fn look_at_limits(&self) -> ControlFlow<End> {
        if self.limits.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return ControlFlow::Break(End::Limit(Limit::Interrupted));
        }
        if self.limits.time.is_some_and(|time| self.started.elapsed() >= time) {
            return ControlFlow::Break(End::Limit(Limit::Time));
        }
        ControlFlow::Continue(())
    }

    #[cold]
    fn tell_progress(&mut self) {
        let Stats { stored, matched, depth, .. } = self.stats;
        self.observer.progress(Progress { stored, matched, depth, store_bytes: self.store.bytes() });
    }
}

/// Clocks are slow and observers slower: neither is asked at every step. The first look is at the first step, so
/// that a search that was stopped before it began does not begin.
#[derive(Default)]
struct Pulse {
    steps: u64,
}

enum Beat {
    Rest,
    Look,
    Tell,
}

impl Pulse {
    const LOOK: u64 = 1 << 10;
    const TELL: u64 = 1 << 17;

    #[inline]
    fn beat(&mut self) -> Beat {
        let step = self.steps;
        self.steps += 1;
        if !step.is_multiple_of(Self::LOOK) {
            Beat::Rest
        } else if step == 0 || !step.is_multiple_of(Self::TELL) {
            Beat::Look
        } else {
            Beat::Tell
        }
    }
}
