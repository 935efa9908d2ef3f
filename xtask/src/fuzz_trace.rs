//! Compares entail and SPIN on random traces over random models.

use crate::entail::Entail;
use crate::fuzz_ltl::{self, Both};
use crate::{Outcome, Result, pool};
use entail_testkit::promela::ast::{Init, Type, Unit};
use entail_testkit::promela::{Compare, Feature, Program, generate, minimise};
use entail_testkit::rng::Rng;
use entail_testkit::spin::{self, Events, Limits};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// A `trace` or `notrace` before it is printed.
#[derive(Clone, Debug, PartialEq)]
struct Trace {
    negated: bool,
    body: Vec<Item>,
}

#[derive(Clone, Debug, PartialEq)]
enum Item {
    Event(String),
    /// `if` or `do`.
    Choice(&'static str, Vec<Vec<Item>>),
    Labelled(String, Box<Item>),
    Jump(String),
}

/// A global channel, and the notation of its messages.
struct Channel {
    /// With an index, if it is an element of an array.
    name: String,
    fields: Vec<Field>,
    rendezvous: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Field {
    Number,
    /// Only `_` is possible.
    Other,
}

/// The channels and messages of a trace.
struct Subjects {
    channels: Vec<Channel>,
    variables: Vec<String>,
}

impl Subjects {
    fn of(program: &Program) -> Subjects {
        let channels = program.units.iter().flat_map(|unit| channels(unit, program)).collect();
        Subjects { channels, variables: program.numbers() }
    }
}

fn channels(unit: &Unit, program: &Program) -> Vec<Channel> {
    let Unit::Global(declared) = unit else { return Vec::new() };
    let Some(Init::Channel { capacity, fields }) = &declared.init else { return Vec::new() };
    let fields: Vec<_> = fields.iter().flat_map(|field| fields_of(field, program)).collect();
    let names = match declared.array {
        None => vec![declared.name.clone()],
        Some(count) => (0..count).map(|index| format!("{}[{index}]", declared.name)).collect(),
    };
    names.into_iter().map(|name| Channel { name, fields: fields.clone(), rendezvous: *capacity == 0 }).collect()
}

/// A record is sent as its fields.
fn fields_of(ty: &Type, program: &Program) -> Vec<Field> {
    match ty {
        Type::Bit | Type::Bool | Type::Byte | Type::Pid | Type::Short | Type::Int | Type::Unsigned(_) => {
            vec![Field::Number]
        }
        Type::Mtype(_) | Type::Chan => vec![Field::Other],
        Type::Record(wanted) => {
            let found = program.units.iter().find_map(|unit| match unit {
                Unit::Typedef { name, fields } if name == wanted => Some(fields),
                _ => None,
            });
            found.into_iter().flatten().flat_map(|field| fields_of(&field.ty, program)).collect()
        }
    }
}

/// Generates traces.
struct TraceGenerator<'a> {
    rng: Rng,
    subjects: &'a Subjects,
}

impl TraceGenerator<'_> {
    fn trace(&mut self) -> Trace {
        let negated = self.rng.chance(0.4);
        let mut body = if negated || self.rng.chance(0.4) { self.sequence(2) } else { self.permissive() };
        // Not inside choices, where a label on the first statement would have another meaning.
        for (number, item) in body.iter_mut().enumerate() {
            if self.rng.chance(0.2) {
                *item = Item::Labelled(format!("end{number}"), Box::new(item.clone()));
            }
        }
        let target = self.rng.below(body.len());
        body[target] = Item::Labelled("L".into(), Box::new(body[target].clone()));
        Trace { negated, body }
    }

    /// Allows every event on some channels, mostly without conditions on fields.
    fn permissive(&mut self) -> Vec<Item> {
        let mut branches = Vec::new();
        for channel in &self.subjects.channels {
            for direction in ["!", "?"] {
                if self.rng.chance(0.25) {
                    continue;
                }
                let specific = channel.fields.first() == Some(&Field::Number) && self.rng.chance(0.4);
                let firsts = if specific { vec!["0", "1", "2"] } else { vec!["_"] };
                for first in firsts {
                    let others = std::iter::repeat_n("_", channel.fields.len().saturating_sub(1));
                    let fields: Vec<_> = std::iter::once(first).chain(others).collect();
                    let mut branch = vec![Item::Event(format!("{}{direction}{}", channel.name, fields.join(",")))];
                    if self.rng.chance(0.15) {
                        branch.extend(self.sequence(1));
                    }
                    branches.push(branch);
                }
            }
        }
        if branches.is_empty() { self.sequence(2) } else { vec![Item::Choice("do", branches)] }
    }

    fn sequence(&mut self, depth: usize) -> Vec<Item> {
        (0..1 + self.rng.below(3)).map(|_| self.item(depth)).collect()
    }

    fn item(&mut self, depth: usize) -> Item {
        if depth == 0 || self.rng.chance(0.6) {
            return Item::Event(self.event());
        }
        let kind = if self.rng.chance(0.5) { "if" } else { "do" };
        let branches = (0..1 + self.rng.below(3)).map(|_| self.branch(kind, depth - 1)).collect();
        Item::Choice(kind, branches)
    }

    fn branch(&mut self, kind: &str, depth: usize) -> Vec<Item> {
        let mut branch = self.sequence(depth);
        if kind == "do" && self.rng.chance(0.4) {
            branch.push(Item::Jump("break".into()));
        } else if self.rng.chance(0.1) {
            branch.push(Item::Jump("goto L".into()));
        }
        if self.rng.chance(0.1) {
            branch.remove(0);
        }
        if branch.is_empty() { vec![Item::Event(self.event())] } else { branch }
    }

    fn event(&mut self) -> String {
        let channel = self.rng.pick(&self.subjects.channels);
        let direction = *self.rng.pick(&["!", "?"]);
        let fields: Vec<_> = channel.fields.iter().map(|field| self.pattern(*field, direction)).collect();
        format!("{}{direction}{}", channel.name, fields.join(","))
    }

    fn pattern(&mut self, field: Field, direction: &str) -> String {
        let variables = &self.subjects.variables;
        match self.rng.below(10) {
            0..=3 if field == Field::Number => self.rng.below(3).to_string(),
            4 | 5 if direction == "?" && !variables.is_empty() => format!("eval({})", self.rng.pick(variables)),
            6 if direction == "!" && !variables.is_empty() => self.rng.pick(variables).clone(),
            _ => "_".into(),
        }
    }
}

impl Trace {
    /// Smaller traces that may show the same difference.
    fn smaller(&self) -> Vec<Trace> {
        smaller(&self.body).into_iter().map(|body| Trace { body, ..*self }).collect()
    }

    fn keyword(&self) -> &'static str {
        if self.negated { "notrace" } else { "trace" }
    }
}

fn smaller(items: &[Item]) -> Vec<Vec<Item>> {
    let mut all = Vec::new();
    for index in 0..items.len() {
        let replaced = |by: Vec<Item>| [&items[..index], &by, &items[index + 1..]].concat();
        if items.len() > 1 {
            all.push(replaced(Vec::new()));
        }
        match &items[index] {
            Item::Event(_) | Item::Jump(_) => {}
            Item::Labelled(_, inner) => all.push(replaced(vec![(**inner).clone()])),
            Item::Choice(kind, branches) => {
                all.extend(branches.iter().map(|branch| replaced(branch.clone())));
                for which in 0..branches.len() {
                    let rebuilt = |by: &[Vec<Item>]| {
                        let branches = [&branches[..which], by, &branches[which + 1..]].concat();
                        replaced(vec![Item::Choice(kind, branches)])
                    };
                    if branches.len() > 1 {
                        all.push(rebuilt(&[]));
                    }
                    all.extend(smaller(&branches[which]).into_iter().map(|branch| rebuilt(&[branch])));
                }
            }
        }
    }
    all
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {{ {} }}", self.keyword(), Sequence(&self.body))
    }
}

struct Sequence<'a>(&'a [Item]);

impl fmt::Display for Sequence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, item) in self.0.iter().enumerate() {
            f.write_str(if index > 0 { "; " } else { "" })?;
            item.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Item::Event(text) | Item::Jump(text) => f.write_str(text),
            Item::Labelled(label, inner) => write!(f, "{label}: {inner}"),
            Item::Choice(kind, branches) => {
                f.write_str(kind)?;
                branches.iter().try_for_each(|branch| write!(f, " :: {}", Sequence(branch)))?;
                f.write_str(if *kind == "if" { " fi" } else { " od" })
            }
        }
    }
}

/// A model and its trace.
#[derive(Clone)]
struct Case {
    program: Program,
    trace: Trace,
    /// SPIN also observes messages that are offered in a rendezvous without a receiver.
    offers: bool,
}

impl Case {
    /// `None` if the model has an intentional defect, or no channels.
    fn of(seed: u64) -> Option<Case> {
        let mut program = generate(seed);
        program.units.retain(|unit| !matches!(unit, Unit::Always { .. }));
        let subjects = Subjects::of(&program);
        let wild = program.features.contains(Feature::OutOfBounds);
        if program.flaw.is_some() || subjects.channels.is_empty() || wild {
            return None;
        }
        let trace = TraceGenerator { rng: Rng::new(seed), subjects: &subjects }.trace();
        let text = trace.to_string();
        let may_be_watched = |channel: &Channel| {
            program.features.contains(Feature::ChannelAssignment) || text.contains(&format!("{}!", channel.name))
        };
        let offers = subjects.channels.iter().any(|channel| channel.rendezvous && may_be_watched(channel));
        Some(Case { program, trace, offers })
    }

    /// The trace is last: SPIN takes process 0 for a trace that comes first.
    fn text(&self) -> String {
        format!("{}\n{}\n", self.program, self.trace)
    }

    fn ask(&self, entail: &Entail) -> Result<Both> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("model.pml");
        let text = self.text();
        std::fs::write(&file, &text)?;
        let options = ["--property", self.trace.keyword(), "--time", "20s", "--no-opt", "--all-errors"];
        let (theirs, ours) = match (spin::events(&text, Limits::default())?, entail.property(&file, &options)) {
            (Err(why), _) => return Ok(Both::Unknown(why)),
            (Ok(_), Err(problem)) => return Ok(Both::Different(format!("entail: {problem}"))),
            (Ok(_), Ok(ours)) if ours["verdict"] == "inconclusive" => {
                return Ok(Both::Unknown("entail needs more time".into()));
            }
            (Ok(theirs), Ok(ours)) => (theirs, ours),
        };
        let count = |value: &serde_json::Value| value.as_u64().unwrap_or(u64::MAX);
        let ours = Ours {
            violated: ours["verdict"] == "violated",
            stored: count(&ours["states"]["stored"]),
            transitions: count(&ours["states"]["transitions"]),
            errors: count(&ours["errors"]),
        };
        Ok(self.compare(&theirs, &ours))
    }

    fn compare(&self, theirs: &Events, ours: &Ours) -> Both {
        // A `notrace` may end early.
        let incomplete = if self.trace.negated { 0 } else { theirs.incomplete };
        let objection = theirs.broken || theirs.ambiguous;
        let violated = objection || incomplete > 0;
        let errors = theirs.counts.errors + incomplete;
        let exact = self.program.compare == Compare::Everything && !theirs.ambiguous;
        let same_verdict = violated == ours.violated || (self.offers && objection);
        let same_size =
            !exact || (theirs.counts.stored, theirs.counts.transitions) == (ours.stored, ours.transitions);
        // entail counts a wrong offer once for each process that accepts it.
        let same_errors = !exact || theirs.mixed || self.offers || errors == ours.errors;
        if !(same_verdict && same_size && same_errors) {
            return Both::Different(format!("SPIN: {theirs:?}, entail: {ours:?}"));
        }
        match (violated, ours.violated) {
            (false, _) => Both::Hold,
            (true, true) => Both::Broken,
            (true, false) => Both::Unknown("a message without a receiver".into()),
        }
    }

    /// A smaller case with different answers.
    fn shrunk(mut self, entail: &Entail) -> Case {
        let differs = |case: &Case| case.ask(entail).is_ok_and(|both| matches!(both, Both::Different(_)));
        let of = |program: &Program, case: &Case| Case { program: program.clone(), ..case.clone() };
        let original = self.clone();
        self.program = minimise(self.program, |program| differs(&of(program, &original)));
        let smaller = |case: &Case| {
            let traces = case.trace.smaller().into_iter().map(|trace| Case { trace, ..case.clone() });
            traces.into_iter().find(|case| differs(case))
        };
        while let Some(case) = smaller(&self) {
            self = case;
        }
        self
    }
}

/// The answer of entail.
#[derive(Debug)]
struct Ours {
    violated: bool,
    stored: u64,
    transitions: u64,
    errors: u64,
}

pub fn run(seeds: &[u64], jobs: usize, keep: &Path, binary: Option<&Path>) -> Result<Outcome> {
    let entail = Entail::find(binary)?;
    let results = pool::map(jobs, seeds, |&seed| {
        let case = Case::of(seed)?;
        let both = case.ask(&entail).unwrap_or_else(|problem| Both::Unknown(problem.to_string()));
        if let Both::Different(how) = &both {
            let text = format!("// seed {seed}: {how}\n{}", case.clone().shrunk(&entail).text());
            fuzz_ltl::report(&format!("trace-{seed}"), &text, keep);
        }
        Some(both)
    });
    let asked: Vec<_> = results.into_iter().flatten().collect();
    let mut reasons = BTreeMap::new();
    for both in &asked {
        if let Both::Unknown(why) = both {
            *reasons.entry(why.as_str()).or_insert(0) += 1;
        }
    }
    let count = |wanted: fn(&Both) -> bool| asked.iter().filter(|both| wanted(both)).count();
    let different = count(|both| matches!(both, Both::Different(_)));
    println!(
        "{} traces of {} models: {} hold, {} are violated, {} not comparable, {different} different",
        asked.len(),
        seeds.len(),
        count(|both| *both == Both::Hold),
        count(|both| *both == Both::Broken),
        count(|both| matches!(both, Both::Unknown(_))),
    );
    println!("not comparable: {reasons:?}");
    Ok(if different == 0 { Outcome::Agreement } else { Outcome::Difference })
}
