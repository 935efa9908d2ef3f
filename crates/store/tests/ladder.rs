//! When memory runs out, less is kept of each state; but what was known is known, and as much is lost as is said.

use std::collections::HashSet;

use entail_disk::Scratch;
use entail_model::{Full, Guarantee, Keys, Store, Visit};
use entail_store::{Compact, Kept, Ladder, Lossless, LosslessWide, Remains, Rung, Share, Short, Sieve, Visited};
use entail_testkit::rng::Rng;

/// What became of a store.
struct Told {
    rungs: Vec<Rung>,
    /// How many states were taken for others, and how many the store says that were.
    omitted: f64,
    said: f64,
    bytes: u64,
}

/// States of so many words that differ in all of them.
fn state(number: u64, words: u32) -> Vec<u8> {
    let digits = (0..u64::from(words)).map(|at| if words < 3 { number } else { number >> (4 * at) & 15 });
    digits.flat_map(u64::to_le_bytes).collect()
}

/// Inserts random states within a limit, each several times.
fn insert_many<S: Short>(mut store: Visited<S>, words: u32, states: u64, limit: u64) -> Result<Told, Full> {
    let (mut rng, mut known, mut new) = (Rng::new(7), HashSet::new(), HashSet::new());
    for round in 0..3 * states {
        let number = rng.below(states as usize) as u64;
        if round % 16 == 0 {
            store.reserve(16, limit).or_else(|Full| store.degrade(16, limit))?;
            assert!(store.bytes() <= limit, "{} of {limit}", store.bytes());
        }
        let key = store.key(&state(number, words), &Default::default());
        let visit = store.insert_alone(key);
        let is_first = known.insert(number);
        assert!(is_first || visit == Visit::Seen, "{number} is known");
        if visit == Visit::New {
            new.insert(number);
        }
        assert_eq!(store.len(), new.len() as u64);
        assert_eq!(store.insert(key), Visit::Seen);
    }
    let Guarantee::Probable { omitted: said, formula, .. } = store.guarantee() else {
        assert!(store.rungs().is_empty() && new.len() == known.len());
        return Ok(Told { rungs: Vec::new(), omitted: 0.0, said: 0.0, bytes: store.bytes() });
    };
    assert!(!formula.is_empty());
    let omitted = (known.len() - new.len()) as f64;
    Ok(Told { rungs: store.rungs().to_vec(), omitted, said, bytes: store.bytes() })
}

fn ladder(folder: &tempfile::TempDir) -> Ladder {
    Ladder::new(Scratch::new(folder.path()), Share::Most)
}

fn go_down<S: Short>(store: impl Fn() -> Kept<S>, words: u32, limits: &[u64]) -> Vec<usize> {
    go_down_by(|ladder| ladder, store, words, limits)
}

fn go_down_by<S: Short>(
    by: impl Fn(Ladder) -> Ladder,
    store: impl Fn() -> Kept<S>,
    words: u32,
    limits: &[u64],
) -> Vec<usize> {
    let folder = tempfile::tempdir().unwrap();
    let mut passed = Vec::new();
    for (seed, &limit) in (0..).zip(limits) {
        let visited = Visited::new(store(), None).with_seed(seed).with_ladder(by(ladder(&folder)));
        let Told { rungs, omitted, said, bytes } = insert_many(visited, words, 60_000, limit).unwrap();
        println!("{words} words, {limit} bytes: {omitted} omitted, {said} said, {bytes} taken, {rungs:?}");
        assert!(rungs.is_sorted_by(|one, other| one.from < other.from));
        assert!(
            (omitted - said).abs() < 6.0 * said.sqrt() + 0.03 * said + 3.0,
            "{omitted}, but {said} are expected"
        );
        passed.push(rungs.len());
    }
    passed
}

#[test]
fn short_states_become_hashes_and_then_bits() {
    let limits = [1 << 20, 560_000, 400_000, 200_000, 150_000, 100_000, 70_000, 40_000];
    let passed = go_down(|| Lossless::new(50), 1, &limits);
    assert!(passed[0] == 0 && passed.contains(&1) && passed.contains(&2), "{passed:?}");
}

#[test]
fn states_of_two_words_become_hashes_and_then_bits() {
    let passed = go_down(LosslessWide::new, 2, &[4 << 20, 600_000, 300_000, 150_000, 100_000, 60_000]);
    assert!(passed[0] == 0 && passed.contains(&1) && passed.contains(&2), "{passed:?}");
}

#[test]
fn long_states_become_hashes_and_then_bits() {
    let passed = go_down(|| Lossless::new(64), 5, &[4 << 20, 400_000, 250_000, 180_000]);
    assert!(passed[0] == 0 && passed.contains(&1) && passed.contains(&2), "{passed:?}");
}

/// Numbers that share their halves, so that these take little; in an order that tells nothing.
fn sharing_halves(number: u64) -> Vec<u8> {
    let [high, low] = [number / 300, number % 300].map(|half| half.wrapping_mul(0x9e_3779) % (1 << 29));
    (high << 29 | low).to_le_bytes().to_vec()
}

/// Inserts so many states, each twice, and says what became of them.
fn insert_sharing<S: Short>(
    mut store: Visited<S>,
    state: impl Fn(u64) -> Vec<u8>,
    states: u64,
    limit: u64,
) -> Result<Visited<S>, Full> {
    for number in (0..states).flat_map(|number| [number, number / 2]) {
        if number.is_multiple_of(16) {
            store.reserve(64, limit).or_else(|Full| store.degrade(64, limit))?;
            assert!(store.bytes() <= limit, "{} of {limit}", store.bytes());
        }
        let key = store.key(&state(number), &Default::default());
        let is_known = number < store.len() && store.guarantee() == Guarantee::Exact;
        let visit = store.insert_alone(key);
        assert!(!is_known || visit == Visit::Seen, "{number} is known");
    }
    Ok(store)
}

#[test]
fn by_their_halves_states_take_less_and_none_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let ladder = || ladder(&folder).by_halves(58);
    let new = || Visited::new(Lossless::new(58), None).with_ladder(ladder());
    let whole = insert_sharing(new(), sharing_halves, 80_000, u64::MAX).unwrap();
    assert!(whole.rungs().is_empty());
    let store = insert_sharing(new(), sharing_halves, 80_000, whole.bytes() / 10 * 8).unwrap();
    assert!(matches!(store.rungs()[..], [Rung { kept: Remains::Halves, .. }]), "{:?}", store.rungs());
    assert_eq!((store.len(), store.guarantee()), (80_000, Guarantee::Exact));
    let wide = |number| [sharing_halves(number % 300), sharing_halves(number / 300)].concat();
    let new = || Visited::new(LosslessWide::new(), None).with_ladder(Ladder::by_halves(ladder(), 122));
    let whole = insert_sharing(new(), wide, 80_000, u64::MAX).unwrap();
    let store = insert_sharing(new(), wide, 80_000, whole.bytes() / 10 * 8).unwrap();
    assert!(matches!(store.rungs()[..], [Rung { kept: Remains::Halves, .. }]), "{:?}", store.rungs());
    assert_eq!((store.len(), store.guarantee()), (80_000, Guarantee::Exact));
    // With less and less memory, hashes and bits follow.
    let store =
        insert_sharing(Visited::new(Lossless::new(58), None).with_ladder(ladder()), sharing_halves, 80_000, 90_000);
    let store = store.unwrap();
    assert!(
        matches!(store.rungs(), [Rung { kept: Remains::Halves, .. }, .., Rung { kept: Remains::Bits { .. }, .. }]),
        "{:?}",
        store.rungs()
    );
}

#[test]
fn states_that_share_nothing_become_hashes_at_once() {
    let passed = go_down_by(|ladder| ladder.by_halves(50), || Lossless::new(50), 1, &[560_000, 200_000, 100_000]);
    assert_eq!(passed, go_down(|| Lossless::new(50), 1, &[560_000, 200_000, 100_000]));
}

#[test]
fn hashes_become_bits() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = Sieve::Compact(Compact::new(30));
    let visited = Visited::new(Lossless::new(50), Some(sieve)).with_ladder(ladder(&folder));
    let Told { rungs, omitted, said, .. } = insert_many(visited, 1, 60_000, 100_000).unwrap();
    assert!(matches!(rungs[..], [Rung { kept: Remains::Bits { .. }, .. }]), "{rungs:?}");
    assert!((omitted - said).abs() < 6.0 * said.sqrt() + 3.0, "{omitted}, but {said} are expected");
}

#[test]
fn without_files_it_is_full() {
    let folder = tempfile::tempdir().unwrap();
    for scratch in [Scratch::new("/nowhere/at/all"), Scratch::with_room(folder.path(), 10_000)] {
        let visited = Visited::new(Lossless::new(50), None);
        let visited = visited.with_ladder(Ladder::new(scratch.clone(), Share::Most));
        assert_eq!(insert_many(visited, 1, 60_000, 100_000).err(), Some(Full));
        assert!(scratch.failure().is_some());
    }
    assert_eq!(insert_many(Visited::new(Lossless::new(50), None), 1, 60_000, 100_000).err(), Some(Full));
}
