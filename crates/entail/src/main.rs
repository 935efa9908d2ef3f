//! `entail`, the command.

mod args;
mod check;
mod console;
mod contradictions;
mod coverage;
#[cfg(test)]
mod everywhere;
mod evidence;
mod graph;
mod interrupt;
mod keep;
mod load;
mod log;
mod ltl;
mod machine;
mod neglect;
mod picture;
mod plan;
mod progress;
mod property;
mod provenance;
mod replay;
mod report;
mod run;
mod show;
mod simulate;
mod slice;
mod swarm;
mod sweep;
mod trail;
mod trail_files;
mod units;
mod violation;

use args::{Cli, Verb};
use clap::Parser;
use console::{Console, Failure, Forgiving};
use std::io::{BufWriter, IsTerminal, Write, stderr, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    machine::be_economical();
    let cli = Cli::parse();
    let colours = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let mut console = Console {
        out: Box::new(BufWriter::new(Forgiving(stdout()))),
        colour: colours && stdout().is_terminal(),
        colour_errors: colours && stderr().is_terminal(),
        progress: stderr().is_terminal(),
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
