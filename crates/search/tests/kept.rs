//! A resumed search has the same result as one without interruption.

mod common;

use std::io;
use std::sync::atomic::Ordering;

use common::ALL;
use common::album::Album;
use common::counter::{AtLast, Counter};
use common::disorder::{Disorder, Fewer};
use entail_disk::{Reader, Snapshot, Writer};
use entail_model::{Model, Observer, Reduced, Store};
use entail_search::{
    Checks, End, Errors, Limit, Limits, Outcome, breadth_first, depth_first, resume_breadth_first,
    resume_depth_first,
};
use entail_store::{BitstateSet, CompactSet, ExactPairSet, ExactWordSet, LossySet, VisitedSet};
use entail_testkit::graph::Graph;
use entail_testkit::recording_store::RecordingStore;
use entail_testkit::rng::Rng;

/// Counts the steps of each kind.
#[derive(Clone, Debug, Default, PartialEq)]
struct Tally(Vec<u64>);

impl Observer<u32> for Tally {
    fn stepped(&mut self, step: u32) {
        self.0.resize(self.0.len().max(step as usize + 1), 0);
        self.0[step as usize] += 1;
    }

    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.0.save(to)
    }

    fn restore(&mut self, from: &mut Reader) -> io::Result<()> {
        self.0 = Snapshot::load(from)?;
        Ok(())
    }
}

#[derive(Clone, Copy, Debug)]
enum Order {
    Breadth,
    Depth,
}

fn search<M: Model, S: Store, O: Observer<M::Step>>(
    order: Order,
    model: &M,
    store: &mut S,
    (checks, limits): (&Checks, &Limits),
    observer: &mut O,
    saved: Option<&[u8]>,
) -> io::Result<Outcome<M::Step>> {
    let saved = saved.map(|bytes| Reader::new(Box::new(bytes), bytes.len() as u64)).transpose()?;
    match (order, saved) {
        (Order::Breadth, None) => Ok(breadth_first(model, store, checks, limits, observer)),
        (Order::Breadth, Some(from)) => resume_breadth_first(model, store, checks, limits, observer, from),
        (Order::Depth, None) => Ok(depth_first(model, store, checks, limits, observer)),
        (Order::Depth, Some(from)) => resume_depth_first(model, store, checks, limits, observer, from),
    }
}

/// Searches without interruption, and then with interruptions; returns their number.
fn same<M: Model<Step = u32>, S: Store>(
    order: Order,
    model: &M,
    new: impl Fn() -> S,
    checks: &Checks,
    every: u64,
) -> usize {
    let depth = matches!(order, Order::Depth).then_some(5000);
    let limits = Limits { depth, ..Limits::default() };
    let (mut store, mut expected_tally) = (new(), Tally::default());
    let expected = search(order, model, &mut store, (checks, &limits), &mut expected_tally, None).unwrap();
    let mut last: Option<Vec<u8>> = None;
    for cuts in 0.. {
        let album = Album::new(every, 2);
        let limits = Limits { stop: Some(&album.stop), keeper: Some(&album), ..limits };
        let (mut store, mut tally) = (new(), Tally::default());
        let outcome = search(order, model, &mut store, (checks, &limits), &mut tally, last.as_deref()).unwrap();
        if outcome.end != End::Limit(Limit::Interrupted) {
            // A loaded value may take a little less.
            assert_eq!(Outcome { bytes: expected.bytes, ..outcome }, expected, "{order:?}, every {every}");
            assert_eq!(tally, expected_tally);
            return cuts;
        }
        let kept = album.kept.take();
        // Two periodic ones, and one for the interrupt, which ended the search.
        assert_eq!(kept.len(), 3);
        // Continues from any of them.
        last = Some(kept[cuts % 3].clone());
    }
    unreachable!()
}

#[test]
fn it_does_not_matter_when_a_search_is_cut_off() {
    let [mut cut, mut errors] = [0; 2];
    for seed in 0..4 {
        let words = 1 + seed as usize % 4;
        let model = Disorder { nodes: 12_000, words, seed };
        let reduced = Reduced { model: &model, reduction: Some(&Fewer) };
        let first = Checks { errors: Errors::First, assertions: false, end_states: false, ..ALL };
        for every in [1, 6] {
            for checks in [ALL, first] {
                for order in [Order::Breadth, Order::Depth] {
                    cut += same(order, &model, RecordingStore::default, &checks, every);
                    cut += same(order, &model, || VisitedSet::new(ExactWordSet::new(40), None), &checks, every);
                    cut += same(order, &model, || VisitedSet::new(ExactPairSet::new(), None), &checks, every);
                    let compact =
                        || VisitedSet::new(ExactWordSet::new(40), Some(LossySet::Compact(CompactSet::new(18))));
                    cut += same(order, &model, compact, &checks, every);
                    let bitstate = || Some(LossySet::Bitstate(BitstateSet::new(1 << 15, 2).unwrap()));
                    cut += same(order, &model, || VisitedSet::new(ExactPairSet::new(), bitstate()), &checks, every);
                }
                let narrow = || VisitedSet::new(ExactWordSet::new(40), None);
                cut += same(Order::Breadth, &reduced, narrow, &checks, every);
            }
        }
        let outcome = breadth_first(&model, &mut RecordingStore::default(), &ALL, &Limits::default(), &mut ());
        errors += usize::from(outcome.errors > 5 && outcome.stats.stored > 5_000);
    }
    assert!(cut > 300 && errors == 4, "{cut} {errors}");
}

/// Probes depend on the number of states, which is part of the snapshot.
#[test]
fn nor_does_it_if_the_depth_is_probed() {
    let soonest = Checks { errors: Errors::Soonest, assertions: false, end_states: false, ..ALL };
    for (seed, words) in [(1, 1), (2, 3)] {
        let model = Disorder { nodes: 300_000, words, seed };
        assert!(same(Order::Breadth, &model, || VisitedSet::new(ExactWordSet::new(40), None), &soonest, 3) > 0);
    }
    let model = Counter { last: 200, switches: 18, reversed: true, at_last: AtLast::Stops };
    let ends = Checks { end_states: true, ..soonest };
    let found = breadth_first(&model, &mut RecordingStore::default(), &ends, &Limits::default(), &mut ());
    assert!(found.is_probed);
    assert!(same(Order::Breadth, &model, || VisitedSet::new(ExactWordSet::new(63), None), &ends, 3) > 0);
}

/// Includes graphs that are complete before a snapshot is due.
#[test]
fn small_graphs_are_searched_to_the_same_end() {
    for seed in 0..2000 {
        let graph = Graph::random(&mut Rng::new(seed));
        for order in [Order::Breadth, Order::Depth] {
            let plain = Limits::default();
            let expected =
                search(order, &graph, &mut RecordingStore::default(), (&ALL, &plain), &mut (), None).unwrap();
            let album = Album::new(1, usize::MAX);
            let limits = Limits { keeper: Some(&album), ..plain };
            let outcome =
                search(order, &graph, &mut RecordingStore::default(), (&ALL, &limits), &mut (), None).unwrap();
            assert_eq!(outcome, expected);
            for kept in album.kept.take() {
                let outcome =
                    search(order, &graph, &mut RecordingStore::default(), (&ALL, &plain), &mut (), Some(&kept));
                assert_eq!(Outcome { bytes: expected.bytes, ..outcome.unwrap() }, expected, "{graph:?}");
            }
        }
    }
}

#[test]
fn who_waits_no_longer_gets_a_last_page() {
    let model = Disorder { nodes: 30_000, words: 1, seed: 9 };
    for order in [Order::Breadth, Order::Depth] {
        let album = Album::new(u64::MAX, usize::MAX);
        album.stop.store(true, Ordering::Relaxed);
        let limits = Limits { stop: Some(&album.stop), keeper: Some(&album), ..Limits::default() };
        let outcome =
            search(order, &model, &mut RecordingStore::default(), (&ALL, &limits), &mut (), None).unwrap();
        assert_eq!((outcome.end, album.kept.borrow().len()), (End::Limit(Limit::Interrupted), 1));
        let time = Some(std::time::Duration::ZERO);
        let limits = Limits { time, keeper: Some(&album), ..Limits::default() };
        let outcome =
            search(order, &model, &mut RecordingStore::default(), (&ALL, &limits), &mut (), None).unwrap();
        assert_eq!((outcome.end, album.kept.borrow().len()), (End::Limit(Limit::Time), 2));
    }
}

#[test]
fn what_was_kept_by_another_search_or_is_damaged_is_refused() {
    let model = Disorder { nodes: 3_000, words: 1, seed: 1 };
    let album = Album::new(1, usize::MAX);
    let limits = Limits { keeper: Some(&album), ..Limits::default() };
    breadth_first(&model, &mut RecordingStore::default(), &ALL, &limits, &mut ());
    let kept = album.kept.take().pop().unwrap();
    let again = |order, bytes: &[u8]| {
        search(order, &model, &mut RecordingStore::default(), (&ALL, &Limits::default()), &mut (), Some(bytes))
    };
    assert!(again(Order::Breadth, &kept).is_ok());
    assert!(again(Order::Depth, &kept).is_err());
    let mut rng = Rng::new(4);
    for _ in 0..200 {
        let (len, at) = (rng.below(kept.len()), rng.below(kept.len()));
        assert!(again(Order::Breadth, &kept[..len]).is_err());
        let mut other = kept.clone();
        other[at] ^= 1 << rng.below(8);
        assert!(again(Order::Breadth, &other).is_err());
    }
}
