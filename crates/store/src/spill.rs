//! Words spilled to files.

use std::io;

use entail_disk::{Scratch, SpillFile};

/// The number of words read or written at a time.
const BATCH: usize = 1 << 12;

/// A file with all words that `each` writes.
pub(crate) fn write_words(scratch: &Scratch, each: impl FnOnce(&mut dyn FnMut(u64))) -> io::Result<SpillFile> {
    let mut file = scratch.spill_file()?;
    let mut written = Ok(());
    let mut batch = Vec::with_capacity(BATCH * size_of::<u64>());
    each(&mut |word| {
        batch.extend_from_slice(&word.to_le_bytes());
        if batch.len() == batch.capacity() {
            if written.is_ok() {
                written = file.append(&batch);
            }
            batch.clear();
        }
    });
    written?;
    file.append(&batch)?;
    Ok(file)
}

/// Reads all words of a file, at most `most` at a time.
pub(crate) fn read_words(file: &SpillFile, most: usize, mut each: impl FnMut(&[u64])) -> io::Result<()> {
    let mut bytes = vec![0; BATCH * size_of::<u64>()];
    let mut words = Vec::with_capacity(BATCH);
    let mut at = 0;
    while at < file.len() {
        let many = (file.len() - at).min(bytes.len() as u64) as usize;
        file.read(at, &mut bytes[..many])?;
        words.clear();
        words.extend(bytes[..many].as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)));
        words.chunks(most).for_each(&mut each);
        at += many as u64;
    }
    Ok(())
}
