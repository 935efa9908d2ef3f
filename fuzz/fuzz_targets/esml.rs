//! Any text is parsed as ESML or rejected, and the resulting system is well formed.

#![no_main]

use entail_front::source::Sources;
use entail_front::{Granularity, Options, esml::load_text};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for granularity in [Granularity::Exact, Granularity::Statement] {
        let (mut sources, mut problems) = (Sources::default(), Vec::new());
        let options = Options { granularity, ..Options::default() };
        let model = load_text("fuzz.esml", text, &options, &mut sources, &mut problems);
        entail_front::diagnostic::render(&problems, &sources, false);
        if let Some(model) = model {
            entail_ir::verify::verify(&model.system).expect("a lowered system is well formed");
        }
    }
});
