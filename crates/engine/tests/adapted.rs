//! A restarted search, with states packed by the observed values, has the same result as one that starts with that
//! packing.

use entail_engine::Packed;
use entail_front::promela::load_text;
use entail_front::source::Sources;
use entail_ir::Interpreter;
use entail_model::{Model, StateBuf};
use entail_search::{Checks, End, Errors, Limits, breadth_first};
use entail_store::ExactWordSet;

/// Counts with three digits, of which the first one stays 0 for a long time; one state for each number.
const ODOMETER: &str = "
    byte first, second, third;
    active proctype count() {
        do
        :: d_step { third < 199 -> third++ }
        :: d_step { third == 199 && second < 199 -> third = 0; second++ }
        :: d_step { third == 199 && second == 199 && first < 2 -> third = 0; second = 0; first++ }
        od
    }
";

#[test]
fn a_search_begins_again_and_misses_nothing() {
    let (mut sources, mut problems) = (Sources::default(), Vec::new());
    let model = load_text("odometer", ODOMETER, &mut sources, &mut problems).expect("a model");
    let interpreter = Interpreter::new(&model.system);
    let checks = Checks { faults: true, assertions: true, end_states: false, errors: Errors::All };
    let mut packed = Packed::new(&interpreter, Interpreter::new(&model.system));
    let mut bits = vec![packed.bits()];
    let outcome = loop {
        let mut store = ExactWordSet::new(packed.bits());
        let outcome = breadth_first(&packed, &mut store, &checks, &Limits::default(), &mut ());
        if !packed.is_outgrown() {
            break outcome;
        }
        packed = packed.adapted();
        bits.push(packed.bits());
    };
    assert!(bits.len() > 1, "it did not begin again: {bits:?} bits");
    assert!(bits.is_sorted(), "{bits:?} bits");
    assert_eq!((outcome.end, outcome.stats.stored), (End::Complete, 3 * 200 * 200));
    // The last state has become a short one.
    let mut last = StateBuf::new();
    interpreter.initial_states(&mut |state| last = state.to_vec());
    for (digit, value) in [2, 199, 199].into_iter().enumerate() {
        last[interpreter.layout().globals() + digit] = value;
    }
    let mut short = StateBuf::new();
    packed.pack(&last, &mut short);
    assert_eq!(short.len(), 8);
}
