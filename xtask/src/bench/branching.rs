//! CTL formulas against safety searches of the same model, in turns.

use super::figures::{median, quotient};
use super::{Options, circumstances, document};
use crate::entail::Entail;
use crate::{Outcome, Result, root};
use std::fmt::Write as _;

/// A formula about a model in the shared folder.
struct Case {
    model: &'static str,
    /// `None` for a safety search, with which the following cases are compared.
    formula: Option<&'static str>,
    options: &'static [&'static str],
}

const fn safety(model: &'static str, options: &'static [&'static str]) -> Case {
    Case { model, formula: None, options }
}

const fn formula(model: &'static str, formula: &'static str, options: &'static [&'static str]) -> Case {
    Case { model, formula: Some(formula), options }
}

const PS2: &str = "esml/PS2.esml";
const LAMPORT: &str = "promela/lamport.5.pm";
const PETERSON: &str = "promela/peterson.4.pm";
const BOPDP: &str = "promela/bopdp.3.pm";

/// The formulas of the thesis about PS2 (deadlock freedom is its safety search), and formulas about models
/// with more than a million states. Each follows the safety searches that it is compared with: breadth-first
/// and depth-first.
const CASES: &[Case] = &[
    safety(PS2, &[]),
    safety(PS2, &["--search", "dfs"]),
    formula(PS2, "AG(DeviceDriver.id < 3)", &["--fair", "component"]),
    formula(PS2, "AF(DeviceDriver.id = 2)", &["--fair", "component"]),
    formula(PS2, "AF(DeviceDriver.id = 3)", &["--fair", "component"]),
    safety(LAMPORT, &[]),
    safety(LAMPORT, &["--search", "dfs"]),
    formula(LAMPORT, "AG !(P_0@CS && P_1@CS)", &[]),
    formula(LAMPORT, "AG EF P_0@CS", &[]),
    safety(PETERSON, &[]),
    safety(PETERSON, &["--search", "dfs"]),
    formula(PETERSON, "AG (P_0@CS -> EF P_1@CS)", &[]),
    safety(BOPDP, &["--no-end"]),
    safety(BOPDP, &["--no-end", "--search", "dfs"]),
    formula(BOPDP, "EF (cur >= 100)", &[]),
];

/// The measurements of a case.
#[derive(Clone, Copy, Default)]
struct Took {
    seconds: f64,
    /// The number of visits of states, over all subformulas.
    visited: u64,
    peak_bytes: u64,
}

pub fn run(options: &Options, entail: &Entail) -> Result<Outcome> {
    let wanted =
        |case: &&Case| options.only.is_empty() || options.only.iter().any(|part| case.model.contains(part));
    let mut cases: Vec<(&Case, String, Vec<Took>)> =
        CASES.iter().filter(wanted).map(|case| (case, String::new(), Vec::new())).collect();
    for round in 1..=options.rounds {
        for (case, verdict, took) in &mut cases {
            let file = root().join("../shared/models").join(case.model);
            let mut all = vec!["--no-opt", "--property", case.formula.unwrap_or("safety")];
            all.extend(case.formula.into_iter().flat_map(|formula| ["--ctl", formula]));
            all.extend(case.options);
            let report = entail.property(&file, &all)?;
            let figure = |group: &str, name: &str| report[group][name].as_f64().unwrap_or(0.0);
            took.push(Took {
                seconds: figure("time", "search_s"),
                visited: figure("states", "visited").max(figure("states", "stored")) as u64,
                peak_bytes: figure("memory", "peak_bytes") as u64,
            });
            *verdict = report["verdict"].as_str().unwrap_or_default().to_owned();
            eprintln!(
                "round {round}: {}, {}: {:.3} s, {verdict}",
                case.model,
                case.formula.unwrap_or("safety"),
                figure("time", "search_s")
            );
        }
    }
    let text = format!("{}\n\n{}", circumstances(options.rounds), table(&cases));
    println!("{text}");
    if let Some(file) = &options.markdown {
        document::write(file, "branching", &text)?;
    }
    Ok(Outcome::Agreement)
}

fn table(cases: &[(&Case, String, Vec<Took>)]) -> String {
    let mut text = String::from(
        "| model | property | | verdict | visited | s | ns for each | of breadth first | of depth first | MB |\n\
         |---|---|---|---|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut of_safety = [0.0; 2];
    for (case, verdict, took) in cases {
        let of = |figure: fn(&Took) -> f64| median(took.iter().map(figure).collect()).unwrap_or(0.0);
        let (seconds, visited) = (of(|took| took.seconds), of(|took| took.visited as f64));
        let each = quotient(1e9 * seconds, visited).unwrap_or(0.0);
        match (case.formula, case.options.contains(&"dfs")) {
            (None, false) => of_safety = [each, 0.0],
            (None, true) => of_safety[1] = each,
            (Some(_), _) => {}
        }
        let ratio = |of: f64| quotient(each, of).map_or(String::new(), |ratio| format!("{ratio:.2}"));
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {} | {} | {} | {verdict} | {visited:.0} | {seconds:.3} | {each:.0} | {} | {} | {:.0} |",
            case.model.split('/').next_back().unwrap_or_default(),
            case.formula.map_or("safety".into(), |formula| format!("`{}`", formula.replace('|', "\\|"))),
            case.options.join(" "),
            ratio(of_safety[0]),
            ratio(of_safety[1]),
            of(|took| took.peak_bytes as f64) / f64::from(1 << 20),
        );
    }
    text
}
