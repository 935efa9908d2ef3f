//! Definitions of macros.

use super::lex::{Kind, PpToken};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

pub struct Macro {
    /// The position of its name in `#define`; `None` if it is built in.
    pub defined_at: Option<Span>,
    pub body: Body,
    /// Parameters and body with normalised white space: equal spellings are equal definitions.
    spelling: String,
}

pub enum Body {
    /// `__LINE__`
    Line,
    /// `__FILE__`
    File,
    Object(Vec<Piece>),
    Function(Parameters, Vec<Piece>),
}

pub struct Parameters {
    names: HashMap<Arc<str>, usize>,
    /// The last parameter takes all remaining arguments.
    pub variadic: bool,
}

#[derive(Clone, Debug)]
pub enum Piece {
    Token(PpToken),
    /// A parameter, replaced by its expanded argument.
    Expanded(Slot),
    /// A parameter next to `##`, replaced by its argument without expansion.
    AsWritten(Slot),
    /// `# parameter`
    Stringified(Slot),
    /// `##`: concatenates the token before it with the one after it.
    Paste,
    /// The comma in GNU's `, ## __VA_ARGS__`, which is removed if there are no such arguments.
    Comma(PpToken),
}

#[derive(Clone, Copy, Debug)]
pub struct Slot {
    pub index: usize,
    pub spaced: bool,
}

/// A macro's entry in the table.
pub struct Entry {
    pub definition: Rc<Macro>,
    /// Its expansion is being read, so its name is not expanded again.
    pub busy: bool,
}

pub type Macros = HashMap<Arc<str>, Entry>;

pub fn built_in() -> Macros {
    let entry = |name: &str, body| {
        let definition = Rc::new(Macro { defined_at: None, body, spelling: String::new() });
        (name.into(), Entry { definition, busy: false })
    };
    HashMap::from([entry("__LINE__", Body::Line), entry("__FILE__", Body::File)])
}

impl Macro {
    pub fn same_as(&self, other: &Macro) -> bool {
        self.spelling == other.spelling
    }
}

impl Parameters {
    pub fn count(&self) -> usize {
        self.names.len()
    }
}

/// Reads what follows `name` in a `#define`.
pub fn define(name: &PpToken, line: &[PpToken]) -> Result<Macro, Diagnostic> {
    let defined_at = Some(name.span);
    match line.split_first() {
        Some((open, rest)) if open.is("(") && !open.spaced => {
            let (parameters, rest) = parameters(open, rest)?;
            let pieces = pieces(rest, Some(&parameters))?;
            Ok(Macro { defined_at, body: Body::Function(parameters, pieces), spelling: spell(line) })
        }
        _ => {
            // The blank distinguishes the body `(A)` from the parameter list `(A)`.
            let spelling = format!(" {}", spell(line));
            Ok(Macro { defined_at, body: Body::Object(pieces(line, None)?), spelling })
        }
    }
}

/// The text of `tokens` with each white space replaced by a blank, and none at the beginning.
pub fn spell(tokens: &[PpToken]) -> String {
    let mut spelling = String::new();
    for token in tokens {
        if token.spaced && !spelling.is_empty() {
            spelling.push(' ');
        }
        spelling.push_str(&token.text);
    }
    spelling
}

/// Reads a parameter list after its `(`. Returns the rest of the line.
fn parameters<'t>(open: &PpToken, mut line: &'t [PpToken]) -> Result<(Parameters, &'t [PpToken]), Diagnostic> {
    let unclosed = || {
        Diagnostic::error(open.span, "the parameter list of this macro is not closed")
            .hint("write `#define NAME(A, B) body`, all on one line")
    };
    let mut parameters = Parameters { names: HashMap::new(), variadic: false };
    if let [close, rest @ ..] = line
        && close.is(")")
    {
        return Ok((parameters, rest));
    }
    loop {
        let (name, rest) = line.split_first().ok_or_else(unclosed)?;
        line = parameters.add(name, rest)?;
        let (separator, rest) = line.split_first().ok_or_else(unclosed)?;
        line = rest;
        if separator.is(")") {
            return Ok((parameters, line));
        }
        if !separator.is(",") || parameters.variadic {
            let expected = if parameters.variadic { "`)`" } else { "`,` or `)`" };
            return Err(Diagnostic::error(separator.span, format!("expected {expected} in the parameter list")));
        }
    }
}

impl Parameters {
    /// Adds `NAME`, `...` or GNU's `NAME...`. Returns the rest of the line.
    fn add<'t>(&mut self, token: &PpToken, mut rest: &'t [PpToken]) -> Result<&'t [PpToken], Diagnostic> {
        let index = self.names.len();
        let name = match token.kind {
            Kind::Word => token.text.clone(),
            Kind::Ellipsis => "__VA_ARGS__".into(),
            _ => return Err(Diagnostic::error(token.span, "expected the name of a macro parameter")),
        };
        if let [dots, behind @ ..] = rest
            && dots.kind == Kind::Ellipsis
            && token.kind == Kind::Word
        {
            (self.variadic, rest) = (true, behind);
        }
        self.variadic |= token.kind == Kind::Ellipsis;
        if self.names.insert(name, index).is_some() {
            return Err(Diagnostic::error(token.span, format!("the parameter `{}` is named twice", token.text)));
        }
        Ok(rest)
    }
}

fn pieces(body: &[PpToken], parameters: Option<&Parameters>) -> Result<Vec<Piece>, Diagnostic> {
    if let Some(stray) = body.first().into_iter().chain(body.last()).find(|token| token.is("##")) {
        return Err(Diagnostic::error(stray.span, "`##` is not allowed at an end of a macro")
            .hint("it joins the tokens before and after it into one"));
    }
    let parameter = |token: &PpToken| {
        parameters.filter(|_| token.kind == Kind::Word).and_then(|all| all.names.get(&token.text)).copied()
    };
    let mut pieces = Vec::with_capacity(body.len());
    let mut rest = body.iter().peekable();
    while let Some(token) = rest.next() {
        // Blanks before the body are not part of it.
        let spaced = token.spaced && !pieces.is_empty();
        if token.is("##") {
            pieces.push(Piece::Paste);
        } else if token.is("#") && parameters.is_some() {
            let index = rest
                .next()
                .and_then(parameter)
                .ok_or_else(|| Diagnostic::error(token.span, "`#` must precede a parameter of the macro"))?;
            pieces.push(Piece::Stringified(Slot { index, spaced }));
        } else if let Some(index) = parameter(token) {
            let pasted =
                matches!(pieces.last(), Some(Piece::Paste)) || rest.peek().is_some_and(|next| next.is("##"));
            let slot = Slot { index, spaced };
            if parameters.is_some_and(|all| all.variadic && index + 1 == all.count()) {
                free_comma(&mut pieces);
            }
            pieces.push(if pasted { Piece::AsWritten(slot) } else { Piece::Expanded(slot) });
        } else {
            pieces.push(Piece::Token(PpToken { spaced, ..token.clone() }));
        }
    }
    Ok(pieces)
}

/// Turns a trailing `, ##` into a comma that is removed if there are no variadic arguments.
fn free_comma(pieces: &mut Vec<Piece>) {
    if let [.., Piece::Token(comma), Piece::Paste] = pieces.as_slice()
        && comma.is(",")
    {
        let comma = comma.clone();
        pieces.truncate(pieces.len() - 2);
        pieces.push(Piece::Comma(comma));
    }
}
