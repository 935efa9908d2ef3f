//! Büchi automata as SPIN's never claims.

use crate::automaton::{Edge, State};
use crate::buchi::Buchi;
use crate::cube::Cube;
use crate::print::is_simple;
use std::fmt::Write;

/// A claim for the words that the automaton accepts. `title` becomes a comment.
pub fn print(buchi: &Buchi, names: &[String], title: &str) -> String {
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ").replace("/*", "/ *").replace("*/", "* /");
    let mut text = format!("never {{ /* {title} */\n");
    let (last, others): (Vec<State>, Vec<State>) =
        buchi.automaton().states().partition(|&state| label(buchi, state) == ACCEPT_ALL);
    for state in others {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}:\n\tdo", label(buchi, state));
        let leaving = buchi.automaton().leaving(state);
        let mut targets: Vec<State> = leaving.iter().map(|edge| edge.target).collect();
        targets.sort_unstable();
        targets.dedup();
        for target in targets {
            let guard = guard(leaving.iter().filter(|edge| edge.target == target), names);
            let _ = writeln!(text, "\t:: {guard} -> goto {}", label(buchi, target));
        }
        if leaving.is_empty() {
            let _ = writeln!(text, "\t:: false -> goto {}", label(buchi, state));
        }
        text.push_str("\tod;\n");
    }
    if !last.is_empty() {
        let _ = writeln!(text, "{ACCEPT_ALL}:\n\tskip");
    }
    text.push_str("}\n");
    text
}

const ACCEPT_ALL: &str = "accept_all";

fn label(buchi: &Buchi, state: State) -> String {
    match (state, buchi.is_accepting(state)) {
        (State::INITIAL, false) => "T0_init".to_owned(),
        (State::INITIAL, true) => "accept_init".to_owned(),
        (_, true) if buchi.accepts_all(state) => ACCEPT_ALL.to_owned(),
        (State(number), true) => format!("accept_S{number}"),
        (State(number), false) => format!("T0_S{number}"),
    }
}

fn guard<'a>(edges: impl Iterator<Item = &'a Edge>, names: &[String]) -> String {
    let cubes: Vec<String> = edges.map(|edge| format!("({})", cube(edge.label, names, " && "))).collect();
    match &cubes[..] {
        [single] => single.clone(),
        several => format!("({})", several.join(" || ")),
    }
}

/// A cube as an expression.
pub fn cube(cube: Cube, names: &[String], and: &str) -> String {
    let literals = cube.literals().map(|(proposition, positive)| {
        let name = names.get(usize::from(proposition.0)).map_or("?", String::as_str);
        let sign = if positive { "" } else { "!" };
        if is_simple(name) { format!("{sign}{name}") } else { format!("{sign}({name})") }
    });
    let literals: Vec<String> = literals.collect();
    if literals.is_empty() { "1".to_owned() } else { literals.join(and) }
}
