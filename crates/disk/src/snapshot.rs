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

mod macros;
#[cfg(test)]
mod tests;
mod values;

use std::io::{self, Read, Write};

use rapidhash::v3::{RapidSecrets, rapidhash_v3_seeded};

pub(crate) const MAGIC: [u8; 16] = *b"entail saved\r\n\x1a\n";
/// The version of the format. It grows with every incompatible change.
pub const FORMAT: u32 = 8;
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
