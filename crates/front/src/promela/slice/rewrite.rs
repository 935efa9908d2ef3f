//! The sliced model. Statements that stay keep their positions in the text, for reports.

use super::effects::Item;
use super::names::{BodyId, VarId};
use super::relevance::{At, Fate, Relevance};
use crate::promela::ast::{
    Branch, Decl, Declarator, Exclusive, Expr, ExprKind, Ident, Program, Receive, ReceiveArg, Step, Stmt, StmtKind,
    Structure, Unit, VarRef,
};
use crate::promela::{text, walk};
use crate::source::Span;

/// A statement that is not in the slice.
#[derive(Clone, Debug)]
pub struct Removed {
    pub body: BodyId,
    pub span: Span,
    pub text: String,
}

pub fn rewrite(program: &Program, relevance: &Relevance) -> (Program, Vec<Removed>) {
    let mut removed = Vec::new();
    let mut units = Vec::new();
    let mut next = 0;
    for unit in &program.units {
        units.extend(match unit {
            Unit::Proctype(proctype) => {
                let mut body = Body { relevance, id: BodyId(next), removed: &mut removed };
                next += 1;
                let params = proctype.params.iter().filter_map(|decl| body.declaration(decl)).collect();
                let steps = body.top(&proctype.body, proctype.end);
                let mut sliced = proctype.clone();
                (sliced.params, sliced.body) = (params, steps);
                Some(Unit::Proctype(sliced))
            }
            Unit::Init(init) => {
                let mut body = Body { relevance, id: BodyId(next), removed: &mut removed };
                next += 1;
                let mut sliced = init.clone();
                sliced.body = body.top(&init.body, init.end);
                Some(Unit::Init(sliced))
            }
            Unit::Decl(decl) => {
                let is_kept = |var: &&Declarator| {
                    let id = relevance.names.find(None, &var.name.name);
                    id.is_none_or(|id| relevance.is_kept_var(id))
                };
                let vars: Vec<_> = decl.vars.iter().filter(is_kept).cloned().collect();
                (!vars.is_empty()).then(|| Unit::Decl(Decl { vars, ..decl.clone() }))
            }
            Unit::Never(_)
            | Unit::Trace(_)
            | Unit::Ltl(_)
            | Unit::Ctl(_)
            | Unit::HoaClaim(_)
            | Unit::Typedef(_)
            | Unit::Mtype(_) => Some(unit.clone()),
        });
    }
    (Program { units }, removed)
}

/// The context of a sequence.
#[derive(Clone, Copy)]
struct Place {
    /// It begins a branch: its first statement is the guard.
    first: bool,
    /// The sequence must stay atomic.
    indivisible: bool,
}

struct Body<'a, 'r, 'p> {
    relevance: &'a Relevance<'r, 'p>,
    id: BodyId,
    removed: &'a mut Vec<Removed>,
}

impl Body<'_, '_, '_> {
    /// A declaration after the first statement is an assignment, and must not become the first.
    fn top(&mut self, steps: &[Step], end: Span) -> Vec<Step> {
        let first = steps.iter().position(|step| matches!(step, Step::Stmt(_))).unwrap_or(steps.len());
        let mut sliced: Vec<Step> = Vec::new();
        for step in &steps[..first] {
            match step {
                Step::Decl(decl) => sliced.extend(self.declaration(decl).map(Step::Decl)),
                Step::Exclusive(exclusive) => sliced.extend(self.exclusive(exclusive)),
                Step::Stmt(_) => {}
            }
        }
        let rest = self.steps(&steps[first..], Place { first: false, indivisible: false });
        let begins = rest.iter().position(|step| matches!(step, Step::Stmt(_))).unwrap_or(rest.len());
        if rest[..begins].iter().any(|step| matches!(step, Step::Decl(_))) || rest.is_empty() {
            sliced.push(Step::Stmt(skip(end)));
        }
        sliced.extend(rest);
        sliced
    }

    /// The kept steps; there may be none.
    fn steps(&mut self, steps: &[Step], place: Place) -> Vec<Step> {
        let mut sliced = Vec::new();
        let mut gap = None;
        for (index, step) in steps.iter().enumerate() {
            let place = Place { first: place.first && index == 0, ..place };
            let before = sliced.len();
            match step {
                Step::Decl(decl) => gap = self.late(decl, &mut sliced).or(gap),
                Step::Exclusive(exclusive) => sliced.extend(self.exclusive(exclusive)),
                Step::Stmt(stmt) => match self.statement(stmt, place) {
                    Some(stmt) => sliced.push(Step::Stmt(stmt)),
                    None if place.first => sliced.push(Step::Stmt(skip(stmt.span))),
                    None => gap = Some(stmt.span),
                },
            }
            // A label cannot stand at the beginning of most sequences, and an atomic sequence must stay one.
            let labelled =
                matches!(sliced.get(before), Some(Step::Stmt(stmt)) if matches!(stmt.kind, StmtKind::Labelled(..)));
            if sliced.len() > before
                && let Some(span) = gap.take()
                && (place.indivisible || labelled && before == 0)
            {
                sliced.insert(before, Step::Stmt(skip(span)));
            }
        }
        if let Some(span) = gap.filter(|_| place.indivisible) {
            sliced.push(Step::Stmt(skip(span)));
        }
        sliced
    }

    /// The kept steps, or a `skip`.
    fn some_steps(&mut self, steps: &[Step], place: Place, span: Span) -> Vec<Step> {
        let sliced = self.steps(steps, place);
        if sliced.iter().any(|step| matches!(step, Step::Stmt(_))) {
            return sliced;
        }
        sliced.into_iter().chain([Step::Stmt(skip(span))]).collect()
    }

    /// A declaration after the first statement. Returns the span of a removed one.
    fn late(&mut self, decl: &Decl, sliced: &mut Vec<Step>) -> Option<Span> {
        let mut gap = None;
        for var in &decl.vars {
            let graph = &self.relevance.processes[self.id.0].graph;
            let fate = graph.declared.get(&std::ptr::from_ref(var)).map(|&edge| self.fate(edge));
            if self.is_kept(&var.name.name) {
                sliced.push(Step::Decl(Decl { vars: vec![var.clone()], ..decl.clone() }));
                continue;
            }
            let span = var.name.span;
            self.remove(span, format!("{} = …", var.name.name));
            match fate {
                Some(Fate::Step) => sliced.push(Step::Stmt(idle_step(span))),
                Some(Fate::Idle | Fate::Keep) => sliced.push(Step::Stmt(skip(span))),
                Some(Fate::Gone) | None => gap = Some(span),
            }
        }
        gap
    }

    fn declaration(&self, decl: &Decl) -> Option<Decl> {
        let vars: Vec<_> = decl.vars.iter().filter(|var| self.is_kept(&var.name.name)).cloned().collect();
        (!vars.is_empty()).then(|| Decl { vars, ..decl.clone() })
    }

    fn exclusive(&self, exclusive: &Exclusive) -> Option<Step> {
        let is_kept = |channel: &&VarRef| self.is_kept(&channel.parts[0].name.name);
        let channels: Vec<_> = exclusive.channels.iter().filter(is_kept).cloned().collect();
        (!channels.is_empty()).then(|| Step::Exclusive(Exclusive { channels, ..exclusive.clone() }))
    }

    /// Whether a name stays; a name that is no variable does.
    fn is_kept(&self, name: &str) -> bool {
        self.find(name).is_none_or(|id| self.relevance.is_kept_var(id))
    }

    fn find(&self, name: &str) -> Option<VarId> {
        self.relevance.names.find(Some(self.id), name)
    }

    fn fate(&self, edge: super::graph::EdgeId) -> Fate {
        self.relevance.fate(At { body: self.id, edge })
    }

    /// The fate of a simple statement; of the parts of a loop, the one that keeps most.
    fn fate_of(&self, stmt: &Stmt) -> Fate {
        let edges = self.relevance.processes[self.id.0].graph.edge_of.get(&std::ptr::from_ref(stmt));
        let fates: Vec<_> = edges.into_iter().flatten().map(|&edge| self.fate(edge)).collect();
        let order = [Fate::Keep, Fate::Step, Fate::Idle];
        order.into_iter().find(|fate| fates.contains(fate)).unwrap_or(Fate::Gone)
    }

    fn remove(&mut self, span: Span, text: String) {
        self.removed.push(Removed { body: self.id, span, text });
    }

    /// The slice of a statement; `None` if it is removed.
    fn statement(&mut self, stmt: &Stmt, place: Place) -> Option<Box<Stmt>> {
        if self.vanishes(stmt) {
            self.remove_all(stmt);
            return None;
        }
        let with = |kind| Some(Box::new(Stmt { kind, span: stmt.span }));
        match stmt.kind.structure() {
            Structure::Simple => {
                let fate = self.fate_of(stmt);
                if fate != Fate::Keep {
                    self.remove_all(stmt);
                }
                match fate {
                    Fate::Keep => Some(Box::new(self.kept(stmt))),
                    Fate::Step => Some(idle_step(stmt.span)),
                    Fate::Idle => Some(skip(stmt.span)),
                    Fate::Gone => None,
                }
            }
            Structure::Labelled(label, inner) => {
                let inside = self.statement(inner, place).unwrap_or_else(|| skip(inner.span));
                with(StmtKind::Labelled(label.clone(), inside))
            }
            Structure::If(branches) => with(StmtKind::If(self.branches(branches, place))),
            Structure::Do(branches) => with(StmtKind::Do(self.branches(branches, place))),
            Structure::For(body) => {
                let inside = self.some_steps(body, Place { first: false, ..place }, stmt.span);
                with(self.for_loop(stmt, inside))
            }
            Structure::Atomic(body) => {
                with(StmtKind::Atomic(self.some_steps(body, Place { indivisible: true, ..place }, stmt.span)))
            }
            Structure::DStep(body) => {
                with(StmtKind::DStep(self.some_steps(body, Place { indivisible: true, ..place }, stmt.span)))
            }
            Structure::Block(body) => with(StmtKind::Block(self.some_steps(body, place, stmt.span))),
            Structure::Inlined(name, body) => {
                let (name, body) = (name.clone(), self.some_steps(body, place, stmt.span));
                with(StmtKind::Inlined { name, body })
            }
            Structure::Unless(body, escape) => {
                let inside = self.statement(body, place).unwrap_or_else(|| skip(body.span));
                let escape = self.statement(escape, place).unwrap_or_else(|| skip(escape.span));
                with(StmtKind::Unless(inside, escape))
            }
            Structure::Break | Structure::Goto(_) => Some(Box::new(stmt.clone())),
        }
    }

    fn branches(&mut self, branches: &[Branch], place: Place) -> Vec<Branch> {
        let place = Place { first: true, ..place };
        let branch =
            |branch: &Branch| Branch { body: self.some_steps(&branch.body, place, branch.span), span: branch.span };
        branches.iter().map(branch).collect()
    }

    fn for_loop(&self, stmt: &Stmt, body: Vec<Step>) -> StmtKind {
        match (&stmt.kind, self.fate_of(stmt)) {
            (StmtKind::ForRange { var, from, to, .. }, Fate::Keep) => {
                StmtKind::ForRange { var: var.clone(), from: from.clone(), to: to.clone(), body }
            }
            (StmtKind::ForIn { var, over, .. }, Fate::Keep) => {
                StmtKind::ForIn { var: var.clone(), over: over.clone(), body }
            }
            // The number of iterations does not matter, only which statements are reachable.
            (_, _) => {
                let span = stmt.span;
                let again = [Step::Stmt(skip(span))].into_iter().chain(body).collect();
                let remove = vec![Step::Stmt(Box::new(Stmt { kind: StmtKind::Break, span }))];
                StmtKind::Do(vec![Branch { body: again, span }, Branch { body: remove, span }])
            }
        }
    }

    /// A kept statement, without its irrelevant parts.
    fn kept(&self, stmt: &Stmt) -> Stmt {
        let kind = match &stmt.kind {
            StmtKind::Receive(receive) => StmtKind::Receive(self.receive(receive)),
            StmtKind::Assign(var, value) => StmtKind::Assign(var.clone(), self.run(value)),
            StmtKind::Expr(value) => StmtKind::Expr(self.run(value)),
            _ => return stmt.clone(),
        };
        Stmt { kind, span: stmt.span }
    }

    fn receive(&self, receive: &Receive) -> Receive {
        let effect_analysis = self.relevance.effect_analysis(Some(self.id));
        let args = receive.args.iter().map(|arg| match arg {
            ReceiveArg::Var(var)
                if effect_analysis
                    .can_be_discarded(var)
                    .is_some_and(|id| !self.relevance.is_kept(Item::Var(id))) =>
            {
                let name = Ident { name: "_".into(), span: var.span };
                ReceiveArg::Var(VarRef::named(name, var.span))
            }
            ReceiveArg::Var(_) | ReceiveArg::Eval(_) | ReceiveArg::Const(..) => arg.clone(),
        });
        Receive { args: args.collect(), ..receive.clone() }
    }

    /// A new process gets only the arguments that it needs.
    fn run(&self, value: &Expr) -> Expr {
        let ExprKind::Run { proctype, args, priority } = &value.kind else { return value.clone() };
        let names = self.relevance.names;
        let params = names.proctypes.get(&proctype.name).map_or(&[][..], |body| &names.params[body.0]);
        let is_kept = |index: usize| params.get(index).is_none_or(|&id| self.relevance.is_kept_var(id));
        let args = args.iter().enumerate().filter(|(index, _)| is_kept(*index)).map(|(_, arg)| arg.clone());
        let kind = ExprKind::Run { proctype: proctype.clone(), args: args.collect(), priority: priority.clone() };
        Expr { kind, span: value.span }
    }

    /// Whether a compound statement can be removed as a whole: it contains no kept statement, no jump leads into it
    /// or out of it, and its first and last location are equivalent.
    fn vanishes(&self, stmt: &Stmt) -> bool {
        let graph = &self.relevance.processes[self.id.0].graph;
        let Some(&(start, end)) = graph.extents.get(&std::ptr::from_ref(stmt)) else { return false };
        self.relevance.is_same_place(self.id, start, end) && self.is_empty(stmt, 0)
    }

    fn is_empty(&self, stmt: &Stmt, loops: usize) -> bool {
        let empty = |steps: &[Step], loops: usize| {
            steps.iter().all(|step| match step {
                Step::Decl(decl) => decl.vars.iter().all(|var| !self.is_kept(&var.name.name)),
                Step::Exclusive(_) => true,
                Step::Stmt(stmt) => self.is_empty(stmt, loops),
            })
        };
        match stmt.kind.structure() {
            Structure::Simple => self.fate_of(stmt) == Fate::Gone,
            Structure::Labelled(..) | Structure::Goto(_) | Structure::Unless(..) => false,
            Structure::Break => loops > 0,
            Structure::If(branches) => branches.iter().all(|branch| empty(&branch.body, loops)),
            Structure::Do(branches) => branches.iter().all(|branch| empty(&branch.body, loops + 1)),
            Structure::For(body) => self.fate_of(stmt) == Fate::Gone && empty(body, loops + 1),
            Structure::Atomic(body)
            | Structure::DStep(body)
            | Structure::Block(body)
            | Structure::Inlined(_, body) => empty(body, loops),
        }
    }

    /// Records that a statement, and all statements in it, are removed.
    fn remove_all(&mut self, stmt: &Stmt) {
        walk::items_of(stmt, &mut |item| match item {
            walk::Item::Decl(decl) => {
                decl.vars.iter().for_each(|var| self.remove(var.name.span, format!("{} = …", var.name.name)));
            }
            walk::Item::Stmt(stmt) if is_noted(stmt) => self.remove(stmt.span, text::statement(stmt)),
            walk::Item::Stmt(_) => {}
        });
    }
}

/// Whether the removal of a statement is of interest.
fn is_noted(stmt: &Stmt) -> bool {
    match stmt.kind.structure() {
        Structure::Simple => !stmt.is_skip() && !matches!(stmt.kind, StmtKind::Else),
        Structure::For(_) => true,
        Structure::Labelled(..)
        | Structure::If(_)
        | Structure::Do(_)
        | Structure::Atomic(_)
        | Structure::DStep(_)
        | Structure::Block(_)
        | Structure::Inlined(..)
        | Structure::Unless(..)
        | Structure::Break
        | Structure::Goto(_) => false,
    }
}

fn skip(span: Span) -> Box<Stmt> {
    Box::new(Stmt::skip(span))
}

/// A step without effect. Of several `skip`s in a row, SPIN drops some.
fn idle_step(span: Span) -> Box<Stmt> {
    let kind = StmtKind::Assert(Expr::constant(1, span));
    Box::new(Stmt { kind, span })
}
