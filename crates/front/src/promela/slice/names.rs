//! The variables of a model, coarsely: variables of the same name in one process are identified, and identified with
//! the global of that name. This can only make a slice larger.

use crate::promela::ast::{Decl, Declarator, ExprKind, Initialiser, Process, Program, Type, Unit};
use crate::promela::walk::{self, Item};
use crate::source::Span;
use std::collections::HashMap;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub u32);

/// A process type, by its place among all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BodyId(pub usize);

/// A variable, or several that are identified.
#[derive(Clone, Debug)]
pub struct Var<'p> {
    pub name: Arc<str>,
    pub span: Span,
    /// `None` if it is global.
    pub owner: Option<BodyId>,
    /// Its declarations, each with its process.
    pub declared: Vec<(Option<BodyId>, &'p Decl, &'p Declarator)>,
    pub is_param: bool,
}

/// The variables of a model.
#[derive(Debug, Default)]
pub struct Names<'p> {
    pub vars: Vec<Var<'p>>,
    globals: HashMap<Arc<str>, VarId>,
    locals: Vec<HashMap<Arc<str>, VarId>>,
    /// For each process type, its parameters.
    pub params: Vec<Vec<VarId>>,
    pub proctypes: HashMap<Arc<str>, BodyId>,
}

impl<'p> Names<'p> {
    pub fn of(program: &'p Program) -> Names<'p> {
        let mut names = Names::default();
        for unit in &program.units {
            if let Unit::Decl(decl) = unit {
                names.declare(None, decl, false);
            }
        }
        for Process { name, params, body, .. } in program.processes() {
            let id = BodyId(names.locals.len());
            names.locals.push(HashMap::new());
            names.proctypes.insert(name.name, id);
            params.iter().for_each(|decl| names.declare(Some(id), decl, true));
            let params = params.iter().flat_map(|decl| &decl.vars);
            let params = params.filter_map(|var| names.find(Some(id), &var.name.name)).collect();
            names.params.push(params);
            walk::items(body, &mut |item| match item {
                Item::Decl(decl) => names.declare(Some(id), decl, false),
                Item::Stmt(_) => {}
            });
        }
        names
    }

    /// The variable with this name in a process, or outside of processes; `None` if it is a constant or predefined.
    pub fn find(&self, body: Option<BodyId>, name: &str) -> Option<VarId> {
        let local = body.and_then(|body| self.locals[body.0].get(name));
        local.or_else(|| self.globals.get(name)).copied()
    }

    /// A variable of another process, as in `process:variable`.
    pub fn remote(&self, proctype: &str, name: &str) -> Option<VarId> {
        let body = self.proctypes.get(proctype)?;
        self.locals[body.0].get(name).copied()
    }

    pub fn ids(&self) -> impl Iterator<Item = VarId> + use<> {
        (0..self.vars.len() as u32).map(VarId)
    }

    fn declare(&mut self, owner: Option<BodyId>, decl: &'p Decl, is_param: bool) {
        for var in &decl.vars {
            let known = self.find(owner, &var.name.name);
            let id = known.unwrap_or(VarId(self.vars.len() as u32));
            if known.is_none() {
                let (name, span) = (var.name.name.clone(), var.name.span);
                self.vars.push(Var { name, span, owner, declared: Vec::new(), is_param });
            }
            self[id].declared.push((owner, decl, var));
            self[id].is_param |= is_param;
            let scope = match owner {
                None => &mut self.globals,
                Some(body) => &mut self.locals[body.0],
            };
            scope.insert(var.name.name.clone(), id);
        }
    }
}

impl Var<'_> {
    pub fn is_record(&self) -> bool {
        self.declared.iter().any(|(_, decl, _)| matches!(decl.ty, Type::Record(_)))
    }

    /// Whether it may hold a channel, by its type.
    pub fn holds_channels(&self) -> bool {
        self.declared.iter().any(|(_, decl, _)| matches!(decl.ty, Type::Chan | Type::Record(_)))
    }

    /// The channel that it is initialised with, if it holds no other: its capacity and number of fields.
    pub fn channel(&self) -> Option<(i32, usize)> {
        let [(_, Decl { ty: Type::Chan, .. }, Declarator { init: Some(Initialiser::Channel(made)), .. })] =
            &self.declared[..]
        else {
            return None;
        };
        let ExprKind::Const(capacity) = made.capacity.kind else { return None };
        let scalars = made.fields.iter().all(|(ty, _)| !matches!(ty, Type::Record(_)));
        scalars.then_some((capacity, made.fields.len()))
    }

    /// Its number of elements, if that is certain.
    pub fn len(&self) -> Option<i32> {
        let [(_, _, var)] = &self.declared[..] else { return None };
        match &var.array {
            None => Some(1),
            Some(size) => match size.kind {
                ExprKind::Const(size) => Some(size),
                _ => None,
            },
        }
    }

    /// Its greatest value, if that is small and it is never negative.
    pub fn greatest(&self) -> Option<i32> {
        let [(_, decl, _)] = &self.declared[..] else { return None };
        match decl.ty {
            Type::Bit | Type::Bool => Some(1),
            Type::Byte | Type::Pid => Some(255),
            Type::Short | Type::Int | Type::Unsigned | Type::Chan | Type::Mtype(_) | Type::Record(_) => None,
        }
    }
}

impl<'p> std::ops::Index<VarId> for Names<'p> {
    type Output = Var<'p>;

    fn index(&self, id: VarId) -> &Var<'p> {
        &self.vars[id.0 as usize]
    }
}

impl std::ops::IndexMut<VarId> for Names<'_> {
    fn index_mut(&mut self, id: VarId) -> &mut Self::Output {
        &mut self.vars[id.0 as usize]
    }
}
