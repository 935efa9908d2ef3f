//! `entail replay`: a counterexample, step by step.

mod follow;
mod json;

use crate::args::{ReplayArgs, ReplayFormat};
use crate::check::{AGAIN, default_trail};
use crate::console::{Console, Failure, Status};
use crate::load;
use crate::trail::Trail;
use entail_front::{Meaning, ModelSource, Says};
use entail_ir::{Interpreter, System};
use follow::Follow;
use std::fs::File;
use std::io::{BufReader, Write};
use std::path::Path;

pub fn replay(args: &ReplayArgs, console: &mut Console) -> Result<Status, Failure> {
    let model = load::read_or_fail(&args.model, &args.reading, console)?;
    let path = args.trail.clone().unwrap_or_else(|| default_trail(&args.model));
    let trail = read_trail(&path)?;
    let system = with_property(&model, &args.property)?;
    let interpreter = Interpreter::new(&system);
    let follow = Follow::new(&interpreter, &trail);
    let titles = Titles { model: args.model.display().to_string(), trail: path.display().to_string() };
    let out = &mut *console.out;
    match args.format {
        ReplayFormat::Text => write_text(out, follow, &titles)?,
        ReplayFormat::Json => json::write(out, follow, &titles)?,
    }
    Ok(Status::Fine)
}

/// The system, with what a property asks if one is named: the propositions, so that it is told when they become true, or
/// the monitor.
fn with_property(model: &ModelSource, property: &Option<String>) -> Result<System, Failure> {
    let mut system = model.system.clone();
    if let Some(name) = property {
        let known = model.properties.iter().find(|known| known.name == *name);
        let known = known.ok_or_else(|| Failure::new(format!("the model has no property `{name}`")))?;
        if let Some(Meaning { says, propositions, .. }) = &known.meaning {
            system.propositions = propositions.clone();
            system.monitor = match says {
                Says::Watched(monitor) => Some(monitor.clone()),
                Says::Always(..) | Says::Never(_) => None,
            };
        }
    }
    Ok(system)
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
        None if wrong => writeln!(out, "\nThe run ends here, in an error.")?,
        None => writeln!(out, "\nThe run ends here, without an error.")?,
    }
    Ok(())
}
