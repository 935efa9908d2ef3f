use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use super::*;
use crate::{restore, snapshot};
use entail_testkit::rng::Rng;

#[derive(Clone, Debug, PartialEq)]
struct Everything {
    number: u64,
    truth: bool,
    text: String,
    words: Vec<u64>,
    pairs: VecDeque<(u32, Option<u8>)>,
    set: BTreeSet<u128>,
    map: BTreeMap<usize, String>,
    table: HashMap<u64, i32>,
    units: Vec<()>,
}

snapshot!(Everything { number, truth, text, words, pairs, set, map, table, units });

fn everything(rng: &mut Rng, size: usize) -> Everything {
    let mut many = || 0..rng.below(size);
    let sizes = [many(), many(), many(), many(), many(), many()];
    let [words, pairs, set, map, table, units] = sizes;
    Everything {
        number: rng.bits(),
        truth: rng.chance(0.5),
        text: "Zustände".repeat(rng.below(3)),
        words: words.map(|_| rng.bits()).collect(),
        pairs: pairs.map(|at| (at as u32, rng.chance(0.5).then_some(7))).collect(),
        set: set.map(|_| u128::from(rng.bits()) << 17).collect(),
        map: map.map(|at| (at, at.to_string())).collect(),
        table: table.map(|_| (rng.bits(), -5)).collect(),
        units: units.map(|_| ()).collect(),
    }
}

fn written(value: &impl Snapshot) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes).unwrap();
    value.save(&mut writer).unwrap();
    let count = writer.finish().unwrap();
    assert_eq!(count, bytes.len() as u64);
    bytes
}

fn read<T: Snapshot>(bytes: &[u8]) -> io::Result<T> {
    let mut reader = Reader::new(Box::new(bytes), bytes.len() as u64)?;
    let value = T::load(&mut reader)?;
    reader.finish()?;
    Ok(value)
}

#[derive(Debug, PartialEq)]
struct Buffered<T> {
    value: T,
    buffer: Vec<u8>,
}

snapshot!(impl[T: Snapshot] Buffered<T> { value, .. buffer });

#[derive(Debug, PartialEq)]
struct Pair(u8, u32);

snapshot!(Pair(first, second));

#[derive(Debug, PartialEq)]
enum Figure {
    Point,
    Circle(u32),
    Box { width: u8, height: u8 },
}

snapshot!(enum Figure { 0 => Point, 1 => Circle(radius), 5 => Box { width, height } });

#[derive(Debug, PartialEq)]
struct Range {
    low: u8,
    high: u8,
}

snapshot!(Range { low, high } if |range| range.low <= range.high, "an empty range");

#[test]
fn a_value_that_fails_its_check_is_damaged() {
    assert_eq!(read::<Range>(&written(&(1u8, 2u8))).unwrap(), Range { low: 1, high: 2 });
    assert!(read::<Range>(&written(&(2u8, 1u8))).unwrap_err().to_string().contains("an empty range"));
}

#[test]
fn generic_structs_tuples_and_enums_are_loaded_as_they_were_saved() {
    let buffered = Buffered { value: Pair(1, 2), buffer: vec![3] };
    assert_eq!(read::<Buffered<Pair>>(&written(&buffered)).unwrap(), Buffered { buffer: Vec::new(), ..buffered });
    for figure in [Figure::Point, Figure::Circle(7), Figure::Box { width: 1, height: 2 }] {
        assert_eq!(read::<Figure>(&written(&figure)).unwrap(), figure);
    }
    assert_eq!(written(&Figure::Box { width: 1, height: 2 }), written(&(5u8, (1u8, 2u8))));
    assert!(read::<Figure>(&written(&2u8)).unwrap_err().to_string().contains("no variant 2 of `Figure`"));
}

#[test]
fn restoring_changes_saved_fields_only() {
    #[derive(Debug, PartialEq)]
    struct Search {
        depth: u32,
        limit: u32,
    }
    restore!(Search { depth });
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes).unwrap();
    Search { depth: 3, limit: 4 }.save(&mut writer).unwrap();
    writer.finish().unwrap();
    let mut other = Search { depth: 0, limit: 9 };
    other.restore(&mut Reader::new(Box::new(&bytes[..]), bytes.len() as u64).unwrap()).unwrap();
    assert_eq!(other, Search { depth: 3, limit: 9 });
}

#[test]
fn values_are_loaded_as_they_were_saved() {
    let mut rng = Rng::new(5);
    for size in [1, 10, 1000] {
        let value = everything(&mut rng, size);
        assert_eq!(read::<Everything>(&written(&value)).unwrap(), value);
    }
    // Several chunks, and values that cross chunk boundaries.
    let long = (1u8, (0..300_000).map(|at| (at as u8, at)).collect::<Vec<(u8, u64)>>());
    let bytes = written(&long);
    assert!(bytes.len() > 2 * CHUNK);
    assert!(read::<(u8, Vec<(u8, u64)>)>(&bytes).unwrap() == long);
}

#[test]
fn every_proper_prefix_of_a_file_is_refused() {
    let bytes = written(&everything(&mut Rng::new(2), 30));
    for len in 0..bytes.len() {
        assert!(read::<Everything>(&bytes[..len]).is_err(), "{len} of {}", bytes.len());
        let checked = Reader::new(Box::new(&bytes[..len]), len as u64).and_then(Reader::check);
        assert!(checked.is_err(), "{len} of {}", bytes.len());
    }
    Reader::new(Box::new(&bytes[..]), bytes.len() as u64).and_then(Reader::check).unwrap();
}

#[test]
fn a_file_with_a_flipped_bit_is_refused() {
    let bytes = written(&everything(&mut Rng::new(3), 30));
    for bit in 0..8 * bytes.len() {
        let mut other = bytes.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        assert!(read::<Everything>(&other).is_err(), "bit {bit}");
        let checked = Reader::new(Box::new(&other[..]), other.len() as u64).and_then(Reader::check);
        assert!(checked.is_err(), "bit {bit}");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert!(read::<Everything>(&longer).is_err());
}

#[test]
fn chunks_in_another_order_are_refused() {
    let words: Vec<u64> = (0..(3 * CHUNK / 8) as u64).collect();
    let bytes = written(&words);
    let (head, size) = (MAGIC.len() + 4, CHUNK + CHUNK_HEAD as usize);
    let mut other = bytes.clone();
    other[head..head + 2 * size].rotate_left(size);
    assert!(read::<Vec<u64>>(&other).unwrap_err().to_string().contains("checksum"));
    let mut fewer = bytes;
    fewer.drain(head + size..head + 2 * size);
    assert!(read::<Vec<u64>>(&fewer).is_err());
}

/// A file may be invalid although its checksums are correct.
#[test]
fn nothing_is_allocated_that_the_file_cannot_fill() {
    let bytes = written(&u64::MAX);
    assert!(read::<Vec<u64>>(&bytes).unwrap_err().to_string().contains("too soon"));
    assert!(read::<String>(&bytes).unwrap_err().to_string().contains("too soon"));
    assert!(read::<BTreeMap<u64, String>>(&written(&(1u64 << 40))).is_err());
}

#[test]
fn nothing_is_allocated_beyond_the_limit() {
    let bytes = written(&vec![7u64; 1000]);
    for (room, fits) in [(8000, true), (7999, false)] {
        let mut reader = Reader::new(Box::new(&bytes[..]), bytes.len() as u64).unwrap();
        reader.limit(room);
        assert_eq!(Vec::<u64>::load(&mut reader).is_ok(), fits);
    }
}

#[test]
fn a_file_of_another_format_is_told_from_a_damaged_one() {
    let mut bytes = written(&1u8);
    bytes[MAGIC.len()] += 1;
    let complaint = read::<u8>(&bytes).unwrap_err().to_string();
    assert!(complaint.contains(&format!("it has format {}", FORMAT + 1)), "{complaint}");
    assert!(read::<u8>(b"active proctype p() { skip }").unwrap_err().to_string().contains("not a file that"));
}
