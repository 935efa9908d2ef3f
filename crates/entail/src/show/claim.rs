//! The automaton of the runs that a property forbids.

use crate::args::{ShowArgs, ShowFormat};
use crate::console::Failure;
use crate::picture::{self, Part, Picture, Shape, Stroke, Tone};
use entail_check::forbidden;
use entail_front::{Asked, Language, Meaning, ModelSource, Property, PropertyKind, Specification};
use entail_temporal::never::cube;
use entail_temporal::{Claim, automaton};
use serde::Serialize;
use std::fmt::{self, Write};

#[derive(Serialize)]
struct Automaton<'m> {
    property: &'m str,
    kind: &'static str,
    /// The number of acceptance sets. A run is forbidden if it takes edges of each set infinitely often, or reaches an
    /// end of the automaton.
    sets: u32,
    states: Vec<State>,
}

#[derive(Serialize)]
struct State {
    state: u32,
    name: String,
    end: bool,
    edges: Vec<Edge>,
}

#[derive(Serialize)]
struct Edge {
    target: u32,
    when: String,
    sets: Vec<u32>,
}

pub fn show(model: &ModelSource, asked: &[Asked], args: &ShowArgs) -> Result<String, Failure> {
    let (property, meaning) = chosen(model, args.property.as_deref(), asked).map_err(Failure::new)?;
    let claim = forbidden(&meaning.says, Default::default())
        .map_err(|limit| Failure::new(format!("the formula is too large: {limit}")))?;
    let (claim, _) = claim.ok_or_else(|| Failure::new(no_automaton(property)))?;
    let automaton = automaton(model, property, meaning, &claim);
    match args.format {
        ShowFormat::Text => Ok(text(&automaton)),
        ShowFormat::Json => Ok(serde_json::to_string_pretty(&automaton).expect("strings and numbers only") + "\n"),
        ShowFormat::Dot => Ok(picture::dot(&picture(&automaton))),
        ShowFormat::Svg => picture::svg(&picture(&automaton), args.layout).map_err(Failure::new),
    }
}

/// The requested property, or the only one.
fn chosen<'m>(
    model: &'m ModelSource,
    named: Option<&str>,
    asked: &[Asked],
) -> Result<(&'m Property, &'m Meaning), String> {
    let names: Vec<String> = named.map(str::to_owned).into_iter().chain(asked.iter().map(Asked::name)).collect();
    let known = || model.properties.iter().filter_map(|one| Some((one, one.meaning.as_ref()?)));
    let with_automaton = || known().filter(|(_, meaning)| has_automaton(&meaning.says));
    let list = || {
        let names: Vec<&str> = with_automaton().map(|(property, _)| property.name.as_str()).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    match &names[..] {
        [] => {
            let all: Vec<_> = with_automaton().filter(|(property, _)| property.by_default).collect();
            let never = all.iter().find(|(property, _)| property.kind == PropertyKind::Never);
            match (never, &all[..]) {
                (Some(one), _) | (None, [one]) => Ok(*one),
                (None, []) => {
                    let advice = if model.language == Language::Promela { "; add `--ltl`" } else { "" };
                    Err(format!("no property of the model has an automaton{advice}"))
                }
                (None, _) => {
                    Err(format!("the model has several properties: {}; choose one with `--property`", list()))
                }
            }
        }
        [name] => {
            let found = known().find(|(property, _)| property.name == *name);
            let unknown = || format!("the model has no property `{name}` with an automaton; it has: {}", list());
            let (property, meaning) = found.ok_or_else(unknown)?;
            if has_automaton(&meaning.says) { Ok((property, meaning)) } else { Err(no_automaton(property)) }
        }
        _ => Err("there are several properties, but `show claim` shows one".to_owned()),
    }
}

fn has_automaton(says: &Specification) -> bool {
    match says {
        Specification::Ltl(..) | Specification::Never(..) => true,
        Specification::Ctl(_) | Specification::Monitor(_) => false,
    }
}

fn no_automaton(property: &Property) -> String {
    format!("`{}` is not a linear-time property of states: it has no automaton", property.name)
}

fn automaton<'m>(model: &ModelSource, property: &'m Property, meaning: &Meaning, claim: &Claim) -> Automaton<'m> {
    let propositions = meaning.propositions.iter();
    let names: Vec<String> = propositions.map(|(_, place)| model.system.statement(*place).text.clone()).collect();
    let edge = |edge: &automaton::Edge| Edge {
        target: edge.target.0,
        when: cube(edge.label, &names, " && "),
        sets: edge.marks.iter().collect(),
    };
    let state = |state: automaton::State| State {
        state: state.0,
        name: claim.name(state),
        end: claim.end(state).is_some(),
        edges: claim.automaton.leaving(state).iter().map(edge).collect(),
    };
    let states = claim.automaton.states().map(state).collect();
    Automaton { property: &property.name, kind: property.kind.name(), sets: claim.automaton.sets, states }
}

fn text(automaton: &Automaton) -> String {
    let mut text = String::new();
    write_text(&mut text, automaton).expect("writing to a string cannot fail");
    text
}

fn write_text(out: &mut String, automaton: &Automaton) -> fmt::Result {
    writeln!(out, "runs that violate `{}` ({})", automaton.property, automaton.rule())?;
    for state in &automaton.states {
        if state.end {
            writeln!(out, "  {} is an end", state.name)?;
        }
        for edge in &state.edges {
            let marks = automaton.marks(edge).map_or(String::new(), |marks| format!("  [{marks}]"));
            let target = &automaton.states[edge.target as usize].name;
            writeln!(out, "  {} -> {target}  when {}{marks}", state.name, edge.when)?;
        }
    }
    Ok(())
}

fn picture(automaton: &Automaton) -> Picture {
    let title = format!("runs that violate {}", automaton.property);
    let mut part = Part { title, ..Part::default() };
    for State { state, name, end, .. } in &automaton.states {
        let name = name.strip_prefix("state ").unwrap_or(name);
        let (shape, tone) = if *end { (Shape::DoubleRound, Tone::Bad) } else { (Shape::Round, Tone::Plain) };
        part.node(format!("c{state}"), name, shape, tone);
    }
    let start = part.node("start".to_owned(), "", Shape::Point, Tone::Plain);
    part.edge(start, automaton::State::INITIAL.index(), "", Stroke::Plain);
    for State { state, edges, .. } in &automaton.states {
        for edge in edges {
            let marks = automaton.marks(edge);
            let stroke = if marks.is_some() { Stroke::Bold } else { Stroke::Plain };
            let marks = marks.map_or(String::new(), |marks| format!("  [{marks}]"));
            part.edge(*state as usize, edge.target as usize, format!("{}{marks}", edge.when), stroke);
        }
    }
    Picture { name: "claim", parts: vec![part] }
}

impl Automaton<'_> {
    fn rule(&self) -> &'static str {
        let has_end = self.states.iter().any(|state| state.end);
        match (self.sets, has_end) {
            (0, _) => "all runs that it can follow",
            (1, false) => "those that take accepting edges infinitely often",
            (1, true) => "those that take accepting edges infinitely often, or reach an end",
            (_, false) => "those that take edges of all sets infinitely often",
            (_, true) => "those that take edges of all sets infinitely often, or reach an end",
        }
    }

    /// The acceptance marks of an edge, as text.
    fn marks(&self, edge: &Edge) -> Option<String> {
        let sets: Vec<String> = edge.sets.iter().map(u32::to_string).collect();
        match (&sets[..], self.sets) {
            ([], _) => None,
            (_, 1) => Some("accepting".to_owned()),
            (sets, _) => Some(format!("sets {}", sets.join(", "))),
        }
    }
}
