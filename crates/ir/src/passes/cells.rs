//! Cells: the scalars that a single process uses, and the live ones among them.

use super::owners::Owners;
use crate::footprint::Span;
use crate::{
    Action, Base, BlockNode, Child, Effect, Expr, Frame, Pattern, Place, ProcessTypeId, Receive, Scalar, Shape,
    System, Variable,
};

/// A type with more cells is not analysed.
const MOST_CELLS: usize = 1 << 12;

/// The cells of a process type: locals that no other process reads, and globals that no other process accesses.
pub(super) struct Cells {
    pub all: Vec<Cell>,
    /// For each byte of the frame, the cell that begins there.
    locals: Vec<Option<u32>>,
    globals: Vec<Option<u32>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub is_global: bool,
    pub offset: u32,
    pub scalar: Scalar,
}

impl Cell {
    pub fn place(self) -> Place {
        let base = if self.is_global { Base::Global } else { Base::Local };
        Place { base, offset: self.offset, indices: Vec::new(), scalar: self.scalar }
    }
}

/// A set of cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Set(Vec<u64>);

impl Set {
    pub fn add(&mut self, cell: u32) {
        self.0[cell as usize / 64] |= 1 << (cell % 64);
    }

    pub fn remove(&mut self, cell: u32) {
        self.0[cell as usize / 64] &= !(1 << (cell % 64));
    }

    pub fn contains(&self, cell: u32) -> bool {
        self.0[cell as usize / 64] >> (cell % 64) & 1 != 0
    }

    /// Returns whether the set has grown.
    pub fn join(&mut self, other: &Set) -> bool {
        let mut grown = false;
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            grown |= *more & !*word != 0;
            *word |= more;
        }
        grown
    }
}

impl Cells {
    pub fn of(system: &System, owners: &Owners, of: ProcessTypeId) -> Cells {
        let frame = &system.process_type(of).frame;
        let mut cells = Cells { all: Vec::new(), locals: Vec::new(), globals: Vec::new() };
        // Which slots of ended processes can be reused depends on the stored numbers of threads, even if no
        // expression reads them.
        let is_kept = |variable: &Variable| system.reclaims && variable.shape.keeps_threads();
        cells.locals = cells.frame(frame, false, |variable, span| !is_kept(variable) && owners.hides(of, span));
        cells.globals =
            cells.frame(&system.globals, true, |variable, span| !is_kept(variable) && owners.owns(of, span));
        if cells.all.len() > MOST_CELLS {
            cells = Cells { all: Vec::new(), locals: Vec::new(), globals: Vec::new() };
        }
        cells
    }

    fn frame(
        &mut self,
        frame: &Frame,
        is_global: bool,
        is_own: impl Fn(&Variable, Span) -> bool,
    ) -> Vec<Option<u32>> {
        let mut found = Vec::new();
        for variable in &frame.variables {
            let to = variable.offset + variable.shape.size();
            if is_own(variable, Span { from: variable.offset, to }) {
                numbers(&variable.shape, variable.offset, &mut found);
            }
        }
        let mut by_offset = vec![None; frame.size as usize];
        for (offset, scalar) in found {
            if let Some(at) = by_offset.get_mut(offset as usize) {
                *at = Some(self.all.len() as u32);
                self.all.push(Cell { is_global, offset, scalar });
            }
        }
        by_offset
    }

    pub fn none(&self) -> Set {
        Set(vec![0; self.all.len().div_ceil(64)])
    }

    pub fn every(&self) -> Set {
        let mut set = self.none();
        (0..self.all.len() as u32).for_each(|cell| set.add(cell));
        set
    }

    /// The cells that a place may denote, and whether it certainly denotes the only one.
    fn at(&self, place: &Place) -> (Vec<u32>, bool) {
        let by_offset = match &place.base {
            Base::Global => &self.globals,
            Base::Local => &self.locals,
            // Cells are not accessed from outside.
            Base::Remote(..) | Base::Nowhere => return (Vec::new(), false),
        };
        let (mut from, mut reach, mut is_certain) = (place.offset, 0, true);
        for index in &place.indices {
            match index.value.constant().and_then(|value| u32::try_from(value).ok()).filter(|n| *n < index.len) {
                Some(value) => from += value * index.stride,
                None => {
                    reach += index.len.saturating_sub(1) * index.stride;
                    is_certain = false;
                }
            }
        }
        let bytes = by_offset.iter().skip(from as usize).take(reach as usize + 1);
        (bytes.filter_map(|cell| *cell).collect(), is_certain)
    }

    /// Adds the cells that an expression reads.
    pub fn look(&self, expr: &Expr, set: &mut Set) {
        expr.each(&mut |part| {
            if let Expr::Load(place) = part {
                self.at(place).0.into_iter().for_each(|cell| set.add(cell));
            }
        });
    }

    fn look_for_index(&self, place: &Place, set: &mut Set) {
        place.indices.iter().for_each(|index| self.look(&index.value, set));
    }

    /// An assignment makes a cell dead before it.
    fn overwrite(&self, place: &Place, set: &mut Set) {
        if let (cells, true) = self.at(place) {
            cells.into_iter().for_each(|cell| set.remove(cell));
        }
        self.look_for_index(place, set);
    }

    /// Adds the cells that an action may write.
    pub fn change(&self, action: &Action, set: &mut Set) {
        action.each_store(&mut |place| self.at(place).0.into_iter().for_each(|cell| set.add(cell)));
    }

    /// Computes the cells that are live before an action from those that are live after it.
    pub fn before(&self, action: &Action, set: &mut Set) {
        if let Some(args) = action.printed() {
            // A search ignores printed text, but its evaluation may fault.
            return args.iter().filter(|arg| arg.may_fault()).for_each(|arg| self.look(arg, set));
        }
        match action.effect() {
            Effect::Nothing | Effect::Assign(..) | Effect::Send(_) | Effect::Run(..) | Effect::Other => {
                action.each_child(&mut |child| match child {
                    Child::Expr(_) => {}
                    Child::Store(place) => self.overwrite(place, set),
                    Child::Action(then) => self.before(then, set),
                });
                action.each_child(&mut |child| match child {
                    Child::Expr(expr) => self.look(expr, set),
                    Child::Store(_) | Child::Action(_) => {}
                });
            }
            Effect::Receive(receive) => self.before_receive(receive, set),
            Effect::Block(block) => {
                let behind = set.clone();
                let mut at: Vec<Set> = vec![self.none(); block.nodes.len()];
                loop {
                    let mut grown = false;
                    for (number, node) in block.nodes.iter().enumerate().rev() {
                        let next = |next: &Option<crate::NodeId>, at: &[Set]| {
                            next.and_then(|next| at.get(next.0 as usize)).unwrap_or(&behind).clone()
                        };
                        let before = match node {
                            BlockNode::Do { action, next: then, .. } => {
                                let mut set = next(then, &at);
                                self.before(action, &mut set);
                                set
                            }
                            BlockNode::Choose { alternatives, .. } => {
                                let mut set = self.none();
                                alternatives.iter().for_each(|node| {
                                    set.join(&at[node.0 as usize]);
                                });
                                set
                            }
                            BlockNode::Jump(then) => next(then, &at),
                        };
                        grown |= at[number].join(&before);
                    }
                    if !grown {
                        break;
                    }
                }
                *set = at.into_iter().next().unwrap_or(behind);
                for action in block.entry.actions() {
                    let mut first = self.none();
                    self.before(action, &mut first);
                    set.join(&first);
                }
            }
        }
    }

    fn before_receive(&self, receive: &Receive, set: &mut Set) {
        // The condition is evaluated after the message has been stored.
        receive.when.iter().for_each(|condition| self.look(condition, set));
        receive.fields.iter().filter_map(Pattern::stored).for_each(|place| self.overwrite(place, set));
        // An index or an expected value may read a field that has just been stored.
        for field in &receive.fields {
            match field {
                Pattern::Store(place) => self.look_for_index(place, set),
                Pattern::Equal(expr) => self.look(expr, set),
                Pattern::Ignore => {}
            }
        }
        self.look(&receive.channel, set);
    }
}

/// The scalars of a shape, with their offsets.
fn numbers(shape: &Shape, offset: u32, found: &mut Vec<(u32, Scalar)>) {
    match shape {
        Shape::Scalar(scalar) => found.push((offset, *scalar)),
        Shape::Array { element, len } => {
            for index in 0..*len {
                if found.len() > MOST_CELLS {
                    return;
                }
                numbers(element, offset + index * element.size(), found);
            }
        }
        Shape::Record { fields, .. } => {
            fields.iter().for_each(|field| numbers(&field.shape, offset + field.offset, found));
        }
    }
}
