//! A restored store behaves as the saved one.

use std::io;

use entail_disk::{Reader, Restore, Scratch, Writer};
use entail_model::{Keys, Part, State, Store};
use entail_store::{
    BitstateSet, CacheSet, CacheSize, CollapseSet, CompactSet, Degradation, DfaSet, ExactPairSet, ExactWordSet,
    LossySet, PlainSet, Share, StateSet, TreeSet, VisitedSet,
};
use entail_testkit::rng::Rng;

fn written(store: &impl Restore) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes).unwrap();
    store.save(&mut writer).unwrap();
    writer.finish().unwrap();
    bytes
}

fn read(store: &mut impl Restore, bytes: &[u8], room: u64) -> io::Result<()> {
    let mut reader = Reader::new(Box::new(bytes), bytes.len() as u64)?;
    reader.limit(room);
    store.restore(&mut reader)?;
    reader.finish()
}

/// A state of a few words, mostly of one or two, which have little in common, or much.
fn random_state(rng: &mut Rng, bits: u32) -> Vec<u8> {
    let words = *rng.pick(&[1, 1, 1, 2, 2, 2, 3, 5, 9, 17]);
    let word = |rng: &mut Rng| if rng.chance(0.5) { rng.bits() >> (64 - bits) } else { rng.below(100) as u64 };
    (0..words).flat_map(|_| word(rng).to_le_bytes()).collect()
}

fn insert<S: Store>(store: &mut S, state: &[u8]) -> (S::Key, bool) {
    store.reserve(1, u64::MAX).unwrap();
    let key = store.key(state, &Default::default());
    (key, store.insert_alone(key) == entail_model::Visit::New)
}

/// Fills a store, and from time to time continues with a loaded copy.
fn goes_on<S: Store>(new: impl Fn() -> S, bits: u32, count: usize) {
    let mut rng = Rng::new(u64::from(bits));
    let (mut store, mut loaded) = (new(), new());
    let mut states = Vec::new();
    for round in 0..4 {
        for _ in 0..count >> (2 * (3 - round)) {
            let state = random_state(&mut rng, bits);
            let (key, visit) = insert(&mut store, &state);
            if round > 0 {
                assert_eq!(insert(&mut loaded, &state), (key, visit));
            }
            states.push((state, key));
        }
        let bytes = written(&store);
        loaded = new();
        read(&mut loaded, &bytes, u64::MAX).unwrap();
        assert_eq!(loaded.len(), store.len());
        // The store may have room to grow that a loaded one does not need.
        assert!(loaded.bytes() <= store.bytes() && loaded.bytes() > store.bytes() / 10 * 9);
        assert_eq!((loaded.growth(), loaded.guarantee()), (store.growth(), store.guarantee()));
        let mut opened = Vec::new();
        for (state, key) in &states {
            loaded.open(*key, &mut opened, &mut Default::default());
            assert_eq!(opened, *state);
        }
        assert!(written(&loaded) == bytes, "the same is written once more");
        let needed = loaded.bytes();
        let error = read(&mut new(), &bytes, needed / 2).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::OutOfMemory);
    }
    assert!(store.len() > count as u64 / 4, "{}", store.len());
}

fn lossy_sets() -> [fn() -> Option<LossySet>; 4] {
    [
        || None,
        || Some(LossySet::Compact(CompactSet::new(30))),
        || Some(LossySet::Bitstate(BitstateSet::new(1 << 20, 3).unwrap())),
        || Some(LossySet::Bitstate(BitstateSet::optimistic(1 << 20).unwrap())),
    ]
}

#[test]
fn every_store_goes_on_as_if_nothing_had_happened() {
    for lossy in lossy_sets() {
        for bits in [20, 40, 63] {
            goes_on(|| VisitedSet::new(ExactWordSet::new(bits), lossy()).with_seed(7), bits, 60_000);
        }
        // All states in the tree, and none.
        goes_on(|| VisitedSet::new(ExactWordSet::new(64), lossy()), 64, 60_000);
        goes_on(|| VisitedSet::new(ExactPairSet::new(), lossy()), 63, 60_000);
    }
    goes_on(|| TreeSet::new(ExactWordSet::new(40), 40), 40, 60_000);
    // All states split into halves, and some with more bits than that.
    goes_on(|| TreeSet::new(ExactPairSet::new(), 127), 63, 60_000);
    goes_on(|| TreeSet::new(ExactPairSet::new(), 70), 63, 60_000);
    goes_on(PlainSet::default, 40, 60_000);
    goes_on(|| CollapseSet::new(by_words), 40, 60_000);
    goes_on(|| DfaSet::new(ExactWordSet::new(40)), 40, 20_000);
    goes_on(|| DfaSet::new(ExactPairSet::new()), 63, 20_000);
    goes_on(|| CacheSet::new(ExactWordSet::new(40), ROOMY), 40, 60_000);
    goes_on(|| CacheSet::new(ExactPairSet::new(), ROOMY), 63, 60_000);
}

const ROOMY: CacheSize = CacheSize { slots: 300_000, probes: 64, collisions: 16 };

fn by_words(state: &State, parts: &mut Vec<Part>) {
    parts.extend((1..).map(|word| Part { end: 64 * word, kind: word }).take(state.len() / 8));
}

/// The next replacement depends on the whole state of the cache.
#[test]
fn a_cache_goes_on_forgetting_the_same() {
    let new = || CacheSet::new(ExactWordSet::new(40), CacheSize { slots: 500, probes: 8, collisions: 4 });
    let (mut rng, mut store, mut path) = (Rng::new(3), new(), Vec::new());
    for _ in 0..20 {
        let mut loaded = new();
        read(&mut loaded, &written(&store), u64::MAX).unwrap();
        for _ in 0..1000 {
            let state = (rng.below(1000) as u64).to_le_bytes();
            let (key, is_new) = insert(&mut store, &state);
            assert_eq!(insert(&mut loaded, &state), (key, is_new));
            path.extend(is_new.then_some(key));
            while rng.chance(0.45) {
                if let Some(left) = path.pop() {
                    store.leave(left);
                    loaded.leave(left);
                }
            }
        }
        assert_eq!((loaded.len(), loaded.forgotten()), (store.len(), store.forgotten()));
    }
    assert!(store.forgotten() > 5000, "{}", store.forgotten());
}

#[test]
fn a_degraded_set_is_restored_at_its_level() {
    let folder = tempfile::tempdir().unwrap();
    let degradation = || Degradation::new(Scratch::new(folder.path()), Share::Most).tree_first(58);
    let new = || VisitedSet::new(ExactWordSet::new(58), None).with_degradation(degradation());
    // A thousand halves of each kind.
    let state = |number: u64| {
        let (high, low) = (number / 1000 * 0x9e_3779 % (1 << 29), number % 1000);
        (high << 29 | low).to_le_bytes()
    };
    for levels in 1..=3 {
        let mut store = new();
        (0..20_000).for_each(|number| _ = insert(&mut store, &state(number)));
        for _ in 0..levels {
            store.degrade(1, 400_000).unwrap();
        }
        let mut loaded = new();
        read(&mut loaded, &written(&store), u64::MAX).unwrap();
        assert_eq!((loaded.levels(), loaded.levels().len()), (store.levels(), levels));
        assert_eq!((loaded.len(), loaded.guarantee()), (store.len(), store.guarantee()));
        for number in 0..40_000 {
            let is_new = insert(&mut store, &state(number)).1;
            assert_eq!(insert(&mut loaded, &state(number)).1, is_new);
            assert!(number >= 20_000 || !is_new, "{number} is known");
        }
    }
}

#[test]
fn the_seed_is_restored() {
    let new =
        |seed| VisitedSet::new(ExactWordSet::new(60), Some(LossySet::Compact(CompactSet::new(20)))).with_seed(seed);
    let (mut store, mut loaded) = (new(1), new(2));
    read(&mut loaded, &written(&store), u64::MAX).unwrap();
    let visits = |store: &mut VisitedSet<_>| {
        (0..10_000u64).map(|state| insert(store, &(state << 20).to_le_bytes()).1).collect::<Vec<_>>()
    };
    let expected = visits(&mut store);
    assert_eq!(visits(&mut loaded), expected);
    assert_ne!(visits(&mut new(2)), expected, "another seed takes other states for each other");
}

#[test]
fn damaged_stores_are_refused() {
    fn refuses<S: Store>(new: impl Fn() -> S) {
        let (mut rng, mut store) = (Rng::new(1), new());
        (0..300).for_each(|_| _ = insert(&mut store, &random_state(&mut rng, 40)));
        let bytes = written(&store);
        for _ in 0..300 {
            let len = rng.below(bytes.len());
            assert!(read(&mut new(), &bytes[..len], 1 << 30).is_err(), "{len} of {}", bytes.len());
            let (at, bit) = (rng.below(bytes.len()), 1 << rng.below(8));
            let mut other = bytes.clone();
            other[at] ^= bit;
            assert!(read(&mut new(), &other, 1 << 30).is_err(), "bit {bit} at {at}");
        }
    }
    for lossy in lossy_sets() {
        refuses(|| VisitedSet::new(ExactWordSet::new(40), lossy()));
        refuses(|| VisitedSet::new(ExactPairSet::new(), lossy()));
    }
    refuses(|| TreeSet::new(ExactWordSet::new(40), 40));
    refuses(PlainSet::default);
    refuses(|| CollapseSet::new(by_words));
    refuses(|| DfaSet::new(ExactWordSet::new(40)));
    refuses(|| CacheSet::new(ExactWordSet::new(40), ROOMY));
}

#[test]
fn states_of_another_length_are_refused() {
    let bytes = written(&ExactWordSet::new(40));
    let error = read(&mut ExactWordSet::new(41), &bytes, u64::MAX).unwrap_err();
    assert!(error.to_string().contains("another length"), "{error}");
    let bytes = written(&TreeSet::new(ExactPairSet::new(), 100));
    let error = read(&mut TreeSet::new(ExactPairSet::new(), 110), &bytes, u64::MAX).unwrap_err();
    assert!(error.to_string().contains("another length"), "{error}");
}
