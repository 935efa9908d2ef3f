//! The report as text: the verdict, then the counterexample, then statistics.

use super::{Counterexample, PropertyReport, Report, Searched, Verdict};
use crate::coverage::ProcessCoverage;
use crate::plan::Unreduced;
use crate::swarm::{Found, Member};
use crate::trail_files::default_trail;
use crate::units::{plural, shell_word, show_bytes, show_count, show_duration, show_share};
use crate::witness::Argument;
use entail_front::SAFETY;
use entail_front::legible::{legible, on_a_line, shown};
use entail_ir::Statement;
use entail_model::{Guarantee, Named};
use entail_search::{Algorithm, End, Limit};
use entail_store::{Level, LevelKind};
use entail_temporal::Fairness;
use std::fmt::{self, Write};
use std::path::Path;

/// The report as text, optionally in colour.
pub fn report(report: &Report, colour: bool) -> String {
    let mut page = Page { text: String::new(), colour };
    write_report(&mut page, report).expect("writing to a string cannot fail");
    page.text
}

fn write_report(out: &mut Page, report: &Report) -> fmt::Result {
    if report.properties.is_empty() {
        let path = shown(&report.path);
        return out.line(&format!("{path}: "), Look::Bad, "not checked", "");
    }
    for property in &report.properties {
        write_verdict(out, report, property)?;
    }
    let searched = report.properties.iter().filter_map(|property| Some((property, property.searched.as_ref()?)));
    let several = searched.clone().count() > 1;
    for (property, searched) in searched {
        if several {
            writeln!(out, "\n{}", on_a_line(&property.name))?;
        }
        if let Some(argument) = &searched.argument {
            write_argument(out, report, argument)?;
        } else if let Some(counterexample) = &searched.counterexample {
            write_counterexample(out, report, counterexample)?;
        }
        write_statistics(out, report, property, searched)?;
    }
    write_unreached(out, report.unreached.as_deref().unwrap_or_default())?;
    if !report.unwritten.is_empty() {
        writeln!(out)?;
    }
    report.unwritten.iter().try_for_each(|problem| writeln!(out, "  warning: {problem}"))?;
    write_hints(out, report)
}

fn write_verdict(out: &mut Page, report: &Report, property: &PropertyReport) -> fmt::Result {
    let path = shown(&report.path);
    let subject = format!("{path}: {}", on_a_line(&property.name));
    match &property.verdict {
        Verdict::Holds => out.line(&format!("{subject} "), Look::Good, "holds", ""),
        Verdict::Violated => out.line(&format!("{subject} is "), Look::Bad, "violated", ""),
        Verdict::Inconclusive(reason) => {
            out.line(&format!("{subject} is "), Look::Doubtful, "inconclusive", &format!(": {reason}"))
        }
    }
}

/// The witness or counterexample of a CTL formula.
fn write_argument(out: &mut Page, report: &Report, argument: &Argument) -> fmt::Result {
    writeln!(out, "\n{}", argument.text().trim_end())?;
    let trails: Vec<_> = argument.runs().into_iter().filter_map(|run| run.trail.as_ref()).collect();
    let [first, others @ ..] = &trails[..] else { return Ok(()) };
    let command = replay(report, first);
    writeln!(out, "\n  The first run is in {}; to see it:  {command}", shown(first))?;
    if !others.is_empty() {
        let others: Vec<_> = others.iter().map(|trail| shown(trail)).collect();
        writeln!(out, "  The nested runs, each from the initial state, are in {}", others.join(", "))?;
    }
    Ok(())
}

/// The command that replays a trail. All other options are in the trail.
fn replay(report: &Report, trail: &Path) -> String {
    let command = format!("entail replay {}", shell_word(&report.path));
    if *trail == default_trail(&report.path) { command } else { format!("{command} {}", shell_word(trail)) }
}

fn write_counterexample(out: &mut Page, report: &Report, found: &Counterexample) -> fmt::Result {
    out.line("\n  ", Look::Bad, &found.violation.message, "")?;
    for reason in &found.violation.reasons {
        writeln!(out, "  {reason}")?;
    }
    if let Some(place) = &found.violation.place {
        write_place(out, place, found.source.as_deref())?;
    }
    let told = found.last_steps.len();
    match found.steps {
        0 => writeln!(out, "\n  in the initial state")?,
        steps if steps > told => writeln!(out, "\n  after {steps} steps, the last of which are:")?,
        steps => writeln!(out, "\n  after {}:", plural(steps as u64, "step"))?,
    }
    for step in &found.last_steps {
        out.write_str(step)?;
    }
    if found.is_probed {
        let words = "This run was found by a depth-first probe, and shortened; there may be a shorter one.";
        writeln!(out, "\n  {words}")?;
    }
    let Some(trail) = &found.trail else { return Ok(()) };
    let command = replay(report, trail);
    writeln!(out, "\n  The whole run is in {}; to see it:  {command}", shown(trail))
}

/// The position of the error, with its source line.
fn write_place(out: &mut Page, place: &Statement, source: Option<&str>) -> fmt::Result {
    let Statement { file, line, column, .. } = place;
    writeln!(out, "  {file}:{line}:{column}")?;
    let Some(source) = source else { return Ok(()) };
    let number = line.to_string();
    let before = source.chars().take(column.saturating_sub(1) as usize);
    let indent: String = before.map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    writeln!(out, "  {number} | {source}")?;
    writeln!(out, "  {:width$} | {indent}^", "", width = number.len())
}

/// The first runs of a swarm, one per line.
fn write_runs(out: &mut Page, runs: &[Member]) -> fmt::Result {
    const SHOWN: usize = 10;
    writeln!(out, "  {}:", plural(runs.len() as u64, "run"))?;
    for Member { seed, algorithm, stored, is_complete, coverage, found } in runs.iter().take(SHOWN) {
        let (how, stored) = (algorithm.title(), plural(*stored, "state"));
        let found = match found {
            Found::Error => "an error",
            Found::Nothing => "no error",
            Found::NothingExhaustive => "no error, all states visited",
        };
        let share = match coverage {
            Some(share) => format!("estimated coverage {}", show_share(*share)),
            None if *is_complete => "unknown coverage".to_owned(),
            None => "incomplete".to_owned(),
        };
        writeln!(out, "    {how}, seed {seed}: {stored}, {share}; {found}")?;
    }
    match runs.len().checked_sub(SHOWN) {
        None | Some(0) => Ok(()),
        Some(more) => writeln!(out, "    and {more} more"),
    }
}

/// The runs that fairness restricts the search to.
fn fair_runs(fairness: Fairness) -> Option<&'static str> {
    match fairness {
        Fairness::None => None,
        Fairness::Weak => Some("weakly fair runs"),
        Fairness::Strong => Some("strongly fair runs"),
        Fairness::Impartial => Some("impartial runs"),
        Fairness::Component => Some("strongly fair runs that take every step of the component they stay in"),
    }
}

/// Why a search never uses several threads.
fn one_thread(searched: &Searched) -> Option<&'static str> {
    match (searched.algorithm, searched.fairness) {
        (Algorithm::BreadthFirst, _) => None,
        (Algorithm::Scc, Fairness::Strong | Fairness::Component) => {
            Some("the search for strongly fair runs uses only one")
        }
        (Algorithm::Scc, Fairness::None | Fairness::Weak | Fairness::Impartial) => None,
        (Algorithm::DepthFirst | Algorithm::Nested | Algorithm::Ctl, _) => {
            Some("only breadth-first and SCC searches use several")
        }
    }
}

fn write_statistics(
    out: &mut Page,
    report: &Report,
    property: &PropertyReport,
    searched: &Searched,
) -> fmt::Result {
    let stats = searched.outcome.stats;
    let how = searched.algorithm.title();
    let seen = match searched.outcome.end {
        End::Complete if searched.algorithm == Algorithm::Ctl => "no further states were needed",
        End::Complete if searched.guarantee == Guarantee::Exact => "the state space was explored completely",
        End::Complete => "all states that appeared new were explored",
        End::Error if searched.outcome.errors == 0 => "no further states were needed",
        End::Error => "the search stopped at the error",
        End::Limit(_) => "the search is incomplete",
    };
    writeln!(out)?;
    if searched.outcome.errors > 1 || report.config.all_errors {
        writeln!(out, "  {}", plural(searched.outcome.errors, "error"))?;
    }
    writeln!(
        out,
        "  {} stored, {} ({} to visited states{}){}, {how}{}{}; {seen}",
        plural(stats.stored, "state"),
        plural(stats.transitions(), "transition"),
        show_count(stats.matched),
        stats.loops.map_or(String::new(), |loops| format!(", {} of them on the stack", show_count(loops))),
        searched.depth().map_or(String::new(), |depth| format!(", depth {}", show_count(depth))),
        if searched.reduction.is_ok() { ", partial-order reduction" } else { "" },
        match searched.outcome.workers {
            1 => String::new(),
            workers => format!(", {workers} threads"),
        },
    )?;
    let wants_threads = report.config.threads.is_some_and(|threads| threads > 1);
    if wants_threads
        && searched.outcome.workers == 1
        && searched.swarm.is_none()
        && let Some(reason) = one_thread(searched)
    {
        writeln!(out, "  one thread: {reason}")?;
    }
    if let Some(reason) = &searched.outcome.no_threads {
        writeln!(out, "  no further threads could be started: {reason}")?;
    }
    if let Some(runs) = fair_runs(searched.fairness) {
        writeln!(out, "  only {runs} count (`--fair {}`)", searched.fairness.name())?;
    }
    // An inconclusive verdict names the limit already.
    if let (Verdict::Violated, Some(limit)) = (&property.verdict, &searched.cut_short) {
        writeln!(out, "  {limit}: there may be more errors")?;
    }
    write_unread(out, &searched.unread)?;
    if let Some(reason) = searched.reduction.err().and_then(Unreduced::words) {
        writeln!(out, "  no partial-order reduction: {reason}")?;
    }
    // The system gives memory to a bitstate array only where it is used.
    let set_aside = searched.peak_bytes.is_some_and(|peak| peak < searched.outcome.bytes);
    let used = if set_aside { "used " } else { "" };
    let peak = searched.peak_bytes.map(|bytes| format!(", {} {used}at peak in total", show_bytes(bytes)));
    writeln!(
        out,
        "  {} {}for states ({:.1} bytes each){}; {} to read the model, {} to compile it, {} to search",
        show_bytes(searched.outcome.bytes),
        if set_aside { "allocated " } else { "" },
        searched.bytes_per_state(),
        peak.unwrap_or_default(),
        show_duration(searched.read),
        show_duration(searched.compile),
        show_duration(searched.search),
    )?;
    if let Guarantee::Probable { omitted, formula, .. } = &searched.guarantee {
        writeln!(out, "  estimated omissions: {omitted:.1} states, {formula}")?;
    }
    if let Some(swarm) = &searched.swarm {
        write_runs(out, &swarm.runs)?;
    }
    if stats.forgotten > 0 {
        let were = if stats.forgotten == 1 { "state was" } else { "states were" };
        let forgotten = show_count(stats.forgotten);
        writeln!(
            out,
            "  {forgotten} {were} replaced in the cache and may have been explored again; counts include them"
        )?;
    }
    if !searched.levels.is_empty() {
        writeln!(out, "  memory ran out: {}", searched.levels.iter().map(level).collect::<Vec<_>>().join(", "))?;
    } else if searched.store != report.config.store {
        let reason = if report.config.store.is_lossy() {
            "exactly: this search must distinguish all states"
        } else {
            "as with `--store exact`: this search stores data with each state"
        };
        writeln!(out, "  states were stored {reason}")?;
    }
    if let Some(reason) = &searched.fallback {
        writeln!(out, "  interpreted: {reason}")?;
    }
    match searched.resume() {
        Some(command) => writeln!(out, "\n  To resume the search:  {command}"),
        None => Ok(()),
    }
}

/// The variables that are not part of states.
fn write_unread(out: &mut Page, unread: &[String]) -> fmt::Result {
    const SHOWN: usize = 5;
    if unread.is_empty() {
        return Ok(());
    }
    let mut names: Vec<String> = unread.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    if unread.len() > SHOWN {
        names.push(format!("{} more", unread.len() - SHOWN));
    }
    let (names, variables) = (names.join(", "), if unread.len() == 1 { "variable" } else { "variables" });
    writeln!(out, "  states omit the {variables} {names}, which cannot change the verdict")
}

fn level(level: &Level) -> String {
    let states = plural(level.from, "state");
    match level.kind {
        LevelKind::Tree => format!("tree compression after {states}"),
        LevelKind::Compact { bits } => format!("hash compaction ({bits} bits) after {states}"),
        LevelKind::Bitstate { bits } => format!("bitstate hashing ({bits} bits per state) after {states}"),
    }
}

fn write_unreached(out: &mut Page, processes: &[ProcessCoverage]) -> fmt::Result {
    for process in processes {
        let mut unreached = process.each_once().peekable();
        if unreached.peek().is_some() {
            writeln!(out, "\n  never reached in {}:", process.name)?;
        }
        for statement in unreached {
            let place = format!("{}:{}", statement.file, statement.line);
            writeln!(out, "    {place:<16} {}", statement.text)?;
        }
    }
    Ok(())
}

fn write_hints(out: &mut Page, report: &Report) -> fmt::Result {
    let mut hints: Vec<_> = report.properties.iter().filter_map(hint).collect();
    hints.dedup();
    if !hints.is_empty() {
        writeln!(out)?;
    }
    hints.iter().try_for_each(|hint| writeln!(out, "  hint: {hint}"))
}

fn hint(property: &PropertyReport) -> Option<String> {
    let searched = property.searched.as_ref()?;
    if let Some(neglected) = searched.counterexample.as_ref().and_then(|found| found.neglected.as_ref()) {
        return Some(neglected.hint());
    }
    // A breadth-first search with a cache may not terminate, and one with a lossy store may miss the error.
    let breadth_first_would_do = !searched.store.forgets() && searched.swarm.is_none();
    let hint = match searched.outcome.end {
        End::Error if searched.outcome.errors == 0 => return None,
        End::Error if searched.algorithm == Algorithm::DepthFirst && breadth_first_would_do => {
            "`--search bfs` finds a short counterexample, with `--no-opt` a shortest one"
        }
        End::Error if searched.counterexample.as_ref().is_some_and(|found| found.is_probed) => {
            "`--search bfs` finds a short counterexample without probes, with `--no-opt` a shortest one"
        }
        End::Error if property.name != SAFETY => return None,
        End::Error => "`--all-errors` counts all errors instead of stopping at the first",
        End::Complete => return None,
        End::Limit(Limit::Depth) => "a greater `--depth`, or none, lets the search continue",
        End::Limit(Limit::Time) => "a greater `--time`, or none, lets the search continue",
        End::Limit(Limit::Memory) => "a greater `--memory` lets the search continue, if the machine has more",
        End::Limit(Limit::Interrupted) => return None,
    };
    Some(hint.to_owned())
}

/// Output text, optionally with our own colour codes.
struct Page {
    text: String,
    colour: bool,
}

#[derive(Clone, Copy)]
enum Look {
    Good,
    Bad,
    Doubtful,
}

impl Page {
    /// Writes a line with a highlighted part.
    fn line(&mut self, before: &str, look: Look, text: &str, after: &str) -> fmt::Result {
        self.write_str(before)?;
        if self.colour {
            let code = match look {
                Look::Good => "1;32",
                Look::Bad => "1;31",
                Look::Doubtful => "1;33",
            };
            self.text += &format!("\x1b[{code}m{}\x1b[0m", legible(text));
        } else {
            self.write_str(text)?;
        }
        self.write_str(after)?;
        self.write_str("\n")
    }
}

impl Write for Page {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text += &legible(text);
        Ok(())
    }
}
