//! Any text is parsed as a formula and as an automaton or rejected, and the translation of a formula terminates.

#![no_main]

use entail_front::promela::{formula, preprocess};
use entail_front::source::Sources;
use entail_model::Deadline;
use entail_temporal::{Buchi, Limits, hoa, translate};
use libfuzzer_sys::fuzz_target;

const LIMITS: Limits = Limits { states: 500, edges: 5_000, steps: 500_000, deadline: Deadline::NEVER };

fuzz_target!(|text: &str| {
    let (mut sources, mut problems) = (Sources::default(), Vec::new());
    let options = preprocess::Options::default();
    if let Some(mut read) = formula::read("formula", text, &options, &mut sources, &mut problems) {
        if let Ok(generalised) = translate(&mut read.formulas, read.formula, LIMITS) {
            let _ = Buchi::new(&generalised, LIMITS);
        }
    }
    entail_front::diagnostic::render(&problems, &sources, false);
    if let Ok(named) = hoa::read(text) {
        let printed = hoa::print(&named.automaton, &named.propositions, "");
        assert_eq!(hoa::read(&printed).map(|again| again.automaton), Ok(named.automaton));
    }
});
