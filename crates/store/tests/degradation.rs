//! Degradation stores less of each state; known states stay known, and omissions are as frequent as estimated.

use std::collections::HashSet;

use entail_disk::Scratch;
use entail_model::{Full, Guarantee, Keys, Store, Visit};
use entail_store::{
    CompactSet, Degradation, ExactPairSet, ExactSet, ExactWordSet, Level, LevelKind, LossySet, Share,
    ShortStateSet, StateSet, VisitedSet,
};
use entail_testkit::rng::Rng;

/// A store after many insertions.
struct Inserted {
    levels: Vec<Level>,
    /// The number of omitted states, and the store's estimate.
    omitted: f64,
    estimated: f64,
    bytes: u64,
}

/// States of `words` words that differ in all of them.
fn state(number: u64, words: u32) -> Vec<u8> {
    let digits = (0..u64::from(words)).map(|at| if words < 3 { number } else { number >> (4 * at) & 15 });
    digits.flat_map(u64::to_le_bytes).collect()
}

/// Inserts random states within a limit, each several times.
fn insert_many<S: ShortStateSet>(
    mut store: VisitedSet<S>,
    words: u32,
    states: u64,
    limit: u64,
) -> Result<Inserted, Full> {
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
    let Guarantee::Probable { omitted: estimated, formula, .. } = store.guarantee() else {
        assert!(store.levels().is_empty() && new.len() == known.len());
        return Ok(Inserted { levels: Vec::new(), omitted: 0.0, estimated: 0.0, bytes: store.bytes() });
    };
    assert!(!formula.is_empty());
    let omitted = (known.len() - new.len()) as f64;
    Ok(Inserted { levels: store.levels().to_vec(), omitted, estimated, bytes: store.bytes() })
}

fn degradation(folder: &tempfile::TempDir) -> Degradation {
    Degradation::new(Scratch::new(folder.path()), Share::Most)
}

fn degrade<S: ShortStateSet>(store: impl Fn() -> ExactSet<S>, words: u32, limits: &[u64]) -> Vec<usize> {
    degrade_by(|degradation| degradation, store, words, limits)
}

fn degrade_by<S: ShortStateSet>(
    by: impl Fn(Degradation) -> Degradation,
    store: impl Fn() -> ExactSet<S>,
    words: u32,
    limits: &[u64],
) -> Vec<usize> {
    let folder = tempfile::tempdir().unwrap();
    let mut passed = Vec::new();
    for (seed, &limit) in (0..).zip(limits) {
        let visited = VisitedSet::new(store(), None).with_seed(seed).with_degradation(by(degradation(&folder)));
        let Inserted { levels, omitted, estimated, bytes } = insert_many(visited, words, 60_000, limit).unwrap();
        println!(
            "{words} words, {limit} bytes: {omitted} omitted, {estimated} estimated, {bytes} taken, {levels:?}"
        );
        assert!(levels.is_sorted_by(|one, other| one.from < other.from));
        assert!(
            (omitted - estimated).abs() < 6.0 * estimated.sqrt() + 0.03 * estimated + 3.0,
            "{omitted}, but {estimated} are expected"
        );
        passed.push(levels.len());
    }
    passed
}

#[test]
fn short_states_become_hashes_and_then_bits() {
    let limits = [1 << 20, 560_000, 400_000, 200_000, 150_000, 100_000, 70_000, 40_000];
    let passed = degrade(|| ExactWordSet::new(50), 1, &limits);
    assert!(passed[0] == 0 && passed.contains(&1) && passed.contains(&2), "{passed:?}");
}

#[test]
fn states_of_two_words_become_hashes_and_then_bits() {
    let passed = degrade(ExactPairSet::new, 2, &[4 << 20, 600_000, 300_000, 150_000, 100_000, 60_000]);
    assert!(passed[0] == 0 && passed.contains(&1) && passed.contains(&2), "{passed:?}");
}

#[test]
fn long_states_become_hashes_and_then_bits() {
    let passed = degrade(|| ExactWordSet::new(64), 5, &[4 << 20, 400_000, 250_000, 180_000]);
    assert!(passed[0] == 0 && passed.contains(&1) && passed.contains(&2), "{passed:?}");
}

/// Numbers with few distinct halves, in an order without a pattern.
fn sharing_halves(number: u64) -> Vec<u8> {
    let [high, low] = [number / 300, number % 300].map(|half| half.wrapping_mul(0x9e_3779) % (1 << 29));
    (high << 29 | low).to_le_bytes().to_vec()
}

/// Inserts `states` states, each twice, and returns the results.
fn insert_sharing<S: ShortStateSet>(
    mut store: VisitedSet<S>,
    state: impl Fn(u64) -> Vec<u8>,
    states: u64,
    limit: u64,
) -> Result<VisitedSet<S>, Full> {
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
fn tree_compression_takes_less_memory_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let degradation = || degradation(&folder).tree_first(58);
    let new = || VisitedSet::new(ExactWordSet::new(58), None).with_degradation(degradation());
    let whole = insert_sharing(new(), sharing_halves, 80_000, u64::MAX).unwrap();
    assert!(whole.levels().is_empty());
    let store = insert_sharing(new(), sharing_halves, 80_000, whole.bytes() / 10 * 8).unwrap();
    assert!(matches!(store.levels()[..], [Level { kind: LevelKind::Tree, .. }]), "{:?}", store.levels());
    assert_eq!((store.len(), store.guarantee()), (80_000, Guarantee::Exact));
    let wide = |number| [sharing_halves(number % 300), sharing_halves(number / 300)].concat();
    let new =
        || VisitedSet::new(ExactPairSet::new(), None).with_degradation(Degradation::tree_first(degradation(), 122));
    let whole = insert_sharing(new(), wide, 80_000, u64::MAX).unwrap();
    let store = insert_sharing(new(), wide, 80_000, whole.bytes() / 10 * 8).unwrap();
    assert!(matches!(store.levels()[..], [Level { kind: LevelKind::Tree, .. }]), "{:?}", store.levels());
    assert_eq!((store.len(), store.guarantee()), (80_000, Guarantee::Exact));
    // With decreasing memory, hash compaction and bitstate hashing follow.
    let store = insert_sharing(
        VisitedSet::new(ExactWordSet::new(58), None).with_degradation(degradation()),
        sharing_halves,
        80_000,
        90_000,
    );
    let store = store.unwrap();
    assert!(
        matches!(
            store.levels(),
            [Level { kind: LevelKind::Tree, .. }, .., Level { kind: LevelKind::Bitstate { .. }, .. }]
        ),
        "{:?}",
        store.levels()
    );
}

#[test]
fn states_that_share_nothing_skip_tree_compression() {
    let passed = degrade_by(
        |degradation| degradation.tree_first(50),
        || ExactWordSet::new(50),
        1,
        &[560_000, 200_000, 100_000],
    );
    assert_eq!(passed, degrade(|| ExactWordSet::new(50), 1, &[560_000, 200_000, 100_000]));
}

#[test]
fn hashes_become_bits() {
    let folder = tempfile::tempdir().unwrap();
    let lossy = LossySet::Compact(CompactSet::new(30));
    let visited = VisitedSet::new(ExactWordSet::new(50), Some(lossy)).with_degradation(degradation(&folder));
    let Inserted { levels, omitted, estimated, .. } = insert_many(visited, 1, 60_000, 100_000).unwrap();
    assert!(matches!(levels[..], [Level { kind: LevelKind::Bitstate { .. }, .. }]), "{levels:?}");
    assert!((omitted - estimated).abs() < 6.0 * estimated.sqrt() + 3.0, "{omitted}, but {estimated} are expected");
}

#[test]
fn without_files_it_is_full() {
    let folder = tempfile::tempdir().unwrap();
    for scratch in [Scratch::new("/nowhere/at/all"), Scratch::with_room(folder.path(), 10_000)] {
        let visited = VisitedSet::new(ExactWordSet::new(50), None);
        let visited = visited.with_degradation(Degradation::new(scratch.clone(), Share::Most));
        assert_eq!(insert_many(visited, 1, 60_000, 100_000).err(), Some(Full));
        assert!(scratch.failure().is_some());
    }
    assert_eq!(insert_many(VisitedSet::new(ExactWordSet::new(50), None), 1, 60_000, 100_000).err(), Some(Full));
}
