//! Deadlines for long computations.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// When to give up: at some time, or on an interrupt. Long computations check it periodically.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deadline<'a> {
    stop: Option<&'a AtomicBool>,
    at: Option<Instant>,
}

impl<'a> Deadline<'a> {
    /// No deadline.
    pub const NEVER: Deadline<'static> = Deadline { stop: None, at: None };

    /// The deadline after `time`, if there is a limit, or when `stop` is set.
    pub fn after(time: Option<Duration>, stop: &'a AtomicBool) -> Deadline<'a> {
        // A time that `Instant` cannot represent is never reached.
        Deadline { stop: Some(stop), at: time.and_then(|time| Instant::now().checked_add(time)) }
    }

    /// Whether the deadline has passed.
    pub fn is_over(self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) || self.at.is_some_and(|at| Instant::now() >= at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_ends_at_its_time_or_on_an_interrupt() {
        let stop = AtomicBool::new(false);
        assert!(!Deadline::NEVER.is_over());
        assert!(!Deadline::after(None, &stop).is_over());
        assert!(!Deadline::after(Some(Duration::MAX), &stop).is_over());
        assert!(Deadline::after(Some(Duration::ZERO), &stop).is_over());
        stop.store(true, Ordering::Relaxed);
        assert!(Deadline::after(None, &stop).is_over());
    }
}
