//! `entail check --for`: checks one model for each value of a constant.

use crate::check::status;
use crate::console::{Failure, Out, Status};
use crate::quantities::Sweep;
use entail_check::report::{PropertyReport, Verdict};
use entail_check::units::{plural, shell_word};
use entail_check::{Checker, Input};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

pub fn check(
    checker: &Checker,
    models: &[PathBuf],
    sweep: &Sweep,
    stop: &AtomicBool,
    out: &mut Out,
) -> Result<Status, Failure> {
    let format = checker.config().format;
    if let Some(reason) = format.lacks_sweeps() {
        return Err(Failure::new(reason));
    }
    let (mut worst, mut reports) = (Status::Fine, Vec::new());
    for path in models {
        let mut tally = Tally::default();
        for value in sweep.low..=sweep.high {
            let report = checker.check_with(&Input::file(path), Some((&sweep.name, value)));
            worst = worst.max(status(&report));
            if !format.is_document() {
                out.write_all(line(path, sweep, value, &report.properties).as_bytes())?;
                out.flush()?;
                tally.add(value, &report.properties);
            }
            let goes_on = status(&report) != Status::Wrong && !stop.load(Ordering::Relaxed);
            reports.push(report);
            if !goes_on {
                break;
            }
        }
        out.write_all(tally.text(sweep).as_bytes())?;
        out.write_all(tally.hint(path, sweep).as_bytes())?;
    }
    if format.is_document() {
        out.verbatim().write_all(format.render(&reports, false).as_bytes())?;
    }
    Ok(worst)
}

/// The verdicts for one value.
fn line(path: &Path, sweep: &Sweep, value: i32, properties: &[PropertyReport]) -> String {
    let mut text = String::new();
    for property in properties {
        let found = property.searched.as_ref().and_then(|searched| searched.counterexample.as_ref());
        let verdict = match &property.verdict {
            Verdict::Holds => "holds".to_owned(),
            Verdict::Violated => {
                let steps = found.map_or(0, |found| found.steps as u64);
                format!("is violated after {}", plural(steps, "step"))
            }
            Verdict::Inconclusive(reason) => format!("is inconclusive: {reason}"),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}, {} = {value}: {} {verdict}", path.display(), sweep.name, property.name);
    }
    text
}

/// The values for each verdict of each property.
#[derive(Default)]
struct Tally {
    properties: Vec<(String, [Vec<i32>; 3])>,
}

const OUTCOMES: [&str; 3] = ["holds", "is violated", "is inconclusive"];

impl Tally {
    fn add(&mut self, value: i32, properties: &[PropertyReport]) {
        for property in properties {
            let known = self.properties.iter().position(|(name, _)| *name == property.name);
            let index = known.unwrap_or_else(|| {
                self.properties.push((property.name.clone(), Default::default()));
                self.properties.len() - 1
            });
            let outcome = match property.verdict {
                Verdict::Holds => 0,
                Verdict::Violated => 1,
                Verdict::Inconclusive(_) => 2,
            };
            self.properties[index].1[outcome].push(value);
        }
    }

    fn text(&self, sweep: &Sweep) -> String {
        let mut text = String::new();
        for (name, values) in &self.properties {
            for (outcome, values) in OUTCOMES.iter().zip(values) {
                // Empty lists of inconclusive values are omitted.
                if *outcome != OUTCOMES[2] || !values.is_empty() {
                    let _ = writeln!(text, "\n{name} {outcome} for {}", ranges(values, &sweep.name));
                }
            }
        }
        text
    }
}

impl Tally {
    /// The command that shows a counterexample.
    fn hint(&self, path: &Path, sweep: &Sweep) -> String {
        let violated = self.properties.iter().find_map(|(_, values)| values[1].first());
        violated.map_or(String::new(), |value| {
            let value = format!("{}={value}..{value}", sweep.name);
            let (path, value) = (shell_word(path), shell_word(value));
            format!("\n  hint: to see a run that violates it:  entail check {path} --for {value}\n")
        })
    }
}

/// `N = 1..3, 5`, with the number of values.
fn ranges(values: &[i32], name: &str) -> String {
    if values.is_empty() {
        return format!("no value of {name}");
    }
    let runs = values.chunk_by(|left, right| left + 1 == *right);
    let shown: Vec<_> = runs
        .map(|run| match run {
            [first, .., last] => format!("{first}..{last}"),
            _ => run[0].to_string(),
        })
        .collect();
    format!("{name} = {} ({})", shown.join(", "), plural(values.len() as u64, "value"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_values_are_put_together() {
        assert_eq!(ranges(&[], "N"), "no value of N");
        assert_eq!(ranges(&[7], "N"), "N = 7 (1 value)");
        assert_eq!(ranges(&[-1, 0, 1, 5, 7, 8], "N"), "N = -1..1, 5, 7..8 (6 values)");
    }
}
