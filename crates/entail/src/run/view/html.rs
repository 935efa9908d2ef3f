//! An interactive HTML page of a run with source, chart and states, in one file.

use super::options::ViewArgs;
use super::svg::{self, escaped};
use super::{closing, limited};
use crate::run::{Run, Snapshot, Taken, Titles, is_process};
use entail_front::source;
use entail_ir::Statement;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The maximum number of steps that a browser handles well.
const MOST_STEPS: usize = 20_000;

/// A file of the model, or the reason why it is unavailable.
pub struct Source {
    name: String,
    text: Result<String, String>,
}

/// The data of the page's script. Each state is stored as its differences from the previous one.
#[derive(Serialize)]
struct Data<'a> {
    /// The names of variables in the order of the model; other fields refer to them by index.
    names: Vec<&'a str>,
    files: Vec<File<'a>>,
    /// The initial state, and the states after each step.
    moments: Vec<Moment<'a>>,
    /// The number of steps before the cycle, if the run is infinite.
    cycle_start: Option<usize>,
    closing: Vec<String>,
    is_wrong: bool,
}

#[derive(Serialize)]
struct File<'a> {
    name: &'a str,
    text: Option<&'a str>,
    problem: Option<&'a str>,
}

#[derive(Serialize)]
struct Moment<'a> {
    step: Option<Step<'a>>,
    /// Changed values by variable index; `None` for variables that no longer exist.
    values: Vec<(usize, Option<&'a str>)>,
    /// Changed control locations by process number.
    places: Vec<(usize, Option<Act<'a>>)>,
}

#[derive(Serialize)]
struct Step<'a> {
    number: usize,
    act: Option<Act<'a>>,
    partner: Option<Act<'a>>,
    output: Option<&'a str>,
    truths: BTreeMap<&'a str, bool>,
    claim: Option<&'a str>,
    error: Option<&'a str>,
}

/// A statement that a process executes, or may execute next.
#[derive(Clone, PartialEq, Serialize)]
struct Act<'a> {
    who: String,
    /// `None` if the process has ended.
    statement: Option<&'a str>,
    file: Option<usize>,
    line: u32,
}

/// The page of a run; `misfit` is the error if a given step is not enabled.
pub fn text(
    run: &Run,
    titles: &Titles,
    misfit: Option<&str>,
    sources: &[Source],
    options: &ViewArgs,
) -> Result<String, String> {
    limited(run.steps.len(), MOST_STEPS, "html")?;
    let chart = svg::text(run, titles, misfit, options)?;
    let data = serde_json::to_string(&data(run, misfit, sources)).expect("strings and numbers only");
    // Only `</` could end the script.
    let data = data.replace('<', "\\u003c");
    let title = escaped(&titles.headline());
    let mut page = String::new();
    let mut rest = PAGE;
    for (place, text) in [
        ("{title}", title.as_str()),
        ("{style}", STYLE),
        ("{headline}", &title),
        ("{chart}", &chart),
        ("{data}", &data),
        ("{script}", SCRIPT),
    ] {
        let (before, behind) = rest.split_once(place).expect("the page has a place for it");
        page += before;
        page += text;
        rest = behind;
    }
    Ok(page + rest)
}

fn data<'a>(run: &'a Run, misfit: Option<&str>, sources: &'a [Source]) -> Data<'a> {
    let names = run.variables();
    let number_of: HashMap<&str, usize> = (0..).zip(&names).map(|(number, name)| (*name, number)).collect();
    let act = |process: usize, name: &str, statement: Option<&'a Statement>| Act {
        who: format!("{name}({process})"),
        statement: statement.map(|statement| statement.text.as_str()),
        file: statement.and_then(|known| sources.iter().position(|source| source.name == known.file)),
        line: statement.map_or(0, |statement| statement.line),
    };
    let values_of = |snapshot: &'a Snapshot| {
        let mut values: Vec<Option<&str>> = vec![None; names.len()];
        for (name, value) in snapshot.values.iter().filter(|(name, _)| !is_process(name)) {
            if let Some(number) = number_of.get(name.as_str()) {
                values[*number] = Some(value);
            }
        }
        values
    };
    let places_of = |snapshot: &'a Snapshot| {
        let standings = snapshot.processes.iter();
        standings.map(|standing| Some(act(standing.process, standing.name, standing.next))).collect::<Vec<_>>()
    };
    let step = |taken: &'a Taken| {
        let told = &taken.told;
        let explained = told.explained.as_ref();
        let partner = explained.and_then(|told| told.partner);
        Step {
            number: told.number,
            act: explained.map(|told| act(told.process, told.process_name, Some(&told.statement))),
            partner: partner.map(|(process, name, statement)| act(process, name, Some(statement))),
            output: explained.and_then(|told| told.output.as_deref()),
            truths: told.truths.iter().copied().collect(),
            claim: told.claim.as_ref().map(|(_, now)| now.as_str()),
            error: told.violation.as_ref().map(|violation| violation.message.as_str()),
        }
    };
    let (mut values, mut places) = (vec![None; names.len()], Vec::new());
    let moments = (0..=run.steps.len()).map(|after| {
        let snapshot = run.snapshot(after);
        let (old_values, old_places) = (
            std::mem::replace(&mut values, values_of(snapshot)),
            std::mem::replace(&mut places, places_of(snapshot)),
        );
        Moment {
            step: after.checked_sub(1).map(|index| step(&run.steps[index])),
            values: differences(&old_values, &values),
            places: differences(&old_places, &places),
        }
    });
    let moments = moments.collect();
    let files = sources.iter().map(|Source { name, text }| File {
        name,
        text: text.as_ref().ok().map(String::as_str),
        problem: text.as_ref().err().map(String::as_str),
    });
    Data {
        files: files.collect(),
        moments,
        cycle_start: run.cycle_start,
        closing: closing(run, misfit),
        is_wrong: misfit.is_some() || run.ending.is_error(),
        names,
    }
}

/// The changed elements by index. The lengths may differ.
fn differences<T: Clone + PartialEq>(before: &[Option<T>], now: &[Option<T>]) -> Vec<(usize, Option<T>)> {
    let at = |list: &[Option<T>], index: usize| list.get(index).cloned().flatten();
    let all = (0..before.len().max(now.len())).map(|index| (index, at(before, index), at(now, index)));
    all.filter(|(_, before, now)| before != now).map(|(index, _, now)| (index, now)).collect()
}

impl Source {
    /// The current contents of all files in which the run has statements.
    pub fn of(run: &Run) -> Vec<Source> {
        let standings = (0..=run.steps.len()).flat_map(|after| &run.snapshot(after).processes);
        let mut sources: Vec<Source> = Vec::new();
        for statement in standings.filter_map(|standing| standing.next) {
            if sources.iter().all(|source| source.name != statement.file) {
                sources.push(Source::read(&statement.file));
            }
        }
        sources
    }

    fn read(name: &str) -> Source {
        let bytes = source::read(Path::new(name));
        let text = bytes
            .and_then(|bytes| source::decode(name, bytes))
            .map(|decoded| decoded.text)
            .map_err(|problem| problem.message);
        Source { name: name.to_owned(), text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Ending, Origin};

    #[test]
    fn of_a_file_that_is_gone_the_page_says_so() {
        let run = Run { start: Snapshot::default(), steps: Vec::new(), cycle_start: None, ending: Ending::Open };
        let titles = Titles { model: "m.pml".into(), origin: Origin::Trail("m.trail".into()) };
        let sources = [Source::read("gone.pml")];
        let page = text(&run, &titles, None, &sources, &ViewArgs::default()).unwrap();
        assert!(page.contains(r#""text":null,"problem":"cannot read `gone.pml`: no such file""#), "{page}");
    }

    #[test]
    fn states_are_told_by_what_is_different() {
        let before = [Some("a"), Some("b"), Some("c")];
        assert_eq!(differences(&before, &[Some("a"), None]), [(1, None), (2, None)]);
        assert_eq!(differences(&before[..1], &before), [(1, Some("b")), (2, Some("c"))]);
    }
}
