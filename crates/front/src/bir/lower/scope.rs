//! Name resolution.

use super::types::{Enumeration, Type};
use crate::bir::ast::{Member, Model, Name};
use crate::diagnostic::Diagnostic;
use crate::kit::Problems;
use crate::source::Span;
use entail_ir::{Frame, Place, Shape, StatementId};
use std::collections::HashMap;
use std::rc::Rc;

/// The global names of a model.
#[derive(Debug, Default)]
pub struct Scope<'t> {
    pub symbols: HashMap<&'t str, Declared<Symbol<'t>>>,
    /// The declarations of all names, including names that are declared later than their use.
    later: HashMap<&'t str, Span>,
    pub threads: Vec<Thread<'t>>,
    pub thread_numbers: HashMap<&'t str, usize>,
    /// The offsets of the locks in the globals, in ascending order. The number of a lock is its index here.
    pub locks: Vec<u32>,
}

#[derive(Debug)]
pub struct Declared<T> {
    pub what: T,
    pub at: Span,
}

#[derive(Debug)]
pub enum Symbol<'t> {
    Constants(HashMap<&'t str, Declared<Constant<'t>>>),
    Enumeration(Rc<Enumeration<'t>>),
    Type(Type<'t>),
    Variable(Variable<'t>),
}

#[derive(Clone, Debug)]
pub struct Constant<'t> {
    pub ty: Type<'t>,
    pub value: i32,
}

/// A variable of the globals, or of a thread.
#[derive(Debug)]
pub struct Variable<'t> {
    pub ty: Type<'t>,
    pub shape: Shape,
    pub offset: u32,
}

/// The declaration of a thread, without its locations.
#[derive(Debug)]
pub struct Thread<'t> {
    pub name: Name<'t>,
    pub params: Vec<Type<'t>>,
    pub param_places: Vec<Place>,
    pub locals: HashMap<&'t str, Declared<Variable<'t>>>,
    pub frame: Frame,
    /// Present if the thread waits for a lock.
    pub waiting: Option<Waiting>,
    pub declared_at: StatementId,
}

/// Hidden locals of a thread that can wait.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// The number of the lock that it waits for, plus 1. Negative after a notification, 0 if it does not wait.
    pub lock: Place,
    /// The saved count of the lock.
    pub depth: Place,
}

impl<'t> Scope<'t> {
    /// Records all declarations, to detect names that are used before their declaration.
    pub fn announce(&mut self, model: &Model<'t>) {
        for member in &model.members {
            let names = match member {
                Member::Constants(constants) => vec![constants.name],
                Member::Alias(name, _) => vec![*name],
                Member::Enumeration(enumeration) => vec![enumeration.name],
                Member::Record(record) => vec![record.name],
                Member::Variables(variables) => variables.names.iter().map(|(name, _)| *name).collect(),
                Member::Thread(_) | Member::Invariants(_) => Vec::new(),
            };
            self.later.extend(names.into_iter().map(|name| (name.text, name.span)));
        }
    }

    /// The error for a name that is declared after its use.
    pub fn too_early(&self, name: Name<'t>) -> Option<Diagnostic> {
        let declared = self.later.get(name.text)?;
        let problem = Diagnostic::error(name.span, format!("`{}` is not known yet", name.text));
        Some(problem.related(*declared, "declared only here"))
    }

    pub fn declare(&mut self, name: Name<'t>, what: Symbol<'t>, problems: &mut Problems<'_>) {
        match self.symbols.get(name.text) {
            Some(first) => problems.twice(name.text, name.span, first.at),
            None => {
                self.symbols.insert(name.text, Declared { what, at: name.span });
            }
        }
    }

    pub fn symbol(&self, name: &str) -> Option<&Symbol<'t>> {
        self.symbols.get(name).map(|declared| &declared.what)
    }

    /// The qualified name of a constant or member that was written without its group.
    pub fn group_of(&self, member: &str) -> Option<String> {
        let groups = self.symbols.iter().filter(|(_, declared)| match &declared.what {
            Symbol::Constants(constants) => constants.contains_key(member),
            Symbol::Enumeration(enumeration) => enumeration.numbers.contains_key(member),
            Symbol::Type(_) | Symbol::Variable(_) => false,
        });
        groups.map(|(group, _)| *group).min().map(|group| format!("{group}.{member}"))
    }
}
