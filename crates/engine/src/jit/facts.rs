//! Constants of a system: values that are the same in all states.

use crate::jit::reach::Reach;
use entail_ir::interpret::{Layout, ProcessVector};
use entail_ir::{Base, Frame, Init, Place, ProcessTypeId, Scalar, System};

/// Values that need not be read from a state.
pub(crate) struct Facts {
    globals: Constants,
    /// By process type.
    locals: Vec<Constants>,
    /// The processes that exist initially.
    first: Vec<Fixed>,
    /// No other process is ever started.
    closed: bool,
    /// By process type: the only process of that type.
    only: Vec<Option<usize>>,
}

/// A process with a constant offset in the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fixed {
    pub process_type: ProcessTypeId,
    pub start: u32,
}

impl Facts {
    pub fn new(system: &System, layout: &Layout, reach: &Reach) -> Self {
        let mut globals = Constants::new(&system.globals, true);
        let mut locals: Vec<_> =
            system.process_types.iter().map(|process| Constants::new(&process.frame, false)).collect();
        let mut started = vec![false; system.process_types.len()];
        for (process, locals) in system.process_types.iter().zip(&mut locals) {
            process.params.iter().for_each(|place| locals.change(place));
        }
        for (id, _, edge) in reach.edges(system) {
            let mut change = |place: &Place| match &place.base {
                Base::Global => globals.change(place),
                Base::Local => locals[id.index()].change(place),
                Base::Remote(_, of) => locals[of.index()].change(place),
                Base::Nowhere => {}
            };
            edge.action.each_store(&mut change);
            edge.forgets.iter().for_each(change);
            edge.action.each_run(&mut |run| started[run.process_type.index()] = true);
        }
        let mut start = layout.first_process;
        let first: Vec<_> = system
            .start
            .iter()
            .map(|process| {
                let here = start;
                start += layout.process_size(process.process_type);
                Fixed { process_type: process.process_type, start: here as u32 }
            })
            .collect();
        let only = started.iter().enumerate().map(|(id, started)| only(&first, id).filter(|_| !started)).collect();
        Facts { globals, locals, first, closed: !started.contains(&true), only }
    }

    /// Adds the values that are constant if all states have one process vector.
    pub fn within(self, vector: &ProcessVector) -> Facts {
        let processes = vector.types.iter().zip(&vector.starts);
        let first: Vec<_> = processes
            .map(|(&process_type, &start)| Fixed { process_type: ProcessTypeId(process_type as u16), start })
            .collect();
        let only = (0..self.only.len()).map(|id| only(&first, id)).collect();
        Facts { first, closed: true, only, ..self }
    }

    /// The constant value of a place, for a process of type `of`.
    pub fn known(&self, place: &Place, of: Option<ProcessTypeId>) -> Option<i32> {
        match (&place.base, of) {
            (Base::Global, _) => self.globals.known(place),
            (Base::Local, Some(of)) => self.locals[of.index()].known(place),
            (Base::Local | Base::Remote(..) | Base::Nowhere, _) => None,
        }
    }

    /// The number of the only process of a type that ever exists, and its offset.
    pub fn only(&self, of: ProcessTypeId) -> Option<(usize, u32)> {
        let process = self.only[of.index()]?;
        Some((process, self.first[process].start))
    }

    /// All processes that ever exist; `None` if some may be started later.
    pub fn fixed(&self) -> Option<&[Fixed]> {
        self.closed.then_some(&self.first)
    }
}

/// The number of the only process of a type.
fn only(processes: &[Fixed], process_type: usize) -> Option<usize> {
    let is_it = |process: &Fixed| process.process_type.index() == process_type;
    let first = processes.iter().position(is_it)?;
    (!processes[first + 1..].iter().any(is_it)).then_some(first)
}

/// The variables of a frame that no action changes.
struct Constants {
    /// For each byte of the frame: whether it may change.
    changing: Vec<bool>,
    first: Vec<(u32, Scalar, i32)>,
}

impl Constants {
    /// Only the channels of the first frame have constant numbers.
    fn new(frame: &Frame, global: bool) -> Self {
        let mut constants = Constants { changing: vec![false; frame.size as usize], first: Vec::new() };
        let mut channel = 0;
        for init in &frame.init {
            let (place, value) = match init {
                Init::Value(place, value) => (place, value.constant()),
                Init::Channel(place, _) => {
                    channel += 1;
                    (place, global.then_some(channel))
                }
            };
            let again = constants.first.iter().any(|first| overlap(*first, place));
            match value.filter(|_| place.indices.is_empty() && !again) {
                Some(value) if place.base != Base::Nowhere => {
                    constants.first.push((place.offset, place.scalar, place.scalar.truncate(value)));
                }
                Some(_) => {}
                None => constants.change(place),
            }
        }
        constants
    }

    /// Records that `place` may change.
    fn change(&mut self, place: &Place) {
        if place.base == Base::Nowhere {
            return;
        }
        let span: u32 = place.indices.iter().map(|index| index.stride * (index.len - 1)).sum();
        let end = place.offset + span + place.scalar.size();
        self.changing[place.offset as usize..end as usize].fill(true);
    }

    fn known(&self, place: &Place) -> Option<i32> {
        let bytes = place.offset as usize..(place.offset + place.scalar.size()) as usize;
        if !place.indices.is_empty() || self.changing[bytes].contains(&true) {
            return None;
        }
        let mut first = self.first.iter().filter(|first| overlap(**first, place));
        match (first.next(), first.next()) {
            (None, _) => Some(0),
            (Some(&(offset, scalar, value)), None) => {
                let same = offset == place.offset && scalar.bits == place.scalar.bits;
                (same && scalar.signed == place.scalar.signed).then_some(value)
            }
            (Some(_), Some(_)) => None,
        }
    }
}

fn overlap((offset, scalar, _): (u32, Scalar, i32), place: &Place) -> bool {
    offset < place.offset + place.scalar.size() && place.offset < offset + scalar.size()
}
