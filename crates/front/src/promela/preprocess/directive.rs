//! Directives.

use super::condition;
use super::lex::{Kind, PpToken};
use super::macros::{self, Entry};
use super::{COMMAND_LINE, OpenFile, Preprocessor, length};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::suggest::did_you_mean;
use std::rc::Rc;

/// An open `#if`.
pub struct Conditional {
    opened: Span,
    group: Group,
    else_at: Option<Span>,
}

/// The treatment of a group: the lines between two of `#if`, `#elif`, `#else`, `#endif`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    Read,
    /// Skip it, but read the next group if its condition is true.
    Skip,
    /// Skip it and all that follow: one group has been read, or the whole `#if` is in skipped text.
    SkipAll,
}

impl Conditional {
    pub fn unclosed(&self) -> Diagnostic {
        Diagnostic::error(self.opened, "this `#if` is not closed").hint("close it with `#endif` in the same file")
    }
}

impl OpenFile {
    pub fn is_skipping(&self) -> bool {
        self.conditionals.last().is_some_and(|last| last.group != Group::Read)
    }
}

const DIRECTIVES: [&str; 13] = [
    "define", "elif", "else", "endif", "error", "if", "ifdef", "ifndef", "include", "line", "pragma", "undef",
    "warning",
];

impl Preprocessor<'_> {
    /// Executes a directive, whose `#` has been read. An unknown directive, as in `#!` or in other dialects,
    /// is an error only outside of skipped groups.
    pub fn directive(&mut self, hash: Span) {
        let files = self.open.len();
        if let Some(name) = self.next_on_line() {
            let at = hash.to(name.span);
            let skipping = self.open.last().is_some_and(OpenFile::is_skipping);
            match &*name.text {
                "if" | "ifdef" | "ifndef" => self.open_conditional(&name, at, skipping),
                "elif" => self.elif(at),
                "else" => self.otherwise(at),
                "endif" => self.close_conditional(at),
                _ if skipping => {}
                _ => self.plain_directive(&name, at),
            }
        }
        let included = self.open.len() > files;
        while !included && self.next_on_line().is_some() {}
    }

    fn plain_directive(&mut self, name: &PpToken, at: Span) {
        match &*name.text {
            "define" => self.define(at),
            "undef" => self.undefine(at),
            "include" => self.include_directive(at),
            "error" | "warning" => self.message(name, at),
            "pragma" => self.pragma(),
            "line" | "ident" | "sccs" => {}
            // `# 12 "file"`: the line marker of another preprocessor. Positions still refer to the text that was
            // read.
            _ if name.kind == Kind::Number => {}
            unknown => {
                let problem = Diagnostic::error(at, format!("there is no directive `#{unknown}`"));
                self.report(match did_you_mean(unknown, DIRECTIVES) {
                    Some(known) => problem.hint(format!("did you mean `#{known}`?")),
                    None => problem,
                });
            }
        }
    }

    fn define(&mut self, at: Span) {
        let Some(name) = self.macro_name("define", at) else { return };
        let line = self.rest_of_line();
        if self.fixed.contains_key(&name.text) && self.macros.contains_key(&name.text) {
            return;
        }
        let new = match macros::define(&name, &line) {
            Ok(new) => new,
            Err(problem) => return self.report(problem),
        };
        let old = self.macros.get(&name.text).map(|entry| entry.definition.clone());
        if let Some(old) = old.filter(|old| !old.same_as(&new)) {
            self.report(self.redefined(&name, old.defined_at));
        }
        self.macros.insert(name.text, Entry { definition: Rc::new(new), busy: false });
    }

    /// Warns that the macro `name`, which is defined elsewhere, is redefined.
    fn redefined(&self, name: &PpToken, first: Option<Span>) -> Diagnostic {
        let macro_name = &name.text;
        let is_given = first.is_some_and(|first| self.sources.file(first.file).name == COMMAND_LINE);
        let (message, hint) = if is_given {
            (
                format!("this definition replaces the value that `-D {macro_name}` gives"),
                format!("write `#ifndef {macro_name}` before it and `#endif` after it, so that `-D` takes effect"),
            )
        } else {
            (
                format!("the macro `{macro_name}` is defined anew"),
                format!("if this is meant, write `#undef {macro_name}` first"),
            )
        };
        let problem = Diagnostic::warning(name.span, message).hint(hint);
        match first {
            Some(first) => problem.related(first, "its first definition"),
            None => problem,
        }
    }

    fn undefine(&mut self, at: Span) {
        if let Some(name) = self.macro_name("undef", at) {
            if !self.fixed.contains_key(&name.text) {
                self.macros.remove(&name.text);
            }
            self.expect_end("undef");
        }
    }

    fn macro_name(&mut self, directive: &str, at: Span) -> Option<PpToken> {
        let problem = match self.next_on_line() {
            Some(name) if name.kind == Kind::Word && !name.is("defined") => return Some(name),
            Some(name) => Diagnostic::error(name.span, format!("`{}` cannot be the name of a macro", name.text)),
            None => Diagnostic::error(at, format!("`#{directive}` needs the name of a macro")),
        };
        self.report(problem);
        None
    }

    fn include_directive(&mut self, at: Span) {
        let line = self.rest_of_line();
        let found = header(&line).or_else(|| {
            let expanded = self.expand_all(line);
            self.afford(length(&expanded), at).then(|| header(&expanded)).flatten()
        });
        match found {
            Some(header) => self.include(&header),
            None => self.report(
                Diagnostic::error(at, "`#include` needs the name of a file")
                    .hint("write `#include \"file\"` or `#include <file>`"),
            ),
        }
    }

    fn message(&mut self, directive: &PpToken, at: Span) {
        let line = self.rest_of_line();
        let text = macros::spell(&line);
        let at = line.last().map_or(at, |last| at.to(last.span));
        let message = if text.is_empty() { format!("`#{}`", directive.text) } else { text };
        let is_error = directive.is("error");
        self.report(if is_error { Diagnostic::error(at, message) } else { Diagnostic::warning(at, message) });
    }

    fn pragma(&mut self) {
        if self.next_on_line().is_some_and(|word| word.is("once"))
            && let Some(file) = self.open.last()
        {
            self.library.once.insert(file.reader.file);
        }
    }

    fn open_conditional(&mut self, name: &PpToken, at: Span, skipping: bool) {
        let group = if skipping {
            Group::SkipAll
        } else if self.condition(name, at) {
            Group::Read
        } else {
            Group::Skip
        };
        self.push_conditional(Conditional { opened: at, group, else_at: None });
    }

    fn condition(&mut self, name: &PpToken, at: Span) -> bool {
        if name.is("if") {
            return self.evaluate(at);
        }
        let Some(tested) = self.macro_name(&name.text, at) else { return false };
        self.expect_end(&name.text);
        self.macros.contains_key(&tested.text) == name.is("ifdef")
    }

    fn evaluate(&mut self, at: Span) -> bool {
        let line = self.rest_of_line();
        let value = condition::evaluate(self, line, at);
        value.unwrap_or_else(|problem| {
            self.report(problem);
            false
        })
    }

    fn elif(&mut self, at: Span) {
        let Some(before) = self.group_before("elif", at) else { return };
        let group = match before {
            Group::Read | Group::SkipAll => Group::SkipAll,
            Group::Skip if self.evaluate(at) => Group::Read,
            Group::Skip => Group::Skip,
        };
        self.set_group(group);
    }

    fn otherwise(&mut self, at: Span) {
        let Some(before) = self.group_before("else", at) else { return };
        self.set_group(if before == Group::Skip { Group::Read } else { Group::SkipAll });
        if let Some(last) = self.open.last_mut().and_then(|file| file.conditionals.last_mut()) {
            last.else_at = Some(at);
        }
        self.expect_end("else");
    }

    fn close_conditional(&mut self, at: Span) {
        if self.open.last_mut().is_some_and(|file| file.conditionals.pop().is_none()) {
            self.report(Diagnostic::error(at, "`#endif` without `#if`"));
        }
        self.expect_end("endif");
    }

    /// The group that `directive` ends, if the directive is allowed here.
    fn group_before(&mut self, directive: &str, at: Span) -> Option<Group> {
        let last = self.open.last().and_then(|file| file.conditionals.last());
        let problem = match last {
            None => Diagnostic::error(at, format!("`#{directive}` without `#if`")),
            Some(Conditional { else_at: None, group, .. }) => return Some(*group),
            Some(Conditional { else_at: Some(first), opened, .. }) => {
                Diagnostic::error(at, format!("`#{directive}` after `#else`"))
                    .related(*opened, "in this `#if`")
                    .related(*first, "after this `#else`")
            }
        };
        self.report(problem);
        None
    }

    fn set_group(&mut self, group: Group) {
        if let Some(last) = self.open.last_mut().and_then(|file| file.conditionals.last_mut()) {
            last.group = group;
        }
    }

    fn push_conditional(&mut self, conditional: Conditional) {
        if let Some(file) = self.open.last_mut() {
            file.conditionals.push(conditional);
        }
    }

    fn expect_end(&mut self, directive: &str) {
        if let Some(extra) = self.next_on_line().filter(|_| !self.is_skipped_around(directive)) {
            self.report(
                Diagnostic::warning(extra.span, format!("the rest of this `#{directive}` line is ignored"))
                    .hint("to write text here, make it a comment: `/* … */`"),
            );
        }
    }

    /// Whether `directive` is in a skipped group, regardless of its own condition.
    fn is_skipped_around(&self, directive: &str) -> bool {
        let around = self.open.last().map_or(&[][..], |file| &file.conditionals);
        let around =
            if directive == "else" { around.split_last().map_or(around, |(_, rest)| rest) } else { around };
        around.last().is_some_and(|last| last.group != Group::Read)
    }

    fn next_on_line(&mut self) -> Option<PpToken> {
        self.open.last_mut()?.reader.next_on_line(&mut self.words)
    }

    fn rest_of_line(&mut self) -> Vec<PpToken> {
        let mut line = Vec::new();
        while let Some(token) = self.next_on_line() {
            if !self.afford(1, token.span) {
                break;
            }
            // For the preprocessor it is one line, whatever the layout.
            line.push(PpToken { broken: false, ..token });
        }
        line
    }
}

pub struct Header {
    pub name: String,
    /// `<name>` rather than `"name"`.
    pub system: bool,
    pub span: Span,
}

/// The file that `"name"` or `<name>` refers to.
fn header(line: &[PpToken]) -> Option<Header> {
    let first = line.first()?;
    if first.kind == Kind::String {
        let name = first.text.strip_prefix('"')?.strip_suffix('"')?;
        return (!name.is_empty()).then(|| Header { name: name.to_owned(), system: false, span: first.span });
    }
    let end = line.iter().position(|token| token.is(">"))?;
    let name = macros::spell(line.get(1..end)?);
    let span = first.span.to(line[end].span);
    (first.is("<") && !name.is_empty()).then_some(Header { name, system: true, span })
}
