//! Reuse of the slots of processes that have ended.
//!
//! A stored number of a process must denote the same process as long as some process may read it. A process that has
//! ended reads nothing.

use super::layout::load;
use super::{Interpreter, ProcessView, View};
use crate::{Frame, Meaning, ProcessTypeId, Scalar, System};
use entail_model::State;

/// The places of stored process numbers, as offsets in frames.
#[derive(Debug, Default)]
pub(super) struct References {
    globals: Vec<(usize, Scalar)>,
    /// Per process type.
    locals: Vec<Vec<(usize, Scalar)>>,
}

impl References {
    pub fn new(system: &System) -> References {
        if !system.reclaims {
            return References::default();
        }
        let locals = system.process_types.iter().map(|process| references(&process.frame)).collect();
        References { globals: references(&system.globals), locals }
    }
}

impl Interpreter<'_> {
    /// The slot of an ended process of this type whose number is stored nowhere.
    pub(super) fn reclaimed(&self, of: ProcessTypeId, state: &State, view: &View) -> Option<usize> {
        let first = if self.system.reclaims { self.system.start.len() } else { view.processes.len() };
        (first..view.processes.len()).find(|&number| {
            let process = &view.processes[number];
            process.process_type == of && self.has_ended(process) && !self.is_known(number, state, view)
        })
    }

    fn has_ended(&self, process: &ProcessView) -> bool {
        let locations = &self.system.process_type(process.process_type).locations;
        locations[process.location.index()].is_final()
    }

    fn is_known(&self, number: usize, state: &State, view: &View) -> bool {
        let is_it = |base: usize, (offset, scalar): &(usize, Scalar)| {
            load(state, base + offset, *scalar) == number as i32 + 1
        };
        let References { globals, locals } = &self.references;
        let mut living = view.processes.iter().filter(|process| !self.has_ended(process));
        globals.iter().any(|place| is_it(self.layout.globals, place))
            || living.any(|process| {
                locals[process.process_type.index()].iter().any(|place| is_it(process.locals, place))
            })
    }
}

fn references(frame: &Frame) -> Vec<(usize, Scalar)> {
    let mut found = Vec::new();
    for variable in &frame.variables {
        variable.shape.each_scalar(variable.offset, &mut |offset, scalar| {
            if scalar.meaning == Meaning::Thread {
                found.push((offset as usize, scalar));
            }
        });
    }
    found
}
