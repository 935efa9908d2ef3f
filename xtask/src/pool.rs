//! Parallel work with results in order.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The number of cores.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// Applies `work` to every item, in `workers` threads.
pub fn map<T: Sync, R: Send>(workers: usize, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(items.len()));
    thread::scope(|scope| {
        for _ in 0..workers.max(1) {
            scope.spawn(|| {
                while let Some((number, item)) = take(&next, items) {
                    let result = work(item);
                    results.lock().expect("no worker panicked").push((number, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no worker panicked");
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

fn take<'a, T>(next: &AtomicUsize, items: &'a [T]) -> Option<(usize, &'a T)> {
    let number = next.fetch_add(1, Ordering::Relaxed);
    items.get(number).map(|item| (number, item))
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_keep_the_order_of_the_work() {
        let items: Vec<u32> = (0..100).collect();
        assert_eq!(super::map(4, &items, |n| n * 2), items.iter().map(|n| n * 2).collect::<Vec<_>>());
    }
}
