//! Lowers expressions, and resolves variables to places.

use super::scope::{Home, RecordId, ScopeId, Scopes, Ty, VarId, frame_index};
use crate::diagnostic::Diagnostic;
use crate::promela::ast::{BinaryOp, Expr, ExprKind, Ident, Part, ReceiveArg, TemporalOp, UnaryOp, VarRef};
use crate::source::Span;
use crate::suggest::{did_you_mean, is_worth_it};
use entail_ir as ir;
use entail_ir::{Base, LocationId, Meaning, Pattern, Place, Poll, ProcessTypeId, Run, Scalar};

/// The signature of a process type, which is needed before its body is lowered.
#[derive(Debug)]
pub struct Signature {
    pub name: Ident,
    pub params: Vec<VarId>,
    /// Every label with its location.
    pub labels: Vec<(std::sync::Arc<str>, LocationId)>,
}

/// Lowers the expressions of one statement.
pub struct Lowering<'a> {
    pub scopes: &'a mut Scopes,
    pub signatures: &'a [Signature],
    pub problems: &'a mut Vec<Diagnostic>,
    pub scope: ScopeId,
    /// Names declared later are not visible.
    pub order: u32,
    pub uses: &'a mut Uses,
    /// The `run` in the statement, if there is one.
    pub run: Option<Run>,
    /// Whether the statement is inside a `d_step`.
    pub in_d_step: bool,
}

/// Limit on the number of problems that one statement reports.
const FEW: usize = 32;

/// Features of a model that cost memory in every state.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uses {
    pub last: bool,
    pub priorities: bool,
}

/// A variable or a part of one: a place whose shape may not be scalar.
#[derive(Clone, Debug)]
pub struct Resolved {
    base: Base,
    offset: u32,
    indices: Vec<ir::Index>,
    pub ty: Ty,
    /// Present if a whole array is meant.
    pub len: Option<u32>,
    pub channel: Option<ir::ChannelTypeId>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

/// The use of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Transfer {
    Send,
    Receive,
    /// As a receive, but the message stays in the channel.
    Copy,
    /// Only tests whether there is such a message.
    Poll,
}

impl Lowering<'_> {
    pub fn error(&mut self, span: Span, message: impl Into<String>) {
        self.problems.push(Diagnostic::error(span, message));
    }

    /// Reports an error in something that has no meaning then.
    pub fn refuse<T>(&mut self, span: Span, message: impl Into<String>) -> Option<T> {
        Diagnostic::error(span, message).refuse(self.problems)
    }

    /// Lowers an expression. After an error, the result is meaningless.
    pub fn expr(&mut self, expr: &Expr) -> ir::Expr {
        let boxed = |lowering: &mut Self, expr: &Expr| Box::new(lowering.expr(expr));
        match &expr.kind {
            ExprKind::Const(value) => ir::Expr::Const(*value),
            ExprKind::Var(var) => self.read(var),
            ExprKind::Unary(op, operand) => ir::Expr::Unary(*op, boxed(self, operand)),
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.expr(left), self.expr(right));
                ir::Expr::binary(*op, left, right)
            }
            ExprKind::Conditional(condition, yes, no) => {
                ir::Expr::Conditional(Box::new((self.expr(condition), self.expr(yes), self.expr(no))))
            }
            ExprKind::Run { proctype, args, priority } => self.run(proctype, args, priority.as_deref(), expr.span),
            ExprKind::Len(channel) => ir::Expr::Length(Box::new(self.channel(channel).0)),
            ExprKind::Channel(test, channel) => ir::Expr::Channel(*test, Box::new(self.channel(channel).0)),
            ExprKind::Poll { channel, random, args } => {
                let (channel, channel_type) = self.channel(channel);
                let fields = self.patterns(args, Transfer::Poll, channel_type, expr.span);
                // Without a value to compare, SPIN considers only the first message: the answer is the same.
                ir::Expr::Poll(Box::new(Poll { channel, anywhere: *random, fields }))
            }
            ExprKind::Enabled(process) => ir::Expr::Enabled(boxed(self, process)),
            ExprKind::PcValue(process) => ir::Expr::LocationOf(boxed(self, process)),
            ExprKind::GetPriority(process) => {
                self.uses.priorities = true;
                ir::Expr::PriorityOf(boxed(self, process))
            }
            ExprKind::Timeout => ir::Expr::Timeout,
            ExprKind::NonProgress => ir::Expr::NonProgress,
            ExprKind::RemoteLabel { proctype, pid, label } => self.remote_label(proctype, pid.as_deref(), label),
            ExprKind::RemoteVar { proctype, pid, var } => self.remote_var(proctype, pid.as_deref(), var),
            ExprKind::Temporal(TemporalOp::Implies, operands) if operands.len() == 2 => {
                let (left, right) = (self.expr(&operands[0]), self.expr(&operands[1]));
                ir::Expr::binary(BinaryOp::Or, ir::Expr::unary(UnaryOp::Not, left), right)
            }
            ExprKind::Temporal(TemporalOp::Equivalent, operands) if operands.len() == 2 => {
                let [left, right] = [0, 1].map(|side| ir::Expr::unary(UnaryOp::Not, self.expr(&operands[side])));
                ir::Expr::binary(BinaryOp::Eq, left, right)
            }
            ExprKind::Temporal(..) | ExprKind::Runs(..) => {
                self.error(expr.span, "a temporal operator outside of a formula");
                ir::Expr::Const(0)
            }
        }
    }

    fn read(&mut self, var: &VarRef) -> ir::Expr {
        if let Some(name) = var.name() {
            match &*name.name {
                // A process that receives into `_pid` has a variable with that name.
                "_pid" if self.scopes.find("_pid", self.scope, self.order).is_none() => return ir::Expr::Myself,
                "_nr_pr" => return ir::Expr::ProcessCount,
                "_last" => {
                    self.uses.last = true;
                    return ir::Expr::Last;
                }
                "_priority" => {
                    self.uses.priorities = true;
                    return ir::Expr::PriorityOf(Box::new(ir::Expr::Myself));
                }
                "_" => {
                    self.error(var.span, "`_` can only be written to");
                    return ir::Expr::Const(0);
                }
                other => {
                    if let Some((_, value)) = self.scopes.member(other) {
                        return ir::Expr::Const(value);
                    }
                }
            }
        }
        self.place(var, Access::Read).map_or(ir::Expr::Const(0), ir::Expr::load)
    }

    /// The place of a scalar variable.
    pub fn place(&mut self, var: &VarRef, access: Access) -> Option<Place> {
        let resolved = self.resolve(var, access)?;
        let resolved = self.element(resolved, &var.parts[var.parts.len() - 1].name);
        match resolved.ty {
            Ty::Record(_) => self.refuse(var.span, "this is a record; name one of its fields"),
            Ty::Scalar(scalar) => Some(resolved.at(0, scalar)),
        }
    }

    /// Resolves `a[i].b.c`.
    pub fn resolve(&mut self, var: &VarRef, access: Access) -> Option<Resolved> {
        let first = &var.parts[0];
        let Some(id) = self.scopes.find(&first.name.name, self.scope, self.order) else {
            self.undeclared(&first.name);
            return None;
        };
        let found = &mut self.scopes.vars[id.0 as usize];
        found.used.set(true);
        found.read |= access == Access::Read;
        let base = match found.home {
            Home::Global => Base::Global,
            Home::Process(_) => Base::Local,
            Home::Nowhere => Base::Nowhere,
        };
        let (offset, ty, len, channel) = (found.offset, found.ty, found.len, found.channel);
        let start = Resolved { base, offset, indices: Vec::new(), ty, len, channel };
        let start = self.index(start, first)?;
        var.parts.windows(2).try_fold(start, |resolved, parts| {
            let record = self.element(resolved, &parts[0].name);
            self.field(record, &parts[1])
        })
    }

    /// The first element of an array that is used without an index. SPIN warns, and uses this element too.
    fn element(&mut self, resolved: Resolved, name: &Ident) -> Resolved {
        if resolved.len.is_some() {
            let message = format!("`{0}` is an array: without an index this is `{0}[0]`", name.name);
            let warning = Diagnostic::warning(name.span, message);
            // A statement such as `for` lowers to several statements. Report the problem only once.
            if !self.problems.iter().rev().take(FEW).any(|known| *known == warning) {
                self.problems.push(warning);
            }
        }
        Resolved { len: None, ..resolved }
    }

    fn undeclared(&mut self, name: &Ident) {
        let problem = Diagnostic::error(name.span, format!("`{}` is not declared", name.name));
        let similar = || self.scopes.similar(&name.name, self.scope);
        let problem = problem.or_similar(is_worth_it(self.problems).then(similar).flatten());
        self.problems.push(problem);
    }

    fn index(&mut self, mut resolved: Resolved, part: &Part) -> Option<Resolved> {
        let Some(index) = &part.index else { return Some(resolved) };
        let value = self.expr(index);
        let Some(len) = resolved.len.take() else {
            if value.constant() == Some(0) {
                return Some(resolved);
            }
            return self.refuse(part.name.span, format!("`{}` is not an array", part.name.name));
        };
        let stride = match resolved.ty {
            Ty::Scalar(scalar) => scalar.size(),
            Ty::Record(id) => self.scopes.record(id).size,
        };
        match value.constant() {
            Some(constant) if (0..len as i32).contains(&constant) => resolved.offset += constant as u32 * stride,
            constant => {
                if constant.is_some() {
                    let message = format!("index out of range: `{}` has {len} elements", part.name.name);
                    self.problems.push(Diagnostic::warning(index.span, message));
                }
                resolved.indices.push(ir::Index { value, stride, len });
            }
        }
        Some(resolved)
    }

    fn field(&mut self, mut resolved: Resolved, part: &Part) -> Option<Resolved> {
        let record = match resolved.ty {
            Ty::Record(id) => self.scopes.record(id),
            Ty::Scalar(_) => {
                return self
                    .refuse(part.name.span, format!("not a record: there is no field `{}`", part.name.name));
            }
        };
        let Some(field) = record.fields.iter().find(|field| field.name.name == part.name.name) else {
            let names = record.fields.iter().map(|field| &*field.name.name);
            let message = format!("type `{}` has no field `{}`", record.name, part.name.name);
            let problem = Diagnostic::error(part.name.span, message);
            return problem.or_similar(did_you_mean(&part.name.name, names)).refuse(self.problems);
        };
        resolved.offset += field.offset;
        resolved.ty = field.ty;
        resolved.len = field.len;
        resolved.channel = field.channel;
        self.index(resolved, part)
    }

    /// The scalars of a variable: the variable itself, or all fields of a record.
    fn scalars(&mut self, var: &VarRef, resolved: Resolved) -> Vec<Place> {
        let mut places = Vec::new();
        let whole = self.element(resolved, &var.parts[var.parts.len() - 1].name);
        self.flatten(&whole, 0, whole.ty, None, &mut places);
        places
    }

    fn flatten(&self, from: &Resolved, offset: u32, ty: Ty, len: Option<u32>, places: &mut Vec<Place>) {
        match ty {
            Ty::Scalar(scalar) => {
                let elements = 0..len.unwrap_or(1);
                places.extend(elements.map(|i| from.at(offset + i * scalar.size(), scalar)));
            }
            Ty::Record(id) => {
                for field in &self.scopes.record(id).fields {
                    self.flatten(from, offset + field.offset, field.ty, field.len, places);
                }
            }
        }
    }

    /// Arguments of a send or a `run`. Records are expanded to their fields.
    pub fn args(&mut self, args: &[Expr]) -> Vec<ir::Expr> {
        let mut lowered = Vec::new();
        for arg in args {
            match self.record_argument(arg) {
                Some(places) => lowered.extend(places.into_iter().map(ir::Expr::load)),
                None => lowered.push(self.expr(arg)),
            }
        }
        lowered
    }

    fn record_argument(&mut self, arg: &Expr) -> Option<Vec<Place>> {
        let ExprKind::Var(var) = &arg.kind else { return None };
        self.names_record(var)?;
        let resolved = self.resolve(var, Access::Read)?;
        matches!(resolved.ty, Ty::Record(_)).then(|| self.scalars(var, resolved))
    }

    /// Whether a variable is a record. Reports nothing.
    fn names_record(&self, var: &VarRef) -> Option<RecordId> {
        let id = self.scopes.find(&var.parts[0].name.name, self.scope, self.order)?;
        match self.scopes.vars[id.0 as usize].ty {
            Ty::Record(id) => Some(id),
            Ty::Scalar(_) => None,
        }
    }

    /// The patterns of a receive or a poll.
    pub fn patterns(
        &mut self,
        args: &[ReceiveArg],
        transfer: Transfer,
        channel: Option<ir::ChannelTypeId>,
        span: Span,
    ) -> Vec<Pattern> {
        let mut patterns = Vec::new();
        for arg in args {
            match arg {
                ReceiveArg::Const(value, _) => patterns.push(Pattern::Equal(ir::Expr::Const(*value))),
                ReceiveArg::Eval(value) => {
                    let value = self.expr(value);
                    patterns.push(Pattern::Equal(value));
                }
                ReceiveArg::Var(var) => {
                    let before = patterns.len();
                    self.variable_pattern(var, &mut patterns);
                    let (earlier, these) = patterns.split_at(before);
                    let is_stored = |pattern: &&Pattern| matches!(pattern, Pattern::Store(_));
                    if these.iter().filter(is_stored).any(|pattern| earlier.contains(pattern)) {
                        self.received_twice(var, transfer);
                    }
                }
            }
        }
        self.check_arity(patterns.len(), transfer, channel, span);
        patterns
    }

    fn variable_pattern(&mut self, var: &VarRef, patterns: &mut Vec<Pattern>) {
        if let Some(name) = var.name() {
            if &*name.name == "_" {
                patterns.push(Pattern::Ignore);
                return;
            }
            if let Some((_, value)) = self.scopes.member(&name.name) {
                patterns.push(Pattern::Equal(ir::Expr::Const(value)));
                return;
            }
            if is_predefined(&name.name) && &*name.name != "_pid" {
                self.error(
                    name.span,
                    format!("`{}` cannot be received into; write `eval({})`", name.name, name.name),
                );
                return;
            }
            if &*name.name == "_pid" {
                let message = "any number matches `_pid` here, and a receive changes `_pid` to it";
                let hint = "to compare with the number of this process, write `eval(_pid)`";
                self.problems.push(Diagnostic::warning(name.span, message).hint(hint));
                // Only a poll has no variable to receive into.
                if self.scopes.find("_pid", self.scope, self.order).is_none() {
                    patterns.push(Pattern::Ignore);
                    return;
                }
            }
        }
        if let Some(resolved) = self.resolve(var, Access::Write) {
            let places = self.scalars(var, resolved);
            patterns.extend(places.into_iter().map(Pattern::Store));
        }
    }

    /// Reports one variable for two fields of a message. SPIN rejects it where it records variables in order
    /// to undo the receive: not inside a `d_step`, and not for elements and fields, which it does not
    /// compare.
    fn received_twice(&mut self, var: &VarRef, transfer: Transfer) {
        let message = "this variable receives two fields of the same message";
        self.problems.push(match transfer {
            // Nothing is stored.
            Transfer::Send | Transfer::Poll => return,
            Transfer::Receive | Transfer::Copy if self.is_plain(var) && !self.in_d_step => {
                Diagnostic::error(var.span, message).hint("write `_` for the field that is not needed")
            }
            Transfer::Receive | Transfer::Copy => {
                Diagnostic::warning(var.span, format!("{message}, and keeps the last"))
            }
        });
    }

    /// Whether it is neither an element of an array nor a field of a record.
    fn is_plain(&self, var: &VarRef) -> bool {
        let [Part { name, .. }] = &var.parts[..] else { return false };
        let Some(id) = self.scopes.find(&name.name, self.scope, self.order) else { return false };
        let found = &self.scopes.vars[id.0 as usize];
        found.len.is_none() && matches!(found.ty, Ty::Scalar(_))
    }

    /// Reports a wrong number of message fields, if the channel is known. SPIN rejects messages that are too
    /// long. It accepts other mismatches as long as they are not executed, and old models rely on that.
    pub fn check_arity(
        &mut self,
        fields: usize,
        transfer: Transfer,
        channel: Option<ir::ChannelTypeId>,
        span: Span,
    ) {
        let Some(channel) = channel else { return };
        let Some(message) = self.arity_mismatch(fields, channel) else { return };
        let too_many = fields > self.scopes.channel_types[channel.index()].fields.len();
        self.problems.push(match transfer {
            Transfer::Send if too_many => Diagnostic::error(span, message),
            Transfer::Send | Transfer::Receive => {
                Diagnostic::warning(span, message).hint("executing it is an error")
            }
            Transfer::Copy | Transfer::Poll if too_many => {
                Diagnostic::warning(span, message).hint("the missing fields count as 0")
            }
            Transfer::Copy | Transfer::Poll => {
                Diagnostic::warning(span, message).hint("the other fields may have any value")
            }
        });
    }

    /// The message for a wrong number of fields.
    pub fn arity_mismatch(&self, fields: usize, channel: ir::ChannelTypeId) -> Option<String> {
        let channel = &self.scopes.channel_types[channel.index()];
        let expected = channel.fields.len();
        let plural = if expected == 1 { "" } else { "s" };
        let message = || format!("messages of `{}` have {expected} field{plural}, not {fields}", channel.name);
        (fields != expected).then(message)
    }

    /// A channel, and its type if a declaration determines it.
    pub fn channel(&mut self, var: &VarRef) -> (ir::Expr, Option<ir::ChannelTypeId>) {
        let Some(resolved) = self.resolve(var, Access::Read) else { return (ir::Expr::Const(0), None) };
        let resolved = self.element(resolved, &var.parts[var.parts.len() - 1].name);
        match resolved.ty {
            Ty::Scalar(scalar) => {
                if scalar.meaning != Meaning::Channel {
                    self.error(var.span, "this is not a channel");
                }
                (ir::Expr::load(resolved.at(0, scalar)), resolved.channel)
            }
            Ty::Record(_) => {
                self.error(var.span, "this is a record, not a channel");
                (ir::Expr::Const(0), None)
            }
        }
    }

    fn run(&mut self, name: &Ident, args: &[Expr], priority: Option<&Expr>, span: Span) -> ir::Expr {
        let Some(index) = self.signature(name) else { return ir::Expr::Const(0) };
        let args = self.args(args);
        let expected = self.parameters(index);
        if args.len() != expected {
            let plural = if expected == 1 { "" } else { "s" };
            let message = format!("`{}` takes {expected} argument{plural}, not {}", name.name, args.len());
            self.problems
                .push(Diagnostic::error(span, message).related(self.signatures[index].name.span, "declared here"));
        }
        let priority = priority.map(|priority| {
            self.uses.priorities = true;
            self.priority(priority)
        });
        let run = Run { process_type: ProcessTypeId(index as u16), args, priority: priority.unwrap_or(1) };
        if self.run.replace(run).is_some() {
            self.error(span, "only one `run` in a statement");
        }
        ir::Expr::Started
    }

    /// A constant priority, 1 to 255.
    pub fn priority(&mut self, priority: &Expr) -> u8 {
        match self.scopes.fold(priority, self.scope) {
            Some(value @ 1..=255) => value as u8,
            _ => {
                self.error(priority.span, "a priority must be a constant from 1 to 255");
                1
            }
        }
    }

    fn parameters(&self, signature: usize) -> usize {
        let mut count = 0;
        for param in &self.signatures[signature].params {
            let ty = self.scopes.vars[param.0 as usize].ty;
            let whole = Resolved::whole(ty);
            let mut places = Vec::new();
            self.flatten(&whole, 0, ty, None, &mut places);
            count += places.len();
        }
        count
    }

    /// The places for the arguments of a process type.
    pub fn parameter_places(&self, signature: &Signature) -> Vec<Place> {
        let mut places = Vec::new();
        for param in &signature.params {
            let var = &self.scopes.vars[param.0 as usize];
            let whole = Resolved { offset: var.offset, ..Resolved::whole(var.ty) };
            self.flatten(&whole, 0, var.ty, None, &mut places);
        }
        places
    }

    fn signature(&mut self, name: &Ident) -> Option<usize> {
        let found = self.signatures.iter().position(|signature| signature.name.name == name.name);
        if found.is_none() {
            let problem = Diagnostic::error(name.span, format!("there is no proctype `{}`", name.name));
            let names = self.signatures.iter().map(|signature| &*signature.name.name);
            self.problems.push(problem.or_similar(did_you_mean(&name.name, names)));
        }
        found
    }

    /// The process that `name[pid]` or `name` denotes.
    fn remote_process(&mut self, index: usize, pid: Option<&Expr>) -> ir::Expr {
        match pid {
            Some(pid) => self.expr(pid),
            None => ir::Expr::Find(ProcessTypeId(index as u16)),
        }
    }

    fn remote_label(&mut self, name: &Ident, pid: Option<&Expr>, label: &Ident) -> ir::Expr {
        let Some(index) = self.signature(name) else { return ir::Expr::Const(0) };
        let process = self.remote_process(index, pid);
        let labels = &self.signatures[index].labels;
        let Some((_, location)) = labels.iter().find(|(name, _)| *name == label.name) else {
            let message = format!("proctype `{}` has no label `{}`", name.name, label.name);
            let problem = Diagnostic::error(label.span, message);
            let similar = did_you_mean(&label.name, labels.iter().map(|(name, _)| &**name));
            self.problems.push(problem.or_similar(similar));
            return ir::Expr::Const(0);
        };
        ir::Expr::At(Box::new(process), *location)
    }

    fn remote_var(&mut self, name: &Ident, pid: Option<&Expr>, part: &Part) -> ir::Expr {
        let Some(index) = self.signature(name) else { return ir::Expr::Const(0) };
        let process = self.remote_process(index, pid);
        let frame = frame_index(Home::Process(index));
        let found = self
            .scopes
            .vars
            .iter_mut()
            .find(|var| frame_index(var.home) == frame && var.name.name == part.name.name);
        let Some(var) = found else {
            self.error(part.name.span, format!("proctype `{}` has no variable `{}`", name.name, part.name.name));
            return ir::Expr::Const(0);
        };
        var.used.set(true);
        let base = Base::Remote(Box::new(process), ProcessTypeId(index as u16));
        let (offset, ty, len) = (var.offset, var.ty, var.len);
        let whole = Resolved { base, offset, indices: Vec::new(), ty, len, channel: None };
        let Some(resolved) = self.index(whole, part) else { return ir::Expr::Const(0) };
        let resolved = self.element(resolved, &part.name);
        match resolved.ty {
            Ty::Scalar(scalar) => ir::Expr::load(resolved.at(0, scalar)),
            Ty::Record(_) => {
                self.error(part.name.span, "only scalars and array elements of another process can be read");
                ir::Expr::Const(0)
            }
        }
    }
}

impl Resolved {
    fn whole(ty: Ty) -> Self {
        Resolved { base: Base::Local, offset: 0, indices: Vec::new(), ty, len: None, channel: None }
    }

    /// The scalar at this offset in it.
    fn at(&self, offset: u32, scalar: Scalar) -> Place {
        Place { base: self.base.clone(), offset: self.offset + offset, indices: self.indices.clone(), scalar }
    }
}

pub fn is_predefined(name: &str) -> bool {
    matches!(name, "_pid" | "_nr_pr" | "_last" | "_priority" | "_p")
}
