//! What is lost is lost as often as is said, and nothing is ever made up.

use std::collections::HashSet;

use entail_model::{Guarantee, Keys, Store, Visit};
use entail_store::{Bitstate, Compact, Kept, Lossless, LosslessWide, Short, Sieve, Visited};
use entail_testkit::rng::Rng;

/// Inserts many states of some words, most of them more than once. Says how many were taken for others, and how many the store
/// says that were.
fn omitted<S: Short>(mut store: Visited<S>, words: usize, states: u64) -> (f64, f64) {
    let (mut rng, mut known, mut kept) = (Rng::new(3), HashSet::new(), 0);
    for _ in 0..2 * states {
        let number = rng.below(states as usize) as u64;
        let state = number.to_le_bytes().repeat(words);
        store.reserve(1, u64::MAX).unwrap();
        let key = store.key(&state, &Default::default());
        let is_new = known.insert(number);
        match store.insert_alone(key) {
            Visit::New => {
                assert!(is_new, "{number} is known");
                kept += 1;
            }
            Visit::Seen => {}
        }
        assert_eq!(store.insert(key), Visit::Seen, "{number} was just inserted");
    }
    assert_eq!(store.len(), kept);
    let Guarantee::Probable { omitted, .. } = store.guarantee() else { panic!("something is lost") };
    ((known.len() as u64 - kept) as f64, omitted)
}

#[track_caller]
fn about_as_said((found, said): (f64, f64)) {
    assert!(found > 100.0, "{found} is too few to say something");
    assert!((found - said).abs() < 5.0 * said.sqrt() + 0.02 * said, "{found}, but {said} are expected");
}

fn stores(sieve: impl Fn() -> Sieve, states: u64) {
    let lossless = |bits| -> Kept<_> { Lossless::new(bits) };
    about_as_said(omitted(Visited::new(lossless(40), Some(sieve())).with_seed(1), 1, states));
    about_as_said(omitted(Visited::new(LosslessWide::new(), Some(sieve())).with_seed(2), 2, states));
    about_as_said(omitted(Visited::new(lossless(40), Some(sieve())).with_seed(3), 5, states));
}

#[test]
fn hashes_collide_as_often_as_is_said() {
    for bits in [16, 20, 24] {
        stores(|| Sieve::Compact(Compact::new(bits)), 100_000);
    }
}

#[test]
fn bits_are_taken_for_others_as_often_as_is_said() {
    for (bytes, bits) in [(1 << 14, 1), (1 << 16, 2), (1 << 16, 3), (1 << 15, 3), (1 << 16, 7)] {
        stores(|| Sieve::Bitstate(Bitstate::new(bytes, bits).unwrap()), 100_000);
    }
}

/// With 4 bits for each of n states of m, a share of 1 - exp(-4n/m) is set: that is 40% for n = m/7.83.
#[test]
fn an_array_that_is_too_full_for_its_bits_says_so() {
    let array = Sieve::Bitstate(Bitstate::hopeful(1 << 14).unwrap());
    let mut store = Visited::new(Lossless::new(40), Some(array));
    let room = (1u64..).take_while(|number| {
        let key = store.key(&number.to_le_bytes(), &Default::default());
        store.insert_alone(key);
        store.reserve(1, u64::MAX).is_ok()
    });
    let (count, expected) = (room.count() as f64, f64::from(1 << 17) / 7.83);
    assert!((count - expected).abs() < 0.02 * expected, "{count}, and not {expected}");
    assert!(store.is_overfull());
}

#[test]
fn with_room_enough_nothing_is_lost() {
    for sieve in [Sieve::Compact(Compact::new(64)), Sieve::Bitstate(Bitstate::new(1 << 24, 3).unwrap())] {
        let (found, said) = omitted(Visited::new(Lossless::new(40), Some(sieve)), 1, 10_000);
        assert!(found == 0.0 && said < 0.1, "{found} {said}");
    }
}

#[test]
fn an_exact_store_says_so() {
    assert_eq!(Visited::new(Lossless::new(40), None).guarantee(), Guarantee::Exact);
}
