//! How many states are stored with all that is left out, beside what SPIN stores.

use crate::compare::{self, Comparison};
use crate::entail::{Answer, Entail, Mode};
use crate::oracle::{FULL, OPTIMISED, read};
use crate::{Outcome, Result};
use std::path::Path;
use std::time::Duration;

/// SPIN's reduction.
const REDUCED: &str = "por";
const LIMIT: Duration = Duration::from_secs(600);

/// Compares passes alone with SPIN's, and passes and reduction with SPIN's; verdicts must be the same.
pub fn run(models: &Path, csv: &Path, max_states: u64, binary: Option<&Path>) -> Result<Outcome> {
    let entail = Entail::find(binary)?;
    let (plain, optimised, reduced) = (read(csv, FULL)?, read(csv, OPTIMISED)?, read(csv, REDUCED)?);
    println!("{:<24} {:>10} {:>22} {:>22}", "model", "as written", "passes: SPIN, entail", "all: SPIN, entail");
    let (mut count, mut more, mut failed, mut ratio) = (0, 0, 0, 0.0);
    for row in plain.iter().filter(|row| row.answer.stored <= max_states) {
        let of = |rows: &'_ [crate::oracle::Row]| {
            rows.iter().find(|other| other.model == row.model).map(|other| other.answer.clone())
        };
        let (Some(theirs), Some(least)) = (of(&optimised), of(&reduced)) else { continue };
        let file = models.join(&row.model);
        let by_passes = entail.check(&file, Mode::Passes, LIMIT);
        let by_all = entail.check(&file, Mode::Optimised, LIMIT);
        let verdicts = [compare::verdict(&theirs, &by_passes), compare::verdict(&least, &by_all)];
        let (Answer::Checked(passes), Answer::Checked(all)) = (&by_passes, &by_all) else {
            println!("{:<24} no answer", row.model);
            failed += 1;
            continue;
        };
        let is_same = verdicts.iter().all(|verdict| *verdict == Comparison::Same);
        let is_more = passes.stored > theirs.stored || all.stored > least.stored;
        println!(
            "{:<24} {:>10} {:>10} {:>11} {:>10} {:>11}{}{}",
            row.model,
            row.answer.stored,
            theirs.stored,
            passes.stored,
            least.stored,
            all.stored,
            if is_more { "  MORE" } else { "" },
            if is_same { "" } else { "  DIFFERENT VERDICT" },
        );
        count += 1;
        more += usize::from(is_more);
        failed += usize::from(!is_same);
        ratio += (all.stored as f64 / least.stored as f64).ln();
    }
    let mean = (ratio / f64::from(count.max(1))).exp();
    println!("geometric mean, all against SPIN's reduction: {mean:.3}; {more} models with more states than SPIN's");
    println!("{} passed, {failed} failed", count as usize - failed.min(count as usize));
    Ok(if failed == 0 { Outcome::Agreement } else { Outcome::Difference })
}
