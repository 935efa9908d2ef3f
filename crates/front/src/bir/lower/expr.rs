//! Expressions and places.

use super::scope::{Constant, Scope, Symbol, Thread, Variable};
use super::types::{Integer, Type};
use crate::bir::ast::{self, ExprKind, Name, Operator, TypeKind};
use crate::diagnostic::Diagnostic;
use crate::kit::Access;
use crate::kit::Problems;
use crate::kit::cursor::MAX_DEPTH;
use crate::source::{Sources, Span};
use entail_ir::{Base, BinaryOp, Expr, Range, UnaryOp};

/// The maximum size of the globals, of the variables of a thread, and of a type, in bytes.
pub const MAX_BYTES: u32 = 1 << 16;

/// Some operators lower to expressions that repeat an operand. This limits the number of nodes.
const MAX_PARTS: usize = 10_000;

/// The context of an expression: it can refer to the variables of `thread`.
pub struct Reader<'a, 't, 'p> {
    pub scope: &'a Scope<'t>,
    pub sources: &'a Sources,
    pub thread: Option<&'a Thread<'t>>,
    pub problems: &'a mut Problems<'p>,
}

#[derive(Clone, Debug)]
pub struct Value<'t> {
    pub expr: Expr,
    pub ty: Type<'t>,
}

impl<'t> Value<'t> {
    fn new(expr: Expr, ty: Type<'t>) -> Self {
        Value { expr, ty }
    }

    /// Stands for an expression with an error that has been reported.
    fn unknown() -> Self {
        Value { expr: Expr::Const(0), ty: Type::Unknown }
    }
}

impl<'a, 't> Reader<'a, 't, '_> {
    pub fn boolean(&mut self, expr: &ast::Expr<'t>) -> Expr {
        let value = self.value(expr);
        if !value.ty.mixes_with(&Type::Boolean) {
            let message = format!("`{}` is {}, not a boolean", self.written(expr.span), value.ty.describe());
            let problem = Diagnostic::error(expr.span, message);
            let hint = format!("compare it: `{} != 0`", self.written(expr.span));
            self.problems.report(if matches!(value.ty, Type::Integer(_)) { problem.hint(hint) } else { problem });
        }
        value.expr
    }

    pub fn integer(&mut self, expr: &ast::Expr<'t>) -> Value<'t> {
        let value = self.value(expr);
        self.as_integer(value, expr.span)
    }

    fn as_integer(&mut self, value: Value<'t>, span: Span) -> Value<'t> {
        if value.ty.mixes_with(&Type::INT) {
            return value;
        }
        let message = format!("`{}` is {}, not a number", self.written(span), value.ty.describe());
        self.problems.error(span, message);
        Value::unknown()
    }

    /// The value of a constant expression. `what` begins the message if it is not constant.
    pub fn constant(&mut self, expr: &ast::Expr<'t>, what: &str) -> Option<i32> {
        let value = self.integer(expr);
        let constant = value.expr.constant().filter(|_| !value.ty.is_unknown());
        if constant.is_none() && !value.ty.is_unknown() {
            self.problems.error(expr.span, format!("{what} must be a constant"));
        }
        constant
    }

    /// The value to store so that a variable of type `ty` gets the value `expr`.
    pub fn stored(&mut self, expr: &ast::Expr<'t>, ty: &Type<'t>) -> Expr {
        let value = self.value(expr);
        if !value.ty.mixes_with(ty) {
            self.mismatch(expr, &value.ty, ty);
            return Expr::Const(0);
        }
        if let (Type::Integer(wanted), Type::Integer(given)) = (ty, &value.ty) {
            return self.fitted(value.expr, *wanted, *given, expr.span);
        }
        value.expr
    }

    pub fn mismatch(&mut self, expr: &ast::Expr<'t>, given: &Type<'t>, wanted: &Type<'t>) {
        let (text, given, wanted) = (self.written(expr.span), given.describe(), wanted.describe());
        let message = if given == wanted {
            format!("`{text}` is {given}, but of another type than needed")
        } else {
            format!("`{text}` is {given}, not {wanted}")
        };
        self.problems.error(expr.span, message);
    }

    fn fitted(&mut self, value: Expr, wanted: Integer, given: Integer, span: Span) -> Expr {
        let Some(constant) = value.constant() else {
            return if wanted.holds(given) { value } else { wanted.fitted(value) };
        };
        let Range { low, high } = wanted.bounds();
        if !wanted.wraps && !wanted.bounds().contains(constant) {
            self.problems.error(span, format!("{constant} is outside the range {low} to {high}"));
        }
        Expr::Const(wanted.fitted(value).constant().unwrap_or(constant))
    }

    pub fn value(&mut self, expr: &ast::Expr<'t>) -> Value<'t> {
        match &expr.kind {
            ExprKind::Number(number) => Value::new(Expr::Const(*number), Type::INT),
            ExprKind::Boolean(value) => Value::new(Expr::Const(i32::from(*value)), Type::Boolean),
            ExprKind::Field(group, member) => match self.member(group, *member) {
                Some(Some(Constant { ty, value })) => Value::new(Expr::Const(value), ty),
                Some(None) => Value::unknown(),
                None => self.load(expr),
            },
            ExprKind::Name(_) | ExprKind::Index(_) => self.load(expr),
            ExprKind::Unary(operator, operand) => self.unary(*operator, operand),
            ExprKind::Plus(operand) => {
                let value = self.integer(operand);
                Value { ty: if value.ty.is_unknown() { Type::Unknown } else { Type::INT }, ..value }
            }
            ExprKind::Binary(operator, sides) => self.binary(*operator, &sides.0, &sides.1),
            ExprKind::Conditional(parts) => self.conditional(&parts.0, &parts.1, &parts.2),
            ExprKind::Cast(parts) => self.cast(&parts.0, &parts.1, expr.span),
            ExprKind::Call(name, args) => self.lock_test(*name, args),
        }
    }

    fn load(&mut self, expr: &ast::Expr<'t>) -> Value<'t> {
        let Some((access, ty)) = self.place(expr) else { return Value::unknown() };
        match access.place() {
            Some(place) => Value::new(Expr::load(place), ty),
            None => {
                let message = format!("`{}` is {}, not a single value", self.written(expr.span), ty.describe());
                self.problems.error(expr.span, message);
                Value::unknown()
            }
        }
    }

    /// Resolves `Group.member`, if the group exists. Reports an unknown member.
    pub fn member(&mut self, group: &ast::Expr<'t>, member: Name<'t>) -> Option<Option<Constant<'t>>> {
        let ExprKind::Name(group) = group.kind else { return None };
        if self.thread.is_some_and(|thread| thread.locals.contains_key(group.text)) {
            return None;
        }
        let unknown =
            || Diagnostic::error(member.span, format!("`{}` has no member `{}`", group.text, member.text));
        match self.scope.symbol(group.text)? {
            Symbol::Constants(constants) => {
                let found = constants.get(member.text);
                if found.is_none() {
                    self.problems.unknown(unknown(), member.text, constants.keys().copied());
                }
                Some(found.map(|constant| constant.what.clone()))
            }
            Symbol::Enumeration(enumeration) => {
                let found = enumeration.numbers.get(member.text);
                if found.is_none() {
                    self.problems.unknown(unknown(), member.text, enumeration.numbers.keys().copied());
                }
                let ty = Type::Enumeration(enumeration.clone());
                Some(found.map(|number| Constant { ty, value: *number }))
            }
            Symbol::Type(_) | Symbol::Variable(_) => None,
        }
    }

    fn unary(&mut self, operator: UnaryOp, operand: &ast::Expr<'t>) -> Value<'t> {
        match operator {
            UnaryOp::Not => {
                let value = self.boolean(operand);
                Value::new(Expr::unary(operator, value), Type::Boolean)
            }
            UnaryOp::Negate | UnaryOp::Complement => {
                let value = self.integer(operand);
                Value::new(Expr::unary(operator, value.expr), Type::INT)
            }
        }
    }

    fn binary(&mut self, operator: Operator, left: &ast::Expr<'t>, right: &ast::Expr<'t>) -> Value<'t> {
        let Operator::Plain(operator) = operator else { return self.shift_unsigned(left, right) };
        match operator {
            BinaryOp::And | BinaryOp::Or => {
                let sides = (self.boolean(left), self.boolean(right));
                Value::new(Expr::binary(operator, sides.0, sides.1), Type::Boolean)
            }
            BinaryOp::Eq | BinaryOp::Ne => {
                let (one, other) = self.same(left, right);
                Value::new(Expr::binary(operator, one.expr, other.expr), Type::Boolean)
            }
            BinaryOp::BitAnd | BinaryOp::BitXor | BinaryOp::BitOr => {
                let one = self.value(left);
                if matches!(one.ty, Type::Boolean) {
                    let other = self.boolean(right);
                    return Value::new(Expr::binary(operator, one.expr, other), Type::Boolean);
                }
                let (one, other) = (self.as_integer(one, left.span), self.integer(right));
                Value::new(Expr::binary(operator, one.expr, other.expr), Type::INT)
            }
            BinaryOp::Lt | BinaryOp::Gt | BinaryOp::Le | BinaryOp::Ge => {
                self.arithmetic(operator, left, right, Type::Boolean)
            }
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::Shl
            | BinaryOp::Shr => self.arithmetic(operator, left, right, Type::INT),
        }
    }

    fn arithmetic(
        &mut self,
        operator: BinaryOp,
        left: &ast::Expr<'t>,
        right: &ast::Expr<'t>,
        ty: Type<'t>,
    ) -> Value<'t> {
        let (left, right) = (self.integer(left), self.integer(right));
        Value::new(Expr::binary(operator, left.expr, right.expr), ty)
    }

    /// Lowers two operands that must have the same type.
    fn same(&mut self, left: &ast::Expr<'t>, right: &ast::Expr<'t>) -> (Value<'t>, Value<'t>) {
        let (one, other) = (self.value(left), self.value(right));
        if !one.ty.mixes_with(&other.ty) {
            let message = format!(
                "`{}` is {}, but `{}` is {}",
                self.written(left.span),
                one.ty.describe(),
                self.written(right.span),
                other.ty.describe()
            );
            self.problems.error(left.span.to(right.span), message);
        }
        (one, other)
    }

    /// `left >> right` without the sign bits that were shifted in.
    fn shift_unsigned(&mut self, left: &ast::Expr<'t>, right: &ast::Expr<'t>) -> Value<'t> {
        let span = left.span.to(right.span);
        let (left, right) = (self.integer(left).expr, self.integer(right).expr);
        let sign = Expr::binary(BinaryOp::Shr, Expr::Const(i32::MIN), right.clone());
        let came_in = Expr::binary(BinaryOp::Shl, sign, Expr::Const(1));
        let shifted = Expr::binary(BinaryOp::Shr, left, right);
        let expr = Expr::binary(BinaryOp::BitAnd, shifted, Expr::unary(UnaryOp::Complement, came_in));
        self.bounded(Value::new(expr, Type::INT), span)
    }

    fn conditional(&mut self, test: &ast::Expr<'t>, yes: &ast::Expr<'t>, no: &ast::Expr<'t>) -> Value<'t> {
        let test = self.boolean(test);
        let (yes, no) = self.same(yes, no);
        let ty = if let Type::Integer(_) = yes.ty { Type::INT } else { yes.ty };
        Value::new(Expr::conditional(test, yes.expr, no.expr), ty)
    }

    fn cast(&mut self, ty: &ast::Type<'t>, operand: &ast::Expr<'t>, span: Span) -> Value<'t> {
        let ty = self.ty(ty);
        let value = self.value(operand);
        if !value.ty.mixes_with(&ty) || ty.has_lock() {
            let message = format!("`{}` cannot be converted", self.written(operand.span));
            let problem = Diagnostic::error(operand.span, message);
            self.problems.report(problem.hint("only numbers can be converted, into numbers of another type"));
            return Value::unknown();
        }
        let (Type::Integer(wanted), Type::Integer(given)) = (&ty, &value.ty) else { return Value { ty, ..value } };
        if value.expr.constant().is_some() {
            let constant = self.fitted(value.expr, *wanted, *given, operand.span);
            return Value::new(wanted.converted(constant), ty);
        }
        let expr = if wanted.holds(*given) { value.expr } else { wanted.converted(value.expr) };
        self.bounded(Value::new(expr, ty), span)
    }

    /// Limits the size of an expression that repeats its parts.
    fn bounded(&mut self, value: Value<'t>, span: Span) -> Value<'t> {
        let mut parts = 0_usize;
        value.expr.each(&mut |_| parts += 1);
        if parts > MAX_PARTS {
            self.problems.error(span, "this expression is too large");
            return Value::unknown();
        }
        value
    }

    /// The place of a variable, or of a part of one. `None` if it does not exist, which is reported.
    pub fn place(&mut self, expr: &ast::Expr<'t>) -> Option<(Access<'a>, Type<'t>)> {
        match &expr.kind {
            ExprKind::Name(name) => self.variable(*name),
            ExprKind::Field(record, field) => {
                if let Some(member) = self.member(record, *field) {
                    if member.is_some() {
                        let message = format!("`{}` is a constant, not a variable", self.written(expr.span));
                        self.problems.error(expr.span, message);
                    }
                    return None;
                }
                let (access, ty) = self.place(record)?;
                let Type::Record(known) = &ty else {
                    let message = format!("`{}` is {}, not a record", self.written(record.span), ty.describe());
                    return self.problems.refuse(record.span, message);
                };
                let Some(position) = known.fields.iter().position(|(name, _)| *name == field.text) else {
                    let message = format!("`{}` has no field `{}`", known.name, field.text);
                    let names = known.fields.iter().map(|(name, _)| *name);
                    self.problems.unknown(Diagnostic::error(field.span, message), field.text, names);
                    return None;
                };
                let ty = known.fields[position].1.clone();
                if ty.is_unknown() { None } else { Some((access.field(position), ty)) }
            }
            ExprKind::Index(parts) => {
                let (access, ty) = self.place(&parts.0)?;
                let index = self.integer(&parts.1).expr;
                let Type::Array(array) = &ty else {
                    let message = format!("`{}` is {}, not an array", self.written(parts.0.span), ty.describe());
                    return self.problems.refuse(parts.0.span, message);
                };
                if let Some(constant) = index.constant()
                    && u32::try_from(constant).map_or(true, |constant| constant >= array.len)
                {
                    let message = format!("index {constant} is outside 0 to {}", array.len - 1);
                    return self.problems.refuse(parts.1.span, message);
                }
                Some((access.element(index), array.element.clone()))
            }
            ExprKind::Number(_)
            | ExprKind::Boolean(_)
            | ExprKind::Unary(..)
            | ExprKind::Plus(_)
            | ExprKind::Binary(..)
            | ExprKind::Conditional(_)
            | ExprKind::Cast(_)
            | ExprKind::Call(..) => {
                let message = format!("`{}` is not a variable", self.written(expr.span));
                self.problems.refuse(expr.span, message)
            }
        }
    }

    fn variable(&mut self, name: Name<'t>) -> Option<(Access<'a>, Type<'t>)> {
        let local = self.thread.and_then(|thread| thread.locals.get(name.text));
        if let Some(local) = local {
            return accessed(Base::Local, &local.what);
        }
        let conversion = format!("to convert a value, write `({}) (value)`", name.text);
        let (what, hint) = match self.scope.symbol(name.text) {
            Some(Symbol::Variable(variable)) => return accessed(Base::Global, variable),
            Some(Symbol::Constants(_)) => ("a group of constants", format!("write `{}.` and a name", name.text)),
            Some(Symbol::Enumeration(_)) => ("an enumeration", format!("write `{}.` and a member", name.text)),
            Some(Symbol::Type(_)) => ("a type", conversion),
            None if name.text == "byte" => ("a type", conversion),
            None => {
                self.undeclared(name);
                return None;
            }
        };
        let problem = Diagnostic::error(name.span, format!("`{}` is {what}", name.text));
        self.problems.report(problem.hint(hint));
        None
    }

    fn undeclared(&mut self, name: Name<'t>) {
        if self.problems.are_many() {
            return;
        }
        if let Some(problem) = self.scope.too_early(name) {
            return self.problems.report(problem);
        }
        let problem = Diagnostic::error(name.span, format!("`{}` is not declared", name.text));
        if let Some(whole) = self.scope.group_of(name.text) {
            return self.problems.report(problem.hint(format!("did you mean `{whole}`?")));
        }
        let locals = self.thread.iter().flat_map(|thread| thread.locals.keys());
        self.problems.unknown(problem, name.text, locals.chain(self.scope.symbols.keys()).copied());
    }

    /// Resolves a type. Reports errors in it.
    pub fn ty(&mut self, ty: &ast::Type<'t>) -> Type<'t> {
        match &ty.kind {
            TypeKind::Boolean => Type::Boolean,
            TypeKind::Int => Type::INT,
            TypeKind::Lock => Type::Lock,
            TypeKind::Tid => Type::Tid,
            TypeKind::Named(name) => self.named_type(*name),
            TypeKind::Range { wraps, bounds } => {
                let low = self.constant(&bounds.0, "the bound of a range");
                let high = self.constant(&bounds.1, "the bound of a range");
                let (Some(low), Some(high)) = (low, high) else { return Type::Unknown };
                if low > high {
                    self.problems.error(ty.span, format!("the range from {low} to {high} is empty"));
                    return Type::Unknown;
                }
                let integer = Integer::range(Range { low, high }, *wraps);
                if integer.is_none() {
                    let problem = Diagnostic::error(ty.span, "this range is too large to wrap around");
                    self.problems.report(problem.hint("use `int`, which wraps around in 32 bits"));
                }
                integer.map_or(Type::Unknown, Type::Integer)
            }
            TypeKind::Array { element, len } => {
                let element = self.ty(element);
                let len = match self.constant(len, "the size of an array") {
                    Some(size @ 1..) if size as u32 <= MAX_BYTES => size as u32,
                    Some(_) => {
                        self.problems.error(len.span, format!("the size of an array must be 1 to {MAX_BYTES}"));
                        return Type::Unknown;
                    }
                    None => return Type::Unknown,
                };
                if element.is_unknown() { element } else { self.bounded_type(Type::array(element, len), ty.span) }
            }
        }
    }

    /// The type, unless it is too large or too deeply nested.
    pub fn bounded_type(&mut self, ty: Type<'t>, span: Span) -> Type<'t> {
        if ty.size() > MAX_BYTES {
            self.problems.error(span, format!("this type takes more than {MAX_BYTES} bytes"));
            return Type::Unknown;
        }
        if ty.height() > MAX_DEPTH {
            self.problems.error(span, format!("this type is nested more than {MAX_DEPTH} deep"));
            return Type::Unknown;
        }
        ty
    }

    fn named_type(&mut self, name: Name<'t>) -> Type<'t> {
        match self.scope.symbol(name.text) {
            Some(Symbol::Type(ty)) => ty.clone(),
            Some(Symbol::Enumeration(enumeration)) => Type::Enumeration(enumeration.clone()),
            Some(Symbol::Constants(_) | Symbol::Variable(_)) => {
                self.problems.error(name.span, format!("`{}` is not a type", name.text));
                Type::Unknown
            }
            None if name.text == "byte" => Type::BYTE,
            None => {
                if let Some(problem) = self.scope.too_early(name) {
                    self.problems.report(problem);
                    return Type::Unknown;
                }
                let problem = Diagnostic::error(name.span, format!("there is no type `{}`", name.text));
                let types = self.scope.symbols.iter().filter_map(|(name, declared)| match declared.what {
                    Symbol::Type(_) | Symbol::Enumeration(_) => Some(*name),
                    Symbol::Constants(_) | Symbol::Variable(_) => None,
                });
                let known = types.chain(["boolean", "int", "byte", "lock", "tid"]);
                self.problems.unknown(problem, name.text, known);
                Type::Unknown
            }
        }
    }

    /// The text of a span, for a message.
    pub fn written(&self, span: Span) -> String {
        super::collapsed(self.sources.text(span))
    }
}

fn accessed<'a, 't>(base: Base, variable: &'a Variable<'t>) -> Option<(Access<'a>, Type<'t>)> {
    if variable.ty.is_unknown() {
        return None;
    }
    Some((Access::new(base, variable.offset, &variable.shape), variable.ty.clone()))
}
