//! What the operations on a table of visited states cost, with nothing around them: no search can be faster.

use crate::entail::cargo;
use entail_testkit::command::finish;
use std::time::Duration;

/// Nanoseconds per operation, of which there are as many as transitions, on a table that ends up with so many states.
/// The example of `entail-store` measures it; where that cannot be run, nothing is known.
pub fn bare_table(operations: u64, states: u64) -> Option<f64> {
    let mut command = cargo();
    command.args(["run", "--quiet", "--release", "--package", "entail-store", "--example", "bare", "--"]);
    command.args([states.to_string(), operations.to_string()]);
    let finished = finish(&mut command, Duration::from_secs(3600)).ok()?;
    finished.success().then(|| finished.stdout.trim().parse().ok()).flatten()
}
