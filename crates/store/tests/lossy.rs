//! Lossy sets omit as many states as estimated, and do not invent any.

use std::collections::HashSet;

use entail_model::{Guarantee, Keys, Store, Visit};
use entail_store::{
    BitstateSet, CompactSet, ExactPairSet, ExactSet, ExactWordSet, LossySet, ShortStateSet, StateSet, VisitedSet,
};
use entail_testkit::rng::Rng;

/// Inserts many states of `words` words, most of them more than once. Returns the number of omitted states, and the
/// store's estimate.
fn omitted<S: ShortStateSet>(mut store: VisitedSet<S>, words: usize, states: u64) -> (f64, f64) {
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
fn as_estimated((found, estimated): (f64, f64)) {
    assert!(found > 100.0, "{found} is too few to say something");
    assert!(
        (found - estimated).abs() < 5.0 * estimated.sqrt() + 0.02 * estimated,
        "{found}, but {estimated} are expected"
    );
}

fn stores(lossy: impl Fn() -> LossySet, states: u64) {
    let lossless = |bits| -> ExactSet<_> { ExactWordSet::new(bits) };
    as_estimated(omitted(VisitedSet::new(lossless(40), Some(lossy())).with_seed(1), 1, states));
    as_estimated(omitted(VisitedSet::new(ExactPairSet::new(), Some(lossy())).with_seed(2), 2, states));
    as_estimated(omitted(VisitedSet::new(lossless(40), Some(lossy())).with_seed(3), 5, states));
}

#[test]
fn hash_compaction_omits_as_many_states_as_estimated() {
    for bits in [16, 20, 24] {
        stores(|| LossySet::Compact(CompactSet::new(bits)), 100_000);
    }
}

#[test]
fn bitstate_hashing_omits_as_many_states_as_estimated() {
    for (bytes, bits) in [(1 << 14, 1), (1 << 16, 2), (1 << 16, 3), (1 << 15, 3), (1 << 16, 7)] {
        stores(|| LossySet::Bitstate(BitstateSet::new(bytes, bits).unwrap()), 100_000);
    }
}

/// With 4 bits for each of n states in an array of m, a share of 1 - exp(-4n/m) is set: that is 40% for n = m/7.83.
#[test]
fn an_overfull_bit_array_is_reported() {
    let array = LossySet::Bitstate(BitstateSet::optimistic(1 << 14).unwrap());
    let mut store = VisitedSet::new(ExactWordSet::new(40), Some(array));
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
    for lossy in [LossySet::Compact(CompactSet::new(64)), LossySet::Bitstate(BitstateSet::new(1 << 24, 3).unwrap())]
    {
        let (found, estimated) = omitted(VisitedSet::new(ExactWordSet::new(40), Some(lossy)), 1, 10_000);
        assert!(found == 0.0 && estimated < 0.1, "{found} {estimated}");
    }
}

#[test]
fn an_exact_set_guarantees_it() {
    assert_eq!(VisitedSet::new(ExactWordSet::new(40), None).guarantee(), Guarantee::Exact);
}
