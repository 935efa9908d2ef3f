//! The report as JSON, as documented in `cli.md`. Keys may be added, but never change.

use super::{Counterexample, PropertyReport, Report, Searched, Verdict};
use crate::config::{Config, Named, Reduction};
use crate::coverage::{ProcessCoverage, UnreachedStatement as Unreached};
use crate::plan::Unreduced;
use crate::swarm::{Found, Member, Swarm};
use crate::witness::Argument;
use entail_front::Language;
use entail_ir::Passes;
use entail_model::Guarantee;
use entail_search::{Phase, PhaseTime, Phases};
use entail_store::LevelKind;
use entail_temporal::Fairness;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Serialize)]
struct Document<'a> {
    tool: &'static str,
    version: &'static str,
    model: String,
    language: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    constants: Option<BTreeMap<&'a str, i32>>,
    properties: Vec<Property<'a>>,
    unreached: Vec<UnreachedStatement<'a>>,
    warnings: Vec<&'a String>,
    errors: &'a [String],
}

#[derive(Serialize)]
struct Property<'a> {
    name: &'a str,
    kind: &'static str,
    verdict: &'static str,
    /// Why the verdict is inconclusive, or the count of errors incomplete.
    reason: Option<&'a str>,
    errors: u64,
    counterexample: Option<Run<'a>>,
    /// The witness or counterexample of a CTL formula, if runs can show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<Evidence<'a>>,
    states: Option<States>,
    search: Option<How<'a>>,
    store: Option<Kept<'a>>,
    time: Option<Time>,
    memory: Option<Memory>,
    /// The searches of a swarm, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    runs: Vec<Repeated>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint: Option<Checkpoint>,
}

#[derive(Serialize)]
struct Repeated {
    seed: u64,
    search: &'static str,
    stored: u64,
    /// `null` if the search is incomplete.
    coverage: Option<f64>,
    verdict: &'static str,
}

/// The checkpoint of an incomplete search.
#[derive(Serialize)]
struct Checkpoint {
    file: String,
    resume: String,
}

#[derive(Serialize)]
struct Run<'a> {
    kind: &'static str,
    message: &'a str,
    /// The reasons, process by process.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    reasons: &'a [String],
    file: Option<&'a str>,
    line: Option<u32>,
    column: Option<u32>,
    steps: usize,
    cycle_start: Option<usize>,
    trail: Option<String>,
    /// The component that found it, if not the search itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    found_by: Option<&'static str>,
}

#[derive(Serialize)]
struct Evidence<'a> {
    formula: &'a str,
    holds: bool,
    reason: &'a str,
    run: Option<Shown>,
    /// Explanations of subformulas.
    parts: Vec<Part<'a>>,
    /// The number of omitted explanations.
    untold: usize,
}

#[derive(Serialize)]
struct Shown {
    steps: usize,
    cycle_start: Option<usize>,
    /// The trail of the run, including the path from the initial state.
    trail: Option<String>,
}

#[derive(Serialize)]
struct Part<'a> {
    /// The number of steps of the run before its state.
    after: usize,
    evidence: Evidence<'a>,
}

#[derive(Serialize)]
struct States {
    stored: u64,
    matched: u64,
    transitions: u64,
    /// The matched transitions by target, if the search distinguishes them.
    revisits: Option<u64>,
    loops: Option<u64>,
    depth: Option<u64>,
    /// The number of state visits, if the search visits a state once for each subformula.
    #[serde(skip_serializing_if = "Option::is_none")]
    visited: Option<u64>,
}

#[derive(Serialize)]
struct How<'a> {
    algorithm: &'static str,
    backend: &'static str,
    /// Why it is not the requested backend.
    fallback: Option<&'a str>,
    reduction: &'static str,
    /// Why there was no reduction, if it was to be expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    unreduced: Option<&'static str>,
    /// The fairness assumption, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    fairness: Option<&'static str>,
    threads: u32,
    /// Why there were no more threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_threads: Option<&'a str>,
    /// The time of the phases of a search by several threads, if it was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    phases: Option<BTreeMap<&'static str, PhaseOfSearch>>,
    optimised: bool,
    /// The variables that were removed, because no property depends on them.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    unread: &'a [String],
}

#[derive(Serialize)]
struct PhaseOfSearch {
    count: u64,
    elapsed_s: f64,
    work_s: f64,
    longest_s: f64,
}

#[derive(Serialize)]
struct Kept<'a> {
    kind: &'static str,
    guarantee: &'static str,
    bytes: u64,
    bytes_per_state: f64,
    /// The size of a packed state in bits.
    state_bits: u32,
    /// The estimated coverage of states; `null` if a limit ended the search or there is no estimate.
    coverage: Option<f64>,
    /// The estimated number of omitted states, and the formula of the estimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    formula: Option<&'a str>,
    /// The number of states replaced in the cache, which count again if they are visited again.
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced: Option<u64>,
    /// The levels of degradation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rungs: Vec<Level>,
}

#[derive(Serialize)]
struct Level {
    kind: &'static str,
    /// The bits of the hash, or in the array.
    #[serde(skip_serializing_if = "Option::is_none")]
    bits: Option<u32>,
    from_states: u64,
}

#[derive(Serialize)]
struct Time {
    read_s: f64,
    compile_s: f64,
    search_s: f64,
    total_s: f64,
}

#[derive(Serialize)]
struct Memory {
    peak_bytes: Option<u64>,
}

#[derive(Serialize)]
struct UnreachedStatement<'a> {
    process: &'a str,
    file: &'a str,
    line: u32,
    statement: &'a str,
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        document(self).serialize(to)
    }
}

/// One document for one report, an array of documents for several.
pub fn documents(reports: &[Report]) -> String {
    let text = match reports {
        [report] => serde_json::to_string_pretty(report),
        reports => serde_json::to_string_pretty(reports),
    };
    text.expect("strings and numbers only") + "\n"
}

fn document(report: &Report) -> Document<'_> {
    let unreached = report.unreached.iter().flatten();
    let unreached = unreached.flat_map(|process| process.each_once().map(|item| statement(process, item)));
    Document {
        tool: "entail",
        version: env!("CARGO_PKG_VERSION"),
        model: report.path.display().to_string(),
        language: report.language.map(Language::name),
        constants: report.constant.as_ref().map(|(name, value)| BTreeMap::from([(name.as_str(), *value)])),
        properties: report.properties.iter().map(|item| property(item, &report.config)).collect(),
        unreached: unreached.collect(),
        warnings: report.warnings.iter().chain(&report.unwritten).collect(),
        errors: &report.errors,
    }
}

fn statement<'a>(process: &'a ProcessCoverage, statement: &'a Unreached) -> UnreachedStatement<'a> {
    UnreachedStatement {
        process: &process.name,
        file: &statement.file,
        line: statement.line,
        statement: &statement.text,
    }
}

fn property<'a>(report: &'a PropertyReport, config: &Config) -> Property<'a> {
    let verdict = match &report.verdict {
        Verdict::Holds => "holds",
        Verdict::Violated => "violated",
        Verdict::Inconclusive(_) => "inconclusive",
    };
    let searched = report.searched.as_ref();
    Property {
        name: &report.name,
        kind: report.kind,
        verdict,
        reason: report.reason(),
        errors: searched.map_or(0, |searched| searched.outcome.errors),
        counterexample: searched.and_then(|searched| searched.counterexample.as_ref()).map(run),
        evidence: searched.and_then(|searched| searched.argument.as_ref()).map(evidence),
        states: searched.map(states),
        search: searched.map(|searched| how(searched, config)),
        store: searched.map(|searched| kept(searched, report)),
        time: searched.map(time),
        memory: searched.map(|searched| Memory { peak_bytes: searched.peak_bytes }),
        runs: searched.and_then(|searched| searched.swarm.as_ref()).map(runs).unwrap_or_default(),
        checkpoint: searched.and_then(checkpoint),
    }
}

fn checkpoint(searched: &Searched) -> Option<Checkpoint> {
    let file = searched.checkpoint.as_ref()?.display().to_string();
    Some(Checkpoint { file, resume: searched.resume()? })
}

fn run(counterexample: &Counterexample) -> Run<'_> {
    let place = counterexample.violation.place.as_ref();
    Run {
        kind: counterexample.violation.kind.name(),
        message: &counterexample.violation.message,
        reasons: &counterexample.violation.reasons,
        file: place.map(|place| place.file.as_str()),
        line: place.map(|place| place.line),
        column: place.map(|place| place.column),
        steps: counterexample.steps,
        cycle_start: counterexample.cycle_start,
        trail: counterexample.trail.as_ref().map(|path| path.display().to_string()),
        found_by: counterexample.is_probed.then_some("probe"),
    }
}

fn evidence(argument: &Argument) -> Evidence<'_> {
    let parts = argument.parts.iter().map(|(after, part)| Part { after: *after, evidence: evidence(part) });
    Evidence {
        formula: &argument.formula,
        holds: argument.holds,
        reason: &argument.reason,
        run: argument.run.as_ref().map(|run| Shown {
            steps: run.steps,
            cycle_start: run.cycle_start,
            trail: run.trail.as_ref().map(|path| path.display().to_string()),
        }),
        parts: parts.collect(),
        untold: argument.untold,
    }
}

fn states(searched: &Searched) -> States {
    let stats = searched.outcome.stats;
    States {
        stored: stats.stored,
        matched: stats.matched,
        transitions: stats.transitions(),
        revisits: stats.revisits(),
        loops: stats.loops,
        depth: searched.depth(),
        visited: stats.entered,
    }
}

fn runs(swarm: &Swarm) -> Vec<Repeated> {
    let repeated = |member: &Member| Repeated {
        seed: member.seed,
        search: member.algorithm.name(),
        stored: member.stored,
        coverage: member.coverage,
        verdict: match member.found {
            Found::Error => "violated",
            Found::Nothing => "inconclusive",
            Found::NothingExhaustive => "holds",
        },
    };
    swarm.runs.iter().map(repeated).collect()
}

fn how<'a>(searched: &'a Searched, config: &Config) -> How<'a> {
    let algorithm = searched.algorithm.name();
    let fallback = searched.fallback.as_deref();
    let reduction = match searched.reduction {
        Ok(Reduction::IfWorthIt | Reduction::Stubborn) => "por",
        Ok(Reduction::Ample) => "ample",
        Ok(Reduction::None) | Err(_) => "none",
    };
    let unreduced = searched.reduction.err().and_then(Unreduced::words);
    How {
        algorithm,
        backend: searched.backend.name(),
        fallback,
        reduction,
        unreduced,
        fairness: (searched.fairness != Fairness::None).then(|| searched.fairness.name()),
        threads: if config.runs > 1 { config.threads.unwrap_or(1) } else { searched.outcome.workers as u32 },
        no_threads: searched.outcome.no_threads.as_deref(),
        phases: searched.outcome.phases.as_deref().map(phases),
        optimised: config.passes() != Passes::NONE,
        unread: &searched.unread,
    }
}

fn phases(phases: &Phases) -> BTreeMap<&'static str, PhaseOfSearch> {
    let of = |(phase, time): (Phase, PhaseTime)| {
        let PhaseTime { count, elapsed, work, longest } = time;
        let [elapsed_s, work_s, longest_s] = [elapsed, work, longest].map(seconds);
        (phase.name(), PhaseOfSearch { count, elapsed_s, work_s, longest_s })
    };
    phases.all().map(of).collect()
}

fn kept<'a>(searched: &'a Searched, report: &PropertyReport) -> Kept<'a> {
    // An exact store is not exhaustive if the search was cut off.
    let is_partial = searched.cut_short.is_some();
    let (guarantee, omitted, formula) = match &searched.guarantee {
        Guarantee::Exact if is_partial || report.reason().is_some() => ("none", None, None),
        Guarantee::Exact => ("exact", None, None),
        Guarantee::Probable { omitted, formula, .. } => {
            let guarantee = if is_partial { "none" } else { "probable" };
            (guarantee, Some(rounded(*omitted, 1e6)), Some(&**formula))
        }
    };
    let bytes_per_state = rounded(searched.bytes_per_state(), 10.0);
    Kept {
        kind: searched.store.name(),
        guarantee,
        bytes: searched.outcome.bytes,
        bytes_per_state,
        state_bits: searched.state_bits,
        coverage: report.coverage(),
        omitted,
        formula,
        replaced: searched.store.forgets().then_some(searched.outcome.stats.forgotten),
        rungs: searched.levels.iter().map(rung).collect(),
    }
}

fn rung(rung: &entail_store::Level) -> Level {
    let bits = match rung.kind {
        LevelKind::Tree => None,
        LevelKind::Compact { bits } | LevelKind::Bitstate { bits } => Some(bits),
    };
    Level { kind: rung.kind.store().name(), bits, from_states: rung.from }
}

fn time(searched: &Searched) -> Time {
    Time {
        read_s: seconds(searched.read),
        compile_s: seconds(searched.compile),
        search_s: seconds(searched.search),
        total_s: seconds(searched.total),
    }
}

fn seconds(duration: Duration) -> f64 {
    rounded(duration.as_secs_f64(), 1e6)
}

fn rounded(value: f64, precision: f64) -> f64 {
    (value * precision).round() / precision
}
