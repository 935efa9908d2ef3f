//! `entail replay`: a counterexample, step by step.

mod source;

pub use source::Source;

use crate::args::{ReplayArgs, ReplayFormat};
use crate::console::{Console, Failure, Status};
use crate::reading::{cut, read_or_fail};
use crate::run::{self, Origin, Titles, View};
use entail_check::follow::Follow;
use entail_check::forbidden;
use entail_check::load;
use entail_check::provenance::Shown;
use entail_check::trail::Trail;
use entail_check::trail_files::{default_trail, provenance, trail_of, trails_of};
use entail_check::units::shell_word;
use entail_front::{Asked, Meaning, ModelSource, Property, SAFETY, Specification};
use entail_ir::Interpreter;
use std::fs::File;
use std::io::{BufReader, ErrorKind};
use std::path::{Path, PathBuf};

pub fn replay(args: &ReplayArgs, console: &mut Console) -> Result<Status, Failure> {
    let path = args.trail.clone().unwrap_or_else(|| usual_trail(args));
    let trail = read_trail(&path, &args.model)?;
    let source = Source::of(&path, &trail);
    let reading = source.completed(&args.reading.reading(), console);
    let given = load::asked(&args.asked.asked()).map_err(Failure::new)?;
    let is_told = args.property.is_some() || !given.is_empty();
    let shown = source.property();
    let asked = if is_told { given } else { shown.and_then(Shown::asked).into_iter().collect() };
    let mut model = read_or_fail(&args.model, &reading, &asked, console)?;
    source.compare(&args.model, &model, console);
    let name = match (is_told, shown) {
        (true, _) => args.property.clone().or(asked.first().map(Asked::name)),
        (false, Some(shown)) => source.known_property(shown, &model, console),
        (false, None) => None,
    };
    if let (Some(name), Some(shown)) = (&name, shown)
        && *name != shown.name
    {
        let (path, shown) = (path.display(), &shown.name);
        console.complain(&format!("warning: {path} was written for the property `{shown}`, not for `{name}`\n"));
    }
    let name = name.as_deref().filter(|name| *name != SAFETY);
    if args.slice || source.is_slice() {
        let property = name.map(|name| known(&model, name)).transpose()?.cloned();
        model = cut(&args.model, &reading, &asked, property.as_ref(), console)?;
    }
    let meaning = name.map(|name| known(&model, name)).transpose()?.and_then(|known| known.meaning.as_ref());
    let mut system = model.system.clone();
    if let Some(Meaning { says, propositions, .. }) = meaning {
        system.propositions = propositions.clone();
        system.monitor = match says {
            Specification::Monitor(monitor) => Some(monitor.clone()),
            Specification::Ltl(..) | Specification::Never(..) | Specification::Ctl(_) => None,
        };
    }
    let interpreter = Interpreter::new(&system);
    let mut follow = Follow::new(&interpreter, &trail);
    if let Some((claim, _)) =
        meaning.and_then(|meaning| forbidden(&meaning.says, Default::default()).ok().flatten())
    {
        follow = follow.watched_by(&claim);
    }
    let titles =
        Titles { model: args.model.display().to_string(), origin: Origin::Trail(path.display().to_string()) };
    let view = match args.format {
        ReplayFormat::Text => args.shown.view.unwrap_or(View::Steps),
        ReplayFormat::Json => View::Json,
    };
    run::show(&mut console.out, &mut follow, &titles, view, &args.shown)?;
    Ok(Status::Fine)
}

fn known<'m>(model: &'m ModelSource, name: &str) -> Result<&'m Property, Failure> {
    let known = model.properties.iter().find(|known| known.name == name);
    let known = known.ok_or_else(|| Failure::new(format!("the model has no property `{name}`")))?;
    match known.meaning {
        Some(_) => Ok(known),
        None => Err(Failure::new(format!("the property `{name}` cannot be read"))),
    }
}

/// The default trail: a property that was checked with others has its own trail.
fn usual_trail(args: &ReplayArgs) -> PathBuf {
    let usual = default_trail(&args.model);
    let Some(name) = args.property.as_deref() else { return usual };
    let is_of = provenance(&usual).is_some_and(|known| known.property.is_some_and(|shown| shown.name == name));
    let named = trail_of(&args.model, name);
    if !is_of && named.exists() { named } else { usual }
}

/// Reads the trail of a model.
pub fn read_trail(path: &Path, model: &Path) -> Result<Trail, Failure> {
    let name = path.display();
    let file = File::open(path).map_err(|error| {
        Failure::new(match error.kind() {
            ErrorKind::NotFound => missing(path, model),
            _ => format!("cannot read {name}: {error}"),
        })
    })?;
    let trail = Trail::read(BufReader::new(file));
    trail.map_err(|why| Failure::new(format!("{name} is not a trail: {why}")))
}

/// The message if there is no trail.
fn missing(path: &Path, model: &Path) -> String {
    let (usual, model_word) = (default_trail(model), shell_word(model));
    let others: Vec<String> = trails_of(model).iter().map(shell_word).collect();
    let check = if path == usual {
        format!("entail check {model_word}")
    } else {
        format!("entail check {model_word} --trail {}", shell_word(path))
    };
    let first =
        format!("there is no {}; run `{check}` first, which writes it if a property is violated", path.display());
    if others.is_empty() { first } else { format!("{first}; or replay one of these: {}", others.join(", ")) }
}
