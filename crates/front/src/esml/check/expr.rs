//! Expressions: their types, their ranges, and the values of constant ones.

use super::{Checker, Meaning};
use crate::diagnostic::Diagnostic;
use crate::esml::ast::{self, ExprKind};
use crate::esml::code::{
    Access, Arithmetic, BinaryOp, Relation, Root, Selector, Ty, TypeId, TypeKind, Value, ValueKind,
};
use crate::source::Span;

impl Checker<'_> {
    /// A boolean expression.
    pub fn condition(&mut self, expr: &ast::Expr) -> Value {
        let value = self.value(expr);
        self.expect(&value, Ty::Boolean, expr.span);
        value
    }

    /// A numeric expression.
    pub fn number(&mut self, expr: &ast::Expr) -> Value {
        let value = self.value(expr);
        self.expect(&value, Ty::Number(0, 0), expr.span);
        value
    }

    /// Whether the value has this type, as far as known. Reports a mismatch.
    fn expect(&mut self, value: &Value, ty: Ty, span: Span) -> bool {
        let fits = is_alike(value.ty, ty);
        if !fits {
            let wanted = match ty {
                Ty::Named(id) => format!("a value of type {}", self.type_name(id)),
                Ty::Boolean | Ty::Number(..) | Ty::Unknown => self.show(ty),
            };
            let problem = format!("expected {wanted}, but `{}` is {}", self.text(span), self.show(value.ty));
            self.problems.error(span, problem);
        }
        fits
    }

    /// Whether a value can be stored in a variable of this type. Reports it if it certainly cannot.
    pub fn fits(&mut self, value: &Value, ty: TypeId, span: Span) -> bool {
        let wanted = self.ty_of(ty);
        if !self.expect(value, wanted, span) {
            return false;
        }
        if let (Ty::Number(low, high), TypeKind::Range(range)) = (value.ty, &self.program.ty(ty).kind)
            && (high < i64::from(range.low) || low > i64::from(range.high))
        {
            let what = match value.constant() {
                Some(constant) => format!("{constant} is"),
                None => format!("`{}` is always", self.text(span)),
            };
            let (low, high) = (range.low, range.high);
            let problem = format!("{what} outside of {}, which is {low}..{high}", self.type_name(ty));
            self.problems.error(span, problem);
            return false;
        }
        true
    }

    pub fn show(&self, ty: Ty) -> String {
        match ty {
            Ty::Boolean => "a condition".to_owned(),
            Ty::Number(..) => "a number".to_owned(),
            Ty::Named(id) => format!("of type {}", self.type_name(id)),
            Ty::Unknown => "unknown".to_owned(),
        }
    }

    pub fn ty_of(&self, id: TypeId) -> Ty {
        match &self.program.ty(id).kind {
            TypeKind::Boolean => Ty::Boolean,
            TypeKind::Range(range) => Ty::Number(i64::from(range.low), i64::from(range.high)),
            TypeKind::Enumeration(_)
            | TypeKind::List { .. }
            | TypeKind::Array { .. }
            | TypeKind::Tuple(_)
            | TypeKind::Alphabet(_) => Ty::Named(id),
            TypeKind::Unknown => Ty::Unknown,
        }
    }

    pub fn value(&mut self, expr: &ast::Expr) -> Value {
        match &expr.kind {
            ExprKind::Number(number) => constant(*number),
            ExprKind::Boolean(value) => truth(*value),
            ExprKind::Access(access) => self.load(access),
            ExprKind::Len(access) => self.of_list(access, |list, capacity, _| Value {
                kind: ValueKind::Len(list),
                ty: Ty::Number(0, i64::from(capacity)),
            }),
            ExprKind::Head(access) => self.of_list(access, |list, _, ty| Value { kind: ValueKind::Head(list), ty }),
            ExprKind::Not(operand) => {
                let operand = self.condition(operand);
                match operand.constant() {
                    Some(value) if operand.ty == Ty::Boolean => truth(value == 0),
                    Some(_) | None => Value { kind: ValueKind::Not(Box::new(operand)), ty: Ty::Boolean },
                }
            }
            ExprKind::Negate(operand) => self.negation(operand, expr.span),
            ExprKind::Binary(op, operands) => self.binary(*op, &operands.0, &operands.1, expr.span),
            ExprKind::Implies(operands) => {
                let (left, right) = (self.condition(&operands.0), self.condition(&operands.1));
                match left.constant() {
                    Some(0) => truth(true),
                    Some(_) => right,
                    None => {
                        let not = Value { kind: ValueKind::Not(Box::new(left)), ty: Ty::Boolean };
                        combined(BinaryOp::Or, not, right, Ty::Boolean)
                    }
                }
            }
            ExprKind::Runs(..) => {
                let problem = "a formula is not a value: it cannot be an operand";
                let hint = "connect formulas with `&`, `OR`, `=>` and `~`";
                self.problems.report(Diagnostic::error(expr.span, problem).hint(hint));
                unknown()
            }
        }
    }

    fn negation(&mut self, operand: &ast::Expr, span: Span) -> Value {
        let operand = self.number(operand);
        let Ty::Number(low, high) = operand.ty else { return unknown() };
        match operand.constant() {
            Some(value) => self.within_bits(constant(value.wrapping_neg()), -high, -low, span),
            None => {
                let value = Value { kind: ValueKind::Negate(Box::new(operand)), ty: Ty::Number(-high, -low) };
                self.within_bits(value, -high, -low, span)
            }
        }
    }

    /// The value, if its range fits into 32 bits.
    fn within_bits(&mut self, value: Value, low: i64, high: i64, span: Span) -> Value {
        if low >= i64::from(i32::MIN) && high <= i64::from(i32::MAX) {
            return value;
        }
        let problem = format!("`{}` can be {low} to {high}, which does not fit 32 bits", self.text(span));
        self.problems.error(span, problem);
        unknown()
    }

    fn binary(&mut self, op: BinaryOp, left: &ast::Expr, right: &ast::Expr, span: Span) -> Value {
        match op {
            BinaryOp::And | BinaryOp::Or => self.connection(op == BinaryOp::And, left, right),
            BinaryOp::Compare(relation) => self.comparison(relation, left, right),
            BinaryOp::Compute(operation) => self.arithmetic(operation, left, right, span),
        }
    }

    /// `&` or `OR` with short-circuit evaluation.
    fn connection(&mut self, is_and: bool, left: &ast::Expr, right: &ast::Expr) -> Value {
        let (left, right) = (self.condition(left), self.condition(right));
        match left.constant().map(|left| left != 0) {
            Some(decided) if decided != is_and => truth(decided),
            Some(_) if right.constant().is_some() => truth(right.is_true()),
            Some(_) | None => {
                let op = if is_and { BinaryOp::And } else { BinaryOp::Or };
                combined(op, left, right, Ty::Boolean)
            }
        }
    }

    fn comparison(&mut self, relation: Relation, left: &ast::Expr, right: &ast::Expr) -> Value {
        let (left_value, right_value) = (self.value(left), self.value(right));
        let is_ordered = match left_value.ty {
            Ty::Named(id) => matches!(self.program.ty(id).kind, TypeKind::Enumeration(_)),
            Ty::Number(..) | Ty::Unknown => true,
            Ty::Boolean => false,
        };
        if is_ordered || matches!(relation, Relation::Equal | Relation::Unequal) {
            self.expect(&right_value, left_value.ty, right.span);
        } else {
            self.expect(&left_value, Ty::Number(0, 0), left.span);
        }
        let (Some(left), Some(right)) = (left_value.constant(), right_value.constant()) else {
            return combined(BinaryOp::Compare(relation), left_value, right_value, Ty::Boolean);
        };
        truth(match relation {
            Relation::Equal => left == right,
            Relation::Unequal => left != right,
            Relation::Less => left < right,
            Relation::LessEqual => left <= right,
            Relation::Greater => left > right,
            Relation::GreaterEqual => left >= right,
        })
    }

    fn arithmetic(&mut self, op: Arithmetic, left: &ast::Expr, right: &ast::Expr, span: Span) -> Value {
        let (divisor, left, right) = (right.span, self.number(left), self.number(right));
        let (Ty::Number(a, b), Ty::Number(c, d)) = (left.ty, right.ty) else { return unknown() };
        if matches!(op, Arithmetic::Divide | Arithmetic::Modulo) && (c, d) == (0, 0) {
            self.problems.error(divisor, "division by zero");
            return unknown();
        }
        if let (Some(left), Some(right)) = (left.constant(), right.constant()) {
            let (left, right) = (i64::from(left), i64::from(right));
            let result = match op {
                Arithmetic::Add => left + right,
                Arithmetic::Subtract => left - right,
                Arithmetic::Multiply => left * right,
                Arithmetic::Divide => left / right,
                Arithmetic::Modulo => left % right,
            };
            return self.within_bits(constant(result as i32), result, result, span);
        }
        let (low, high) = bounds(op, (a, b), (c, d));
        self.within_bits(combined(BinaryOp::Compute(op), left, right, Ty::Number(low, high)), low, high, span)
    }

    fn of_list(&mut self, access: &ast::Access, make: impl FnOnce(Access, u32, Ty) -> Value) -> Value {
        let Some((list, capacity, element)) = self.list(access) else { return unknown() };
        let ty = self.ty_of(element);
        make(list, capacity, ty)
    }

    /// An access that must be a list, with its capacity and the type of its elements.
    pub fn list(&mut self, access: &ast::Access) -> Option<(Access, u32, TypeId)> {
        let list = self.access(access)?;
        let TypeKind::List { capacity, element } = self.program.ty(list.ty).kind else {
            let message = format!("`{}` is not a list", self.text(access.span));
            return self.misfit(list.ty, access.span, message);
        };
        Some((list, capacity, element))
    }

    fn load(&mut self, access: &ast::Access) -> Value {
        if let Some(Meaning::Constant(value)) = self.find(&access.name.text)
            && access.selectors.is_empty()
        {
            return value.clone();
        }
        let Some(access_checked) = self.access(access) else { return unknown() };
        if self.program.is_channel(access_checked.ty) {
            let problem =
                Diagnostic::error(access.span, format!("the channel `{}` has no value", access.name.text));
            self.problems.report(problem.hint("receive from it with `?`"));
            return unknown();
        }
        let ty = self.ty_of(access_checked.ty);
        Value { kind: ValueKind::Load(access_checked), ty }
    }

    /// A variable, a parameter, a channel, or a part of one.
    pub fn access(&mut self, access: &ast::Access) -> Option<Access> {
        if self.temporal {
            return self.remote(access);
        }
        let meaning = self.lookup(&access.name)?;
        let surroundings = self.process.as_ref();
        let (root, ty) = match meaning {
            Meaning::Variable(number) => {
                (Root::Variable(number), surroundings.map(|process| process.vars[number].1))
            }
            Meaning::Param(number) => (Root::Param(number), surroundings.map(|process| process.params[number].ty)),
            Meaning::Channel(number) => (Root::Channel(number), Some(self.program.channels[number].ty)),
            Meaning::Constant(_) | Meaning::Type(_) | Meaning::Process(_) => {
                return self.problems.refuse(
                    access.name.span,
                    format!("`{}` is {}, not a variable", access.name.text, meaning.describe()),
                );
            }
        };
        self.select(root, &access.name.text, ty?, &access.selectors)
    }

    pub fn select(
        &mut self,
        root: Root,
        name: &str,
        mut ty: TypeId,
        selectors: &[ast::Selector],
    ) -> Option<Access> {
        let mut checked = Vec::new();
        for selector in selectors {
            match selector {
                ast::Selector::Index(index) => {
                    let value = self.number(index);
                    let TypeKind::Array { len, element } = self.program.ty(ty).kind else {
                        return self.misfit(ty, index.span, format!("{} is not an array", self.type_name(ty)));
                    };
                    if let Ty::Number(low, high) = value.ty
                        && (high < 0 || low >= i64::from(len))
                    {
                        return self.problems.refuse(
                            index.span,
                            format!("`{}` is outside of 0..{}", self.text(index.span), len - 1),
                        );
                    }
                    checked.push(Selector::Index(value, len));
                    ty = element;
                }
                ast::Selector::Field(field) => {
                    let TypeKind::Tuple(fields) = &self.program.ty(ty).kind else {
                        return self.misfit(ty, field.span, format!("{} has no fields", self.type_name(ty)));
                    };
                    let Some(position) = fields.iter().position(|(name, _)| *name == field.text) else {
                        return self
                            .problems
                            .refuse(field.span, format!("{} has no field `{}`", self.type_name(ty), field.text));
                    };
                    ty = fields[position].1;
                    checked.push(Selector::Field(position));
                }
            }
        }
        Some(Access { root, name: name.to_owned(), selectors: checked, ty })
    }
}

/// Whether the two kinds are compatible, as far as known.
pub fn is_alike(left: Ty, right: Ty) -> bool {
    match (left, right) {
        (Ty::Unknown, _) | (_, Ty::Unknown) => true,
        (Ty::Boolean, Ty::Boolean) | (Ty::Number(..), Ty::Number(..)) => true,
        (Ty::Named(left), Ty::Named(right)) => left == right,
        (Ty::Boolean | Ty::Number(..) | Ty::Named(_), Ty::Boolean | Ty::Number(..) | Ty::Named(_)) => false,
    }
}

/// The bounds of the result of an operation on numbers of these ranges.
fn bounds(op: Arithmetic, (a, b): (i64, i64), (c, d): (i64, i64)) -> (i64, i64) {
    let largest = |low: i64, high: i64| low.abs().max(high.abs());
    match op {
        Arithmetic::Add => (a + c, b + d),
        Arithmetic::Subtract => (a - d, b - c),
        Arithmetic::Multiply => {
            let corners = [a * c, a * d, b * c, b * d];
            corners
                .into_iter()
                .fold((i64::MAX, i64::MIN), |(low, high), corner| (low.min(corner), high.max(corner)))
        }
        Arithmetic::Divide if a >= 0 && c >= 0 => (0, b),
        Arithmetic::Divide => (-largest(a, b), largest(a, b)),
        // The remainder has the sign of the dividend.
        Arithmetic::Modulo => {
            let most = largest(a, b).min(largest(c, d) - 1);
            (if a < 0 { -most } else { 0 }, if b > 0 { most } else { 0 })
        }
    }
}

fn constant(number: i32) -> Value {
    Value { kind: ValueKind::Constant(number), ty: Ty::Number(i64::from(number), i64::from(number)) }
}

fn truth(value: bool) -> Value {
    Value { kind: ValueKind::Constant(i32::from(value)), ty: Ty::Boolean }
}

fn combined(op: BinaryOp, left: Value, right: Value, ty: Ty) -> Value {
    Value { kind: ValueKind::Binary(op, Box::new((left, right))), ty }
}

fn unknown() -> Value {
    Value { kind: ValueKind::Constant(0), ty: Ty::Unknown }
}
