//! Parses tokens to a syntax tree.

mod expr;

use super::ast::{
    Access, Alternative, Command, CommandKind, Communication, Decls, Direction, Expr, Guarded, Model, Name, Param,
    Process, Traced, Type,
};
use super::token::TokenKind as T;
use crate::diagnostic::Diagnostic;
use crate::kit::{Cursor, Kind, Parsed, Stop, lex};
use crate::source::{FileId, Span};
use std::collections::HashSet;

/// Parses a model. If the problems contain errors, the tree is incomplete.
pub fn parse(file: FileId, text: &str, problems: &mut Vec<Diagnostic>) -> Option<Model> {
    let tokens = lex::<T>(file, text, problems);
    let lexical = problems.len();
    let mut parser = Parser::new(file, text, tokens, problems);
    let model = parser.model().ok();
    forget_consequences(text, lexical, problems);
    model
}

/// Removes errors that follow from lexical ones. After a token that was not recognised, its surroundings look
/// wrong too; and so does the end of the text, which may be inside a comment.
fn forget_consequences(text: &str, lexical: usize, problems: &mut Vec<Diagnostic>) {
    let line = |at: u32| text[..at as usize].matches('\n').count();
    let spans = problems[..lexical].iter().filter_map(|problem| problem.span);
    let lines: HashSet<usize> = spans.map(|span| line(span.start)).collect();
    let end = text.trim_end().len();
    let mut number = 0;
    problems.retain(|problem| {
        number += 1;
        let is_near = |span: Span| span.start as usize >= end || lines.contains(&line(span.start));
        number <= lexical || lines.is_empty() || !problem.span.is_some_and(is_near)
    });
}

/// Parses a single formula. If the problems contain errors, it is incomplete.
pub fn parse_formula(file: FileId, text: &str, problems: &mut Vec<Diagnostic>) -> Option<Expr> {
    let known = problems.len();
    let tokens = lex::<T>(file, text, problems);
    if problems.len() > known {
        return None;
    }
    if tokens.is_empty() {
        let example = "a formula is, for example, `AG(Process.variable < 3)`";
        return Diagnostic::general("the formula is empty").hint(example).refuse(problems);
    }
    let mut parser = Parser::new(file, text, tokens, problems);
    let formula = parser.formula().ok()?;
    if !parser.at_end() {
        parser.unexpected::<()>("an operator or the end of the formula").ok()?;
    }
    Some(formula)
}

type Parser<'t> = Cursor<'t, 't, T, State>;

#[derive(Default)]
struct State {
    /// Whether temporal operators are allowed.
    temporal: bool,
    /// The number of operands of the current expression so far.
    parts: usize,
    /// Inside an operator that warns itself about an operand that continues after its parentheses.
    is_warned: bool,
}

impl Parser<'_> {
    fn model(&mut self) -> Parsed<Model> {
        self.expect(T::Model)?;
        let name = self.name()?;
        self.behind_heading();
        let decls = self.decls();
        let mut processes = Vec::new();
        while self.kind() == T::Process {
            match self.process() {
                Ok(process) => processes.push(process),
                Err(Stop) => self.skip_to(|kind| kind == T::Process),
            }
        }
        if self.at_end() && self.problems.iter().any(Diagnostic::is_error) {
            return Err(Stop);
        }
        let body = match self.body(&name) {
            Ok((body, _)) => body,
            Err(Stop) => {
                self.skip_to(|kind| kind == T::Assert);
                Vec::new()
            }
        };
        self.eat(T::Semicolon);
        let assertion = if self.eat(T::Assert) { Some(self.formula()) } else { None };
        let is_known = !matches!(assertion, Some(Err(Stop)));
        self.eat(T::Semicolon);
        self.eat(T::Dot);
        if is_known && !self.at_end() {
            self.unexpected::<()>("the end of the file").ok();
        }
        let assertion = assertion.and_then(Result::ok);
        Ok(Model { name, decls, processes, body, assertion })
    }

    fn process(&mut self) -> Parsed<Process> {
        self.expect(T::Process)?;
        let name = self.name()?;
        let mut params = Vec::new();
        let listed = self.if_parenthesised(|parser| parser.separated(T::Semicolon, |one| one.params(&mut params)));
        match listed {
            Ok(_) => self.behind_heading(),
            Err(Stop) => self.skip_to_declarations(),
        }
        let decls = self.decls();
        let (body, end) = self.body(&name)?;
        if !self.eat(T::Semicolon) && !matches!(self.kind(), T::Process | T::Begin) {
            return self.unexpected("`;`");
        }
        Ok(Process { name, params, decls, body, end })
    }

    /// `( … )`
    fn parenthesised<A>(&mut self, inside: impl FnOnce(&mut Self) -> Parsed<A>) -> Parsed<A> {
        self.expect(T::Open)?;
        let inner = inside(self)?;
        self.expect(T::Close)?;
        Ok(inner)
    }

    /// `( … )`, if it is there.
    fn if_parenthesised<A>(&mut self, inside: impl FnOnce(&mut Self) -> Parsed<A>) -> Parsed<Option<A>> {
        if self.kind() == T::Open { self.parenthesised(inside).map(Some) } else { Ok(None) }
    }

    /// The semicolon after the heading of a model or a process.
    fn behind_heading(&mut self) {
        if self.expect(T::Semicolon).is_err() {
            self.skip_to_declarations();
        }
    }

    fn skip_to_declarations(&mut self) {
        self.skip_to(|kind| matches!(kind, T::Const | T::Type | T::Var | T::Process | T::Begin));
    }

    fn params(&mut self, params: &mut Vec<Param>) -> Parsed<()> {
        let start = self.span();
        let direction = if self.eat(T::In) {
            Some((Direction::In, start))
        } else if self.eat(T::Out) {
            Some((Direction::Out, start))
        } else {
            None
        };
        let (names, ty) = self.typed_names()?;
        params.extend(names.into_iter().map(|name| Param { direction, name, ty: ty.clone() }));
        Ok(())
    }

    /// `a, b: type`
    fn typed_names(&mut self) -> Parsed<(Vec<Name>, Name)> {
        let names = self.names()?;
        self.expect(T::Colon)?;
        Ok((names, self.type_name()?))
    }

    fn type_name(&mut self) -> Parsed<Name> {
        if matches!(self.kind(), T::Array | T::List | T::OpenBrace | T::Open | T::Number) {
            let problem = Diagnostic::error(self.span(), "expected the name of a type");
            return self.report(problem.hint("give the type a name in a `TYPE` section, and use that"));
        }
        self.name()
    }

    fn names(&mut self) -> Parsed<Vec<Name>> {
        self.separated(T::Comma, Self::name)
    }

    fn name(&mut self) -> Parsed<Name> {
        let span = self.span();
        if self.kind() == T::Name {
            self.skip();
            return Ok(Name { text: self.text(span).to_owned(), span });
        }
        let text = self.text(span);
        if self.kind().is_word() {
            let problem = format!("`{text}` is a keyword, and cannot be a name");
            return self.report(Diagnostic::error(span, problem));
        }
        self.unexpected("a name")
    }

    fn decls(&mut self) -> Decls {
        let mut decls = Decls::default();
        loop {
            if self.eat(T::Const) {
                self.section(|parser| {
                    let name = parser.name()?;
                    parser.expect(T::Equal)?;
                    decls.consts.push((name, parser.expr()?));
                    Ok(())
                });
            } else if self.eat(T::Type) {
                self.section(|parser| {
                    let name = parser.name()?;
                    parser.expect(T::Equal)?;
                    decls.types.push((name, parser.type_definition()?));
                    Ok(())
                });
            } else if self.eat(T::Var) {
                self.section(|parser| {
                    let (names, ty) = parser.typed_names()?;
                    decls.vars.extend(names.into_iter().map(|name| (name, ty.clone())));
                    Ok(())
                });
            } else if matches!(self.kind(), T::Process | T::Begin) {
                return decls;
            } else {
                self.unexpected::<()>("`CONST`, `TYPE`, `VAR`, `PROCESS` or `BEGIN`").ok();
                self.skip_to_declarations();
                if self.at_end() {
                    return decls;
                }
            }
        }
    }

    /// Declarations, each followed by a semicolon, as long as names follow.
    fn section(&mut self, mut read: impl FnMut(&mut Self) -> Parsed<()>) {
        while self.kind() == T::Name {
            let read = read(self).and_then(|()| self.expect(T::Semicolon).map(|_| ()));
            if read.is_err() {
                let is_border =
                    |kind| matches!(kind, T::Semicolon | T::Const | T::Type | T::Var | T::Process | T::Begin);
                self.skip_to(is_border);
                self.eat(T::Semicolon);
            }
        }
    }

    fn type_definition(&mut self) -> Parsed<Type> {
        match self.kind() {
            T::List => self.behind_token(Self::elements).map(|(len, element)| Type::List(len, element)),
            T::Array => self.behind_token(Self::elements).map(|(len, element)| Type::Array(len, element)),
            T::OpenBrace => self.alphabet(),
            T::Open if self.is_tuple() => self.tuple(),
            T::Name if matches!(self.second(), T::Comma | T::Semicolon) => self.names().map(Type::Enumeration),
            _ => {
                let low = self.expr()?;
                self.expect(T::DotDot)?;
                Ok(Type::Range(low, self.expr()?))
            }
        }
    }

    /// A range may also begin with a parenthesis.
    fn is_tuple(&self) -> bool {
        self.second() == T::Name && matches!(self.third(), T::Comma | T::Colon)
    }

    fn elements(&mut self) -> Parsed<(Expr, Name)> {
        self.expect(T::OpenBracket)?;
        let len = self.expr()?;
        self.expect(T::CloseBracket)?;
        self.expect(T::Of)?;
        Ok((len, self.type_name()?))
    }

    fn tuple(&mut self) -> Parsed<Type> {
        let groups = self.parenthesised(|parser| parser.separated(T::Semicolon, Self::typed_names))?;
        let fields =
            groups.into_iter().flat_map(|(names, ty)| names.into_iter().map(move |name| (name, ty.clone())));
        Ok(Type::Tuple(fields.collect()))
    }

    fn alphabet(&mut self) -> Parsed<Type> {
        self.expect(T::OpenBrace)?;
        let signals = self.separated(T::Comma, |parser| {
            let name = parser.name()?;
            Ok((name, parser.if_parenthesised(Self::type_name)?))
        })?;
        self.expect(T::CloseBrace)?;
        Ok(Type::Alphabet(signals))
    }

    /// `BEGIN … END name`, and the position of its end.
    fn body(&mut self, name: &Name) -> Parsed<(Vec<Command>, Span)> {
        self.expect(T::Begin)?;
        let commands = self.commands(|kind| kind == T::EndWord);
        let end = self.expect(T::EndWord)?;
        let closing = self.name()?;
        if closing.text != name.text {
            let problem = format!("expected `END {}`, found `END {}`", name.text, closing.text);
            let problem = Diagnostic::error(closing.span, problem).related(name.span, "what is ended here");
            self.report::<()>(problem).ok();
        }
        Ok((commands, end))
    }

    /// Commands up to the closing token. After an error it continues with the next command.
    fn commands(&mut self, closes: impl Fn(T) -> bool + Copy) -> Vec<Command> {
        let mut commands = Vec::new();
        loop {
            let before = self.position();
            match self.command() {
                Ok(command) => commands.push(command),
                Err(Stop) => self.recover(),
            }
            if self.eat(T::Semicolon) {
                if closes(self.kind()) {
                    let problem = Diagnostic::error(self.span(), "expected a command after `;`");
                    let hint = "`;` separates commands, and must not follow the last one";
                    self.report::<()>(problem.hint(hint)).ok();
                    return commands;
                }
                continue;
            }
            let at_border = matches!(self.kind(), T::EndWord | T::Box | T::End | T::Process);
            if closes(self.kind()) || at_border {
                return commands;
            }
            if self.unexpected::<()>("`;` or `END`").is_err() {
                let starts = |kind| matches!(kind, T::Name | T::If | T::Do | T::Poll | T::Skip);
                if !starts(self.kind()) || self.position() == before {
                    self.recover();
                    self.eat(T::Semicolon);
                }
            }
            if self.position() == before {
                self.skip();
            }
            if self.at_end() {
                return commands;
            }
        }
    }

    fn recover(&mut self) {
        self.skip_to(|kind| matches!(kind, T::Semicolon | T::EndWord | T::Box | T::Process));
    }

    fn command(&mut self) -> Parsed<Command> {
        let start = self.span();
        let kind = match self.kind() {
            T::If => self.behind_token(Self::guarded).map(CommandKind::If)?,
            T::Do => self.behind_token(Self::guarded).map(CommandKind::Do)?,
            T::Poll => self.behind_token(|parser| parser.alternatives(Self::alternative)).map(CommandKind::Poll)?,
            T::Skip => self.behind_token(|_| Ok(CommandKind::Skip))?,
            T::Trace => self.trace()?,
            T::Empty => self.list_command(CommandKind::Empty)?,
            T::Remove => self.list_command(CommandKind::Remove)?,
            T::Append => self.insertion(CommandKind::Append)?,
            T::Prepend => self.insertion(CommandKind::Prepend)?,
            T::Name => self.named_command()?,
            _ => return self.unexpected("a command"),
        };
        Ok(Command { kind, span: self.since(start) })
    }

    fn named_command(&mut self) -> Parsed<CommandKind> {
        if matches!(self.second(), T::Open | T::Semicolon | T::EndWord | T::Box) {
            let name = self.name()?;
            return Ok(CommandKind::Activate(name, self.args()?));
        }
        let access = self.access()?;
        match self.kind() {
            T::Becomes => {
                self.skip();
                Ok(CommandKind::Assign(access, self.expr()?))
            }
            T::Equal => {
                let problem = Diagnostic::error(self.span(), "`=` compares");
                self.report(problem.hint("to assign, write `:=`"))
            }
            T::Bang | T::Hook => self.communication(access).map(CommandKind::Communicate),
            _ => self.unexpected("`:=`, `!` or `?`"),
        }
    }

    fn args(&mut self) -> Parsed<Vec<Expr>> {
        let args = self.if_parenthesised(|parser| match parser.kind() {
            T::Close => Ok(Vec::new()),
            _ => parser.separated(T::Comma, Self::expr),
        })?;
        Ok(args.unwrap_or_default())
    }

    /// The part of a communication after the channel.
    fn communication(&mut self, channel: Access) -> Parsed<Communication> {
        let direction = if self.eat(T::Bang) {
            Direction::Out
        } else if self.eat(T::Hook) {
            Direction::In
        } else {
            return self.unexpected("`!` or `?`");
        };
        let signal = self.name()?;
        let data = self.if_parenthesised(Self::expr)?;
        let span = self.since(channel.span);
        Ok(Communication { channel, direction, signal, data, span })
    }

    fn guarded(&mut self) -> Parsed<Vec<Guarded>> {
        self.alternatives(|parser| {
            let guard = parser.expr()?;
            Ok(Guarded { guard, body: parser.branch()? })
        })
    }

    fn alternative(&mut self) -> Parsed<Alternative> {
        let channel = self.access()?;
        let communication = self.communication(channel)?;
        let condition = if self.eat(T::And) { Some(self.expr()?) } else { None };
        Ok(Alternative { communication, condition, body: self.branch()? })
    }

    /// Alternatives separated by `[]`, up to `END`.
    fn alternatives<A>(&mut self, mut read: impl FnMut(&mut Self) -> Parsed<A>) -> Parsed<Vec<A>> {
        let mut alternatives = Vec::new();
        loop {
            match self.nested(&mut read) {
                Ok(alternative) => alternatives.push(alternative),
                Err(Stop) => self.skip_to(|kind| matches!(kind, T::EndWord | T::Box | T::Process)),
            }
            if !self.eat(T::Box) {
                break;
            }
        }
        self.expect(T::EndWord)?;
        Ok(alternatives)
    }

    fn branch(&mut self) -> Parsed<Vec<Command>> {
        self.expect(T::Arrow)?;
        Ok(self.commands(|kind| matches!(kind, T::Box | T::EndWord)))
    }

    fn list_command(&mut self, command: fn(Access) -> CommandKind) -> Parsed<CommandKind> {
        self.behind_token(|parser| parser.parenthesised(Self::access)).map(command)
    }

    fn insertion(&mut self, command: fn(Access, Expr) -> CommandKind) -> Parsed<CommandKind> {
        self.skip();
        self.parenthesised(|parser| {
            let list = parser.access()?;
            parser.expect(T::Comma)?;
            Ok(command(list, parser.expr()?))
        })
    }

    fn trace(&mut self) -> Parsed<CommandKind> {
        self.skip();
        self.parenthesised(|parser| parser.separated(T::Comma, Self::traced)).map(CommandKind::Trace)
    }

    fn traced(&mut self) -> Parsed<Traced> {
        let span = self.span();
        if !self.eat(T::Text) {
            return self.expr().map(Traced::Value);
        }
        let text = self.text(span);
        Ok(Traced::Text(text[1..text.len() - 1].to_owned()))
    }
}
