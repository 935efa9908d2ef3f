//! A restored model packs states as the saved one did, whatever it has observed since.

use entail_disk::{Reader, Writer};
use entail_engine::Packed;
use entail_front::promela::load_text;
use entail_front::source::Sources;
use entail_ir::Interpreter;
use entail_model::{Model, StateBuf, Store};
use entail_search::{Checks, End, Errors, Limit, Limits, breadth_first};
use entail_store::ExactWordSet;

/// Counts with three digits, of which the first one stays 0 for a long time; then processes start and end.
const COMING: &str = "
    byte first, second, third, done;
    proctype late(byte number) { byte own; own = number; done = own }
    active proctype count() {
        do
        :: d_step { third < 199 -> third++ }
        :: d_step { third == 199 && second < 199 -> third = 0; second++ }
        :: d_step { third == 199 && second == 199 && first < 2 -> third = 0; second = 0; first++ }
        :: first == 2 && second > 190 && _nr_pr < 3 -> run late(1)
        od
    }
";

fn written<'s>(packed: &Packed<'s, &'s Interpreter<'s>>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes).unwrap();
    packed.save(&mut writer).unwrap();
    writer.finish().unwrap();
    bytes
}

#[test]
fn every_state_is_packed_as_it_was() {
    let (mut sources, mut problems) = (Sources::default(), Vec::new());
    let model = load_text("coming", COMING, &mut sources, &mut problems).expect("a model");
    let interpreter = &Interpreter::new(&model.system);
    let checks = Checks { faults: true, assertions: true, end_states: false, errors: Errors::All };
    let mut packed = Packed::new(interpreter, interpreter);
    let mut rounds = 0;
    loop {
        rounds += 1;
        let mut store = ExactWordSet::new(packed.bits());
        let outcome = breadth_first(&packed, &mut store, &checks, &Limits::default(), &mut ());
        let bytes = written(&packed);
        let mut reader = Reader::new(Box::new(&bytes[..]), bytes.len() as u64).unwrap();
        let again = Packed::new(interpreter, interpreter).restored(&mut reader).unwrap();
        reader.finish().unwrap();
        assert_eq!(again.bits(), packed.bits());
        assert_eq!(written(&again), bytes);
        // A walk through the model.
        let (mut state, mut steps) = (StateBuf::new(), Vec::new());
        interpreter.initial_states(&mut |initial| state = initial.to_vec());
        for number in 0..20_000usize {
            let (mut one, mut other) = (StateBuf::new(), StateBuf::new());
            packed.pack(&state, &mut one);
            again.pack(&state, &mut other);
            assert_eq!(one, other);
            steps.clear();
            interpreter.enabled(&state, &mut steps);
            let Some(step) = steps.get(number * 7 % steps.len().max(1)) else { break };
            let _ = interpreter.fire(*step, &mut state);
        }
        if outcome.end != End::Limit(Limit::Interrupted) {
            assert!(store.guarantee() == entail_model::Guarantee::Exact && outcome.end == End::Complete);
            break;
        }
        packed = packed.adapted();
    }
    assert!(rounds > 1, "it did not begin again");
}
