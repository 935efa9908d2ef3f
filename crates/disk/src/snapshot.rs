//! Snapshots: values as bytes, in chunks with checksums.
//!
//! ```text
//! magic (16) │ format (4) │ chunk │ chunk │ … │ an empty chunk
//! chunk:  length (4) │ hash (8) │ bytes
//! ```
//!
//! All numbers are little-endian. The hash of a chunk depends on all chunks before it, so a reader detects missing, changed,
//! moved and truncated chunks before it uses them. A reader never allocates more than the rest of the file can fill, nor
//! more than its limit.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, Hash};
use std::io::{self, Read, Write};
use std::time::Duration;

use rapidhash::v3::{RapidSecrets, rapidhash_v3_seeded};

pub(crate) const MAGIC: [u8; 16] = *b"entail saved\r\n\x1a\n";
/// The version of the format. It grows with every incompatible change.
pub const FORMAT: u32 = 5;
const CHUNK: usize = 1 << 20;
const CHUNK_HEAD: u64 = 12;

/// A value that can be saved and loaded.
pub trait Snapshot: Sized {
    fn save(&self, to: &mut Writer) -> io::Result<()>;
    fn load(from: &mut Reader) -> io::Result<Self>;
}

/// A value whose state can be saved, and restored in another value that was constructed in the same way.
pub trait Restore {
    fn save(&self, to: &mut Writer) -> io::Result<()>;
    fn restore(&mut self, from: &mut Reader) -> io::Result<()>;
}

impl Restore for () {
    fn save(&self, _: &mut Writer) -> io::Result<()> {
        Ok(())
    }

    fn restore(&mut self, _: &mut Reader) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a snapshot, chunk by chunk.
pub struct Writer<'w> {
    sink: &'w mut dyn Write,
    chunk: Vec<u8>,
    hash: u64,
    written: u64,
}

impl<'w> Writer<'w> {
    pub fn new(sink: &'w mut dyn Write) -> io::Result<Writer<'w>> {
        sink.write_all(&MAGIC)?;
        sink.write_all(&FORMAT.to_le_bytes())?;
        let written = (MAGIC.len() + size_of_val(&FORMAT)) as u64;
        Ok(Writer { sink, chunk: Vec::with_capacity(CHUNK), hash: 0, written })
    }

    #[inline]
    pub fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.chunk.len() + bytes.len() <= CHUNK {
            self.chunk.extend_from_slice(bytes);
            return Ok(());
        }
        self.put_across(bytes)
    }

    #[cold]
    fn put_across(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(CHUNK - self.chunk.len()));
            self.chunk.extend_from_slice(now);
            bytes = later;
            if self.chunk.len() == CHUNK {
                self.end_chunk()?;
            }
        }
        Ok(())
    }

    fn end_chunk(&mut self) -> io::Result<()> {
        self.hash = chained(self.hash, &self.chunk);
        self.sink.write_all(&(self.chunk.len() as u32).to_le_bytes())?;
        self.sink.write_all(&self.hash.to_le_bytes())?;
        self.sink.write_all(&self.chunk)?;
        self.written += CHUNK_HEAD + self.chunk.len() as u64;
        self.chunk.clear();
        Ok(())
    }

    /// Writes the last chunk; returns the total number of bytes.
    pub fn finish(mut self) -> io::Result<u64> {
        if !self.chunk.is_empty() {
            self.end_chunk()?;
        }
        self.end_chunk()?;
        self.sink.flush()?;
        Ok(self.written)
    }
}

/// Reads what a [`Writer`] wrote.
pub struct Reader<'r> {
    source: Box<dyn Read + 'r>,
    chunk: Vec<u8>,
    /// How many bytes of the chunk were read.
    taken: usize,
    hash: u64,
    /// How many bytes of the file follow the chunk.
    left: u64,
    /// How many more bytes the values read may take in memory.
    room: u64,
}

impl<'r> Reader<'r> {
    /// `len` is the number of bytes in `source`.
    pub fn new(mut source: Box<dyn Read + 'r>, len: u64) -> io::Result<Reader<'r>> {
        let (mut magic, mut format) = ([0; MAGIC.len()], [0; 4]);
        source.read_exact(&mut magic).map_err(cut_off)?;
        if magic != MAGIC {
            return Err(damaged("this is not a file that entail has saved"));
        }
        source.read_exact(&mut format).map_err(cut_off)?;
        let format = u32::from_le_bytes(format);
        if format != FORMAT {
            return Err(damaged(format!(
                "it has format {format}, and this version of entail reads format {FORMAT}"
            )));
        }
        let left = len.saturating_sub((magic.len() + size_of_val(&format)) as u64);
        Ok(Reader { source, chunk: Vec::new(), taken: 0, hash: 0, left, room: u64::MAX })
    }

    /// Limits the memory of all values read from now on.
    pub fn limit(&mut self, bytes: u64) {
        self.room = bytes;
    }

    #[inline]
    pub fn take(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        match self.chunk.get(self.taken..self.taken + bytes.len()) {
            Some(next) => {
                bytes.copy_from_slice(next);
                self.taken += bytes.len();
                Ok(())
            }
            None => self.take_across(bytes),
        }
    }

    #[cold]
    fn take_across(&mut self, mut bytes: &mut [u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            if self.taken == self.chunk.len() && !self.next_chunk()? {
                return Err(damaged("it ends too soon"));
            }
            let count = bytes.len().min(self.chunk.len() - self.taken);
            let (now, later) = bytes.split_at_mut(count);
            now.copy_from_slice(&self.chunk[self.taken..self.taken + count]);
            self.taken += count;
            bytes = later;
        }
        Ok(())
    }

    /// Reads the next chunk; returns whether there is one.
    fn next_chunk(&mut self) -> io::Result<bool> {
        let (mut len, mut hash) = ([0; 4], [0; 8]);
        self.source.read_exact(&mut len).map_err(cut_off)?;
        self.source.read_exact(&mut hash).map_err(cut_off)?;
        let len = u32::from_le_bytes(len) as usize;
        self.left = self.left.saturating_sub(CHUNK_HEAD);
        if len > CHUNK || len as u64 > self.left {
            return Err(cut_off(io::ErrorKind::UnexpectedEof.into()));
        }
        self.chunk.resize(len, 0);
        self.taken = 0;
        self.source.read_exact(&mut self.chunk).map_err(cut_off)?;
        self.left -= len as u64;
        self.hash = chained(self.hash, &self.chunk);
        if self.hash != u64::from_le_bytes(hash) {
            return Err(damaged("its checksum is wrong"));
        }
        Ok(len > 0)
    }

    /// Reads the length of a sequence. Each element takes at least `written` bytes in the file, and `kept` in memory.
    pub fn count(&mut self, written: usize, kept: usize) -> io::Result<usize> {
        let count = u64::load(self)?;
        let there = self.left + (self.chunk.len() - self.taken) as u64;
        let fits = count.checked_mul(written as u64).is_some_and(|bytes| bytes <= there);
        let count = usize::try_from(count).ok().filter(|_| fits).ok_or_else(|| damaged("it ends too soon"))?;
        self.make_room(count as u64, kept)?;
        Ok(count)
    }

    /// Counts `count` values of `bytes` bytes against the limit.
    pub fn make_room(&mut self, count: u64, bytes: usize) -> io::Result<()> {
        let left = count.checked_mul(bytes as u64).and_then(|bytes| self.room.checked_sub(bytes));
        self.room = left.ok_or_else(|| {
            io::Error::new(io::ErrorKind::OutOfMemory, "what was kept needs more memory than there may be")
        })?;
        Ok(())
    }

    /// Verifies the rest of the file.
    pub fn check(mut self) -> io::Result<()> {
        while self.next_chunk()? {}
        self.at_end()
    }

    /// Verifies that the file ends here.
    pub fn finish(mut self) -> io::Result<()> {
        if self.taken < self.chunk.len() || self.next_chunk()? {
            return Err(damaged("there is more than there should be"));
        }
        self.at_end()
    }

    fn at_end(mut self) -> io::Result<()> {
        match self.source.read(&mut [0])? {
            0 => Ok(()),
            _ => Err(damaged("something follows its end")),
        }
    }
}

fn chained(before: u64, chunk: &[u8]) -> u64 {
    rapidhash_v3_seeded(chunk, &RapidSecrets::seed_cpp(before))
}

/// The error of a file whose content is not valid.
pub fn damaged(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.into())
}

fn cut_off(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => damaged("it is cut off"),
        _ => error,
    }
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Snapshot for $number {
            #[inline]
            fn save(&self, to: &mut Writer) -> io::Result<()> {
                to.put(&self.to_le_bytes())
            }

            #[inline]
            fn load(from: &mut Reader) -> io::Result<Self> {
                let mut bytes = [0; size_of::<$number>()];
                from.take(&mut bytes)?;
                Ok(<$number>::from_le_bytes(bytes))
            }
        }
    )*};
}

numbers!(u8, u16, u32, u64, u128, i32, f64);

impl Snapshot for usize {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        (*self as u64).save(to)
    }

    fn load(from: &mut Reader) -> io::Result<usize> {
        usize::try_from(u64::load(from)?).map_err(|_| damaged("a number is too large for this machine"))
    }
}

impl Snapshot for bool {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        u8::from(*self).save(to)
    }

    fn load(from: &mut Reader) -> io::Result<bool> {
        match u8::load(from)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(damaged("something is neither so nor otherwise")),
        }
    }
}

impl Snapshot for () {
    fn save(&self, _: &mut Writer) -> io::Result<()> {
        Ok(())
    }

    fn load(_: &mut Reader) -> io::Result<()> {
        Ok(())
    }
}

impl Snapshot for Duration {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        (self.as_nanos() as u64).save(to)
    }

    fn load(from: &mut Reader) -> io::Result<Duration> {
        Ok(Duration::from_nanos(u64::load(from)?))
    }
}

impl Snapshot for String {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.len().save(to)?;
        to.put(self.as_bytes())
    }

    fn load(from: &mut Reader) -> io::Result<String> {
        let mut bytes = vec![0; from.count(1, 1)?];
        from.take(&mut bytes)?;
        String::from_utf8(bytes).map_err(|_| damaged("a text is not in UTF-8"))
    }
}

impl<T: Snapshot> Snapshot for Option<T> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.is_some().save(to)?;
        self.iter().try_for_each(|value| value.save(to))
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        if bool::load(from)? { T::load(from).map(Some) } else { Ok(None) }
    }
}

/// A length and the values.
fn save_all<'v, T: Snapshot + 'v>(values: impl ExactSizeIterator<Item = &'v T>, to: &mut Writer) -> io::Result<()> {
    values.len().save(to)?;
    values.into_iter().try_for_each(|value| value.save(to))
}

fn load_all<T: Snapshot, C: FromIterator<T>>(from: &mut Reader) -> io::Result<C> {
    (0..counted::<T>(from)?).map(|_| T::load(from)).collect()
}

/// The length of a sequence. Every value takes at least a byte, unless its type has no size.
fn counted<T: Snapshot>(from: &mut Reader) -> io::Result<usize> {
    let kept = size_of::<T>();
    from.count(kept.min(1), kept)
}

impl<T: Snapshot> Snapshot for Vec<T> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        save_all(self.iter(), to)
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        let count = counted::<T>(from)?;
        // `collect` may allocate more.
        let mut values = Vec::with_capacity(count);
        for _ in 0..count {
            values.push(T::load(from)?);
        }
        Ok(values)
    }
}

impl<T: Snapshot> Snapshot for Box<[T]> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        save_all(self.iter(), to)
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        Vec::load(from).map(Vec::into_boxed_slice)
    }
}

impl<T: Snapshot> Snapshot for VecDeque<T> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        save_all(self.iter(), to)
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        load_all(from)
    }
}

impl<T: Snapshot + Ord> Snapshot for BTreeSet<T> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        save_all(self.iter(), to)
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        load_all(from)
    }
}

impl<T: Snapshot + Eq + Hash, H: BuildHasher + Default> Snapshot for HashSet<T, H> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        save_all(self.iter(), to)
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        load_all(from)
    }
}

impl<T: Snapshot + Copy + Default, const N: usize> Snapshot for [T; N] {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.iter().try_for_each(|value| value.save(to))
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        let mut values = [T::default(); N];
        for value in &mut values {
            *value = T::load(from)?;
        }
        Ok(values)
    }
}

impl<K: Snapshot + Ord, V: Snapshot> Snapshot for BTreeMap<K, V> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.len().save(to)?;
        self.iter().try_for_each(|(key, value)| key.save(to).and_then(|()| value.save(to)))
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        load_all::<(K, V), _>(from)
    }
}

impl<K: Snapshot + Eq + Hash, V: Snapshot, H: BuildHasher + Default> Snapshot for HashMap<K, V, H> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.len().save(to)?;
        self.iter().try_for_each(|(key, value)| key.save(to).and_then(|()| value.save(to)))
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        load_all::<(K, V), _>(from)
    }
}

impl<A: Snapshot, B: Snapshot> Snapshot for (A, B) {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.0.save(to)?;
        self.1.save(to)
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        Ok((A::load(from)?, B::load(from)?))
    }
}

/// Implements [`Snapshot`] for a struct or an enum, field by field.
///
/// Fields after `..` are not saved and get their default values. The variants of an enum have numbers, so that their order
/// may change.
///
/// ```
/// # use entail_disk::{Snapshot, snapshot};
/// struct Edge { source: u32, target: u32 }
/// struct Graph<N> { nodes: Vec<N>, edges: Vec<Edge>, visited: Vec<bool> }
/// enum Verdict { Holds, Violated(Vec<u32>) }
///
/// snapshot!(Edge { source, target });
/// snapshot!(impl[N: Snapshot] Graph<N> { nodes, edges, .. visited });
/// snapshot!(enum Verdict { 0 => Holds, 1 => Violated(run) });
/// ```
#[macro_export]
macro_rules! snapshot {
    ($name:ident { $($fields:tt)* }) => {
        $crate::snapshot!(impl[] $name { $($fields)* });
    };
    (impl[$($generics:tt)*] $name:ident $(<$($argument:ident),*>)? {
        $($field:ident),* $(, .. $($default:ident),*)? $(,)?
    }) => {
        impl<$($generics)*> $crate::Snapshot for $name $(<$($argument),*>)? {
            fn save(&self, to: &mut $crate::Writer) -> std::io::Result<()> {
                let $name { $($field,)* $($($default: _,)*)? } = self;
                $($crate::Snapshot::save($field, to)?;)*
                Ok(())
            }

            fn load(from: &mut $crate::Reader) -> std::io::Result<Self> {
                Ok($name {
                    $($field: $crate::Snapshot::load(from)?,)*
                    $($($default: Default::default(),)*)?
                })
            }
        }
    };
    (enum $name:ident { $($tag:literal => $variant:ident $(($($part:ident),*))? $({ $($field:ident),* })?),* $(,)? }) => {
        impl $crate::Snapshot for $name {
            fn save(&self, to: &mut $crate::Writer) -> std::io::Result<()> {
                match self {
                    $($name::$variant $(($($part),*))? $({ $($field),* })? => {
                        $crate::Snapshot::save(&($tag as u8), to)?;
                        $($($crate::Snapshot::save($part, to)?;)*)?
                        $($($crate::Snapshot::save($field, to)?;)*)?
                    })*
                }
                Ok(())
            }

            fn load(from: &mut $crate::Reader) -> std::io::Result<Self> {
                Ok(match <u8 as $crate::Snapshot>::load(from)? {
                    $($tag => {
                        $($(let $part = $crate::Snapshot::load(from)?;)*)?
                        $($(let $field = $crate::Snapshot::load(from)?;)*)?
                        $name::$variant $(($($part),*))? $({ $($field),* })?
                    })*
                    other => {
                        let name = stringify!($name);
                        return Err($crate::damaged(format!("there is no variant {other} of `{name}`")));
                    }
                })
            }
        }
    };
    ($name:ident($($part:ident),*)) => {
        impl $crate::Snapshot for $name {
            fn save(&self, to: &mut $crate::Writer) -> std::io::Result<()> {
                let $name($($part),*) = self;
                $($crate::Snapshot::save($part, to)?;)*
                Ok(())
            }

            fn load(from: &mut $crate::Reader) -> std::io::Result<Self> {
                $(let $part = $crate::Snapshot::load(from)?;)*
                Ok($name($($part),*))
            }
        }
    };
}

/// Implements [`Restore`] for a struct of which some fields are saved; the others stay as they were constructed.
#[macro_export]
macro_rules! restore {
    ($name:ident { $($field:ident),* $(,)? }) => {
        impl $crate::Restore for $name {
            fn save(&self, to: &mut $crate::Writer) -> std::io::Result<()> {
                $($crate::Snapshot::save(&self.$field, to)?;)*
                Ok(())
            }

            fn restore(&mut self, from: &mut $crate::Reader) -> std::io::Result<()> {
                $(self.$field = $crate::Snapshot::load(from)?;)*
                Ok(())
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
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

    #[test]
    fn generic_structs_tuples_and_enums_are_loaded_as_they_were_saved() {
        let buffered = Buffered { value: Pair(1, 2), buffer: vec![3] };
        assert_eq!(
            read::<Buffered<Pair>>(&written(&buffered)).unwrap(),
            Buffered { buffer: Vec::new(), ..buffered }
        );
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
        // Several chunks, and values that lie in two of them.
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

    /// A file may be wrong although its checksum is right.
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
}
