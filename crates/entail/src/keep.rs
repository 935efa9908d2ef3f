//! Checkpoints: what `--checkpoint` keeps, and `--resume` goes on with.
//!
//! ```text
//! head:    version of entail │ command line │ folder │ property │ fingerprint of what is searched │ time it took so far
//! model:   which steps are left out │ how states are packed
//! claim:   which propositions held somewhere; only if there is a claim
//! store    │ which statements were reached │ counts, the first error │ what waits to be expanded, and the way back
//! ```
//!
//! The file around it is described in the crate `disk`.

use crate::args::{CheckArgs, Cli};
use crate::console::{Console, Failure};
use crate::output::{Content, Outputs};
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use entail_disk::{Checkpoint, Opened, Reader, Snapshot, Writer, snapshot};
use entail_front::legible::on_a_line;
use entail_search::Checkpointer;
use rapidhash::v3::rapidhash_v3;
use std::cell::{Cell, RefCell};
use std::io::{self, Write, stderr};
use std::path::Path;
use std::time::{Duration, Instant};

/// What is known of a search without its model.
#[derive(Clone, Debug)]
struct Head {
    version: String,
    /// As it was typed when the search began.
    words: Vec<String>,
    folder: String,
    property: String,
    fingerprint: u64,
    elapsed: Duration,
}

snapshot!(Head { version, words, folder, property, fingerprint, elapsed });

/// Keeps a search in a file.
pub struct Keeping {
    file: Checkpoint,
    outputs: Outputs,
    every: Duration,
    head: RefCell<Head>,
    /// When this part of the search began, and how long the others took.
    began: Instant,
    before: Duration,
    /// When it was kept the last time.
    last: Cell<Instant>,
    /// Whether there is something to go on with.
    is_kept: Cell<bool>,
    /// What is to be gone on with, until that is done.
    saved: RefCell<Option<Reader<'static>>>,
    is_resumed: bool,
}

/// How often a search is kept.
const USUAL_PAUSE: Duration = Duration::from_secs(600);

/// What may be another when a search is resumed.
const FREE: [&str; 10] =
    ["models", "resume", "checkpoint", "every", "time", "memory", "format", "trail", "evidence", "force"];

impl Keeping {
    /// What the command line asks for, if it does; and the command line itself, completed by what is resumed.
    pub fn asked(args: &CheckArgs, console: &Console) -> Result<Option<(CheckArgs, Keeping)>, Failure> {
        let words = std::env::args_os().map(|word| {
            word.into_string().map_err(|word| Failure::new(format!("{} is not in UTF-8", word.display())))
        });
        match (&args.resume, &args.checkpoint) {
            (Some(file), _) => {
                Keeping::resumed(file, args, &words.collect::<Result<Vec<_>, _>>()?, console).map(Some)
            }
            (None, Some(file)) => {
                let keeping = Keeping::new(file, args, words.collect::<Result<_, _>>()?);
                Ok(Some((args.clone(), keeping)))
            }
            (None, None) => Ok(None),
        }
    }

    fn new(file: &Path, args: &CheckArgs, words: Vec<String>) -> Keeping {
        let folder = std::env::current_dir().map(|folder| folder.display().to_string()).unwrap_or_default();
        let head = Head {
            version: VERSION.into(),
            words,
            folder,
            property: String::new(),
            fingerprint: 0,
            elapsed: Duration::ZERO,
        };
        Keeping::with(file, args, head, None)
    }

    fn with(file: &Path, args: &CheckArgs, head: Head, saved: Option<Reader<'static>>) -> Keeping {
        let now = Instant::now();
        Keeping {
            file: Checkpoint::new(file),
            outputs: Outputs::new(args.force),
            every: args.every.unwrap_or(USUAL_PAUSE),
            before: head.elapsed,
            head: RefCell::new(head),
            began: now,
            last: Cell::new(now),
            is_kept: Cell::new(false),
            is_resumed: saved.is_some(),
            saved: RefCell::new(saved),
        }
    }

    fn resumed(
        path: &Path,
        args: &CheckArgs,
        words: &[String],
        console: &Console,
    ) -> Result<(CheckArgs, Keeping), Failure> {
        let cannot = |reason: String| Failure::new(format!("cannot resume from {}: {reason}", path.display()));
        let file = Checkpoint::new(path);
        let Opened { mut reader, instead } =
            file.open().map_err(|unusable| cannot(format!("{unusable}; {AFRESH}")))?;
        if let Some(error) = instead {
            let previous = file.previous();
            console.complain(&format!(
                "warning: cannot resume from {}: {error}; the checkpoint before it is used, {}\n",
                path.display(),
                previous.display()
            ));
        }
        let head = Head::load(&mut reader).map_err(|error| cannot(error.to_string()))?;
        if head.version != VERSION {
            let Head { version, .. } = head;
            return Err(cannot(format!("it was written by entail {version}, and this is entail {VERSION}")));
        }
        let args = completed(args, words, &head).map_err(cannot)?;
        let keeping = Keeping::with(args.checkpoint.as_deref().unwrap_or(path), &args, head, Some(reader));
        keeping.is_kept.set(keeping.file.path() == path);
        Ok((args, keeping))
    }

    /// Says which properties are to be checked, of which there must be one; and if the search is resumed, that one.
    pub fn of(&self, properties: &[&str]) -> Result<(), String> {
        let &[property] = properties else {
            let all = properties.join(", ");
            return Err(format!(
                "a checkpoint is of one search, but there are several properties to be checked: {all}; \
                choose one by `--property`"
            ));
        };
        let mut head = self.head.borrow_mut();
        if self.is_resumed && head.property != property {
            return Err(format!(
                "what was kept is a search for `{}`, not for `{property}`; {AFRESH}",
                head.property
            ));
        }
        property.clone_into(&mut head.property);
        Ok(())
    }

    /// Says what is searched, and returns what is to be gone on with, if something is.
    pub fn begin(&self, searched: &str) -> Result<Option<Reader<'static>>, String> {
        let mut head = self.head.borrow_mut();
        let fingerprint = rapidhash_v3(searched.as_bytes());
        if self.is_resumed && head.fingerprint != fingerprint {
            return Err(format!("the model is not what it was when the search began; {AFRESH}"));
        }
        head.fingerprint = fingerprint;
        Ok(self.saved.take())
    }

    /// How long the search took before it was resumed.
    pub fn before(&self) -> Duration {
        self.before
    }

    /// The file to resume from, if there is one.
    pub fn file(&self) -> Option<&Path> {
        self.is_kept.get().then(|| self.file.path())
    }
}

impl Checkpointer for Keeping {
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
                // The search goes on all the same.
                let _ = writeln!(stderr(), "warning: {}; it will be tried again", on_a_line(&problem));
            }
        }
        self.last.set(Instant::now());
    }
}

/// Keeps something before what another one is given to keep.
pub struct Before<'a> {
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

/// What to do if a search cannot be resumed.
pub const AFRESH: &str = "check the model from the beginning, without `--resume`";

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The command line of the search that is resumed, with what may be another by now.
fn completed(args: &CheckArgs, words: &[String], head: &Head) -> Result<CheckArgs, String> {
    let [now, then] = [words, &head.words].map(check_matches);
    let (now, then) = (now?, then?);
    let is_given = |id: &str| now.value_source(id) == Some(ValueSource::CommandLine);
    let command = Cli::command();
    let check = command.find_subcommand("check").ok_or("there is no `check`")?;
    for argument in check.get_arguments() {
        let id = argument.get_id().as_str();
        let [given, before] = [&now, &then].map(|matches| typed(matches, id));
        if is_given(id) && !FREE.contains(&id) && given != before {
            let name = argument.get_long().map_or_else(
                || format!("-{}", argument.get_short().unwrap_or_default()),
                |long| format!("--{long}"),
            );
            let before = if before.is_empty() { "not given".into() } else { format!("`{before}`") };
            return Err(format!("`{name}` was {before} when the search began, and is `{given}` now; leave it out"));
        }
    }
    let began = CheckArgs::from_arg_matches(&then).map_err(|error| error.to_string())?;
    let mut all = began.clone();
    all.resume.clone_from(&args.resume);
    all.checkpoint.clone_from(&args.checkpoint);
    all.limits.time = args.limits.time;
    all.limits.memory = args.limits.memory.or(began.limits.memory);
    all.trail = args.trail.clone().or(began.trail);
    all.force = args.force;
    all.evidence = args.evidence.clone().or(began.evidence);
    if is_given("format") {
        all.format = args.format;
    }
    if is_given("every") {
        all.every = args.every;
    }
    if !args.models.is_empty() {
        all.models.clone_from(&args.models);
    } else if let Some(missing) = all.models.iter().find(|model| !model.exists()) {
        let (missing, folder) = (missing.display(), &head.folder);
        return Err(format!(
            "{missing} is not here; the search began in {folder}: resume it there, or name the model"
        ));
    }
    Ok(all)
}

fn check_matches(words: &[String]) -> Result<ArgMatches, String> {
    let matches = Cli::command().try_get_matches_from(words).map_err(|error| error.to_string())?;
    let (_, check) = matches.subcommand().ok_or("it was not written by `entail check`")?;
    Ok(check.clone())
}

/// The values of an option.
fn typed(matches: &ArgMatches, id: &str) -> String {
    let values = matches.get_raw(id).into_iter().flatten();
    values.map(|value| value.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
