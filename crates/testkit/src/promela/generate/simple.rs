//! Simple statements.

use super::scope::{Access, is_integer};
use super::*;

/// A kind of statement: its weight, the feature that it needs, and its generator. `None` means that no
/// statement of this kind is possible here.
type Form = (usize, Option<Feature>, fn(&mut Generator) -> Option<Block>);

const FORMS: &[Form] = &[
    (20, None, Generator::assign),
    (6, None, Generator::bump),
    (3, None, Generator::wait),
    (1, None, |_| Some(vec![Stmt::Guard(Expr::word("skip"))])),
    (6, Some(Feature::Asserts), Generator::assert),
    (3, Some(Feature::Prints), Generator::print),
    (14, Some(Feature::Buffered), Generator::communicate),
    (18, Some(Feature::Rendezvous), Generator::communicate),
    (8, Some(Feature::ChannelMessages), Generator::borrowed_channel),
    (6, Some(Feature::ChannelAssignment), Generator::borrowed_channel),
    (4, Some(Feature::Mtypes), Generator::assign_mtype),
    (4, Some(Feature::Hidden), Generator::scribble),
    (8, Some(Feature::Inline), Generator::call),
    (8, Some(Feature::Return), Generator::call),
    (5, Some(Feature::Priority), Generator::set_priority),
    (10, Some(Feature::Enabled), Generator::enabled),
    (4, Some(Feature::Timeout), Generator::timeout),
    (6, Some(Feature::Scopes), Generator::declare),
    (20, Some(Feature::OutOfBounds), Generator::out_of_bounds),
    (10, None, Generator::choice),
    (12, Some(Feature::Loops), Generator::repeat),
    (6, Some(Feature::For), Generator::for_range),
    (12, Some(Feature::ForArray), Generator::for_array),
    (9, Some(Feature::ForChannel), Generator::for_channel),
    (9, Some(Feature::Select), Generator::select),
    (12, Some(Feature::Unless), Generator::unless),
    (12, Some(Feature::Atomic), Generator::atomic),
    (12, Some(Feature::DStep), Generator::d_step),
    (4, Some(Feature::Scopes), Generator::group),
    (8, Some(Feature::Goto), Generator::goto),
    (25, Some(Feature::Break), Generator::leave_loop),
];

impl Generator {
    /// Generates statements until the fuel is used up.
    pub(super) fn block(&mut self) -> Block {
        let mut block = Vec::new();
        while self.fuel > 0 {
            let mut statements = self.statement();
            // SPIN takes the end of a loop for a jump into a `d_step` that follows it.
            let compound = block.last().is_some_and(|stmt| !is_basic(stmt));
            if compound && matches!(statements.first(), Some(Stmt::Group(Group::DStep, _))) {
                block.push(Stmt::Guard(Expr::word("skip")));
            }
            block.append(&mut statements);
        }
        if block.iter().all(|stmt| matches!(stmt, Stmt::Declare(_))) {
            block.push(Stmt::Guard(Expr::word("skip")));
        }
        block
    }

    /// One to three statements from the remaining fuel, for the inside of another statement.
    pub(super) fn small_block(&mut self) -> Block {
        let share = self.between(1, 4).min(self.fuel.max(1));
        let rest = self.fuel.saturating_sub(share);
        self.fuel = share;
        let mut block = self.block();
        self.fuel = rest;
        // SPIN allows no label on the first statement of a block.
        if matches!(block.first(), Some(Stmt::Labelled(..))) {
            block.insert(0, Stmt::Guard(Expr::word("skip")));
        }
        block
    }

    /// One statement, or a few related ones.
    fn statement(&mut self) -> Block {
        self.fuel = self.fuel.saturating_sub(1);
        for _ in 0..10 {
            let allowed = FORMS.iter().filter(|(_, feature, _)| feature.is_none_or(|f| self.allowed.contains(f)));
            let entries: Vec<_> = allowed.map(|form| (form.0, form)).collect();
            let (_, feature, make) = self.weighted(&entries);
            if let Some(block) = make(self) {
                if let Some(feature) = *feature {
                    self.used.insert(feature);
                }
                return block;
            }
        }
        vec![Stmt::Guard(Expr::word("skip"))]
    }

    /// A statement that may block, with an alternative in careful programs.
    pub(super) fn blocking(&mut self, stmt: Stmt) -> Block {
        debug_assert!(self.here.region != Region::DStep);
        if self.careful && self.percent(70) {
            let else_allowed = !self.allowed.contains(Feature::Exclusive);
            let other = match self.rng.below(3) {
                0 if self.with(Feature::Timeout, 100) => Stmt::Guard(Expr::word("timeout")),
                0 | 1 if else_allowed => Stmt::Else,
                _ => Stmt::Guard(Expr::word("skip")),
            };
            if !self.here.deterministic {
                return vec![Stmt::Choice(vec![vec![stmt], vec![other]])];
            }
        }
        let plain = self.here.region == Region::Plain && !self.here.in_inline;
        if plain && self.percent(if self.careful { 90 } else { 25 }) {
            self.used.insert(Feature::Labels);
            return vec![Stmt::Labelled(self.fresh("end"), Box::new(stmt))];
        }
        vec![stmt]
    }

    pub(super) fn assign(&mut self) -> Option<Block> {
        let (place, ty) = self.writable()?;
        let value = self.bounded(&ty);
        Some(vec![Stmt::Assign(place, value)])
    }

    /// A counter needs a bound: a type that wraps around early, or a test.
    fn bump(&mut self) -> Option<Block> {
        let (place, ty) = self.writable()?;
        let (op, test, limit) =
            if self.percent(50) { ("++", Binary::Lt, 3) } else { ("--", Binary::Gt, self.rng.below(2) as i32) };
        let bump = Stmt::Bump(place.clone(), op);
        if matches!(ty, Type::Bit | Type::Bool | Type::Unsigned(_)) {
            return Some(vec![bump]);
        }
        let test = Stmt::Guard(Expr::binary(test, Expr::Read(place), Expr::Number(limit)));
        Some(vec![Stmt::Choice(vec![vec![test, bump], vec![Stmt::Else]])])
    }

    fn wait(&mut self) -> Option<Block> {
        if self.here.region == Region::DStep {
            return None;
        }
        let condition = self.guard();
        Some(self.blocking(Stmt::Guard(condition)))
    }

    /// Waits until another process is enabled. Not for the process itself, which SPIN forbids; not for each
    /// other, where SPIN's verifier recurses infinitely; and not as a later option of a choice, where an
    /// `else` of the other process is taken for one of this process.
    fn enabled(&mut self) -> Option<Block> {
        if self.here.process == 0 || self.here.in_inline || self.here.region == Region::DStep {
            return None;
        }
        Some(self.blocking(Stmt::Guard(Expr::Apply("enabled".into(), vec![Expr::Number(0)]))))
    }

    fn timeout(&mut self) -> Option<Block> {
        if self.here.region != Region::Plain {
            return None;
        }
        Some(vec![Stmt::Guard(Expr::word("timeout"))])
    }

    fn assert(&mut self) -> Option<Block> {
        let condition = self.guard();
        let condition = if self.careful && self.percent(85) {
            let place = self.readable()?;
            // True of every value that the bounded assignments produce.
            let always = Expr::binary(Binary::Lt, Expr::Read(place), Expr::Number(300));
            Expr::binary(Binary::Or, condition, always)
        } else {
            condition
        };
        Some(vec![Stmt::Assert(condition)])
    }

    fn print(&mut self) -> Option<Block> {
        if self.percent(30)
            && let Some((subtype, _)) = self.pick(&self.mtypes.clone())
        {
            let constant = self.mtype_constant(&subtype);
            return Some(vec![Stmt::PrintM(constant)]);
        }
        let count = self.rng.below(3);
        Some(vec![Stmt::Print((0..count).map(|_| self.value(1)).collect())])
    }

    fn communicate(&mut self) -> Option<Block> {
        if self.here.region == Region::DStep {
            return if self.allowed.contains(Feature::Exclusive) { None } else { self.guarded_communication() };
        }
        let stmt = self.communication()?;
        Some(self.blocking(stmt))
    }

    fn assign_mtype(&mut self) -> Option<Block> {
        let (place, ty) = self.place(|v, ty| v.access == Access::ReadWrite && matches!(ty, Type::Mtype(_)))?;
        let Type::Mtype(subtype) = ty else { unreachable!("only mtypes were asked for") };
        let constant = self.mtype_constant(&subtype);
        Some(vec![Stmt::Assign(place, constant)])
    }

    fn scribble(&mut self) -> Option<Block> {
        let (place, _) = self.place(|v, _| v.access == Access::WriteOnly)?;
        let value = self.value(1);
        Some(vec![Stmt::Assign(place, value)])
    }

    fn call(&mut self) -> Option<Block> {
        // Inlines may contain choices.
        if self.here.in_inline || self.here.deterministic {
            return None;
        }
        let position = self.rng.below(self.inlines.len());
        let Inline { name, params, returns, region } = &self.inlines[position];
        let (name, params, returns, region) = (name.clone(), *params, *returns, *region);
        if self.here.region == Region::DStep && region != Region::DStep || self.here.no_channels {
            return None;
        }
        // The text of an argument is substituted into other text: a place and a number are safe there. Not an
        // array element: as the index of its own array, SPIN would undo the step incorrectly.
        let place = self.place(|v, ty| v.access != Access::WriteOnly && super::is_index(ty));
        let place = place.map(|(place, _)| place).filter(|place| place.index.is_none() && place.field.is_none());
        let given = match place {
            Some(place) if self.percent(60) => Expr::Read(place),
            _ => Expr::Number(self.rng.below(3) as i32),
        };
        let (target, _) = self.writable()?;
        let mut args = vec![given];
        if params > 1 {
            args.push(Expr::Read(target.clone()));
        }
        Some(vec![Stmt::Call { result: returns.then_some(target), name, args }])
    }

    fn set_priority(&mut self) -> Option<Block> {
        let pid = self.pid();
        Some(vec![Stmt::SetPriority(pid, Expr::Number(self.between(1, 4) as i32))])
    }

    /// A declaration after the first statement, which SPIN treats as an assignment too.
    fn declare(&mut self) -> Option<Block> {
        if self.here.in_inline {
            return None;
        }
        let name = self.fresh("v");
        if self.allowed.contains(Feature::Records) && self.with(Feature::LocalRecords, 40) {
            let ty = Type::Record("Msg".into());
            self.scope.declare(&name, ty.clone(), None, Access::ReadWrite);
            return Some(vec![Stmt::Declare(Decl::plain(ty, name))]);
        }
        let ty = self.integer_type();
        let init = if self.percent(60) { Some(Init::Value(self.bounded(&ty))) } else { None };
        self.scope.declare(&name, ty.clone(), None, Access::ReadWrite);
        Some(vec![Stmt::Declare(Decl { init, ..Decl::plain(ty, name) })])
    }

    /// Reads past the end of an array: SPIN reports it, then continues with the adjacent memory.
    fn out_of_bounds(&mut self) -> Option<Block> {
        let arrays: Vec<_> = self.scope.variables.iter().filter(|v| is_integer(&v.ty)).cloned().collect();
        let variable = self.pick(&arrays)?;
        let length = variable.array?;
        self.compare = Compare::VerdictOnly;
        let index = Some(Box::new(Expr::Number(length as i32)));
        let place = Place { name: variable.name, index, field: None };
        let condition = Expr::binary(Binary::Ge, Expr::Read(place), Expr::Number(-9));
        Some(vec![Stmt::Assert(condition)])
    }
}

fn is_basic(stmt: &Stmt) -> bool {
    matches!(
        stmt,
        Stmt::Assign(..)
            | Stmt::Bump(..)
            | Stmt::Guard(_)
            | Stmt::Assert(_)
            | Stmt::Print(_)
            | Stmt::PrintM(_)
            | Stmt::Send { .. }
            | Stmt::Receive { .. }
    )
}
