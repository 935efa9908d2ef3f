//! Pictures drawn by Graphviz.

use std::io::Write;
use std::process::{Command, Stdio};
use std::thread;

/// What `dot` makes of a graph.
pub fn draw(graph: &str) -> Result<String, String> {
    let missing = |error| format!("cannot run Graphviz's `dot`: {error}; leave out `--layout`");
    let mut command = Command::new("dot");
    command.arg("-Tsvg").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(missing)?;
    let to = child.stdin.take();
    // It may say something before it has heard all.
    let output = thread::scope(|scope| {
        scope.spawn(move || to.map(|mut to| to.write_all(graph.as_bytes())));
        child.wait_with_output()
    });
    let output = output.map_err(missing)?;
    if !output.status.success() {
        return Err(format!("Graphviz's `dot` failed: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    String::from_utf8(output.stdout).map_err(|_| "what Graphviz's `dot` wrote is not text".to_owned())
}
