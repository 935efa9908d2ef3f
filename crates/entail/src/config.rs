//! Converts command-line flags to the library's options.

use crate::args::{AskedArgs, CheckArgs, Cli, ReadingArgs};
use crate::quantities::Sweep;
use clap::parser::ValueSource;
use clap::{Arg, CommandFactory};
use entail_check::config::{Asked, Cache, Config, Reading, TrailFile};

impl CheckArgs {
    /// The options of the library.
    pub fn config(&self) -> Config {
        let CheckArgs { what, how, limits, log, .. } = self;
        // A sweep writes no trails.
        let trail = match &self.trail {
            Some(path) => TrailFile::File(path.clone()),
            None if self.sweep.as_ref().is_none_or(Sweep::is_single) => TrailFile::Beside,
            None => TrailFile::None,
        };
        Config {
            reading: self.reading.reading(),
            properties: what.properties.clone(),
            asked: what.asked.asked(),
            fair: what.fair,
            all_errors: what.all_errors,
            no_assert: what.no_assert,
            no_end: what.no_end,
            search: how.search,
            store: how.store,
            hash_bits: how.hash_bits,
            array: how.array,
            cache: Cache { slots: how.cache.slots, probes: how.cache.probes, collisions: how.cache.collisions },
            runs: how.runs,
            seed: how.seed,
            reduce: how.reduce,
            backend: how.backend,
            no_opt: how.no_opt,
            slice: how.slice,
            without: how.passes.without.clone(),
            threads: how.threads,
            phases: how.phases,
            memory: limits.memory,
            scratch: limits.scratch.clone(),
            depth: limits.depth,
            time: limits.time,
            minimise: self.minimise,
            trail,
            evidence: self.evidence.clone(),
            log: log.log.clone(),
            log_file: log.log_file.clone(),
            checkpoint: self.checkpoint.clone().or(self.resume.clone()),
            every: self.every,
            force: self.force,
            format: self.format,
        }
    }
}

impl AskedArgs {
    pub fn asked(&self) -> Asked {
        Asked {
            ltl: self.ltl.clone(),
            ctl: self.ctl.clone(),
            formula_files: self.formula_files.clone(),
            claim_files: self.claim_files.clone(),
        }
    }
}

impl ReadingArgs {
    pub fn reading(&self) -> Reading {
        Reading {
            defines: self.defines.clone(),
            fixed: Vec::new(),
            include_dirs: self.include_dirs.clone(),
            allow_include: self.allow_include,
            language: self.lang,
            granularity: self.granularity,
        }
    }
}

/// The names of the options of `entail check` that are on the command line.
pub fn given_options() -> Vec<String> {
    let command = Cli::command();
    let Ok(matches) = command.clone().try_get_matches_from(std::env::args_os()) else { return Vec::new() };
    let (Some((_, given)), Some(check)) = (matches.subcommand(), command.find_subcommand("check")) else {
        return Vec::new();
    };
    let is_given =
        |argument: &&Arg| given.value_source(argument.get_id().as_str()) == Some(ValueSource::CommandLine);
    check.get_arguments().filter(is_given).map(name).collect()
}

/// The option in command-line syntax.
fn name(argument: &Arg) -> String {
    let short = || format!("-{}", argument.get_short().unwrap_or_default());
    argument.get_long().map_or_else(short, |long| format!("--{long}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Verb;
    use clap::Parser;

    /// Options that may differ when a search is resumed, or that cannot be given together with a checkpoint.
    const FREE: [&str; 15] = [
        "--resume",
        "--checkpoint",
        "--every",
        "--time",
        "--memory",
        "--threads",
        "--phases",
        "--format",
        "--trail",
        "--evidence",
        "--force",
        "--for",
        "--log",
        "--log-file",
        "--help",
    ];

    #[test]
    fn a_resumed_search_compares_every_option_that_is_not_free() {
        let compared = Config::default().fixed_options();
        let command = Cli::command();
        let check = command.find_subcommand("check").expect("a command");
        for argument in check.get_arguments().filter(|argument| !argument.is_positional()) {
            let name = name(argument);
            let is_compared = compared.iter().any(|(known, _)| *known == name);
            assert!(is_compared != FREE.contains(&name.as_str()), "{name}");
        }
    }

    #[test]
    fn the_command_line_has_the_defaults_of_the_library() {
        let Verb::Check(check) = Cli::try_parse_from(["entail", "check", "m.pml"]).unwrap().verb else {
            panic!("not a check")
        };
        assert_eq!(check.config(), Config { trail: TrailFile::Beside, ..Config::default() });
    }
}
