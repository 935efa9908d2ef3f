//! entail and SPIN on LTL formulas about the same models, in turns.

use super::figures::{geometric_mean, median, quotient};
use super::spin::{elapsed, hash_bits, peak_bytes};
use super::{Options, TIME, against, circumstances, document};
use crate::entail::Entail;
use crate::{Outcome, Result, oracle, root};
use entail_testkit::spin::{self, Build, Compiler, Goal, Keeping, Made, Mode, Search, Status};
use std::fmt::Write as _;

/// A public benchmark model and a formula that it satisfies, so that the search is exhaustive.
struct Case {
    model: &'static str,
    formula: &'static str,
}

/// Mutual exclusion, response and progress formulas, and bounds. Models for which `pan -a -f` takes less than
/// a few minutes.
const CASES: &[Case] = &[
    Case { model: "adding.3", formula: "[] (c > 0)" },
    Case { model: "bopdp.3", formula: "[] (cur < 100)" },
    Case { model: "krebs.2", formula: "[] (energy < 200)" },
    Case { model: "lamport.5", formula: "[] !(P_0@CS && P_1@CS)" },
    Case { model: "lamport.5", formula: "([] <> P_0@CS) -> ([] <> P_0@NCS)" },
    Case { model: "loyd.2", formula: "([] <> (x == 0)) -> ([] <> (y < 3))" },
    Case { model: "peterson.4", formula: "[] !(P_0@CS && P_1@CS)" },
    Case { model: "peterson.4", formula: "([] <> P_0@CS) -> ([] <> P_0@NCS)" },
];

/// More of them, with over a million states each, to compare entail with itself.
const LARGE: &[Case] = &[
    Case { model: "adding.4", formula: "([] <> (c > 9)) -> ([] <> (c > 4))" },
    Case { model: "bopdp.3", formula: "([] <> (cur == 2)) -> ([] <> (cur > 0))" },
    Case { model: "brp.3", formula: "([] <> (prod_n > 1)) -> ([] <> (prod_n > 0))" },
    Case { model: "fischer.3", formula: "([] <> (id == 2)) -> ([] <> (id > 0))" },
    Case { model: "fischer.4", formula: "([] <> (id == 2)) -> ([] <> (id > 0))" },
];

/// The measurements of one tool.
#[derive(Clone, Copy, Default)]
struct Took {
    seconds: f64,
    states: u64,
    peak_bytes: u64,
}

/// A formula with a fairness assumption, and its measurements.
struct Contest {
    case: &'static Case,
    goal: Goal,
    depth: u64,
    spin: Vec<Took>,
    entail: Vec<Took>,
}

/// The same searches, and more, to compare entail with itself.
pub fn searches(only: &[String]) -> Vec<against::Search> {
    let search = |case: &Case, fairness: &str| against::Search {
        model: format!("{}.pm", case.model),
        way: format!("`{}`, {fairness}", case.formula),
        options: ["--no-opt", "--fair", fairness, "--ltl", case.formula, "--property", case.formula]
            .map(str::to_owned)
            .to_vec(),
    };
    chosen(CASES.iter().chain(LARGE), only)
        .flat_map(|case| ["none", "weak"].map(|fairness| search(case, fairness)))
        .collect()
}

/// The cases about models with one of these in their names, or all.
fn chosen<'c>(cases: impl IntoIterator<Item = &'c Case>, only: &[String]) -> impl Iterator<Item = &'c Case> {
    cases.into_iter().filter(|case| only.is_empty() || only.iter().any(|part| case.model.contains(part)))
}

pub fn run(options: &Options, entail: &Entail) -> Result<Outcome> {
    let mut contests = Vec::new();
    for case in chosen(CASES, &options.only) {
        for goal in [Goal::Cycle, Goal::FairCycle] {
            contests.push(Contest { case, goal, depth: 1 << 16, spin: Vec::new(), entail: Vec::new() });
        }
    }
    let mut same = true;
    for round in 1..=options.rounds {
        for contest in &mut contests {
            let verdicts = contest.round(entail, options.memory)?;
            same &= verdicts.0 == verdicts.1;
            let last = |all: &[Took]| all.last().map_or(0.0, |took| took.seconds);
            eprintln!(
                "round {round}: {}, {}, {}: {:.2} s and {:.2} s, {} and {}",
                contest.case.model,
                contest.case.formula,
                contest.fairness(),
                last(&contest.spin),
                last(&contest.entail),
                verdicts.0,
                verdicts.1
            );
        }
    }
    let text = format!("{}\n\n{}", circumstances(options.rounds), table(&contests));
    println!("{text}");
    if let Some(file) = &options.markdown {
        document::write(file, "liveness", &text)?;
    }
    Ok(if same { Outcome::Agreement } else { Outcome::Difference })
}

impl Contest {
    fn fairness(&self) -> &'static str {
        if self.goal == Goal::FairCycle { "weak" } else { "none" }
    }

    /// Measures SPIN and entail in direct succession. Returns both verdicts.
    fn round(&mut self, entail: &Entail, memory_mib: u32) -> Result<(String, String)> {
        let folder = tempfile::tempdir()?;
        let source = root().join(oracle::MODELS).join(format!("{}.pm", self.case.model));
        let mut model =
            std::fs::read_to_string(&source).map_err(|problem| format!("{}: {problem}", source.display()))?;
        let _ = write!(model, "\nltl p {{ {} }}\n", self.case.formula);
        let file = folder.path().join("model.pml");
        std::fs::write(&file, model)?;
        let how = Build {
            mode: Mode::Claim,
            keeping: Keeping::All,
            compiler: Compiler::Optimising,
            constants: &[],
            memory_mib,
            vector: 1024,
        };
        if let Made::Not(status) = spin::build(folder.path(), &file, &how)? {
            return Err(format!("{}: {status:?}", self.case.model).into());
        }
        let searched = loop {
            let how = Search { goal: self.goal, depth: self.depth, hash_bits: hash_bits(1 << 22), time: TIME };
            let searched = spin::search(folder.path(), how)?;
            if spin::read_answer(&searched).status != Status::Limit("depth") {
                break searched;
            }
            self.depth *= 2;
        };
        let answer = spin::read_answer(&searched);
        self.spin.push(Took {
            seconds: elapsed(&searched.stdout).unwrap_or(0.0),
            states: answer.stored,
            peak_bytes: peak_bytes(&searched),
        });
        let theirs = match spin::is_broken(&searched) {
            Ok(true) => "violated",
            Ok(false) => "holds",
            Err(_) => "inconclusive",
        };
        let report = entail.property(&file, &["--property", "p", "--no-opt", "--fair", self.fairness()])?;
        self.entail.push(Took {
            seconds: report["time"]["search_s"].as_f64().unwrap_or(0.0),
            states: report["states"]["stored"].as_u64().unwrap_or(0),
            peak_bytes: report["memory"]["peak_bytes"].as_u64().unwrap_or(0),
        });
        Ok((theirs.to_owned(), report["verdict"].as_str().unwrap_or_default().to_owned()))
    }
}

fn middle(all: &[Took]) -> Took {
    let of = |figure: fn(&Took) -> f64| median(all.iter().map(figure).collect()).unwrap_or(0.0);
    Took {
        seconds: of(|took| took.seconds),
        states: of(|took| took.states as f64) as u64,
        peak_bytes: of(|took| took.peak_bytes as f64) as u64,
    }
}

fn table(contests: &[Contest]) -> String {
    let mut text = String::from(
        "| model | formula | fair | states, pan | states, entail | pan, s | entail, s | faster | MB, pan | MB, entail |\n\
         |---|---|---|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    let (mut plain, mut fair, mut costs) = (Vec::new(), Vec::new(), [Vec::new(), Vec::new()]);
    let mut before = [0.0; 2];
    for contest in contests {
        let (spin, entail) = (middle(&contest.spin), middle(&contest.entail));
        let ratio = quotient(spin.seconds, entail.seconds);
        let megabytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        let _ = writeln!(
            text,
            "| {} | `{}` | {} | {} | {} | {:.2} | {:.2} | {} | {:.0} | {:.0} |",
            contest.case.model,
            contest.case.formula.replace('|', "\\|"),
            contest.fairness(),
            spin.states,
            entail.states,
            spin.seconds,
            entail.seconds,
            ratio.map_or("".into(), |ratio| format!("{ratio:.2}")),
            megabytes(spin.peak_bytes),
            megabytes(entail.peak_bytes),
        );
        let now = [spin.seconds, entail.seconds];
        if contest.goal == Goal::FairCycle {
            fair.extend(ratio);
            for (of, cost) in costs.iter_mut().enumerate() {
                cost.extend(quotient(now[of], before[of]));
            }
        } else {
            plain.extend(ratio);
        }
        before = now;
    }
    let mean = |values: &[f64]| geometric_mean(values).map_or("?".into(), |mean| format!("{mean:.2}"));
    let most = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    let _ = writeln!(
        text,
        "\nIn the geometric mean, entail is {} times as fast as `pan -a`, and {} times as fast as `pan -a -f`. Weak \
         fairness makes `pan` take {} times as long in the mean and {:.2} times at most; entail {} and {:.2}.",
        mean(&plain),
        mean(&fair),
        mean(&costs[0]),
        most(&costs[0]),
        mean(&costs[1]),
        most(&costs[1]),
    );
    text
}
