//! Compares the number of stored states with all reductions with SPIN's.

use crate::compare::{self, Comparison};
use crate::entail::{Answer, Entail, Mode};
use crate::oracle::{FULL, OPTIMISED, read};
use crate::{Outcome, Result, pool, spin_examples};
use entail_testkit::spin::{self, SpinAnswer, Status};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// SPIN with partial-order reduction.
const REDUCED: &str = "por";
const LIMIT: Duration = Duration::from_secs(600);

/// A model with SPIN's answers.
struct Subject {
    name: String,
    file: PathBuf,
    /// With the default optimisations of `spin -a`.
    optimised: SpinAnswer,
    /// With partial-order reduction too.
    reduced: SpinAnswer,
}

/// The models to compare, besides the recorded ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    /// SPIN's own examples, on which SPIN is run.
    Examples,
    None,
}

/// Compares passes alone with SPIN's, and passes and reduction with SPIN's: never more states, and the same verdict.
pub fn run(models: &Path, csv: &Path, max_states: u64, others: Others, binary: Option<&Path>) -> Result<Outcome> {
    let entail = Entail::find(binary)?;
    let mut subjects = recorded(models, csv, max_states)?;
    match others {
        Others::None => {}
        Others::Examples if spin::available() => subjects.extend(examples()?),
        Others::Examples => println!("spin and gcc are not here: its examples are left out"),
    }
    println!("{:<40} {:>22} {:>22}", "model", "passes: SPIN, entail", "all: SPIN, entail");
    let (mut passed, mut failed, mut ratio) = (0, 0, 0.0);
    for Subject { name, file, optimised, reduced } in &subjects {
        let answers = (entail.check(file, Mode::Passes, LIMIT), entail.check(file, Mode::Optimised, LIMIT));
        let verdicts = [compare::verdict(optimised, &answers.0), compare::verdict(reduced, &answers.1)];
        let (Answer::Checked(passes), Answer::Checked(all)) = &answers else {
            println!("{name:<40} {}", compare::describe(&answers.1));
            failed += 1;
            continue;
        };
        let is_same = verdicts.iter().all(|verdict| *verdict == Comparison::Same);
        let is_more = passes.stored > optimised.stored || all.stored > reduced.stored;
        println!(
            "{name:<40} {:>10} {:>11} {:>10} {:>11}{}{}",
            optimised.stored,
            passes.stored,
            reduced.stored,
            all.stored,
            if is_more { "  MORE" } else { "" },
            if is_same { "" } else { "  DIFFERENT VERDICT" },
        );
        ratio += (all.stored as f64 / reduced.stored as f64).ln();
        if is_more || !is_same { failed += 1 } else { passed += 1 }
    }
    let mean = (ratio / subjects.len() as f64).exp();
    println!("geometric mean, all against SPIN's reduction: {mean:.3}");
    println!("{passed} passed, {failed} failed");
    Ok(if failed == 0 { Outcome::Agreement } else { Outcome::Difference })
}

/// The benchmark models with at most this number of states as written.
fn recorded(models: &Path, csv: &Path, max_states: u64) -> Result<Vec<Subject>> {
    let (plain, optimised, reduced) = (read(csv, FULL)?, read(csv, OPTIMISED)?, read(csv, REDUCED)?);
    let find = |rows: &[crate::oracle::Row], model: &str| {
        rows.iter().find(|row| row.model == model).map(|row| row.answer.clone())
    };
    let small = plain.into_iter().filter(|row| row.answer.stored <= max_states);
    let subject = |name: String| {
        let (optimised, reduced) = (find(&optimised, &name)?, find(&reduced, &name)?);
        Some(Subject { file: models.join(&name), name, optimised, reduced })
    };
    Ok(small.filter_map(|row| subject(row.model)).collect())
}

/// SPIN's own examples for which it has an answer.
fn examples() -> Result<Vec<Subject>> {
    let files = spin_examples::installed()?;
    let asked = pool::map(pool::cores(), &files, |file| -> Result<Subject> {
        let ask = |mode| spin_examples::ask(file, mode);
        let (optimised, reduced) = (ask(spin::Mode::Optimised)?, ask(spin::Mode::Reduced)?);
        Ok(Subject { name: spin_examples::name(file), file: file.clone(), optimised, reduced })
    });
    let subjects = asked.into_iter().collect::<Result<Vec<_>>>()?;
    let is_known = |answer: &SpinAnswer| answer.status == Status::Complete;
    Ok(subjects.into_iter().filter(|one| is_known(&one.optimised) && is_known(&one.reduced)).collect())
}
