//! `entail replay`: a counterexample, step by step.

mod follow;
mod json;

use crate::args::{ReplayArgs, ReplayFormat};
use crate::check::{SAFETY, default_trail};
use crate::console::{Console, Failure, Status};
use crate::property::forbidden;
use crate::trail::Trail;
use crate::walk::AGAIN;
use crate::{load, slice};
use entail_front::{Asked, Meaning, ModelSource, Property, Says};
use entail_ir::Interpreter;
use follow::Follow;
use std::fs::File;
use std::io::{BufReader, Write};
use std::path::Path;

pub fn replay(args: &ReplayArgs, console: &mut Console) -> Result<Status, Failure> {
    let asked = load::asked(&args.asked).map_err(Failure::new)?;
    let mut model = load::read_or_fail(&args.model, &args.reading, &asked, console)?;
    let path = args.trail.clone().unwrap_or_else(|| default_trail(&args.model));
    let trail = read_trail(&path)?;
    let name = args.property.as_deref().or(asked.first().map(Asked::name));
    let name = name.filter(|name| *name != SAFETY);
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
            Says::Always(..) | Says::Never(_) | Says::Branching(_) => None,
        };
    }
    let interpreter = Interpreter::new(&system);
    let mut follow = Follow::new(&interpreter, &trail);
    if let Some((claim, _)) = meaning.and_then(|meaning| forbidden(&meaning.says).ok().flatten()) {
        follow = follow.watched_by(&claim);
    }
    let titles = Titles { model: args.model.display().to_string(), trail: path.display().to_string() };
    let out = &mut *console.out;
    match args.format {
        ReplayFormat::Text => write_text(out, follow, &titles)?,
        ReplayFormat::Json => json::write(out, follow, &titles)?,
    }
    Ok(Status::Fine)
}

fn known<'m>(model: &'m ModelSource, name: &str) -> Result<&'m Property, Failure> {
    let known = model.properties.iter().find(|known| known.name == name);
    known.ok_or_else(|| Failure::new(format!("the model has no property `{name}`")))
}

/// What is replayed on what.
struct Titles {
    model: String,
    trail: String,
}

impl Titles {
    fn misfit(&self, why: String) -> Failure {
        Failure::new(format!("{} does not fit this model {why}", self.trail))
    }
}

fn read_trail(path: &Path) -> Result<Trail, Failure> {
    let cannot = |error| Failure::new(format!("cannot read {}: {error}", path.display()));
    let file = File::open(path).map_err(cannot)?;
    Trail::read(BufReader::new(file)).map_err(|why| Failure::new(format!("{} is no trail: {why}", path.display())))
}

fn write_text(out: &mut dyn Write, mut follow: Follow, titles: &Titles) -> Result<(), Failure> {
    writeln!(out, "{}, replayed on {}\n", titles.trail, titles.model)?;
    let mut wrong = false;
    loop {
        let starts_cycle = follow.is_at_cycle();
        let Some(told) = follow.next().map_err(|why| titles.misfit(why))? else { break };
        if starts_cycle {
            out.write_all(AGAIN.as_bytes())?;
        }
        wrong |= told.violation.is_some();
        out.write_all(told.text().as_bytes())?;
    }
    match follow.end() {
        Some(violation) => writeln!(out, "\nThe run ends here: {}", violation.message)?,
        None if follow.goes_round() => writeln!(out, "\nThe run goes on like that for ever.")?,
        None if follow.breaks_claim() => {
            writeln!(out, "\nThe run ends here: the property is broken, whatever comes next.")?
        }
        None if wrong => writeln!(out, "\nThe run ends here, in an error.")?,
        None => writeln!(out, "\nThe run ends here, without an error.")?,
    }
    Ok(())
}
