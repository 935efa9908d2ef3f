//! Expressions and formulas.

use super::Parser;
use crate::diagnostic::Diagnostic;
use crate::esml::ast::{Access, Arithmetic, BinaryOp, Expr, ExprKind, Path, Quantifier, Relation, Selector};
use crate::esml::token::TokenKind as T;
use crate::kit::Parsed;
use crate::source::Span;

/// Limit on the size of an expression, so that recursive visitors are safe.
const MAX_PARTS: usize = 300;

impl Parser<'_> {
    pub(super) fn access(&mut self) -> Parsed<Access> {
        let name = self.name()?;
        let mut selectors = Vec::new();
        loop {
            if self.eat(T::OpenBracket) {
                selectors.push(Selector::Index(Box::new(self.expr()?)));
                self.expect(T::CloseBracket)?;
            } else if self.eat(T::Dot) {
                selectors.push(Selector::Field(self.name()?));
            } else {
                break;
            }
        }
        let span = self.since(name.span);
        Ok(Access { name, selectors, span })
    }

    pub(super) fn formula(&mut self) -> Parsed<Expr> {
        self.state.temporal = true;
        let mut formula = self.expr();
        if formula.is_ok() && self.between().is_some() {
            formula = self.unquantified();
        }
        self.state.temporal = false;
        formula
    }

    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        let outermost = self.state.parts == 0;
        let expr = self.nested(Self::implication);
        if outermost {
            self.state.parts = 0;
        }
        expr
    }

    fn implication(&mut self) -> Parsed<Expr> {
        let left = self.disjunction()?;
        if !self.state.temporal || !self.eat(T::Implies) {
            return Ok(left);
        }
        let right = self.nested(Self::implication)?;
        let span = left.span.to(right.span);
        Ok(Expr { kind: ExprKind::Implies(Box::new((left, right))), span })
    }

    /// In the thesis, `&` and `OR` have the same precedence in the grammar, but not in the table of
    /// operators. An expression that mixes them gets a warning.
    fn disjunction(&mut self) -> Parsed<Expr> {
        let mut left = self.conjunction()?;
        let mut parts = vec![self.in_parentheses_if(is_conjunction(&left), left.span)];
        let mut mixes = is_conjunction(&left);
        while self.eat(T::Or) {
            let right = self.conjunction()?;
            mixes |= is_conjunction(&right);
            parts.push(self.in_parentheses_if(is_conjunction(&right), right.span));
            left = binary(BinaryOp::Or, left, right);
        }
        if mixes && parts.len() > 1 {
            let warning = Diagnostic::warning(left.span, "`&` binds tighter than `OR`");
            self.warn(warning.hint(format!("this is read as `{}`", parts.join(" OR "))));
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Parsed<Expr> {
        self.chain(Self::relation, |kind| (kind == T::And).then_some(BinaryOp::And))
    }

    fn in_parentheses_if(&self, wanted: bool, span: Span) -> String {
        let words: Vec<_> = self.text(span).split_whitespace().collect();
        if wanted { format!("({})", words.join(" ")) } else { words.join(" ") }
    }

    fn relation(&mut self) -> Parsed<Expr> {
        let relation = |kind| match kind {
            T::Equal => Some(Relation::Equal),
            T::Unequal => Some(Relation::Unequal),
            T::Less => Some(Relation::Less),
            T::LessEqual => Some(Relation::LessEqual),
            T::Greater => Some(Relation::Greater),
            T::GreaterEqual => Some(Relation::GreaterEqual),
            _ => None,
        };
        let left = self.sum()?;
        let Some(op) = relation(self.kind()) else { return Ok(left) };
        self.skip();
        let right = self.sum()?;
        if relation(self.kind()).is_some() {
            let problem = Diagnostic::error(self.span(), "a comparison cannot be compared again");
            return self.report(problem.hint("connect comparisons with `&`, or use parentheses"));
        }
        Ok(binary(BinaryOp::Compare(op), left, right))
    }

    fn sum(&mut self) -> Parsed<Expr> {
        self.chain(Self::term, |kind| match kind {
            T::Plus => Some(BinaryOp::Compute(Arithmetic::Add)),
            T::Minus => Some(BinaryOp::Compute(Arithmetic::Subtract)),
            _ => None,
        })
    }

    fn term(&mut self) -> Parsed<Expr> {
        self.chain(Self::factor, |kind| match kind {
            T::Star => Some(BinaryOp::Compute(Arithmetic::Multiply)),
            T::Div => Some(BinaryOp::Compute(Arithmetic::Divide)),
            T::Mod => Some(BinaryOp::Compute(Arithmetic::Modulo)),
            _ => None,
        })
    }

    fn chain(
        &mut self,
        part: fn(&mut Self) -> Parsed<Expr>,
        operator: impl Fn(T) -> Option<BinaryOp>,
    ) -> Parsed<Expr> {
        let mut left = part(self)?;
        while let Some(op) = operator(self.kind()) {
            self.skip();
            left = binary(op, left, part(self)?);
        }
        Ok(left)
    }

    fn factor(&mut self) -> Parsed<Expr> {
        let start = self.span();
        self.state.parts += 1;
        if self.state.parts > MAX_PARTS {
            let problem = format!("this expression has more than {MAX_PARTS} parts");
            return self.report(Diagnostic::error(start, problem));
        }
        let kind = match self.kind() {
            T::Not => ExprKind::Not(Box::new(self.behind_token(|parser| parser.nested(Self::factor))?)),
            T::Minus => ExprKind::Negate(Box::new(self.behind_token(|parser| parser.nested(Self::factor))?)),
            T::Number => {
                let text = self.text(start);
                self.skip();
                let Ok(number) = text.parse() else {
                    return self.report(Diagnostic::error(start, format!("`{text}` does not fit 32 bits")));
                };
                ExprKind::Number(number)
            }
            T::True | T::False => ExprKind::Boolean(self.skip_kind() == T::True),
            T::Len => self.of_list(ExprKind::Len)?,
            T::Head => self.of_list(ExprKind::Head)?,
            T::Open => {
                self.skip();
                let is_warned = std::mem::take(&mut self.state.is_warned);
                let inner = self.expr();
                self.state.is_warned = is_warned;
                let inner = inner?;
                self.expect(T::Close)?;
                return Ok(Expr { span: self.since(start), ..inner });
            }
            T::Name if self.state.temporal => match self.temporal_operator()? {
                Some(kind) => kind,
                None => ExprKind::Access(self.access()?),
            },
            T::Name => ExprKind::Access(self.access()?),
            _ => return self.unexpected("an expression"),
        };
        Ok(Expr { kind, span: self.since(start) })
    }

    fn of_list(&mut self, kind: fn(Access) -> ExprKind) -> Parsed<ExprKind> {
        self.behind_token(|parser| parser.parenthesised(Self::access)).map(kind)
    }

    /// `AG f`, `A(f U g)` and so on. They can also be names of processes and constants; but an operand never
    /// follows a name.
    fn temporal_operator(&mut self) -> Parsed<Option<ExprKind>> {
        let start = self.span();
        let word = self.text(start);
        let begins_operand =
            |kind| matches!(kind, T::Name | T::Number | T::Open | T::Not | T::True | T::False | T::Len | T::Head);
        if !begins_operand(self.second()) {
            return Ok(None);
        }
        let (quantifier, path) = match word {
            "G" | "F" | "X" => {
                let problem = Diagnostic::error(start, format!("`{word}` needs a quantifier"));
                return self.report(problem.hint(format!("write `A{word}` or `E{word}`")));
            }
            _ => match word.split_at_checked(1) {
                Some(("A", path)) => (Quantifier::All, path),
                Some(("E", path)) => (Quantifier::Some, path),
                _ => return Ok(None),
            },
        };
        let path: fn(Expr) -> Path = match path {
            "G" => Path::Always,
            "F" => Path::Eventually,
            "X" => Path::Next,
            "" if self.second() == T::Open => {
                self.skip();
                return Ok(Some(ExprKind::Runs(quantifier, Box::new(self.until(word, start)?))));
            }
            "" => return self.without_operator(word, start),
            _ => return Ok(None),
        };
        self.skip();
        let begins_with_parenthesis = self.kind() == T::Open;
        let is_warned = self.state.is_warned;
        self.state.is_warned |= begins_with_parenthesis;
        let operand = self.nested(Self::implication);
        self.state.is_warned = is_warned;
        let operand = operand?;
        if !is_warned && begins_with_parenthesis && is_connection(&operand) {
            let warning = format!("the operand of `{word}` continues after the parentheses: it is a whole formula");
            let read = format!("this is read as `{word} {}`", self.in_parentheses_if(true, operand.span));
            self.warn(Diagnostic::warning(self.since(start), warning).hint(read));
        }
        Ok(Some(ExprKind::Runs(quantifier, Box::new(path(operand)))))
    }

    /// `(f U g)` after a quantifier.
    fn until(&mut self, quantifier: &str, start: Span) -> Parsed<Path> {
        self.expect(T::Open)?;
        let left = self.expr()?;
        let path: fn(Expr, Expr) -> Path = match self.between() {
            Some("U") => Path::Until,
            Some("W") => Path::WeakUntil,
            Some(_) => Path::Release,
            None if self.eat(T::Close) => {
                return self.without_operator(quantifier, self.since(start));
            }
            None => return self.unexpected("`U`, `W` or `R`"),
        };
        self.skip();
        let right = self.expr()?;
        if self.between().is_some() {
            return self.unquantified();
        }
        self.expect(T::Close)?;
        Ok(path(left, right))
    }

    /// The binary temporal operator that comes next, if any.
    fn between(&self) -> Option<&'static str> {
        let text = self.text(self.span());
        ["U", "W", "R"].into_iter().find(|word| *word == text)
    }

    fn unquantified<A>(&mut self) -> Parsed<A> {
        let word = self.between().unwrap_or_default();
        let problem = Diagnostic::error(self.span(), format!("`{word}` needs a quantifier of its own"));
        self.report(problem.hint(format!("write `A(f {word} g)` or `E(f {word} g)`")))
    }

    fn without_operator<A>(&mut self, quantifier: &str, span: Span) -> Parsed<A> {
        let problem = format!("`{quantifier}` quantifies over runs, and needs a temporal operator");
        let [g, f, x, u] = ["G f", "F f", "X f", "(f U g)"].map(|operator| format!("`{quantifier}{operator}`"));
        self.report(Diagnostic::error(span, problem).hint(format!("write {g}, {f}, {x} or {u}")))
    }
}

/// Whether it is a conjunction without parentheses around it.
fn is_conjunction(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Binary(BinaryOp::And, operands) if operands.0.span.start == expr.span.start)
}

/// The same for `&`, `OR` and `=>`.
fn is_connection(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Binary(BinaryOp::And | BinaryOp::Or, operands) | ExprKind::Implies(operands) => {
            operands.0.span.start == expr.span.start
        }
        ExprKind::Binary(BinaryOp::Compare(_) | BinaryOp::Compute(_), _)
        | ExprKind::Number(_)
        | ExprKind::Boolean(_)
        | ExprKind::Access(_)
        | ExprKind::Len(_)
        | ExprKind::Head(_)
        | ExprKind::Not(_)
        | ExprKind::Negate(_)
        | ExprKind::Runs(..) => false,
    }
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    let span = left.span.to(right.span);
    Expr { kind: ExprKind::Binary(op, Box::new((left, right))), span }
}
