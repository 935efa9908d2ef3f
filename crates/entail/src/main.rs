//! `entail`, the command.

mod args;
mod check;
mod config;
mod console;
mod graph;
mod interrupt;
mod ltl;
mod picture;
mod quantities;
mod reading;
mod replay;
mod run;
mod show;
mod simulate;
mod slice;
mod stderr;

use crate::stderr::Stderr;
use args::{Cli, Verb};
use clap::Parser;
use clap::error::Error;
use console::{Console, Failure, Forgiving, Out};
use entail_front::legible::{is_hostile, legible};
use std::io::{BufWriter, ErrorKind, IsTerminal, Write, stderr, stdout};
use std::process::ExitCode;
use std::thread;

/// The stack size in bytes of the main thread's replacement: parsers and formulas recurse, and the depth must not depend
/// on `ulimit -s`. Unused stack takes no memory.
const STACK: usize = 16 << 20;

fn main() -> ExitCode {
    entail_check::be_economical();
    let worker = thread::Builder::new().name("main".into()).stack_size(STACK).spawn(carry_out);
    match worker.map(thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        // The panic is already reported.
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        Err(error) => {
            let _ = writeln!(stderr(), "error: cannot start a thread with {STACK} bytes of stack: {error}");
            console::Status::Wrong.code()
        }
    }
}

/// Executes the command.
fn carry_out() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(help_or_mistake) => return show(&help_or_mistake),
    };
    let colours = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let mut console = Console {
        out: Out::new(BufWriter::new(Forgiving(stdout())), stdout().is_terminal()),
        colour: colours && stdout().is_terminal(),
        stderr: Stderr::new(colours && stderr().is_terminal(), stderr().is_terminal()),
    };
    let done = match &cli.verb {
        Verb::Check(args) => check::check(args, &mut console),
        Verb::Graph(args) => graph::graph(args, &mut console),
        Verb::Ltl(args) => ltl::ltl(args, &mut console),
        Verb::Replay(args) => replay::replay(args, &mut console),
        Verb::Show(args) => show::show(args, &mut console),
        Verb::Simulate(args) => simulate::simulate(args, &mut console),
        Verb::Slice(args) => slice::slice(args, &mut console),
    };
    let flushed = console.out.flush().map_err(Failure::from);
    match done.and_then(|status| flushed.map(|()| status)) {
        Ok(status) => status.code(),
        Err(Failure(message)) => {
            if let Some(message) = message {
                console.complain(&format!("error: {message}\n"));
            }
            console::Status::Wrong.code()
        }
    }
}

/// Prints help, or an error in the command line.
fn show(message: &Error) -> ExitCode {
    // The message may quote the command line.
    let text = message.render().to_string();
    let printed = match text.contains(|c| is_hostile(c) && c != '\n' && c != '\t') {
        true => stderr().write_all(legible(&text).as_bytes()),
        false => message.print().and_then(|()| stdout().flush()),
    };
    match printed {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let _ = writeln!(stderr(), "error: cannot write: {error}");
            console::Status::Wrong.code()
        }
        Ok(()) | Err(_) if message.use_stderr() => console::Status::Wrong.code(),
        Ok(()) | Err(_) => console::Status::Fine.code(),
    }
}
