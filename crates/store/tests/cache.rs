//! A cache replaces only states that it may replace.

use std::collections::HashSet;

use entail_model::{Full, Guarantee, Keys, Store, Visit};
use entail_store::{CacheSet, CacheSize, ExactPairSet, ExactSet, ExactWordSet, ShortStateSet};
use entail_testkit::rng::Rng;

/// Inserts and releases random states of `words` words; returns the number of forgotten ones.
fn come_and_go<S: ShortStateSet>(kept: ExactSet<S>, words: usize, size: CacheSize, rng: &mut Rng) -> u64 {
    let mut store = CacheSet::new(kept, size);
    let (mut path, mut ever, mut new) = (Vec::new(), HashSet::new(), 0);
    for _ in 0..2000 {
        let number = rng.below(60) as u64;
        store.reserve(1, u64::MAX).unwrap();
        let key = store.key(&number.to_le_bytes().repeat(words), &Default::default());
        let visit = if rng.chance(0.5) { store.insert(key) } else { store.insert_alone(key) };
        match visit {
            Visit::New => {
                assert!(!path.contains(&key), "{number} is on the path");
                path.push(key);
                new += 1;
            }
            Visit::Seen => assert!(ever.contains(&number), "{number} never came"),
        }
        ever.insert(number);
        assert_eq!(store.insert(key), Visit::Seen, "{number} was just inserted, or is known");
        while rng.chance(0.45) {
            path.pop().into_iter().for_each(|left| store.leave(left));
        }
        assert!(path.iter().all(|key| store.insert_alone(*key) == Visit::Seen));
        assert!(store.len() <= size.slots + path.len() as u64);
    }
    assert_eq!(new, store.len() + store.forgotten());
    assert_eq!(store.guarantee(), Guarantee::Exact);
    store.forgotten()
}

#[test]
fn states_on_the_stack_are_never_replaced() {
    let mut rng = Rng::new(5);
    for slots in [1, 2, 3, 7, 20, 59, 64, 65, 200] {
        for probes in [1, 2, 8, 100] {
            let size = CacheSize { slots, probes, collisions: 1 + rng.below(8) as u32 };
            let mut forgotten = vec![come_and_go(ExactWordSet::new(40), 1, size, &mut rng)];
            forgotten.push(come_and_go(ExactPairSet::new(), 2, size, &mut rng));
            forgotten.push(come_and_go(ExactWordSet::new(40), 3, size, &mut rng));
            if slots < 40 {
                assert!(forgotten.iter().all(|count| *count > 50), "{size:?}: {forgotten:?}");
            } else if slots == 200 && probes == 100 {
                assert_eq!(forgotten, [0; 3], "{size:?}");
            }
        }
    }
}

/// States at odd depths are replaced before those at even ones, and small subtrees before large ones.
#[test]
fn the_state_with_the_least_priority_is_replaced_first() {
    let order = [5, 3, 1, 6, 2, 4, 0];
    for count in 1..=order.len() {
        let mut store = CacheSet::new(ExactWordSet::new(40), CacheSize { slots: 7, probes: 7, collisions: 7 });
        store.reserve(1, u64::MAX).unwrap();
        let keys: Vec<_> =
            (0..14_u64).map(|number| store.key(&number.to_le_bytes(), &Default::default())).collect();
        let (path, others) = keys.split_at(7);
        assert!(path.iter().all(|key| store.insert_alone(*key) == Visit::New));
        path.iter().rev().for_each(|key| store.leave(*key));
        assert!(others.iter().take(count).all(|key| store.insert_alone(*key) == Visit::New));
        let (forgotten, known) = order.split_at(count);
        assert!(known.iter().all(|depth| store.insert_alone(path[*depth]) == Visit::Seen), "{known:?}");
        assert_eq!(store.insert_alone(path[forgotten[count - 1]]), Visit::New, "{forgotten:?}");
    }
}

fn slots_in<S: ShortStateSet>(_: &ExactSet<S>, bytes: u64) -> u64 {
    CacheSet::<S>::slots_in(bytes)
}

#[test]
fn a_cache_takes_as_much_memory_as_it_may() {
    let kept = ExactWordSet::new(40);
    let slots = slots_in(&kept, 1 << 20);
    let mut store = CacheSet::new(kept, CacheSize { slots, probes: 16, collisions: 16 });
    assert_eq!(store.reserve(1, 1 << 19), Err(Full));
    store.reserve(1, 2 << 20).unwrap();
    let bytes = store.bytes();
    assert!(bytes > 1 << 19 && bytes < (1 << 20) + (1 << 16), "{bytes}");
    let immense = CacheSize { slots: u64::MAX, probes: 1, collisions: 1 };
    assert_eq!(CacheSet::new(ExactPairSet::new(), immense).reserve(1, u64::MAX), Err(Full));
}
