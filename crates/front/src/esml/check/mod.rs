//! Semantic analysis: names, types, directions and ranges. Turns the syntax tree into a checked program.

mod command;
mod declare;
mod expr;
mod formula;

use super::ast;
use super::code::{Access, Param, Program, Root, TypeId, TypeKind, Value};
use crate::diagnostic::Diagnostic;
use crate::kit::Problems;
use crate::source::{Sources, Span};
use crate::suggest::did_you_mean;
use std::collections::HashMap;

/// Checks a model, and formulas about it. If the problems contain errors afterwards, the program is
/// incomplete. If they contain errors before, the tree is incomplete, and undeclared names are not reported:
/// their declarations may be missing from the tree.
pub fn check(
    model: &ast::Model,
    formulas: &[(String, ast::Expr)],
    defines: &[String],
    sources: &Sources,
    problems: &mut Vec<Diagnostic>,
) -> Program {
    let is_complete = !problems.iter().any(Diagnostic::is_error);
    let mut checker = Checker {
        is_complete,
        program: Program::default(),
        sources,
        problems: Problems::new(problems),
        scopes: vec![HashMap::new()],
        process: None,
        temporal: false,
        defines: Vec::new(),
        parts: 0,
        enumerations: 0,
    };
    checker.predefine();
    checker.read_defines(defines);
    checker.model(model);
    for (name, formula) in formulas {
        checker.formula(name, formula);
    }
    checker.program
}

struct Checker<'a> {
    /// Whether the text was parsed without errors.
    is_complete: bool,
    program: Program,
    sources: &'a Sources,
    problems: Problems<'a>,
    /// The scope of the model and, inside a process, that of the process.
    scopes: Vec<HashMap<String, (Meaning, Span)>>,
    /// The process whose body is checked.
    process: Option<Surroundings>,
    /// Inside a formula, which may refer to local variables of processes.
    temporal: bool,
    /// Values of constants from the command line, and whether they have been used.
    defines: Vec<(String, i32, bool)>,
    /// The number of parts of all types so far.
    parts: usize,
    /// The number of enumerations among them.
    enumerations: usize,
}

/// The names that the body of a process can refer to.
#[derive(Default)]
struct Surroundings {
    params: Vec<Param>,
    vars: Vec<(String, TypeId)>,
}

/// The meaning of a name.
#[derive(Clone, Debug)]
enum Meaning {
    Constant(Value),
    Type(TypeId),
    Variable(usize),
    Param(usize),
    Channel(usize),
    Process(usize),
}

impl Meaning {
    fn describe(&self) -> &'static str {
        match self {
            Meaning::Constant(_) => "a constant",
            Meaning::Type(_) => "a type",
            Meaning::Variable(_) => "a variable",
            Meaning::Param(_) => "a parameter",
            Meaning::Channel(_) => "a channel",
            Meaning::Process(_) => "a process",
        }
    }
}

/// The message for an unknown name, with a similar one.
fn or_similar<'n>(message: String, name: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    match did_you_mean(name, known) {
        Some(similar) => format!("{message}; did you mean `{similar}`?"),
        None => message,
    }
}

impl Checker<'_> {
    /// Reports a type that is not possible here, unless it has an error of its own.
    fn misfit<T>(&mut self, ty: TypeId, span: Span, message: String) -> Option<T> {
        match self.program.ty(ty).kind {
            TypeKind::Unknown => None,
            _ => self.problems.refuse(span, message),
        }
    }

    /// Reports that something is missing, unless syntax errors may be the reason.
    fn missing(&mut self, problem: Diagnostic) {
        if self.is_complete {
            self.problems.report(problem);
        }
    }

    fn declare(&mut self, name: &ast::Name, meaning: Meaning) {
        let scope = self.scopes.last_mut().expect("there is always a scope");
        if let Some((_, first)) = scope.get(&name.text) {
            return self.problems.twice(&name.text, name.span, *first);
        }
        scope.insert(name.text.clone(), (meaning, name.span));
    }

    fn find(&self, name: &str) -> Option<&Meaning> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).map(|(meaning, _)| meaning)
    }

    /// The meaning of `name`; reports an unknown name.
    fn lookup(&mut self, name: &ast::Name) -> Option<Meaning> {
        if let Some(meaning) = self.find(&name.text) {
            return Some(meaning.clone());
        }
        let known = self.scopes.iter().flat_map(|scope| scope.keys().map(String::as_str));
        let message = or_similar(format!("`{}` is not declared", name.text), &name.text, known);
        let mut problem = Diagnostic::error(name.span, message);
        if self.temporal {
            problem = problem.hint("a formula speaks of variables as `Process.variable`");
        }
        self.missing(problem);
        None
    }

    /// The name of a type in messages.
    fn type_name(&self, id: TypeId) -> String {
        format!("`{}`", self.program.ty(id).name)
    }

    fn text(&self, span: Span) -> String {
        self.sources.line(span)
    }

    fn param(&self, access: &Access) -> Option<&Param> {
        match access.root {
            Root::Param(index) => self.process.as_ref().and_then(|process| process.params.get(index)),
            Root::Variable(_) | Root::Channel(_) | Root::Remote { .. } => None,
        }
    }
}
