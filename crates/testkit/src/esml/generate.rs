//! Random models that are well typed, small, and sometimes fault.

use super::{Command, Communication, Data, Expr, Model, Op, Place, Process, Signal, Ty};
use crate::rng::Rng;

/// The model of a seed.
pub fn generate(rng: &mut Rng) -> Model {
    let channels = 1 + rng.below(2);
    let processes = (0..2 + rng.below(2)).map(|_| process(rng, channels)).collect();
    Model { channels, processes }
}

fn process(rng: &mut Rng, channels: usize) -> Process {
    const TYPES: [Ty; 9] =
        [Ty::Digit, Ty::Digit, Ty::Digit, Ty::Boolean, Ty::Queue, Ty::Row, Ty::Pair, Ty::Pairs, Ty::Queue];
    let vars = (0..1 + rng.below(3)).map(|_| *rng.pick(&TYPES)).collect();
    let me = rng.below(4) as i64;
    let mut writer = Writer { rng, channels, vars };
    let body = writer.body(3);
    let body = if writer.rng.chance(0.7) { vec![Command::Do(vec![(Expr::Boolean(true), body)])] } else { body };
    Process { me, vars: writer.vars, body }
}

struct Writer<'r> {
    rng: &'r mut Rng,
    channels: usize,
    vars: Vec<Ty>,
}

impl Writer<'_> {
    fn body(&mut self, depth: usize) -> Vec<Command> {
        (0..1 + self.rng.below(3)).map(|_| self.command(depth)).collect()
    }

    fn command(&mut self, depth: usize) -> Command {
        match self.rng.below(if depth == 0 { 8 } else { 12 }) {
            0 => Command::Skip,
            1..=3 => self.assignment(),
            4 => self.list_command(),
            5..=7 => Command::Communicate(self.communication()),
            8 => Command::If(self.guarded(depth - 1)),
            9 => Command::Do(self.guarded(depth - 1)),
            _ => {
                let count = 1 + self.rng.below(3);
                Command::Poll((0..count).map(|_| self.alternative(depth - 1)).collect())
            }
        }
    }

    fn assignment(&mut self) -> Command {
        let var = self.rng.below(self.vars.len());
        let (place, ty) = self.place(var);
        Command::Assign(place, self.value(ty, 2))
    }

    /// A variable or a part of it, and its type.
    fn place(&mut self, var: usize) -> (Place, Ty) {
        let part = self.rng.chance(0.7);
        match self.vars[var] {
            Ty::Row if part => (Place::Element(var, Box::new(self.index())), Ty::Digit),
            Ty::Pair if part => {
                let field = self.rng.below(2);
                (Place::Field(var, field), if field == 0 { Ty::Digit } else { Ty::Boolean })
            }
            ty => (Place::Whole(var), ty),
        }
    }

    /// Sometimes out of range.
    fn index(&mut self) -> Expr {
        if self.rng.chance(0.6) { Expr::Number(self.rng.below(2) as i64) } else { self.value(Ty::Digit, 0) }
    }

    fn list_command(&mut self) -> Command {
        let Some(list) = self.var_of(&[Ty::Queue, Ty::Pairs]) else { return Command::Skip };
        let element = if self.vars[list] == Ty::Queue { Ty::Digit } else { Ty::Pair };
        match self.rng.below(6) {
            0 => Command::Empty(list),
            1 | 2 => Command::Remove(list),
            _ if element == Ty::Pair && self.var_of(&[Ty::Pair, Ty::Pairs]).is_none() => Command::Empty(list),
            3 => Command::Prepend(list, self.value(element, 1)),
            _ => Command::Append(list, self.value(element, 1)),
        }
    }

    fn var_of(&mut self, types: &[Ty]) -> Option<usize> {
        let fitting: Vec<_> = (0..self.vars.len()).filter(|var| types.contains(&self.vars[*var])).collect();
        if fitting.is_empty() { None } else { Some(*self.rng.pick(&fitting)) }
    }

    fn guarded(&mut self, depth: usize) -> Vec<(Expr, Vec<Command>)> {
        let count = 1 + self.rng.below(3);
        (0..count).map(|_| (self.condition(1), self.body(depth))).collect()
    }

    fn alternative(&mut self, depth: usize) -> (Communication, Option<Expr>, Vec<Command>) {
        let communication = self.communication();
        let condition = self.rng.chance(0.5).then(|| self.condition(1));
        (communication, condition, self.body(depth))
    }

    fn communication(&mut self) -> Communication {
        let channel = self.rng.below(self.channels);
        if self.rng.chance(0.5) {
            let signal = self.signal();
            let data = signal.map(|ty| self.message(ty));
            return Communication { channel, signal, data: Data::Sent(data) };
        }
        let var = self.rng.below(self.vars.len());
        match self.rng.below(4) {
            0 => Communication { channel, signal: None, data: Data::Received(None) },
            1 => Communication { channel, signal: Some(Ty::Digit), data: Data::Matched },
            _ => {
                let (place, ty) = self.place(var);
                Communication { channel, signal: Some(ty), data: Data::Received(Some(place)) }
            }
        }
    }

    /// The data of a message. Its evaluation often faults, which matters only if a process receives it.
    fn message(&mut self, ty: Ty) -> Expr {
        if self.rng.chance(0.5) {
            return self.value(ty, 1);
        }
        match (ty, self.var_of(&[Ty::Queue]), self.var_of(&[Ty::Pairs])) {
            (Ty::Digit, Some(queue), _) if self.rng.chance(0.5) => Expr::Head(queue),
            (Ty::Digit, ..) => {
                let op = *self.rng.pick(&[Op::Divide, Op::Modulo, Op::Add, Op::Subtract]);
                Expr::Binary(op, Box::new((self.digit(1), self.digit(0))))
            }
            (Ty::Pair, _, Some(pairs)) => Expr::Head(pairs),
            (Ty::Boolean | Ty::Queue | Ty::Row | Ty::Pair | Ty::Pairs, ..) => self.value(ty, 1),
        }
    }

    /// The data type of a signal: a simple type, or that of a variable, so that there is a value to send.
    fn signal(&mut self) -> Signal {
        match self.rng.below(4) {
            0 => None,
            1 => Some(Ty::Digit),
            2 => Some(Ty::Boolean),
            _ => Some(*self.rng.pick(&self.vars)),
        }
    }

    fn value(&mut self, ty: Ty, depth: usize) -> Expr {
        match ty {
            Ty::Digit => self.digit(depth),
            Ty::Boolean => self.condition(depth),
            Ty::Queue | Ty::Row | Ty::Pairs => {
                self.var_of(&[ty]).map_or(Expr::Me, |var| Expr::Load(Place::Whole(var)))
            }
            Ty::Pair => match self.var_of(&[Ty::Pair, Ty::Pairs]) {
                Some(var) if self.vars[var] == Ty::Pairs => Expr::Head(var),
                Some(var) => Expr::Load(Place::Whole(var)),
                None => Expr::Me,
            },
        }
    }

    /// A number. It may be outside of 0 to 3, and its evaluation may fault.
    fn digit(&mut self, depth: usize) -> Expr {
        let ops = [Op::Add, Op::Add, Op::Subtract, Op::Multiply, Op::Divide, Op::Modulo];
        match self.rng.below(if depth == 0 { 3 } else { 6 }) {
            0 => Expr::Number(self.rng.below(4) as i64),
            1 if self.rng.chance(0.3) => Expr::Me,
            1 => self.var_of(&[Ty::Digit]).map_or(Expr::Me, |var| Expr::Load(Place::Whole(var))),
            2 => match self.var_of(&[Ty::Row, Ty::Queue, Ty::Pairs, Ty::Pair]) {
                Some(var) => self.digit_from(var),
                None => Expr::Number(1),
            },
            _ => {
                let op = *self.rng.pick(&ops);
                Expr::Binary(op, Box::new((self.digit(depth - 1), self.digit(depth - 1))))
            }
        }
    }

    fn digit_from(&mut self, var: usize) -> Expr {
        match self.vars[var] {
            Ty::Row => Expr::Load(Place::Element(var, Box::new(self.index()))),
            Ty::Pair => Expr::Load(Place::Field(var, 0)),
            Ty::Queue if self.rng.chance(0.5) => Expr::Head(var),
            Ty::Queue | Ty::Pairs => Expr::Len(var),
            Ty::Digit | Ty::Boolean => Expr::Load(Place::Whole(var)),
        }
    }

    /// A condition whose evaluation never faults: how often a fault in a guard is counted depends on the tool.
    fn condition(&mut self, depth: usize) -> Expr {
        let safe = |writer: &mut Self| match writer.var_of(&[Ty::Digit, Ty::Queue, Ty::Pairs]) {
            Some(var) if writer.vars[var] == Ty::Digit => Expr::Load(Place::Whole(var)),
            Some(var) => Expr::Len(var),
            None => Expr::Me,
        };
        match self.rng.below(if depth == 0 { 4 } else { 8 }) {
            0 => Expr::Boolean(self.rng.chance(0.7)),
            1 => self.var_of(&[Ty::Boolean]).map_or(Expr::Boolean(true), |var| Expr::Load(Place::Whole(var))),
            2 => self.var_of(&[Ty::Pair]).map_or(Expr::Boolean(true), |var| Expr::Load(Place::Field(var, 1))),
            3..=5 => {
                let op = *self.rng.pick(&[Op::Equal, Op::Unequal, Op::Less]);
                let right = if self.rng.chance(0.7) { Expr::Number(self.rng.below(4) as i64) } else { safe(self) };
                Expr::Binary(op, Box::new((safe(self), right)))
            }
            6 => Expr::Not(Box::new(self.condition(depth - 1))),
            _ => {
                let op = *self.rng.pick(&[Op::And, Op::Or]);
                Expr::Binary(op, Box::new((self.condition(depth - 1), self.condition(depth - 1))))
            }
        }
    }
}
