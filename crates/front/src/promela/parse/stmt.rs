//! Sequences and statements.

use super::recover::{Closing, Open};
use super::{Parsed, Parser, Reported};
use crate::promela::ast::{Branch, Exclusive, Expr, ExprKind, Ident, Step, Stmt, StmtKind, VarRef};
use crate::promela::token::TokenKind;
use crate::source::Span;

/// The head of a `for`.
enum ForHead {
    Range(VarRef, (Expr, Expr)),
    In(VarRef, VarRef),
}

impl Parser<'_> {
    /// `{ sequence }`
    pub(super) fn block(&mut self) -> Parsed<Vec<Step>> {
        let place = self.expect("{")?;
        self.open.push(Open { opener: "{", closer: "}", place });
        let mut steps = self.sequence(place);
        while self.close() == Closing::Stray {
            self.steps(&mut steps);
        }
        self.open.pop();
        Ok(steps)
    }

    /// A sequence of at least one step after the token at `opener`.
    fn sequence(&mut self, opener: Span) -> Vec<Step> {
        let before = self.reported();
        let mut steps = Vec::new();
        self.steps(&mut steps);
        if steps.is_empty() && self.reported() == before {
            self.error(opener, "expected at least one statement after this; `skip` does nothing");
        }
        steps
    }

    fn steps(&mut self, steps: &mut Vec<Step>) {
        while !self.at_sequence_end() {
            match self.step() {
                Ok(step) => {
                    steps.push(step);
                    if !self.separators() && !self.at_sequence_end() {
                        self.missing_separator();
                    }
                }
                Err(_) => {
                    self.skip_statement();
                    self.separators();
                }
            }
        }
    }

    /// Any number of `;` and `->`, which are equivalent.
    pub(super) fn separators(&mut self) -> bool {
        let mut any = false;
        while matches!(self.text(), ";" | "->") {
            self.cursor.advance();
            any = true;
        }
        any
    }

    /// Reports a missing separator. A word is likely to begin the next statement; other tokens are likely to
    /// belong to this one.
    fn missing_separator(&mut self) {
        self.expected("`;` after this statement");
        if self.cursor.token().is_none_or(|token| token.kind != TokenKind::Word) {
            self.skip_statement();
            self.separators();
        }
    }

    fn step(&mut self) -> Parsed<Step> {
        match self.text() {
            "xr" | "xs" => self.exclusive().map(Step::Exclusive),
            _ if self.at_declaration() => self.variables("a declaration").map(Step::Decl),
            _ => self.statement_unless().map(Step::Stmt),
        }
    }

    fn exclusive(&mut self) -> Parsed<Exclusive> {
        let start = self.cursor.place();
        let receive = self.at("xr");
        self.cursor.advance();
        let channels = self.list(Self::var_ref)?;
        Ok(Exclusive { receive, channels, span: self.cursor.since(start) })
    }

    fn statement_unless(&mut self) -> Parsed<Box<Stmt>> {
        let start = self.cursor.place();
        let body = self.statement()?;
        if !self.eat("unless") {
            return Ok(body);
        }
        let kind = StmtKind::Unless(body, self.statement()?);
        Ok(Box::new(Stmt { kind, span: self.cursor.since(start) }))
    }

    /// Boxed, because statements are large and many of these calls are on the stack when they are nested.
    fn statement(&mut self) -> Parsed<Box<Stmt>> {
        let start = self.cursor.place();
        let kind = self.nested(Self::statement_kind)?;
        Ok(Box::new(Stmt { kind, span: self.cursor.since(start) }))
    }

    fn statement_kind(&mut self) -> Parsed<StmtKind> {
        match self.text() {
            "{" => self.block().map(StmtKind::Block),
            "if" => self.options("if", "fi").map(StmtKind::If),
            "do" => self.options("do", "od").map(StmtKind::Do),
            "for" => self.for_loop(),
            "c_code" | "c_decl" => Ok(StmtKind::Expr(self.embedded_c())),
            "return" => self.return_value(),
            "goto" => self.behind_token(|parser| parser.name("a label")).map(StmtKind::Goto),
            "break" => self.behind_token(|_| Ok(StmtKind::Break)),
            "else" => self.behind_token(|_| Ok(StmtKind::Else)),
            "assert" => self.behind_token(Self::full_expr).map(StmtKind::Assert),
            "atomic" => self.behind_token(Self::block).map(StmtKind::Atomic),
            "d_step" => self.behind_token(Self::block).map(StmtKind::DStep),
            "select" | "printf" | "printm" | "set_priority" => self.built_in(),
            _ if self.at_label() => self.labelled(),
            _ if self.at_inline() => self.inline_call(None),
            _ => self.simple(),
        }
    }

    /// The statements with the syntax of function calls.
    fn built_in(&mut self) -> Parsed<StmtKind> {
        let function = self.text().to_string();
        self.cursor.advance();
        self.parenthesised(|parser| match &*function {
            "select" => {
                let var = parser.var_ref()?;
                let (from, to) = parser.range()?;
                Ok(StmtKind::Select { var, from, to })
            }
            "printf" => parser.print(),
            "printm" => parser.constant().map(StmtKind::Printm),
            _ => {
                let process = parser.expr()?;
                parser.expect(",")?;
                Ok(StmtKind::SetPriority(process, parser.expr()?))
            }
        })
    }

    fn print(&mut self) -> Parsed<StmtKind> {
        let format = match self.cursor.token() {
            Some(token) if token.kind == TokenKind::String => token.text.clone(),
            _ => return Err(self.expected("a string")),
        };
        self.cursor.advance();
        let mut args = Vec::new();
        while self.eat(",") {
            args.push(self.expr()?);
        }
        Ok(StmtKind::Printf(format, args))
    }

    /// `: from .. to`
    fn range(&mut self) -> Parsed<(Expr, Expr)> {
        self.expect(":")?;
        let from = self.expr()?;
        self.expect("..")?;
        Ok((from, self.expr()?))
    }

    fn for_loop(&mut self) -> Parsed<StmtKind> {
        self.cursor.advance();
        let head = self.parenthesised(Self::for_head).inspect_err(|_| {
            self.skip_behind("(", ")");
        })?;
        self.eat(";");
        let body = self.block()?;
        Ok(match head {
            ForHead::Range(var, (from, to)) => StmtKind::ForRange { var, from, to, body },
            ForHead::In(var, over) => StmtKind::ForIn { var, over, body },
        })
    }

    fn for_head(&mut self) -> Parsed<ForHead> {
        let var = self.var_ref()?;
        if self.eat("in") {
            return Ok(ForHead::In(var, self.var_ref()?));
        }
        if !self.at(":") {
            let hint = "a loop is `for (x : 1 .. 9) { … }` or `for (x in array) { … }`";
            let problem = self.unexpected("`:` or `in`").hint(hint);
            return Err(self.report(problem));
        }
        Ok(ForHead::Range(var, self.range()?))
    }

    /// `if :: … :: … fi` and `do :: … :: … od`
    fn options(&mut self, opener: &'static str, closer: &'static str) -> Parsed<Vec<Branch>> {
        let place = self.cursor.place();
        self.cursor.advance();
        if !self.at("::") {
            return Err(self.no_option(opener, closer));
        }
        self.open.push(Open { opener, closer, place });
        let mut branches: Vec<Branch> = Vec::new();
        loop {
            while self.at("::") {
                branches.push(self.branch());
            }
            if self.close() != Closing::Stray {
                break;
            }
            if let Some(branch) = branches.last_mut() {
                self.steps(&mut branch.body);
            }
        }
        self.open.pop();
        Ok(branches)
    }

    fn branch(&mut self) -> Branch {
        let start = self.cursor.place();
        self.cursor.advance();
        let body = self.sequence(start);
        Branch { body, span: self.cursor.since(start) }
    }

    /// Error recovery for a construct without options: skips all of it if it is closed correctly, or only the
    /// condition if it looks like C.
    fn no_option(&mut self, opener: &str, closer: &'static str) -> Reported {
        let hint = format!("write `{opener} :: condition -> … :: else -> … {closer}`");
        let problem = self.unexpected(&format!("`::` after `{opener}`")).hint(hint);
        let reported = self.report(problem);
        if self.at("(") && self.brace_behind_parentheses() {
            self.skip_group("(", ")");
        } else {
            self.skip_to_closer(closer);
        }
        reported
    }

    fn at_label(&self) -> bool {
        self.at_name() && self.cursor.ahead(1) == ":" && !self.is_proctype(self.text())
    }

    fn labelled(&mut self) -> Parsed<StmtKind> {
        let label = self.name("a label")?;
        self.expect(":")?;
        if self.at_declaration() || matches!(self.text(), "xr" | "xs") {
            return Err(self.labelled_declaration(&label));
        }
        let stmt = if self.at_sequence_end() || matches!(self.text(), ";" | "->" | "unless") {
            Box::new(Stmt::skip(label.span))
        } else {
            self.statement()?
        };
        Ok(StmtKind::Labelled(label, stmt))
    }

    fn labelled_declaration(&mut self, label: &Ident) -> Reported {
        let problem = self.unexpected("a statement after the label");
        let problem = problem.related(label.span, "a label belongs to a statement, not to a declaration");
        self.report(problem.hint("move the declaration before the label"))
    }

    /// Statements that begin with a variable, and expressions.
    fn simple(&mut self) -> Parsed<StmtKind> {
        if !self.at_name() {
            return self.full_expr_or("a statement").map(StmtKind::Expr);
        }
        self.height = 0;
        let first = self.primary("a statement")?;
        match first.kind {
            ExprKind::Var(var) if self.at_effect() => self.effect(var),
            _ => self.full_expr_from(first).map(StmtKind::Expr),
        }
    }

    fn at_effect(&self) -> bool {
        matches!(self.text(), "=" | "++" | "--" | "!" | "!!" | "?" | "??")
    }

    /// The statement after its variable `var`: an assignment, a send or the like.
    fn effect(&mut self, var: VarRef) -> Parsed<StmtKind> {
        match self.text() {
            "=" => self.assignment(var),
            "!" | "!!" => self.send(var).map(StmtKind::Send),
            "?" | "??" => self.receive(var).map(StmtKind::Receive),
            operator => {
                let kind = if operator == "++" { StmtKind::Increment(var) } else { StmtKind::Decrement(var) };
                self.cursor.advance();
                Ok(kind)
            }
        }
    }

    fn assignment(&mut self, var: VarRef) -> Parsed<StmtKind> {
        self.expect("=")?;
        if self.at_inline() {
            return self.inline_call(Some(var));
        }
        Ok(StmtKind::Assign(var, self.full_expr()?))
    }
}
