//! Which states a worker has expanded.

use entail_disk::snapshot;

/// The states that a worker has expanded, which it or another worker found. Expansions are numbered from 1.
#[derive(Default)]
pub(crate) struct Expansions {
    series: Vec<Series>,
}

/// Expansions of states with consecutive numbers.
#[derive(Clone, Copy)]
struct Series {
    /// The number of the first expansion.
    first: u64,
    /// The worker that found the states.
    worker: u32,
    /// The number of the first state.
    state: u64,
}

snapshot!(Expansions { series });
snapshot!(Series { first, worker, state });

impl Expansions {
    /// From this expansion on, the worker expands the states of another worker, from this one on.
    pub fn note(&mut self, expansion: u64, worker: u32, state: u64) {
        let goes_on = |last: &Series| last.worker == worker && last.state + (expansion - last.first) == state;
        if !self.series.last().is_some_and(goes_on) {
            self.series.push(Series { first: expansion, worker, state });
        }
    }

    /// The worker that found a state, and its number there; `None` for the root of all initial states.
    pub fn state(&self, expansion: u64) -> Option<(u32, u64)> {
        let index = self.series.partition_point(|series| series.first <= expansion).checked_sub(1)?;
        let Series { first, worker, state } = self.series[index];
        Some((worker, state + (expansion - first)))
    }
}
