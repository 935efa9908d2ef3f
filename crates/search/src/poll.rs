//! When a search checks its limits and reports progress.

use entail_disk::snapshot;

/// Reading the clock is slow and calling the observer slower, so neither happens at every step. The first check is at
/// the first step, so that a search that is interrupted before its start does not start.
#[derive(Default)]
pub(crate) struct PollTimer {
    steps: u64,
}

snapshot!(PollTimer { steps });

pub(crate) enum Poll {
    Skip,
    Limits,
    Progress,
}

impl PollTimer {
    const LOOK: u64 = 1 << 10;
    const TELL: u64 = 1 << 17;

    #[inline]
    pub fn poll(&mut self) -> Poll {
        let step = self.steps;
        self.steps += 1;
        if !step.is_multiple_of(Self::LOOK) {
            Poll::Skip
        } else if step == 0 || !step.is_multiple_of(Self::TELL) {
            Poll::Limits
        } else {
            Poll::Progress
        }
    }
}
