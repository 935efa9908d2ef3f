//! Measurements as tables, in Markdown and CSV.

use super::figures::{Run, geometric_mean, quotient};
use std::fmt::Write as _;

/// The measurements of a model.
#[derive(Clone, Debug, Default)]
pub struct Row {
    pub model: String,
    pub spin: Run,
    pub entail: Run,
    /// Nanoseconds per operation of a bare table of states.
    pub bare: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Both tools do the same work: the counts are equal.
    AsWritten,
    /// Each tool with its default options.
    Default,
    /// Models so small that only the total time matters.
    Small,
}

/// A table in Markdown. The last lines summarise the ratios; the minimum is the worst case for entail.
pub fn markdown(kind: Kind, rows: &[Row]) -> String {
    let columns = columns(kind);
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = line(columns.iter().map(|column| column.title.into()).collect());
    text += &format!("|---|{}\n", "--:|".repeat(columns.len() - 1));
    for row in rows {
        text += &line(columns.iter().map(|column| column.show((column.value)(row))).collect());
    }
    let minimum = |values: &[f64]| values.iter().copied().reduce(f64::min);
    text += &line(summary("geometric mean", &columns, rows, geometric_mean));
    text += &line(summary("minimum", &columns, rows, minimum));
    text
}

fn summary(name: &str, columns: &[Column], rows: &[Row], of: impl Fn(&[f64]) -> Option<f64>) -> Vec<String> {
    let mut cells = vec![format!("**{name}**")];
    cells.extend(columns.iter().skip(1).map(|column| match column.unit {
        Unit::Ratio => {
            let values: Vec<f64> = rows.iter().filter_map(|row| (column.value)(row).number()).collect();
            format!("**{}**", column.show(of(&values).map_or(Value::Unknown, Value::Number)))
        }
        Unit::Plain | Unit::Count | Unit::Seconds | Unit::Milliseconds | Unit::Mebibytes | Unit::Small => {
            String::new()
        }
    }));
    cells
}

/// The header of `csv`.
pub fn csv_header(kind: Kind) -> String {
    let names: Vec<&str> = columns(kind).iter().map(|column| column.name).collect();
    format!("table,{}\n", names.join(","))
}

/// Lines of unrounded numbers; unknown ones are empty. The first column is the name of the table.
pub fn csv(table: &str, kind: Kind, rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows {
        text += table;
        for column in columns(kind) {
            let _ = match (column.value)(row) {
                Value::Text(value) => write!(text, ",{value}"),
                Value::Number(value) => write!(text, ",{value}"),
                Value::Unknown => write!(text, ","),
            };
        }
        text.push('\n');
    }
    text
}

#[derive(Clone, Copy)]
struct Column {
    title: &'static str,
    /// The name in CSV.
    name: &'static str,
    unit: Unit,
    value: fn(&Row) -> Value,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Plain,
    Count,
    Seconds,
    Milliseconds,
    Mebibytes,
    /// A small number of nanoseconds or bytes.
    Small,
    /// SPIN's measurement divided by entail's.
    Ratio,
}

enum Value {
    Text(String),
    Number(f64),
    Unknown,
}

impl Value {
    fn number(&self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(*number),
            Value::Text(_) | Value::Unknown => None,
        }
    }
}

impl Column {
    fn show(&self, value: Value) -> String {
        let number = match value {
            Value::Text(text) => return text,
            Value::Unknown => return "–".into(),
            Value::Number(number) => number,
        };
        match self.unit {
            Unit::Plain => number.to_string(),
            Unit::Count => format!("{number:.0}"),
            Unit::Seconds => format!("{number:.3}"),
            Unit::Milliseconds => format!("{:.1}", number * 1e3),
            Unit::Mebibytes => format!("{:.1}", number / f64::from(1 << 20)),
            Unit::Small => format!("{number:.1}"),
            Unit::Ratio => format!("{number:.2}"),
        }
    }
}

fn columns(kind: Kind) -> Vec<Column> {
    match kind {
        Kind::AsWritten => [MODEL, COUNTS, FIGURES].concat(),
        Kind::Default => [MODEL, BOTH_COUNTS, FIGURES].concat(),
        Kind::Small => [MODEL, &COUNTS[..1], TOTALS].concat(),
    }
}

const fn column(title: &'static str, name: &'static str, unit: Unit, value: fn(&Row) -> Value) -> Column {
    Column { title, name, unit, value }
}

fn known(number: Option<f64>) -> Value {
    number.map_or(Value::Unknown, Value::Number)
}

/// A measurement; zero means that it is unknown, or too small to be measured.
fn measured(number: f64) -> Value {
    known((number > 0.0).then_some(number))
}

fn count(number: u64) -> Value {
    Value::Number(number as f64)
}

const MODEL: &[Column] = &[column("model", "model", Unit::Plain, |row| Value::Text(row.model.clone()))];

/// The same in both tools.
const COUNTS: &[Column] = &[
    column("states", "states", Unit::Count, |row| count(row.spin.states)),
    column("transitions", "transitions", Unit::Count, |row| count(row.spin.transitions)),
];

const BOTH_COUNTS: &[Column] = &[
    column("SPIN states", "spin_states", Unit::Count, |row| count(row.spin.states)),
    column("entail states", "entail_states", Unit::Count, |row| count(row.entail.states)),
    column("SPIN transitions", "spin_transitions", Unit::Count, |row| count(row.spin.transitions)),
    column("entail transitions", "entail_transitions", Unit::Count, |row| count(row.entail.transitions)),
];

const FIGURES: &[Column] = &[
    column("pan s", "pan_s", Unit::Seconds, |row| measured(row.spin.search)),
    column("SPIN total s", "spin_total_s", Unit::Seconds, |row| measured(row.spin.total)),
    column("entail search s", "entail_search_s", Unit::Seconds, |row| measured(row.entail.search)),
    column("entail total s", "entail_total_s", Unit::Seconds, |row| measured(row.entail.total)),
    column("SPIN MiB", "spin_peak_bytes", Unit::Mebibytes, |row| measured(row.spin.peak_bytes as f64)),
    column("entail MiB", "entail_peak_bytes", Unit::Mebibytes, |row| measured(row.entail.peak_bytes as f64)),
    column("SPIN ns/trans", "spin_ns_per_transition", Unit::Small, |row| {
        known(row.spin.nanoseconds_per_transition())
    }),
    column("entail ns/trans", "entail_ns_per_transition", Unit::Small, |row| {
        known(row.entail.nanoseconds_per_transition())
    }),
    column("bare table ns", "bare_table_ns", Unit::Small, |row| known(row.bare)),
    column("SPIN B/state (peak)", "spin_peak_bytes_per_state", Unit::Small, |row| {
        measured(row.spin.bytes_per_state)
    }),
    column("entail B/state (store)", "entail_store_bytes_per_state", Unit::Small, |row| {
        measured(row.entail.bytes_per_state)
    }),
    column("search ×", "search_ratio", Unit::Ratio, |row| known(quotient(row.spin.search, row.entail.search))),
    column("total ×", "total_ratio", Unit::Ratio, total_ratio),
    column("memory ×", "memory_ratio", Unit::Ratio, |row| {
        known(quotient(row.spin.peak_bytes as f64, row.entail.peak_bytes as f64))
    }),
    column("backend", "backend", Unit::Plain, |row| Value::Text(row.entail.backend.clone())),
];

const TOTALS: &[Column] = &[
    column("SPIN total ms", "spin_total_s", Unit::Milliseconds, |row| measured(row.spin.total)),
    column("entail total ms", "entail_total_s", Unit::Milliseconds, |row| measured(row.entail.total)),
    column("total ×", "total_ratio", Unit::Ratio, total_ratio),
];

fn total_ratio(row: &Row) -> Value {
    known(quotient(row.spin.total, row.entail.total))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(model: &str, spin: f64, entail: f64) -> Row {
        let run = |search, peak_bytes| Run {
            states: 5,
            transitions: 1_000_000,
            search,
            total: search + 1.0,
            peak_bytes,
            bytes_per_state: 12.25,
            backend: "jit".into(),
        };
        Row { model: model.into(), spin: run(spin, 3 << 20), entail: run(entail, 1 << 20), bare: Some(9.0) }
    }

    #[test]
    fn ratios_are_summarised_under_their_columns() {
        let text = markdown(Kind::AsWritten, &[row("a", 1.0, 2.0), row("b", 4.0, 2.0)]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[2],
            "| a | 5 | 1000000 | 1.000 | 2.000 | 2.000 | 3.000 | 3.0 | 1.0 | 1000.0 | 2000.0 | 9.0 | 12.2 | 12.2 \
             | 0.50 | 0.67 | 3.00 | jit |"
        );
        assert!(lines[4].starts_with("| **geometric mean** |  |") && lines[4].contains("| **1.00** | **1.05** |"));
        assert!(
            lines[5].starts_with("| **minimum** |") && lines[5].contains("| **0.50** | **0.67** | **3.00** |  |")
        );
        let bars: Vec<usize> = lines.iter().map(|line| line.matches('|').count()).collect();
        assert!(bars.iter().all(|count| *count == bars[0]), "{text}");
    }

    #[test]
    fn what_cannot_be_measured_is_a_dash_and_no_part_of_the_mean() {
        let rows = [Row { bare: None, ..row("a", 0.0, 2.0) }, row("b", 4.0, 2.0)];
        let text = markdown(Kind::Default, &rows);
        assert!(text.contains("| a | 5 | 5 | 1000000 | 1000000 | – | 1.000 |"), "{text}");
        assert!(text.contains("| 2000.0 | – | 12.2 | 12.2 | – | 0.33 |"), "{text}");
        assert!(text.lines().any(|line| line.starts_with("| **geometric mean**") && line.contains("| **2.00** |")));
    }

    #[test]
    fn small_models_show_milliseconds() {
        let text = markdown(Kind::Small, &[row("a", 1.0, 0.002)]);
        assert!(text.contains("| a | 5 | 2000.0 | 1002.0 | 2.00 |"), "{text}");
    }

    #[test]
    fn csv_has_a_cell_for_every_column() {
        let rows = [Row { bare: None, ..row("a", 0.0, 2.0) }];
        for kind in [Kind::AsWritten, Kind::Default, Kind::Small] {
            let text = csv_header(kind) + &csv("as written", kind, &rows);
            let cells: Vec<usize> = text.lines().map(|line| line.split(',').count()).collect();
            assert_eq!((cells.len(), cells[0]), (2, cells[1]), "{text}");
        }
        assert!(csv("as written", Kind::Default, &rows).starts_with("as written,a,5,5,1000000,1000000,,1,2,3,"));
    }
}
