//! Inlines: their definitions, and their expansion at calls.
//!
//! Inlines are textual macros. The body is stored as tokens; each call parses it as a block with the
//! arguments in place of the parameters.

use super::cursor::{Call, Placed};
use super::recover::Closing;
use super::{Parsed, Parser, names_behind};
use crate::diagnostic::Diagnostic;
use crate::promela::ast::{Ident, Step, StmtKind, VarRef};
use crate::promela::token::{Token, TokenKind};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

/// Limit on the number of tokens of all expansions: their number can be exponential in the size of the model.
const EXPANSION: usize = 1_000_000;

pub(super) struct Inlines {
    definitions: HashMap<Arc<str>, Rc<Inline>>,
    /// All inlines of the model, including those that are defined later.
    names: HashSet<Arc<str>>,
    /// Inlines with an error in the body, which is reported only once.
    broken: HashSet<Arc<str>>,
    /// The number of tokens of all expansions so far.
    expanded: usize,
}

struct Inline {
    name: Ident,
    params: Vec<Ident>,
    /// With its braces.
    body: Vec<Placed>,
}

impl Parser<'_> {
    /// `inline name(a, b) { … }`
    pub(super) fn inline_definition(&mut self) -> Parsed<()> {
        self.expect("inline")?;
        let name = self.name("the name of the inline")?;
        let param = |parser: &mut Self| parser.name("the name of a parameter");
        let params = self.arguments(param)?;
        let opener = self.cursor.place();
        if !self.at("{") {
            return Err(self.expected("`{`"));
        }
        let start = self.cursor.position();
        if self.skip_group("{", "}") == Closing::Missing {
            let problem = self.unexpected("`}`").related(opener, "this `{` is not closed");
            return Err(self.report(problem));
        }
        let body = self.cursor.between(start).to_vec();
        if let Some(first) = self.inlines.definitions.get(&name.name).cloned() {
            let message = format!("there is an inline `{}` already", name.name);
            self.report(Diagnostic::error(name.span, message).related(first.name.span, "defined here first"));
        }
        self.inlines.definitions.insert(name.name.clone(), Rc::new(Inline { name, params, body }));
        Ok(())
    }

    pub(super) fn at_inline(&self) -> bool {
        self.at_name() && self.inlines.is_defined(self.text())
    }

    /// `name(args)`, or `target = name(args)` after the `=`.
    pub(super) fn inline_call(&mut self, target: Option<VarRef>) -> Parsed<StmtKind> {
        let name = self.name("the name of an inline")?;
        let inline = self.inlines.definitions[&name.name].clone();
        self.cursor.join();
        let args = self.arguments(Self::inline_arg)?;
        if args.len() != inline.params.len() {
            let (expected, given) = (inline.params.len(), args.len());
            let message =
                format!("wrong number of arguments for `{}`: {expected} expected, {given} given", name.name);
            let problem = Diagnostic::error(name.span, message).related(inline.name.span, "defined here");
            return Err(self.report(problem));
        }
        if self.cursor.calls().any(|call| call.name.name == name.name) {
            return Err(self.error(name.span, format!("the inline `{}` calls itself", name.name)));
        }
        self.inlines.expanded += inline.expanded_size(&args);
        if self.inlines.expanded > EXPANSION {
            return Err(self.give_up(format!("the inlines of this model expand to more than {EXPANSION} tokens")));
        }
        let call = Call { name: name.clone(), target, declared: Vec::new() };
        let body = self.expansion(inline.expand(&args), call)?;
        Ok(StmtKind::Inlined { name, body })
    }

    /// Parses the body of an inline as a block, independently of constructs that are open at the call.
    fn expansion(&mut self, tokens: Vec<Placed>, call: Call) -> Parsed<Vec<Step>> {
        if self.inlines.broken.contains(&call.name.name) {
            self.cursor.end_call();
            return Ok(Vec::new());
        }
        let (before, name) = (self.reported(), call.name.name.clone());
        let outside = std::mem::take(&mut self.open);
        self.cursor.enter(tokens, call);
        let body = self.block();
        self.cursor.leave();
        self.open = outside;
        if self.reported() > before {
            self.inlines.broken.insert(name);
        }
        body
    }

    /// An argument must be an expression, but it is passed as text.
    fn inline_arg(&mut self) -> Parsed<Vec<Placed>> {
        let start = self.cursor.position();
        self.expr()?;
        Ok(self.cursor.between(start).to_vec())
    }

    /// `return e` assigns to the variable before the `=` of the call.
    pub(super) fn return_value(&mut self) -> Parsed<StmtKind> {
        let place = self.cursor.place();
        self.cursor.advance();
        let Some(target) = self.cursor.call().and_then(|call| call.target.clone()) else {
            let message = "`return` is possible only in an inline that is called as `x = name(…)`";
            return Err(self.error(place, message));
        };
        let hidden = &target.parts[0].name.name;
        let declared = self.cursor.call().map_or(&[][..], |call| &call.declared);
        if let Some(own) = declared.iter().find(|own| own.name == *hidden) {
            let message = format!("`return` cannot reach `{hidden}`: the inline has a variable of this name");
            return Err(self.report(Diagnostic::error(place, message).related(own.span, "declared here")));
        }
        Ok(StmtKind::Assign(target, self.full_expr()?))
    }
}

impl Inlines {
    pub(super) fn new(tokens: &[Token]) -> Self {
        let names = names_behind(&["inline"], tokens).collect();
        Inlines { definitions: HashMap::new(), names, broken: HashSet::new(), expanded: 0 }
    }

    pub(super) fn is_defined(&self, name: &str) -> bool {
        self.definitions.contains_key(name)
    }

    pub(super) fn is_defined_further_down(&self, name: &str) -> bool {
        self.names.contains(name) && !self.is_defined(name)
    }
}

impl Inline {
    /// The index of the parameter with this name.
    fn param(&self, token: &Token) -> Option<usize> {
        let is_word = token.kind == TokenKind::Word;
        self.params.iter().position(|param| is_word && param.name == token.text)
    }

    /// The number of tokens that [`Inline::expand`] would return.
    fn expanded_size(&self, args: &[Vec<Placed>]) -> usize {
        self.body.iter().map(|placed| self.param(&placed.token).map_or(1, |index| args[index].len())).sum()
    }

    /// The body with arguments substituted. An argument counts as a single line, without line breaks.
    fn expand(&self, args: &[Vec<Placed>]) -> Vec<Placed> {
        let mut tokens = Vec::with_capacity(self.expanded_size(args));
        for placed in &self.body {
            let Some(index) = self.param(&placed.token) else {
                tokens.push(placed.clone());
                continue;
            };
            for (n, arg) in args[index].iter().enumerate() {
                let mut token = arg.token.clone();
                token.first_on_line = n == 0 && placed.token.first_on_line;
                tokens.push(Placed { token, place: placed.place });
            }
        }
        tokens
    }
}
