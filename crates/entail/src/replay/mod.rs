//! `entail replay`: a counterexample, step by step.

mod follow;

pub use follow::Meant;

use crate::args::{ReplayArgs, ReplayFormat};
use crate::check::default_trail;
use crate::console::{Console, Failure, Status};
use crate::property::forbidden;
use crate::run::{self, Origin, Titles, View};
use crate::trail::Trail;
use crate::{load, slice};
use entail_front::{Asked, Meaning, ModelSource, Property, SAFETY, Says};
use entail_ir::Interpreter;
use follow::Follow;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;
use std::time::Duration;

pub fn replay(args: &ReplayArgs, console: &mut Console) -> Result<Status, Failure> {
    let asked = load::asked(&args.asked).map_err(Failure::new)?;
    let mut model = load::read_or_fail(&args.model, &args.reading, &asked, console)?;
    let path = args.trail.clone().unwrap_or_else(|| default_trail(&args.model));
    let trail = read_trail(&path, &args.model, console)?;
    let name = args.property.clone().or(asked.first().map(Asked::name));
    let name = name.as_deref().filter(|name| *name != SAFETY);
    if args.slice {
        let property = name.map(|name| known(&model, name)).transpose()?.cloned();
        model = slice::cut(&args.model, &args.reading, &asked, property.as_ref(), console)?;
    }
    let meaning = name.map(|name| known(&model, name)).transpose()?.and_then(|known| known.meaning.as_ref());
    let mut system = model.system.clone();
    if let Some(Meaning { says, propositions, .. }) = meaning {
        system.propositions = propositions.clone();
        system.monitor = match says {
            Says::Watched(monitor) => Some(monitor.clone()),
            Says::Always(..) | Says::Never(..) | Says::Branching(_) => None,
        };
    }
    let interpreter = Interpreter::new(&system);
    let mut follow = Follow::new(&interpreter, &trail);
    if let Some((claim, _)) = meaning.and_then(|meaning| forbidden(&meaning.says).ok().flatten()) {
        follow = follow.watched_by(&claim);
    }
    let titles =
        Titles { model: args.model.display().to_string(), origin: Origin::Trail(path.display().to_string()) };
    let view = match args.format {
        ReplayFormat::Text => args.shown.view.unwrap_or(View::Steps),
        ReplayFormat::Json => View::Json,
    };
    run::show(&mut *console.out, &mut follow, &titles, view, &args.shown)?;
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

/// Whether a file was changed after another one, by more than it takes to copy both.
fn is_newer(file: &Path, than: &Path) -> bool {
    const SOON: Duration = Duration::from_secs(60);
    let changed = |path: &Path| fs::metadata(path).and_then(|known| known.modified()).ok();
    let since = changed(file).zip(changed(than)).and_then(|(one, other)| one.duration_since(other).ok());
    since.is_some_and(|since| since > SOON)
}

/// A trail of a model; it is pointed out if the model was changed since.
pub fn read_trail(path: &Path, model: &Path, console: &Console) -> Result<Trail, Failure> {
    let name = path.display();
    let file = File::open(path).map_err(|error| Failure::new(format!("cannot read {name}: {error}")))?;
    let trail = Trail::read(BufReader::new(file));
    let trail = trail.map_err(|why| Failure::new(format!("{name} is no trail: {why}")))?;
    if is_newer(model, path) {
        let model = model.display();
        console.complain(&format!(
            "warning: {model} was changed after {name} was written: they may not fit any more\n"
        ));
    }
    Ok(trail)
}
