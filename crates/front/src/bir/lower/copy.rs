//! Copies of composite values, scalar by scalar.

use super::expr::Reader;
use super::types::Type;
use crate::bir::ast::{self, ExprKind};
use crate::diagnostic::Diagnostic;
use crate::kit::Access;
use crate::kit::data::scalar_count;
use crate::source::Span;
use entail_ir::{Expr, Index, Place};

/// The size of a lowered model. Copying an array takes one assignment per scalar, so that a short model can
/// become large.
#[derive(Debug, Default)]
pub struct Work {
    done: usize,
}

impl Work {
    pub const MAX: usize = 1 << 18;

    /// Adds to the size. Returns false if the limit is exceeded: lowering should then stop.
    pub fn spend(&mut self, more: usize) -> bool {
        self.done = self.done.saturating_add(more);
        !self.is_too_much()
    }

    pub fn is_too_much(&self) -> bool {
        self.done > Work::MAX
    }
}

impl<'a, 't> Reader<'a, 't, '_> {
    /// Reports errors in an expression whose value is not used.
    pub fn check(&mut self, expr: &ast::Expr<'t>) {
        if let ExprKind::Field(group, member) = &expr.kind
            && self.member(group, *member).is_some()
        {
            return;
        }
        if expr.is_place() {
            self.place(expr);
        } else {
            self.value(expr);
        }
    }

    /// The assignments that copy `value` to `access`.
    pub fn copied(
        &mut self,
        access: &Access<'a>,
        ty: &Type<'t>,
        span: Span,
        value: &ast::Expr<'t>,
        work: &mut Work,
    ) -> Vec<(Place, Expr)> {
        if ty.has_lock() {
            let problem = Diagnostic::error(span, format!("`{}` is or has a lock", self.written(span)));
            self.problems.report(problem.hint("a lock cannot be assigned, only locked and unlocked"));
            return Vec::new();
        }
        let values = self.components(value, ty, work);
        if ty.scalar().is_none() {
            let source = match values.first() {
                Some(Expr::Load(place)) => &place.indices[..],
                Some(_) | None => &[],
            };
            if depend_on(access, &access.indices) || depend_on(access, source) {
                let problem = Diagnostic::error(span, "an index depends on the assigned variable");
                self.problems.report(problem.hint("keep the index in another variable first"));
            }
            if !work.spend(effort(access)) {
                return Vec::new();
            }
        }
        access.places().into_iter().zip(values).collect()
    }

    /// The scalars of a value that is stored to a variable of type `ty`.
    pub fn components(&mut self, value: &ast::Expr<'t>, ty: &Type<'t>, work: &mut Work) -> Vec<Expr> {
        if ty.scalar().is_some() {
            return vec![self.stored(value, ty)];
        }
        if !value.is_place() {
            let single = self.value(value);
            if !single.ty.is_unknown() {
                self.mismatch(value, &single.ty, ty);
            }
            return Vec::new();
        }
        let Some((access, given)) = self.place(value) else { return Vec::new() };
        if !given.mixes_with(ty) {
            self.mismatch(value, &given, ty);
            return Vec::new();
        }
        if !work.spend(effort(&access)) {
            return Vec::new();
        }
        access.places().into_iter().map(Expr::load).collect()
    }

    /// The place that receives the number of a new thread.
    pub fn thread_place(&mut self, target: &ast::Expr<'t>) -> Option<Place> {
        let (access, ty) = self.place(target)?;
        if !matches!(ty, Type::Tid) {
            let message = format!("`{}` is {}, not a `tid`", self.written(target.span), ty.describe());
            return self.problems.refuse(target.span, message);
        }
        access.place()
    }
}

/// The size of the places of all scalars.
fn effort(access: &Access<'_>) -> usize {
    scalar_count(access.shape) as usize * parts(&access.indices)
}

/// The size of a place with these indices.
pub fn parts(indices: &[Index]) -> usize {
    let mut parts = 1;
    indices.iter().for_each(|index| index.value.each(&mut |_| parts += 1));
    parts
}

/// Whether storing to a part of `access` may change the indices, and so the addresses of other parts.
fn depend_on(access: &Access<'_>, indices: &[Index]) -> bool {
    let range = |offset: u32, size: u32, indices: &[Index]| {
        let far: u64 = indices.iter().map(|index| u64::from(index.stride) * u64::from(index.len - 1)).sum();
        (u64::from(offset), u64::from(offset) + u64::from(size) + far)
    };
    let (start, end) = range(access.offset, access.shape.size(), &access.indices);
    let mut found = false;
    for index in indices {
        index.value.each(&mut |expr| {
            if let Expr::Load(place) = expr
                && place.base == access.base
            {
                let (from, to) = range(place.offset, place.scalar.size(), &place.indices);
                found |= from < end && start < to;
            }
        });
    }
    found
}
