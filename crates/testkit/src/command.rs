//! Runs other programs with limits on time and output.

use std::io::{self, Read};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// The result of running another program.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Its exit status; `None` if it was killed, by us or by a signal of its own.
    pub code: Option<i32>,
    pub timed_out: bool,
    pub stdout: String,
    pub stderr: String,
    pub seconds: f64,
    /// Its peak memory, as far as the operating system reports it. It is polled every few milliseconds,
    /// because it is not available after the program has ended.
    pub peak_bytes: Option<u64>,
}

impl Finished {
    pub fn success(&self) -> bool {
        self.code == Some(0)
    }

    /// All output.
    pub fn text(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }
}

/// Runs a command until it ends or the time limit is reached.
pub fn finish(command: &mut Command, limit: Duration) -> io::Result<Finished> {
    let start = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (open, closed) = mpsc::channel();
    let stdout = child.stdout.take().map(|stream| reader(stream, open.clone()));
    let stderr = child.stderr.take().map(|stream| reader(stream, open));
    let mut pause = Duration::from_micros(200);
    let mut peak_bytes = None;
    let status = loop {
        peak_bytes = peak_memory(child.id()).or(peak_bytes);
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            break None;
        }
        // Streams are closed when a program ends. Its exit then takes microseconds, which should not be
        // measured in milliseconds.
        match closed.recv_timeout(pause) {
            Ok(()) | Err(RecvTimeoutError::Timeout) => pause = (pause * 2).min(Duration::from_millis(5)),
            Err(RecvTimeoutError::Disconnected) => thread::sleep(Duration::from_micros(50)),
        }
    };
    let seconds = start.elapsed().as_secs_f64();
    let text = |reader: Option<thread::JoinHandle<String>>| reader.and_then(|r| r.join().ok()).unwrap_or_default();
    Ok(Finished {
        code: status.and_then(|status| status.code()),
        timed_out: status.is_none(),
        stdout: text(stdout),
        stderr: text(stderr),
        seconds,
        peak_bytes,
    })
}

/// Reads a stream to its end; `open` is dropped there.
fn reader(stream: impl Read + Send + 'static, open: mpsc::Sender<()>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let text = drain(stream);
        drop(open);
        text
    })
}

fn peak_memory(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix("kB")?;
    Some(kilobytes.trim().parse::<u64>().ok()? * 1024)
}

/// The beginning and the end of a stream. It is read to its end so that its writer never blocks.
fn drain(mut stream: impl Read) -> String {
    const KEPT: usize = 1 << 21;
    let mut text = Vec::new();
    let mut buffer = [0; 1 << 14];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        text.extend_from_slice(&buffer[..count]);
        if text.len() > 4 * KEPT {
            text.drain(KEPT..text.len() - KEPT);
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_does_not_end_is_stopped() {
        let finished = finish(Command::new("sleep").arg("60"), Duration::from_millis(50)).unwrap();
        assert!(finished.timed_out && !finished.success());
    }

    #[test]
    fn what_a_program_prints_is_kept() {
        let finished = finish(Command::new("echo").arg("word"), Duration::from_secs(10)).unwrap();
        assert_eq!((finished.stdout.as_str(), finished.success()), ("word\n", true));
    }

    #[test]
    fn peak_memory_is_that_of_the_program() {
        if peak_memory(std::process::id()).is_none() {
            return;
        }
        let occupy = "a=x; i=0; while [ $i -lt 24 ]; do a=$a$a; i=$((i + 1)); done; sleep 0.02";
        let finished = finish(Command::new("sh").args(["-c", occupy]), Duration::from_secs(10)).unwrap();
        assert!(finished.peak_bytes.is_some_and(|bytes| bytes > 16 << 20), "{:?}", finished.peak_bytes);
    }
}
