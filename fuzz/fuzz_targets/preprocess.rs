//! The preprocessor terminates on any text, without panics and with bounded memory.

#![no_main]

use entail_front::promela::preprocess::{Options, preprocess_text};
use entail_front::source::Sources;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (mut sources, mut problems) = (Sources::default(), Vec::new());
    let tokens = preprocess_text("fuzz.pml", text, &Options::default(), &mut sources, &mut problems);
    // Every reported position, and that of every token, must exist.
    for token in &tokens {
        sources.text(token.span);
    }
    entail_front::diagnostic::render(&problems, &sources, false);
});
