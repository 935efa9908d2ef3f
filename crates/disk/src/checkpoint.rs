//! A file that is replaced atomically, so that there is always a complete one.
//!
//! ```text
//! FILE.partial    is written, and synced
//! FILE.previous   becomes a hard link to FILE
//! FILE.partial    becomes FILE, and the folder is synced
//! ```
//!
//! FILE is complete whenever the program or the machine stops. Without hard links, FILE is renamed to FILE.previous, and one
//! of the two is complete. Only regular files are replaced, never devices; links are not followed.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use crate::snapshot::{MAGIC, Reader, Writer};

/// A checkpoint file and the previous one beside it.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    path: PathBuf,
}

/// A complete checkpoint.
pub struct Opened {
    pub reader: Reader<'static>,
    /// The error of the last checkpoint, if this is the previous one.
    pub instead: Option<io::Error>,
}

/// Neither checkpoint is complete.
#[derive(Debug)]
pub struct Unusable {
    pub file: io::Error,
    pub previous: io::Error,
}

impl Checkpoint {
    pub fn new(path: &Path) -> Checkpoint {
        Checkpoint { path: path.to_owned() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of the previous checkpoint.
    pub fn previous(&self) -> PathBuf {
        self.beside(".previous")
    }

    /// All files that a checkpoint writes.
    pub fn files(&self) -> [PathBuf; 3] {
        [self.path.clone(), self.previous(), self.beside(".partial")]
    }

    /// Whether a file that begins with these bytes can be a checkpoint, or a truncated one.
    pub fn is_begun_by(head: &[u8]) -> bool {
        head.starts_with(&MAGIC) || MAGIC.starts_with(head)
    }

    /// Replaces the checkpoint; returns its size in bytes. An error leaves the last one as it is.
    pub fn write(&self, save: &mut dyn FnMut(&mut Writer) -> io::Result<()>) -> io::Result<u64> {
        let partial = self.beside(".partial");
        let file = create(&partial)?;
        let replaced = write_synced(file, save).and_then(|bytes| self.replace(&partial).map(|()| bytes));
        if replaced.is_err() {
            // The disk may be full.
            let _ = fs::remove_file(&partial);
        }
        replaced
    }

    fn replace(&self, partial: &Path) -> io::Result<()> {
        let previous = self.previous();
        if is_there(&self.path)? && !self.path.is_symlink() {
            is_there(&previous)?;
            ignore_missing(fs::remove_file(&previous))?;
            fs::hard_link(&self.path, &previous).or_else(|_| fs::rename(&self.path, &previous))?;
        }
        fs::rename(partial, &self.path)?;
        sync_folder(&self.path)
    }

    /// The last checkpoint if it is complete, or else the previous one. Reads the whole file once to verify it.
    pub fn open(&self) -> Result<Opened, Unusable> {
        let file = match open_whole(&self.path) {
            Ok(reader) => return Ok(Opened { reader, instead: None }),
            Err(error) => error,
        };
        match open_whole(&self.previous()) {
            Ok(reader) => Ok(Opened { reader, instead: Some(file) }),
            Err(previous) => Err(Unusable { file, previous }),
        }
    }

    fn beside(&self, ending: &str) -> PathBuf {
        let mut name = OsString::from(&self.path);
        name.push(ending);
        PathBuf::from(name)
    }
}

impl fmt::Display for Unusable {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        write!(to, "{}; and the one before it: {}", self.file, self.previous)
    }
}

fn create(path: &Path) -> io::Result<File> {
    if is_there(path)? {
        fs::remove_file(path)?;
    }
    OpenOptions::new().write(true).create_new(true).open(path)
}

fn write_synced(mut file: File, save: &mut dyn FnMut(&mut Writer) -> io::Result<()>) -> io::Result<u64> {
    let mut writer = Writer::new(&mut file)?;
    save(&mut writer)?;
    let bytes = writer.finish()?;
    file.sync_all()?;
    Ok(bytes)
}

/// Whether there is a regular file or a link, which may be replaced.
fn is_there(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() || metadata.is_symlink() => Ok(true),
        Ok(_) => Err(io::Error::other(format!("{} is not a regular file", path.display()))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Makes the renaming durable. Where directories cannot be opened, that is left to the system.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

fn ignore_missing(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

fn open_whole(path: &Path) -> io::Result<Reader<'static>> {
    open(path)?.check()?;
    open(path)
}

fn open(path: &Path) -> io::Result<Reader<'static>> {
    let file = File::open(path)?;
    let len = file.metadata()?.len();
    Reader::new(Box::new(BufReader::new(file)), len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Snapshot;

    fn numbers(checkpoint: &Checkpoint) -> Result<(u64, bool), Unusable> {
        let Opened { mut reader, instead } = checkpoint.open()?;
        let number = u64::load(&mut reader).unwrap();
        reader.finish().unwrap();
        Ok((number, instead.is_some()))
    }

    fn write(checkpoint: &Checkpoint, number: u64) {
        checkpoint.write(&mut |to| number.save(to)).unwrap();
    }

    #[test]
    fn the_last_complete_checkpoint_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let checkpoint = Checkpoint::new(&folder.path().join("search"));
        assert!(numbers(&checkpoint).is_err());
        write(&checkpoint, 1);
        assert_eq!(numbers(&checkpoint).unwrap(), (1, false));
        write(&checkpoint, 2);
        write(&checkpoint, 3);
        assert_eq!(numbers(&checkpoint).unwrap(), (3, false));

        let whole = fs::read(checkpoint.path()).unwrap();
        fs::write(checkpoint.path(), &whole[..whole.len() - 1]).unwrap();
        assert_eq!(numbers(&checkpoint).unwrap(), (2, true));
        // The program stopped between two renamings.
        fs::remove_file(checkpoint.path()).unwrap();
        assert_eq!(numbers(&checkpoint).unwrap(), (2, true));

        fs::write(checkpoint.previous(), "nonsense").unwrap();
        let unusable = numbers(&checkpoint).unwrap_err().to_string();
        assert!(unusable.contains("and the one before it: "), "{unusable}");
    }

    #[cfg(unix)]
    #[test]
    fn only_regular_files_are_replaced() {
        use std::os::unix::{fs::symlink, net::UnixListener};
        let folder = tempfile::tempdir().unwrap();
        let checkpoint = Checkpoint::new(&folder.path().join("search"));
        for file in checkpoint.files() {
            let _socket = UnixListener::bind(&file).unwrap();
            assert!(checkpoint.write(&mut |to| 1u64.save(to)).is_err() || file == checkpoint.previous());
            assert!(!fs::symlink_metadata(&file).unwrap().is_file(), "{}", file.display());
            for file in checkpoint.files() {
                let _ = fs::remove_file(file);
            }
        }
        let other = folder.path().join("other");
        fs::write(&other, "precious").unwrap();
        symlink(&other, &checkpoint.files()[2]).unwrap();
        symlink(&other, checkpoint.path()).unwrap();
        write(&checkpoint, 1);
        write(&checkpoint, 2);
        assert_eq!(fs::read_to_string(&other).unwrap(), "precious");
        assert_eq!(numbers(&checkpoint).unwrap(), (2, false));
    }

    #[test]
    fn a_failed_write_leaves_the_last_checkpoint() {
        let folder = tempfile::tempdir().unwrap();
        let checkpoint = Checkpoint::new(&folder.path().join("search"));
        write(&checkpoint, 1);
        let full = checkpoint.write(&mut |to| {
            2u64.save(to)?;
            Err(ErrorKind::StorageFull.into())
        });
        assert_eq!(full.unwrap_err().kind(), ErrorKind::StorageFull);
        assert_eq!(numbers(&checkpoint).unwrap(), (1, false));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
