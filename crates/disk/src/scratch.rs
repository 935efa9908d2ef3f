//! Temporary files to spill data to when memory is short.
//!
//! The files have no names, so the system removes them however the process ends. A full disk is an error value: the
//! caller still holds the data that it could not write.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// A directory for temporary files. Clones share it, and its limit.
#[derive(Clone, Debug)]
pub struct Scratch {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    directory: PathBuf,
    /// How many bytes may still be written.
    left: AtomicU64,
    failure: OnceLock<String>,
}

impl Scratch {
    pub fn new(directory: impl Into<PathBuf>) -> Scratch {
        Scratch::with_room(directory, u64::MAX)
    }

    /// The same with at most `bytes` bytes in all files together.
    pub fn with_room(directory: impl Into<PathBuf>, bytes: u64) -> Scratch {
        let shared = Shared { directory: directory.into(), left: AtomicU64::new(bytes), failure: OnceLock::new() };
        Scratch { shared: Arc::new(shared) }
    }

    /// The directory with the most space. The usual one for temporary files may be in memory; `/var/tmp` is not.
    pub fn usual_directory() -> PathBuf {
        let on_disk = Path::new("/var/tmp");
        if tempfile::tempfile_in(on_disk).is_ok() { on_disk.to_owned() } else { std::env::temp_dir() }
    }

    pub fn directory(&self) -> &Path {
        &self.shared.directory
    }

    /// The first error, if there was one.
    pub fn failure(&self) -> Option<&str> {
        self.shared.failure.get().map(String::as_str)
    }

    pub fn spill_file(&self) -> io::Result<SpillFile> {
        Ok(SpillFile { file: self.file()?, len: 0 })
    }

    /// A queue of blocks of `block` bytes.
    pub fn spill_queue(&self, block: usize) -> io::Result<SpillQueue> {
        Ok(SpillQueue { file: self.file()?, block, waiting: VecDeque::new(), free: Vec::new(), blocks: 0 })
    }

    fn file(&self) -> io::Result<Temporary> {
        let made = tempfile::tempfile_in(self.directory());
        Ok(Temporary { file: self.note(made)?, written: 0, scratch: self.clone() })
    }

    fn note<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.inspect_err(|error| {
            self.shared.failure.get_or_init(|| error.to_string());
        })
    }

    fn take(&self, bytes: u64) -> io::Result<()> {
        let take = |left: u64| left.checked_sub(bytes);
        match self.shared.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
            Ok(_) => Ok(()),
            Err(_) => Err(io::ErrorKind::StorageFull.into()),
        }
    }

    fn give_back(&self, bytes: u64) {
        self.shared.left.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// A file that is removed when this value is dropped.
#[derive(Debug)]
struct Temporary {
    file: File,
    /// The length in bytes.
    written: u64,
    scratch: Scratch,
}

impl Temporary {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let written = self.try_write(at, bytes);
        self.scratch.note(written)
    }

    fn try_write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let end = at + bytes.len() as u64;
        let more = end.saturating_sub(self.written);
        self.scratch.take(more)?;
        self.written += more;
        self.file.seek(SeekFrom::Start(at))?;
        self.file.write_all(bytes)
    }

    fn read_at(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        let mut file = &self.file;
        let read = file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(bytes));
        self.scratch.note(read)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        self.scratch.give_back(self.written);
    }
}

/// How many bytes are read at once.
const PIECE: usize = 1 << 16;

/// A file to append to and to read from at any offset.
#[derive(Debug)]
pub struct SpillFile {
    file: Temporary,
    len: u64,
}

impl SpillFile {
    /// Appends bytes, all or none.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_at(self.len, bytes)?;
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Truncates the file to `len` bytes, if it is longer.
    pub fn shorten(&mut self, len: u64) {
        self.len = self.len.min(len);
    }

    /// Fills `bytes` from offset `at` on.
    pub fn read(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.file.read_at(at, bytes)
    }

    /// Reads all of it, piece by piece.
    pub fn each(&self, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut piece = vec![0; PIECE];
        let mut at = 0;
        while at < self.len {
            let piece = &mut piece[..(self.len - at).min(PIECE as u64) as usize];
            self.read(at, piece)?;
            each(piece)?;
            at += piece.len() as u64;
        }
        Ok(())
    }

    pub fn len(&self) -> u64 {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// A first-in first-out queue of blocks of equal size.
#[derive(Debug)]
pub struct SpillQueue {
    file: Temporary,
    /// In bytes.
    block: usize,
    /// The positions of the queued blocks.
    waiting: VecDeque<u32>,
    /// Positions that can be reused.
    free: Vec<u32>,
    /// How many positions the file has.
    blocks: u32,
}

impl SpillQueue {
    /// Appends a block. An error leaves the queue as it was.
    pub fn push(&mut self, block: &[u8]) -> io::Result<()> {
        assert_eq!(block.len(), self.block, "all blocks are alike");
        let at = self.free.last().copied().unwrap_or(self.blocks);
        self.file.write_at(self.place(at), block)?;
        if self.free.pop().is_none() {
            self.blocks += 1;
        }
        self.waiting.push_back(at);
        Ok(())
    }

    /// Removes the oldest block. An error leaves it in the queue.
    pub fn pop(&mut self, block: &mut [u8]) -> io::Result<()> {
        let at = *self.waiting.front().ok_or(io::ErrorKind::UnexpectedEof)?;
        self.file.read_at(self.place(at), block)?;
        self.waiting.pop_front();
        self.free.push(at);
        Ok(())
    }

    /// Reads all blocks in order.
    pub fn each(&self, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut block = vec![0; self.block];
        for at in &self.waiting {
            self.file.read_at(self.place(*at), &mut block)?;
            each(&block)?;
        }
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    fn place(&self, block: u32) -> u64 {
        u64::from(block) * self.block as u64
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> u64 {
        ((self.waiting.capacity() + self.free.capacity()) * size_of::<u32>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use entail_testkit::rng::Rng;

    #[test]
    fn a_spill_file_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = Scratch::new(folder.path()).spill_file().unwrap();
        let (mut rng, mut expected) = (Rng::new(3), Vec::new());
        for _ in 0..300 {
            let bytes: Vec<u8> = (0..rng.below(100)).map(|_| rng.below(256) as u8).collect();
            file.append(&bytes).unwrap();
            expected.extend(bytes);
            assert_eq!(file.len(), expected.len() as u64);
            let at = rng.below(expected.len() + 1);
            let mut read = vec![0; rng.below(expected.len() - at + 1)];
            file.read(at as u64, &mut read).unwrap();
            assert_eq!(read, expected[at..at + read.len()]);
        }
        assert!(file.read(expected.len() as u64, &mut [0]).is_err());
    }

    #[test]
    fn blocks_come_out_as_they_went_in_and_leave_their_place_to_others() {
        let folder = tempfile::tempdir().unwrap();
        let mut queue = Scratch::with_room(folder.path(), 400).spill_queue(4).unwrap();
        let (mut rng, mut naive, mut next) = (Rng::new(5), VecDeque::new(), 0u32);
        for _ in 0..3000 {
            if rng.chance(0.5) && naive.len() < 100 {
                queue.push(&next.to_le_bytes()).unwrap();
                naive.push_back(next);
                next += 1;
            } else if let Some(expected) = naive.pop_front() {
                let mut block = [0; 4];
                queue.pop(&mut block).unwrap();
                assert_eq!(u32::from_le_bytes(block), expected);
            }
            assert_eq!(queue.is_empty(), naive.is_empty());
        }
    }

    #[test]
    fn a_write_beyond_the_limit_fails_and_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let scratch = Scratch::with_room(folder.path(), 10);
        let mut file = scratch.spill_file().unwrap();
        file.append(&[1; 8]).unwrap();
        assert_eq!(scratch.failure(), None);
        assert_eq!(file.append(&[2; 8]).unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert!(scratch.failure().is_some());
        assert_eq!(file.len(), 8);
        file.append(&[3; 2]).unwrap();
        let mut read = [0; 10];
        file.read(0, &mut read).unwrap();
        assert_eq!(read, [1, 1, 1, 1, 1, 1, 1, 1, 3, 3]);
        drop(file);
        scratch.spill_file().unwrap().append(&[4; 10]).unwrap();
    }

    #[test]
    fn without_a_directory_there_are_no_files() {
        let scratch = Scratch::new("/nowhere/at/all");
        assert!(scratch.spill_file().is_err() && scratch.spill_queue(8).is_err());
        assert!(scratch.failure().is_some_and(|words| !words.is_empty()));
    }

    #[test]
    fn nothing_is_left_behind() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = Scratch::new(folder.path()).spill_file().unwrap();
        file.append(b"something").unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
