//! Whether to try what is quick.

/// Whether the next states are likely to be such that they can be expanded quickly: a state that cannot has been expanded in
/// vain.
#[derive(Clone, Copy, Default)]
pub(crate) struct FastPathBackoff {
    /// How often not to try, before the next time.
    pub rest: u32,
    /// How often that was after the last time.
    pub pause: u32,
}

impl FastPathBackoff {
    const LONGEST: u32 = 64;

    /// It is never worth a try.
    pub const CERTAIN: FastPathBackoff = FastPathBackoff { rest: u32::MAX, pause: 0 };

    pub fn is_worth_a_try(&mut self) -> bool {
        let rests = self.rest > 0;
        self.rest -= u32::from(rests && self.rest != Self::CERTAIN.rest);
        !rests
    }

    /// So many were expanded at once. If that was none, the pause grows.
    pub fn learn(&mut self, expanded: usize) {
        self.pause = if expanded == 0 { (2 * self.pause + 1).min(Self::LONGEST) } else { 0 };
        self.rest = self.pause;
    }
}
