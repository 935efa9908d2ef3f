//! The report in the format of SPIN's `pan`, for scripts that parse it.
//!
//! The report omits counts that entail does not have (atomic steps, hash conflicts).

use super::{Counterexample, PropertyReport, Report, Searched, Verdict};
use crate::coverage::{ProcessCoverage, UnreachedStatement};
use crate::violation::{Kind, Violation};
use entail_model::{FaultKind, Guarantee};
use entail_search::{End, Limit};
use std::fmt::{self, Write};

/// The report in SPIN's format.
pub fn report(report: &Report) -> String {
    let mut text = String::new();
    write_report(&mut text, report).expect("writing to a string cannot fail");
    text
}

fn write_report(out: &mut String, report: &Report) -> fmt::Result {
    for property in &report.properties {
        match (&property.searched, &property.verdict) {
            (Some(searched), _) => write_search(out, report, (property, searched))?,
            (None, Verdict::Inconclusive(reason)) => writeln!(out, "warning: {}: {reason}", property.name)?,
            (None, Verdict::Holds | Verdict::Violated) => {}
        }
    }
    Ok(())
}

fn write_search(
    out: &mut String,
    report: &Report,
    (property, searched): (&PropertyReport, &Searched),
) -> fmt::Result {
    if let Some(found) = &searched.counterexample {
        write_error(out, found)?;
    }
    write_early_end(out, searched.outcome.end)?;
    if let Some(reason) = property.reason() {
        writeln!(out, "warning: {}: {reason}", property.name)?;
    }
    writeln!(out, "\n(entail {})", env!("CARGO_PKG_VERSION"))?;
    write_settings(out, report, searched)?;
    write_statistics(out, searched)?;
    if let Some(unreached) = &report.unreached {
        write_unreached(out, unreached)?;
    }
    let seconds = searched.search.as_secs_f64();
    let shown = format!("{seconds:.3}");
    writeln!(out, "\npan: elapsed time {} seconds", shown.trim_end_matches('0').trim_end_matches('.'))?;
    if seconds > 0.1 {
        writeln!(out, "pan: rate {:>9.0} states/second", searched.outcome.stats.stored as f64 / seconds)?;
    }
    Ok(())
}

fn write_error(out: &mut String, found: &Counterexample) -> fmt::Result {
    writeln!(out, "pan:1: {} (at depth {})", words(&found.violation), found.moves.saturating_sub(1))?;
    match &found.trail {
        Some(trail) => writeln!(out, "pan: wrote {}", trail.display()),
        None => writeln!(out, "pan: cannot write the trail"),
    }
}

fn words(violation: &Violation) -> String {
    let text = violation.place.as_ref().map_or("", |place| place.text.as_str());
    match violation.kind {
        Kind::Cycle => "acceptance cycle".into(),
        Kind::NonProgress => "non-progress cycle".into(),
        Kind::InvalidEnd | Kind::Incomplete => "invalid end state".into(),
        Kind::Fault(FaultKind::Assertion) => {
            let condition = text.strip_prefix("assert").unwrap_or(text).trim();
            format!("assertion violated {}", condition.replace(' ', ""))
        }
        Kind::Fault(FaultKind::Index) => "assertion violated - invalid array index".into(),
        Kind::Fault(FaultKind::Blocked) => "block in d_step seq".into(),
        Kind::Fault(FaultKind::Choice) => "non-determinism in D_proctype".into(),
        Kind::Fault(FaultKind::TooManyProcesses | FaultKind::TooManyThreads) => "too many processes".into(),
        Kind::Fault(FaultKind::TooManyChannels) => "too many queues".into(),
        Kind::Fault(FaultKind::Priority) => "priority is out of range".into(),
        Kind::Fault(FaultKind::SelfReference) => "used: enabled(pid=thisproc)".into(),
        Kind::Fault(FaultKind::ClaimEnd) => "end state in claim reached".into(),
        Kind::Fault(FaultKind::UnexpectedEvent) => "event_trace error (no matching event)".into(),
        Kind::Fault(FaultKind::ForbiddenEvents) => "event_trace error (all events matched)".into(),
        Kind::Fault(FaultKind::AmbiguousEvent) => "non-determinism in event-trace".into(),
        Kind::Fault(FaultKind::StateSize) => "VECTORSZ is too small".into(),
        Kind::Fault(
            FaultKind::Invariant
            | FaultKind::Range
            | FaultKind::DivisionByZero
            | FaultKind::ListEmpty
            | FaultKind::ListFull
            | FaultKind::NoAlternative
            | FaultKind::NotOwner
            | FaultKind::NoChannel
            | FaultKind::MessageFields
            | FaultKind::Rendezvous
            | FaultKind::Endless
            | FaultKind::TooLong
            | FaultKind::Proposition
            | FaultKind::Refuted,
        ) => violation.message.clone(),
    }
}

fn write_early_end(out: &mut String, end: End) -> fmt::Result {
    match end {
        End::Complete | End::Error => Ok(()),
        End::Limit(Limit::Depth) => writeln!(out, "error: max search depth too small"),
        End::Limit(Limit::Memory) => writeln!(out, "pan: reached the memory limit"),
        End::Limit(Limit::Time) => writeln!(out, "pan: reached the time limit"),
        End::Limit(Limit::Interrupted) => writeln!(out, "Interrupted"),
    }
}

fn write_settings(out: &mut String, report: &Report, searched: &Searched) -> fmt::Result {
    match searched.outcome.end {
        // For `pan`, a search that reaches the depth limit is complete.
        End::Complete | End::Limit(Limit::Depth) => {}
        End::Error | End::Limit(_) => writeln!(out, "Warning: Search not completed")?,
    }
    if report.config.search().is_breadth_first() {
        writeln!(out, "\t+ Breadth-First Search")?;
    }
    let claim = if report.has_claims { "not selected" } else { "none specified" };
    let switch = |on: bool, flag: &str| if on { "+".into() } else { format!("- (disabled by {flag} flag)") };
    let assertions = switch(!report.config.no_assert, "-A");
    let end_states = switch(!report.config.no_end, "-E");
    let kind = match &searched.guarantee {
        Guarantee::Exact => "Full statespace",
        Guarantee::Probable { .. } if searched.store.has_array() => "Bit statespace",
        Guarantee::Probable { .. } => "Hash-Compact",
    };
    writeln!(out, "\n{kind} search for:")?;
    writeln!(out, "\tnever claim         \t- ({claim})")?;
    writeln!(out, "\tassertion violations\t{assertions}")?;
    writeln!(out, "\tcycle checks       \t- (disabled by -DSAFETY)")?;
    writeln!(out, "\tinvalid end states\t{end_states}\n")
}

fn write_statistics(out: &mut String, searched: &Searched) -> fmt::Result {
    let stats = searched.outcome.stats;
    let megabytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let (size, depth, errors) =
        (searched.state_bytes, searched.depth().unwrap_or_default(), searched.outcome.errors);
    writeln!(out, "State-vector {size} byte, depth reached {depth}, errors: {errors}")?;
    writeln!(out, "{:>9} states, stored", stats.stored)?;
    writeln!(out, "{:>9} states, matched", stats.matched)?;
    writeln!(out, "{:>9} transitions (= stored+matched)\n", stats.transitions())?;
    writeln!(out, "Stats on memory usage (in Megabytes):")?;
    let total = searched.peak_bytes.unwrap_or(searched.outcome.bytes);
    // Untouched parts of an allocated array take no memory.
    writeln!(out, "{:>9.3}\tactual memory usage for states", megabytes(searched.outcome.bytes.min(total)))?;
    writeln!(out, "{:>9.3}\ttotal actual memory usage\n\n", megabytes(total))
}

fn write_unreached(out: &mut String, processes: &[ProcessCoverage]) -> fmt::Result {
    for ProcessCoverage { name, locations, unreached } in processes {
        match name.as_str() {
            "init" | ":init:" => writeln!(out, "unreached in init")?,
            name => writeln!(out, "unreached in proctype {name}")?,
        }
        for UnreachedStatement { location, file, line, text, .. } in unreached {
            writeln!(out, "\t{file}:{line}, state {location}, \"{text}\"")?;
        }
        let missed = unreached.chunk_by(|a, b| a.location == b.location).count();
        writeln!(out, "\t({missed} of {locations} states)")?;
    }
    Ok(())
}
