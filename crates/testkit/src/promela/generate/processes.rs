//! Processes: their types, who starts them, and their bodies.

use super::scope::Access;
use super::*;

/// Limit on the number of processes of a program.
const MAX_INSTANCES: usize = 4;

/// The number of statements of each process, by the number of processes: their product determines the number
/// of states.
const FUEL: [usize; MAX_INSTANCES + 1] = [14, 14, 8, 5, 3];

/// A process type before its body is written.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    name: String,
    kind: ProcessKind,
    params: Vec<Parameter>,
    /// The number of processes of this type that are started.
    instances: usize,
    /// The number its first process gets, if that is certain.
    pid: Option<usize>,
    /// The types it starts, as indices of plans.
    pub(super) runs: Vec<usize>,
    /// Whether other processes may refer to it: then it has a location to refer to, and does not end.
    watched: bool,
}

#[derive(Clone, Debug)]
enum Parameter {
    Integer(Type),
    /// A channel of this signature.
    Channel(usize),
    Record(String),
}

impl Generator {
    pub(super) fn plan(&mut self) {
        let deterministic = self.with(Feature::Deterministic, 70);
        let plan = |name: &str, kind, instances| Plan {
            name: name.into(),
            kind,
            params: Vec::new(),
            instances,
            pid: None,
            runs: Vec::new(),
            watched: false,
        };
        let active = |count| ProcessKind::Proctype { active: Some(count), deterministic: false };
        let count = if self.with(Feature::Instances, 100) { 2 } else { 1 };
        self.plans.push(plan("A", active(count), count));
        if self.percent(if count == 1 { 65 } else { 30 }) {
            self.plans.push(plan("B", active(1), 1));
        }
        if self.with(Feature::Init, 100) {
            self.plans.push(plan("init", ProcessKind::Init, 1));
        }
        let mut pid = 0;
        for plan in &mut self.plans {
            plan.pid = Some(pid);
            pid += plan.instances;
        }
        if self.allowed.contains(Feature::RemoteLabels) || self.allowed.contains(Feature::RemoteVariables) {
            self.plans[0].watched = true;
        }
        for name in ["S", "T"] {
            if name == "S" && self.allowed.contains(Feature::Run)
                || name == "T" && self.with(Feature::NestedRun, 60)
            {
                let kind = ProcessKind::Proctype { active: None, deterministic: deterministic && name == "S" };
                let mut started = plan(name, kind, 0);
                self.parameters(&mut started);
                self.plans.push(started);
                self.start(self.plans.len() - 1);
            }
        }
    }

    /// Lets an earlier type start this one, once or twice, within the limit on processes.
    fn start(&mut self, started: usize) {
        for _ in 0..2 {
            let starter = self.rng.below(started);
            let total: usize = self.plans.iter().map(|plan| plan.instances).sum();
            let more = self.plans[starter].instances;
            if more > 0 && total + more <= MAX_INSTANCES {
                self.used.insert(Feature::Run);
                self.plans[starter].runs.push(started);
                self.plans[started].instances += more;
            }
        }
    }

    fn parameters(&mut self, plan: &mut Plan) {
        while plan.params.len() < 2 && self.with(Feature::Parameters, 70) {
            let parameter = if !self.signatures.is_empty() && self.with(Feature::ChannelParameters, 50) {
                Parameter::Channel(self.rng.below(self.signatures.len()))
            } else if self.allowed.contains(Feature::Records) && self.with(Feature::RecordParameters, 60) {
                Parameter::Record(if self.percent(50) { "Msg".into() } else { "Box".into() })
            } else {
                match self.integer_type() {
                    Type::Unsigned(_) => Parameter::Integer(Type::Byte),
                    ty => Parameter::Integer(ty),
                }
            };
            plan.params.push(parameter);
        }
    }

    pub(super) fn processes(&mut self) {
        let total: usize = self.plans.iter().map(|plan| plan.instances).sum();
        for number in 0..self.plans.len() {
            let plan = self.plans[number].clone();
            let deterministic = matches!(plan.kind, ProcessKind::Proctype { deterministic: true, .. });
            self.fuel = FUEL[total.min(MAX_INSTANCES)];
            let process = self.nested(
                |here| *here = Context { process: number, deterministic, ..Context::default() },
                |this| this.process(&plan),
            );
            self.units.push(Unit::Process(process));
        }
    }

    fn process(&mut self, plan: &Plan) -> Process {
        let provided = self.with(Feature::Provided, 50).then(|| self.provision());
        let params =
            plan.params.iter().zip(["p0", "p1"]).map(|(param, name)| self.parameter(param, name)).collect();
        self.body = Body::default();
        let mut declared = self.declarations(plan);
        let runs = self.runs(plan);
        let mut body = self.block();
        for stmt in runs {
            let position = self.rng.below(2).min(body.len());
            body.insert(position, stmt);
        }
        self.insert_labels(plan, &mut body);
        declared.append(&mut self.body.prologue);
        if self.allowed.contains(Feature::Priority) {
            // Without a byte after it, SPIN takes a part of a process's priority for padding.
            declared.insert(0, Stmt::Declare(Decl::plain(Type::Byte, "spare")));
        }
        if let Some((channel, _)) = self.exclusive() {
            declared.push(Stmt::Exclusive(if self.percent(50) { "xr" } else { "xs" }, channel));
        }
        declared.append(&mut body);
        Process {
            kind: plan.kind,
            name: plan.name.clone(),
            params,
            priority: self.with(Feature::Priority, 50).then(|| self.between(1, 4) as u8),
            provided: provided.filter(|_| plan.kind != ProcessKind::Init),
            body: declared,
        }
    }

    /// Refers to globals only, whatever the process.
    fn provision(&mut self) -> Expr {
        match self.readable() {
            Some(place) => Expr::binary(Binary::Ne, Expr::Read(place), Expr::Number(2)),
            None => Expr::binary(Binary::Ge, Expr::word("_pid"), Expr::Number(0)),
        }
    }

    fn parameter(&mut self, parameter: &Parameter, name: &str) -> Decl {
        match parameter {
            Parameter::Integer(ty) => {
                self.scope.declare(name, ty.clone(), None, Access::ReadWrite);
                Decl::plain(ty.clone(), name)
            }
            Parameter::Channel(signature) => {
                self.scope.channels.push(Channel {
                    name: name.into(),
                    array: None,
                    signature: *signature,
                    declared: false,
                });
                Decl::plain(Type::Chan, name)
            }
            Parameter::Record(record) => {
                let ty = Type::Record(record.clone());
                self.scope.declare(name, ty.clone(), None, Access::ReadWrite);
                Decl::plain(ty, name)
            }
        }
    }

    fn declarations(&mut self, plan: &Plan) -> Block {
        let mut block = Vec::new();
        if plan.watched {
            self.scope.declare("seen", Type::Byte, None, Access::ReadWrite);
            block.push(Stmt::Declare(Decl::plain(Type::Byte, "seen")));
        }
        for name in ["a", "b"] {
            if self.with(Feature::Locals, 40) {
                let ty = self.integer_type();
                let decl = self.variable(ty, name);
                self.scope.declare(name, decl.ty.clone(), decl.array, Access::ReadWrite);
                block.push(Stmt::Declare(decl));
            }
        }
        if self.allowed.contains(Feature::Records) && self.with(Feature::LocalRecords, 60) {
            let ty = Type::Record(if self.percent(50) { "Msg".into() } else { "Box".into() });
            let array = self.with(Feature::Arrays, 30).then_some(2);
            self.scope.declare("lr", ty.clone(), array, Access::ReadWrite);
            block.push(Stmt::Declare(Decl { array, ..Decl::plain(ty, "lr") }));
        }
        if !self.signatures.is_empty() && self.with(Feature::LocalChannels, 40) {
            let signature = self.rng.below(self.signatures.len());
            let decl = self.channel_decl("own", None, &self.signatures[signature].clone());
            self.scope.channels.push(Channel { name: "own".into(), array: None, signature, declared: true });
            block.push(Stmt::Declare(decl));
        }
        block
    }

    /// Two process types must not claim the same channel, so only one type claims any.
    fn exclusive(&mut self) -> Option<(Place, Signature)> {
        if self.here.process > 0 || !self.with(Feature::Exclusive, 70) {
            return None;
        }
        // SPIN expects the name of a channel here, not an element of an array.
        self.channel(Signature::buffered).filter(|(channel, _)| channel.index.is_none())
    }

    /// Processes are started only at the top level and outside of loops, so that their number is bounded.
    fn runs(&mut self, plan: &Plan) -> Block {
        let mut together = Vec::new();
        for &started in &plan.runs {
            let run = self.run(started);
            let stmt = if self.with(Feature::Pids, 30) {
                let keeper = self.fresh("k");
                self.body.prologue.push(Stmt::Declare(Decl::plain(Type::Pid, &keeper)));
                Stmt::Assign(Place::named(keeper), run)
            } else {
                Stmt::Guard(run)
            };
            together.push(stmt);
        }
        if together.len() > 1 && self.with(Feature::Atomic, 60) {
            together = vec![Stmt::Group(Group::Atomic, together)];
        }
        together
    }

    fn run(&mut self, started: usize) -> Expr {
        let plan = self.plans[started].clone();
        let args = plan
            .params
            .iter()
            .map(|param| match param {
                Parameter::Integer(ty) => self.bounded(ty),
                Parameter::Channel(signature) => {
                    let same: Vec<Channel> =
                        self.scope.channels.iter().filter(|c| c.signature == *signature).cloned().collect();
                    let channel = self.pick(&same).expect("global channels are always there");
                    let index = channel.array.map(|length| Box::new(Expr::Number(length as i32 - 1)));
                    Expr::Read(Place { name: channel.name, index, field: None })
                }
                Parameter::Record(record) => {
                    Expr::Read(self.record(record).expect("there is a global one of each type"))
                }
            })
            .collect();
        let priority = self.with(Feature::Priority, 50).then(|| self.between(1, 4) as u8);
        Expr::Run { process: plan.name, args, priority }
    }

    fn insert_labels(&mut self, plan: &Plan, body: &mut Block) {
        if self.body.jumps_back {
            let fits = |stmt: &Stmt| !matches!(stmt, Stmt::Declare(_) | Stmt::Group(Group::DStep, _));
            let places: Vec<usize> = (0..body.len()).filter(|&at| fits(&body[at])).collect();
            match self.pick(&places) {
                Some(at) => {
                    let stmt = Box::new(body.remove(at));
                    body.insert(at, Stmt::Labelled("again".into(), stmt));
                }
                None => self.body.jumps_out = true,
            }
        }
        if plan.watched {
            let at = self.rng.below(body.len() + 1);
            body.insert(at, Stmt::Labelled("here".into(), Box::new(Stmt::Guard(Expr::word("skip")))));
        }
        if self.body.jumps_out {
            body.push(Stmt::Labelled("out".into(), Box::new(Stmt::Guard(Expr::word("skip")))));
        }
        if plan.watched {
            body.push(Stmt::Labelled("endstay".into(), Box::new(Stmt::Guard(Expr::word("false")))));
        }
    }

    /// A remote reference to a process that exists.
    pub(super) fn remote_condition(&mut self) -> Option<Expr> {
        // A type must be declared before it is referred to.
        if self.here.in_inline
            || self.here.region == Region::DStep
            || self.here.process == 0
            || !self.plans.first()?.watched
        {
            return None;
        }
        let Plan { name, instances, .. } = self.plans[0].clone();
        let pid = self.plans[0].pid? + self.rng.below(instances);
        // A type with a single process needs no number.
        let pid = (instances > 1 || self.percent(50)).then(|| Box::new(Expr::Number(pid as i32)));
        if self.with(Feature::PcValue, 30) && instances > 1 {
            let value = |pid| Expr::Apply("pc_value".into(), vec![Expr::Number(pid)]);
            return Some(Expr::binary(Binary::Eq, value(0), value(1)));
        }
        if self.with(Feature::RemoteLabels, 40) {
            return Some(Expr::AtLabel { process: name, pid, label: "here".into() });
        }
        if self.with(Feature::RemoteVariables, 40) {
            let remote = Expr::Remote { process: name, pid, variable: Place::named("seen") };
            return Some(Expr::binary(Binary::Eq, remote, self.number()));
        }
        None
    }
}
