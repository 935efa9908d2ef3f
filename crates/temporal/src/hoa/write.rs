//! The printer.

use crate::automaton::Automaton;
use crate::cube::Cube;
use std::fmt::Write;

pub fn print(automaton: &Automaton, names: &[String], title: &str) -> String {
    let sets = automaton.sets;
    let name = match sets {
        0 => "all".to_owned(),
        1 => "Buchi".to_owned(),
        _ => format!("generalized-Buchi {sets}"),
    };
    let acceptance = match sets {
        0 => "t".to_owned(),
        _ => (0..sets).map(|set| format!("Inf({set})")).collect::<Vec<_>>().join("&"),
    };
    let propositions: String = names.iter().map(|name| format!(" {}", quoted(name))).collect();
    let mut text = format!(
        "HOA: v1\nname: {}\nStates: {}\nStart: 0\nAP: {}{propositions}\nacc-name: {name}\n\
         Acceptance: {sets} {acceptance}\nproperties: trans-labels explicit-labels trans-acc\n--BODY--\n",
        quoted(title),
        automaton.len(),
        names.len(),
    );
    for state in automaton.states() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "State: {}", state.0);
        for edge in automaton.leaving(state) {
            let marks: Vec<String> = edge.marks.iter().map(|set| set.to_string()).collect();
            let marks = if marks.is_empty() { String::new() } else { format!(" {{{}}}", marks.join(" ")) };
            let _ = writeln!(text, "[{}] {}{marks}", label(edge.label), edge.target.0);
        }
    }
    text.push_str("--END--\n");
    text
}

fn label(cube: Cube) -> String {
    let literals = cube.literals().map(|(proposition, positive)| {
        let sign = if positive { "" } else { "!" };
        format!("{sign}{}", proposition.0)
    });
    let literals: Vec<String> = literals.collect();
    if literals.is_empty() { "t".to_owned() } else { literals.join("&") }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
