//! `entail ltl`: the automaton of a formula.

use crate::args::{LtlArgs, LtlFormat};
use crate::console::{Console, Failure, Status};
use entail_check::{Message, Observer as _};
use entail_front::diagnostic::Diagnostic;
use entail_front::promela::{formula, preprocess};
use entail_front::source::{self, Sources, Span};
use entail_temporal::hoa::{self, NamedAutomaton};
use entail_temporal::{Buchi, Limits, Satisfiability, dot, never, reduce, satisfiability, translate};
use std::io::Write as _;
use std::path::Path;

pub fn ltl(args: &LtlArgs, console: &mut Console) -> Result<Status, Failure> {
    let mut sources = Sources::default();
    let mut problems = Vec::new();
    let named = match (&args.hoa, &args.file, &args.formula) {
        (Some(path), ..) => read_automaton(path, &mut sources).map_err(|problem| problems.push(problem)).ok(),
        (None, Some(path), _) => match read_text(path) {
            Ok(text) => read_formula(&path.display().to_string(), &text, &mut sources, &mut problems),
            Err(problem) => {
                problems.push(problem);
                None
            }
        },
        (None, None, Some(text)) => read_formula("formula", text, &mut sources, &mut problems),
        // The command line requires one of the three.
        (None, None, None) => None,
    };
    if !problems.is_empty() {
        console.stderr.message(Message::Problems(&problems, &sources));
    }
    let Read { named, satisfiability } = named.ok_or(Failure(None))?;
    match satisfiability {
        Some(Satisfiability::Unsatisfiable) => console.complain("no word satisfies this formula\n"),
        Some(Satisfiability::Tautology) => console.complain("every word satisfies this formula\n"),
        Some(Satisfiability::Contingent) | None => {}
    }
    console.out.verbatim().write_all(print(&named, args.format)?.as_bytes())?;
    Ok(Status::Fine)
}

/// An automaton, and the satisfiability of its formula.
struct Read {
    named: NamedAutomaton,
    satisfiability: Option<Satisfiability>,
}

fn read_formula(name: &str, text: &str, sources: &mut Sources, problems: &mut Vec<Diagnostic>) -> Option<Read> {
    let mut temporal = formula::read(name, text, &preprocess::Options::default(), sources, problems)?;
    let propositions = temporal.names();
    let limits = Limits::default();
    match translate(&mut temporal.formulas, temporal.formula, limits) {
        Ok(automaton) => {
            let title = sources.line(temporal.span);
            let satisfiability = satisfiability(&mut temporal.formulas, temporal.formula, &automaton, limits).ok();
            Some(Read { named: NamedAutomaton { automaton, propositions, title: Some(title) }, satisfiability })
        }
        Err(limit) => {
            problems.push(Diagnostic::general(format!("the formula is too large: {limit}")));
            None
        }
    }
}

fn read_automaton(path: &Path, sources: &mut Sources) -> Result<Read, Diagnostic> {
    let text = read_text(path)?;
    let file = sources.add(path.display().to_string(), &*text);
    let mut named = hoa::read(&text).map_err(|problem| {
        let span = Span { file, start: problem.start as u32, end: problem.end as u32 };
        Diagnostic::error(span, problem.message)
    })?;
    reduce(&mut named.automaton, Limits::default());
    let satisfiability = named.automaton.is_empty().then_some(Satisfiability::Unsatisfiable);
    Ok(Read { named, satisfiability })
}

fn read_text(path: &Path) -> Result<String, Diagnostic> {
    source::read(path).and_then(|bytes| source::text_of(&path.display().to_string(), bytes))
}

fn print(named: &NamedAutomaton, format: LtlFormat) -> Result<String, Failure> {
    let NamedAutomaton { automaton, propositions, title } = named;
    let title = title.as_deref().unwrap_or("");
    Ok(match format {
        LtlFormat::Never => {
            let buchi = Buchi::new(automaton, Limits::default())
                .map_err(|limit| Failure::new(format!("the formula is too large: {limit}")))?;
            never::print(&buchi, propositions, title)
        }
        LtlFormat::Hoa => hoa::print(automaton, propositions, title),
        LtlFormat::Dot => dot::print(automaton, propositions, title),
    })
}
