//! Values as bytes, in chunks that say what they should be.
//!
//! ```text
//! magic (16) │ format (4) │ chunk │ chunk │ … │ an empty chunk
//! chunk:  length (4) │ hash (8) │ bytes
//! ```
//!
//! All numbers are little-endian. A hash depends on those of all chunks before it: so whatever is missing, changed or in
//! another place is noticed before it is believed, and what is cut off at the end too. A reader never makes room for more
//! than the file can still fill, nor for more than it is allowed.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, Hash};
use std::io::{self, Read, Write};
use std::time::Duration;

use rapidhash::v3::{RapidSecrets, rapidhash_v3_seeded};

pub(crate) const MAGIC: [u8; 16] = *b"entail saved\r\n\x1a\n";
/// Grows when something is written in another way.
pub const FORMAT: u32 = 6;
const CHUNK: usize = 1 << 20;
const CHUNK_HEAD: u64 = 12;

/// A value that can be written down, and made again from that.
pub trait Saved: Sized {
    fn save(&self, to: &mut Writer) -> io::Result<()>;
    fn load(from: &mut Reader) -> io::Result<Self>;
}

/// Something that was made as it was made before, and becomes what it had become.
pub trait Lasting {
    fn save(&self, to: &mut Writer) -> io::Result<()>;
    fn restore(&mut self, from: &mut Reader) -> io::Result<()>;
}

/// Nothing, which lasts.
impl Lasting for () {
    fn save(&self, _: &mut Writer) -> io::Result<()> {
        Ok(())
    }

    fn restore(&mut self, _: &mut Reader) -> io::Result<()> {
        Ok(())
    }
}

/// Writes chunk by chunk.
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

    /// Writes what is left; returns how many bytes it was in all.
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
    /// How many bytes of the chunk were taken.
    taken: usize,
    hash: u64,
    /// How many bytes there are behind the chunk.
    left: u64,
    /// How many more bytes may be kept in memory of what is read.
    room: u64,
}

impl<'r> Reader<'r> {
    /// There are so many bytes in all.
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

    /// From now on, no more than so many bytes may be kept in memory.
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

    /// Whether there is one.
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

    /// How many there are, of which each takes so many bytes in the file, at least, and others in memory.
    pub fn count(&mut self, written: usize, kept: usize) -> io::Result<usize> {
        let count = u64::load(self)?;
        let there = self.left + (self.chunk.len() - self.taken) as u64;
        let fits = count.checked_mul(written as u64).is_some_and(|bytes| bytes <= there);
        let count = usize::try_from(count).ok().filter(|_| fits).ok_or_else(|| damaged("it ends too soon"))?;
        self.make_room(count as u64, kept)?;
        Ok(count)
    }

    /// Says that so many values of so many bytes will be kept.
    pub fn make_room(&mut self, count: u64, bytes: usize) -> io::Result<()> {
        let left = count.checked_mul(bytes as u64).and_then(|bytes| self.room.checked_sub(bytes));
        self.room = left.ok_or_else(|| {
            io::Error::new(io::ErrorKind::OutOfMemory, "what was kept needs more memory than there may be")
        })?;
        Ok(())
    }

    /// Reads all that is left, and sees whether it is as it should be.
    pub fn check(mut self) -> io::Result<()> {
        while self.next_chunk()? {}
        self.at_end()
    }

    /// There must be nothing more.
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

/// What was read is not what was written.
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
        impl Saved for $number {
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

impl Saved for usize {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        (*self as u64).save(to)
    }

    fn load(from: &mut Reader) -> io::Result<usize> {
        usize::try_from(u64::load(from)?).map_err(|_| damaged("a number is too large for this machine"))
    }
}

impl Saved for bool {
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

impl Saved for () {
    fn save(&self, _: &mut Writer) -> io::Result<()> {
        Ok(())
    }

    fn load(_: &mut Reader) -> io::Result<()> {
        Ok(())
    }
}

impl Saved for Duration {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        (self.as_nanos() as u64).save(to)
    }

    fn load(from: &mut Reader) -> io::Result<Duration> {
        Ok(Duration::from_nanos(u64::load(from)?))
    }
}

impl Saved for String {
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

impl<T: Saved> Saved for Option<T> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.is_some().save(to)?;
        self.iter().try_for_each(|value| value.save(to))
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        if bool::load(from)? { T::load(from).map(Some) } else { Ok(None) }
    }
}

/// Values one after the other.
fn save_all<'v, T: Saved + 'v>(values: impl ExactSizeIterator<Item = &'v T>, to: &mut Writer) -> io::Result<()> {
    values.len().save(to)?;
    values.into_iter().try_for_each(|value| value.save(to))
}

fn load_all<T: Saved, C: FromIterator<T>>(from: &mut Reader) -> io::Result<C> {
    (0..counted::<T>(from)?).map(|_| T::load(from)).collect()
}

/// How many there are. Every one takes at least a byte, unless there is nothing to be told.
fn counted<T: Saved>(from: &mut Reader) -> io::Result<usize> {
    let kept = size_of::<T>();
    from.count(kept.min(1), kept)
}

impl<T: Saved> Saved for Vec<T> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        save_all(self.iter(), to)
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        let count = counted::<T>(from)?;
        // Without the room to grow that it would be given otherwise.
        let mut values = Vec::with_capacity(count);
        for _ in 0..count {
            values.push(T::load(from)?);
        }
        Ok(values)
    }
}

impl<T: Saved> Saved for Box<[T]> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        save_all(self.iter(), to)
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        Vec::load(from).map(Vec::into_boxed_slice)
    }
}

impl<T: Saved> Saved for VecDeque<T> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        save_all(self.iter(), to)
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        load_all(from)
    }
}

impl<T: Saved + Ord> Saved for BTreeSet<T> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        save_all(self.iter(), to)
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        load_all(from)
    }
}

impl<T: Saved + Eq + Hash, H: BuildHasher + Default> Saved for HashSet<T, H> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        save_all(self.iter(), to)
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        load_all(from)
    }
}

impl<T: Saved + Copy + Default, const N: usize> Saved for [T; N] {
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

impl<K: Saved + Ord, V: Saved> Saved for BTreeMap<K, V> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.len().save(to)?;
        self.iter().try_for_each(|(key, value)| key.save(to).and_then(|()| value.save(to)))
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        load_all::<(K, V), _>(from)
    }
}

impl<K: Saved + Eq + Hash, V: Saved, H: BuildHasher + Default> Saved for HashMap<K, V, H> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.len().save(to)?;
        self.iter().try_for_each(|(key, value)| key.save(to).and_then(|()| value.save(to)))
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        load_all::<(K, V), _>(from)
    }
}

impl<A: Saved, B: Saved> Saved for (A, B) {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.0.save(to)?;
        self.1.save(to)
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        Ok((A::load(from)?, B::load(from)?))
    }
}

/// Says how a structure is saved: field by field.
#[macro_export]
macro_rules! saved {
    ($name:ident { $($field:ident),* $(,)? }) => {
        impl $crate::Saved for $name {
            fn save(&self, to: &mut $crate::Writer) -> std::io::Result<()> {
                let $name { $($field),* } = self;
                $($crate::Saved::save($field, to)?;)*
                Ok(())
            }

            fn load(from: &mut $crate::Reader) -> std::io::Result<Self> {
                Ok($name { $($field: $crate::Saved::load(from)?),* })
            }
        }
    };
    ($name:ident($only:ident)) => {
        impl $crate::Saved for $name {
            fn save(&self, to: &mut $crate::Writer) -> std::io::Result<()> {
                let $name($only) = self;
                $crate::Saved::save($only, to)
            }

            fn load(from: &mut $crate::Reader) -> std::io::Result<Self> {
                $crate::Saved::load(from).map($name)
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

    saved!(Everything { number, truth, text, words, pairs, set, map, table, units });

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

    fn written(value: &impl Saved) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes).unwrap();
        value.save(&mut writer).unwrap();
        let count = writer.finish().unwrap();
        assert_eq!(count, bytes.len() as u64);
        bytes
    }

    fn read<T: Saved>(bytes: &[u8]) -> io::Result<T> {
        let mut reader = Reader::new(Box::new(bytes), bytes.len() as u64)?;
        let value = T::load(&mut reader)?;
        reader.finish()?;
        Ok(value)
    }

    #[test]
    fn what_is_read_is_what_was_written() {
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
    fn every_beginning_of_a_file_is_refused() {
        let bytes = written(&everything(&mut Rng::new(2), 30));
        for len in 0..bytes.len() {
            assert!(read::<Everything>(&bytes[..len]).is_err(), "{len} of {}", bytes.len());
            let checked = Reader::new(Box::new(&bytes[..len]), len as u64).and_then(Reader::check);
            assert!(checked.is_err(), "{len} of {}", bytes.len());
        }
        Reader::new(Box::new(&bytes[..]), bytes.len() as u64).and_then(Reader::check).unwrap();
    }

    #[test]
    fn a_file_of_which_a_bit_is_another_is_refused() {
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

    /// Somebody who means it can write a right checksum.
    #[test]
    fn nothing_is_made_that_the_file_cannot_fill() {
        let bytes = written(&u64::MAX);
        assert!(read::<Vec<u64>>(&bytes).unwrap_err().to_string().contains("too soon"));
        assert!(read::<String>(&bytes).unwrap_err().to_string().contains("too soon"));
        assert!(read::<BTreeMap<u64, String>>(&written(&(1u64 << 40))).is_err());
    }

    #[test]
    fn nothing_is_made_that_there_may_be_no_room_for() {
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
