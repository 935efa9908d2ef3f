//! Declarations of variables and of `mtype` constants.

use super::words::{is_type, is_visibility};
use super::{Parsed, Parser};
use crate::promela::ast::{ChannelInit, Decl, Declarator, Ident, Initialiser, Mtype, Type, Visibility};
use crate::source::Span;

pub(super) enum Declared {
    Variables(Decl),
    /// `mtype = { … }`
    Constants(Mtype),
}

pub(super) const TYPE_FIRST: &str = "a type of one's own must be declared, by `typedef`, before it is used";

impl Parser<'_> {
    pub(super) fn at_declaration(&self) -> bool {
        let text = self.text();
        is_type(text) || is_visibility(text) || self.typedefs.contains(text)
    }

    /// A declaration of variables, where constants cannot be declared.
    pub(super) fn variables(&mut self, what: &str) -> Parsed<Decl> {
        if !self.at_declaration() {
            return Err(self.not_a_type(what));
        }
        match self.declaration()? {
            Declared::Variables(decl) => Ok(decl),
            Declared::Constants(mtype) => {
                Err(self.error(mtype.span, "the constants of an `mtype` can be declared only outside processes"))
            }
        }
    }

    pub(super) fn declaration(&mut self) -> Parsed<Declared> {
        let start = self.cursor.place();
        let visibility = self.visibility();
        if self.at("mtype") && self.constants_follow() {
            if visibility != Visibility::Normal {
                self.error(start, "constants cannot be `hidden`, `show` or `local`");
            }
            return self.constants(start).map(Declared::Constants);
        }
        let ty = self.ty("a type")?;
        let vars = self.list(Self::declarator)?;
        Ok(Declared::Variables(Decl { visibility, ty, vars, span: self.cursor.since(start) }))
    }

    fn visibility(&mut self) -> Visibility {
        let visibility = match self.text() {
            "hidden" => Visibility::Hidden,
            "show" => Visibility::Show,
            "local" => Visibility::Local,
            _ => return Visibility::Normal,
        };
        self.cursor.advance();
        visibility
    }

    /// Whether `mtype {`, `mtype =` or `mtype : name =` comes next.
    fn constants_follow(&self) -> bool {
        let ahead = |n| self.cursor.ahead(n);
        matches!(ahead(1), "{" | "=") || (ahead(1) == ":" && matches!(ahead(3), "{" | "="))
    }

    fn constants(&mut self, start: Span) -> Parsed<Mtype> {
        self.expect("mtype")?;
        let subtype = self.subtype()?;
        if subtype.is_some() {
            self.expect("=")?;
        } else {
            self.eat("=");
        }
        let names = self.braces(Self::constant_names)?;
        Ok(Mtype { subtype, names, span: self.cursor.since(start) })
    }

    /// Names with or without commas between them.
    fn constant_names(&mut self) -> Parsed<Vec<Ident>> {
        let mut names = vec![self.name("the name of a constant")?];
        while !self.at("}") {
            if !self.eat(",") {
                names.push(self.name("`,`, `}` or the name of a constant")?);
            }
        }
        Ok(names)
    }

    fn subtype(&mut self) -> Parsed<Option<Ident>> {
        if !self.eat(":") {
            return Ok(None);
        }
        let name = self.name("the name of a set of constants")?;
        self.cursor.join();
        Ok(Some(name))
    }

    fn ty(&mut self, what: &str) -> Parsed<Type> {
        let ty = match self.text() {
            "bit" => Type::Bit,
            "bool" => Type::Bool,
            "byte" => Type::Byte,
            "pid" => Type::Pid,
            "short" => Type::Short,
            "int" => Type::Int,
            "unsigned" => Type::Unsigned,
            "chan" => Type::Chan,
            "mtype" => {
                self.cursor.advance();
                return Ok(Type::Mtype(self.subtype()?));
            }
            name if self.typedefs.contains(name) => {
                let name = self.name(what)?;
                self.cursor.join();
                return Ok(Type::Record(name));
            }
            _ => return Err(self.not_a_type(what)),
        };
        self.cursor.advance();
        Ok(ty)
    }

    fn not_a_type(&mut self, what: &str) -> super::Reported {
        let problem = self.unexpected(what);
        let problem = if self.at_name() { problem.hint(TYPE_FIRST) } else { problem };
        self.report(problem)
    }

    fn declarator(&mut self) -> Parsed<Declarator> {
        if is_type(self.text()) && self.cursor.last_text() == "," {
            let problem = self.unexpected("the name of a variable");
            return Err(self.report(problem.hint("declarations of different types are separated by `;`, not `,`")));
        }
        let name = self.name("the name of a variable")?;
        if let Some(call) = self.cursor.call_mut() {
            call.declared.push(name.clone());
        }
        let width = if self.eat(":") { Some(self.width()?) } else { None };
        let array = self.index()?.map(|size| *size);
        if array.is_some() && self.at("[") {
            let problem = self.unexpected("the end of this declaration");
            let hint = "arrays have one dimension; for more, make a `typedef` with an array in it";
            return Err(self.report(problem.hint(hint)));
        }
        if self.at("==") {
            let problem = self.unexpected("`=`").hint("to give a value, write `=`");
            return Err(self.report(problem));
        }
        let init = if self.eat("=") { Some(self.initialiser()?) } else { None };
        Ok(Declarator { name, width, array, init })
    }

    /// The width in `unsigned x : 5`.
    fn width(&mut self) -> Parsed<(u32, Span)> {
        let (bits, span) = self.number("a number of bits")?;
        match u32::try_from(bits) {
            Ok(bits) => Ok((bits, span)),
            Err(_) => Err(self.error(span, "this is too many bits")),
        }
    }

    fn initialiser(&mut self) -> Parsed<Initialiser> {
        let start = self.cursor.place();
        match self.text() {
            "{" => {
                let values = self.braces(|parser| parser.list(Self::expr))?;
                Ok(Initialiser::List(values, self.cursor.since(start)))
            }
            "[" => self.channel().map(Initialiser::Channel),
            _ => self.expr().map(Initialiser::Expr),
        }
    }

    /// `[capacity] of { types }`
    fn channel(&mut self) -> Parsed<ChannelInit> {
        let start = self.expect("[")?;
        let capacity = self.expr()?;
        self.expect_closing("]", start)?;
        self.expect("of")?;
        let fields = self.braces(|parser| parser.list(Self::message_field))?;
        Ok(ChannelInit { capacity, fields, span: self.cursor.since(start) })
    }

    fn message_field(&mut self) -> Parsed<(Type, Span)> {
        let start = self.cursor.place();
        let ty = self.ty("the type of a message's field")?;
        let span = self.cursor.since(start);
        if ty == Type::Unsigned {
            return Err(self.error(span, "a message cannot have a field of type `unsigned`"));
        }
        Ok((ty, span))
    }

    /// `{ … }` around something other than statements. Even after an error, the position is after the `}`.
    pub(super) fn braces<T>(&mut self, inside: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let opener = self.expect("{")?;
        let inner = inside(self);
        if inner.is_err() {
            self.skip_behind("{", "}");
            return inner;
        }
        match self.expect_closing("}", opener) {
            Ok(_) => inner,
            Err(reported) => {
                self.skip_behind("{", "}");
                Err(reported)
            }
        }
    }
}
