//! Temporary files for what memory has no room for.
//!
//! They have no names, so nothing is left of them, however the process ends. A full disk is an answer, not the end: who
//! could not write still has what he wanted to write.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// A directory in which temporary files can be made. All copies are the same one.
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

    /// The same, with no more than so many bytes in all files together.
    pub fn with_room(directory: impl Into<PathBuf>, bytes: u64) -> Scratch {
        let shared = Shared { directory: directory.into(), left: AtomicU64::new(bytes), failure: OnceLock::new() };
        Scratch { shared: Arc::new(shared) }
    }

    /// Where there is most room: what is for temporary files may be in memory, what is for those that are kept is not.
    pub fn usual_directory() -> PathBuf {
        let on_disk = Path::new("/var/tmp");
        if tempfile::tempfile_in(on_disk).is_ok() { on_disk.to_owned() } else { std::env::temp_dir() }
    }

    pub fn directory(&self) -> &Path {
        &self.shared.directory
    }

    /// What went wrong first, if something did.
    pub fn failure(&self) -> Option<&str> {
        self.shared.failure.get().map(String::as_str)
    }

    pub fn tape(&self) -> io::Result<Tape> {
        Ok(Tape { file: self.file()?, len: 0 })
    }

    /// For blocks of so many bytes.
    pub fn spool(&self, block: usize) -> io::Result<Spool> {
        Ok(Spool { file: self.file()?, block, waiting: VecDeque::new(), free: Vec::new(), blocks: 0 })
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

/// A file that is gone with this value.
#[derive(Debug)]
struct Temporary {
    file: File,
    /// How long it is.
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

/// As much as is read at once.
const PIECE: usize = 1 << 16;

/// Bytes one after the other, which can be read again from anywhere.
#[derive(Debug)]
pub struct Tape {
    file: Temporary,
    len: u64,
}

impl Tape {
    /// Appends bytes. If that fails, nothing has happened.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_at(self.len, bytes)?;
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Takes away what is behind so many bytes.
    pub fn shorten(&mut self, len: u64) {
        self.len = self.len.min(len);
    }

    /// Fills `bytes` with those from a place on.
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

/// Blocks of equal size that come out in the order in which they went in.
#[derive(Debug)]
pub struct Spool {
    file: Temporary,
    /// In bytes.
    block: usize,
    /// Where the blocks are.
    waiting: VecDeque<u32>,
    /// Where there were blocks before.
    free: Vec<u32>,
    /// For how many there is room in the file.
    blocks: u32,
}

impl Spool {
    /// Puts in a block. If that fails, nothing has happened.
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

    /// Takes out the block that has waited longest. If that fails, it still waits.
    pub fn pop(&mut self, block: &mut [u8]) -> io::Result<()> {
        let at = *self.waiting.front().ok_or(io::ErrorKind::UnexpectedEof)?;
        self.file.read_at(self.place(at), block)?;
        self.waiting.pop_front();
        self.free.push(at);
        Ok(())
    }

    /// Reads all blocks that wait, in order.
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

    /// What it takes in memory.
    pub fn bytes(&self) -> u64 {
        ((self.waiting.capacity() + self.free.capacity()) * size_of::<u32>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use entail_testkit::rng::Rng;

    #[test]
    fn a_tape_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let mut tape = Scratch::new(folder.path()).tape().unwrap();
        let (mut rng, mut expected) = (Rng::new(3), Vec::new());
        for _ in 0..300 {
            let bytes: Vec<u8> = (0..rng.below(100)).map(|_| rng.below(256) as u8).collect();
            tape.append(&bytes).unwrap();
            expected.extend(bytes);
            assert_eq!(tape.len(), expected.len() as u64);
            let at = rng.below(expected.len() + 1);
            let mut read = vec![0; rng.below(expected.len() - at + 1)];
            tape.read(at as u64, &mut read).unwrap();
            assert_eq!(read, expected[at..at + read.len()]);
        }
        assert!(tape.read(expected.len() as u64, &mut [0]).is_err());
    }

    #[test]
    fn blocks_come_out_as_they_went_in_and_leave_their_place_to_others() {
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Scratch::with_room(folder.path(), 400).spool(4).unwrap();
        let (mut rng, mut naive, mut next) = (Rng::new(5), VecDeque::new(), 0u32);
        for _ in 0..3000 {
            if rng.chance(0.5) && naive.len() < 100 {
                spool.push(&next.to_le_bytes()).unwrap();
                naive.push_back(next);
                next += 1;
            } else if let Some(expected) = naive.pop_front() {
                let mut block = [0; 4];
                spool.pop(&mut block).unwrap();
                assert_eq!(u32::from_le_bytes(block), expected);
            }
            assert_eq!(spool.is_empty(), naive.is_empty());
        }
    }

    #[test]
    fn what_finds_no_room_changes_nothing_and_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let scratch = Scratch::with_room(folder.path(), 10);
        let mut tape = scratch.tape().unwrap();
        tape.append(&[1; 8]).unwrap();
        assert_eq!(scratch.failure(), None);
        assert_eq!(tape.append(&[2; 8]).unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert!(scratch.failure().is_some());
        assert_eq!(tape.len(), 8);
        tape.append(&[3; 2]).unwrap();
        let mut read = [0; 10];
        tape.read(0, &mut read).unwrap();
        assert_eq!(read, [1, 1, 1, 1, 1, 1, 1, 1, 3, 3]);
        drop(tape);
        scratch.tape().unwrap().append(&[4; 10]).unwrap();
    }

    #[test]
    fn without_a_directory_there_are_no_files() {
        let scratch = Scratch::new("/nowhere/at/all");
        assert!(scratch.tape().is_err() && scratch.spool(8).is_err());
        assert!(scratch.failure().is_some_and(|words| !words.is_empty()));
    }

    #[test]
    fn nothing_is_left_behind() {
        let folder = tempfile::tempdir().unwrap();
        let mut tape = Scratch::new(folder.path()).tape().unwrap();
        tape.append(b"something").unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
