//! The number of states of automata for published formulas: entail's, and those of SPIN and ltl2ba if these
//! are installed.

use crate::{Outcome, Result};
use clap::Args;
use entail_front::promela::{formula, preprocess};
use entail_front::source::Sources;
use entail_temporal::{Buchi, Limits, translate};
use entail_testkit::command::finish;
use entail_testkit::ltl::SETS;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

#[derive(Args)]
pub struct Options {
    /// The time limit of SPIN for a formula, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    time: u64,
    /// Also compare with this ltl2ba
    #[arg(long, value_name = "PROGRAM")]
    ltl2ba: Option<PathBuf>,
    /// Print totals only
    #[arg(long)]
    totals: bool,
}

/// The total states of the claims of ltl2ba 1.1, as counted here with `--ltl2ba`.
const LTL2BA: usize = 1065;

/// Sums over formulas.
#[derive(Clone, Copy, Default)]
struct Totals {
    formulas: usize,
    generalised: usize,
    buchi: usize,
    /// Over the formulas that the other tool answered: entail's states, its states, the number of formulas.
    spin: [usize; 3],
    ltl2ba: [usize; 3],
    seconds: f64,
}

pub fn run(options: &Options) -> Result<Outcome> {
    let limit = Duration::from_secs(options.time);
    println!("{:<8}{:>6}{:>6}{:>6}{:>8}  formula", "set", "TGBA", "BA", "spin", "ltl2ba");
    let mut all = Totals::default();
    for set in &SETS {
        let mut totals = Totals::default();
        for (number, text) in set.formulas.iter().enumerate() {
            for text in [(*text).to_owned(), format!("!({text})")] {
                let start = Instant::now();
                let Ours { generalised, buchi, normal_form } = ours(&text)?;
                totals.seconds += start.elapsed().as_secs_f64();
                // The other tools do not support `W`.
                let asked = if text.contains(" W ") { normal_form } else { text.clone() };
                // A translator of SPIN without X reports this.
                let spin = states("spin".as_ref(), &asked, limit);
                let ltl2ba = options.ltl2ba.as_ref().and_then(|program| states(program, &asked, limit));
                totals.formulas += 1;
                totals.generalised += generalised;
                totals.buchi += buchi;
                for (sums, theirs) in [(&mut totals.spin, spin), (&mut totals.ltl2ba, ltl2ba)] {
                    if let Some(theirs) = theirs {
                        *sums = [sums[0] + buchi, sums[1] + theirs, sums[2] + 1];
                    }
                }
                if !options.totals {
                    let name = format!("{} {}", set.name, number + 1);
                    let shown = |count: Option<usize>| count.map_or("-".to_owned(), |count| count.to_string());
                    let (spin, ltl2ba) = (shown(spin), shown(ltl2ba));
                    println!("{name:<8}{generalised:>6}{buchi:>6}{spin:>6}{ltl2ba:>8}  {text}");
                }
            }
        }
        totals.print(set.name);
        all.add(&totals);
    }
    all.print("all");
    println!("ltl2ba 1.1, as recorded: {LTL2BA} states");
    let is_larger = |sums: [usize; 3], percent: usize| sums[0] * 100 > sums[1] * percent;
    let recorded = [all.buchi, LTL2BA, all.formulas];
    let is_worse = is_larger(all.spin, 100) || is_larger(all.ltl2ba, 115) || is_larger(recorded, 115);
    Ok(if is_worse { Outcome::Difference } else { Outcome::Agreement })
}

impl Totals {
    fn add(&mut self, other: &Totals) {
        self.formulas += other.formulas;
        self.generalised += other.generalised;
        self.buchi += other.buchi;
        for at in 0..3 {
            self.spin[at] += other.spin[at];
            self.ltl2ba[at] += other.ltl2ba[at];
        }
        self.seconds += other.seconds;
    }

    fn print(&self, name: &str) {
        let Totals { formulas, generalised, buchi, spin, ltl2ba, seconds } = self;
        println!("{name}: {formulas} formulas, {generalised} states (TGBA), {buchi} states (BA), {seconds:.2} s");
        for (tool, [ours, theirs, count]) in [("spin -f", spin), ("ltl2ba", ltl2ba)] {
            if *count > 0 {
                println!("    {tool} answered {count}: ours {ours}, theirs {theirs}");
            }
        }
    }
}

struct Ours {
    generalised: usize,
    buchi: usize,
    normal_form: String,
}

fn ours(text: &str) -> Result<Ours> {
    let (mut sources, mut problems) = (Sources::default(), Vec::new());
    let options = preprocess::Options::default();
    let mut temporal = formula::read("formula", text, &options, &mut sources, &mut problems)
        .ok_or_else(|| format!("cannot read {text}"))?;
    let normal_form = temporal.formulas.print(temporal.formula, &temporal.names());
    let generalised = translate(&mut temporal.formulas, temporal.formula, Limits::default())?;
    let buchi = Buchi::new(&generalised, Limits::default())?;
    Ok(Ours { generalised: generalised.len(), buchi: buchi.automaton().len(), normal_form })
}

/// The number of states of another tool's never claim; `None` if it gives no answer.
fn states(program: &Path, text: &str, limit: Duration) -> Option<usize> {
    let finished = finish(Command::new(program).arg("-f").arg(text), limit).ok()?;
    if !finished.success() || !finished.stdout.contains("never") {
        return None;
    }
    let labels = finished.stdout.lines().filter(|line| line.trim_end().ends_with(':') || line.contains(": /*"));
    // The initial state of SPIN's claims may have two labels.
    let doubled = finished.stdout.contains("accept_init:") && finished.stdout.contains("T0_init:");
    Some(labels.count() - usize::from(doubled))
}
