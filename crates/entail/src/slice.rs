//! `entail slice`: removes the parts of a model that its properties do not depend on.

use crate::args::{SliceArgs, SliceFormat};
use crate::console::{Console, Failure, Status};
use crate::reading::{read_or_fail, read_slice_or_fail};
use entail_check::Selection;
use entail_check::load::{self, aim};
use entail_front::promela::print;
use entail_front::promela::slice::{Explanation, Sliced};
use entail_front::{Asked, Language, Property, SAFETY};
use serde::Serialize;
use std::fmt::Write;
use std::io::Write as _;

pub fn slice(args: &SliceArgs, console: &mut Console) -> Result<Status, Failure> {
    let asked = load::asked(&args.asked.asked()).map_err(Failure::new)?;
    let reading = args.reading.reading();
    let model = read_or_fail(&args.model, &reading, &asked, console)?;
    if model.language != Language::Promela {
        return Err(Failure::new("only Promela models can be sliced so far"));
    }
    // The slice preserves the requested properties only.
    let names: Vec<String> = args.properties.iter().cloned().chain(asked.iter().map(Asked::name)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let Selection { safety, named } = Selection::of(&names, &[], &model).map_err(Failure::new)?;
    let aims = safety.then_some(None).into_iter().chain(named.into_iter().map(Some));
    let (aims, wanted): (Vec<_>, Vec<_>) = aims.map(|property| (aim(property), name(property))).unzip();
    let (_, sliced) = read_slice_or_fail(&args.model, &reading, &asked, &aims, console)?;
    let title = Title { model: args.model.display().to_string(), properties: wanted };
    let out = match args.format {
        SliceFormat::Text => text(&title, &sliced),
        SliceFormat::Promela => print::program(&sliced.program),
        SliceFormat::Json => json(&title, &sliced),
    };
    let to = if args.format == SliceFormat::Text { &mut console.out } else { console.out.verbatim() };
    to.write_all(out.as_bytes())?;
    Ok(Status::Fine)
}

fn name(property: Option<&Property>) -> String {
    property.map_or(SAFETY.to_owned(), |property| property.name.clone())
}

/// The model, and the properties of its slice.
struct Title {
    model: String,
    properties: Vec<String>,
}

fn text(title: &Title, sliced: &Sliced) -> String {
    let mut out = format!("{}, sliced for {}\n", title.model, title.properties.join(", "));
    explanation(&mut out, &sliced.explanation).expect("writing to a string cannot fail");
    out += "\nThe slice:\n";
    out += &print::program(&sliced.program);
    out
}

fn explanation(out: &mut String, explanation: &Explanation) -> std::fmt::Result {
    let Explanation { kept, dropped, statements, steps } = explanation;
    if let Some(reason) = steps {
        writeln!(out, "\nNo statement is removed: {reason}.")?;
    }
    if dropped.is_empty() && statements.is_empty() {
        writeln!(out, "\nNothing is irrelevant.")?;
    }
    if !dropped.is_empty() {
        writeln!(out, "\nIrrelevant variables:")?;
    }
    for dropped in dropped {
        let name = of_process(&dropped.text, dropped.process.as_deref());
        writeln!(out, "  {name}, line {}", dropped.place.line)?;
    }
    if !statements.is_empty() {
        writeln!(out, "\nIrrelevant statements:")?;
    }
    for statement in statements {
        let process = statement.process.as_deref().unwrap_or_default();
        writeln!(out, "  {process}, line {}: {}", statement.place.line, statement.text)?;
    }
    if !kept.is_empty() {
        writeln!(out, "\nRelevant variables:")?;
    }
    for kept in kept {
        let name = of_process(&kept.name, kept.process.as_deref());
        writeln!(out, "  {name}: {}", kept.because.join(", "))?;
    }
    Ok(())
}

fn of_process(name: &str, process: Option<&str>) -> String {
    process.map_or(name.to_owned(), |process| format!("{name} of {process}"))
}

#[derive(Serialize)]
struct Document<'a> {
    model: &'a str,
    properties: &'a [String],
    steps_stay_because: Option<&'static str>,
    dropped: Vec<Dropped<'a>>,
    statements: Vec<Dropped<'a>>,
    kept: Vec<Kept<'a>>,
    promela: String,
}

#[derive(Serialize)]
struct Dropped<'a> {
    process: Option<&'a str>,
    text: &'a str,
    file: &'a str,
    line: u32,
    column: u32,
}

#[derive(Serialize)]
struct Kept<'a> {
    name: &'a str,
    process: Option<&'a str>,
    because: &'a [String],
}

impl Dropped<'_> {
    fn of(dropped: &entail_front::promela::slice::Dropped) -> Dropped<'_> {
        let entail_front::source::Place { file, line, column, .. } = &dropped.place;
        let (line, column) = (*line, *column);
        Dropped { process: dropped.process.as_deref(), text: &dropped.text, file, line, column }
    }
}

fn json(title: &Title, sliced: &Sliced) -> String {
    let Explanation { kept, dropped, statements, steps } = &sliced.explanation;
    let document = Document {
        model: &title.model,
        properties: &title.properties,
        steps_stay_because: *steps,
        dropped: dropped.iter().map(Dropped::of).collect(),
        statements: statements.iter().map(Dropped::of).collect(),
        kept: kept
            .iter()
            .map(|kept| Kept { name: &kept.name, process: kept.process.as_deref(), because: &kept.because })
            .collect(),
        promela: print::program(&sliced.program),
    };
    let text = serde_json::to_string_pretty(&document).expect("it has only names and numbers");
    format!("{text}\n")
}
