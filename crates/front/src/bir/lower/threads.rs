//! Threads: their variables, their initial instances, and the set of threads that may wait.

use super::expr::{MAX_BYTES, Reader};
use super::flow::Body;
use super::locks::Waiter;
use super::scope::{Declared, Thread, Variable, Waiting};
use super::types::Type;
use super::{Lowering, collapsed};
use crate::bir::ast::{self, ActionKind, Member, Model, Monitor, Name};
use crate::diagnostic::Diagnostic;
use crate::kit::{Access, frame_variable};
use entail_ir::interpret::MAX_PROCESSES;
use entail_ir::{Base, BinaryOp, Expr, Frame, Init, Place, ProcessTypeId, Scalar, Shape, Start};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

const MAX_THREADS: usize = 256;

/// Limit on the variables of all threads together; larger states are impossible.
const MAX_LOCAL_BYTES: u32 = 4 * MAX_BYTES;

impl<'t> Lowering<'_, 't, '_> {
    pub(super) fn threads(&mut self, model: &Model<'t>) {
        let mut threads: Vec<&ast::Thread<'t>> = Vec::new();
        for member in &model.members {
            if let Member::Thread(thread) = member {
                threads.push(thread);
            }
        }
        if threads.is_empty() {
            let problem = Diagnostic::general("the model has no thread");
            return self.problems.report(problem.hint("declare one with `active thread T() { loc first: … }`"));
        }
        if let Some(thread) = threads.get(MAX_THREADS) {
            return self.problems.error(thread.name.span, format!("the model has more than {MAX_THREADS} threads"));
        }
        for thread in &threads {
            let number = self.scope.threads.len();
            match self.scope.thread_numbers.get(thread.name.text) {
                Some(first) => {
                    self.problems.twice(thread.name.text, thread.name.span, self.scope.threads[*first].name.span)
                }
                None => {
                    self.scope.thread_numbers.insert(thread.name.text, number);
                }
            }
            self.signature(number, thread);
        }
        let mut started = HashSet::new();
        for thread in &threads {
            thread.each_action(|action| {
                if let ActionKind::Start { thread, .. } = &action.kind {
                    started.insert(thread.text);
                }
            });
        }
        self.automata.system.reclaims = !started.is_empty();
        for (number, thread) in threads.iter().enumerate() {
            self.start(number, thread, started.contains(thread.name.text));
        }
        if self.automata.system.start.is_empty() && !self.problems.has_errors() {
            let problem = Diagnostic::general("no thread is active: the model has no steps");
            self.problems.report(problem.hint("write `active` before a thread"));
        }
        let waiters = self.waiters(&started);
        for (number, thread) in threads.iter().enumerate() {
            self.body(number, thread, &waiters);
        }
    }

    /// Declares the variables of a thread.
    fn signature(&mut self, number: usize, thread: &ast::Thread<'t>) {
        let text = collapsed(self.sources.text(thread.head));
        let declared_at = self.automata.statement(self.sources, thread.head, text);
        self.scope.threads.push(Thread {
            name: thread.name,
            params: Vec::new(),
            param_places: Vec::new(),
            locals: HashMap::new(),
            frame: Frame::default(),
            waiting: None,
            declared_at,
        });
        for variables in &thread.params {
            self.locals(number, variables, true);
        }
        for variables in &thread.locals {
            self.locals(number, variables, false);
        }
        let mut waits = false;
        thread.each_action(|action| waits |= matches!(action.kind, ActionKind::Monitor(Monitor::Wait, _)));
        if waits {
            let locks = self.scope.locks.len() as i32;
            let frame = &mut self.scope.threads[number].frame;
            let mut hidden = |name: &str, scalar: Scalar| {
                Place::local(frame_variable(frame, name, Shape::Scalar(scalar)), scalar)
            };
            let lock = hidden("(waits)", Scalar::within(entail_ir::Range { low: -locks, high: locks }));
            let depth = hidden("(depth)", Scalar::unsigned(8));
            self.scope.threads[number].waiting = Some(Waiting { lock, depth });
        }
    }

    fn locals(&mut self, number: usize, variables: &ast::Variables<'t>, are_params: bool) {
        let ty = self.reader(Some(number)).ty(&variables.ty);
        for (name, init) in &variables.names {
            let mut ty = self.room(&ty, self.scope.threads[number].frame.size, *name);
            if ty.has_lock() {
                let problem =
                    Diagnostic::error(variables.ty.span, "a lock inside a thread: no other thread could hold it");
                self.problems.report(problem.hint("declare it outside of the threads"));
                ty = Type::Unknown;
            }
            let total: u32 = self.scope.threads.iter().map(|thread| thread.frame.size).sum();
            if total.saturating_add(ty.size()) > MAX_LOCAL_BYTES {
                let message = format!("the variables of all threads take more than {MAX_LOCAL_BYTES} bytes");
                self.problems.error(name.span, message);
                ty = Type::Unknown;
            }
            self.local(number, *name, ty, init.as_ref(), are_params);
        }
    }

    fn local(&mut self, number: usize, name: Name<'t>, ty: Type<'t>, init: Option<&ast::Expr<'t>>, is_param: bool) {
        let shape = ty.shape();
        let offset = frame_variable(&mut self.scope.threads[number].frame, name.text, shape.clone());
        let access = Access::new(Base::Local, offset, &shape);
        if is_param {
            let thread = &mut self.scope.threads[number];
            thread.param_places.extend(access.places());
            thread.params.push(ty.clone());
        } else {
            let init = self.first_value(Some(number), &access, &ty, name, init);
            self.scope.threads[number].frame.init.extend(init);
        }
        match self.scope.threads[number].locals.get(name.text) {
            Some(first) => self.problems.twice(name.text, name.span, first.at),
            None => {
                let what = Variable { ty, shape, offset };
                self.scope.threads[number].locals.insert(name.text, Declared { what, at: name.span });
            }
        }
    }

    /// The initial instances of this thread. A parameter contains the index of the instance.
    fn start(&mut self, number: usize, thread: &ast::Thread<'t>, is_started: bool) {
        let Some(active) = &thread.active else { return };
        let count = match &active.count {
            None => 1,
            Some(count) => match self.reader(None).constant(count, "the number of threads") {
                Some(count @ 0..=255) => count,
                Some(_) => {
                    let message = format!("the number of threads must be 0 to {MAX_PROCESSES}");
                    return self.problems.error(count.span, message);
                }
                None => return,
            },
        };
        let first = self.automata.system.start.len();
        if first + count as usize > MAX_PROCESSES {
            let message = format!("more than {MAX_PROCESSES} threads are active");
            return self.problems.error(active.span, message);
        }
        let start = Start { process_type: ProcessTypeId(number as u16), priority: 1 };
        self.automata.system.start.extend(std::iter::repeat_n(start, count as usize));

        if count > 0 {
            self.count_param(thread, number, (first as i32)..(first as i32 + count), is_started);
        }
    }

    /// Initialises the parameter of the threads `numbers`, if there is one.
    fn count_param(&mut self, thread: &ast::Thread<'t>, number: usize, numbers: Range<i32>, is_started: bool) {
        let Thread { params, param_places, frame, .. } = &mut self.scope.threads[number];
        if let ([Type::Integer(integer)], [place]) = (&params[..], &param_places[..]) {
            let (bounds, last) = (integer.bounds(), numbers.end - numbers.start - 1);
            let fits = integer.wraps || (bounds.low <= 0 && last <= bounds.high);
            if !fits {
                let message = format!("the parameter of `{}` cannot be 0 to {last}", thread.name.text);
                let problem = Diagnostic::error(thread.params[0].ty.span, message);
                return self.problems.report(problem.hint("it counts the threads that are active"));
            }
            let counted = Expr::binary(BinaryOp::Sub, Expr::Myself, Expr::Const(numbers.start));
            let mut value = integer.fitted(counted);
            if is_started {
                // Threads that are started later receive an argument, and have greater numbers.
                let counts = Expr::binary(BinaryOp::Lt, Expr::Myself, Expr::Const(numbers.end));
                value = Expr::conditional(counts, value, Expr::load(place.clone()));
            }
            frame.init.insert(0, Init::Value(place.clone(), value));
        } else if params.iter().any(|ty| !ty.is_unknown()) {
            let message = format!("`{}` is active, so its parameters get no values", thread.name.text);
            let problem = Diagnostic::error(thread.name.span, message);
            self.problems.report(problem.hint("it can have one parameter, a number: which of the threads it is"));
        }
    }

    /// Every thread that may wait, as far as this is known statically.
    fn waiters(&self, started: &HashSet<&str>) -> Vec<Waiter> {
        let waiter = |process: usize, number: usize| {
            let thread = &self.scope.threads[number];
            thread.waiting.clone().map(|waiting| Waiter {
                process: process as i32,
                process_type: ProcessTypeId(number as u16),
                name: thread.name.text.to_owned(),
                waiting,
            })
        };
        let start = &self.automata.system.start;
        let mut waiters = Vec::new();
        for (process, start) in start.iter().enumerate() {
            waiters.extend(waiter(process, start.process_type.index()));
        }
        // Threads that are started later can have any of the remaining numbers.
        for (number, thread) in self.scope.threads.iter().enumerate() {
            if started.contains(thread.name.text) {
                waiters.extend((start.len()..MAX_PROCESSES).filter_map(|process| waiter(process, number)));
            }
        }
        waiters
    }

    fn body(&mut self, number: usize, thread: &ast::Thread<'t>, waiters: &[Waiter]) {
        let known = &self.scope.threads[number];
        let reader =
            Reader { scope: &self.scope, sources: self.sources, thread: Some(known), problems: &mut self.problems };
        let body = Body::new(reader, &mut self.automata, waiters, &mut self.work, thread);
        let automaton = body.automaton(thread);
        let (frame, params) = (known.frame.clone(), known.param_places.clone());
        self.automata.add(thread.name.text, frame, params, automaton, known.declared_at);
    }
}
