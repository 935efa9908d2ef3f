//! Compares entail and SPIN on random formulas over random models.

use crate::entail::Entail;
use crate::{Outcome, Result, pool, root};
use entail_testkit::promela::{Feature, Program, generate_subject, minimise};
use entail_testkit::rng::Rng;
use entail_testkit::spin::{self, Goal, Limits, Unsure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// A formula before it is printed.
#[derive(Clone, Debug, PartialEq)]
enum Formula {
    Proposition(String),
    Unary(&'static str, Box<Formula>),
    Binary(&'static str, Box<(Formula, Formula)>),
}

/// The SPIN of most distributions does not support `X`.
const UNARY: &[&str] = &["!", "[]", "<>", "[]", "<>"];
const BINARY: &[&str] = &["U", "W", "V", "&&", "||", "->", "<->"];
const MOST_OPERATORS: usize = 6;

/// An array that formulas refer to.
const ARRAY: &str = "byte fa[2] = 1;";

/// The material for propositions.
struct Vocabulary {
    variables: Vec<String>,
    /// `enabled(p)`, unless SPIN's answer depends on the position in its claim.
    enabled: bool,
    /// Elements of an array, some of them out of range, with or without a guard on the left.
    elements: bool,
}

impl Vocabulary {
    fn of(program: &Program, variables: Vec<String>, rng: &mut Rng) -> Vocabulary {
        let text = program.to_string();
        let misleads =
            program.features.contains(Feature::Rendezvous) || text.contains("else") || text.contains("timeout");
        Vocabulary { variables, enabled: !misleads && rng.chance(0.3), elements: rng.chance(0.3) }
    }

    fn proposition(&self, rng: &mut Rng) -> String {
        let variable = rng.pick(&self.variables);
        if self.enabled && rng.chance(0.5) {
            return format!("enabled({})", rng.below(3));
        }
        if self.elements && rng.chance(0.5) {
            let element = format!("fa[{variable}] == {}", rng.below(2));
            return match rng.below(4) {
                0 => format!("({variable} >= 0 && {variable} < 2 && {element})"),
                1 => format!("({variable} < 0 || {variable} > 1 || {element})"),
                2 => format!("(({variable} >= 0 && {variable} < 2) -> ({element}))"),
                _ => format!("({element})"),
            };
        }
        let relation = *rng.pick(&["==", "!=", "<", ">"]);
        format!("({variable} {relation} {})", rng.below(3))
    }
}

impl Formula {
    fn random(rng: &mut Rng, vocabulary: &Vocabulary, operators: usize) -> Formula {
        if operators == 0 {
            return Formula::Proposition(vocabulary.proposition(rng));
        }
        if rng.chance(0.5) {
            let operator = rng.pick(UNARY);
            return Formula::Unary(operator, Box::new(Formula::random(rng, vocabulary, operators - 1)));
        }
        let left = rng.below(operators);
        let operands =
            (Formula::random(rng, vocabulary, left), Formula::random(rng, vocabulary, operators - 1 - left));
        let operator = rng.pick(BINARY);
        Formula::Binary(operator, Box::new(operands))
    }

    /// Whether a proposition may fault wherever it is evaluated.
    fn is_unguarded(&self) -> bool {
        match self {
            Formula::Proposition(text) => text.starts_with("(fa["),
            Formula::Unary(_, operand) => operand.is_unguarded(),
            Formula::Binary(_, operands) => operands.0.is_unguarded() || operands.1.is_unguarded(),
        }
    }

    /// The same without the array, all elements of which are 1. Propositions that fault have the given value.
    fn answered(&self, answer: bool) -> Formula {
        match self {
            Formula::Proposition(text) => Formula::Proposition(without_array(text, answer)),
            Formula::Unary(operator, operand) => Formula::Unary(operator, Box::new(operand.answered(answer))),
            Formula::Binary(operator, operands) => {
                let operands = (operands.0.answered(answer), operands.1.answered(answer));
                Formula::Binary(operator, Box::new(operands))
            }
        }
    }

    /// The same with `true` for `p <-> p`, a simplification that SPIN makes first.
    fn simplified(&self) -> Formula {
        match self {
            Formula::Proposition(_) => self.clone(),
            Formula::Unary(operator, operand) => Formula::Unary(operator, Box::new(operand.simplified())),
            Formula::Binary("<->", operands) if operands.0 == operands.1 => Formula::Proposition("(true)".into()),
            Formula::Binary(operator, operands) => {
                Formula::Binary(operator, Box::new((operands.0.simplified(), operands.1.simplified())))
            }
        }
    }

    /// The same with `true` or `false` for the largest parts that are decided.
    fn decided(&self, decision: &impl Fn(&Formula) -> Result<Option<bool>>) -> Result<Formula> {
        if let Some(decided) = decision(self)? {
            return Ok(Formula::Proposition(format!("({decided})")));
        }
        Ok(match self {
            Formula::Proposition(_) => self.clone(),
            Formula::Unary(operator, operand) => Formula::Unary(operator, Box::new(operand.decided(decision)?)),
            Formula::Binary(operator, operands) => {
                let operands = (operands.0.decided(decision)?, operands.1.decided(decision)?);
                Formula::Binary(operator, Box::new(operands))
            }
        })
    }

    /// Smaller formulas that may show the same difference.
    fn smaller(&self) -> Vec<Formula> {
        match self {
            Formula::Proposition(_) => Vec::new(),
            Formula::Unary(operator, operand) => {
                let inside =
                    operand.smaller().into_iter().map(|smaller| Formula::Unary(operator, Box::new(smaller)));
                std::iter::once((**operand).clone()).chain(inside).collect()
            }
            Formula::Binary(operator, operands) => {
                let (left, right) = &**operands;
                let mut all = vec![left.clone(), right.clone()];
                let pair = |left: Formula, right: Formula| Formula::Binary(operator, Box::new((left, right)));
                all.extend(left.smaller().into_iter().map(|smaller| pair(smaller, right.clone())));
                all.extend(right.smaller().into_iter().map(|smaller| pair(left.clone(), smaller)));
                all
            }
        }
    }
}

/// A proposition of [`Vocabulary::proposition`] without elements of the array.
fn without_array(text: &str, answer: bool) -> String {
    let element = text.split_once("fa[").and_then(|(before, rest)| Some((before, rest.split_once("] == ")?)));
    let Some((before, (variable, number))) = element else { return text.to_owned() };
    let inside = number.starts_with('1');
    let outside = match before {
        "(" => answer,
        guard => !guard.ends_with("&& "),
    };
    match (inside, outside) {
        (true, true) => "(true)".to_owned(),
        (false, false) => "(false)".to_owned(),
        (true, false) => format!("({variable} >= 0 && {variable} < 2)"),
        (false, true) => format!("({variable} < 0 || {variable} > 1)"),
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Formula::Proposition(text) => f.write_str(text),
            Formula::Unary(operator, operand) => write!(f, "{operator} ({operand})"),
            Formula::Binary(operator, operands) => write!(f, "(({}) {operator} ({}))", operands.0, operands.1),
        }
    }
}

/// The runs that the formula is checked on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    All,
    Fair,
}

impl Runs {
    pub const ALL: [Runs; 2] = [Runs::All, Runs::Fair];

    pub fn name(self) -> &'static str {
        match self {
            Runs::All => "all runs",
            Runs::Fair => "weakly fair runs",
        }
    }

    fn goal(self) -> Goal {
        match self {
            Runs::All => Goal::Cycle,
            Runs::Fair => Goal::FairCycle,
        }
    }

    pub fn fairness(self) -> &'static str {
        match self {
            Runs::All => "none",
            Runs::Fair => "weak",
        }
    }

    /// A process that is added. If a run ends, SPIN's fair search overlooks violations where the claim does
    /// not remain in one state. So fair runs must not end.
    fn other_process(self) -> &'static str {
        match self {
            Runs::All => "",
            Runs::Fair => "active proctype Clock() { bit tick; do :: tick = 1 - tick od }",
        }
    }
}

/// A model and a formula.
#[derive(Clone)]
struct Case {
    program: Program,
    formula: Formula,
    /// A process that sometimes indexes an array out of its range, in some of the models.
    faulty: String,
}

impl Case {
    /// `None` if the model has an intentional defect, no variables for a formula, or counts processes: SPIN
    /// counts its claim among them.
    fn of(seed: u64) -> Option<Case> {
        let (program, variables) = generate_subject(seed)?;
        if program.features.contains(Feature::ProcessCount) {
            return None;
        }
        let mut rng = Rng::new(seed);
        let vocabulary = Vocabulary::of(&program, variables, &mut rng);
        let operators = 1 + rng.below(MOST_OPERATORS);
        let formula = Formula::random(&mut rng, &vocabulary, operators);
        let is_faulty = !vocabulary.elements && rng.chance(0.25);
        let faulty = if is_faulty { faulty_process(&mut rng, &vocabulary.variables) } else { String::new() };
        Some(Case { program, formula, faulty })
    }

    /// Without assertions and acceptance labels, which SPIN would confuse with those of its claims.
    fn text(&self, runs: Runs) -> String {
        let program = self.program.to_string().replace("assert(", "(true || ").replace("accept", "place");
        let others = [&self.faulty, runs.other_process(), ARRAY].join("\n");
        format!("{program}\n{others}\nltl p {{ {} }}\n", self.formula)
    }

    /// The answers of both tools for some runs. entail evaluates both operands of `p <-> p`, which may fault;
    /// SPIN evaluates neither. entail detects more tautologies than SPIN, and may need fewer states of a run, so that it
    /// never comes to a fault behind them.
    fn ask(&self, runs: Runs, entail: &Entail) -> Result<Both> {
        let mut both = self.ask_as_written(runs, entail)?;
        let simplified = self.formula.simplified();
        if matches!(both, Both::Different(_)) && simplified != self.formula && self.formula.is_unguarded() {
            both = self.with(simplified).ask_as_written(runs, entail)?;
        }
        if matches!(both, Both::Different(_)) {
            let decided = self.formula.decided(&|part| self.with(part.clone()).decision(entail))?;
            if decided != self.formula {
                both = self.with(decided).ask_as_written(runs, entail)?;
            }
        }
        Ok(both)
    }

    fn with(&self, formula: Formula) -> Case {
        Case { formula, ..self.clone() }
    }

    /// Whether the formula holds or is violated in all runs of any model, as far as entail detects this without a search.
    fn decision(&self, entail: &Entail) -> Result<Option<bool>> {
        for (formula, decision) in
            [(self.formula.clone(), true), (Formula::Unary("!", Box::new(self.formula.clone())), false)]
        {
            let folder = tempfile::tempdir()?;
            let file = folder.path().join("model.pml");
            std::fs::write(&file, self.with(formula).text(Runs::All))?;
            let report = entail.property(&file, &["--property", "p"])?;
            if report["verdict"] == "holds" && report["states"].is_null() {
                return Ok(Some(decision));
            }
        }
        Ok(None)
    }

    fn ask_as_written(&self, runs: Runs, entail: &Entail) -> Result<Both> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("model.pml");
        let text = self.text(runs);
        // SPIN's fair search waits for processes that are disabled by a `provided` clause or a priority.
        if runs == Runs::Fair && (text.contains("provided") || text.contains("priority")) {
            return Ok(Both::Unknown("fairness with `provided` or priorities".into()));
        }
        std::fs::write(&file, &text)?;
        let asked = spin::broken(&text, runs.goal(), Limits::default())?;
        let lacks_answer = matches!(asked, Err(Unsure::Fault(_))) && self.formula.is_unguarded();
        let theirs = match asked {
            Err(Unsure::Fault(_)) if lacks_answer => Ok(true),
            // SPIN splits formulas at boolean operators too, and evaluates guarded propositions.
            Err(why @ Unsure::Fault(_)) if self.faulty.is_empty() => Err(Unsure::Other(why.to_string())),
            other => other,
        };
        let options = ["--property", "p", "--time", "20s", "--fair", runs.fairness()];
        let both = Both::of(theirs, || entail.property(&file, &options));
        // SPIN has its own order of evaluation. If other parts of the formula decide, propositions that fault
        // do not matter.
        if lacks_answer && matches!(both, Both::Different(_)) && self.holds_whatever_the_answer(runs)? {
            let holds = entail.property(&file, &options)?["verdict"] == "holds";
            return Ok(if holds { Both::Hold } else { both });
        }
        Ok(both)
    }

    /// SPIN's answer, if it is the same whether propositions that fault are true or false.
    fn holds_whatever_the_answer(&self, runs: Runs) -> Result<bool> {
        for answer in [false, true] {
            let answered = self.with(self.formula.answered(answer));
            if spin::broken(&answered.text(runs), runs.goal(), Limits::default())?.ok() != Some(false) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A smaller case with the same difference, in all runs or the fair ones.
    fn shrunk(mut self, entail: &Entail, runs: Runs, how: &Both) -> Case {
        let formula = self.formula.clone();
        let shows = |program: &Program, formula: &Formula| {
            let case = Case { program: program.clone(), formula: formula.clone(), faulty: self.faulty.clone() };
            case.ask(runs, entail).is_ok_and(|both| both == *how)
        };
        self.program = minimise(self.program, |program| shows(program, &formula));
        while let Some(smaller) = self.formula.smaller().into_iter().find(|formula| shows(&self.program, formula)) {
            self.formula = smaller;
        }
        self
    }
}

/// The answers of both tools.
#[derive(Debug, PartialEq)]
pub enum Both {
    Hold,
    Broken,
    /// A run ends in a fault, which decides nothing.
    Faulty,
    /// One of the tools has no answer.
    Unknown(String),
    Different(String),
}

impl Both {
    /// SPIN's answer, and entail's if needed.
    pub fn of(theirs: std::result::Result<bool, Unsure>, ours: impl FnOnce() -> Result<Value>) -> Both {
        if let Err(Unsure::Other(why)) = theirs {
            return Both::Unknown(why);
        }
        let ours = match ours() {
            Ok(ours) => ours,
            Err(problem) => return Both::Different(format!("entail: {problem}")),
        };
        let verdict = ours["verdict"].as_str().unwrap_or_default();
        let is_faulty = ours["reason"].as_str().is_some_and(|reason| reason.starts_with("a run ends in a fault"));
        match (theirs, verdict) {
            (Ok(true), "violated") => Both::Broken,
            (Ok(false), "holds") => Both::Hold,
            (Err(Unsure::Fault(_)), "inconclusive") if is_faulty => Both::Faulty,
            // SPIN stops at the first error of any kind.
            (Err(Unsure::Fault(fault)), "violated") => Both::Unknown(format!("first comes a fault: {fault}")),
            // A tautology needs no search. SPIN does not detect every tautology, and searches until it finds the
            // fault.
            (Err(Unsure::Fault(_)), "holds") if ours["states"].is_null() => {
                Both::Unknown("a tautology, which is decided before any fault".into())
            }
            (Ok(broken), _) => {
                let theirs = if broken { "violated" } else { "holds" };
                Both::Different(format!("SPIN: {theirs}, entail: {verdict}"))
            }
            (Err(why), _) => Both::Different(format!("SPIN: {why}, entail: {verdict}")),
        }
    }
}

/// Indexes an array of two elements by 1 to 3, at once or under a condition.
fn faulty_process(rng: &mut Rng, variables: &[String]) -> String {
    let index = 1 + rng.below(3);
    let awaited =
        if rng.chance(0.5) { format!("({} == {}); ", rng.pick(variables), rng.below(3)) } else { String::new() };
    format!("active proctype Faulty() {{ byte few[2]; byte at = {index}; {awaited}few[at] = 1 }}\n")
}

pub fn run(seeds: &[u64], jobs: usize, keep: &Path, binary: Option<&Path>) -> Result<Outcome> {
    let entail = Entail::find(binary)?;
    let results = pool::map(jobs, seeds, |&seed| {
        let case = Case::of(seed)?;
        Some(Runs::ALL.map(|runs| {
            let both = case.ask(runs, &entail).unwrap_or_else(|problem| Both::Unknown(problem.to_string()));
            if let Both::Different(how) = &both {
                let shrunk = case.clone().shrunk(&entail, runs, &both);
                report(
                    &format!("ltl-{seed}"),
                    &format!("// seed {seed}, {}: {how}\n{}", runs.name(), shrunk.text(runs)),
                    keep,
                );
            }
            both
        }))
    });
    let asked: Vec<_> = results.into_iter().flatten().collect();
    Ok(summary("formulas", &asked, seeds.len()))
}

/// Summarises the results.
pub fn summary(what: &str, asked: &[[Both; 2]], models: usize) -> Outcome {
    let mut different = 0;
    let mut reasons = BTreeMap::new();
    for (which, runs) in Runs::ALL.into_iter().enumerate() {
        let count = |wanted: fn(&Both) -> bool| asked.iter().filter(|both| wanted(&both[which])).count();
        let here = count(|both| matches!(both, Both::Different(_)));
        println!(
            "{}: {} hold, {} are violated, {} end in faults, {} not comparable, {here} different",
            runs.name(),
            count(|both| *both == Both::Hold),
            count(|both| *both == Both::Broken),
            count(|both| *both == Both::Faulty),
            count(|both| matches!(both, Both::Unknown(_))),
        );
        different += here;
        for both in asked {
            if let Both::Unknown(why) = &both[which] {
                *reasons.entry(why.as_str()).or_insert(0) += 1;
            }
        }
    }
    println!("{} {what} about {models} models; not comparable, as SPIN says: {reasons:?}", asked.len());
    if different == 0 { Outcome::Agreement } else { Outcome::Difference }
}

/// Prints a difference, and stores it under a name.
pub fn report(name: &str, text: &str, keep: &Path) {
    println!("{text}");
    let folder = root().join(keep);
    let kept = std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(folder.join(name).with_extension("pml"), text));
    if let Err(problem) = kept {
        eprintln!("xtask: {}: {problem}", folder.display());
    }
}

#[cfg(test)]
mod tests {
    use super::{Both, Formula, Unsure, without_array};
    use serde_json::json;

    fn both(states: serde_json::Value) -> Both {
        let theirs = Err(Unsure::Fault("invalid array index"));
        Both::of(theirs, || Ok(json!({ "verdict": "holds", "reason": null, "states": states })))
    }

    #[test]
    fn elements_are_known_beforehand() {
        let is = |text, answer, expected: &str| assert_eq!(without_array(text, answer), expected, "{text}");
        is("(x < 2)", true, "(x < 2)");
        is("(fa[x] == 1)", true, "(true)");
        is("(fa[x] == 1)", false, "(x >= 0 && x < 2)");
        is("(fa[x] == 0)", true, "(x < 0 || x > 1)");
        is("(fa[x] == 0)", false, "(false)");
        is("(x >= 0 && x < 2 && fa[x] == 1)", true, "(x >= 0 && x < 2)");
        is("(x < 0 || x > 1 || fa[x] == 0)", false, "(x < 0 || x > 1)");
        is("((x >= 0 && x < 2) -> (fa[x] == 0))", false, "(x < 0 || x > 1)");
        is("((x >= 0 && x < 2) -> (fa[x] == 1))", false, "(true)");
    }

    #[test]
    fn an_equivalence_with_itself_is_true() {
        let p = || Formula::Proposition("(x < 2)".into());
        let both = |left, right| Formula::Binary("<->", Box::new((left, right)));
        let always = |formula| Formula::Unary("[]", Box::new(formula));
        assert_eq!(always(both(p(), p())).simplified().to_string(), "[] ((true))");
        let other = both(p(), always(p()));
        assert_eq!(other.simplified(), other);
    }

    #[test]
    fn decided_parts_become_constants() {
        let p = |text: &str| Formula::Proposition(text.into());
        let release = |left, right| Formula::Binary("V", Box::new((left, right)));
        let tautology = Formula::Binary("W", Box::new((p("(x == 0)"), p("(x != 0)"))));
        let is_tautology = |part: &Formula| Ok((*part == tautology).then_some(true));
        let formula = release(tautology.clone(), p("(x == 0)"));
        assert_eq!(formula.decided(&is_tautology).unwrap(), release(p("(true)"), p("(x == 0)")));
        assert_eq!(formula.decided(&|_| Ok(None)).unwrap(), formula);
    }

    #[test]
    fn only_a_tautology_holds_where_runs_end_in_faults() {
        assert!(matches!(both(json!(null)), Both::Unknown(_)));
        assert!(matches!(both(json!(3)), Both::Different(_)));
    }
}
