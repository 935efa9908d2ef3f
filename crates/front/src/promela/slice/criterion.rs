//! The slicing criterion: what the properties read, and which runs they distinguish.

use super::Aim;
use super::effects::has_run;
use super::names::{BodyId, Names};
use crate::PropertyKind;
use crate::promela::ast::{
    BinaryOp, Child, Expr, ExprKind, Initialiser, Program, Step, Stmt, StmtKind, Structure, TemporalOp, UnaryOp,
    Unit,
};
use crate::promela::walk;
use entail_temporal::Fairness;

/// The behaviour to be preserved, besides the values of variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Preserve {
    /// Prefixes of runs: loops may terminate.
    Beginnings,
    /// Also whether a process can run infinitely.
    Cycles,
    /// Also where processes can be blocked.
    Ends,
}

/// The requirements of the properties.
#[derive(Clone, Debug)]
pub struct Criterion {
    pub preserve: Preserve,
    pub assertions: bool,
    /// The reason why every step stays, if so.
    pub steps: Option<&'static str>,
    /// Which processes must keep all their locations.
    pub exact: Vec<bool>,
    /// Whether it matters when a process ends.
    pub terminations: bool,
    /// The number of processes is not bounded statically.
    pub unbounded: bool,
}

/// With more processes, the limit on processes may be exceeded.
const FEW: i32 = 100;

impl Criterion {
    /// `program` contains only the selected properties.
    pub fn of(program: &Program, aims: &[Aim], fairness: Fairness, names: &Names) -> Criterion {
        let mut criterion = Criterion {
            preserve: Preserve::Beginnings,
            assertions: false,
            // Not every prefix extends to a run in which all processes move infinitely often.
            steps: (!fairness.is_realizable()).then_some("all processes must move infinitely often"),
            exact: vec![false; names.params.len()],
            terminations: false,
            unbounded: false,
        };
        for aim in aims {
            match aim {
                Aim::Safety { assertions, ends } => {
                    criterion.assertions |= assertions;
                    if *ends {
                        criterion.preserve = Preserve::Ends;
                    }
                }
                Aim::Labels(_) => criterion.keep(Preserve::Cycles),
                Aim::Property(_) => {}
            }
        }
        for unit in &program.units {
            criterion.property(unit);
        }
        let prefixes = aims.iter().filter_map(|aim| match aim {
            Aim::Labels(PropertyKind::Progress) => Some("progress"),
            Aim::Labels(_) => Some("accept"),
            Aim::Safety { .. } | Aim::Property(_) => None,
        });
        let prefixes = prefixes.collect();
        let mut features =
            ModelFeatures { criterion, names, prefixes, runs: false, pids: false, body: BodyId(0), started: 0 };
        features.look(program);
        let ModelFeatures { mut criterion, runs, pids, started, .. } = features;
        criterion.unbounded |= started > FEW;
        criterion.terminations = criterion.unbounded || runs && pids;
        criterion
    }

    fn keep(&mut self, preserve: Preserve) {
        self.preserve = self.preserve.max(preserve);
    }

    fn keep_steps(&mut self, why: &'static str) {
        self.steps.get_or_insert(why);
    }

    fn property(&mut self, unit: &Unit) {
        match unit {
            Unit::Ltl(formula) | Unit::Ctl(formula) if formula.expr.as_ref().is_some_and(has_next) => {
                self.keep_steps("the property contains a next operator");
            }
            Unit::Ltl(formula) if formula.expr.as_ref().is_none_or(|expr| is_safety(expr, true)) => {}
            Unit::Ltl(_) | Unit::Ctl(_) => self.keep(Preserve::Cycles),
            Unit::Never(_) | Unit::HoaClaim(_) => self.keep_steps("a claim may count steps"),
            Unit::Trace(_) => self.keep_steps("a trace constrains all messages"),
            Unit::Proctype(_) | Unit::Init(_) | Unit::Typedef(_) | Unit::Mtype(_) | Unit::Decl(_) => {}
        }
    }
}

fn has_next(formula: &Expr) -> bool {
    walk::any(formula, |inner| matches!(inner.kind, ExprKind::Temporal(TemporalOp::Next, _)))
}

/// Whether a prefix of a run shows that the formula is violated, or satisfied if it is not `wanted`.
fn is_safety(formula: &Expr, wanted: bool) -> bool {
    match &formula.kind {
        ExprKind::Unary(UnaryOp::Not, operand) => is_safety(operand, !wanted),
        ExprKind::Binary(BinaryOp::And | BinaryOp::Or, left, right) => {
            is_safety(left, wanted) && is_safety(right, wanted)
        }
        ExprKind::Temporal(op, operands) => {
            let all = |wanted: bool| operands.iter().all(|operand| is_safety(operand, wanted));
            match op {
                TemporalOp::Always | TemporalOp::WeakUntil | TemporalOp::Release => wanted && all(wanted),
                TemporalOp::Eventually | TemporalOp::Until => !wanted && all(wanted),
                TemporalOp::Implies => {
                    operands.first().is_some_and(|first| is_safety(first, !wanted))
                        && operands.last().is_some_and(|last| is_safety(last, wanted))
                }
                TemporalOp::Equivalent => all(true) && all(false),
                TemporalOp::Next => false,
            }
        }
        ExprKind::Runs(..) => false,
        _ => true,
    }
}

/// Searches a model for dependencies between processes other than variables and channels.
struct ModelFeatures<'a, 'p> {
    criterion: Criterion,
    names: &'a Names<'p>,
    /// The prefixes of relevant labels.
    prefixes: Vec<&'static str>,
    /// Whether processes are started.
    runs: bool,
    /// Whether numbers of processes are used.
    pids: bool,
    body: BodyId,
    /// An upper bound on the number of processes.
    started: i32,
}

impl ModelFeatures<'_, '_> {
    fn look(&mut self, program: &Program) {
        walk::each_expr(program, &mut |expr| self.expr(expr));
        for (number, process) in program.processes().enumerate() {
            self.body = BodyId(number);
            match process.proctype {
                Some(proctype) => {
                    if proctype.provided.is_some() {
                        self.criterion.keep_steps("a process may move only while a condition holds");
                    }
                    self.criterion.exact[number] |= proctype.deterministic;
                    self.started += match proctype.active.as_ref().map(|count| &count.kind) {
                        None => 0,
                        Some(ExprKind::Const(count)) => *count,
                        Some(_) => FEW,
                    };
                }
                None => self.started += 1,
            }
            if process.priority.is_some() {
                self.criterion.keep_steps("processes have priorities");
            }
            self.steps(process.body, process.proctype.is_none());
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Timeout => self.criterion.keep_steps("`timeout` depends on all processes"),
            ExprKind::NonProgress => self.criterion.keep_steps("`np_` depends on all processes"),
            ExprKind::Enabled(_) | ExprKind::PcValue(_) => {
                self.criterion.keep_steps("the location of a process is read");
            }
            ExprKind::GetPriority(_) => self.criterion.keep_steps("processes have priorities"),
            ExprKind::Var(var) => match &*var.parts[0].name.name {
                "_nr_pr" => self.criterion.keep_steps("`_nr_pr` depends on all processes"),
                "_last" => self.criterion.keep_steps("`_last` depends on all processes"),
                "_priority" => self.criterion.keep_steps("processes have priorities"),
                "_pid" => self.pids = true,
                _ => {}
            },
            ExprKind::RemoteLabel { proctype, .. } | ExprKind::RemoteVar { proctype, .. } => {
                self.pids = true;
                match self.names.proctypes.get(&proctype.name) {
                    Some(body) => self.criterion.exact[body.0] = true,
                    None => self.criterion.keep_steps("variables of another process are read"),
                }
            }
            ExprKind::Run { priority, .. } => {
                self.runs = true;
                if priority.is_some() {
                    self.criterion.keep_steps("processes have priorities");
                }
            }
            ExprKind::Const(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Conditional(..)
            | ExprKind::Len(_)
            | ExprKind::Channel(..)
            | ExprKind::Poll { .. }
            | ExprKind::Temporal(..)
            | ExprKind::Runs(..) => {}
        }
    }

    /// Processes that are started once, by `init`, can be counted.
    fn steps(&mut self, steps: &[Step], once: bool) {
        for step in steps {
            match step {
                Step::Decl(decl) => {
                    for var in &decl.vars {
                        if matches!(&var.init, Some(Initialiser::Expr(value)) if has_run(value)) {
                            self.pids = true;
                            self.start(once);
                        }
                    }
                }
                Step::Exclusive(_) => {}
                Step::Stmt(stmt) => self.statement(stmt, once),
            }
        }
    }

    fn start(&mut self, once: bool) {
        self.started += 1;
        self.criterion.unbounded |= !once;
    }

    fn statement(&mut self, stmt: &Stmt, once: bool) {
        match stmt.kind.structure() {
            Structure::Simple => self.simple(stmt, once),
            Structure::Labelled(label, inner) => {
                if self.prefixes.iter().any(|prefix| label.name.starts_with(prefix)) {
                    self.criterion.exact[self.body.0] = true;
                }
                // A jump may come back here.
                self.statement(inner, false);
            }
            Structure::If(branches) => branches.iter().for_each(|branch| self.steps(&branch.body, once)),
            Structure::Do(branches) => branches.iter().for_each(|branch| self.steps(&branch.body, false)),
            Structure::For(body) => self.steps(body, false),
            Structure::Atomic(body)
            | Structure::DStep(body)
            | Structure::Block(body)
            | Structure::Inlined(_, body) => self.steps(body, once),
            Structure::Unless(body, escape) => {
                self.statement(body, once);
                self.statement(escape, once);
            }
            Structure::Break | Structure::Goto(_) => {}
        }
    }

    fn simple(&mut self, stmt: &Stmt, once: bool) {
        let sets_priority = match &stmt.kind {
            StmtKind::Assign(var, _) => &*var.parts[0].name.name == "_priority",
            kind => matches!(kind, StmtKind::SetPriority(..)),
        };
        if sets_priority {
            self.criterion.keep_steps("processes have priorities");
        }
        stmt.kind.each_child(&mut |child| {
            if let Child::Expr(value) = child
                && has_run(value)
            {
                // A `run` alone is a statement that ignores the number of the process.
                self.pids |= !matches!((&stmt.kind, &value.kind), (StmtKind::Expr(_), ExprKind::Run { .. }));
                self.start(once);
            }
        });
    }
}
