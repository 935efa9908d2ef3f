//! Witnesses as graphs: runs as chains of states, with explanations beside them.

use super::argument::{Argument, verb};
use crate::output::EVIDENCE;
use crate::picture::{self, Part, Picture, Shape, Stroke, Tone};

/// The witness as a graph for Graphviz.
pub fn graph(argument: &Argument) -> String {
    let mut drawing = Drawing { part: Part::default(), states: 0, boxes: 0 };
    let first = drawing.state(Tone::First);
    drawing.draw(argument, first);
    picture::dot(&Picture { name: EVIDENCE, parts: vec![drawing.part] })
}

struct Drawing {
    part: Part,
    states: usize,
    boxes: usize,
}

impl Drawing {
    fn state(&mut self, tone: Tone) -> usize {
        self.states += 1;
        self.part.node(format!("s{}", self.states - 1), "", Shape::Round, tone)
    }

    /// Draws the explanation of a state.
    fn draw(&mut self, argument: &Argument, state: usize) {
        let Argument { formula, holds, reason, run, parts, .. } = argument;
        let tone = if *holds { Tone::Good } else { Tone::Bad };
        let label = format!("{formula} {}: {reason}", verb(*holds));
        let remark = self.part.node(format!("b{}", self.boxes), &label, Shape::Box, tone);
        self.boxes += 1;
        self.part.edge(remark, state, "", Stroke::Aside);
        let mut states = vec![state];
        if let Some(run) = run {
            for (index, action) in (1..).zip(&run.actions) {
                let goes_back = run.cycle_start.filter(|_| index == run.actions.len());
                let next = goes_back.map_or_else(|| self.state(Tone::Plain), |begins| states[begins]);
                self.part.edge(states[index - 1], next, action, Stroke::Plain);
                states.push(next);
            }
        }
        for (after, part) in parts {
            self.draw(part, states.get(*after).copied().unwrap_or(state));
        }
    }
}
