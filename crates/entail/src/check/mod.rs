//! `entail check`: does the model satisfy its properties?

mod sweep;

use crate::args::CheckArgs;
use crate::config::given_options;
use crate::console::{Console, Failure, Status};
use crate::interrupt;
use entail_check::config::Config;
use entail_check::report::{Report, Verdict};
use entail_check::{Checker, Checkpoint, Contradiction, Input, Observer};
use std::io::Write as _;
use std::path::{Path, PathBuf};

pub fn check(args: &CheckArgs, console: &mut Console) -> Result<Status, Failure> {
    for (file, option) in [(&args.trail, "--trail"), (&args.evidence, "--evidence")] {
        if file.is_some() && args.models.len() > 1 {
            return Err(Failure::new(format!("`{option}` names one file, but there are several models")));
        }
    }
    let config = args.config();
    with_value(args, &config).validate().map_err(refused)?;
    // Progress would overwrite lines of the log.
    console.stderr.progress &= config.log.is_empty() || config.log_file.is_some();
    let stop = interrupt::flag();
    let Console { out, colour, stderr } = console;
    let (checker, models) = match &args.resume {
        Some(file) => resumed(file, args, &config, stderr)?,
        None => (Checker::new(config).map_err(refused)?, args.models.clone()),
    };
    if checker.config().checkpoint.is_some() && models.len() > 1 {
        return Err(Failure::new("a checkpoint saves one search, but there are several models"));
    }
    let checker = checker.observed_by(stderr).stopped_by(&stop).sparing(models.clone());
    checker.try_out().map_err(Failure::new)?;
    if let Some(sweep) = args.sweep.as_ref().filter(|sweep| !sweep.is_single()) {
        return sweep::check(&checker, &models, sweep, &stop, out);
    }
    let constant = args.sweep.as_ref().map(|sweep| (sweep.name.as_str(), sweep.low));
    let format = checker.config().format;
    let (mut worst, mut reports) = (Status::Fine, Vec::new());
    for path in &models {
        let report = checker.check_with(&Input::file(path), constant);
        worst = worst.max(status(&report));
        if format.is_document() {
            reports.push(report);
        } else {
            out.write_styled(&format.render(&[report], *colour))?;
            out.flush()?;
        }
    }
    if format.is_document() {
        out.verbatim().write_all(format.render(&reports, *colour).as_bytes())?;
    }
    Ok(worst)
}

/// The options of the first check of a sweep.
fn with_value(args: &CheckArgs, config: &Config) -> Config {
    let mut config = config.clone();
    config.reading.fixed.extend(args.sweep.as_ref().map(|sweep| format!("{}={}", sweep.name, sweep.low)));
    config
}

fn resumed<'o>(
    file: &Path,
    args: &CheckArgs,
    config: &Config,
    observer: &dyn Observer,
) -> Result<(Checker<'o>, Vec<PathBuf>), Failure> {
    let kept = Checkpoint::open(file, observer).map_err(Failure::new)?;
    let given = given_options();
    let completed = kept.completed(config, |option| given.iter().any(|given| given == option));
    let completed = completed.map_err(Failure::new)?;
    let models = match &args.models[..] {
        [] => vec![kept.model().map_err(Failure::new)?],
        models => models.to_vec(),
    };
    Ok((Checker::resumed(kept, completed).map_err(refused)?, models))
}

fn refused(contradiction: Contradiction) -> Failure {
    Failure::new(contradiction.to_string())
}

/// The exit status of a check.
pub fn status(report: &Report) -> Status {
    if report.language.is_none() || !report.errors.is_empty() {
        return Status::Wrong;
    }
    let statuses = report.properties.iter().map(|property| match property.verdict {
        Verdict::Holds => Status::Fine,
        Verdict::Violated => Status::Violated,
        Verdict::Inconclusive(_) => Status::Inconclusive,
    });
    statuses.max().unwrap_or(Status::Fine)
}
