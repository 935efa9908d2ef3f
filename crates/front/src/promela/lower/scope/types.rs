//! The types of variables and their sizes.

use super::{MAX_CHANNEL_TYPES, MAX_FRAME, RecordId, ScopeId, Scopes, Ty};
use crate::diagnostic::Diagnostic;
use crate::promela::ast::{self, Decl, Declarator, Expr, Ident, Initialiser, Type};
use crate::source::Span;
use crate::suggest::did_you_mean;
use entail_ir::{ChannelType, ChannelTypeId, Field, Meaning, Scalar, Shape};

impl Scopes {
    /// The type of a declared variable, its length if it is an array, and the channel that it creates.
    pub(super) fn resolve(
        &mut self,
        decl: &Decl,
        var: &Declarator,
        scope: ScopeId,
        problems: &mut Vec<Diagnostic>,
    ) -> Option<(Ty, Option<u32>, Option<ChannelTypeId>)> {
        let len = match &var.array {
            None => None,
            Some(len) => Some(self.array_bound(len, scope, problems)?),
        };
        let ty = self.ty(&decl.ty, var, len.is_some(), problems)?;
        let channel = match &var.init {
            Some(Initialiser::Channel(init)) if decl.ty == Type::Chan => {
                Some(self.channel_type(&var.name, init, scope, problems))
            }
            Some(Initialiser::Channel(init)) => {
                let message = format!("`{}` is not a channel", var.name.name);
                Diagnostic::error(init.span, message).hint("declare it as `chan`").refuse(problems)
            }
            _ => None,
        };
        match &var.init {
            Some(Initialiser::List(_, span)) if len.is_none() => {
                let message = format!("`{}` is not an array", var.name.name);
                problems.push(Diagnostic::error(*span, message));
            }
            Some(Initialiser::Expr(Expr { span, .. }) | Initialiser::List(_, span))
                if matches!(ty, Ty::Record(_)) =>
            {
                let message = "this value is ignored: a record has no initial value, only its fields have";
                problems.push(Diagnostic::warning(*span, message));
            }
            Some(Initialiser::Expr(_) | Initialiser::List(..) | Initialiser::Channel(_)) | None => {}
        }
        Some((ty, len, channel))
    }

    fn ty(&mut self, ty: &Type, var: &Declarator, array: bool, problems: &mut Vec<Diagnostic>) -> Option<Ty> {
        if let Some((_, span)) = var.width
            && *ty != Type::Unsigned
        {
            problems.push(Diagnostic::error(span, "only `unsigned` variables have a width"));
        }
        if *ty == Type::Unsigned {
            return match var.width {
                Some((bits @ 1..=31, _)) => Some(Ty::Scalar(Scalar::unsigned(bits as u8))),
                Some((_, span)) => {
                    Diagnostic::error(span, "the width of an unsigned must be 1 to 31").refuse(problems)
                }
                None => Diagnostic::error(var.name.span, "an unsigned needs a width")
                    .hint("write `unsigned x : 5`")
                    .refuse(problems),
            };
        }
        match ty {
            Type::Record(name) => self.record_type(name, problems).map(Ty::Record),
            // SPIN stores an array of bits as bytes, and does not truncate its elements to one bit.
            Type::Bit | Type::Bool if array => Some(Ty::Scalar(Scalar { bits: 8, ..self.scalar(ty) })),
            _ => Some(Ty::Scalar(self.scalar(ty))),
        }
    }

    fn record_type(&self, name: &Ident, problems: &mut Vec<Diagnostic>) -> Option<RecordId> {
        let found = self.record_names.get(&name.name).copied();
        if found.is_none() {
            let problem = Diagnostic::error(name.span, format!("unknown type `{}`", name.name));
            let similar = did_you_mean(&name.name, self.record_names.keys().map(|name| &**name));
            problems.push(problem.or_similar(similar));
        }
        found
    }

    fn scalar(&mut self, ty: &Type) -> Scalar {
        match ty {
            Type::Bit => Scalar::unsigned(1),
            Type::Bool => Scalar::unsigned(1).meaning(Meaning::Boolean),
            Type::Byte => Scalar::unsigned(8),
            Type::Pid => Scalar::unsigned(8).meaning(Meaning::Process),
            Type::Short => Scalar::signed(16),
            Type::Int => Scalar::signed(32),
            Type::Chan => Scalar::unsigned(8).meaning(Meaning::Channel),
            Type::Mtype(subtype) => {
                let name = subtype.as_ref().map_or("mtype", |subtype| &subtype.name);
                let id = self.enumeration(name);
                Scalar::unsigned(8).meaning(Meaning::Enumeration(id))
            }
            Type::Unsigned | Type::Record(_) => unreachable!("not one fixed scalar"),
        }
    }

    fn array_bound(&self, len: &Expr, scope: ScopeId, problems: &mut Vec<Diagnostic>) -> Option<u32> {
        match self.fold(len, scope) {
            Some(len @ 1..=0xffff) => Some(len as u32),
            Some(_) => Diagnostic::error(len.span, "the size of an array must be 1 to 65535").refuse(problems),
            None => Diagnostic::error(len.span, "the size of an array must be a constant").refuse(problems),
        }
    }

    fn channel_type(
        &mut self,
        name: &Ident,
        init: &ast::ChannelInit,
        scope: ScopeId,
        problems: &mut Vec<Diagnostic>,
    ) -> ChannelTypeId {
        let capacity = self.fold(&init.capacity, scope);
        if capacity.is_none_or(|capacity| !(0..=0xffff).contains(&capacity)) {
            let message = "the capacity of a channel must be a constant from 0 to 65535";
            problems.push(Diagnostic::error(init.capacity.span, message));
        }
        let mut fields = Vec::new();
        for (ty, span) in &init.fields {
            match ty {
                Type::Unsigned => {
                    problems.push(Diagnostic::error(*span, "`unsigned` cannot be the type of a message field"));
                }
                Type::Record(name) => {
                    if let Some(record) = self.record_type(name, problems) {
                        self.flatten(Ty::Record(record), None, *span, &mut fields, problems);
                    }
                }
                _ => fields.push(self.scalar(ty)),
            }
        }
        // SPIN stores a single bit as a byte, without truncation.
        if let [field] = &mut fields[..]
            && field.bits == 1
        {
            field.bits = 8;
        }
        let message: u64 = fields.iter().map(|field| u64::from(field.size())).sum();
        if message * capacity.unwrap_or(0).max(0) as u64 > MAX_FRAME {
            problems
                .push(Diagnostic::error(init.span, format!("the channel would take more than {MAX_FRAME} bytes")));
        }
        let capacity = capacity.unwrap_or(0) as u16;
        if self.channel_types.len() == MAX_CHANNEL_TYPES {
            problems
                .push(Diagnostic::error(init.span, format!("more than {MAX_CHANNEL_TYPES} channel declarations")));
            self.channel_types.pop();
        }
        self.channel_types.push(ChannelType { name: name.name.to_string(), capacity, fields });
        ChannelTypeId((self.channel_types.len() - 1) as u16)
    }

    /// The scalars of a value of this type, in order.
    fn flatten(
        &self,
        ty: Ty,
        len: Option<u32>,
        span: Span,
        scalars: &mut Vec<Scalar>,
        problems: &mut Vec<Diagnostic>,
    ) {
        match ty {
            Ty::Scalar(scalar) => scalars.extend(std::iter::repeat_n(scalar, len.unwrap_or(1) as usize)),
            Ty::Record(_) if len.is_some() => {
                problems.push(Diagnostic::error(span, "an array of records cannot be part of a message"));
            }
            Ty::Record(id) => {
                for field in &self.record(id).fields {
                    self.flatten(field.ty, field.len, span, scalars, problems);
                }
            }
        }
    }

    pub(super) fn checked_size(
        &self,
        ty: Ty,
        len: Option<u32>,
        used: u32,
        var: &Declarator,
        problems: &mut Vec<Diagnostic>,
    ) -> Option<u32> {
        let one = match ty {
            Ty::Scalar(scalar) => scalar.size(),
            Ty::Record(id) => self.record(id).size,
        };
        let size = u64::from(one) * u64::from(len.unwrap_or(1));
        if u64::from(used) + size > MAX_FRAME {
            let message = format!("`{}` makes the state larger than {MAX_FRAME} bytes", var.name.name);
            return Diagnostic::error(var.name.span, message).refuse(problems);
        }
        Some(size as u32)
    }

    pub fn shape(&self, ty: Ty, len: Option<u32>) -> Shape {
        let one = match ty {
            Ty::Scalar(scalar) => Shape::Scalar(scalar),
            Ty::Record(id) => {
                let record = self.record(id);
                let fields = record.fields.iter().map(|field| Field {
                    name: field.name.name.to_string(),
                    offset: field.offset,
                    shape: self.shape(field.ty, field.len),
                });
                Shape::Record { fields: fields.collect(), size: record.size }
            }
        };
        match len {
            Some(len) => Shape::Array { element: Box::new(one), len },
            None => one,
        }
    }
}
