//! The tables of Geldenhuys' thesis: the counts of ESML's own model checker on twelve models, and its
//! verdicts on four properties of one of them. The thesis has no verdicts without fairness: those are
//! entail's.

use crate::entail::Entail;
use crate::{Outcome, Result, root};
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
pub struct Options {
    /// Skip models with more states
    #[arg(long, value_name = "N", default_value_t = u64::MAX)]
    max_states: u64,
}

/// In the order of the table's columns.
const COUNTS: [&str; 5] = ["stored", "revisits", "loops", "transitions", "depth"];

pub fn run(options: &Options, binary: Option<&std::path::Path>) -> Result<Outcome> {
    let entail = Entail::find(binary)?;
    let table = std::fs::read_to_string(root().join("tests/oracle/thesis.csv"))?;
    println!("{:<6}{:>10}{:>10}{:>10}{:>12}{:>8}", "model", "unique", "revisits", "loops", "transitions", "depth");
    let (mut same, mut different) = (0, 0);
    for line in table.lines().skip(1) {
        let (model, expected) = line.split_once(',').ok_or("a line without counts")?;
        let expected = expected.split(',').map(str::parse).collect::<std::result::Result<Vec<u64>, _>>()?;
        if expected[0] > options.max_states {
            continue;
        }
        let found = entail.counts(&find(model)?, &["--search", "dfs", "--no-opt"], &COUNTS)?;
        let [unique, revisits, loops, transitions, depth] = found[..] else {
            return Err("counts are missing".into());
        };
        let remark = if found == expected { "" } else { "  differs" };
        println!("{model:<6}{unique:>10}{revisits:>10}{loops:>10}{transitions:>12}{depth:>8}{remark}");
        if found == expected { same += 1 } else { different += 1 }
    }
    println!("{same} as published, {different} different");
    different += formulas(&entail)?;
    Ok(if different == 0 { Outcome::Agreement } else { Outcome::Difference })
}

/// The number of unexpected verdicts.
fn formulas(entail: &Entail) -> Result<u64> {
    let table = std::fs::read_to_string(root().join("tests/oracle/thesis-formulas.csv"))?;
    let mut different = 0;
    println!();
    for line in table.lines().skip(1) {
        let [model, fairness, formula, expected] = line.split(',').collect::<Vec<_>>()[..] else {
            return Err(format!("`{line}` has not four columns").into());
        };
        let asked: &[&str] =
            if formula.is_empty() { &["--property", "safety"] } else { &["--property", formula, "--ctl", formula] };
        let report = entail.property(&find(model)?, &[asked, &["--fair", fairness]].concat())?;
        let verdict = report["verdict"].as_str().unwrap_or_default();
        let remark = if verdict == expected { "" } else { "  differs" };
        println!("{model:<6}{fairness:<10}{:<26}{verdict}{remark}", asked[1]);
        different += u64::from(verdict != expected);
    }
    Ok(different)
}

/// Some of the models are public benchmarks, the others belong to the project.
pub fn find(model: &str) -> Result<PathBuf> {
    let folders = [root().join("tests/thesis"), root().join("../shared/models/esml")];
    let mut paths = folders.iter().map(|folder| folder.join(model).with_extension("esml"));
    paths.find(|path| path.is_file()).ok_or_else(|| format!("there is no {model}.esml").into())
}
