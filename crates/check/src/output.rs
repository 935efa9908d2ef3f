//! Output files: which files a command may replace, and how.
//!
//! A command replaces a file only if it has the same kind of content, and only by renaming a finished file: after an
//! error, the old file remains. Input files, devices and directories are never replaced; `--force` replaces anything
//! else.

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

/// The kind of content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A counterexample.
    Trail,
    /// A checkpoint.
    Checkpoint,
    /// A search log.
    Log,
    /// The graph from `--evidence`.
    Graph,
}

/// The prefix of a log.
pub const LOG_BEGINS: &str = "event=begin ";
/// The name of the graph from `--evidence`.
pub const EVIDENCE: &str = "evidence";

/// The null device.
const NULL: &str = "/dev/null";

/// The bytes that are read to recognise the content of a file.
const HEAD: u64 = 4096;

/// Decides which files may be written.
#[derive(Clone, Debug)]
pub struct Outputs {
    force: bool,
    /// The input files.
    inputs: Vec<Identity>,
    /// The errors so far.
    failures: RefCell<Vec<String>>,
}

/// A file under a temporary name, renamed when it is finished.
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
    /// With `force`, any file or link may be replaced.
    pub fn new(force: bool) -> Outputs {
        Outputs { force, inputs: Vec::new(), failures: RefCell::default() }
    }

    /// Protects these input files.
    #[must_use]
    pub fn sparing<P: AsRef<Path>>(mut self, inputs: impl IntoIterator<Item = P>) -> Outputs {
        self.inputs.extend(inputs.into_iter().filter_map(|path| Identity::of(path.as_ref())));
        self
    }

    /// Whether a file may be written, or replaced if there is one.
    pub fn check(&self, path: &Path, content: Content) -> Result<(), String> {
        self.refusal(path, content).map_or(Ok(()), |reason| Err(cannot(path, reason)))
    }

    /// The same, and tests whether files can be created in its directory, so that this fails before a long search and
    /// not after it.
    pub fn try_out(&self, path: &Path, content: Content) -> Result<(), String> {
        self.check(path, content)?;
        if is_null(path) {
            return Ok(());
        }
        tempfile::tempfile_in(directory(path)).map(drop).map_err(|error| cannot(path, plain(&error)))
    }

    /// Writes a file.
    pub fn write(&self, path: &Path, content: Content, bytes: &[u8]) -> Result<(), String> {
        let mut file = self.create(path, content)?;
        file.write_all(bytes).map_err(|error| cannot(path, error))?;
        file.finish().map(drop)
    }

    /// Creates a file that is written incrementally.
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

    /// Reports that a file could not be written, immediately and in the report.
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
        // A dangling link is treated like a link to a file.
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
    /// Renames the file to its final name, and returns it for further output.
    pub fn finish(self) -> Result<File, String> {
        let Unfinished { outputs, path, content, target } = self;
        let temporary = match target {
            Target::Null(file) => return Ok(file),
            Target::Temporary(temporary) => temporary,
        };
        // The target may have changed since the first check.
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
            Content::Graph => "a graph of a witness or counterexample",
        }
    }

    /// Whether a file with this beginning has this kind of content. An empty file matches every kind.
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

/// Finishes a trail that was written incrementally.
pub fn finish_trail(record: Record<BufWriter<Unfinished>>) -> Result<(), String> {
    let path = record.out().get_ref().path.clone();
    let unfinished = record.finish().and_then(|out| out.into_inner().map_err(io::IntoInnerError::into_error));
    unfinished.map_err(|error| cannot(&path, error))?.finish().map(drop)
}

/// The outputs of a check, with its input files protected.
pub(crate) fn of_check(config: &Config, models: &[PathBuf]) -> Outputs {
    let asked = &config.asked;
    Outputs::new(config.force).sparing(models.iter().chain(&asked.formula_files).chain(&asked.claim_files))
}

/// Tests all output files of a check.
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

/// Whether two names refer to the same file, which need not exist.
fn is_same(one: &Path, other: &Path) -> bool {
    let is_same_file = || Some(Identity::of(one)? == Identity::of(other)?);
    let is_same_name = || {
        let folders = Identity::of(directory(one))? == Identity::of(directory(other))?;
        Some(folders && one.file_name()? == other.file_name()?)
    };
    one == other || is_same_file().unwrap_or(false) || is_same_name().unwrap_or(false)
}

/// The identity of a file, independent of its name.
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

/// The message for a file that cannot be written.
pub(crate) fn cannot(path: &Path, reason: impl std::fmt::Display) -> String {
    format!("cannot write {}: {reason}", shown(path))
}

/// Whether the path is the null device.
pub(crate) fn is_null(path: &Path) -> bool {
    path == Path::new(NULL) && cfg!(unix)
}

fn ends_in_separator(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().last().is_some_and(|&last| std::path::is_separator(last.into()))
}

/// The directory of a file.
fn directory(path: &Path) -> &Path {
    path.parent().filter(|folder| *folder != OsStr::new("")).unwrap_or(Path::new("."))
}

/// A temporary file in the same directory, with the default permissions of new files.
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

/// The error without the temporary file's name, which `tempfile` adds.
fn plain(error: &io::Error) -> String {
    let message = error.to_string();
    message.split_once(" at path ").map_or(message.clone(), |(reason, _)| reason.to_owned())
}

/// The permissions of the file to replace, if it exists.
fn kept_permissions(path: &Path) -> Option<Permissions> {
    fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file).map(|metadata| metadata.permissions())
}

fn head(path: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    File::open(path)?.take(HEAD).read_to_end(&mut head)?;
    Ok(head)
}
