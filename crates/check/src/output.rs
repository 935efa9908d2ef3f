//! The files that a command writes: which ones it may replace, and how it does that.
//!
//! Only a file of the same content is replaced, and only by renaming a finished one: whatever goes wrong, the old file stays.
//! Files that the command reads, devices and directories are never replaced; `--force` replaces anything else.

use crate::config::{Config, TrailFile};
use crate::observer::Observer;
use crate::trail::{Record, Trail};
use entail_disk::Checkpoint;
use entail_front::legible::shown;
use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// What an option writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A counterexample.
    Trail,
    /// A search that can be resumed.
    Checkpoint,
    /// The events of a search.
    Log,
    /// `--evidence`.
    Graph,
}

/// How the first line of a log begins.
pub const LOG_BEGINS: &str = "event=begin ";
/// What a graph of evidence is called.
pub const EVIDENCE: &str = "evidence";

/// Where to write to without keeping anything.
const NULL: &str = "/dev/null";

/// As much of a file as is read to recognise its content.
const HEAD: u64 = 4096;

/// Which files may be written.
#[derive(Clone, Debug)]
pub struct Outputs {
    force: bool,
    /// The files that the command reads.
    inputs: Vec<Identity>,
    /// What could not be written so far, and why.
    failures: RefCell<Vec<String>>,
}

/// A file that gets its name when it is finished.
pub struct Unfinished<'o> {
    outputs: &'o Outputs,
    path: PathBuf,
    content: Content,
    target: Target,
}

enum Target {
    Temporary(NamedTempFile),
    Null(File),
}

impl Outputs {
    /// With `force`, anything may be replaced that is a file or a link.
    pub fn new(force: bool) -> Outputs {
        Outputs { force, inputs: Vec::new(), failures: RefCell::default() }
    }

    /// The same, without these files, which are read.
    #[must_use]
    pub fn sparing<P: AsRef<Path>>(mut self, inputs: impl IntoIterator<Item = P>) -> Outputs {
        self.inputs.extend(inputs.into_iter().filter_map(|path| Identity::of(path.as_ref())));
        self
    }

    /// Whether a file may be written, or replaced if there is one.
    pub fn check(&self, path: &Path, content: Content) -> Result<(), String> {
        self.refusal(path, content).map_or(Ok(()), |reason| Err(cannot(path, reason)))
    }

    /// The same, and that its directory takes files: better known before a long search than after it.
    pub fn try_out(&self, path: &Path, content: Content) -> Result<(), String> {
        self.check(path, content)?;
        if is_null(path) {
            return Ok(());
        }
        tempfile::tempfile_in(directory(path)).map(drop).map_err(|error| cannot(path, plain(&error)))
    }

    /// Writes a file. An error says why that cannot be done.
    pub fn write(&self, path: &Path, content: Content, bytes: &[u8]) -> Result<(), String> {
        let mut file = self.create(path, content)?;
        file.write_all(bytes).map_err(|error| cannot(path, error))?;
        file.finish().map(drop)
    }

    /// Begins a file that is written piece by piece.
    pub fn create(&self, path: &Path, content: Content) -> Result<Unfinished<'_>, String> {
        self.check(path, content)?;
        let target = if is_null(path) {
            OpenOptions::new().write(true).open(path).map(Target::Null)
        } else {
            temporary(path).map(Target::Temporary)
        };
        let target = target.map_err(|error| cannot(path, plain(&error)))?;
        Ok(Unfinished { outputs: self, path: path.to_owned(), content, target })
    }

    /// A file could not be written: says so at once, and notes it for the report.
    pub(crate) fn failed(&self, problem: String, observer: &dyn Observer) {
        observer.warning(&problem);
        self.failures.borrow_mut().push(problem);
    }

    pub(crate) fn failures(&self) -> Vec<String> {
        self.failures.take()
    }

    fn refusal(&self, path: &Path, content: Content) -> Option<String> {
        if path == Path::new("-") {
            return Some("`-` is not standard output here; write `./-` for a file of this name".into());
        }
        if path.file_name().is_none() || ends_in_separator(path) {
            return Some("it does not name a file".into());
        }
        if is_null(path) {
            return None;
        }
        if Identity::of(path).is_some_and(|identity| self.inputs.contains(&identity)) {
            return Some("this command reads it; name another file".into());
        }
        let link = match fs::symlink_metadata(path) {
            Ok(metadata) => metadata.is_symlink(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => return Some(error.to_string()),
        };
        // A link to nowhere may be replaced like a link to a file.
        let metadata = fs::metadata(path);
        if metadata.as_ref().is_ok_and(|metadata| metadata.is_dir()) {
            return Some("it is a directory".into());
        }
        if metadata.as_ref().is_ok_and(|metadata| !metadata.is_file()) {
            return Some("it is a device, a pipe or a socket; name a file".into());
        }
        if self.force {
            return None;
        }
        let replace = "name another file, or add `--force` to replace";
        if link {
            return Some(format!("it is a symbolic link; {replace} the link"));
        }
        if metadata.is_ok_and(|metadata| metadata.permissions().readonly()) {
            return Some(format!("it is read-only; {replace} it"));
        }
        let what = content.words();
        (!head(path).is_ok_and(|head| content.is_in(&head)))
            .then(|| format!("it exists and is not {what}; {replace} it"))
    }
}

impl Unfinished<'_> {
    /// Gives the file its name, and returns it for what is still to be written.
    pub fn finish(self) -> Result<File, String> {
        let Unfinished { outputs, path, content, target } = self;
        let temporary = match target {
            Target::Null(file) => return Ok(file),
            Target::Temporary(temporary) => temporary,
        };
        // Time has passed since it was created.
        outputs.check(&path, content)?;
        if let Some(permissions) = kept_permissions(&path) {
            temporary.as_file().set_permissions(permissions).map_err(|error| cannot(&path, error))?;
        }
        temporary.persist(&path).map_err(|error| cannot(&path, error.error))
    }
}

impl Write for Unfinished<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.target {
            Target::Temporary(file) => file.write(bytes),
            Target::Null(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.target {
            Target::Temporary(file) => file.flush(),
            Target::Null(file) => file.flush(),
        }
    }
}

impl Content {
    fn words(self) -> &'static str {
        match self {
            Content::Trail => "a trail",
            Content::Checkpoint => "a checkpoint",
            Content::Log => "a log of a search",
            Content::Graph => "a graph of evidence",
        }
    }

    /// Whether a file that begins like this holds such a content. An empty one may hold anything.
    fn is_in(self, head: &[u8]) -> bool {
        let begins = |text: &str| head.starts_with(text.as_bytes());
        head.is_empty()
            || match self {
                Content::Trail => Trail::is_begun_by(head),
                Content::Checkpoint => Checkpoint::is_begun_by(head),
                Content::Log => begins(LOG_BEGINS),
                Content::Graph => begins(&format!("digraph {EVIDENCE} ")),
            }
    }
}

/// Gives a trail that was written step by step its name.
pub fn finish_trail(record: Record<BufWriter<Unfinished>>) -> Result<(), String> {
    let path = record.out().get_ref().path.clone();
    let unfinished = record.finish().and_then(|out| out.into_inner().map_err(io::IntoInnerError::into_error));
    unfinished.map_err(|error| cannot(&path, error))?.finish().map(drop)
}

/// What a check may write: nothing that it reads.
pub(crate) fn of_check(config: &Config, models: &[PathBuf]) -> Outputs {
    let asked = &config.asked;
    Outputs::new(config.force).sparing(models.iter().chain(&asked.formula_files).chain(&asked.claim_files))
}

/// Tries out all files that the options of a check name.
pub(crate) fn try_out(config: &Config, outputs: &Outputs) -> Result<(), String> {
    let option = |option, path: &Option<PathBuf>, content| path.clone().map(|path| (option, path, content));
    let trail = match &config.trail {
        TrailFile::File(path) => Some(path.clone()),
        TrailFile::None | TrailFile::Beside => None,
    };
    let kept = config.checkpoint.as_ref().map(|path| Checkpoint::new(path).files());
    let mut files: Vec<_> = [
        option("--trail", &trail, Content::Trail),
        option("--evidence", &config.evidence, Content::Graph),
        option("--log-file", &config.log_file, Content::Log),
    ]
    .into_iter()
    .flatten()
    .collect();
    files.extend(kept.into_iter().flatten().map(|path| ("--checkpoint", path, Content::Checkpoint)));
    for (index, (option, path, content)) in files.iter().enumerate() {
        let others = files[..index].iter().filter(|(other, ..)| other != option);
        if let Some((other, ..)) = others.into_iter().find(|(_, other, _)| !is_null(path) && is_same(path, other)) {
            return Err(format!("`{other}` and `{option}` name the same file, {}", shown(path)));
        }
        outputs.try_out(path, *content)?;
    }
    Ok(())
}

/// Whether two names are, or would be, those of one file.
fn is_same(one: &Path, other: &Path) -> bool {
    let is_same_file = || Some(Identity::of(one)? == Identity::of(other)?);
    let is_same_name = || {
        let folders = Identity::of(directory(one))? == Identity::of(directory(other))?;
        Some(folders && one.file_name()? == other.file_name()?)
    };
    one == other || is_same_file().unwrap_or(false) || is_same_name().unwrap_or(false)
}

/// A file, whatever its name.
#[cfg(unix)]
#[derive(Clone, Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
}

#[cfg(unix)]
impl Identity {
    fn of(path: &Path) -> Option<Identity> {
        use std::os::unix::fs::MetadataExt;
        let metadata = fs::metadata(path).ok()?;
        Some(Identity { device: metadata.dev(), inode: metadata.ino() })
    }
}

#[cfg(not(unix))]
#[derive(Clone, Debug, PartialEq, Eq)]
struct Identity(PathBuf);

#[cfg(not(unix))]
impl Identity {
    fn of(path: &Path) -> Option<Identity> {
        path.canonicalize().ok().map(Identity)
    }
}

/// Why a file is not written.
pub(crate) fn cannot(path: &Path, reason: impl std::fmt::Display) -> String {
    format!("cannot write {}: {reason}", shown(path))
}

/// Whether nothing is kept of what is written there.
pub(crate) fn is_null(path: &Path) -> bool {
    path == Path::new(NULL) && cfg!(unix)
}

fn ends_in_separator(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().last().is_some_and(|&last| std::path::is_separator(last.into()))
}

/// Where a file is, or will be.
fn directory(path: &Path) -> &Path {
    path.parent().filter(|folder| *folder != OsStr::new("")).unwrap_or(Path::new("."))
}

/// A file beside another one, with the permissions that new files have.
fn temporary(path: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".entail-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(Permissions::from_mode(0o666));
    }
    builder.tempfile_in(directory(path))
}

/// What went wrong, without the name of the temporary file that `tempfile` adds.
fn plain(error: &io::Error) -> String {
    let message = error.to_string();
    message.split_once(" at path ").map_or(message.clone(), |(reason, _)| reason.to_owned())
}

/// What may be done with the file that is to be replaced, if it is a file.
fn kept_permissions(path: &Path) -> Option<Permissions> {
    fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file).map(|metadata| metadata.permissions())
}

fn head(path: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    File::open(path)?.take(HEAD).read_to_end(&mut head)?;
    Ok(head)
}
