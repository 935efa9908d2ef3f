//! The units of a model: processes, claims, formulas, types and global declarations.

use super::decl::{Declared, TYPE_FIRST};
use super::{Logic, Parsed, Parser, Reported, Seen, words};
use crate::promela::ast::{Claim, Decl, Expr, Init, Proctype, Step, Trace, Typedef, Unit};
use crate::source::Span;
use crate::suggest::did_you_mean;

/// The body of a process or claim.
struct Body {
    steps: Vec<Step>,
    end: Span,
}

impl Parser<'_> {
    pub(super) fn units(&mut self) -> Vec<Unit> {
        let mut units = Vec::new();
        while !self.at("") {
            match self.unit() {
                Ok(unit) => units.extend(unit),
                Err(_) => self.skip_unit(),
            }
        }
        units
    }

    /// A unit. `None` for inlines and separators.
    fn unit(&mut self) -> Parsed<Option<Unit>> {
        self.cursor.forget_parentheses();
        Ok(Some(match self.text() {
            ";" | "->" => {
                self.cursor.advance();
                return Ok(None);
            }
            "inline" => {
                self.inline_definition()?;
                return Ok(None);
            }
            "c_code" | "c_decl" | "c_state" | "c_track" => {
                self.embedded_c();
                return Ok(None);
            }
            "active" | "proctype" | "D_proctype" => Unit::Proctype(Box::new(self.proctype()?)),
            "init" => Unit::Init(self.init()?),
            "never" => Unit::Never(self.never()?),
            "trace" | "notrace" => Unit::Trace(self.trace()?),
            "ltl" => Unit::Ltl(self.formula(Logic::Ltl)?),
            _ if self.at_ctl() => Unit::Ctl(self.formula(Logic::Ctl)?),
            "typedef" => Unit::Typedef(self.typedef()?),
            "}" => {
                self.stray();
                return Ok(None);
            }
            _ if self.at_declaration() => match self.declaration()? {
                Declared::Variables(decl) => Unit::Decl(decl),
                Declared::Constants(mtype) => Unit::Mtype(mtype),
            },
            _ => return Err(self.not_a_unit()),
        }))
    }

    fn not_a_unit(&mut self) -> Reported {
        let problem = self.unexpected("a proctype, `init`, a declaration or another unit");
        if !self.at_name() {
            return self.report(problem);
        }
        let known = self.typedefs.iter().map(|name| &**name).chain(words::TYPES).chain(words::UNITS);
        let is_declaration = self.cursor.ahead(1).starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let problem = match did_you_mean(self.text(), known) {
            _ if self.at("ctl") => problem.hint("a CTL formula is written `ctl name { … }`"),
            Some(similar) => problem.hint(format!("did you mean `{similar}`?")),
            None if is_declaration => problem.hint(TYPE_FIRST),
            None => problem,
        };
        self.report(problem)
    }

    fn proctype(&mut self) -> Parsed<Proctype> {
        let start = self.cursor.place();
        let active = if self.at("active") { Some(self.instances()?) } else { None };
        let deterministic = self.at("D_proctype");
        if !self.eat("D_proctype") {
            self.expect("proctype")?;
        }
        let name = self.name("the proctype's name")?;
        self.proctypes.insert(name.name.clone(), Seen::Already);
        let params = self.params()?;
        let priority = self.priority()?;
        let provided = if self.eat("provided") { Some(self.parenthesised(Self::full_expr)?) } else { None };
        let Body { steps: body, end } = self.body()?;
        let span = self.cursor.since(start);
        Ok(Proctype { name, active, deterministic, params, priority, provided, body, span, end })
    }

    /// `active` or `active [n]`
    fn instances(&mut self) -> Parsed<Expr> {
        let start = self.cursor.place();
        self.cursor.advance();
        Ok(self.index()?.map_or(Expr::constant(1, start), |count| *count))
    }

    /// `(int a, b; byte c)`. After errors in the parameters, the body is parsed all the same.
    fn params(&mut self) -> Parsed<Vec<Decl>> {
        let opener = self.expect("(")?;
        let mut params = Vec::new();
        while !self.at(")") {
            let Ok(param) = self.param() else {
                self.skip_behind("(", ")");
                return Ok(params);
            };
            params.push(param);
            if !self.separators() {
                break;
            }
        }
        if self.expect_closing(")", opener).is_err() {
            self.skip_behind("(", ")");
        }
        Ok(params)
    }

    fn param(&mut self) -> Parsed<Decl> {
        let param = self.variables("a parameter such as `int x`")?;
        if let Some(var) = param.vars.iter().find(|var| var.init.is_some()) {
            return Err(self.error(var.name.span, "a parameter cannot have an initial value"));
        }
        Ok(param)
    }

    pub(super) fn priority(&mut self) -> Parsed<Option<Expr>> {
        if self.eat("priority") { self.constant().map(Some) } else { Ok(None) }
    }

    fn init(&mut self) -> Parsed<Init> {
        let start = self.expect("init")?;
        let priority = self.priority()?;
        let Body { steps: body, end } = self.body()?;
        Ok(Init { priority, body, span: self.cursor.since(start), end })
    }

    /// A never claim outside of a model.
    pub(super) fn lone_claim(&mut self) -> Parsed<Claim> {
        let claim = self.never()?;
        if self.cursor.token().is_some() {
            return Err(self.expected("nothing after the claim"));
        }
        Ok(claim)
    }

    fn never(&mut self) -> Parsed<Claim> {
        let start = self.expect("never")?;
        let name = if self.at("{") { None } else { Some(self.name("`{` or the claim's name")?) };
        let Body { steps: body, end } = self.body()?;
        Ok(Claim { name, body, span: self.cursor.since(start), end })
    }

    fn trace(&mut self) -> Parsed<Trace> {
        let start = self.cursor.place();
        let negated = self.at("notrace");
        self.cursor.advance();
        let Body { steps: body, end } = self.body()?;
        Ok(Trace { negated, body, span: self.cursor.since(start), end })
    }

    fn body(&mut self) -> Parsed<Body> {
        self.cursor.set_in_body(true);
        let steps = self.block();
        self.cursor.set_in_body(false);
        Ok(Body { steps: steps?, end: self.cursor.last_place() })
    }

    fn typedef(&mut self) -> Parsed<Typedef> {
        let start = self.expect("typedef")?;
        let name = self.name("the name of the new type")?;
        let opener = self.expect("{")?;
        self.cursor.set_in_body(true);
        let before = self.reported();
        let fields = self.fields();
        self.cursor.set_in_body(false);
        self.expect_closing("}", opener)?;
        if fields.is_empty() && self.reported() == before {
            self.error(opener, "a type needs at least one field");
        }
        // Declared only now: a type cannot contain itself.
        self.typedefs.insert(name.name.clone());
        Ok(Typedef { name, fields, span: self.cursor.since(start) })
    }

    fn fields(&mut self) -> Vec<Decl> {
        let mut fields = Vec::new();
        while !matches!(self.text(), "}" | "") && !words::begins_unit(self.text()) {
            if let Ok(field) = self.variables("a field such as `int x`") {
                fields.push(field);
                if self.separators() || self.at("}") {
                    continue;
                }
                self.expected("`;` or `}` after this field");
            }
            self.skip_field();
            self.separators();
        }
        fields
    }

    fn skip_field(&mut self) {
        self.cursor.forget_parentheses();
        while !matches!(self.text(), ";" | "}" | "") && !words::begins_unit(self.text()) {
            self.cursor.advance();
        }
    }
}
