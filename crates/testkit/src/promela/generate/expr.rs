//! Expressions over small numbers, so that nothing overflows and there are few states.

use super::scope::{Access, is_integer};
use super::*;

impl Generator {
    /// An integer that a few operations on small numbers can produce.
    pub(super) fn value(&mut self, depth: usize) -> Expr {
        if depth == 0 || self.percent(45) {
            return self.leaf();
        }
        if self.with(Feature::Conditionals, 15) {
            let test = self.condition(depth - 1);
            let (yes, no) = (self.value(depth - 1), self.value(depth - 1));
            return Expr::Conditional(Box::new(test), Box::new(yes), Box::new(no));
        }
        if self.with(Feature::Operators, 15) {
            let op = self.weighted(&[(1, Unary::Minus), (1, Unary::Complement), (1, Unary::Not)]);
            return Expr::Unary(op, Box::new(self.value(depth - 1)));
        }
        if self.with(Feature::Macros, 20)
            && let Some((name, params)) = self.pick(&self.macros.clone())
        {
            let args = (0..params).map(|_| self.value(depth - 1)).collect();
            return if params == 0 { Expr::Word(name) } else { Expr::Apply(name, args) };
        }
        let op = if self.with(Feature::Operators, 70) {
            self.weighted(&[
                (2, Binary::Mul),
                (1, Binary::Div),
                (1, Binary::Rem),
                (1, Binary::Shl),
                (1, Binary::Shr),
                (1, Binary::BitAnd),
                (1, Binary::BitOr),
                (1, Binary::BitXor),
                (1, Binary::Lt),
                (1, Binary::Eq),
            ])
        } else {
            self.weighted(&[(2, Binary::Add), (1, Binary::Sub)])
        };
        let left = self.value(depth - 1);
        let right = match op {
            Binary::Mul => self.leaf(),
            Binary::Div | Binary::Rem => Expr::Number(self.between(1, 5) as i32),
            Binary::Shl | Binary::Shr => Expr::Number(self.rng.below(4) as i32),
            _ => self.value(depth - 1),
        };
        Expr::binary(op, left, right)
    }

    fn leaf(&mut self) -> Expr {
        if self.with(Feature::Pid, 8) {
            return Expr::word("_pid");
        }
        if self.with(Feature::ProcessCount, 8) {
            return Expr::word("_nr_pr");
        }
        if self.with(Feature::Characters, 8) {
            return Expr::Character(*self.rng.pick(&['a', 'B', '0', ' ']));
        }
        if self.with(Feature::Priority, 8) {
            let pid = self.pid();
            return Expr::Apply("get_priority".into(), vec![pid]);
        }
        if self.with(Feature::Fullness, 12)
            && let Some((channel, _)) = self.channel(Signature::buffered)
        {
            return Expr::Ask("len", channel);
        }
        if self.percent(65)
            && let Some(place) = self.readable()
        {
            return Expr::Read(place);
        }
        self.number()
    }

    pub(super) fn number(&mut self) -> Expr {
        let number = self.weighted(&[(6, 0), (8, 1), (5, 2), (3, 3), (1, 7), (1, -1)]);
        Expr::Number(number)
    }

    pub(super) fn readable(&mut self) -> Option<Place> {
        self.place(|v, ty| v.access != Access::WriteOnly && is_integer(ty)).map(|(place, _)| place)
    }

    pub(super) fn writable(&mut self) -> Option<(Place, Type)> {
        self.place(|v, ty| v.access == Access::ReadWrite && is_integer(ty))
    }

    /// The number of a process that never ends, or of the process itself.
    pub(super) fn pid(&mut self) -> Expr {
        if self.here.in_inline || self.percent(50) { Expr::Number(0) } else { Expr::word("_pid") }
    }

    /// A value that can be assigned to a variable of this type repeatedly without creating many states.
    pub(super) fn bounded(&mut self, ty: &Type) -> Expr {
        match ty {
            Type::Bit | Type::Bool | Type::Unsigned(_) => self.value(2),
            _ if self.percent(40) => self.number(),
            _ => {
                let (op, by) =
                    self.weighted(&[(2, (Binary::BitAnd, 1)), (2, (Binary::Rem, 3)), (1, (Binary::BitAnd, 3))]);
                let value = self.value(2);
                Expr::binary(op, value, Expr::Number(by))
            }
        }
    }

    /// A condition that may also test whether channels are full or empty; these tests cannot be negated.
    pub(super) fn guard(&mut self) -> Expr {
        let condition = self.condition(2);
        if !self.with(Feature::Fullness, 25) {
            return condition;
        }
        let Some((channel, _)) = self.channel(Signature::buffered) else { return condition };
        let question = self.weighted(&[(1, "full"), (1, "empty"), (1, "nfull"), (1, "nempty")]);
        let ask = Expr::Ask(question, channel);
        match self.rng.below(3) {
            0 => ask,
            1 => Expr::binary(Binary::Or, condition, ask),
            _ => Expr::binary(Binary::And, ask, condition),
        }
    }

    pub(super) fn condition(&mut self, depth: usize) -> Expr {
        if depth > 0 && self.percent(25) {
            let op = self.weighted(&[(1, Binary::And), (1, Binary::Or)]);
            let (left, right) = (self.condition(depth - 1), self.condition(depth - 1));
            return Expr::binary(op, left, right);
        }
        if depth > 0 && self.percent(10) {
            return Expr::Unary(Unary::Not, Box::new(self.condition(depth - 1)));
        }
        if let Some(special) = self.special_condition() {
            return special;
        }
        let op = self.weighted(&[
            (3, Binary::Eq),
            (3, Binary::Ne),
            (2, Binary::Lt),
            (1, Binary::Le),
            (1, Binary::Gt),
            (2, Binary::Ge),
        ]);
        let left = self.readable().map_or(Expr::Number(1), Expr::Read);
        let right = if self.percent(60) { self.number() } else { self.value(depth) };
        Expr::binary(op, left, right)
    }

    /// A rarer kind of condition, if one is applicable here.
    fn special_condition(&mut self) -> Option<Expr> {
        if self.with(Feature::Poll, 15) {
            let (channel, signature) = self.channel(Signature::buffered)?;
            let anywhere = self.with(Feature::Random, 40);
            let args = self.patterns(&channel, &signature)?;
            return Some(Expr::Poll { channel, anywhere, args });
        }
        if self.with(Feature::Mtypes, 15) {
            return self.mtype_condition();
        }
        if self.with(Feature::Last, 15) {
            return Some(Expr::binary(Binary::Eq, Expr::word("_last"), Expr::Number(self.rng.below(2) as i32)));
        }
        self.remote_condition()
    }

    fn mtype_condition(&mut self) -> Option<Expr> {
        let (place, ty) = self.place(|v, ty| v.access != Access::WriteOnly && matches!(ty, Type::Mtype(_)))?;
        let Type::Mtype(subtype) = ty else { unreachable!("only mtypes were asked for") };
        let op = if self.percent(60) { Binary::Eq } else { Binary::Ne };
        let constant = self.mtype_constant(&subtype);
        Some(Expr::binary(op, Expr::Read(place), constant))
    }

    pub(super) fn mtype_constant(&mut self, subtype: &Option<String>) -> Expr {
        let (_, names) = self.mtypes.iter().find(|(name, _)| name == subtype).expect("a declared mtype");
        Expr::word(self.rng.pick(names).as_str())
    }
}
