//! `entail simulate`: one run, at random, along a trail or interactively.

mod ahead;
mod chance;
mod dice;
mod full;
mod keys;
mod line;
mod looks;
mod screen;
mod session;
#[cfg(test)]
mod tests;
mod timeline;

use crate::args::SimulateArgs;
use crate::console::{Console, Failure, Out, Status};
use crate::interrupt;
use crate::replay::{Source, read_trail};
use crate::run::{self, Origin, Titles, TraceSource, View};
use ahead::Ahead;
use chance::{Chance, Limits};
use dice::{Dice, any_seed};
use entail_check::Input;
use entail_check::follow::Meant;
use entail_check::load::{self, ReadModel};
use entail_check::output::{Content, Outputs};
use entail_check::provenance::Provenance;
use entail_check::trail_files::default_trail;
use entail_check::violation::Violation;
use entail_front::source::Sources;
use entail_ir::Interpreter;
use entail_model::{Model, StateBuf};
use session::Session;
use std::io::{self, BufWriter, IsTerminal, Write, stdin, stdout};
use std::sync::atomic::{AtomicBool, Ordering};

pub fn simulate(args: &SimulateArgs, console: &mut Console) -> Result<Status, Failure> {
    let given = args.along.as_deref().map(|path| read_trail(path, &args.model)).transpose()?;
    let source = args.along.as_deref().zip(given.as_ref()).map(|(path, trail)| Source::of(path, trail));
    let given_reading = args.reading.reading();
    let reading = source.as_ref().map_or(given_reading.clone(), |source| source.completed(&given_reading, console));
    let ReadModel { model, sources, .. } =
        load::read(&Input::file(&args.model), &reading, &[], |_| false, &console.stderr);
    let model = model.ok_or(Failure(None))?;
    if let Some(source) = &source {
        source.compare(&args.model, &model, console);
    }
    let provenance = Provenance::of(&args.model, model.fingerprint, &reading);
    let interpreter = Interpreter::new(&model.system);
    let seed = args.seed.unwrap_or_else(any_seed);
    let along = args.along.as_ref().map(|path| path.display().to_string());
    let given = given.map(|trail| Meant::by(&trail, &interpreter));
    let titles = Titles { model: args.model.display().to_string(), origin: Origin::Chance { seed, along } };
    let read = sources.paths.iter().chain([&args.model]).chain(&args.along);
    let outputs = Outputs::new(args.force).sparing(read);
    if args.interactive {
        converse(args, (&interpreter, &sources), seed, given, (&titles, provenance, outputs), console)
    } else {
        run_at_random(args, &interpreter, Dice::new(seed), given, (&titles, provenance, &outputs), console)
    }
}

/// The initial state.
fn start(interpreter: &Interpreter) -> StateBuf {
    let mut start = StateBuf::new();
    interpreter.initial_states(&mut |state| start = state.to_vec());
    start
}

fn run_at_random(
    args: &SimulateArgs,
    interpreter: &Interpreter,
    dice: Dice,
    given: Option<Meant>,
    (titles, provenance, outputs): (&Titles, Provenance, &Outputs),
    console: &Console,
) -> Result<Status, Failure> {
    let stop = interrupt::flag();
    let limits = Limits { steps: args.steps, stop: &stop };
    let mut chance = Chance::new(interpreter, Ahead::new(interpreter, args.backend), dice, limits);
    if let Some(given) = given {
        chance = chance.after(given);
    }
    if let Some(path) = &args.trail {
        let file = outputs.create(path, Content::Trail).map_err(Failure::new)?;
        chance = chance.recorded(file, provenance);
    }
    let mut out = Out::new(BufWriter::new(Heard { out: stdout(), stop: &stop }), stdout().is_terminal());
    let view = args.shown.view.unwrap_or(View::Output);
    let shown = run::show(&mut out, &mut chance, titles, view, &args.shown);
    let (written, flushed) = (chance.finish(), out.flush());
    shown?;
    if let Err(problem) = written {
        console.complain(&format!("warning: {problem}\n"));
    }
    flushed?;
    if view == View::Output {
        // Stdout contains only the output of the model.
        console.complain(&format!("{}\n{}\n", titles.headline(), summary(&chance)));
    }
    Ok(chance.status())
}

/// A writer that ends the run on a broken pipe.
struct Heard<'a, W> {
    out: W,
    stop: &'a AtomicBool,
}

impl<W: Write> Write for Heard<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes);
        self.heard(written, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        self.heard(flushed, ())
    }
}

impl<W> Heard<'_, W> {
    /// The result, or `dropped` on a broken pipe.
    fn heard<T>(&self, result: io::Result<T>, dropped: T) -> io::Result<T> {
        match result {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.stop.store(true, Ordering::Relaxed);
                Ok(dropped)
            }
            result => result,
        }
    }
}

/// A summary of the run for stderr.
fn summary(chance: &Chance) -> String {
    let steps = match chance.taken {
        1 => "1 step".to_owned(),
        count => format!("{count} steps"),
    };
    let end = match chance.failure() {
        Some(Violation { message, place: Some(place), .. }) => {
            format!("The run ends in an error: {message} ({}:{})", place.file, place.line)
        }
        Some(Violation { message, place: None, .. }) => format!("The run ends in an error: {message}"),
        None => chance.ending().sentences().join("\n  "),
    };
    format!("{steps} (see `--as steps`). {end}")
}

fn converse(
    args: &SimulateArgs,
    (interpreter, sources): (&Interpreter, &Sources),
    seed: u64,
    given: Option<Meant>,
    (titles, provenance, outputs): (&Titles, Provenance, Outputs),
    console: &mut Console,
) -> Result<Status, Failure> {
    let trail = args.trail.clone().unwrap_or_else(|| default_trail(&args.model));
    let ahead = Ahead::new(interpreter, args.backend);
    let title = format!("{}, seed {seed}", titles.model);
    let session = Session::new(title, (interpreter, sources), ahead, Dice::new(seed), (trail, outputs));
    let mut session = session.from(provenance);
    if let Some(Meant { steps, misfit, .. }) = given {
        if let Some(why) = misfit {
            return Err(Failure::new(titles.misfit(&why)));
        }
        session = session.after(&steps);
    }
    if !args.plain && stdin().is_terminal() && stdout().is_terminal() {
        let stop = interrupt::flag();
        full::converse(&mut session, &stop)
            .map_err(|error| Failure::new(format!("the terminal fails: {error}; try --plain")))?;
    } else {
        let echo = !stdin().is_terminal();
        line::converse(&mut session, (stdin().lock(), echo), &mut console.out)?;
    }
    Ok(session.status())
}
