//! A table of statements and values, with a row for each step. After Erigone's `TRACE`.

use super::columns::{Block, fit, padded, width};
use super::margin::Margin;
use super::options::ViewArgs;
use crate::run::{Run, Snapshot};

/// The number of rows between repeated titles.
const TITLES_EVERY: usize = 24;
/// The maximum width of a column.
const WIDEST: usize = 40;
/// The minimum width of a wide column.
const LEAST: usize = 14;
/// The separator before each column.
const GAP: &str = "│ ";

struct Column<'r> {
    title: String,
    shows: Shows<'r>,
    wanted: usize,
}

#[derive(Clone, Copy)]
enum Shows<'r> {
    /// The statements of a process.
    Process(usize),
    /// The value of a variable, with the index where it was found last.
    Variable(&'r str, usize),
}

/// The table; an error if a requested column does not exist.
pub fn text(run: &Run, options: &ViewArgs) -> Result<String, String> {
    let steps: Vec<usize> = (0..run.steps.len()).filter(|step| options.wants(&run.steps[*step])).collect();
    let margin = Margin::of(run, &steps);
    let room = options.width() - margin.width();
    let columns = columns(run, &steps, options, room)?;
    let wanted: Vec<usize> = columns.iter().map(|column| column.wanted).collect();
    let blocks = fit(&wanted, LEAST, room).into_iter().map(|Block { columns: range, widths }| {
        let columns = &columns[range];
        let line = |margin: String, cell: &dyn Fn(&Column) -> String| {
            let cells = columns.iter().zip(&widths).map(|(column, room)| {
                // The separator after the last column is omitted.
                let text = padded(&cell(column), room.saturating_sub(width(GAP) + 1));
                format!("{GAP}{text} ")
            });
            format!("{}\n", (margin + &cells.collect::<String>()).trim_end())
        };
        let titles = || line(margin.blank(), &|column| column.title.clone());
        let mut text = titles();
        text += &line(margin.blank(), &|column| column.shows.at(&run.start).to_owned());
        for (row, &step) in (1..).zip(&steps) {
            if row % TITLES_EVERY == 0 {
                text += &titles();
            }
            text += &line(margin.line(step, &run.steps[step]), &|column| column.shows.after(run, step).to_owned());
        }
        text
    });
    Ok(blocks.collect::<Vec<_>>().join("\n"))
}

/// The requested columns; or all that fit, or only those that change.
fn columns<'r>(run: &'r Run, steps: &[usize], options: &ViewArgs, room: usize) -> Result<Vec<Column<'r>>, String> {
    let processes = run.processes().into_iter().enumerate();
    let processes = processes.map(|(number, name)| (format!("{name}({number})"), Shows::Process(number)));
    let mut processes: Vec<_> = processes.collect();
    let variables = run.variables().into_iter().enumerate();
    let mut variables: Vec<_> =
        variables.map(|(index, name)| (name.to_owned(), Shows::Variable(name, index))).collect();
    if !options.columns.is_empty() {
        variables = named(&options.columns, &variables)?;
    }
    let left_out = named(&options.without_columns, &[&processes[..], &variables[..]].concat())?;
    for titles in [&mut processes, &mut variables] {
        titles.retain(|(title, _)| left_out.iter().all(|(left_out, _)| title != left_out));
    }

    let column = |(title, shows): (String, Shows<'r>)| {
        let cells = steps.iter().map(|step| width(shows.after(run, *step)));
        let widest = cells.chain([width(shows.at(&run.start)), width(&title)]).max().unwrap_or(0);
        Column { title, shows, wanted: widest.min(WIDEST) + width(GAP) + 1 }
    };
    if options.columns.is_empty() {
        variables.retain(|(title, _)| !title.contains(':'));
    }
    let mut processes: Vec<Column> = processes.into_iter().map(column).collect();
    let mut variables: Vec<Column> = variables.into_iter().map(column).collect();
    let least = |columns: &[Column]| columns.iter().map(|column| column.wanted.min(LEAST)).sum::<usize>();
    if least(&processes) > room {
        processes.retain(|idle| steps.iter().any(|step| !idle.shows.after(run, *step).is_empty()));
    }
    if options.columns.is_empty() && least(&processes) + least(&variables) > room {
        let changing = run.changing();
        variables.retain(|column| changing.contains(column.title.as_str()));
    }
    processes.extend(variables);
    Ok(processes)
}

/// The titles with these names or prefixes.
fn named<'r>(names: &[String], titles: &[(String, Shows<'r>)]) -> Result<Vec<(String, Shows<'r>)>, String> {
    let mut found = Vec::new();
    for name in names {
        let known = |title: &&(String, Shows)| title.0 == *name;
        let begins = |title: &&(String, Shows)| title.0.starts_with(name.as_str());
        let before = found.len();
        match titles.iter().find(known) {
            Some(title) => found.push(title.clone()),
            None => found.extend(titles.iter().filter(begins).cloned()),
        }
        if found.len() == before {
            let some: Vec<&str> = titles.iter().map(|(title, _)| title.as_str()).take(20).collect();
            return Err(format!(
                "there is no column with the name or prefix `{name}`; there are: {}",
                some.join(", ")
            ));
        }
    }
    Ok(found)
}

impl<'r> Shows<'r> {
    /// The text of the column in a state.
    fn at(self, snapshot: &'r Snapshot) -> &'r str {
        match self {
            Shows::Process(_) => "",
            Shows::Variable(name, index) => match snapshot.values.get(index) {
                Some((known, value)) if known == name => value,
                Some(_) | None => snapshot.value(name).unwrap_or(""),
            },
        }
    }

    /// The text of the column after a step.
    fn after(self, run: &'r Run, step: usize) -> &'r str {
        let taken = &run.steps[step];
        match (self, &taken.told.explained) {
            (Shows::Process(process), Some(explained)) => match explained.partner {
                Some((partner, _, statement)) if partner == process => &statement.text,
                Some(_) | None if explained.process == process => &explained.statement.text,
                Some(_) | None => "",
            },
            (Shows::Process(_), None) => "",
            (Shows::Variable(..), _) => self.at(&taken.after),
        }
    }
}
