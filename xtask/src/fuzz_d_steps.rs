//! Compares entail and SPIN on models with long `d_step`s.

use crate::compare::{self, Comparison};
use crate::entail::{self, Answer, Entail};
use crate::fuzz_ltl::report;
use crate::{Outcome, Result, pool};
use entail_testkit::promela::Compare;
use entail_testkit::rng::Rng;
use entail_testkit::spin::{self, Limits};
use std::path::Path;
use std::time::Duration;

/// Some take slightly fewer than a million steps, some slightly more.
const MILLION: usize = 1_000_000;
const LIMIT: Duration = Duration::from_secs(60);

pub fn run(seeds: &[u64], jobs: usize, keep: &Path, binary: Option<&Path>) -> Result<Outcome> {
    let entail = Entail::find(binary)?;
    let comparisons = pool::map(jobs, seeds, |&seed| {
        let text = model(&mut Rng::new(seed));
        let comparison = compare(&entail, &text).unwrap_or(Comparison::Skipped("no room for files"));
        if let Comparison::Different(how) = &comparison {
            report(&format!("d-step-{seed}"), &format!("// seed {seed}: {how}\n{text}"), keep);
        }
        comparison
    });
    let count = |wanted: fn(&Comparison) -> bool| comparisons.iter().filter(|one| wanted(one)).count();
    let different = count(|one| matches!(one, Comparison::Different(_)));
    let (same, skipped) =
        (count(|one| *one == Comparison::Same), count(|one| matches!(one, Comparison::Skipped(_))));
    println!("{same} same, {skipped} not comparable, {different} different");
    Ok(if different == 0 { Outcome::Agreement } else { Outcome::Difference })
}

fn compare(entail: &Entail, text: &str) -> Result<Comparison> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("model.pml");
    std::fs::write(&file, text)?;
    let spin = spin::run(text, spin::Mode::Full, Limits::default())?;
    Ok(match entail.check(&file, entail::Mode::AsWritten, LIMIT) {
        Answer::Inconclusive => Comparison::Skipped("a limit of entail was reached"),
        ours => compare::counts(Compare::Everything, &spin, &ours),
    })
}

/// A process that counts in a `d_step`, in one or two loops, and another process.
fn model(rng: &mut Rng) -> String {
    let (inner, branches) = (1 + rng.below(3), rng.below(3));
    let alternative = match branches {
        0 => "sum = sum + 1",
        1 => "if :: n % 2 == 0 -> sum = sum + 2 :: else -> sum = sum ^ n fi",
        _ => "m = 0; do :: m < INNER -> m++ :: else -> break od; sum = sum + m",
    };
    let steps_of_round = match branches {
        0 => 3,
        1 => 4,
        _ => 5 + 2 * inner,
    };
    let rounds = match rng.below(4) {
        0 => 1 + rng.below(50),
        1 => 1000 + rng.below(9000),
        2 => MILLION / steps_of_round - rng.below(2000),
        _ => MILLION / steps_of_round + rng.below(20_000),
    };
    let entry = *rng.pick(&["n = 0", "x == 1", "true"]);
    let expected = rng.below(3);
    let alternative = alternative.replace("INNER", &inner.to_string());
    format!(
        "byte x;\nint sum;\nactive proctype Counts() {{\n  int n, m;\n  d_step {{ {entry}; do :: n < {rounds} -> n++; {alternative} :: else -> break od; x = x + 1 }};\n  assert(sum != {expected} && n == {rounds})\n}}\nactive proctype Other() {{ x = 1; x = 0 }}\n"
    )
}
