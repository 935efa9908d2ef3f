//! Lowers transformations to edges.
//!
//! All actions of a transformation are one step. Without a choice they are one block on one edge. A choice splits
//! the block into pieces, which are joined by hidden locations where no other thread can interrupt:
//!
//! ```text
//! do { a; choose when p do b; else do c; end; d; } goto there;
//!
//! here ─ a ─► hub ─ when p: b ─► join ─ d ─► there
//!                └─ otherwise: c ─┘
//! ```

use super::collapsed;
use super::copy::Work;
use super::expr::Reader;
use super::locks::{ENDED, Lock, Waiter};
use crate::bir::ast::{self, ActionKind, Alternative, Jump, Monitor, Name};
use crate::diagnostic::Diagnostic;
use crate::kit::{Automata, Automaton};
use crate::source::Span;
use entail_ir::{
    Action, BinaryOp, Block, BlockNode, Entry, Expr, FaultKind, LocationId, NodeId, ProcessTypeId, Run, StatementId,
};
use std::collections::HashMap;

/// A thread while its locations are being built.
pub struct Body<'a, 't, 'p> {
    pub reader: Reader<'a, 't, 'p>,
    pub automata: &'a mut Automata,
    pub waiters: &'a [Waiter],
    pub asks_notified: bool,
    pub work: &'a mut Work,
    name: Name<'t>,
    automaton: Automaton,
    locations: HashMap<&'t str, (LocationId, Span)>,
    full: bool,
}

const MAX_LOCATIONS: usize = u16::MAX as usize;

/// The target of a piece.
#[derive(Clone, Copy, Debug)]
pub struct End {
    pub location: LocationId,
    /// No other thread may move at the target before this one.
    pub atomic: bool,
}

/// Actions that become one edge.
#[derive(Debug)]
pub struct Piece {
    from: LocationId,
    entry: Entry,
    nodes: Vec<BlockNode>,
    statement: StatementId,
}

impl Piece {
    pub fn new(from: LocationId, entry: Entry, statement: StatementId) -> Self {
        Piece { from, entry, nodes: Vec::new(), statement }
    }

    pub fn when(from: LocationId, condition: Expr, statement: StatementId) -> Self {
        Piece::new(from, Entry::AnyOf(vec![Action::Guard(condition)]), statement)
    }

    fn next(&self) -> NodeId {
        NodeId(self.nodes.len() as u32)
    }

    /// The action of the edge: a block only if it consists of more than a guard.
    fn action(mut self) -> Action {
        if self.nodes.is_empty() {
            match self.entry {
                Entry::Always => return Action::Skip,
                Entry::Otherwise => return Action::Else,
                Entry::AnyOf(mut actions) if actions.len() == 1 => return actions.remove(0),
                Entry::AnyOf(_) => {}
            }
        }
        let end = self.next();
        for node in &mut self.nodes {
            match node {
                BlockNode::Do { next, .. } | BlockNode::Jump(next) => *next = next.filter(|next| *next != end),
                BlockNode::Choose { .. } => {}
            }
        }
        Action::Deterministic(Box::new(Block { entry: self.entry, nodes: self.nodes }))
    }
}

impl<'a, 't, 'p> Body<'a, 't, 'p> {
    pub fn new(
        reader: Reader<'a, 't, 'p>,
        automata: &'a mut Automata,
        waiters: &'a [Waiter],
        work: &'a mut Work,
        thread: &ast::Thread<'t>,
    ) -> Self {
        let asks_notified = thread.asks_notified;
        let (automaton, locations) = (Automaton::default(), HashMap::new());
        Body {
            reader,
            automata,
            waiters,
            asks_notified,
            work,
            name: thread.name,
            automaton,
            locations,
            full: false,
        }
    }

    /// The locations of the thread; the first one is its entry.
    pub fn automaton(mut self, thread: &ast::Thread<'t>) -> Automaton {
        let mut ids = Vec::new();
        for (number, location) in thread.locations.iter().enumerate() {
            let id = self.location();
            ids.push(id);
            if number == 0 {
                let ended = self.location();
                debug_assert_eq!(ended, ENDED);
                self.automaton.end(ended);
            }
            let name = location.name;
            match self.locations.get(name.text) {
                Some((_, first)) => self.reader.problems.twice(name.text, name.span, *first),
                None => {
                    self.locations.insert(name.text, (id, name.span));
                }
            }
            self.automaton.label(id, name.text);
        }
        for (location, id) in thread.locations.iter().zip(ids) {
            for transformation in &location.transformations {
                self.transformation(id, transformation);
            }
            if location.transformations.is_empty() {
                // A location without edges is not a location of the process, so add an edge that is never enabled.
                let statement = self.statement(location.name.span);
                self.finish(Piece::when(id, Expr::Const(0), statement), End { location: id, atomic: false });
            }
        }
        self.automaton
    }

    pub fn location(&mut self) -> LocationId {
        if self.automaton.len() < MAX_LOCATIONS {
            return self.automaton.location();
        }
        if !self.full {
            self.full = true;
            let message = format!("`{}` has more than {MAX_LOCATIONS} locations", self.name.text);
            self.reader.problems.error(self.name.span, message);
        }
        LocationId(1)
    }

    pub fn statement(&mut self, span: Span) -> StatementId {
        let text = collapsed(self.reader.sources.text(span));
        self.statement_of(span, text)
    }

    pub fn statement_of(&mut self, span: Span, text: String) -> StatementId {
        self.automata.statement(self.reader.sources, span, text)
    }

    fn transformation(&mut self, from: LocationId, transformation: &ast::Transformation<'t>) {
        let end = End { location: self.target(transformation.jump), atomic: false };
        let statement = self.statement(transformation.span);
        let mut conditions: Vec<Expr> = Vec::new();
        conditions.extend(transformation.guard.as_ref().map(|guard| self.reader.boolean(guard)));
        let mut actions = &transformation.actions[..];
        let mut lock = None;
        // A blocking action at the beginning becomes the guard of the whole piece.
        if let Some((first, rest)) = actions.split_first() {
            match &first.kind {
                ActionKind::Assume(condition) => {
                    conditions.push(self.reader.boolean(condition));
                    actions = rest;
                }
                ActionKind::Monitor(Monitor::Lock, place) => {
                    lock = self.reader.lock(place).map(|lock| (lock, first.span));
                    conditions.extend(lock.iter().map(|(lock, _)| lock.available()));
                    actions = rest;
                }
                ActionKind::Assign { .. }
                | ActionKind::Start { .. }
                | ActionKind::Assert(_)
                | ActionKind::Skip
                | ActionKind::Exit
                | ActionKind::Monitor(..)
                | ActionKind::If { .. }
                | ActionKind::Choose { .. } => {}
            }
        }
        let condition = conditions.into_iter().reduce(|one, other| Expr::binary(BinaryOp::And, one, other));
        let mut piece = match condition {
            Some(condition) => Piece::when(from, condition, statement),
            None => Piece::new(from, Entry::Always, statement),
        };
        if let Some((lock, span)) = lock {
            let statement = self.statement(span);
            self.acquire(&mut piece, &lock, statement);
        }
        self.run(piece, actions, end, true);
    }

    fn target(&mut self, jump: Jump<'t>) -> LocationId {
        let Jump::Goto(name) = jump else { return ENDED };
        if let Some((location, _)) = self.locations.get(name.text) {
            return *location;
        }
        let message = format!("`{}` has no location `{}`", self.name.text, name.text);
        let problem = Diagnostic::error(name.span, message);
        self.reader.problems.unknown(problem, name.text, self.locations.keys().copied());
        ENDED
    }

    /// Lowers `actions` after `piece`, then continues at `end`. `outermost`: they are the actions of the
    /// transformation itself.
    fn run(&mut self, mut piece: Piece, actions: &[ast::Action<'t>], end: End, outermost: bool) {
        let mut rest = actions;
        while let Some((action, behind)) = rest.split_first() {
            rest = behind;
            if outermost && rest.is_empty() {
                match &action.kind {
                    ActionKind::Monitor(Monitor::Wait, lock) => {
                        if let Some(lock) = self.reader.lock(lock) {
                            self.wait(piece, &lock, action.span, end);
                        }
                        return;
                    }
                    // The jump already shows this.
                    ActionKind::Exit => break,
                    ActionKind::Assign { .. }
                    | ActionKind::Start { .. }
                    | ActionKind::Assert(_)
                    | ActionKind::Assume(_)
                    | ActionKind::Skip
                    | ActionKind::Monitor(..)
                    | ActionKind::If { .. }
                    | ActionKind::Choose { .. } => {}
                }
            }
            if !splits(action) {
                self.action(&mut piece, action);
                continue;
            }
            let hub = self.location();
            let join = match rest {
                [] => end,
                _ => End { location: self.location(), atomic: true },
            };
            self.split(piece, action, hub, join);
            let Some(next) = rest.first() else { return };
            let statement = self.statement(next.span);
            piece = Piece::new(join.location, Entry::Always, statement);
        }
        self.finish(piece, end);
    }

    /// Lowers an action with a choice: several edges lead from `hub` to `join`.
    fn split(&mut self, mut piece: Piece, action: &ast::Action<'t>, hub: LocationId, join: End) {
        let to_hub = End { location: hub, atomic: true };
        match &action.kind {
            ActionKind::Choose { alternatives, otherwise } => {
                self.finish(piece, to_hub);
                let mut told = HashMap::new();
                for Alternative { head, guard, actions } in alternatives {
                    let statement = self.alternative(*head, actions, &mut told);
                    let entry = match guard {
                        Some(guard) => Entry::AnyOf(vec![Action::Guard(self.reader.boolean(guard))]),
                        None => Entry::Always,
                    };
                    self.run(Piece::new(hub, entry, statement), actions, join, false);
                }
                if let Some(Alternative { head, actions, .. }) = otherwise {
                    let statement = self.alternative(*head, actions, &mut told);
                    self.run(Piece::new(hub, Entry::Otherwise, statement), actions, join, false);
                } else if alternatives.iter().all(|alternative| alternative.guard.is_some()) {
                    let statement = self.statement(action.span);
                    let mut stuck = Piece::new(hub, Entry::Otherwise, statement);
                    self.push(&mut stuck, Action::Guard(Expr::Fault(FaultKind::NoAlternative)), statement);
                    self.finish(stuck, join);
                }
            }
            ActionKind::If { condition, yes, no } => {
                self.finish(piece, to_hub);
                let statement = self.statement(action.span);
                let condition = self.reader.boolean(condition);
                self.run(Piece::when(hub, condition, statement), yes, join, false);
                let text = format!("else of {}", self.reader.written(action.span));
                let statement = self.statement_of(action.span, text);
                self.run(Piece::new(hub, Entry::Otherwise, statement), no, join, false);
            }
            ActionKind::Monitor(_, lock) => {
                let Some(lock) = self.reader.lock(lock) else { return };
                let statement = self.statement(action.span);
                self.must_own(&mut piece, &lock, statement);
                self.finish(piece, to_hub);
                self.notify(hub, &lock, action.span, join);
            }
            ActionKind::Assign { .. }
            | ActionKind::Start { .. }
            | ActionKind::Assert(_)
            | ActionKind::Assume(_)
            | ActionKind::Skip
            | ActionKind::Exit => unreachable!("no choice in {action:?}"),
        }
    }

    /// The statement of an alternative. Its text distinguishes it from other alternatives; `told` counts
    /// those with the same text.
    fn alternative(
        &mut self,
        head: Span,
        actions: &[ast::Action<'t>],
        told: &mut HashMap<String, usize>,
    ) -> StatementId {
        let mut end = head;
        ast::each_action(actions, &mut |action| end = action.span);
        let span = head.to(end);
        let mut text = collapsed(self.reader.sources.text(span));
        let count = told.entry(text.clone()).and_modify(|count| *count += 1).or_insert(1);
        if *count > 1 {
            text = format!("{text} (number {count} of these)");
        }
        self.statement_of(span, text)
    }

    /// An action without a choice.
    fn action(&mut self, piece: &mut Piece, action: &ast::Action<'t>) {
        let statement = self.statement(action.span);
        match &action.kind {
            ActionKind::Assign { target, value } => self.assign(piece, target, value, statement),
            ActionKind::Start { target, thread, args } => {
                self.start(piece, target.as_ref(), *thread, args, statement);
            }
            ActionKind::Assert(condition) => {
                let condition = self.reader.boolean(condition);
                self.push(piece, Action::Assert(condition), statement);
            }
            ActionKind::Assume(condition) => {
                let condition = self.reader.boolean(condition);
                self.push(piece, Action::Guard(condition), statement);
            }
            ActionKind::Skip => {}
            ActionKind::Exit => {
                let problem =
                    Diagnostic::error(action.span, "`exit` must be the last action of its transformation");
                self.reader.problems.report(problem);
            }
            ActionKind::Monitor(monitor, lock) => {
                let Some(lock) = self.reader.lock(lock) else { return };
                self.monitor(piece, *monitor, &lock, action.span, statement);
            }
            ActionKind::If { condition, yes, no } => self.branch(piece, condition, yes, no, statement),
            ActionKind::Choose { .. } => unreachable!("a choice is split"),
        }
    }

    fn monitor(&mut self, piece: &mut Piece, monitor: Monitor, lock: &Lock, span: Span, statement: StatementId) {
        match monitor {
            Monitor::Lock => {
                self.push(piece, Action::Guard(lock.available()), statement);
                self.acquire(piece, lock, statement);
            }
            Monitor::Unlock => self.unlock(piece, lock, statement),
            Monitor::NotifyAll => self.notify_all(piece, lock, statement),
            Monitor::Wait => {
                let problem = Diagnostic::error(span, "`wait` must be the last action of its transformation");
                self.reader.problems.report(problem.hint("continue in another location"));
            }
            Monitor::Notify => unreachable!("a choice is split"),
        }
    }

    fn branch(
        &mut self,
        piece: &mut Piece,
        condition: &ast::Expr<'t>,
        yes: &[ast::Action<'t>],
        no: &[ast::Action<'t>],
        statement: StatementId,
    ) {
        let condition = self.reader.boolean(condition);
        let choice = piece.nodes.len();
        piece.nodes.push(BlockNode::Jump(None));
        let first = piece.next();
        self.push(piece, Action::Guard(condition), statement);
        yes.iter().for_each(|action| self.action(piece, action));
        let jump = piece.nodes.len();
        piece.nodes.push(BlockNode::Jump(None));
        let second = piece.next();
        self.push(piece, Action::Else, statement);
        no.iter().for_each(|action| self.action(piece, action));
        piece.nodes[choice] = BlockNode::Choose { alternatives: vec![first, second], statement };
        piece.nodes[jump] = BlockNode::Jump(Some(piece.next()));
    }

    fn assign(&mut self, piece: &mut Piece, target: &ast::Expr<'t>, value: &ast::Expr<'t>, statement: StatementId) {
        let Some((access, ty)) = self.reader.place(target) else {
            // Its value may contain errors of its own.
            self.reader.check(value);
            return;
        };
        for (place, value) in self.reader.copied(&access, &ty, target.span, value, self.work) {
            self.push(piece, Action::Assign(Box::new(place), value), statement);
        }
    }

    fn start(
        &mut self,
        piece: &mut Piece,
        target: Option<&ast::Expr<'t>>,
        thread: Name<'t>,
        args: &[ast::Expr<'t>],
        statement: StatementId,
    ) {
        let scope = self.reader.scope;
        let then = target.and_then(|target| self.reader.thread_place(target));
        let Some(&number) = scope.thread_numbers.get(thread.text) else {
            let problem = Diagnostic::error(thread.span, format!("there is no thread `{}`", thread.text));
            self.reader.problems.unknown(problem, thread.text, scope.thread_numbers.keys().copied());
            args.iter().for_each(|arg| self.reader.check(arg));
            return;
        };
        let started = &scope.threads[number];
        if args.len() != started.params.len() {
            let message = format!("`{}` has {} parameters, not {}", thread.text, started.params.len(), args.len());
            let problem = Diagnostic::error(thread.span, message);
            self.reader.problems.report(problem.related(started.name.span, "declared here"));
            return;
        }
        let mut values = Vec::new();
        for (arg, ty) in args.iter().zip(&started.params) {
            values.extend(self.reader.components(arg, ty, self.work));
        }
        let run = Run { process_type: ProcessTypeId(number as u16), args: values, priority: 1 };
        let tid = Expr::binary(BinaryOp::Add, Expr::Started, Expr::Const(1));
        let then = then.map_or(Action::Skip, |place| Action::Assign(Box::new(place), tid));
        self.push(piece, Action::Run(Box::new(run), Box::new(then)), statement);
    }

    pub fn push(&mut self, piece: &mut Piece, action: Action, statement: StatementId) {
        if self.work.spend(1) {
            let next = Some(NodeId(piece.nodes.len() as u32 + 1));
            piece.nodes.push(BlockNode::Do { action, statement, next });
        }
    }

    pub fn finish(&mut self, piece: Piece, end: End) {
        if !self.work.spend(1) {
            return;
        }
        let (from, statement) = (piece.from, piece.statement);
        let action = piece.action();
        if end.atomic {
            self.automaton.atomic_edge(from, action, end.location, statement);
        } else {
            self.automaton.edge(from, action, end.location, statement);
        }
    }
}

/// Whether an action contains a choice.
fn splits(action: &ast::Action<'_>) -> bool {
    let mut found = false;
    ast::each_action(std::slice::from_ref(action), &mut |action| {
        found |= matches!(action.kind, ActionKind::Choose { .. } | ActionKind::Monitor(Monitor::Notify, _));
    });
    found
}
