//! When a search looks at the clock, and tells how far it is.

use entail_disk::snapshot;

/// Clocks are slow and observers slower: neither is asked at every step. The first look is at the first step, so
/// that a search that was stopped before it began does not begin.
#[derive(Default)]
pub(crate) struct Pulse {
    steps: u64,
}

snapshot!(Pulse { steps });

pub(crate) enum Beat {
    Rest,
    Look,
    Tell,
}

impl Pulse {
    const LOOK: u64 = 1 << 10;
    const TELL: u64 = 1 << 17;

    #[inline]
    pub fn beat(&mut self) -> Beat {
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
