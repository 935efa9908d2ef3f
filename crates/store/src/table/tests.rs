//! Compares the table with a set of the standard library.

#[cfg(not(loom))]
mod alone {
    use std::collections::HashSet;

    use entail_testkit::rng::Rng;
    use proptest::prelude::*;

    use super::super::*;
    use entail_model::Full;

    const UNLIMITED: u64 = u64::MAX;

    /// A random number of the table's width.
    fn random(rng: &mut Rng, bits: u32) -> u64 {
        rng.bits() >> (64 - bits)
    }

    fn expected(is_new: bool) -> Visit {
        if is_new { Visit::New } else { Visit::Seen }
    }

    fn contents(table: &Table) -> HashSet<u64> {
        let mut all = HashSet::new();
        table.each(|number| assert!(all.insert(number), "{number} twice"));
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 3 } else { 200 }))]

        #[test]
        fn says_of_every_number_whether_it_is_new(bits in 2u32..=64, seed: u64, many in 1..3000usize, step in 1..300usize) {
            let mut rng = Rng::new(seed);
            let mut table = Table::new(bits);
            let mut set = HashSet::new();
            // Numbers that differ in a few bits are as likely as any others in real models.
            let mask = if rng.chance(0.5) { u64::MAX } else { 0x0f0f_3c3c_5555_00ff };
            for i in 0..many {
                if i % step == 0 {
                    prop_assert_eq!(table.reserve(step, UNLIMITED), Ok(()));
                    prop_assert_eq!(table.len(), set.len() as u64);
                }
                let number = random(&mut rng, bits) & mask;
                table.prefetch(number);
                prop_assert_eq!(table.insert(number), expected(set.insert(number)));
            }
            prop_assert_eq!(contents(&table), set);
        }

        #[cfg(vectors)]
        #[test]
        fn a_processor_without_vectors_finds_the_same(bits in 2u32..=63, seed: u64, step in 1..300usize) {
            let mut rng = Rng::new(seed);
            let (mut best, mut plain) = (Table::new(bits), Table::new(bits));
            plain.machine = Machine::Portable;
            for i in 0..10 {
                let numbers: Vec<_> = (0..step).map(|_| random(&mut rng, bits)).collect();
                let [best, plain] = [&mut best, &mut plain].map(|table| {
                    assert_eq!(table.reserve(step, UNLIMITED), Ok(()));
                    let mut new = Vec::new();
                    match i % 3 {
                        0 => table.insert_all_alone(&numbers, &mut new, |number| number),
                        1 => table.insert_all(&numbers, &mut new, |number| number),
                        _ => insert_each(&numbers, &mut new, |number| table.insert(number)),
                    }
                    (new, contents(table))
                });
                prop_assert_eq!(best, plain);
            }
        }

        #[test]
        fn numbers_that_crowd_a_few_lines_are_not_lost(bits in 8u32..=64, seed: u64, reserved: bool) {
            let mut rng = Rng::new(seed);
            let mut table = Table::new(bits);
            let mut set = HashSet::new();
            for i in 0..1500 {
                if reserved {
                    prop_assert_eq!(table.reserve(1, UNLIMITED), Ok(()));
                }
                // All of them have their homes at the end of the table, or at the beginning.
                let scattered = table.shape.exactly(u64::from(i % 3 == 0).wrapping_sub(rng.below(1000) as u64));
                let number = table.mix.gather(scattered);
                prop_assert_eq!(table.insert(number), expected(set.insert(number)));
            }
            prop_assert_eq!(table.len(), set.len() as u64);
            prop_assert_eq!(contents(&table), set.clone());
            prop_assert_eq!(table.reserve(10_000, UNLIMITED), Ok(()));
            prop_assert_eq!(contents(&table), set);
        }

        #[test]
        fn stays_within_its_limit_and_keeps_what_it_has(bits in 12u32..=64, limit in 0u64..200_000, seed: u64) {
            let mut rng = Rng::new(seed);
            let mut table = Table::new(bits);
            let mut set = HashSet::new();
            while table.reserve(10, limit) == Ok(()) && set.len() < 1 << (bits - 1) {
                for _ in 0..10 {
                    let number = random(&mut rng, bits);
                    prop_assert_eq!(table.insert(number), expected(set.insert(number)));
                }
                prop_assert!(table.bytes() <= limit + 10 * 20, "{} bytes", table.bytes());
            }
            prop_assert!(set.iter().all(|&number| table.insert(number) == Visit::Seen));
            prop_assert_eq!(contents(&table), set);
        }

        #[test]
        fn numbers_may_become_others(bits in 13u32..=64, other in 13u32..=64, count in 0usize..2000, seed: u64) {
            let mut rng = Rng::new(seed);
            let mut table = Table::new(bits);
            prop_assert_eq!(table.reserve(count, UNLIMITED), Ok(()));
            for _ in 0..count {
                let _ = table.insert(random(&mut rng, bits.min(12)));
            }
            let rekeyed = table.rekeyed(other, table.len() + 5, UNLIMITED, |number| number ^ 0x1555).unwrap();
            let expected: HashSet<u64> = contents(&table).into_iter().map(|number| number ^ 0x1555).collect();
            prop_assert_eq!(rekeyed.len(), table.len());
            prop_assert_eq!(contents(&rekeyed), expected);
        }
    }

    #[test]
    fn every_number_there_is_may_be_in_the_table() {
        for bits in 2..=if cfg!(miri) { 6 } else { 14 } {
            let mut table = Table::new(bits);
            for number in 0..1 << bits {
                table.reserve(1, UNLIMITED).unwrap();
                assert_eq!(table.insert(number), Visit::New);
            }
            assert!((0..1 << bits).all(|number| table.insert(number) == Visit::Seen), "{bits} bits");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many")]
    fn a_large_table_takes_few_bytes_a_number() {
        let (mut table, mut rng) = (Table::new(48), Rng::new(1));
        let mut all = Vec::new();
        for n in 0..6_000_000u64 {
            if n % 1000 == 0 {
                table.reserve(1000, UNLIMITED).unwrap();
            }
            let _ = table.insert(random(&mut rng, 48));
            if n > 2_000_000 && n % 100_000 == 0 {
                all.push(table.bytes() as f64 / table.len() as f64);
            }
        }
        assert!(all.iter().all(|bytes| *bytes < 9.0), "{all:?} bytes a number");
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        assert!(mean < 7.5, "{mean} bytes a number");
        let mut rng = Rng::new(1);
        assert!((0..6_000_000).all(|_| table.insert(random(&mut rng, 48)) == Visit::Seen));
    }

    /// Small tables double, large ones do not; four parts of a large one must not double either.
    #[test]
    fn parts_grow_as_the_whole() {
        for growth_rate in [GrowthRate::Fast, GrowthRate::Slow] {
            for homes in [1 << 10, 1 << 13, 1 << 14, 1 << 16, 1 << 18] {
                let factor = |homes: usize, parts: u32| {
                    growth::next_homes(&Shape::new(54, homes), growth_rate, parts) as f64 / homes as f64
                };
                let (whole, part) = (factor(homes, 0), factor(homes / 4, 2));
                assert!((whole - part).abs() < 0.2, "{homes}, {growth_rate:?}: {whole} and {part}");
            }
        }
    }

    #[test]
    fn a_table_that_may_grow_grows() {
        for homes in (growth::FEWEST_HOMES..1 << 22).step_by(if cfg!(miri) { 1 << 20 } else { 4001 }) {
            for bits in 2..=64 {
                let shape = Shape::new(bits, homes);
                for growth_rate in [GrowthRate::Fast, GrowthRate::Slow] {
                    let next = growth::next_homes(&shape, growth_rate, 0);
                    assert!(
                        growth::is_worth_a_pass(&shape, next),
                        "{bits} bits, {growth_rate:?}: {homes} to {next}"
                    );
                }
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many")]
    fn a_slowly_growing_table_is_always_nearly_full() {
        for bits in 38..42 {
            let (mut table, mut rng) = (Table::new(bits).with_growth_rate(GrowthRate::Slow), Rng::new(1));
            for n in 0..1_500_000u64 {
                if n % 1000 == 0 {
                    table.reserve(1000, UNLIMITED).unwrap();
                    let each = table.bytes() as f64 / table.len() as f64;
                    assert!(n < 1_000_000 || each < 5.4, "{each} bytes a number");
                }
                let _ = table.insert_alone(random(&mut rng, bits));
            }
            let mut rng = Rng::new(1);
            assert!((0..1_500_000).all(|_| table.insert(random(&mut rng, bits)) == Visit::Seen));
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many")]
    fn the_whole_limit_is_used() {
        for (bits, limit, least) in
            [(48, 50_000_000, 0.87 / 4.0), (64, 9_000_000, 0.87 / 8.0), (30, 9_000_000, 0.87 / 2.0)]
        {
            let (mut table, mut rng) = (Table::new(bits), Rng::new(2));
            while table.reserve(100, limit) == Ok(()) {
                (0..100).for_each(|_| _ = table.insert(random(&mut rng, bits)));
            }
            let used = table.len() as f64 / limit as f64;
            assert!(used > least, "{used} numbers of {bits} bits a byte");
            assert!(table.bytes() <= limit + 100 * 20);
        }
    }

    #[test]
    fn memory_that_does_not_exist_cannot_be_reserved() {
        let mut table = Table::new(64);
        assert_eq!(table.insert(7), Visit::New);
        assert_eq!(table.reserve(1 << 50, UNLIMITED), Err(Full));
        assert_eq!(table.reserve(1000, 10_000), Err(Full));
        assert_eq!(table.insert(7), Visit::Seen);
        assert!(table.bytes() < 10_000);
    }

    #[test]
    fn one_of_several_threads_inserts_a_number_as_new() {
        let count = if cfg!(miri) { 200 } else { 100_000 };
        for bits in [18, 24, 33, 40, 46, 54, 60, 64] {
            let mut table = Table::new(bits);
            // Filled far beyond the normal load, so that lines and numbers overflow.
            table.reserve(count / 2, UNLIMITED).unwrap();
            let news = |thread: usize| {
                let mut order: Vec<u64> = (0..count as u64).collect();
                let mut rng = Rng::new(thread as u64);
                (1..count).rev().for_each(|i| order.swap(i, rng.below(i.min(100) + 1).max(i.saturating_sub(100))));
                order.iter().filter(|&&number| table.insert(number) == Visit::New).count()
            };
            let total: usize = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4).map(|thread| scope.spawn(move || news(thread))).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).sum()
            });
            assert_eq!(total, count);
            assert_eq!(table.len(), count as u64);
            assert_eq!(contents(&table).len(), count);
        }
    }
}

#[cfg(loom)]
mod loom {
    use loom::sync::Arc;
    use loom::thread;

    use super::super::*;

    /// Lets threads insert numbers into a table of two lines of two words each, in every possible order.
    fn check(bits: u32, before: &'static [u64], threads: &'static [&'static [u64]]) {
        let mut all: Vec<u64> = threads.concat();
        all.sort_unstable();
        all.dedup();
        crate::sync::in_every_order(threads.len(), move || {
            let table = Arc::new(Table::new(bits));
            before.iter().for_each(|&number| _ = table.insert(number));
            let spawned: Vec<_> = threads
                .iter()
                .map(|numbers| {
                    let table = Arc::clone(&table);
                    thread::spawn(move || {
                        numbers.iter().filter(|&&number| table.insert(number) == Visit::New).count()
                    })
                })
                .collect();
            let news: usize = spawned.into_iter().map(|thread| thread.join().unwrap()).sum();
            let expected = all.iter().filter(|number| !before.contains(number)).count();
            assert_eq!(news, expected);
            assert_eq!(table.len() as usize, expected + before.len());
            assert!(all.iter().all(|&number| table.insert(number) == Visit::Seen));
        });
    }

    #[test]
    fn loom_two_threads_insert_the_same_number() {
        check(8, &[], &[&[5], &[5]]);
    }

    #[test]
    fn loom_two_threads_insert_the_same_numbers_in_different_orders() {
        check(8, &[], &[&[5, 6], &[6, 5]]);
    }

    #[test]
    fn loom_three_threads_insert_numbers_into_one_word() {
        check(8, &[], &[&[5], &[6], &[5]]);
    }

    /// One slot of the first word is free: some threads fill it, others must continue with the next.
    #[test]
    fn loom_a_word_becomes_full() {
        check(20, &[9], &[&[5], &[6], &[5]]);
        check(20, &[9], &[&[5, 6], &[6, 5]]);
    }

    /// While one thread scans the words of a line, another fills them in order. It does not read a word before:
    /// otherwise loom would not let the first thread scan in between.
    #[test]
    fn loom_no_word_is_skipped() {
        crate::sync::in_every_order(2, || {
            let shape = Shape::new(60, 1);
            assert!(shape.layout.is_whole() && shape.layout.lanes == 1);
            let slots = [shape.slot(5, 0), shape.slot(6, 0)];
            let line = Arc::new(Line::default());
            let other = Arc::clone(&line);
            let filling = thread::spawn(move || {
                for (word, slot) in other.0.iter().zip(slots) {
                    let _ = Shared::replace(word, 0, slot);
                }
            });
            assert!(
                line.insert::<scan::Portable, Shared>(slots[0], &shape.layout).is_ok(),
                "the line is not full without it"
            );
            filling.join().unwrap();
        });
    }

    /// Lets threads insert slots into a line of three parted ones, in every possible order.
    fn check_parted(before: &'static [u64], threads: &'static [&'static [u64]]) {
        let mut all: Vec<u64> = threads.concat();
        all.sort_unstable();
        all.dedup();
        crate::sync::in_every_order(threads.len(), move || {
            let shape = Shape::new(36, 1);
            assert!(!shape.layout.is_whole() && shape.layout.slots() == 3);
            let line = Arc::new(Line::default());
            let insert = move |line: &Line, number: u64| {
                line.insert::<scan::Portable, Shared>(shape.slot(number, 0), &shape.layout).ok()
            };
            before.iter().for_each(|&number| _ = insert(&line, number));
            let spawned = threads.iter().map(|numbers| {
                let line = Arc::clone(&line);
                let count =
                    move || numbers.iter().filter(|&&number| insert(&line, number) == Some(Visit::New)).count();
                thread::spawn(count)
            });
            let spawned: Vec<_> = spawned.collect();
            let news: usize = spawned.into_iter().map(|thread| thread.join().unwrap()).sum();
            let expected = all.iter().filter(|number| !before.contains(number)).count().min(3 - before.len());
            assert_eq!(news, expected);
            let seen = all.iter().filter(|&&number| insert(&line, number) == Some(Visit::Seen)).count();
            assert_eq!(seen, expected);
        });
    }

    /// 5, 6 and 9 differ only in their tails, and the other one in its head. Not with three threads: loom would let two
    /// threads that wait for the third one alternate without end.
    #[test]
    fn loom_a_parted_slot_is_seen_when_it_is_written() {
        const OTHER: u64 = 1 << 30;
        check_parted(&[], &[&[5], &[5]]);
        check_parted(&[], &[&[5], &[6]]);
        check_parted(&[9], &[&[5], &[OTHER]]);
    }

    /// One slot of the line is free.
    #[test]
    fn loom_the_last_parted_slot_is_taken_by_one() {
        check_parted(&[9, 10], &[&[5], &[6]]);
        check_parted(&[9, 10], &[&[5, 6], &[6, 5]]);
    }

    /// Lines of parted slots overflow, and numbers overflow too.
    #[test]
    fn loom_parted_numbers_find_a_place() {
        check(36, &[9, 10], &[&[5, 6], &[6, 5]]);
        check(36, &[9, 10, 11, 12, 13], &[&[5, 6], &[6, 5]]);
    }

    /// One slot of the line is free.
    #[test]
    fn loom_a_line_becomes_full() {
        check(60, &[9], &[&[5], &[6], &[5]]);
        check(60, &[9], &[&[5, 6], &[6, 5]]);
    }

    /// One slot of the table is free.
    #[test]
    fn loom_a_number_overflows() {
        check(60, &[9, 10, 11], &[&[5], &[6], &[5]]);
        check(60, &[9, 10, 11], &[&[5, 6], &[6, 5]]);
    }
}
