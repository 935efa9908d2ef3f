//! Value analysis: ranges of variables and messages.
//!
//! A variable has one range for its whole life and, if it is an array, for all elements; a field of a channel type
//! has one for all channels of the type. They are the least fixed point of the initial values and all assignments;
//! where this would take too long, they are larger. States are packed by them, so that they hold in every state,
//! including transient ones.

mod facts;

use facts::Facts;

use crate::{
    Action, Base, BinaryOp, ChannelTypeId, Effect, Expr, Frame, Init, Place, ProcessTypeId, Range, Receive, Run,
    Scalar, Send, Shape, System, UnaryOp,
};

/// The ranges of a system.
#[derive(Clone, Debug)]
pub struct Ranges {
    globals: Cells,
    /// Per process type.
    locals: Vec<Cells>,
    /// Per channel type and field; `None` where nothing is sent.
    messages: Vec<Vec<Known>>,
    /// The types of the initial channels; number `n` is at `n - 1`.
    channels: Vec<ChannelTypeId>,
    changed: bool,
    round: u32,
}

/// A range; `None` as long as there is no value.
type Known = Option<Range>;

/// The ranges of one frame. A cell is a scalar, or the same scalar in all elements of an array.
#[derive(Clone, Debug, Default)]
struct Cells {
    /// For every byte of the frame, the cell of the number that begins there.
    of: Vec<u32>,
    ranges: Vec<Known>,
    /// For each cell, all values that its variable can hold.
    widest: Vec<Range>,
}

/// After so many rounds, ranges are widened.
const PATIENCE: u32 = 8;
/// After so many visits of edges, all ranges become those of the types.
const MOST_WORK: u64 = 1 << 20;

impl Ranges {
    pub fn new(system: &System) -> Ranges {
        let channel = |init: &Init| match init {
            Init::Channel(_, channel_type) => Some(*channel_type),
            Init::Value(..) => None,
        };
        let mut ranges = Ranges {
            globals: Cells::new(&system.globals),
            locals: system.process_types.iter().map(|process| Cells::new(&process.frame)).collect(),
            messages: system.channel_types.iter().map(|channel| vec![None; channel.fields.len()]).collect(),
            channels: system.globals.init.iter().filter_map(channel).collect(),
            changed: true,
            round: 0,
        };
        while ranges.changed {
            ranges.changed = false;
            Analysis { system, ranges: &mut ranges }.all();
            ranges.round += 1;
            if u64::from(ranges.round) * system.edges.len() as u64 > MOST_WORK {
                ranges.give_up(system);
            }
        }
        ranges
    }

    /// Ranges that follow from the types alone.
    fn give_up(&mut self, system: &System) {
        for cells in self.locals.iter_mut().chain([&mut self.globals]) {
            cells.ranges = cells.widest.iter().copied().map(Some).collect();
        }
        for (messages, channel) in self.messages.iter_mut().zip(&system.channel_types) {
            *messages = channel.fields.iter().map(|scalar| Some(scalar.representable())).collect();
        }
        self.changed = false;
    }

    /// The values that a place can have where a process of type `process` refers to it.
    pub fn of(&self, place: &Place, process: Option<ProcessTypeId>) -> Range {
        self.load(place, process).unwrap_or(Range { low: 0, high: 0 })
    }

    /// The values of the global scalar at this offset.
    pub fn global(&self, offset: u32) -> Range {
        self.globals.get(offset).unwrap_or(Range { low: 0, high: 0 })
    }

    /// The values of a local scalar of a process type.
    pub fn local(&self, process: ProcessTypeId, offset: u32) -> Range {
        self.locals[process.index()].get(offset).unwrap_or(Range { low: 0, high: 0 })
    }

    /// The values of a field in the messages of a channel type; free slots are 0.
    pub fn field(&self, channel: ChannelTypeId, field: usize) -> Range {
        join(self.messages[channel.index()][field], Some(ZERO)).unwrap_or(ZERO)
    }

    fn load(&self, place: &Place, process: Option<ProcessTypeId>) -> Known {
        match &place.base {
            Base::Global => self.globals.get(place.offset),
            Base::Local => self.locals[process?.index()].get(place.offset),
            // A process that is not there reads as 0.
            Base::Remote(_, of) => join(self.locals[of.index()].get(place.offset), Some(ZERO)),
            Base::Nowhere => Some(ZERO),
        }
    }

    /// The values that an expression can have where a process of type `process` evaluates it.
    pub fn of_expr(&self, expr: &Expr, process: Option<ProcessTypeId>) -> Range {
        self.eval(expr, process, &Facts::default()).unwrap_or(ZERO)
    }

    /// The values an expression can have; `None` if it cannot be evaluated yet.
    fn eval(&self, expr: &Expr, process: Option<ProcessTypeId>, facts: &Facts) -> Known {
        let eval = |expr: &Expr| self.eval(expr, process, facts);
        match expr {
            Expr::Const(value) => Some(Range { low: *value, high: *value }),
            Expr::Load(place) => {
                let values = self.load(place, process)?;
                facts.of(place).map_or(Some(values), |known| meet(values, known))
            }
            Expr::Unary(op, operand) => Some(unary(*op, eval(operand)?)),
            Expr::Binary(op, operands) => Some(binary(*op, eval(&operands.0)?, eval(&operands.1)?)),
            Expr::Conditional(parts) => join(eval(&parts.1), eval(&parts.2)),
            Expr::Length(_) => Some(Range { low: 0, high: i32::from(u16::MAX) }),
            Expr::LocationOf(_) => Some(Range { low: 0, high: i32::from(u16::MAX) }),
            Expr::Channel(..)
            | Expr::Poll(_)
            | Expr::Timeout
            | Expr::Enabled(_)
            | Expr::At(..)
            | Expr::NonProgress
            | Expr::Accepting => Some(TRUTH),
            Expr::Myself | Expr::ProcessCount | Expr::Last | Expr::Started | Expr::PriorityOf(_) => Some(BYTE),
            Expr::Find(_) => Some(Range { low: -1, high: 255 }),
            Expr::Fault(_) => None,
        }
    }

    fn grow(&mut self, cell: Cell, values: Known, scalar: Scalar) {
        let round = self.round;
        let known = match cell {
            Cell::Global(offset) => self.globals.get_mut(offset),
            Cell::Local(process, offset) => self.locals[process.index()].get_mut(offset),
            Cell::Field(channel, field) => &mut self.messages[channel.index()][field],
        };
        let grown = join(*known, values.and_then(|values| stored(values, scalar)));
        if grown != *known {
            *known = if round > PATIENCE { grown.map(|grown| leap(grown, scalar)) } else { grown };
            self.changed = true;
        }
    }
}

/// A scalar that has a range.
#[derive(Clone, Copy)]
enum Cell {
    Global(u32),
    Local(ProcessTypeId, u32),
    Field(ChannelTypeId, usize),
}

impl Cells {
    fn new(frame: &Frame) -> Cells {
        let mut cells = Cells { of: vec![0; frame.size as usize], ranges: Vec::new(), widest: Vec::new() };
        for variable in &frame.variables {
            let mut next = cells.ranges.len() as u32;
            cells.place(&variable.shape, variable.offset, &mut next);
            cells.ranges.resize(next as usize, None);
        }
        // Bytes outside of all variables share a cell.
        cells.ranges.push(None);
        cells.widest.resize(cells.ranges.len(), Range::ANY);
        cells
    }

    /// Assigns the cells from `next` on to the scalars of a shape.
    fn place(&mut self, shape: &Shape, offset: u32, next: &mut u32) {
        match shape {
            Shape::Scalar(scalar) => {
                self.of[offset as usize] = *next;
                if self.widest.len() == *next as usize {
                    self.widest.push(scalar.representable());
                }
                *next += 1;
            }
            Shape::Array { element, len } => {
                let first = *next;
                for i in 0..*len {
                    *next = first;
                    self.place(element, offset + i * element.size(), next);
                }
            }
            Shape::Record { fields, .. } => {
                for field in fields {
                    self.place(&field.shape, offset + field.offset, next);
                }
            }
        }
    }

    fn get(&self, offset: u32) -> Known {
        self.ranges[self.of[offset as usize] as usize]
    }

    fn get_mut(&mut self, offset: u32) -> &mut Known {
        &mut self.ranges[self.of[offset as usize] as usize]
    }
}

/// One round over a whole system.
struct Analysis<'a> {
    system: &'a System,
    ranges: &'a mut Ranges,
}

impl Analysis<'_> {
    fn all(&mut self) {
        let system = self.system;
        self.frame(&system.globals, None);
        for (index, process) in system.process_types.iter().enumerate() {
            let id = ProcessTypeId(index as u16);
            self.frame(&process.frame, Some(id));
            // Initial processes have no arguments.
            let starts = system.start.iter().any(|start| start.process_type == id);
            for param in process.params.iter().filter(|_| starts) {
                self.store(param, Some(id), Some(ZERO));
            }
            for (location, facts) in process.locations.iter().zip(self.facts_in(id)) {
                for edge in system.edges_of(location) {
                    self.action(&edge.action, id, &facts);
                    for place in &edge.forgets {
                        let blank = place.scalar.blank();
                        self.store(place, Some(id), Some(Range { low: blank, high: blank }));
                    }
                }
            }
        }
    }

    /// For each location of a process type, the facts about its own variables there: those that hold after the only
    /// edge that leads there.
    fn facts_in(&self, id: ProcessTypeId) -> Vec<Facts> {
        let process = self.system.process_type(id);
        let mut ways: Vec<Vec<(usize, &Action)>> = vec![Vec::new(); process.locations.len()];
        for (from, location) in process.locations.iter().enumerate() {
            for edge in self.system.edges_of(location) {
                if let Some(target) = edge.target {
                    ways[target.index()].push((from, &edge.action));
                }
            }
        }
        // Facts mostly come from the condition just before: only one edge is considered.
        let behind = |at: usize, ways: &[(usize, &Action)]| match ways {
            [(_, action)] if at != process.entry.index() => Facts::default().after(action).local(),
            _ => Facts::default(),
        };
        ways.iter().enumerate().map(|(at, ways)| behind(at, ways)).collect()
    }

    /// The initial values of a frame; without one, a variable is 0.
    fn frame(&mut self, frame: &Frame, process: Option<ProcessTypeId>) {
        let mut given = vec![false; frame.size as usize];
        let params = process.map_or(&[][..], |id| &self.system.process_type(id).params);
        for place in params {
            given[place.offset as usize] = true;
        }
        let mut channels = 0;
        for init in &frame.init {
            let (place, values) = match init {
                Init::Value(place, value) if reads_early(value, process.is_none(), &given) => {
                    (place, Some(place.scalar.representable()))
                }
                Init::Value(place, value) => (place, self.ranges.eval(value, process, &Facts::default())),
                Init::Channel(place, _) => {
                    channels += 1;
                    let global = Range { low: channels, high: channels };
                    (place, Some(if process.is_none() { global } else { CHANNEL }))
                }
            };
            let own = match place.base {
                Base::Global => process.is_none(),
                Base::Local => process.is_some(),
                Base::Remote(..) | Base::Nowhere => false,
            };
            if own && place.indices.is_empty() {
                given[place.offset as usize] = true;
            }
            self.store(place, process, values);
        }
        for variable in &frame.variables {
            variable.shape.each_scalar(variable.offset, &mut |offset, scalar| {
                let cell = process.map_or(Cell::Global(offset), |process| Cell::Local(process, offset));
                if !given[offset as usize] {
                    self.ranges.grow(cell, Some(ZERO), scalar);
                }
            });
        }
    }

    fn action(&mut self, action: &Action, process: ProcessTypeId, facts: &Facts) {
        match action.effect() {
            Effect::Nothing | Effect::Other => {}
            Effect::Assign(place, value) => {
                let values = self.ranges.eval(value, Some(process), facts);
                self.store(place, Some(process), values);
            }
            Effect::Send(send) => self.send(send, process, facts),
            Effect::Receive(receive) => self.receive(receive, process),
            Effect::Run(run, then) => {
                self.run(run, process, facts);
                self.action(then, process, facts);
            }
            Effect::Block(block) => {
                for (node, facts) in block.nodes.iter().zip(facts::in_block(block, facts)) {
                    node.action().into_iter().for_each(|action| self.action(action, process, &facts));
                }
            }
        }
    }

    fn send(&mut self, send: &Send, process: ProcessTypeId, facts: &Facts) {
        for channel in self.channels(&send.channel, process) {
            let fields = &self.system.channel_types[channel.index()].fields;
            for (field, scalar) in fields.iter().enumerate() {
                // A field that is not sent is 0.
                let values = send
                    .fields
                    .get(field)
                    .map_or(Some(ZERO), |value| self.ranges.eval(value, Some(process), facts));
                self.ranges.grow(Cell::Field(channel, field), values, *scalar);
            }
        }
    }

    fn receive(&mut self, receive: &Receive, process: ProcessTypeId) {
        for channel in self.channels(&receive.channel, process) {
            for (field, pattern) in receive.fields.iter().enumerate() {
                let Some(place) = pattern.stored() else { continue };
                let messages = &self.ranges.messages[channel.index()];
                let values = messages.get(field).copied().unwrap_or(Some(ZERO));
                self.store(place, Some(process), values);
            }
        }
    }

    fn run(&mut self, run: &Run, process: ProcessTypeId, facts: &Facts) {
        let params = &self.system.process_type(run.process_type).params;
        for (index, place) in params.iter().enumerate() {
            let values = run.args.get(index).map_or(Some(ZERO), |arg| self.ranges.eval(arg, Some(process), facts));
            self.store(place, Some(run.process_type), values);
        }
    }

    /// The types that a channel may have.
    fn channels(&self, channel: &Expr, process: ProcessTypeId) -> Vec<ChannelTypeId> {
        let global = self.ranges.eval(channel, Some(process), &Facts::default()).and_then(|numbers| {
            let first = usize::try_from(numbers.low).ok()?.checked_sub(1)?;
            self.ranges.channels.get(first..usize::try_from(numbers.high).ok()?)
        });
        match global {
            Some(types) => types.to_vec(),
            None => (0..self.system.channel_types.len()).map(|index| ChannelTypeId(index as u16)).collect(),
        }
    }

    fn store(&mut self, place: &Place, process: Option<ProcessTypeId>, values: Known) {
        let cell = match (&place.base, process) {
            (Base::Global, _) => Cell::Global(place.offset),
            (Base::Local, Some(process)) => Cell::Local(process, place.offset),
            (Base::Remote(_, process), _) => Cell::Local(*process, place.offset),
            (Base::Local, None) | (Base::Nowhere, _) => return,
        };
        self.ranges.grow(cell, values, place.scalar);
    }
}

/// Whether an initial value reads a variable of the same frame that is not initialised yet.
fn reads_early(value: &Expr, global: bool, given: &[bool]) -> bool {
    let mut early = false;
    value.each(&mut |expr| {
        if let Expr::Load(place) = expr {
            let own = match place.base {
                Base::Global => global,
                Base::Local => !global,
                Base::Remote(..) => true,
                Base::Nowhere => false,
            };
            early |= own && !(place.indices.is_empty() && given[place.offset as usize]);
        }
    });
    early
}

const ZERO: Range = Range { low: 0, high: 0 };
const TRUTH: Range = Range { low: 0, high: 1 };
const BYTE: Range = Range { low: 0, high: 255 };
const CHANNEL: Range = Range { low: 0, high: 255 };

fn join(one: Known, other: Known) -> Known {
    match (one, other) {
        (None, known) | (known, None) => known,
        (Some(one), Some(other)) => Some(Range { low: one.low.min(other.low), high: one.high.max(other.high) }),
    }
}

fn meet(one: Range, other: Range) -> Known {
    let both = Range { low: one.low.max(other.low), high: one.high.min(other.high) };
    (both.low <= both.high).then_some(both)
}

/// The values after they have been stored; `None` if no value can be stored.
fn stored(values: Range, scalar: Scalar) -> Known {
    let values = meet(values, scalar.range.unwrap_or(Range::ANY))?;
    let fits = scalar.truncate(values.low) == values.low && scalar.truncate(values.high) == values.high;
    Some(if fits { values } else { scalar.representable() })
}

/// Widening: the next larger range of few.
fn leap(values: Range, scalar: Scalar) -> Range {
    let whole = stored(scalar.representable(), scalar).unwrap_or(ZERO);
    let power =
        |value: i32| ((1i64 << (64 - i64::from(value).leading_zeros())) - 1).min(i64::from(i32::MAX)) as i32;
    let high = if values.high > 0 { power(values.high).min(whole.high) } else { values.high };
    let low = if values.low < 0 { whole.low } else { values.low };
    Range { low, high }
}

/// The range of the results of an operator.
pub fn unary(op: UnaryOp, Range { low, high }: Range) -> Range {
    match op {
        UnaryOp::Not => TRUTH,
        UnaryOp::Negate if low > i32::MIN => Range { low: -high, high: -low },
        UnaryOp::Negate => Range::ANY,
        UnaryOp::Complement => Range { low: !high, high: !low },
    }
}

/// The range of the results of an operator.
pub fn binary(op: BinaryOp, left: Range, right: Range) -> Range {
    let corners = |apply: fn(i64, i64) -> i64| {
        let of = |one: i32, other: i32| apply(i64::from(one), i64::from(other));
        let all = [(left.low, right.low), (left.low, right.high), (left.high, right.low), (left.high, right.high)];
        let all = all.map(|(one, other)| of(one, other));
        let (low, high) = all.iter().fold((i64::MAX, i64::MIN), |(low, high), &at| (low.min(at), high.max(at)));
        match (i32::try_from(low), i32::try_from(high)) {
            (Ok(low), Ok(high)) => Range { low, high },
            // It may wrap around.
            (Err(_), _) | (_, Err(_)) => Range::ANY,
        }
    };
    let natural = left.low >= 0 && right.low >= 0;
    // All bits up to the highest one that either can have.
    let bits = || {
        let highest = left.high.max(right.high);
        ((1i64 << (64 - i64::from(highest).leading_zeros())) - 1) as i32
    };
    match op {
        BinaryOp::Add => corners(|left, right| left + right),
        BinaryOp::Sub => corners(|left, right| left - right),
        BinaryOp::Mul => corners(|left, right| left * right),
        BinaryOp::Div if left.low >= 0 && right.low > 0 => {
            Range { low: left.low / right.high, high: left.high / right.low }
        }
        BinaryOp::Div => Range::ANY,
        BinaryOp::Rem if right.low > 0 => {
            let most = right.high - 1;
            Range {
                low: if left.low >= 0 { 0 } else { left.low.max(-most) },
                high: if left.high <= 0 { 0 } else { left.high.min(most) },
            }
        }
        BinaryOp::Rem => Range::ANY,
        BinaryOp::BitAnd if natural => Range { low: 0, high: left.high.min(right.high) },
        BinaryOp::BitAnd if left.low >= 0 => Range { low: 0, high: left.high },
        BinaryOp::BitAnd if right.low >= 0 => Range { low: 0, high: right.high },
        BinaryOp::BitAnd => Range::ANY,
        BinaryOp::BitOr | BinaryOp::BitXor if natural => Range { low: 0, high: bits() },
        BinaryOp::BitOr | BinaryOp::BitXor => Range::ANY,
        BinaryOp::Shl if natural && right.high < 31 => corners(|left, right| left << right),
        BinaryOp::Shl => Range::ANY,
        BinaryOp::Shr if natural && right.high < 32 => corners(|left, right| left >> right),
        BinaryOp::Shr if left.low >= 0 => Range { low: 0, high: left.high },
        BinaryOp::Shr => Range::ANY,
        BinaryOp::Lt
        | BinaryOp::Gt
        | BinaryOp::Le
        | BinaryOp::Ge
        | BinaryOp::Eq
        | BinaryOp::Ne
        | BinaryOp::And
        | BinaryOp::Or => TRUTH,
    }
}
