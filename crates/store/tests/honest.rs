//! Alone in its process, so that what the process occupies is what the store occupies.
#![cfg(target_os = "linux")]

use entail_model::{Store, Visit};
use entail_store::Exact;

#[test]
fn the_store_occupies_as_many_bytes_as_it_says() {
    let before = resident_bytes();
    let mut store = Exact::new();
    for n in 0..500_000u64 {
        assert_eq!(store.visit(&n.to_le_bytes().repeat(5)), Visit::New);
    }
    let occupied = resident_bytes() - before;
    let claimed = store.bytes();
    assert!(occupied.abs_diff(claimed) < claimed / 20 + (1 << 20), "{claimed} bytes claimed, {occupied} occupied");
}

fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("Linux says so");
    let kib: u64 = line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).expect("a number of KiB");
    kib * 1024
}
