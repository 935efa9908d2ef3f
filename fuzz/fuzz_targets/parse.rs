//! The Promela front end terminates on any text, and the resulting system is well formed.

#![no_main]

use entail_front::promela::load_text;
use entail_front::source::Sources;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (mut sources, mut problems) = (Sources::default(), Vec::new());
    let model = load_text("fuzz.pml", text, &mut sources, &mut problems);
    entail_front::diagnostic::render(&problems, &sources, false);
    if let Some(model) = model {
        entail_ir::verify::verify(&model.system).expect("a lowered system is well formed");
    }
});
