//! Automata in the language of Graphviz.

use crate::automaton::{Automaton, Marks};
use crate::never::cube;
use std::fmt::Write;

pub fn print(automaton: &Automaton, names: &[String], title: &str) -> String {
    let mut text = format!(
        "digraph automaton {{\n  label=\"{}\";\n  rankdir=LR;\n  node [shape=circle];\n  start [shape=point];\n  start -> 0;\n",
        escaped(title)
    );
    for state in automaton.states() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {};", state.0);
        for edge in automaton.leaving(state) {
            let sets = sets(edge.marks);
            let label = escaped(&cube(edge.label, names, " && "));
            let _ = writeln!(text, "  {} -> {} [label=\"{label}{sets}\"];", state.0, edge.target.0);
        }
    }
    text.push_str("}\n");
    text
}

fn sets(marks: Marks) -> String {
    let sets: Vec<String> = marks.iter().map(|set| set.to_string()).collect();
    if sets.is_empty() { String::new() } else { format!("\\n{{{}}}", sets.join(", ")) }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ")
}
