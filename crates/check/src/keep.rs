//! Checkpoints: saving a search to a file, and resuming it.
//!
//! ```text
//! head:    version of entail │ options │ model │ its directory │ property │ fingerprint of the searched system │ time so far
//! model:   reduction │ packing of states
//! claim:   the propositions that held in some state; only if there is a claim
//! store    │ coverage │ counts, the first error │ frontier and parent log
//! ```
//!
//! The options are a [`Config`] in JSON. The crate `disk` describes the file format around it.

use crate::config::Config;
use crate::observer::Observer;
use crate::output::{Content, Outputs};
use entail_disk::{Checkpoint as CheckpointFile, Opened, Reader, Snapshot, Writer, snapshot};
use entail_front::legible::on_a_line;
use entail_search::Checkpointer;
use rapidhash::v3::rapidhash_v3;
use std::cell::{Cell, RefCell};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The head of a checkpoint, readable without the model.
#[derive(Clone, Debug)]
struct Head {
    version: String,
    /// The original options.
    options: String,
    /// The original name of the model, and its directory.
    model: String,
    folder: String,
    property: String,
    fingerprint: u64,
    elapsed: Duration,
}

snapshot!(Head { version, options, model, folder, property, fingerprint, elapsed });

/// Saves a search to a file.
pub(crate) struct CheckpointWriter<'o> {
    file: CheckpointFile,
    outputs: Outputs,
    observer: &'o dyn Observer,
    every: Duration,
    head: RefCell<Head>,
    /// The start of this part of the search, and the time of the earlier parts.
    began: Instant,
    before: Duration,
    /// The time of the last checkpoint.
    last: Cell<Instant>,
    /// Whether a checkpoint was written.
    is_kept: Cell<bool>,
    /// The checkpoint to resume, until it is resumed.
    saved: RefCell<Option<Reader<'static>>>,
    is_resumed: bool,
}

/// The default interval.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(600);

/// A checkpoint, from which a search can be resumed.
pub struct Checkpoint {
    path: PathBuf,
    head: Head,
    config: Config,
    reader: Reader<'static>,
}

impl Checkpoint {
    /// Opens a checkpoint, or the previous one if it is damaged. An error is the reason why that fails.
    pub fn open(path: &Path, observer: &dyn Observer) -> Result<Checkpoint, String> {
        let cannot = |reason: String| format!("cannot resume from {}: {reason}", path.display());
        let file = CheckpointFile::new(path);
        let Opened { mut reader, instead } =
            file.open().map_err(|unusable| cannot(format!("{unusable}; {AFRESH}")))?;
        if let Some(error) = instead {
            let previous = file.previous();
            observer.warning(format!(
                "cannot resume from {}: {error}; the checkpoint before it is used, {}",
                path.display(),
                previous.display()
            ));
        }
        let head = Head::load(&mut reader).map_err(|error| cannot(error.to_string()))?;
        if head.version != VERSION {
            let Head { version, .. } = head;
            return Err(cannot(format!("it was written by entail {version}, and this is entail {VERSION}")));
        }
        let config = serde_json::from_str(&head.options).map_err(|error| cannot(error.to_string()))?;
        Ok(Checkpoint { path: path.to_owned(), head, config, reader })
    }

    /// The original options of the search.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The model that was searched. If it does not exist, the error names its original directory.
    pub fn model(&self) -> Result<PathBuf, String> {
        let Head { model, folder, .. } = &self.head;
        if Path::new(model).exists() {
            return Ok(model.into());
        }
        Err(self.cannot(&format!(
            "{model} is not here; the search began in {folder}: resume it there, or name the model"
        )))
    }

    /// The options of the resumed search: the original ones, but limits and files as `given` now. It is an error if
    /// an option that `is_given`, by its command-line name, differs from the original one.
    pub fn completed(&self, given: &Config, is_given: impl Fn(&str) -> bool) -> Result<Config, String> {
        for ((name, now), (_, before)) in given.fixed_options().into_iter().zip(self.config.fixed_options()) {
            if is_given(name) && now != before {
                let before = if before.is_empty() { "not given".into() } else { format!("`{before}`") };
                let change = format!("`{name}` was {before} when the search began, and is `{now}` now");
                return Err(self.cannot(&format!("{change}; leave it out")));
            }
        }
        let (given, began) = (given.clone(), self.config.clone());
        Ok(Config {
            time: given.time,
            memory: given.memory.or(began.memory),
            threads: given.threads.or(began.threads),
            phases: given.phases,
            trail: if is_given("--trail") { given.trail } else { began.trail },
            evidence: given.evidence.or(began.evidence),
            checkpoint: Some(given.checkpoint.unwrap_or_else(|| self.path.clone())),
            every: if is_given("--every") { given.every } else { began.every },
            force: given.force,
            format: if is_given("--format") { given.format } else { began.format },
            ..began
        })
    }

    fn cannot(&self, reason: &str) -> String {
        format!("cannot resume from {}: {reason}", self.path.display())
    }
}

impl<'o> CheckpointWriter<'o> {
    /// Creates a writer for a search of a model.
    pub fn new(file: &Path, config: &Config, model: &Path, observer: &'o dyn Observer) -> Result<Self, String> {
        let options =
            serde_json::to_string(config).map_err(|error| format!("a checkpoint needs UTF-8: {error}"))?;
        let folder = std::path::absolute(model).unwrap_or_default();
        let folder = folder.ancestors().nth(model.components().count()).unwrap_or(&folder);
        let head = Head {
            version: VERSION.into(),
            options,
            model: model.to_str().ok_or_else(|| format!("{} is not in UTF-8", model.display()))?.to_owned(),
            folder: folder.display().to_string(),
            property: String::new(),
            fingerprint: 0,
            elapsed: Duration::ZERO,
        };
        Ok(CheckpointWriter::with(file, config, head, None, observer))
    }

    /// Resumes a search, and saves it to `file`.
    pub fn resumed(file: &Path, config: &Config, kept: Checkpoint, observer: &'o dyn Observer) -> Self {
        let Checkpoint { path, head, reader, .. } = kept;
        let keeping = CheckpointWriter::with(file, config, head, Some(reader), observer);
        keeping.is_kept.set(keeping.file.path() == path);
        keeping
    }

    fn with(
        file: &Path,
        config: &Config,
        head: Head,
        saved: Option<Reader<'static>>,
        observer: &'o dyn Observer,
    ) -> Self {
        let now = Instant::now();
        CheckpointWriter {
            file: CheckpointFile::new(file),
            outputs: Outputs::new(config.force),
            observer,
            every: config.every.unwrap_or(DEFAULT_INTERVAL),
            before: head.elapsed,
            head: RefCell::new(head),
            began: now,
            last: Cell::new(now),
            is_kept: Cell::new(false),
            is_resumed: saved.is_some(),
            saved: RefCell::new(saved),
        }
    }

    /// Sets the properties to check. There must be exactly one, and for a resumed search the original one.
    pub fn of(&self, properties: &[&str]) -> Result<(), String> {
        let &[property] = properties else {
            let all = properties.join(", ");
            return Err(format!(
                "a checkpoint saves one search, but there are several properties to check: {all}; \
                choose one with `--property`"
            ));
        };
        let mut head = self.head.borrow_mut();
        if self.is_resumed && head.property != property {
            return Err(format!(
                "the checkpoint is of a search for `{}`, not for `{property}`; {AFRESH}",
                head.property
            ));
        }
        property.clone_into(&mut head.property);
        Ok(())
    }

    /// Sets the text of the searched system, and returns the checkpoint to resume, if there is one.
    pub fn begin(&self, searched: &str) -> Result<Option<Reader<'static>>, String> {
        let mut head = self.head.borrow_mut();
        let fingerprint = rapidhash_v3(searched.as_bytes());
        if self.is_resumed && head.fingerprint != fingerprint {
            return Err(format!("the model has changed since the search began; {AFRESH}"));
        }
        head.fingerprint = fingerprint;
        Ok(self.saved.take())
    }

    /// The time of the search before it was resumed.
    pub fn before(&self) -> Duration {
        self.before
    }

    /// The file to resume from, if there is one.
    pub fn file(&self) -> Option<&Path> {
        self.is_kept.get().then(|| self.file.path())
    }
}

impl Checkpointer for CheckpointWriter<'_> {
    fn is_due(&self) -> bool {
        self.last.get().elapsed() >= self.every
    }

    fn keep(&self, save: &dyn Fn(&mut Writer) -> io::Result<()>) {
        let head = Head { elapsed: self.before + self.began.elapsed(), ..self.head.borrow().clone() };
        let mut written =
            self.file.files().iter().try_for_each(|file| self.outputs.check(file, Content::Checkpoint));
        if written.is_ok() {
            let file = self.file.write(&mut |to| {
                head.save(to)?;
                save(to)
            });
            written =
                file.map(drop).map_err(|error| format!("cannot write {}: {error}", self.file.path().display()));
        }
        match written {
            Ok(()) => self.is_kept.set(true),
            Err(problem) => {
                // A failed checkpoint does not stop the search.
                self.observer.warning(format!("{}; it will be tried again", on_a_line(&problem)));
            }
        }
        self.last.set(Instant::now());
    }
}

/// Saves a part in front of the snapshot of another checkpointer.
pub(crate) struct Before<'a> {
    pub part: &'a dyn Fn(&mut Writer) -> io::Result<()>,
    pub keeper: &'a dyn Checkpointer,
}

impl Checkpointer for Before<'_> {
    fn is_due(&self) -> bool {
        self.keeper.is_due()
    }

    fn keep(&self, save: &dyn Fn(&mut Writer) -> io::Result<()>) {
        self.keeper.keep(&|to| {
            (self.part)(to)?;
            save(to)
        });
    }
}

/// The advice if a search cannot be resumed.
pub(crate) const AFRESH: &str = "check the model from the beginning, without `--resume`";

const VERSION: &str = env!("CARGO_PKG_VERSION");
