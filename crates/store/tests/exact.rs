//! The exact store against a vector and a set.

use std::collections::HashSet;

use entail_model::{InOrder, Position, StateBuf, Store, Visit};
use entail_store::Exact;
use entail_testkit::rng::Rng;
use proptest::prelude::*;

fn in_order(store: &Exact) -> Vec<StateBuf> {
    let mut states = Vec::new();
    let mut position = Position::default();
    while position != store.end() {
        let mut state = StateBuf::new();
        position = store.read(position, &mut state);
        states.push(state);
    }
    states
}

proptest! {
    #[test]
    fn keeps_the_first_of_every_state_in_order(
        states in prop::collection::vec(prop::collection::vec(0u8..3, 0..6), 0..2000),
    ) {
        let mut store = Exact::new();
        let mut first = Vec::new();
        let mut seen = HashSet::new();
        for state in &states {
            let expected = if seen.insert(state.clone()) { Visit::New } else { Visit::Seen };
            if expected == Visit::New {
                first.push(state.clone());
            }
            prop_assert_eq!(store.visit(state), expected);
            prop_assert_eq!(store.len(), first.len() as u64);
        }
        prop_assert_eq!(in_order(&store), first);
    }

    #[test]
    fn stays_within_its_limit_and_keeps_what_it_has(limit in 0u64..3_000_000, seed: u64) {
        let mut store = Exact::with_limit(limit);
        let mut rng = Rng::new(seed);
        let length = rng.range(8..200);
        let mut kept = Vec::new();
        loop {
            let state = random_state(&mut rng, length as usize);
            match store.visit(&state) {
                Visit::New => kept.push(state),
                Visit::Seen => unreachable!("64 random bits"),
                Visit::Full => break,
            }
            prop_assert!(store.bytes() <= limit);
        }
        // Nothing in a chunk is given up as long as there is room for the next one.
        let floor = limit.saturating_sub(1 << 20) / (length as u64 + 20);
        prop_assert!(kept.len() as u64 >= floor, "{} states of {length} bytes in {limit}", kept.len());
        prop_assert!(kept.iter().all(|state| store.visit(state) == Visit::Seen));
    }
}

#[test]
fn a_state_costs_at_most_16_bytes_more_than_itself() {
    for lengths in [8..9, 8..128, 128..200] {
        let mut store = Exact::new();
        let mut rng = Rng::new(lengths.end as u64);
        let mut total = 0;
        for n in 1..=1_000_000u64 {
            let length = rng.range(lengths.clone()) as usize;
            assert_eq!(store.visit(&random_state(&mut rng, length)), Visit::New);
            total += length as u64;
            let overhead = store.bytes() - total;
            assert!(overhead <= 16 * n + (1 << 20) + 4096, "{overhead} bytes for {n} states of {lengths:?}");
        }
    }
}

/// Random, and different from every other one for all practical purposes.
fn random_state(rng: &mut Rng, length: usize) -> StateBuf {
    let mut state: StateBuf = (0..length).map(|i| i as u8).collect();
    state[..8].copy_from_slice(&rng.bits().to_le_bytes());
    state
}
