//! Names: variables, records, enumerations, and their visibility.
//!
//! Promela has block scopes, but no shadowing: a visible name cannot be declared again.

use crate::diagnostic::Diagnostic;
use crate::promela::ast::{self, Decl, Declarator, Expr, ExprKind, Ident, Initialiser, Type, VarRef, Visibility};
use crate::source::Span;
use crate::suggest::did_you_mean;
use entail_ir::{ChannelType, ChannelTypeId, Enumeration, EnumerationId, Frame, Scalar, Variable};
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

mod types;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScopeId(u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VarId(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecordId(u32);

/// The frame of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    Global,
    /// The process type with this index.
    Process(usize),
    /// The variable is not stored.
    Nowhere,
}

#[derive(Clone, Debug)]
pub struct Var {
    pub name: Ident,
    pub ty: Ty,
    /// The length of an array.
    pub len: Option<u32>,
    pub offset: u32,
    pub home: Home,
    order: u32,
    pub visibility: Visibility,
    /// The type of the channel that it is initialised with.
    pub channel: Option<ChannelTypeId>,
    /// Its initial value, if known.
    constant: Option<i32>,
    pub used: Cell<bool>,
    pub read: bool,
    pub is_param: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ty {
    Scalar(Scalar),
    Record(RecordId),
}

#[derive(Clone, Debug)]
pub struct Record {
    pub name: Arc<str>,
    pub fields: Vec<RecordField>,
    pub size: u32,
    /// The nesting depth of records.
    depth: u32,
}

#[derive(Clone, Debug)]
pub struct RecordField {
    pub name: Ident,
    pub ty: Ty,
    pub len: Option<u32>,
    pub offset: u32,
    pub init: Option<Initialiser>,
    pub channel: Option<ChannelTypeId>,
}

/// When a variable is initialised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// When its process starts or, for a global, with the model.
    AtStart,
    /// By its declaration, which is a statement.
    ByStatement,
    /// By the `run` that starts the process. As in SPIN, initial values of a record's fields are then ignored.
    AsArgument,
}

/// A variable's initial value. It is lowered when all names are known.
#[derive(Clone, Debug)]
pub struct PendingInit {
    pub var: VarId,
    pub init: Option<Initialiser>,
    pub rank: u8,
    pub scope: ScopeId,
    pub order: u32,
}

#[derive(Debug, Default)]
pub struct Scopes {
    parents: Vec<Option<ScopeId>>,
    homes: Vec<Home>,
    members: Vec<Vec<VarId>>,
    pub vars: Vec<Var>,
    /// Counts declarations.
    clock: u32,
    pub records: Vec<Record>,
    record_names: HashMap<Arc<str>, RecordId>,
    pub enumerations: Vec<Enumeration>,
    members_of: HashMap<Arc<str>, (EnumerationId, i32)>,
    pub channel_types: Vec<ChannelType>,
    /// `frames[0]` holds the globals, `frames[i + 1]` the locals of process type `i`.
    pub frames: Vec<Frame>,
    /// Parallel to `frames`.
    pub inits: Vec<Vec<PendingInit>>,
    /// Hidden variables that nothing reads: they are not part of the state.
    unread: HashSet<Arc<str>>,
}

/// The maximum size of a frame; a larger one does not fit into a state.
const MAX_FRAME: u64 = 500 << 10;

/// Limit on nested records.
const MAX_DEPTH: u32 = 64;

/// Channel types are numbered with 16 bits.
const MAX_CHANNEL_TYPES: usize = 1 << 16;

impl Scopes {
    pub const GLOBAL: ScopeId = ScopeId(0);

    pub fn new(unread: HashSet<Arc<str>>) -> Self {
        Scopes {
            parents: vec![None],
            homes: vec![Home::Global],
            members: vec![Vec::new()],
            frames: vec![Frame::default()],
            inits: vec![Vec::new()],
            unread,
            ..Scopes::default()
        }
    }

    /// The outermost scope of a new process type.
    pub fn process(&mut self) -> ScopeId {
        self.frames.push(Frame::default());
        self.inits.push(Vec::new());
        self.add_scope(Self::GLOBAL, Home::Process(self.frames.len() - 2))
    }

    pub fn child(&mut self, parent: ScopeId) -> ScopeId {
        self.add_scope(parent, self.homes[parent.0 as usize])
    }

    fn add_scope(&mut self, parent: ScopeId, home: Home) -> ScopeId {
        self.parents.push(Some(parent));
        self.homes.push(home);
        self.members.push(Vec::new());
        ScopeId(self.parents.len() as u32 - 1)
    }

    pub fn now(&self) -> u32 {
        self.clock
    }

    /// The scope and those around it, innermost first.
    fn around(&self, scope: ScopeId) -> impl Iterator<Item = ScopeId> {
        std::iter::successors(Some(scope), |scope| self.parents[scope.0 as usize])
    }

    /// Whether `inner` is `outer` or nested in it.
    pub fn is_inside(&self, inner: ScopeId, outer: ScopeId) -> bool {
        self.around(inner).any(|scope| scope == outer)
    }

    /// The variable `name` as visible in `scope` at the time `order`.
    pub fn find(&self, name: &str, scope: ScopeId, order: u32) -> Option<VarId> {
        let mut visible = self.around(scope).flat_map(|scope| &self.members[scope.0 as usize]);
        let found = visible.find(|id| {
            let var = &self.vars[id.0 as usize];
            *var.name.name == *name && var.order < order
        });
        found.copied()
    }

    /// Hidden globals that are written but never read.
    pub fn unread_hidden(&self) -> HashSet<Arc<str>> {
        let hidden = self.vars.iter().filter(|var| var.visibility == Visibility::Hidden && !var.read);
        hidden.filter(|var| var.home == Home::Global).map(|var| var.name.name.clone()).collect()
    }

    /// A visible name that is similar to an unknown one.
    pub fn similar(&self, name: &str, scope: ScopeId) -> Option<&str> {
        let visible = self.around(scope).flat_map(|scope| &self.members[scope.0 as usize]);
        let visible = visible.map(|id| &*self.vars[id.0 as usize].name.name);
        let names = visible.chain(self.members_of.keys().map(|name| &**name));
        did_you_mean(name, names)
    }

    pub fn member(&self, name: &str) -> Option<(EnumerationId, i32)> {
        self.members_of.get(name).copied()
    }

    pub fn record(&self, id: RecordId) -> &Record {
        &self.records[id.0 as usize]
    }

    /// `mtype = { a, b, c }`. SPIN numbers the names of one declaration backwards: `c` is 1.
    pub fn declare_mtype(&mut self, mtype: &ast::Mtype, problems: &mut Vec<Diagnostic>) {
        let name = mtype.subtype.as_ref().map_or("mtype", |subtype| &subtype.name);
        let id = self.enumeration(name);
        // Of two declarations of a name, report the second.
        let mut names = Vec::new();
        for member in &mtype.names {
            if names.iter().any(|earlier: &&Ident| earlier.name == member.name)
                || self.members_of.contains_key(&member.name)
                || self.find(&member.name, Self::GLOBAL, self.clock + 1).is_some()
            {
                let message = format!("`{}` is already declared", member.name);
                problems.push(Diagnostic::error(member.span, message));
                continue;
            }
            names.push(member);
        }
        for member in names.into_iter().rev() {
            let members = &mut self.enumerations[id.index()].members;
            members.push(member.name.to_string());
            self.members_of.insert(member.name.clone(), (id, members.len() as i32));
        }
        if self.enumerations[id.index()].members.len() > 255 {
            problems.push(Diagnostic::error(mtype.span, "an mtype can have at most 255 names"));
        }
    }

    fn enumeration(&mut self, name: &str) -> EnumerationId {
        let known = self.enumerations.iter().position(|enumeration| enumeration.name == name);
        let index = known.unwrap_or_else(|| {
            self.enumerations.push(Enumeration { name: name.into(), first: 1, members: Vec::new() });
            self.enumerations.len() - 1
        });
        EnumerationId(index as u16)
    }

    pub fn declare_record(&mut self, typedef: &ast::Typedef, problems: &mut Vec<Diagnostic>) {
        if self.record_names.contains_key(&typedef.name.name) {
            let message = format!("type `{}` is declared twice", typedef.name.name);
            problems.push(Diagnostic::error(typedef.name.span, message));
            return;
        }
        let mut record = Record { name: typedef.name.name.clone(), fields: Vec::new(), size: 0, depth: 1 };
        for decl in &typedef.fields {
            for var in &decl.vars {
                if record.fields.iter().any(|field| field.name.name == var.name.name) {
                    let message = format!("field `{}` is declared twice", var.name.name);
                    problems.push(Diagnostic::error(var.name.span, message));
                    continue;
                }
                let Some((ty, len, channel)) = self.resolve(decl, var, Self::GLOBAL, problems) else { continue };
                let offset = record.size;
                let Some(size) = self.checked_size(ty, len, record.size, var, problems) else { continue };
                if let Ty::Record(inner) = ty {
                    record.depth = record.depth.max(self.record(inner).depth + 1);
                }
                if record.depth > MAX_DEPTH {
                    let message = format!("records nested more than {MAX_DEPTH} deep");
                    problems.push(Diagnostic::error(var.name.span, message));
                    record.depth = 1;
                    continue;
                }
                record.size += size;
                let (name, init) = (var.name.clone(), var.init.clone());
                record.fields.push(RecordField { name, ty, len, offset, init, channel });
            }
        }
        self.record_names.insert(record.name.clone(), RecordId(self.records.len() as u32));
        self.records.push(record);
    }

    pub fn declare_global(&mut self, decl: &Decl, problems: &mut Vec<Diagnostic>) {
        for var in &decl.vars {
            self.declare(Self::GLOBAL, decl, var, Given::AtStart, problems);
        }
    }

    pub fn declare_param(&mut self, scope: ScopeId, decl: &Decl, problems: &mut Vec<Diagnostic>) -> Vec<VarId> {
        let mut params = Vec::new();
        for var in &decl.vars {
            if var.init.is_some() || var.array.is_some() {
                let message = "a parameter can be neither an array nor have an initial value";
                problems.push(Diagnostic::error(var.name.span, message));
                continue;
            }
            if let Some(id) = self.declare(scope, decl, var, Given::AsArgument, problems) {
                params.push(id);
            }
        }
        params
    }

    pub fn declare(
        &mut self,
        scope: ScopeId,
        decl: &Decl,
        var: &Declarator,
        given: Given,
        problems: &mut Vec<Diagnostic>,
    ) -> Option<VarId> {
        if let Some(earlier) = self.find(&var.name.name, scope, self.clock + 1) {
            let earlier = self.vars[earlier.0 as usize].name.span;
            let message = format!("`{}` is declared twice", var.name.name);
            return Diagnostic::error(var.name.span, message)
                .related(earlier, "first declared here")
                .hint("a name that is visible cannot be declared again, not even in an inner block")
                .refuse(problems);
        }
        if self.members_of.contains_key(&var.name.name) {
            let message = format!("`{}` is already the name of an mtype value", var.name.name);
            return Diagnostic::error(var.name.span, message).refuse(problems);
        }
        let (ty, len, channel) = self.resolve(decl, var, scope, problems)?;
        if decl.visibility == Visibility::Hidden && self.homes[scope.0 as usize] != Home::Global {
            problems.push(Diagnostic::error(var.name.span, "only a global variable can be `hidden`"));
        }
        let home = match self.homes[scope.0 as usize] {
            Home::Global if self.unread.contains(&var.name.name) => Home::Nowhere,
            home => home,
        };
        let frame = frame_index(home);
        let offset = self.frames[frame].size;
        let size = self.checked_size(ty, len, offset, var, problems);
        if let Some(size) = size.filter(|_| home != Home::Nowhere) {
            let shape = self.shape(ty, len);
            let name = var.name.name.to_string();
            self.frames[frame].size += size;
            self.frames[frame].variables.push(Variable { name, offset, shape });
        }

        let id = VarId(self.vars.len() as u32);
        let constant = match &var.init {
            None => Some(0),
            Some(Initialiser::Expr(value)) => self.fold(value, scope),
            Some(Initialiser::List(..) | Initialiser::Channel(_)) => None,
        };
        self.vars.push(Var {
            name: var.name.clone(),
            ty,
            len,
            offset,
            home,
            order: self.clock,
            visibility: decl.visibility,
            channel,
            constant,
            used: Cell::new(false),
            read: false,
            is_param: given == Given::AsArgument,
        });
        self.members[scope.0 as usize].push(id);
        self.clock += 1;
        let record = matches!(ty, Ty::Record(_));
        let at_start = match given {
            Given::AtStart => true,
            // The fields of a record are initialised when the process starts, wherever the record is declared.
            Given::ByStatement => record,
            Given::AsArgument => false,
        };
        if at_start && home != Home::Nowhere && size.is_some() {
            let init = var.init.clone();
            self.inits[frame].push(PendingInit { var: id, init, rank: rank(&decl.ty), scope, order: self.clock });
        }
        Some(id)
    }

    /// Makes `_pid` a variable of a process that receives into it. As in SPIN, it can then have any value.
    pub fn declare_pid(&mut self, scope: ScopeId, span: Span, problems: &mut Vec<Diagnostic>) {
        let name = Ident { name: "_pid".into(), span };
        let init = Expr::var(VarRef::named(name.clone(), span));
        let declarator = Declarator { name, width: None, array: None, init: Some(Initialiser::Expr(init)) };
        let decl = Decl { visibility: Visibility::Normal, ty: Type::Pid, vars: Vec::new(), span };
        let Some(id) = self.declare(scope, &decl, &declarator, Given::AtStart, problems) else { return };
        let var = &mut self.vars[id.0 as usize];
        // Earlier statements, which were read before, refer to it too.
        var.order = 0;
        var.used.set(true);
        // It is initialised first, with the number of the process.
        let inits = &mut self.inits[frame_index(var.home)];
        inits.rotate_right(1);
        inits[0].order = 0;
    }

    /// The value of an expression that is known statically. A variable has its initial value, as in SPIN for
    /// the lengths of arrays.
    pub fn fold(&self, expr: &Expr, scope: ScopeId) -> Option<i32> {
        match &expr.kind {
            ExprKind::Const(value) => Some(*value),
            ExprKind::Var(var) => {
                let name = &var.name()?.name;
                if let Some((_, value)) = self.member(name) {
                    return Some(value);
                }
                let var = &self.vars[self.find(name, scope, self.clock + 1)?.0 as usize];
                var.used.set(true);
                var.constant
            }
            ExprKind::Unary(op, operand) => self.fold(operand, scope).map(|value| op.apply(value)),
            ExprKind::Binary(op, left, right) => op.apply(self.fold(left, scope)?, self.fold(right, scope)?),
            _ => None,
        }
    }

    /// For `for (var in over)` over a channel, where `var` is a record like its messages: a variable that
    /// counts messages. `None` if `var` is no record.
    pub fn channel_loop(
        &mut self,
        scope: ScopeId,
        var: &VarRef,
        over: &VarRef,
        span: Span,
        problems: &mut Vec<Diagnostic>,
    ) -> Option<VarRef> {
        let single = |var: &VarRef| match &var.parts[..] {
            [part] => self.find(&part.name.name, scope, self.clock).map(|id| &self.vars[id.0 as usize]),
            _ => None,
        };
        single(var).filter(|var| matches!(var.ty, Ty::Record(_)))?;
        let Some(channel) = single(over).and_then(|over| over.channel) else {
            return Diagnostic::error(over.span, "a record can only walk through an initialised channel")
                .refuse(problems);
        };
        let ty = if self.channel_types[channel.index()].capacity > 255 { Type::Short } else { Type::Byte };
        // A name that no model can contain; one per scope, as in SPIN.
        let name = Ident { name: format!("for #{}", scope.0).into(), span };
        if self.find(&name.name, scope, self.clock + 1).is_none() {
            let declarator = Declarator { name: name.clone(), width: None, array: None, init: None };
            let decl = Decl { visibility: Visibility::Normal, ty, vars: Vec::new(), span };
            self.declare(scope, &decl, &declarator, Given::AtStart, problems);
        }
        Some(VarRef::named(name, span))
    }

    /// The length of an array that a loop traverses.
    pub fn array_len(&self, scope: ScopeId, over: &VarRef, problems: &mut Vec<Diagnostic>) -> Option<u32> {
        let len = match &over.parts[..] {
            [part] => {
                let var = self.find(&part.name.name, scope, self.clock);
                var.and_then(|id| self.vars[id.0 as usize].len)
            }
            _ => None,
        };
        if len.is_none() {
            problems.push(Diagnostic::error(over.span, "expected the name of an array or an initialised channel"));
        }
        len
    }
}

pub fn frame_index(home: Home) -> usize {
    match home {
        Home::Global | Home::Nowhere => 0,
        Home::Process(index) => index + 1,
    }
}

/// SPIN initialises globals type by type, in this order.
fn rank(ty: &Type) -> u8 {
    match ty {
        Type::Unsigned => 0,
        Type::Bit | Type::Bool => 1,
        Type::Byte | Type::Pid => 2,
        Type::Chan => 3,
        Type::Mtype(_) => 4,
        Type::Short => 5,
        Type::Int => 6,
        Type::Record(_) => 7,
    }
}
