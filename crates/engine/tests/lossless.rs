//! Packing is lossless: unpacking returns every state of all available models.

use std::collections::{HashSet, VecDeque};
use std::path::Path;

use entail_engine::Packed;
use entail_front::{Property, Specification};
use entail_ir::{Interpreter, Monitor, System};
use entail_model::{Model, Successors, Target};
use entail_testkit::files::models_in;

/// The maximal number of states to explore in each model, transient ones included.
const STATES: usize = 1_000;

fn check(name: &str, system: &System) {
    let interpreter = Interpreter::new(system);
    let packed = Packed::new(&interpreter, Interpreter::new(system));
    let mut known = HashSet::new();
    let mut queue = VecDeque::new();
    let mut initial = Vec::new();
    interpreter.initial_states(&mut |state| initial.push(state.to_vec()));
    for state in initial {
        known.insert(state.clone());
        queue.push_back(state);
    }
    let mut short = HashSet::new();
    while let Some(state) = queue.pop_front() {
        let mut bits = Vec::new();
        packed.pack(&state, &mut bits);
        let mut again = Vec::new();
        packed.unpack(&bits, &mut again);
        assert_eq!(again, state, "{name}: {bits:?}");
        assert_eq!(packed.is_transient(&bits), interpreter.is_transient(&state), "{name}");
        let (mut there, mut here) = (Successors::default(), Successors::default());
        packed.expand(&bits, &mut there, &mut Default::default());
        interpreter.expand(&state, &mut here, &mut Default::default());
        assert!(short.insert(bits), "{name}: two states look the same");
        assert_eq!(there.len(), here.len(), "{name}");
        for (one, other) in there.iter().zip(here.iter()) {
            assert_eq!((one.step, one.fault, one.target), (other.step, other.fault, other.target), "{name}");
            if one.target != Target::Nowhere {
                packed.unpack(one.state, &mut again);
                assert_eq!(again, other.state, "{name}");
            }
        }
        for successor in here.iter() {
            let next = successor.state.to_vec();
            if !next.is_empty() && known.len() < STATES && known.insert(next.clone()) {
                queue.push_back(next);
            }
        }
    }
}

#[test]
fn every_state_comes_back_as_it_was() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["examples", "tests/models", "tests/thesis", "../shared/models/promela", "../shared/models/esml"];
    let (mut checked, mut watched) = (0, 0);
    for folder in folders.map(|folder| root.join(folder)) {
        if !folder.is_dir() {
            continue;
        }
        for file in models_in(&folder) {
            let Some(model) = entail_front::load(&file, &entail_front::Options::default()).model else { continue };
            let name = file.display().to_string();
            check(&name, &model.system);
            for monitor in model.properties.iter().filter_map(monitor) {
                check(&format!("{name}, watched"), &System { monitor: Some(monitor), ..model.system.clone() });
                watched += 1;
            }
            checked += 1;
        }
    }
    assert!(checked > 50, "only {checked} models");
    assert!(watched > 20, "only {watched} traces");
}

fn monitor(property: &Property) -> Option<Monitor> {
    match &property.meaning.as_ref()?.says {
        Specification::Monitor(monitor) => Some(monitor.clone()),
        Specification::Ltl(..) | Specification::Never(..) | Specification::Ctl(_) => None,
    }
}
