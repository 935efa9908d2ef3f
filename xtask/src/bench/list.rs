//! The list of models to measure.

use super::{Mode, Options};
use crate::{Result, oracle, root};
use entail_testkit::spin::SpinAnswer;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// A model to measure.
pub struct Candidate {
    pub name: String,
    pub file: PathBuf,
    /// SPIN's recorded answers: they tell the size and depth of a model without running it.
    recorded: Vec<(Mode, SpinAnswer)>,
}

impl Candidate {
    fn new(file: PathBuf, recorded: Vec<(Mode, SpinAnswer)>) -> Self {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self { name, file, recorded }
    }

    fn recorded(&self, mode: Mode) -> Option<&SpinAnswer> {
        self.recorded.iter().find(|(of, _)| *of == mode).map(|(_, answer)| answer)
    }

    /// The first depth to try in the search for a sufficient one.
    pub fn first_depth(&self, mode: Mode) -> u64 {
        self.recorded(mode).map_or(10_000, |answer| answer.depth + 100)
    }
}

/// The size of the models, in states of the model as written, counted by SPIN.
pub fn sizes(options: &Options) -> RangeInclusive<u64> {
    if options.small { 0..=SMALL } else { options.min_states..=options.max_states }
}

const SMALL: u64 = 9_999;

/// The models with the requested names and sizes, as far as sizes are known without running SPIN.
pub fn candidates(options: &Options) -> Result<Vec<Candidate>> {
    let mut candidates = match &options.models {
        Some(folder) => unrecorded(folder)?,
        None => {
            let mut candidates = recorded()?;
            // The models of this project are large.
            if !options.small {
                candidates.extend(unrecorded(&root().join("tests/bench"))?);
            }
            candidates
        }
    };
    let sizes = sizes(options);
    candidates.retain(|model| model.recorded(Mode::AsWritten).is_none_or(|answer| sizes.contains(&answer.stored)));
    candidates.retain(|model| is_named(&model.name, &options.only));
    Ok(candidates)
}

fn is_named(name: &str, parts: &[String]) -> bool {
    parts.is_empty() || parts.iter().any(|part| name.contains(part))
}

/// The public benchmark models that SPIN has finished in an earlier run.
fn recorded() -> Result<Vec<Candidate>> {
    let csv = root().join(oracle::ANSWERS);
    if !csv.exists() {
        return Ok(Vec::new());
    }
    let mut optimised = oracle::read(&csv, oracle::OPTIMISED)?;
    let mut candidates = Vec::new();
    for oracle::Row { model, answer } in oracle::read(&csv, oracle::FULL)? {
        let mut recorded = vec![(Mode::AsWritten, answer)];
        if let Some(at) = optimised.iter().position(|row| row.model == model) {
            recorded.push((Mode::Default, optimised.swap_remove(at).answer));
        }
        candidates.push(Candidate::new(root().join(oracle::MODELS).join(model), recorded));
    }
    Ok(candidates)
}

/// All models of a folder, without known sizes.
fn unrecorded(folder: &Path) -> Result<Vec<Candidate>> {
    let entries = std::fs::read_dir(folder).map_err(|problem| format!("{}: {problem}", folder.display()))?;
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    files.retain(|file| file.extension().is_some_and(|end| ENDINGS.iter().any(|ending| end == *ending)));
    files.sort();
    Ok(files.into_iter().map(|file| Candidate::new(file, Vec::new())).collect())
}

/// The file extensions of Promela models.
const ENDINGS: [&str; 6] = ["pml", "prom", "promela", "pm", "pr", "spin"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_the_parts_is_enough() {
        let parts = ["ding.2".to_string(), "wide".to_string()];
        assert!(is_named("adding.2.pm", &parts) && is_named("wide.pml", &parts) && is_named("any", &[]));
        assert!(!is_named("adding.1.pm", &parts));
    }

    #[test]
    fn our_own_models_are_found() {
        let names: Vec<_> =
            unrecorded(&root().join("tests/bench")).unwrap().into_iter().map(|it| it.name).collect();
        assert_eq!(names, ["scalable.pml", "wide.pml"]);
    }
}
