//! Ctrl-C: the first interrupts the search, which still reports its result; the second ends the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const INTERRUPTED: i32 = 130;

/// A flag that Ctrl-C sets.
pub fn flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&flag);
    // Without a handler, Ctrl-C ends the program immediately.
    let _ = ctrlc::set_handler(move || {
        if set.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED);
        }
    });
    flag
}
