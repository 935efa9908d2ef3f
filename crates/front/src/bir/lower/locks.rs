//! Locks with the semantics of Java's monitors. A lock contains its owner and a count. A waiting thread
//! contains the lock that it waits for; other threads notify it.

use super::copy::parts;
use super::expr::{Reader, Value};
use super::flow::{Body, End, Piece};
use super::scope::Waiting;
use super::types::{DEPTH, OWNER, Type};
use crate::bir::ast::{self, Name};
use crate::diagnostic::Diagnostic;
use crate::kit::Access;
use crate::source::Span;
use entail_ir::{
    Action, Base, BinaryOp, Entry, Expr, FaultKind, Index, LocationId, Place, ProcessTypeId, StatementId, UnaryOp,
};

/// A lock that an expression denotes.
#[derive(Debug)]
pub struct Lock {
    owner: Place,
    depth: Place,
    /// Its number if all indices are 0.
    first: i32,
    /// For each index, the difference between the lock numbers of adjacent elements.
    strides: Vec<i32>,
}

/// A thread that may wait: its number, its type, and the variable that contains the lock it waits for.
#[derive(Clone, Debug)]
pub struct Waiter {
    pub process: i32,
    pub process_type: ProcessTypeId,
    pub name: String,
    pub waiting: Waiting,
}

const TESTS: [&str; 4] = ["lockAvailable", "hasLock", "wasNotified", "threadTerminated"];

/// The location of an ended thread, in every thread.
pub const ENDED: LocationId = LocationId(2);

impl<'t> Reader<'_, 't, '_> {
    /// The tests on locks, such as `lockAvailable(l)`.
    pub(super) fn lock_test(&mut self, name: Name<'t>, args: &[ast::Expr<'t>]) -> Value<'t> {
        let unknown = Value { expr: Expr::Const(0), ty: Type::Unknown };
        if !TESTS.contains(&name.text) {
            let problem =
                Diagnostic::error(name.span, format!("there is nothing to call by the name `{}`", name.text));
            self.problems.unknown(problem, name.text, TESTS);
            return unknown;
        }
        let [arg] = args else {
            let message = format!("`{}` has one argument, not {}", name.text, args.len());
            self.problems.error(name.span, message);
            return unknown;
        };
        let expr = if name.text == "threadTerminated" {
            let thread = self.stored(arg, &Type::Tid);
            let process = Expr::binary(BinaryOp::Sub, thread, Expr::Const(1));
            Some(Expr::At(Box::new(process), ENDED))
        } else {
            self.lock(arg).and_then(|lock| self.test(name, &lock))
        };
        expr.map_or(unknown, |expr| Value { expr, ty: Type::Boolean })
    }

    fn test(&mut self, name: Name<'t>, lock: &Lock) -> Option<Expr> {
        let Some(thread) = self.thread else {
            return self.problems.refuse(name.span, format!("only a thread can ask for `{}`", name.text));
        };
        Some(match name.text {
            "lockAvailable" => lock.available(),
            "hasLock" => lock.is_mine(),
            _ => thread.waiting.as_ref().map_or(Expr::Const(0), |waiting| {
                Expr::binary(BinaryOp::Eq, Expr::load(waiting.lock.clone()), negated(lock.number_plus_1()))
            }),
        })
    }

    pub(super) fn lock(&mut self, expr: &ast::Expr<'t>) -> Option<Lock> {
        let (access, ty) = self.place(expr)?;
        if !matches!(ty, Type::Lock) {
            let message = format!("`{}` is {}, not a lock", self.written(expr.span), ty.describe());
            return self.problems.refuse(expr.span, message);
        }
        let number = |offset: u32| self.scope.locks.binary_search(&offset).unwrap_or_else(|next| next) as i32;
        let first = number(access.offset);
        let strides = access.indices.iter().map(|index| number(access.offset + index.stride) - first).collect();
        let part = |access: Access<'_>, part| access.field(part).place();
        Some(Lock { owner: part(access.clone(), OWNER)?, depth: part(access, DEPTH)?, first, strides })
    }
}

impl Lock {
    pub fn available(&self) -> Expr {
        Expr::binary(BinaryOp::Or, equal(&self.owner, Expr::Const(0)), self.is_mine())
    }

    fn is_mine(&self) -> Expr {
        equal(&self.owner, me())
    }

    /// `value` if the thread holds the lock, else a fault.
    fn if_mine(&self, value: Expr) -> Expr {
        Expr::conditional(self.is_mine(), value, Expr::Fault(FaultKind::NotOwner))
    }

    fn number_plus_1(&self) -> Expr {
        let mut number = Expr::Const(self.first + 1);
        for (Index { value, .. }, stride) in self.owner.indices.iter().zip(&self.strides) {
            let ahead = match stride {
                1 => value.clone(),
                _ => Expr::binary(BinaryOp::Mul, value.clone(), Expr::Const(*stride)),
            };
            number = Expr::binary(BinaryOp::Add, number, ahead);
        }
        number
    }

    /// The same lock, denoted by its number instead of its indices, which may change while a thread waits.
    fn by_number(&self, number_plus_1: Expr) -> Lock {
        let mut rest = Expr::binary(BinaryOp::Sub, number_plus_1, Expr::Const(self.first + 1));
        let mut indices = Vec::new();
        for (index, stride) in self.owner.indices.iter().zip(&self.strides) {
            let stride = Expr::Const((*stride).max(1));
            let value = Expr::binary(BinaryOp::Div, rest.clone(), stride.clone());
            rest = Expr::binary(BinaryOp::Rem, rest, stride);
            indices.push(Index { value, ..index.clone() });
        }
        let part = |part: &Place| Place { indices: indices.clone(), ..part.clone() };
        Lock {
            owner: part(&self.owner),
            depth: part(&self.depth),
            first: self.first,
            strides: self.strides.clone(),
        }
    }
}

impl<'t> Body<'_, 't, '_> {
    /// Acquires a lock that is known to be available.
    pub(super) fn acquire(&mut self, piece: &mut Piece, lock: &Lock, statement: StatementId) {
        let deeper = Expr::binary(BinaryOp::Add, Expr::load(lock.depth.clone()), Expr::Const(1));
        self.push(piece, Action::Assign(Box::new(lock.owner.clone()), me()), statement);
        self.push(piece, Action::Assign(Box::new(lock.depth.clone()), deeper), statement);
    }

    pub(super) fn unlock(&mut self, piece: &mut Piece, lock: &Lock, statement: StatementId) {
        let depth = Expr::load(lock.depth.clone());
        let less = lock.if_mine(Expr::binary(BinaryOp::Sub, depth.clone(), Expr::Const(1)));
        let owner = Expr::conditional(depth, me(), Expr::Const(0));
        self.push(piece, Action::Assign(Box::new(lock.depth.clone()), less), statement);
        self.push(piece, Action::Assign(Box::new(lock.owner.clone()), owner), statement);
    }

    /// Releases the lock, waits for a notification, then acquires the lock with the same count.
    pub(super) fn wait(&mut self, mut piece: Piece, lock: &Lock, span: Span, end: End) {
        let statement = self.statement(span);
        let Some(waiting) = self.reader.thread.and_then(|thread| thread.waiting.clone()) else { return };
        let mine = lock.if_mine(Expr::load(lock.depth.clone()));
        for (place, value) in [
            (&waiting.depth, mine),
            (&waiting.lock, lock.number_plus_1()),
            (&lock.depth, Expr::Const(0)),
            (&lock.owner, Expr::Const(0)),
        ] {
            self.push(&mut piece, Action::Assign(Box::new(place.clone()), value), statement);
        }
        let waits = self.location();
        self.finish(piece, End { location: waits, atomic: false });

        let lock = lock.by_number(negated(Expr::load(waiting.lock.clone())));
        let notified = Expr::binary(BinaryOp::Lt, Expr::load(waiting.lock.clone()), Expr::Const(0));
        let free = equal(&lock.owner, Expr::Const(0));
        let text = format!("{} ends", self.reader.written(span));
        let statement = self.statement_of(span, text);
        let mut piece = Piece::when(waits, Expr::binary(BinaryOp::And, notified, free), statement);
        let mut parts = vec![
            (&lock.owner, me()),
            (&lock.depth, Expr::load(waiting.depth.clone())),
            (&waiting.depth, Expr::Const(0)),
        ];
        if !self.asks_notified {
            // Reset the variable, so that states do not differ in past waits.
            parts.push((&waiting.lock, Expr::Const(0)));
        }
        for (place, value) in parts {
            self.push(&mut piece, Action::Assign(Box::new(place.clone()), value), statement);
        }
        self.finish(piece, end);
    }

    /// Adds one edge from `hub` to `end` for every thread that may be waiting, and one for the case that no
    /// thread waits.
    pub(super) fn notify(&mut self, hub: LocationId, lock: &Lock, span: Span, end: End) {
        if !self.work.spend(self.waiters.len() * parts(&lock.owner.indices)) {
            return;
        }
        for waiter in self.waiters {
            let text = format!("{}: {}({})", self.reader.written(span), waiter.name, waiter.process);
            let statement = self.statement_of(span, text);
            let place = waiter.remote();
            let waits = equal(&place, lock.number_plus_1());
            let mut piece = Piece::when(hub, waits, statement);
            let notified = Action::Assign(Box::new(place), negated(lock.number_plus_1()));
            self.push(&mut piece, notified, statement);
            self.finish(piece, end);
        }
        let text = format!("{}: no thread waits", self.reader.written(span));
        let statement = self.statement_of(span, text);
        self.finish(Piece::new(hub, Entry::Otherwise, statement), end);
    }

    pub(super) fn notify_all(&mut self, piece: &mut Piece, lock: &Lock, statement: StatementId) {
        self.must_own(piece, lock, statement);
        if !self.work.spend(self.waiters.len() * parts(&lock.owner.indices)) {
            return;
        }
        for waiter in self.waiters {
            let place = waiter.remote();
            let waits = equal(&place, lock.number_plus_1());
            let value = Expr::conditional(waits, negated(lock.number_plus_1()), Expr::load(place.clone()));
            self.push(piece, Action::Assign(Box::new(place), value), statement);
        }
    }

    pub(super) fn must_own(&mut self, piece: &mut Piece, lock: &Lock, statement: StatementId) {
        self.push(piece, Action::Guard(lock.if_mine(Expr::Const(1))), statement);
    }
}

impl Waiter {
    /// The variable that contains the awaited lock, as seen by other threads.
    fn remote(&self) -> Place {
        let base = Base::Remote(Box::new(Expr::Const(self.process)), self.process_type);
        Place { base, ..self.waiting.lock.clone() }
    }
}

fn equal(place: &Place, value: Expr) -> Expr {
    Expr::binary(BinaryOp::Eq, Expr::load(place.clone()), value)
}

fn negated(value: Expr) -> Expr {
    Expr::unary(UnaryOp::Negate, value)
}

/// The owner field of a lock that this thread owns.
fn me() -> Expr {
    Expr::binary(BinaryOp::Add, Expr::Myself, Expr::Const(1))
}
