//! Values and their places, for one process type with constant parameters.

use super::MAX_WORK;
use crate::esml::code::{
    Access, Argument, Arithmetic, BinaryOp as Op, Param, Process, Program, Relation, Root, Selector, TypeId, Value,
    ValueKind,
};
use crate::kit::Access as Whole;
use entail_ir::{
    Action, Base, BinaryOp, Expr, FaultKind, Pattern, Place, ProcessTypeId, Range, Scalar, Shape, UnaryOp,
};

pub struct Values<'p> {
    program: &'p Program,
    vars: &'p [(String, TypeId)],
    params: &'p [Param],
    args: &'p [Argument],
    /// The number of the first channel of each channel variable.
    channels: Vec<u32>,
    /// The offset of each variable.
    offsets: Vec<u32>,
    /// The types of all processes, in the order of activation; only for formulas.
    types: Vec<ProcessTypeId>,
    work: usize,
}

/// A list consists of its length and its elements.
const LENGTH: usize = 0;
const ITEMS: usize = 1;

impl<'p> Values<'p> {
    pub fn new(
        program: &'p Program,
        process: &'p Process,
        args: &'p [Argument],
        channels: Vec<u32>,
        offsets: Vec<u32>,
    ) -> Self {
        let (vars, params, types) = (&process.vars[..], &process.params[..], Vec::new());
        Values { program, vars, params, args, channels, offsets, types, work: 0 }
    }

    /// For formulas, which refer to the variables of all processes.
    pub fn of_formulas(program: &'p Program, types: Vec<ProcessTypeId>) -> Self {
        let (channels, offsets) = (Vec::new(), Vec::new());
        Values { program, vars: &[], params: &[], args: &[], channels, offsets, types, work: 0 }
    }

    /// The amount of code generated so far.
    pub fn work(&self) -> usize {
        self.work
    }

    /// The expression for a scalar value.
    pub fn scalar(&mut self, value: &Value) -> Expr {
        self.work += 1;
        if self.work > MAX_WORK {
            return Expr::Const(0);
        }
        match &value.kind {
            ValueKind::Constant(value) => Expr::Const(*value),
            ValueKind::Load(access) => self.load(access),
            ValueKind::Len(list) => {
                let length = self.whole(list).field(LENGTH).place();
                length.map_or(Expr::Const(0), Expr::load)
            }
            ValueKind::Head(list) => {
                let heads = self.head(list);
                heads.into_iter().next().unwrap_or(Expr::Const(0))
            }
            ValueKind::Not(operand) => folded(Expr::unary(UnaryOp::Not, self.scalar(operand))),
            ValueKind::Negate(operand) => folded(Expr::unary(UnaryOp::Negate, self.scalar(operand))),
            ValueKind::Binary(op, operands) => self.binary(*op, &operands.0, &operands.1),
        }
    }

    /// The expressions for the scalars of a value.
    pub fn scalars(&mut self, value: &Value) -> Vec<Expr> {
        match &value.kind {
            ValueKind::Load(access) if access.root != Root::Channel(0) && !self.is_param(access) => {
                let places = self.whole(access).places();
                self.work += places.len();
                places.into_iter().map(Expr::load).collect()
            }
            ValueKind::Head(list) => self.head(list),
            ValueKind::Load(_)
            | ValueKind::Constant(_)
            | ValueKind::Len(_)
            | ValueKind::Not(_)
            | ValueKind::Negate(_)
            | ValueKind::Binary(..) => vec![self.scalar(value)],
        }
    }

    fn is_param(&self, access: &Access) -> bool {
        matches!(access.root, Root::Param(_))
    }

    fn load(&mut self, access: &Access) -> Expr {
        match access.root {
            Root::Param(number) => match self.args[number] {
                Argument::Value(value) => Expr::Const(value),
                Argument::Channel(..) => Expr::Const(0),
            },
            Root::Variable(_) | Root::Channel(_) | Root::Remote { .. } => {
                self.whole(access).place().map_or(Expr::Const(0), Expr::load)
            }
        }
    }

    /// The first element of a list, if there is one.
    fn head(&mut self, list: &Access) -> Vec<Expr> {
        let whole = self.whole(list);
        let Some(length) = whole.clone().field(LENGTH).place() else { return Vec::new() };
        let items = whole.field(ITEMS).element(Expr::Const(0)).places();
        self.work += items.len();
        let missing = Expr::Fault(FaultKind::ListEmpty);
        items
            .into_iter()
            .map(|item| Expr::conditional(Expr::load(length.clone()), Expr::load(item), missing.clone()))
            .collect()
    }

    fn binary(&mut self, op: Op, left: &Value, right: &Value) -> Expr {
        let op = match op {
            Op::Compare(Relation::Equal) => return self.equal(left, right),
            Op::Compare(Relation::Unequal) => return folded(Expr::unary(UnaryOp::Not, self.equal(left, right))),
            Op::And => BinaryOp::And,
            Op::Or => BinaryOp::Or,
            Op::Compare(Relation::Less) => BinaryOp::Lt,
            Op::Compare(Relation::LessEqual) => BinaryOp::Le,
            Op::Compare(Relation::Greater) => BinaryOp::Gt,
            Op::Compare(Relation::GreaterEqual) => BinaryOp::Ge,
            Op::Compute(Arithmetic::Add) => BinaryOp::Add,
            Op::Compute(Arithmetic::Subtract) => BinaryOp::Sub,
            Op::Compute(Arithmetic::Multiply) => BinaryOp::Mul,
            Op::Compute(Arithmetic::Divide) => BinaryOp::Div,
            Op::Compute(Arithmetic::Modulo) => BinaryOp::Rem,
        };
        let (left, right) = (self.scalar(left), self.scalar(right));
        folded(Expr::binary(op, left, right))
    }

    fn equal(&mut self, left: &Value, right: &Value) -> Expr {
        let (left, right) = (self.scalars(left), self.scalars(right));
        let pairs = left.into_iter().zip(right);
        let equal: Vec<_> = pairs.map(|(left, right)| folded(Expr::binary(BinaryOp::Eq, left, right))).collect();
        balanced(BinaryOp::And, equal)
    }

    /// The place of a variable or of a part of it.
    fn whole(&mut self, access: &Access) -> Whole<'p> {
        let program = self.program;
        let (base, offset, mut ty) = match access.root {
            Root::Variable(number) => (Base::Local, self.offsets[number], self.vars[number].1),
            // It has no place.
            Root::Param(number) => (Base::Nowhere, 0, self.params[number].ty),
            Root::Channel(number) => (Base::Nowhere, 0, program.channels[number].ty),
            Root::Remote { activation, variable } => {
                let vars = &program.processes[program.activations[activation].process].vars;
                let offset = vars[..variable].iter().map(|(_, ty)| program.ty(*ty).shape.size()).sum();
                let process = Box::new(Expr::Const(activation as i32));
                (Base::Remote(process, self.types[activation]), offset, vars[variable].1)
            }
        };
        let mut whole = Whole::new(base, offset, &program.ty(ty).shape);
        for selector in &access.selectors {
            whole = match selector {
                Selector::Index(index, _) => whole.element(self.scalar(index)),
                Selector::Field(position) => whole.field(*position),
            };
            ty = part(program, ty, selector);
        }
        // Every scalar of a value repeats the index expressions, which may contain such repetitions
        // themselves: the size can grow exponentially.
        whole.indices.iter().for_each(|index| index.value.each(&mut |_| self.work += 1));
        if self.work > MAX_WORK {
            whole.indices.clear();
        }
        whole
    }

    /// The number of a channel, for one of its signals.
    pub fn channel(&mut self, access: &Access, signal: usize) -> Expr {
        let (channel, offset, mut ty) = match access.root {
            Root::Channel(channel) => (channel, 0, self.program.channels[channel].ty),
            Root::Param(number) => match self.args[number] {
                Argument::Channel(channel, offset) => (channel, offset, self.params[number].ty),
                Argument::Value(_) => return Expr::Const(0),
            },
            Root::Variable(_) | Root::Remote { .. } => return Expr::Const(0),
        };
        let signals = self.program.channel_type(ty).1.len() as i32;
        let first = self.channels[channel] as i32 + offset as i32 * signals + signal as i32;
        let mut number = Expr::Const(first);
        for selector in &access.selectors {
            ty = part(self.program, ty, selector);
            let Selector::Index(index, len) = selector else { continue };
            let stride = self.program.channel_type(ty).0 as i32 * signals;
            let index = self.checked_index(index, *len);
            let distance = folded(Expr::binary(BinaryOp::Mul, index, Expr::Const(stride)));
            number = folded(Expr::binary(BinaryOp::Add, number, distance));
        }
        number
    }

    /// Channels are not stored, so their indices are checked here.
    fn checked_index(&mut self, index: &Value, len: u32) -> Expr {
        let index = self.scalar(index);
        let at_least = Expr::binary(BinaryOp::Ge, index.clone(), Expr::Const(0));
        let below = Expr::binary(BinaryOp::Lt, index.clone(), Expr::Const(len as i32));
        let inside = Expr::binary(BinaryOp::And, at_least, below);
        folded(Expr::conditional(inside, index, Expr::Fault(FaultKind::Index)))
    }

    /// The patterns for the parts of a message. A parameter is constant: the message must contain its value.
    pub fn patterns(&mut self, access: &Access) -> Vec<Pattern> {
        if self.is_param(access) {
            return vec![Pattern::Equal(self.load(access))];
        }
        let places = self.whole(access).places();
        self.work += places.len();
        places.into_iter().map(Pattern::Store).collect()
    }

    pub fn assign(&mut self, access: &Access, value: &Value) -> Vec<Action> {
        let places = self.whole(access).places();
        let values = self.scalars(value);
        stores(places.into_iter().zip(values))
    }

    pub fn empty(&mut self, list: &Access) -> Vec<Action> {
        let places = self.whole(list).places();
        self.work += places.len();
        stores(places.into_iter().map(|place| {
            let zero = Expr::Const(zero(place.scalar));
            (place, zero)
        }))
    }

    pub fn remove(&mut self, list: &Access) -> Vec<Action> {
        let (length, items) = self.items(list);
        let mut actions = Vec::new();
        for pair in items.windows(2) {
            actions.extend(copy(&pair[0], &pair[1]));
        }
        let freed = items.last().into_iter().flatten();
        actions.extend(freed.map(|place| store(place.clone(), Expr::Const(zero(place.scalar)))));
        let less = Expr::binary(BinaryOp::Sub, Expr::load(length.clone()), Expr::Const(1));
        let missing = Expr::Fault(FaultKind::ListEmpty);
        let shorter = Expr::conditional(Expr::load(length.clone()), less, missing);
        actions.insert(0, store(length, shorter));
        actions
    }

    pub fn append(&mut self, list: &Access, value: &Value) -> Vec<Action> {
        let whole = self.whole(list);
        let Some(length) = whole.clone().field(LENGTH).place() else { return Vec::new() };
        let next = whole.field(ITEMS).element(self.room(&length)).places();
        let values = self.scalars(value);
        let mut actions = stores(next.into_iter().zip(values));
        actions.push(longer(length));
        actions
    }

    /// Moves the elements up, the last one first. The new first element may depend on the old elements, so
    /// the old first element is overwritten last.
    pub fn prepend(&mut self, list: &Access, value: &Value) -> Vec<Action> {
        let (length, items) = self.items(list);
        let room = self.room(&length);
        let mut actions = vec![Action::Guard(Expr::binary(BinaryOp::Ge, room, Expr::Const(0)))];
        for pair in items.windows(2).rev() {
            actions.extend(copy(&pair[1], &pair[0]));
        }
        let first = items.into_iter().next().unwrap_or_default();
        let values = self.scalars(value);
        actions.extend(stores(first.into_iter().zip(values)));
        actions.push(longer(length));
        actions
    }

    /// The length of a list; faults if the list is full.
    fn room(&mut self, length: &Place) -> Expr {
        let capacity = length.scalar.range.map_or(0, |range| range.high);
        let free = Expr::binary(BinaryOp::Lt, Expr::load(length.clone()), Expr::Const(capacity));
        Expr::conditional(free, Expr::load(length.clone()), Expr::Fault(FaultKind::ListFull))
    }

    /// The place of a list's length, and the parts of each element.
    fn items(&mut self, list: &Access) -> (Place, Vec<Vec<Place>>) {
        let whole = self.whole(list);
        let nowhere = || Place::nowhere(Scalar::within(Range { low: 0, high: 0 }));
        let length = whole.clone().field(LENGTH).place().unwrap_or_else(nowhere);
        let items = whole.field(ITEMS);
        let count = match items.shape {
            Shape::Array { len, .. } => *len,
            Shape::Scalar(_) | Shape::Record { .. } => 0,
        };
        let items: Vec<_> = (0..count).map(|i| items.clone().element(Expr::Const(i as i32)).places()).collect();
        self.work += items.iter().map(Vec::len).sum::<usize>();
        (length, items)
    }
}

/// The type of a part of a value.
fn part(program: &Program, ty: TypeId, selector: &Selector) -> TypeId {
    use crate::esml::code::TypeKind;
    match (&program.ty(ty).kind, selector) {
        (TypeKind::Array { element, .. }, Selector::Index(..)) => *element,
        (TypeKind::Tuple(fields), Selector::Field(position)) => fields[*position].1,
        (_, Selector::Index(..) | Selector::Field(_)) => ty,
    }
}

/// The content of a free slot, so that equal lists have equal bytes.
fn zero(scalar: Scalar) -> i32 {
    scalar.range.map_or(0, crate::kit::data::default_of)
}

fn longer(length: Place) -> Action {
    let more = Expr::binary(BinaryOp::Add, Expr::load(length.clone()), Expr::Const(1));
    store(length, more)
}

fn copy<'p>(to: &'p [Place], from: &'p [Place]) -> impl Iterator<Item = Action> + 'p {
    to.iter().zip(from).map(|(to, from)| store(to.clone(), Expr::load(from.clone())))
}

fn stores(pairs: impl Iterator<Item = (Place, Expr)>) -> Vec<Action> {
    pairs.map(|(place, value)| store(place, value)).collect()
}

fn store(place: Place, value: Expr) -> Action {
    Action::Assign(Box::new(place), value)
}

/// Folds a constant expression.
fn folded(expr: Expr) -> Expr {
    expr.constant().map_or(expr, Expr::Const)
}

/// Combines operands into a balanced tree, in their order.
pub fn balanced(op: BinaryOp, mut operands: Vec<Expr>) -> Expr {
    if operands.len() <= 1 {
        return operands.pop().unwrap_or(Expr::Const(1));
    }
    let right = operands.split_off(operands.len() / 2);
    Expr::binary(op, balanced(op, operands), balanced(op, right))
}
