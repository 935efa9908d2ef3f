//! The cost of a bare table of visited states, a lower bound on the cost of any search.

use crate::entail::cargo;
use entail_testkit::command::finish;
use std::time::Duration;

/// Nanoseconds per operation, for as many operations as transitions, on a table that ends up with this number
/// of states. An example of `entail-store` measures it; `None` where it cannot be run.
pub fn bare_table(operations: u64, states: u64) -> Option<f64> {
    let mut command = cargo();
    command.args(["run", "--quiet", "--release", "--package", "entail-store", "--example", "bare", "--"]);
    command.args([states.to_string(), operations.to_string()]);
    let finished = finish(&mut command, Duration::from_secs(3600)).ok()?;
    finished.success().then(|| finished.stdout.trim().parse().ok()).flatten()
}
