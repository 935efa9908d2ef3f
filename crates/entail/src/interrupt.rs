//! Ctrl-C: the first ends the search in good order, the second ends the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const INTERRUPTED: i32 = 130;

/// A flag that is set when the person at the keyboard has waited long enough.
pub fn flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&flag);
    // Without a handler Ctrl-C still ends the program, if less politely.
    let _ = ctrlc::set_handler(move || {
        if set.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED);
        }
    });
    flag
}
