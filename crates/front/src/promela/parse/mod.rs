//! From tokens to the syntax tree, by recursive descent.
//!
//! The grammar is that of SPIN 6.5.2, including where it lets a separator be left out (`cursor`). Inlines are
//! expanded while parsing (`inline`), because what a word means can depend on the text around it.
//!
//! A problem is reported where it is found and travels up as `Reported` to the nearest place that can go on:
//! the next statement, field or unit (`recover`). No input makes the parser fail otherwise: nesting, the size of
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

/// Reads a whole model. What is wrong with it is added to `problems`; the rest of it is returned all the same.
pub fn parse(tokens: Vec<Token>, problems: &mut Vec<Diagnostic>) -> Program {
    let proctypes = proctypes_of(&tokens);
    let mut parser = Parser::new(tokens, proctypes, problems);
    Program { units: parser.units() }
}

/// Reads a formula about a model, of which these are the proctypes; what is wrong with it is added to `problems`.
pub fn parse_formula_about(
    logic: Logic,
    proctypes: Vec<Arc<str>>,
    tokens: Vec<Token>,
    problems: &mut Vec<Diagnostic>,
) -> Option<Expr> {
    Parser::new(tokens, proctypes, problems).lone_formula(logic).ok()
}

/// Reads a never claim for a model, of which these are the proctypes; what is wrong with it is added to `problems`.
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

/// Reads a formula that stands alone; what is wrong with it is added to `problems`. There is no model to say which
/// names are proctypes, so whatever is used like one is taken for one.
pub fn parse_formula(logic: Logic, tokens: Vec<Token>, problems: &mut Vec<Diagnostic>) -> Option<Expr> {
    let words = tokens.iter().map(|token| token.text.clone()).collect::<Vec<_>>();
    parse_formula_about(logic, words, tokens, problems)
}

/// The depth to which statements and expressions may nest. It keeps this parser, and recursive visitors, far from the
/// end of a 2 MiB stack.
const NESTING: u32 = 128;
/// How many operators may stand above one another in an expression. Without parentheses `a + b + c …` nests too.
const HEIGHT: u32 = 500;
const PROBLEMS: usize = 100;

struct Parser<'a> {
    cursor: Cursor,
    problems: &'a mut Vec<Diagnostic>,
    first_problem: usize,
    /// Every proctype of the model, and whether its declaration has been passed: only from there on does SPIN
    /// read `P:x` as a variable of another process. Formulas are read last and know them all.
    proctypes: HashMap<Arc<str>, Seen>,
    typedefs: HashSet<Arc<str>>,
    inlines: Inlines,
    open: Vec<Open>,
    depth: u32,
    /// The height of the highest expression completed inside the operand that is being read.
    height: u32,
    /// Of the formula that is being read.
    logic: Option<Logic>,
    /// How many formulas without a name there were so far.
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

    /// Whether a name comes next, rather than a word of the language.
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
                let message = format!("expected {what}, but `{}` is a word of the language", token.text);
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
