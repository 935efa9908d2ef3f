//! Declarations.

use super::{Checker, Meaning, Surroundings, or_similar};
use crate::diagnostic::Diagnostic;
use crate::esml::ast;
use crate::esml::code::{
    Activation, Argument, Channel, Param, Process, Root, Selector, Ty, Type, TypeId, TypeKind, Value, ValueKind,
};
use crate::kit::data::scalar_count;
use entail_ir::{EnumerationId, Meaning as Shown, Range, Scalar, Shape};
use std::collections::{HashMap, HashSet};

/// Larger values do not fit into a state.
const MAX_BYTES: u32 = 1 << 15;
/// The number of a signal has 8 bits.
const MAX_SIGNALS: usize = 255;
/// Limit on the number of parts of all types together: each type repeats the parts of its components.
const MAX_PARTS: usize = 1_000_000;
/// The number of a process has 8 bits.
const MAX_ACTIVATIONS: usize = 255;
/// Products of two numbers fit into 32 bits.
const NUMBERS: Range = Range { low: i16::MIN as i32, high: i16::MAX as i32 };
/// Limit on the nesting of types, so that recursive visitors are safe.
const MAX_NESTING: usize = 30;

/// The name of a model's formula.
const ASSERTION: &str = "assert";

const BOOLEAN: TypeId = TypeId(0);
const UNKNOWN: TypeId = TypeId(1);

impl Checker<'_> {
    /// Declares the predefined names.
    pub fn predefine(&mut self) {
        let boolean = Shape::Scalar(Scalar::unsigned(1).meaning(Shown::Boolean));
        self.program.types = vec![
            Type {
                name: "BOOLEAN".to_owned(),
                kind: TypeKind::Boolean,
                shape: boolean.clone(),
                depth: 1,
                parts: 1,
            },
            Type { name: "?".to_owned(), kind: TypeKind::Unknown, shape: boolean, depth: 1, parts: 1 },
        ];
    }

    pub fn read_defines(&mut self, defines: &[String]) {
        for define in defines {
            match define.split_once('=').map(|(name, value)| (name.trim(), value.trim().parse())) {
                Some((name, Ok(value))) => self.defines.push((name.to_owned(), value, false)),
                Some((_, Err(_))) | None => {
                    let problem = format!("`-D {define}` gives no constant a value");
                    self.problems.report(Diagnostic::general(problem).hint("write `-D NAME=NUMBER`"));
                }
            }
        }
    }

    pub fn model(&mut self, model: &ast::Model) {
        self.constants(&model.decls.consts, true);
        self.types(&model.decls.types);
        for (name, ty) in &model.decls.vars {
            let ty = self.named_type(ty, false);
            if ty != UNKNOWN && !self.program.is_channel(ty) {
                let problem = Diagnostic::error(name.span, format!("`{}` is not a channel", name.text));
                self.problems
                    .report(problem.hint("processes share channels only: declare variables inside a process"));
            }
            self.declare(name, Meaning::Channel(self.program.channels.len()));
            self.program.channels.push(Channel { name: name.text.clone(), ty });
        }
        for process in &model.processes {
            self.process(process);
        }
        self.activations(&model.body);
        if self.program.activations.is_empty() && !self.problems.has_errors() {
            self.problems.error(model.name.span, "the model activates no process");
        }
        if let Some(formula) = &model.assertion {
            self.formula(ASSERTION, formula);
        }
        self.unused_defines(&model.decls.consts);
    }

    fn unused_defines(&mut self, consts: &[(ast::Name, ast::Expr)]) {
        for (name, _, used) in std::mem::take(&mut self.defines) {
            if used {
                continue;
            }
            let known = consts.iter().map(|(name, _)| name.text.as_str());
            let message = or_similar(format!("the model has no constant `{name}`"), &name, known);
            self.missing(Diagnostic::general(message));
        }
    }

    fn constants(&mut self, consts: &[(ast::Name, ast::Expr)], global: bool) {
        for (name, value) in consts {
            let mut value = self.value(value);
            let given = self.defines.iter_mut().find(|(define, ..)| global && *define == name.text);
            if let Some((_, given, used)) = given {
                *used = true;
                let number = i64::from(*given);
                value = Value { kind: ValueKind::Constant(*given), ty: Ty::Number(number, number) };
            }
            if value.constant().is_none() && value.ty != Ty::Unknown {
                self.problems.error(name.span, format!("the value of `{}` is not constant", name.text));
                value.ty = Ty::Unknown;
            }
            self.declare(name, Meaning::Constant(value));
        }
    }

    fn types(&mut self, types: &[(ast::Name, ast::Type)]) {
        for (name, definition) in types {
            let kind = self.type_kind(name, definition);
            let (depth, parts) = self.extent(&kind);
            self.parts = self.parts.saturating_add(parts);
            let shape = if depth > MAX_NESTING {
                self.problems.refuse(
                    name.span,
                    format!("the types of `{}` are nested more than {MAX_NESTING} deep", name.text),
                )
            } else if self.parts > MAX_PARTS {
                self.problems.refuse(
                    name.span,
                    format!("with `{}` the types consist of more than {MAX_PARTS} parts", name.text),
                )
            } else {
                self.shape(name, &kind)
            };
            let (kind, shape) = match shape {
                Some(shape) => (kind, shape),
                None => (TypeKind::Unknown, self.program.ty(UNKNOWN).shape.clone()),
            };
            let id = TypeId(self.program.types.len());
            if let TypeKind::Enumeration(members) = &kind
                && let ast::Type::Enumeration(names) = definition
            {
                for (number, (member, _)) in names.iter().zip(members).enumerate() {
                    let value = Value { kind: ValueKind::Constant(number as i32), ty: Ty::Named(id) };
                    self.declare(member, Meaning::Constant(value));
                }
            }
            self.program.types.push(Type { name: name.text.clone(), kind, shape, depth, parts });
            self.declare(name, Meaning::Type(id));
        }
    }

    fn type_kind(&mut self, name: &ast::Name, definition: &ast::Type) -> TypeKind {
        match definition {
            ast::Type::Range(low, high) => {
                let (Some(low), Some(high_value)) = (self.constant(low), self.constant(high)) else {
                    return TypeKind::Unknown;
                };
                let range = Range { low, high: high_value };
                if !NUMBERS.contains(range.low) || !NUMBERS.contains(range.high) {
                    let problem = format!("a range must lie within {}..{}", NUMBERS.low, NUMBERS.high);
                    self.problems.error(name.span, problem);
                    return TypeKind::Unknown;
                }
                if range.low > range.high {
                    self.problems.error(name.span, format!("the range {}..{} is empty", range.low, range.high));
                    return TypeKind::Unknown;
                }
                TypeKind::Range(range)
            }
            ast::Type::Enumeration(names) => {
                TypeKind::Enumeration(names.iter().map(|name| name.text.clone()).collect())
            }
            ast::Type::List(capacity, element) => match (self.size(capacity), self.named_type(element, true)) {
                (Some(capacity), element) if element != UNKNOWN => TypeKind::List { capacity, element },
                _ => TypeKind::Unknown,
            },
            ast::Type::Array(len, element) => match (self.size(len), self.named_type(element, false)) {
                (Some(len), element) if element != UNKNOWN => TypeKind::Array { len, element },
                _ => TypeKind::Unknown,
            },
            ast::Type::Tuple(fields) => {
                self.unique(fields.iter().map(|(name, _)| name), "field");
                let fields: Vec<_> =
                    fields.iter().map(|(name, ty)| (name.text.clone(), self.named_type(ty, true))).collect();
                let known = fields.iter().all(|(_, ty)| *ty != UNKNOWN);
                if known { TypeKind::Tuple(fields) } else { TypeKind::Unknown }
            }
            ast::Type::Alphabet(signals) if signals.len() > MAX_SIGNALS => {
                self.problems.error(name.span, format!("`{}` has more than {MAX_SIGNALS} signals", name.text));
                TypeKind::Unknown
            }
            ast::Type::Alphabet(signals) => {
                self.unique(signals.iter().map(|(name, _)| name), "signal");
                let signals = signals.iter().map(|(name, data)| {
                    let data = data.as_ref().map(|data| self.named_type(data, true));
                    (name.text.clone(), data)
                });
                TypeKind::Alphabet(signals.collect())
            }
        }
    }

    fn unique<'n>(&mut self, names: impl Iterator<Item = &'n ast::Name>, what: &str) {
        let mut seen = HashMap::new();
        for name in names {
            if let Some(first) = seen.insert(&name.text, name.span) {
                let problem = Diagnostic::error(name.span, format!("the {what} `{}` is declared twice", name.text));
                self.problems.report(problem.related(first, "first declared here"));
            }
        }
    }

    /// The nesting depth of a type, and the number of its parts.
    fn extent(&self, kind: &TypeKind) -> (usize, usize) {
        let of = |id: &TypeId| (self.program.ty(*id).depth, self.program.ty(*id).parts);
        let together = |(depth, parts): (usize, usize), (other, more): (usize, usize)| {
            (depth.max(other), parts.saturating_add(more))
        };
        let (depth, parts) = match kind {
            TypeKind::Boolean | TypeKind::Range(_) | TypeKind::Enumeration(_) | TypeKind::Unknown => (0, 0),
            TypeKind::List { element, .. } | TypeKind::Array { element, .. } => of(element),
            TypeKind::Tuple(fields) => fields.iter().map(|(_, ty)| of(ty)).fold((0, 0), together),
            TypeKind::Alphabet(signals) => signals.iter().flat_map(|(_, ty)| ty).map(of).fold((0, 0), together),
        };
        (depth + 1, parts.saturating_add(2))
    }

    /// The layout of values of a type; `None` if they are too large.
    fn shape(&mut self, name: &ast::Name, kind: &TypeKind) -> Option<Shape> {
        let shape_of = |id: TypeId| self.program.ty(id).shape.clone();
        let shape = match kind {
            TypeKind::Boolean | TypeKind::Unknown => return None,
            TypeKind::Range(range) => Shape::Scalar(Scalar::within(*range)),
            TypeKind::Enumeration(members) => {
                let Ok(id) = u16::try_from(self.enumerations) else {
                    return self.problems.refuse(name.span, "there are more than 65536 enumerations");
                };
                self.enumerations += 1;
                let range = Range { low: 0, high: members.len() as i32 - 1 };
                Shape::Scalar(Scalar::within(range).meaning(Shown::Enumeration(EnumerationId(id))))
            }
            TypeKind::List { capacity, element } => {
                let length = Scalar::within(Range { low: 0, high: *capacity as i32 });
                let items = Shape::Array { element: Box::new(shape_of(*element)), len: *capacity };
                Shape::record([("len", Shape::Scalar(length)), ("item", items)])
            }
            TypeKind::Array { len, element } => Shape::Array { element: Box::new(shape_of(*element)), len: *len },
            TypeKind::Tuple(fields) => Shape::record(fields.iter().map(|(name, ty)| (name, shape_of(*ty)))),
            // Values of this type are never stored.
            TypeKind::Alphabet(_) => shape_of(BOOLEAN),
        };
        if shape.size() > MAX_BYTES || scalar_count(&shape) > u64::from(MAX_BYTES) {
            return self
                .problems
                .refuse(name.span, format!("a value of `{}` would take more than {MAX_BYTES} bytes", name.text));
        }
        Some(shape)
    }

    /// The size of an array or a list: a positive constant.
    fn size(&mut self, expr: &ast::Expr) -> Option<u32> {
        let size = self.constant(expr)?;
        if !(1..=MAX_BYTES as i32).contains(&size) {
            return self
                .problems
                .refuse(expr.span, format!("expected a number of elements from 1 to {MAX_BYTES}, found {size}"));
        }
        Some(size as u32)
    }

    pub fn constant(&mut self, expr: &ast::Expr) -> Option<i32> {
        let value = self.number(expr);
        if value.constant().is_none() && value.ty != Ty::Unknown {
            self.problems.error(expr.span, format!("`{}` is not constant", self.text(expr.span)));
        }
        value.constant().filter(|_| value.ty != Ty::Unknown)
    }

    /// The type with this name. If `is_data`, it must not be a channel type.
    fn named_type(&mut self, name: &ast::Name, is_data: bool) -> TypeId {
        if name.text == "BOOLEAN" {
            return BOOLEAN;
        }
        let found = match self.find(&name.text) {
            Some(Meaning::Type(id)) => *id,
            Some(other) => {
                self.problems.error(name.span, format!("`{}` is {}, not a type", name.text, other.describe()));
                return UNKNOWN;
            }
            None => {
                let types = self.scopes.iter().flat_map(|scope| scope.iter());
                let types = types.filter(|(_, (meaning, _))| matches!(meaning, Meaning::Type(_)));
                let known = types.map(|(name, _)| name.as_str()).chain(["BOOLEAN"]);
                let message = or_similar(format!("there is no type `{}`", name.text), &name.text, known);
                self.missing(Diagnostic::error(name.span, message));
                return UNKNOWN;
            }
        };
        if is_data && self.program.is_channel(found) {
            let problem = format!("`{}` is a type of channels, which cannot be stored or sent", name.text);
            self.problems.error(name.span, problem);
            return UNKNOWN;
        }
        found
    }

    fn process(&mut self, process: &ast::Process) {
        self.scopes.push(HashMap::new());
        self.process = Some(Surroundings::default());
        // Parameters must have types of the model: the types of the process are not visible where it is activated.
        for param in &process.params {
            self.declare_param(param);
        }
        self.constants(&process.decls.consts, false);
        self.types(&process.decls.types);
        let (mut bytes, mut reported) = (0u32, false);
        for (name, ty) in &process.decls.vars {
            let id = self.named_type(ty, false);
            if self.program.is_channel(id) {
                let problem = Diagnostic::error(name.span, format!("`{}` is a channel", name.text));
                self.problems
                    .report(problem.hint("channels are declared outside of processes, and passed as parameters"));
            }
            bytes = bytes.saturating_add(self.program.ty(id).shape.size());
            if bytes > MAX_BYTES && !reported {
                reported = true;
                self.problems.error(name.span, format!("the variables take more than {MAX_BYTES} bytes"));
            }
            let vars = &mut self.process.get_or_insert_default().vars;
            let number = vars.len();
            vars.push((name.text.clone(), id));
            self.declare(name, Meaning::Variable(number));
        }
        let code = self.body(process);
        self.scopes.pop();
        let Surroundings { params, vars } = self.process.take().unwrap_or_default();
        self.declare(&process.name, Meaning::Process(self.program.processes.len()));
        let (name, span) = (process.name.text.clone(), process.name.span);
        self.program.processes.push(Process { name, span, params, vars, code });
    }

    fn declare_param(&mut self, param: &ast::Param) {
        let ty = self.named_type(&param.ty, false);
        let is_channel = self.program.is_channel(ty);
        if let Some((_, span)) = param.direction
            && !is_channel
            && ty != UNKNOWN
        {
            let problem = format!("`{}` is a value, and only channels have a direction", param.name.text);
            self.problems.error(span, problem);
        }
        let is_scalar = matches!(self.program.ty(ty).shape, Shape::Scalar(_));
        if !is_channel && !is_scalar {
            let problem = format!("the parameter `{}` is neither a channel nor a simple value", param.name.text);
            self.problems.error(param.ty.span, problem);
        }
        let direction = param.direction.map(|(direction, _)| direction);
        let params = &mut self.process.get_or_insert_default().params;
        let number = params.len();
        params.push(Param { name: param.name.text.clone(), ty, direction });
        self.declare(&param.name, Meaning::Param(number));
    }

    /// Lowers the main body.
    fn activations(&mut self, body: &[ast::Command]) {
        let mut started = HashSet::new();
        for command in body {
            let ast::CommandKind::Activate(name, args) = &command.kind else {
                let problem = Diagnostic::error(command.span, "the main body only activates processes");
                self.problems.report(problem.hint("move this into a process"));
                continue;
            };
            let Some(meaning) = self.lookup(name) else { continue };
            let Meaning::Process(process) = meaning else {
                let problem = format!("`{}` is {}, not a process", name.text, meaning.describe());
                self.problems.error(name.span, problem);
                continue;
            };
            started.insert(process);
            if self.program.activations.len() == MAX_ACTIVATIONS {
                let problem = format!("a model can have no more than {MAX_ACTIVATIONS} processes");
                return self.problems.error(name.span, problem);
            }
            self.activation(name, process, args);
        }
        let has_errors = self.problems.has_errors();
        for (number, process) in self.program.processes.iter().enumerate() {
            if !started.contains(&number) && !has_errors {
                let problem = format!("the process `{}` is never activated", process.name);
                self.problems.report(Diagnostic::warning(process.span, problem));
            }
        }
    }

    fn activation(&mut self, name: &ast::Name, process: usize, args: &[ast::Expr]) {
        let expected = self.program.processes[process].params.len();
        if args.len() != expected {
            let things = if expected == 1 { "parameter" } else { "parameters" };
            let problem = format!("`{}` has {expected} {things}, not {}", name.text, args.len());
            let declared = self.program.processes[process].span;
            return self.missing(Diagnostic::error(name.span, problem).related(declared, "declared here"));
        }
        let mut values = Vec::new();
        for (number, arg) in args.iter().enumerate() {
            let param = &self.program.processes[process].params[number];
            let ty = param.ty;
            if ty == UNKNOWN {
                continue;
            }
            let value =
                if self.program.is_channel(ty) { self.channel_arg(arg, ty) } else { self.value_arg(arg, ty) };
            values.extend(value);
        }
        if values.len() == expected {
            self.program.activations.push(Activation { process, args: values });
        }
    }

    fn value_arg(&mut self, arg: &ast::Expr, ty: TypeId) -> Option<Argument> {
        let value = self.value(arg);
        if !self.fits(&value, ty, arg.span) {
            return None;
        }
        let constant = value.constant();
        if constant.is_none() {
            self.problems.error(arg.span, format!("`{}` is not constant", self.text(arg.span)));
        }
        constant.map(Argument::Value)
    }

    fn channel_arg(&mut self, arg: &ast::Expr, ty: TypeId) -> Option<Argument> {
        let ast::ExprKind::Access(access) = &arg.kind else {
            return self.problems.refuse(arg.span, format!("expected a channel of type {}", self.type_name(ty)));
        };
        let access = self.access(access)?;
        let Root::Channel(channel) = access.root else {
            return self.problems.refuse(arg.span, format!("`{}` is not a channel", self.text(arg.span)));
        };
        if access.ty != ty {
            let (found, wanted) = (self.type_name(access.ty), self.type_name(ty));
            return self
                .problems
                .refuse(arg.span, format!("`{}` is of type {found}, not {wanted}", self.text(arg.span)));
        }
        let (mut offset, mut ty) = (0, self.program.channels[channel].ty);
        for selector in &access.selectors {
            let (Selector::Index(value, len), TypeKind::Array { element, .. }) =
                (selector, &self.program.ty(ty).kind)
            else {
                return None;
            };
            ty = *element;
            let Some(index) = value.constant().filter(|index| (0..*len as i32).contains(index)) else {
                return self.problems.refuse(arg.span, format!("`{}` is not constant", self.text(arg.span)));
            };
            offset += index as u32 * self.program.channel_type(ty).0;
        }
        Some(Argument::Channel(channel, offset))
    }
}
