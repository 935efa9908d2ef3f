//! Draws pictures with Graphviz.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The timeout: Graphviz can take very long even for a few hundred edges.
const PATIENCE: Duration = Duration::from_secs(20);

/// Runs `dot` on a graph.
pub fn draw(graph: &str) -> Result<String, String> {
    let missing = |error| format!("cannot run Graphviz's `dot`: {error}; leave out `--layout`");
    let mut command = Command::new("dot");
    command.arg("-Tsvg").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(missing)?;
    let (to, from) = (child.stdin.take(), child.stdout.take());
    let mut drawn = String::new();
    // `dot` may write output before it has read all input.
    let read = thread::scope(|scope| {
        scope.spawn(move || to.map(|mut to| to.write_all(graph.as_bytes())));
        let reader = scope.spawn(|| from.map_or(Ok(0), |mut from| from.read_to_string(&mut drawn)));
        let done = finish(&mut child);
        let read = reader.join().map_err(|_| "what Graphviz's `dot` wrote cannot be read".to_owned())?;
        read.map_err(|error| format!("what Graphviz's `dot` wrote cannot be read: {error}")).and(done)
    });
    read.map(|()| drawn)
}

/// Waits for the process with a timeout.
fn finish(child: &mut Child) -> Result<(), String> {
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("Graphviz's `dot` failed: {status}")),
            Ok(None) if started.elapsed() < PATIENCE => thread::sleep(Duration::from_millis(5)),
            Ok(None) | Err(_) => break,
        }
    }
    // The process may have ended meanwhile.
    let _ = child.kill();
    let _ = child.wait();
    Err(format!("Graphviz's `dot` took more than {} seconds; try `--layout own`", PATIENCE.as_secs()))
}
