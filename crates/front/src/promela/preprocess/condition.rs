//! The constant expressions of `#if` and `#elif`.

use super::lex::{Kind, PpToken};
use super::{MAX_NESTING, Preprocessor};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// Whether the expression in `line`, the text after the `#if` at `at`, is true.
pub fn evaluate(preprocessor: &mut Preprocessor, line: Vec<PpToken>, at: Span) -> Result<bool, Diagnostic> {
    if line.is_empty() {
        return Err(Diagnostic::error(at, "`#if` without a condition").hint("write `#if 1` or `#ifdef NAME`"));
    }
    let end = line.last().map_or(at, |last| last.span);
    preprocessor.expand_closed(line, |preprocessor| {
        let mut expression = Expression { preprocessor, ahead: None, depth: 0, end };
        let value = expression.comma(true)?;
        match expression.next() {
            None => Ok(value.bits != 0),
            Some(extra) => Err(unexpected(&extra)),
        }
    })
}

/// All numbers have 64 bits, signed or unsigned, as in C.
#[derive(Clone, Copy)]
struct Value {
    bits: i64,
    unsigned: bool,
}

impl Value {
    fn signed(bits: i64) -> Self {
        Self { bits, unsigned: false }
    }

    fn truth(truth: bool) -> Self {
        Self::signed(truth.into())
    }
}

/// A parser that evaluates while it reads. If `live` is false, it does not evaluate: `0 && 1 / 0` is valid.
struct Expression<'e, 'a> {
    preprocessor: &'e mut Preprocessor<'a>,
    ahead: Option<PpToken>,
    depth: usize,
    /// The end of the line, for reports of missing tokens.
    end: Span,
}

impl Expression<'_, '_> {
    fn comma(&mut self, live: bool) -> Result<Value, Diagnostic> {
        let mut value = self.choice(live)?;
        while self.take(",") {
            value = self.choice(live)?;
        }
        Ok(value)
    }

    fn choice(&mut self, live: bool) -> Result<Value, Diagnostic> {
        let condition = self.binary(1, live)?;
        if !self.take("?") {
            return Ok(condition);
        }
        let holds = condition.bits != 0;
        let then = self.nested(|this| this.comma(live && holds))?;
        self.expect(":")?;
        let otherwise = self.nested(|this| this.choice(live && !holds))?;
        let unsigned = then.unsigned || otherwise.unsigned;
        Ok(Value { bits: if holds { then.bits } else { otherwise.bits }, unsigned })
    }

    /// Operators that bind at least as tightly as `weakest`.
    fn binary(&mut self, weakest: u8, live: bool) -> Result<Value, Diagnostic> {
        let mut left = self.unary(live)?;
        while let Some(operator) =
            self.peek().filter(|next| strength(next).is_some_and(|it| it >= weakest)).cloned()
        {
            self.ahead = None;
            let decided = match &*operator.text {
                "&&" => left.bits == 0,
                "||" => left.bits != 0,
                _ => false,
            };
            let stronger = strength(&operator).map_or(weakest, |it| it + 1);
            let right = self.binary(stronger, live && !decided)?;
            left = if live || decided { apply(&operator, left, right, live)? } else { left };
        }
        Ok(left)
    }

    fn unary(&mut self, live: bool) -> Result<Value, Diagnostic> {
        self.nested(|this| {
            let Some(token) = this.next() else { return Err(this.missing()) };
            match token.kind {
                Kind::Punct => this.prefix(&token, live),
                Kind::Number => number(&token),
                Kind::Character => Ok(Value::signed(character(&token.text))),
                Kind::Word if token.is("defined") => this.defined(&token),
                // A name that is no macro, or a function-like macro without a call.
                Kind::Word => Ok(Value::signed(0)),
                _ => Err(unexpected(&token)),
            }
        })
    }

    fn prefix(&mut self, operator: &PpToken, live: bool) -> Result<Value, Diagnostic> {
        if operator.is("(") {
            let value = self.comma(live)?;
            return self.expect(")").map(|()| value);
        }
        if !["!", "!!", "~", "-", "+"].contains(&&*operator.text) {
            return Err(unexpected(operator));
        }
        let value = self.unary(live)?;
        Ok(match &*operator.text {
            "!" => Value::truth(value.bits == 0),
            "!!" => Value::truth(value.bits != 0),
            "~" => Value { bits: !value.bits, ..value },
            "-" => Value { bits: value.bits.wrapping_neg(), ..value },
            _ => value,
        })
    }

    /// `NAME` or `(NAME)` after `defined`, without macro expansion.
    fn defined(&mut self, defined: &PpToken) -> Result<Value, Diagnostic> {
        let nameless = || {
            Diagnostic::error(defined.span, "`defined` needs the name of a macro")
                .hint("write `defined NAME` or `defined(NAME)`")
        };
        let mut name = self.preprocessor.next_painted().ok_or_else(nameless)?;
        let parenthesis = name.is("(");
        if parenthesis {
            name = self.preprocessor.next_painted().ok_or_else(nameless)?;
        }
        if name.kind != Kind::Word {
            return Err(nameless());
        }
        if parenthesis {
            self.expect(")")?;
        }
        Ok(Value::truth(self.preprocessor.macros.contains_key(&name.text)))
    }

    /// Limits the recursion depth.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T, Diagnostic>) -> Result<T, Diagnostic> {
        if self.depth >= MAX_NESTING {
            let problem = format!("the condition is nested more than {MAX_NESTING} deep");
            return Err(Diagnostic::error(self.end, problem).hint("give parts of it names with `#define`"));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    fn peek(&mut self) -> Option<&PpToken> {
        if self.ahead.is_none() {
            self.ahead = self.preprocessor.next_expanded();
        }
        self.ahead.as_ref()
    }

    fn next(&mut self) -> Option<PpToken> {
        self.peek();
        self.ahead.take()
    }

    fn take(&mut self, text: &str) -> bool {
        let found = self.peek().is_some_and(|next| next.is(text));
        if found {
            self.ahead = None;
        }
        found
    }

    fn expect(&mut self, text: &str) -> Result<(), Diagnostic> {
        match self.next() {
            Some(token) if token.is(text) => Ok(()),
            Some(token) => Err(Diagnostic::error(token.span, format!("expected `{text}` in the condition"))),
            None => Err(Diagnostic::error(self.end, format!("expected `{text}` after this"))),
        }
    }

    fn missing(&self) -> Diagnostic {
        Diagnostic::error(self.end, "the condition ends too early").label("something is missing after this")
    }
}

fn unexpected(token: &PpToken) -> Diagnostic {
    let problem = Diagnostic::error(token.span, format!("`{}` is not allowed here in a condition", token.text));
    if token.is("=") { problem.hint("to compare, write `==`") } else { problem }
}

/// The precedence of a binary operator.
fn strength(operator: &PpToken) -> Option<u8> {
    Some(match &*operator.text {
        "||" => 1,
        "&&" => 2,
        "|" => 3,
        "^" => 4,
        "&" => 5,
        "==" | "!=" => 6,
        "<" | ">" | "<=" | ">=" => 7,
        "<<" | ">>" => 8,
        "+" | "-" => 9,
        "*" | "/" | "%" => 10,
        _ => return None,
    })
}

fn apply(operator: &PpToken, left: Value, right: Value, live: bool) -> Result<Value, Diagnostic> {
    let unsigned = left.unsigned || right.unsigned;
    let (a, b) = (left.bits, right.bits);
    let (ua, ub) = (a as u64, b as u64);
    let number = |bits| Ok(Value { bits, unsigned });
    let truth = |truth| Ok(Value::truth(truth));
    match &*operator.text {
        "||" => truth(a != 0 || b != 0),
        "&&" => truth(a != 0 && b != 0),
        "|" => number(a | b),
        "^" => number(a ^ b),
        "&" => number(a & b),
        "==" => truth(a == b),
        "!=" => truth(a != b),
        "<" => truth(if unsigned { ua < ub } else { a < b }),
        ">" => truth(if unsigned { ua > ub } else { a > b }),
        "<=" => truth(if unsigned { ua <= ub } else { a <= b }),
        ">=" => truth(if unsigned { ua >= ub } else { a >= b }),
        "<<" => Ok(shift(left, right)),
        ">>" => Ok(shift(left, Value { bits: b.saturating_neg(), unsigned: false })),
        "+" => number(a.wrapping_add(b)),
        "-" => number(a.wrapping_sub(b)),
        "*" => number(a.wrapping_mul(b)),
        "/" | "%" if b == 0 && live => Err(Diagnostic::error(operator.span, "division by zero in a condition")),
        "/" | "%" if b == 0 => Ok(left),
        "/" => number(if unsigned { (ua / ub) as i64 } else { a.wrapping_div(b) }),
        _ => number(if unsigned { (ua % ub) as i64 } else { a.wrapping_rem(b) }),
    }
}

/// Shifts to the left or, for a negative distance, to the right, as gcc does. Bits that are shifted out are lost.
fn shift(value: Value, distance: Value) -> Value {
    let bits = value.bits;
    let shifted = match distance.bits {
        left @ 0..64 => bits << left,
        right @ -63..0 if value.unsigned => (bits as u64 >> -right) as i64,
        right @ -63..0 => bits >> -right,
        ..-63 if bits < 0 && !value.unsigned => -1,
        _ => 0,
    };
    Value { bits: shifted, ..value }
}

/// Decimal, octal, `0x` or `0b`, with any of C's suffixes.
fn number(token: &PpToken) -> Result<Value, Diagnostic> {
    let text = token.text.to_ascii_lowercase();
    let digits = text.trim_end_matches(['u', 'l']);
    let suffix = &text[digits.len()..];
    let (digits, radix) = match digits.as_bytes() {
        [b'0', b'x', ..] => (&digits[2..], 16),
        [b'0', b'b', ..] => (&digits[2..], 2),
        [b'0', _, ..] => (&digits[1..], 8),
        _ => (digits, 10),
    };
    let malformed = suffix.matches('u').count() > 1
        || suffix.matches('l').count() > 2
        || suffix == "lul"
        || !digits.chars().all(|digit| digit.is_digit(radix));
    match u64::from_str_radix(digits, radix) {
        Ok(bits) if !malformed => {
            Ok(Value { bits: bits as i64, unsigned: suffix.contains('u') || bits > i64::MAX as u64 })
        }
        _ => Err(Diagnostic::error(token.span, format!("`{}` is not an integer", token.text))
            .hint("conditions of `#if` compute with 64-bit integers")),
    }
}

/// The value of `'x'`. With several characters, each counts 256 times the next, as in gcc.
fn character(text: &str) -> i64 {
    let inside = text.get(1..text.len().saturating_sub(1)).unwrap_or_default().as_bytes();
    let (mut value, mut count, mut rest) = (0_i32, 0, inside);
    while !rest.is_empty() {
        let (byte, length) = first_character(rest);
        value = value.wrapping_shl(8) | i32::from(byte);
        count += 1;
        rest = &rest[length..];
    }
    // A single `char` is signed.
    if count == 1 { i64::from(value as u8 as i8) } else { value.into() }
}

/// The value of the first character of a character constant, and its length in bytes.
fn first_character(text: &[u8]) -> (u8, usize) {
    let digits = |start: usize, most: usize, radix: u32| {
        let digits = text[start..].iter().take(most).map_while(|&digit| char::from(digit).to_digit(radix));
        digits.fold((0_u8, start), |(value, end), digit| {
            (value.wrapping_mul(radix as u8).wrapping_add(digit as u8), end + 1)
        })
    };
    match text {
        [b'\\', b'x', ..] => digits(2, usize::MAX, 16),
        [b'\\', b'0'..=b'7', ..] => digits(1, 3, 8),
        [b'\\', escaped, ..] => {
            let value = match escaped {
                b'a' => 7,
                b'b' => 8,
                b't' => b'\t',
                b'n' => b'\n',
                b'v' => 11,
                b'f' => 12,
                b'r' => b'\r',
                b'e' => 27,
                other => *other,
            };
            (value, 2)
        }
        [plain, ..] => (*plain, 1),
        [] => (0, 0),
    }
}
