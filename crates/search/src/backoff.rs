//! Backoff for the fast path.

/// Predicts whether the fast path can expand the next states. A failed attempt wastes an expansion.
#[derive(Clone, Copy, Default)]
pub(crate) struct FastPathBackoff {
    /// The number of states to skip before the next attempt.
    pub rest: u32,
    /// The number of states skipped after the last failed attempt.
    pub pause: u32,
}

impl FastPathBackoff {
    const LONGEST: u32 = 64;

    /// The fast path is never tried.
    pub const CERTAIN: FastPathBackoff = FastPathBackoff { rest: u32::MAX, pause: 0 };

    pub fn is_worth_a_try(&mut self) -> bool {
        let rests = self.rest > 0;
        self.rest -= u32::from(rests && self.rest != Self::CERTAIN.rest);
        !rests
    }

    /// Records how many states one attempt expanded. If it expanded none, the pause grows.
    pub fn learn(&mut self, expanded: usize) {
        self.pause = if expanded == 0 { (2 * self.pause + 1).min(Self::LONGEST) } else { 0 };
        self.rest = self.pause;
    }
}
