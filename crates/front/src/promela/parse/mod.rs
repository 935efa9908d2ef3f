//! Parses tokens to a syntax tree, by recursive descent.
//!
//! The grammar is that of SPIN 6.5.2, including its implicit separators (`cursor`). Inlines are expanded
//! while parsing (`inline`), because the meaning of a word can depend on its context.
//!
//! An error is reported where it is found, and returned as `Reported` to the nearest caller that can recover:
//! at the next statement, field or unit (`recover`). The parser accepts any input: nesting, the size of
//! expanded inlines and the number of problems are limited.

mod channel;
mod cursor;
mod decl;
mod expr;
mod inline;
mod ltl;
mod recover;
mod stmt;
mod unit;
mod words;

#[cfg(test)]
mod tests;

use super::ast::{Claim, Expr, Ident, Program};
use super::token::{Token, TokenKind};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use cursor::Cursor;
use inline::Inlines;
use recover::Open;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Parses a whole model. Errors are added to `problems`; the rest of the model is returned.
pub fn parse(tokens: Vec<Token>, problems: &mut Vec<Diagnostic>) -> Program {
    let proctypes = proctypes_of(&tokens);
    let mut parser = Parser::new(tokens, proctypes, problems);
    Program { units: parser.units() }
}

/// Parses a formula about a model with these proctypes. Errors are added to `problems`.
pub fn parse_formula_about(
    logic: Logic,
    proctypes: Vec<Arc<str>>,
    tokens: Vec<Token>,
    problems: &mut Vec<Diagnostic>,
) -> Option<Expr> {
    Parser::new(tokens, proctypes, problems).lone_formula(logic).ok()
}

/// Parses a never claim for a model with these proctypes. Errors are added to `problems`.
pub fn parse_claim_about(
    proctypes: Vec<Arc<str>>,
    tokens: Vec<Token>,
    problems: &mut Vec<Diagnostic>,
) -> Option<Claim> {
    let mut parser = Parser::new(tokens, proctypes, problems);
    parser.proctypes.values_mut().for_each(|seen| *seen = Seen::Already);
    parser.lone_claim().ok()
}

/// The names of all proctypes of a model.
pub fn proctypes_of(tokens: &[Token]) -> Vec<Arc<str>> {
    names_behind(&["proctype", "D_proctype"], tokens).collect()
}

/// Parses a formula without a model. Errors are added to `problems`. The proctypes are unknown, so every name
/// that is used like one is assumed to be one.
pub fn parse_formula(logic: Logic, tokens: Vec<Token>, problems: &mut Vec<Diagnostic>) -> Option<Expr> {
    let words = tokens.iter().map(|token| token.text.clone()).collect::<Vec<_>>();
    parse_formula_about(logic, words, tokens, problems)
}

/// Limit on the nesting of statements and expressions. This parser, and recursive visitors, need far less
/// than a stack of 2 MiB for it.
const NESTING: u32 = 128;
/// Limit on the height of an expression tree. Without parentheses, `a + b + c …` is nested too.
const HEIGHT: u32 = 500;
const PROBLEMS: usize = 100;

struct Parser<'a> {
    cursor: Cursor,
    problems: &'a mut Vec<Diagnostic>,
    first_problem: usize,
    /// All proctypes of the model, and whether the declaration has been parsed: only after it does SPIN read
    /// `P:x` as a variable of another process. Formulas are parsed last and know all proctypes.
    proctypes: HashMap<Arc<str>, Seen>,
    typedefs: HashSet<Arc<str>>,
    inlines: Inlines,
    open: Vec<Open>,
    depth: u32,
    /// The maximum height of expressions completed inside the current operand.
    height: u32,
    /// The logic of the current formula.
    logic: Option<Logic>,
    /// The number of unnamed formulas so far.
    unnamed_linear: usize,
    unnamed_branching: usize,
}

/// The temporal logics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logic {
    Ltl,
    Ctl,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Already,
    FurtherDown,
}

/// An error that has been reported: the caller only has to recover.
struct Reported;

type Parsed<T> = Result<T, Reported>;

/// The names declared by one of `keywords` anywhere in the model.
fn names_behind(keywords: &[&str], tokens: &[Token]) -> impl Iterator<Item = Arc<str>> {
    let declarations = tokens.windows(2).filter(|pair| keywords.contains(&&*pair[0].text));
    declarations.map(|pair| pair[1].text.clone())
}

impl<'a> Parser<'a> {
    fn new(tokens: Vec<Token>, proctypes: Vec<Arc<str>>, problems: &'a mut Vec<Diagnostic>) -> Parser<'a> {
        Parser {
            proctypes: proctypes.into_iter().map(|name| (name, Seen::FurtherDown)).collect(),
            inlines: Inlines::new(&tokens),
            cursor: Cursor::new(tokens),
            first_problem: problems.len(),
            problems,
            typedefs: HashSet::new(),
            open: Vec::new(),
            depth: 0,
            height: 0,
            logic: None,
            unnamed_linear: 0,
            unnamed_branching: 0,
        }
    }

    fn text(&self) -> &str {
        self.cursor.text()
    }

    fn at(&self, text: &str) -> bool {
        self.cursor.text() == text
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.at(text);
        if found {
            self.cursor.advance();
        }
        found
    }

    fn expect(&mut self, text: &str) -> Parsed<Span> {
        let place = self.cursor.place();
        if self.eat(text) { Ok(place) } else { Err(self.expected(&format!("`{text}`"))) }
    }

    /// Reads what follows the next token.
    fn behind_token<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.cursor.advance();
        read(self)
    }

    /// Whether a name comes next, rather than a keyword.
    fn at_name(&self) -> bool {
        let is_name = |token: &Token| {
            token.kind == TokenKind::Word
                && !words::is_keyword(&token.text)
                && !(self.logic.is_some() && words::is_temporal(&token.text))
        };
        self.cursor.token().is_some_and(is_name)
    }

    fn name(&mut self, what: &str) -> Parsed<Ident> {
        match self.cursor.token() {
            Some(token) if self.at_name() => {
                let name = Ident { name: token.text.clone(), span: token.span };
                self.cursor.advance();
                Ok(name)
            }
            Some(token) if token.kind == TokenKind::Word => {
                let message = format!("expected {what}, but `{}` is a keyword", token.text);
                Err(self.report(Diagnostic::error(token.span, message)))
            }
            _ => Err(self.expected(what)),
        }
    }

    /// `item, item, …`
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// `( … )`
    fn parenthesised<T>(&mut self, inside: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let opener = self.expect("(")?;
        let inner = inside(self)?;
        self.expect_closing(")", opener)?;
        Ok(inner)
    }

    /// `(item, …)` or `()`
    fn arguments<T>(&mut self, item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.parenthesised(|parser| if parser.at(")") { Ok(Vec::new()) } else { parser.list(item) })
    }

    fn nested<T>(&mut self, inside: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == NESTING {
            return Err(self.give_up(format!("this is nested more than {NESTING} levels deep")));
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }

    fn is_proctype(&self, name: &str) -> bool {
        match self.proctypes.get(name) {
            Some(Seen::Already) => true,
            Some(Seen::FurtherDown) => self.logic.is_some(),
            None => false,
        }
    }
}
