//! Lowers the syntax tree to automata.
//!
//! Every thread becomes a process type. Its locations are those of the source, a location for ended threads,
//! and hidden ones: see `flow` and `locks`. An ended thread is not removed. Another thread reuses its slot
//! when no `tid` and no lock refers to it.

mod constants;
mod copy;
mod expr;
mod flow;
mod locks;
mod scope;
mod threads;
mod types;

use super::ast::{self, Member, Model, Name};
use crate::diagnostic::Diagnostic;
use crate::kit::{Access, Automata, Problems, defaults, frame_variable};
use crate::source::Sources;
use copy::Work;
use entail_ir::{Base, EnumerationId, Init, System};
use expr::{MAX_BYTES, Reader};
use scope::{Scope, Symbol, Variable};
use std::collections::HashMap;
use std::rc::Rc;
use types::{Enumeration, Type};

const MAX_ENUMERATIONS: usize = 1 << 16;

/// The system of a model; `None` if there are errors.
pub fn system(
    model: &Model<'_>,
    defines: &[String],
    sources: &Sources,
    problems: &mut Vec<Diagnostic>,
) -> Option<System> {
    let mut lowering = Lowering {
        sources,
        problems: Problems::new(problems),
        automata: Automata::default(),
        scope: Scope::default(),
        work: Work::default(),
    };
    // The statement for faults before the first step.
    lowering.automata.statement(sources, model.name.span, format!("system {}", model.name.text));
    lowering.automata.system.joins_atomic = true;
    lowering.model(model, defines);
    if lowering.work.is_too_much() {
        let problem = Diagnostic::general(format!("the model expands to more than {} actions", Work::MAX));
        lowering.problems.report(problem.hint("are large arrays copied in many places?"));
    }
    if lowering.problems.has_errors() { None } else { Some(lowering.automata.system) }
}

struct Lowering<'s, 't, 'p> {
    sources: &'s Sources,
    problems: Problems<'p>,
    automata: Automata,
    scope: Scope<'t>,
    work: Work,
}

impl<'t, 'p> Lowering<'_, 't, 'p> {
    fn model(&mut self, model: &Model<'t>, defines: &[String]) {
        let given = constants::given(model, defines, &mut self.problems);
        self.scope.announce(model);
        for member in &model.members {
            if let Member::Enumeration(enumeration) = member {
                self.enumeration(enumeration);
            }
        }
        for member in &model.members {
            match member {
                Member::Constants(constants) => self.constants(constants, &given),
                Member::Alias(name, ty) => {
                    let ty = self.reader(None).ty(ty);
                    self.scope.declare(*name, Symbol::Type(ty), &mut self.problems);
                }
                Member::Record(record) => self.record(record),
                Member::Enumeration(_) | Member::Variables(_) | Member::Thread(_) | Member::Invariants(_) => {}
            }
        }
        for member in &model.members {
            if let Member::Variables(variables) = member {
                self.globals(variables);
            }
        }
        self.threads(model);
        for member in &model.members {
            if let Member::Invariants(conditions) = member {
                for condition in conditions {
                    let text = collapsed(self.sources.text(condition.span));
                    let statement = self.automata.statement(self.sources, condition.span, text);
                    let condition = self.reader(None).boolean(condition);
                    self.automata.system.invariants.push((condition, statement));
                }
            }
        }
    }

    /// A reader for expressions that refer to the globals and to the variables of `thread`.
    fn reader(&mut self, thread: Option<usize>) -> Reader<'_, 't, 'p> {
        let thread = thread.map(|number| &self.scope.threads[number]);
        Reader { scope: &self.scope, sources: self.sources, thread, problems: &mut self.problems }
    }

    fn enumeration(&mut self, enumeration: &ast::Enumeration<'t>) {
        let mut numbers: HashMap<&str, i32> = HashMap::new();
        let mut members = Vec::new();
        for (number, member) in enumeration.members.iter().enumerate() {
            match numbers.get(member.text) {
                Some(first) => {
                    self.problems.twice(member.text, member.span, enumeration.members[*first as usize].span)
                }
                None => {
                    numbers.insert(member.text, number as i32);
                }
            }
            members.push(member.text.to_owned());
        }
        let name = enumeration.name;
        let known = &mut self.automata.system.enumerations;
        if known.len() >= MAX_ENUMERATIONS {
            return self.problems.error(name.span, format!("more than {MAX_ENUMERATIONS} enumerations"));
        }
        let id = EnumerationId(known.len() as u16);
        known.push(entail_ir::Enumeration { name: name.text.to_owned(), first: 0, members });
        let symbol = Symbol::Enumeration(Rc::new(Enumeration { name: name.text, numbers, id }));
        self.scope.declare(name, symbol, &mut self.problems);
    }

    fn record(&mut self, record: &ast::Record<'t>) {
        let mut fields = Vec::new();
        let mut seen = HashMap::new();
        for variables in &record.fields {
            let ty = self.reader(None).ty(&variables.ty);
            for (name, init) in &variables.names {
                if let Some(init) = init {
                    self.problems.error(init.span, "a field has no first value of its own");
                }
                match seen.get(name.text) {
                    Some(first) => self.problems.twice(name.text, name.span, *first),
                    None => {
                        seen.insert(name.text, name.span);
                        fields.push((name.text, ty.clone()));
                    }
                }
            }
        }
        if fields.is_empty() {
            self.problems.error(record.name.span, format!("the record `{}` has no fields", record.name.text));
        }
        let ty = Type::record(record.name.text, fields);
        let ty = self.reader(None).bounded_type(ty, record.name.span);
        self.scope.declare(record.name, Symbol::Type(ty), &mut self.problems);
    }

    fn globals(&mut self, variables: &ast::Variables<'t>) {
        let ty = self.reader(None).ty(&variables.ty);
        for (name, init) in &variables.names {
            let ty = self.room(&ty, self.automata.system.globals.size, *name);
            let shape = ty.shape();
            let offset = frame_variable(&mut self.automata.system.globals, name.text, shape.clone());
            let access = Access::new(Base::Global, offset, &shape);
            let init = self.first_value(None, &access, &ty, *name, init.as_ref());
            self.automata.system.globals.init.extend(init);
            ty.each_lock(offset, &mut |lock| self.scope.locks.push(lock));
            self.scope.declare(*name, Symbol::Variable(Variable { ty, shape, offset }), &mut self.problems);
        }
    }

    /// The type of a variable, if it fits into its frame.
    fn room(&mut self, ty: &Type<'t>, used: u32, name: Name<'t>) -> Type<'t> {
        if used.saturating_add(ty.size()) <= MAX_BYTES {
            return ty.clone();
        }
        self.problems
            .error(name.span, format!("with `{}` the variables take more than {MAX_BYTES} bytes", name.text));
        Type::Unknown
    }

    /// The initialisation of a variable.
    fn first_value(
        &mut self,
        thread: Option<usize>,
        access: &Access<'_>,
        ty: &Type<'t>,
        name: Name<'t>,
        init: Option<&ast::Expr<'t>>,
    ) -> Vec<Init> {
        let mut values = defaults(access);
        if let Some(init) = init {
            let mut work = std::mem::take(&mut self.work);
            let copied = self.reader(thread).copied(access, ty, name.span, init, &mut work);
            self.work = work;
            values.extend(copied.into_iter().map(|(place, value)| Init::Value(place, value)));
        }
        values
    }
}

/// A piece of source on one line, without comments.
fn collapsed(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(next) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map_or(rest.len(), |end| "/*".len() + end + "*/".len())
        } else if next.is_whitespace() {
            next.len_utf8()
        } else {
            text.push(next);
            rest = &rest[next.len_utf8()..];
            continue;
        };
        if !text.is_empty() && !text.ends_with(' ') {
            text.push(' ');
        }
        rest = &rest[skipped..];
    }
    text.truncate(text.trim_end().len());
    text
}
