//! Parses the members of a system.

mod body;
mod expr;
mod missing;

use super::ast::{Constants, Enumeration, Expr, Member, Model, Name, Record, Type, TypeKind, Variables};
use super::token::{Kind, OPEN_COMMENT};
use crate::diagnostic::Diagnostic;
use crate::kit::{self, Cursor, Kind as _, Parsed, Stop};
use crate::source::FileId;

type Parser<'t, 'p> = Cursor<'t, 'p, Kind>;

/// Parses a whole model. Members with syntax errors are missing from the result; the errors are in `problems`.
pub fn model<'t>(file: FileId, text: &'t str, problems: &mut Vec<Diagnostic>) -> Option<Model<'t>> {
    let tokens = kit::lex(file, text, problems);
    if problems.last().is_some_and(|problem| problem.message == OPEN_COMMENT) {
        // Ignore the consequences of an unclosed comment, which contains the rest of the text.
        return None;
    }
    let mut parser = Parser::new(file, text, tokens, problems);
    parser.model().ok()
}

impl<'t> Parser<'t, '_> {
    fn model(&mut self) -> Parsed<Model<'t>> {
        if self.kind() != Kind::System {
            return self.report(self.wrong("`system`").hint("a model is `system Name { … }`"));
        }
        self.skip();
        let name = self.name("the name of the system")?;
        self.expect(Kind::OpenBrace)?;
        let mut members = Vec::new();
        while !self.at_end() && self.kind() != Kind::CloseBrace {
            let before = self.position();
            if self.eat(Kind::Semicolon) {
                continue;
            }
            match self.member() {
                Ok(member) => members.push(member),
                Err(Stop) => {
                    self.recover();
                    if self.position() == before {
                        self.skip();
                    }
                }
            }
        }
        self.expect(Kind::CloseBrace)?;
        if !self.at_end() {
            return self.report(self.wrong("nothing after the system").hint("is there a `}` too many before it?"));
        }
        Ok(Model { name, members })
    }

    fn member(&mut self) -> Parsed<Member<'t>> {
        if self.begins_type() {
            self.refuse_missing()?;
            if self.is_main_thread() {
                return self.thread().map(Member::Thread);
            }
            return self.variables().map(Member::Variables);
        }
        if self.kind() == Kind::Const {
            return self.constants().map(Member::Constants);
        }
        if self.kind() == Kind::TypeAlias {
            self.skip();
            let name = self.name("the name of the type")?;
            let ty = self.ty()?;
            self.expect(Kind::Semicolon)?;
            return Ok(Member::Alias(name, ty));
        }
        if self.kind() == Kind::Enum {
            return self.enumeration().map(Member::Enumeration);
        }
        if self.kind() == Kind::Record {
            return self.record().map(Member::Record);
        }
        if self.kind() == Kind::Active || self.kind() == Kind::Thread {
            return self.thread().map(Member::Thread);
        }
        if self.kind() == Kind::Invariant {
            return self.invariants().map(Member::Invariants);
        }
        if self.kind() == Kind::Loc {
            let problem = Diagnostic::error(self.span(), "this location is outside of a thread");
            let stopped = self.report(problem.hint("is there a `}` too many before it?"));
            self.skip_to(|kind| kind.begins_part() && kind != Kind::Loc);
            return stopped;
        }
        self.report(self.wrong("a declaration"))
    }

    /// `const Name { A = 1; B = 2; }`
    fn constants(&mut self) -> Parsed<Constants<'t>> {
        self.skip();
        let name = self.name("the name of the constants")?;
        let brace = "constants belong in a group: `const Name { N = 2; }`";
        if self.kind() != Kind::OpenBrace {
            return self.report(self.wrong("`{`").hint(brace));
        }
        let mut values = Vec::new();
        self.braced(|this| {
            let name = this.name("the name of a constant")?;
            if this.kind() == Kind::Assign {
                return this.report(this.wrong("`=`").hint("a constant gets its value with `=`"));
            }
            this.expect(Kind::Equals)?;
            values.push((name, this.expr()?));
            this.expect(Kind::Semicolon)?;
            Ok(())
        })?;
        Ok(Constants { name, values })
    }

    /// `enum Name { A, B }`
    fn enumeration(&mut self) -> Parsed<Enumeration<'t>> {
        self.skip();
        let name = self.name("the name of the enumeration")?;
        self.expect(Kind::OpenBrace)?;
        let members = self.enumeration_members();
        if members.is_err() {
            self.skip_to(|kind| kind == Kind::CloseBrace || kind.begins_part());
        }
        self.eat(Kind::CloseBrace);
        Ok(Enumeration { name, members: members? })
    }

    fn enumeration_members(&mut self) -> Parsed<Vec<Name<'t>>> {
        let members = self.separated(Kind::Comma, |this| this.name("the name of a member"))?;
        if self.kind() == Kind::CloseBrace {
            return Ok(members);
        }
        self.report(self.wrong("`,` or `}`").hint("members are separated by `,`"))
    }

    /// `record Name { int x; int y; }`
    fn record(&mut self) -> Parsed<Record<'t>> {
        self.skip();
        let name = self.name("the name of the record")?;
        self.refuse_missing()?;
        if self.kind() != Kind::OpenBrace {
            return self.unexpected("`{`");
        }
        let mut fields = Vec::new();
        self.braced(|this| {
            fields.push(this.variables()?);
            Ok(())
        })?;
        Ok(Record { name, fields })
    }

    /// `invariant a;`, `invariant { a; b; }` or `invariant name { a; b; }`
    fn invariants(&mut self) -> Parsed<Vec<Expr<'t>>> {
        self.skip();
        if self.kind() == Kind::Name && self.second() == Kind::OpenBrace {
            self.skip();
        }
        let mut conditions = Vec::new();
        if self.kind() != Kind::OpenBrace {
            conditions.push(self.expr()?);
            self.expect(Kind::Semicolon)?;
            return Ok(conditions);
        }
        self.braced(|this| {
            conditions.push(this.expr()?);
            this.expect(Kind::Semicolon)?;
            Ok(())
        })?;
        Ok(conditions)
    }

    /// `int a, b := 2;`
    fn variables(&mut self) -> Parsed<Variables<'t>> {
        let ty = self.ty()?;
        let names = self.separated(Kind::Comma, |this| {
            let name = this.name("the name of a variable")?;
            if this.kind() == Kind::Equals {
                return this.report(this.wrong("`:=`").hint("a variable gets its first value with `:=`"));
            }
            if this.kind() == Kind::OpenBracket {
                let hint = "the size of an array belongs to its type: `int[5] a;`";
                return this.report(this.wrong("`;`").hint(hint));
            }
            let init = if this.eat(Kind::Assign) { Some(this.expr()?) } else { None };
            Ok((name, init))
        })?;
        self.expect(Kind::Semicolon)?;
        Ok(Variables { ty, names })
    }

    fn begins_type(&self) -> bool {
        matches!(self.kind(), Kind::Boolean | Kind::Int | Kind::Lock | Kind::Tid | Kind::Name)
    }

    /// `int wrap (0, N)[3][4]`: an array of 3 arrays of 4, as in Java.
    fn ty(&mut self) -> Parsed<Type<'t>> {
        let start = self.span();
        self.refuse_missing()?;
        let kind = if self.eat(Kind::Boolean) {
            TypeKind::Boolean
        } else if self.eat(Kind::Int) {
            let wraps = self.eat(Kind::Wrap);
            if wraps || self.kind() == Kind::Open { self.range(wraps)? } else { TypeKind::Int }
        } else if self.eat(Kind::Lock) {
            TypeKind::Lock
        } else if self.eat(Kind::Tid) {
            TypeKind::Tid
        } else if self.kind() == Kind::Name {
            TypeKind::Named(self.name("a type")?)
        } else if self.kind() == Kind::TypeVariable {
            return self.generic();
        } else {
            return self.unexpected("a type");
        };
        let mut ty = Type { kind, span: self.since(start) };
        if self.kind() == Kind::Lt {
            return self.generic();
        }
        let mut sizes = Vec::new();
        while self.kind() == Kind::OpenBracket {
            let bracket = self.skip();
            if self.eat(Kind::CloseBracket) {
                let problem = Diagnostic::error(self.since(bracket), "arrays on a heap are not supported");
                return self.report(problem.hint("give the array a fixed size, as in `int[5] a;`"));
            }
            sizes.push(self.expr()?);
            self.expect(Kind::CloseBracket)?;
            if sizes.len() > kit::cursor::MAX_DEPTH {
                return self.report(Diagnostic::error(bracket, "an array of too many dimensions"));
            }
        }
        let span = self.since(start);
        for len in sizes.into_iter().rev() {
            ty = Type { kind: TypeKind::Array { element: Box::new(ty), len: Box::new(len) }, span };
        }
        Ok(ty)
    }

    /// `(low, high)`
    fn range(&mut self, wraps: bool) -> Parsed<TypeKind<'t>> {
        self.expect(Kind::Open)?;
        let low = self.expr()?;
        self.expect(Kind::Comma)?;
        let high = self.expr()?;
        self.expect(Kind::Close)?;
        Ok(TypeKind::Range { wraps, bounds: Box::new((low, high)) })
    }

    fn name(&mut self, what: &str) -> Parsed<Name<'t>> {
        if self.kind() == Kind::Name {
            let span = self.skip();
            return Ok(Name { text: self.text(span), span });
        }
        let problem = self.wrong(what);
        let reserved = format!("`{}` is a keyword", self.text(self.span()));
        self.report(if self.kind().is_word() { problem.hint(reserved) } else { problem })
    }

    /// `{` items `}`. After an error it continues with the next item.
    fn braced(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        self.expect(Kind::OpenBrace)?;
        while !self.at_end() && self.kind() != Kind::CloseBrace && !self.kind().begins_part() {
            let before = self.position();
            if item(self).is_err() {
                self.recover();
                if self.position() == before {
                    self.skip();
                }
            }
        }
        self.expect(Kind::CloseBrace)?;
        Ok(())
    }

    /// Error recovery: skips to the position after the next `;` or block in braces. It stops at the `}` of
    /// the surrounding construct, and before a token that certainly begins a new member.
    fn recover(&mut self) {
        let mut depth = 0_usize;
        while !self.at_end() {
            let kind = self.kind();
            let is_new = kind.begins_part() && (depth == 0 || kind != Kind::Loc);
            if is_new || (kind == Kind::CloseBrace && depth == 0) {
                return;
            }
            self.skip();
            if kind == Kind::OpenBrace {
                depth += 1;
            } else if kind == Kind::CloseBrace {
                depth -= 1;
            }
            if depth == 0 && (kind == Kind::CloseBrace || kind == Kind::Semicolon) {
                return;
            }
        }
    }
}
