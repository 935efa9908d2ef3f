//! The exact stores, compared with a map of the standard library.

use std::collections::{HashMap, HashSet};

use entail_model::{Full, Guarantee, Keys, Part, State, Store, Visit};
use entail_store::{CollapseSet, DfaSet, ExactPairSet, ExactWordSet, PlainSet, TreeSet};
use entail_testkit::rng::Rng;
use proptest::prelude::*;

const UNLIMITED: u64 = u64::MAX;

/// Visits states as a search would, and checks every answer.
fn check(bits: u32, states: impl IntoIterator<Item = Vec<u8>>, batch: usize) {
    let states: Vec<_> = states.into_iter().collect();
    // The wide store supports all but those of two words that use the last bit.
    if states.iter().all(|state| state.len() != 16 || state[15] < 0x80) {
        check_store(ExactPairSet::new(), states.iter().cloned(), batch);
        check_store(TreeSet::new(ExactPairSet::new(), bits), states.iter().cloned(), batch);
        check_store(DfaSet::new(ExactPairSet::new()), states.iter().cloned(), batch);
    }
    check_store(PlainSet::default(), states.iter().cloned(), batch);
    check_store(CollapseSet::new(cut), states.iter().cloned(), batch);
    check_store(TreeSet::new(ExactWordSet::new(bits), bits), states.iter().cloned(), batch);
    check_store(DfaSet::new(ExactWordSet::new(bits)), states.iter().cloned(), batch);
    check_store(ExactWordSet::new(bits), states, batch);
}

/// Components of three sizes and two kinds. In states of some lengths, the store must find the rest itself.
fn cut(state: &State, parts: &mut Vec<Part>) {
    let bits = 8 * state.len() as u32;
    let ends = [5, 18, 31].into_iter().chain((0..).map(|number| 64 + 100 * number));
    parts.extend(
        ends.zip([0, 1].into_iter().cycle())
            .map(|(end, kind)| Part { end, kind })
            .take_while(|part| part.end <= bits),
    );
}

fn check_store<S: Store>(mut store: S, states: impl IntoIterator<Item = Vec<u8>>, batch: usize) {
    assert_eq!(store.guarantee(), Guarantee::Exact);
    let mut states = states.into_iter().enumerate().peekable();
    let mut keys: HashMap<Vec<u8>, S::Key> = HashMap::new();
    let (mut near, mut opened) = (Default::default(), Vec::new());
    while states.peek().is_some() {
        assert_eq!(store.reserve(batch, UNLIMITED), Ok(()));
        for (i, state) in states.by_ref().take(batch) {
            let key = store.key(&state, &near);
            store.prefetch(key);
            let expected = if keys.contains_key(&state) { Visit::Seen } else { Visit::New };
            if i % 3 == 0 {
                let mut new = vec![7];
                match i % 2 {
                    0 => store.insert_all(&[key, key], &mut new),
                    _ => store.insert_all_alone(&[key, key], &mut new),
                }
                let expected = if expected == Visit::New { &[7, 0][..] } else { &[7] };
                assert_eq!(new, expected, "{state:?}");
            } else {
                let visit = if i % 3 == 1 { store.insert(key) } else { store.insert_alone(key) };
                assert_eq!(visit, expected, "{state:?}");
            }
            assert_eq!(*keys.entry(state.clone()).or_insert(key), key, "a state has one key");
            if i % 3 == 0 {
                store.open(key, &mut opened, &mut near);
                assert_eq!(opened, state);
            }
        }
    }
    assert_eq!(store.len(), keys.len() as u64);
    assert_eq!(store.reserve(keys.len(), UNLIMITED), Ok(()));
    for (state, &key) in &keys {
        assert_eq!(store.key(state, &Default::default()), key, "what is near makes no difference");
        assert_eq!(store.insert(key), Visit::Seen);
        store.open(key, &mut opened, &mut near);
        assert_eq!(opened, *state);
    }
}

/// States that differ from each other only in a few places.
struct Similar {
    rng: Rng,
    state: Vec<u8>,
    /// Bits after these are zero.
    bits: usize,
}

impl Similar {
    fn of_bits(bits: u32, seed: u64) -> Similar {
        let bytes = 8 * bits.div_ceil(64) as usize;
        Similar { rng: Rng::new(seed), state: vec![0; bytes], bits: bits as usize }
    }
}

impl Iterator for Similar {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        for _ in 0..self.rng.below(3) {
            let bit = self.rng.below(self.bits);
            self.state[bit / 8] ^= 1 << (bit % 8);
        }
        Some(self.state.clone())
    }
}

/// States of varying length, often of zeros; those of one word have `bits` bits.
fn of_any_length(seed: u64, longest: usize, bits: u32) -> impl Iterator<Item = Vec<u8>> {
    let mut rng = Rng::new(seed);
    let mut words = vec![0u64];
    std::iter::repeat_with(move || {
        match rng.below(4) {
            0 => words.truncate(1 + rng.below(words.len())),
            1 if words.len() < longest => (0..rng.below(4)).for_each(|_| words.push(*rng.pick(&[0, 1, 1 << 63]))),
            _ => {
                let at = rng.below(words.len());
                words[at] = *rng.pick(&[0, 5, u64::MAX]);
            }
        }
        match &words[..] {
            [word] => (word & ((1 << bits) - 1)).to_le_bytes().to_vec(),
            words => words.iter().flat_map(|word| word.to_le_bytes()).collect(),
        }
    })
}

fn count() -> usize {
    if cfg!(miri) { 60 } else { 2000 }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 3 } else { 64 }))]

    #[test]
    fn states_of_one_word_are_stored(bits in 1u32..64, seed: u64, batch in 1usize..300) {
        check(bits, Similar::of_bits(bits, seed).take(count()), batch);
    }

    #[test]
    fn states_of_some_words_are_stored(bits in 64u32..600, seed: u64, batch in 1usize..300) {
        check(bits, Similar::of_bits(bits, seed).take(count()), batch);
    }

    #[test]
    fn states_of_any_length_are_stored(seed: u64, longest in 1usize..60, bits in 1u32..64, batch in 1usize..300) {
        check(bits, of_any_length(seed, longest, bits).take(count()), batch);
    }

    #[test]
    fn stores_stay_within_their_limit_and_keep_what_they_have(limit in 0u64..1 << 20, seed: u64, long: bool) {
        check_limit(ExactWordSet::new(60), limit, seed, long);
        check_limit(ExactPairSet::new(), limit, seed, long);
        check_limit(PlainSet::default(), limit, seed, long);
        check_limit(CollapseSet::new(cut), limit, seed, long);
        check_limit(TreeSet::new(ExactWordSet::new(60), 60), limit, seed, long);
        check_limit(TreeSet::new(ExactPairSet::new(), 127), limit, seed, long);
        check_limit(DfaSet::new(ExactWordSet::new(60)), limit, seed, long);
    }
}

fn check_limit(mut store: impl Store, limit: u64, seed: u64, long: bool) {
    let mut rng = Rng::new(seed);
    let mut keys = Vec::new();
    while store.reserve(16, limit) == Ok(()) && keys.len() < 20_000 {
        assert!(store.bytes() <= limit, "{} bytes of {limit}", store.bytes());
        for _ in 0..16 {
            let word = (rng.bits() >> 4).to_le_bytes();
            let state = if long { [(rng.below(100) as u64).to_le_bytes(), word].concat() } else { word.to_vec() };
            let key = store.key(&state, &Default::default());
            assert_eq!(store.insert(key), Visit::New);
            keys.push((key, state));
        }
    }
    let mut opened = Vec::new();
    for (key, state) in keys {
        assert_eq!(store.insert(key), Visit::Seen);
        store.open(key, &mut opened, &mut Default::default());
        assert_eq!(opened, state);
    }
}

/// Also if lines are full.
#[test]
fn many_are_inserted_as_one_by_one() {
    check_many(ExactWordSet::new(40));
    check_many(TreeSet::new(ExactWordSet::new(40), 40));
}

fn check_many(mut store: impl Store) {
    let mut rng = Rng::new(5);
    let mut seen = HashSet::new();
    for round in 0..count() / 100 {
        let states = Similar::of_bits(if rng.chance(0.5) { 13 } else { 40 }, rng.below(1000) as u64).take(100);
        store.reserve(100, UNLIMITED).unwrap();
        let keys: Vec<_> = states.map(|state| store.key(&state, &Default::default())).collect();
        let expected: Vec<_> =
            (0..).zip(&keys).filter(|(_, key)| seen.insert(**key)).map(|(index, _)| index).collect();
        let mut new = Vec::new();
        match round % 2 {
            0 => store.insert_all(&keys, &mut new),
            _ => store.insert_all_alone(&keys, &mut new),
        }
        assert_eq!(new, expected);
    }
    assert_eq!(store.len(), seen.len() as u64);
}

#[test]
fn states_may_be_as_long_as_200_kilobytes() {
    let words = if cfg!(miri) { 600 } else { 25_000u64 };
    let long = (0..4).map(|i| (0..words - i).flat_map(|word| (word % 251).to_le_bytes()).collect());
    let short = || [vec![1; 8], vec![1; 16]];
    check(61, short().into_iter().chain(long).chain(short()), 2);
}

#[test]
fn a_state_longer_than_all_before_takes_little_until_room_is_made_for_more() {
    let mut store = ExactWordSet::new(64);
    store.reserve(64, UNLIMITED).unwrap();
    let limit = store.bytes() + (1 << 18);
    let state: Vec<u8> = (0..300u64).flat_map(|word| (word % 7).to_le_bytes()).collect();
    let key = store.key(&state, &Default::default());
    assert_eq!(store.insert(key), Visit::New);
    assert!(store.bytes() <= limit, "{} bytes of {limit}", store.bytes());
    assert_eq!(store.reserve(64, limit), Err(Full));
    // A state is not lost if there was no room.
    let (mut opened, mut near) = Default::default();
    store.open(key, &mut opened, &mut near);
    assert_eq!(opened, state);
    assert_eq!(store.key(&state, &Default::default()), key);
    assert_eq!(store.insert(key), Visit::Seen);
}

/// First few ids, so that keys become narrow once the table is large; then more and more ids in one half of the states,
/// so that keys become wider again; then states of another size.
#[test]
#[cfg_attr(miri, ignore = "too many")]
fn keys_become_narrower_and_wider() {
    for flip in [false, true] {
        let (mut store, mut rng) = (ExactWordSet::new(64), Rng::new(1));
        let mut keys = HashMap::new();
        let mut visit = |store: &mut ExactWordSet, mut words: Vec<u64>| {
            if flip {
                words.reverse();
            }
            if keys.len() % 100 == 0 {
                store.reserve(100, UNLIMITED).unwrap();
            }
            let state: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let key = store.key(&state, &Default::default());
            assert_eq!(store.insert(key), Visit::New);
            assert_eq!(keys.insert(state, key), None);
        };
        (0..400_000).for_each(|i| visit(&mut store, vec![i % 700, 1, i / 700]));
        let bytes = store.bytes() as f64 / store.len() as f64;
        (0..300_000).for_each(|i| visit(&mut store, vec![i % 7, 2, rng.bits()]));
        (0..2000).for_each(|i| visit(&mut store, vec![i; 12]));

        assert_eq!(store.len(), keys.len() as u64);
        let (mut opened, mut near) = Default::default();
        for (state, &key) in &keys {
            assert_eq!(store.insert(key), Visit::Seen);
            store.open(key, &mut opened, &mut near);
            assert_eq!(opened, *state);
        }
        assert!(bytes < 5.0, "{bytes} bytes a state");
    }
}

#[test]
fn threads_agree_on_keys_and_on_new_states() {
    check_threads(ExactWordSet::new(40), Similar::of_bits(40, 1).take(10 * count()).collect());
    check_threads(ExactWordSet::new(64), Similar::of_bits(150, 1).take(10 * count()).collect());
    check_threads(ExactWordSet::new(50), of_any_length(1, 15, 50).take(10 * count()).collect());
    check_threads(ExactPairSet::new(), Similar::of_bits(100, 1).take(10 * count()).collect());
    check_threads(TreeSet::new(ExactPairSet::new(), 100), Similar::of_bits(100, 1).take(10 * count()).collect());
}

#[test]
fn threads_agree_whatever_the_store() {
    for states in [
        Similar::of_bits(40, 1).take(3 * count()).collect::<Vec<_>>(),
        of_any_length(1, 15, 50).take(3 * count()).collect(),
    ] {
        check_threads(PlainSet::default(), states.clone());
        check_threads(CollapseSet::new(cut), states.clone());
        check_threads(TreeSet::new(ExactWordSet::new(50), 50), states.clone());
        check_threads(DfaSet::new(ExactWordSet::new(50)), states);
    }
}

fn check_threads<S: Store<Key: Send>>(mut store: S, states: Vec<Vec<u8>>) {
    let mut distinct = states.clone();
    distinct.sort_unstable();
    distinct.dedup();
    store.reserve(4 * states.len(), UNLIMITED).unwrap();
    let run = || -> (Vec<S::Key>, usize) {
        let (mut near, mut opened) = (Default::default(), Vec::new());
        let visit = |state: &Vec<u8>| {
            let key = store.key(state, &near);
            let is_new = store.insert(key) == Visit::New;
            store.open(key, &mut opened, &mut near);
            assert_eq!(opened, *state);
            (key, is_new)
        };
        let (one_by_one, at_once) = states.split_at(states.len() / 2);
        let (mut keys, news): (Vec<S::Key>, Vec<bool>) = one_by_one.iter().map(visit).unzip();
        let mut new = Vec::new();
        for batch in at_once.chunks(100) {
            let batch: Vec<_> = batch.iter().map(|state| store.key(state, &Default::default())).collect();
            store.insert_all(&batch, &mut new);
            keys.extend(batch);
        }
        (keys, news.into_iter().filter(|&is_new| is_new).count() + new.len())
    };
    let results: Vec<(Vec<S::Key>, usize)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(results.iter().all(|(keys, _)| *keys == results[0].0));
    assert_eq!(results.iter().map(|(_, news)| news).sum::<usize>(), distinct.len());
    assert_eq!(store.len(), distinct.len() as u64);
}

#[test]
fn a_few_states_cost_little() {
    for bits in [40, 150] {
        let mut store = ExactWordSet::new(bits);
        for state in Similar::of_bits(bits, 1).take(100) {
            store.reserve(256, UNLIMITED).unwrap();
            let _ = store.insert(store.key(&state, &Default::default()));
        }
        assert!(store.bytes() < 100_000, "{} bytes for 100 states of {bits} bits", store.bytes());
    }
}

#[test]
fn an_insertion_beyond_the_limit_is_refused() {
    fn check(mut store: impl Store) {
        assert_eq!(store.reserve(1 << 45, UNLIMITED), Err(Full));
        assert_eq!(store.reserve(1, UNLIMITED), Ok(()));
    }
    check(ExactWordSet::new(64));
    check(PlainSet::default());
    check(CollapseSet::new(cut));
    check(TreeSet::new(ExactWordSet::new(40), 40));
    check(DfaSet::new(ExactWordSet::new(64)));
}

/// Many similar states take little memory.
#[test]
#[cfg_attr(miri, ignore = "too many")]
fn states_with_much_in_common_take_little() {
    fn bytes_each(mut store: impl Store) -> u64 {
        for number in 0..1u64 << 18 {
            // Three parts of ten words each, with 64 values each.
            let parts =
                [number % 64, number / 64 % 64, number / 4096].map(|part| (part << 7).to_le_bytes().repeat(10));
            store.reserve(1, UNLIMITED).unwrap();
            let key = store.key(&parts.concat(), &Default::default());
            assert_eq!(store.insert_alone(key), Visit::New);
        }
        store.bytes() / store.len()
    }
    let cut = |_: &State, parts: &mut Vec<Part>| parts.extend([640, 1280, 1920].map(|end| Part { end, kind: 0 }));
    let found = [
        bytes_each(PlainSet::default()),
        bytes_each(CollapseSet::new(cut)),
        bytes_each(DfaSet::new(ExactWordSet::new(64))),
    ];
    let [plain, collapse, minimal] = found;
    assert!(plain > 240 && collapse < 24 && minimal < 8, "{found:?}");
}
