//! Evidence as a picture: runs as chains of states, with what is said of a state beside it.

use super::argument::{Argument, verb};
use std::fmt::Write as _;

/// A graph in the language of Graphviz.
pub fn graph(argument: &Argument) -> String {
    let mut drawing = Drawing { text: String::new(), states: 1, boxes: 0 };
    drawing.draw(argument, 0);
    let Drawing { text, states, .. } = drawing;
    let mut graph = String::from("digraph evidence {\n  node [shape=circle, label=\"\"];\n  s0 [style=filled];\n");
    for state in 1..states {
        // Writing to a string cannot fail.
        let _ = writeln!(graph, "  s{state};");
    }
    graph + &text + "}\n"
}

struct Drawing {
    text: String,
    states: usize,
    boxes: usize,
}

impl Drawing {
    /// Draws what is said of a state.
    fn draw(&mut self, argument: &Argument, state: usize) {
        let Argument { formula, holds, reason, run, parts, .. } = argument;
        let (number, colour) = (self.boxes, if *holds { "darkgreen" } else { "firebrick" });
        self.boxes += 1;
        let label = quoted(&format!("{formula} {}: {reason}", verb(*holds)));
        let _ = writeln!(self.text, "  b{number} [shape=box, color={colour}, label={label}];");
        let _ = writeln!(self.text, "  b{number} -> s{state} [style=dashed, arrowhead=none];");
        let mut states = vec![state];
        if let Some(run) = run {
            for (index, action) in (1..).zip(&run.actions) {
                let goes_back = run.cycle_start.filter(|_| index == run.actions.len());
                let next = goes_back.map_or(self.states, |begins| states[begins]);
                self.states += usize::from(goes_back.is_none());
                let _ = writeln!(self.text, "  s{} -> s{next} [label={}];", states[index - 1], quoted(action));
                states.push(next);
            }
        }
        for (after, part) in parts {
            self.draw(part, states.get(*after).copied().unwrap_or(state));
        }
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " "))
}
