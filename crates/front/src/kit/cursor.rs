//! A cursor over tokens.

use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Span};
use logos::Logos;

/// The kinds of tokens of a language.
pub trait Kind: Copy + Eq {
    /// The token after the last one.
    const END: Self;

    /// Its name in messages: `` `;` ``, or `a name`.
    fn describe(self) -> &'static str;

    /// Whether it is a keyword, which cannot be a name.
    fn is_word(self) -> bool {
        self.describe().strip_prefix('`').is_some_and(|text| text.starts_with(|c: char| c.is_ascii_alphabetic()))
    }
}

/// Defines the kinds of tokens of a language: those with a pattern, each with its name in messages, and those with a
/// fixed text.
macro_rules! tokens {
    (
        $(#[$of_all:meta])*
        pub enum $Kind:ident { $($(#[$of_one:meta])* $special:ident $name:literal,)* }
        $($kind:ident $text:literal)*
    ) => {
        #[derive(logos::Logos, Clone, Copy, Debug, PartialEq, Eq)]
        $(#[$of_all])*
        #[logos(error = Option<&'static str>)]
        pub enum $Kind {
            $($(#[$of_one])* $special,)*
            $(#[token($text)] $kind,)*
            End,
        }

        impl $crate::kit::Kind for $Kind {
            const END: Self = $Kind::End;

            fn describe(self) -> &'static str {
                match self {
                    $($Kind::$special => $name,)*
                    $($Kind::$kind => concat!("`", $text, "`"),)*
                    $Kind::End => "the end of the file",
                }
            }
        }
    };
}
pub(crate) use tokens;

#[derive(Clone, Copy, Debug)]
pub struct Token<K> {
    pub kind: K,
    pub span: Span,
}

/// An error that has been reported.
#[derive(Clone, Copy, Debug)]
pub struct Stop;

pub type Parsed<T> = Result<T, Stop>;

/// The depth to which constructs may be nested, so that recursion is safe.
pub const MAX_DEPTH: usize = 200;

/// The limit on reported problems.
pub const MAX_PROBLEMS: usize = 100;

/// The tokens of a text. A character that begins no token is reported and skipped. A token kind may carry an
/// error message, which is reported too.
pub fn lex<'t, K>(file: FileId, text: &'t str, problems: &mut Vec<Diagnostic>) -> Vec<Token<K>>
where
    K: Kind + Logos<'t, Source = str, Error = Option<&'static str>>,
    K::Extras: Default,
{
    let mut tokens = Vec::new();
    for (kind, range) in K::lexer(text).spanned() {
        let span = Span { file, start: range.start as u32, end: range.end as u32 };
        match kind {
            Ok(kind) => tokens.push(Token { kind, span }),
            Err(_) if problems.len() >= MAX_PROBLEMS => break,
            Err(Some(message)) => problems.push(Diagnostic::error(span, message)),
            Err(None) => {
                let character = text[range.start..].chars().next().unwrap_or(' ');
                problems.push(Diagnostic::error(span, format!("the character `{character}` has no meaning here")));
            }
        }
    }
    tokens
}

/// A position among the tokens of a text, with the problems so far, and the state of a parser that has one. Syntax trees
/// may borrow from the text longer than from the cursor.
pub struct Cursor<'t, 'p, K, S = ()> {
    text: &'t str,
    tokens: Vec<Token<K>>,
    next: usize,
    depth: usize,
    pub problems: &'p mut Vec<Diagnostic>,
    pub state: S,
}

impl<'t, 'p, K: Kind, S: Default> Cursor<'t, 'p, K, S> {
    pub fn new(file: FileId, text: &'t str, mut tokens: Vec<Token<K>>, problems: &'p mut Vec<Diagnostic>) -> Self {
        let end = text.len() as u32;
        tokens.push(Token { kind: K::END, span: Span { file, start: end, end } });
        Cursor { text, tokens, next: 0, depth: 0, problems, state: S::default() }
    }

    pub fn kind(&self) -> K {
        self.tokens[self.next].kind
    }

    /// The kind of the token after the next one.
    pub fn second(&self) -> K {
        self.ahead(1)
    }

    pub fn third(&self) -> K {
        self.ahead(2)
    }

    fn ahead(&self, distance: usize) -> K {
        self.tokens.get(self.next + distance).map_or(K::END, |token| token.kind)
    }

    /// The span of the next token.
    pub fn span(&self) -> Span {
        self.tokens[self.next].span
    }

    /// The span from `start` to the last token that was taken.
    pub fn since(&self, start: Span) -> Span {
        start.to(self.tokens[self.next.saturating_sub(1)].span)
    }

    /// The text of a span.
    pub fn text(&self, span: Span) -> &'t str {
        &self.text[span.start as usize..span.end as usize]
    }

    pub fn at_end(&self) -> bool {
        self.kind() == K::END
    }

    pub fn skip(&mut self) -> Span {
        let span = self.span();
        if !self.at_end() {
            self.next += 1;
        }
        span
    }

    /// Takes the next token.
    pub fn skip_kind(&mut self) -> K {
        let kind = self.kind();
        self.skip();
        kind
    }

    pub fn eat(&mut self, kind: K) -> bool {
        let found = self.kind() == kind;
        if found {
            self.skip();
        }
        found
    }

    pub fn expect(&mut self, kind: K) -> Parsed<Span> {
        if self.kind() == kind { Ok(self.skip()) } else { self.unexpected(kind.describe()) }
    }

    /// Reads what follows the next token.
    pub fn behind_token<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.skip();
        read(self)
    }

    /// Reads one or more items with a separator between them.
    pub fn separated<T>(&mut self, separator: K, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat(separator) {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// Reports that another token was expected.
    pub fn unexpected<T>(&mut self, wanted: &str) -> Parsed<T> {
        self.report(self.wrong(wanted))
    }

    /// The error for an unexpected token, without reporting it.
    pub fn wrong(&self, wanted: &str) -> Diagnostic {
        let span = self.span();
        let found = if self.at_end() { "the end of the file".to_owned() } else { format!("`{}`", self.text(span)) };
        Diagnostic::error(span, format!("expected {wanted}, found {found}"))
    }

    pub fn report<T>(&mut self, problem: Diagnostic) -> Parsed<T> {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        } else {
            // The limit is reached, so later problems are not reported.
            self.next = self.tokens.len() - 1;
        }
        Err(Stop)
    }

    /// Reports a warning. Part of the limit is reserved for errors.
    pub fn warn(&mut self, problem: Diagnostic) {
        if self.problems.len() < MAX_PROBLEMS / 2 {
            self.problems.push(problem);
        }
    }

    /// Enters a recursive construct. All recursion goes through here, so that no text can exhaust the stack.
    /// [`leave`](Self::leave) ends it.
    pub fn enter(&mut self) -> Parsed<()> {
        if self.depth >= MAX_DEPTH {
            let problem = format!("this is nested more than {MAX_DEPTH} deep");
            self.report::<()>(Diagnostic::error(self.span(), problem)).ok();
            self.next = self.tokens.len() - 1;
            return Err(Stop);
        }
        self.depth += 1;
        Ok(())
    }

    pub fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Reads a recursive construct.
    pub fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.enter()?;
        let inner = read(self);
        self.leave();
        inner
    }

    /// Skips to the next token where parsing may resume.
    pub fn skip_to(&mut self, goes_on: impl Fn(K) -> bool) {
        while !self.at_end() && !goes_on(self.kind()) {
            self.skip();
        }
    }

    /// The number of tokens taken: shows whether a loop makes progress.
    pub fn position(&self) -> usize {
        self.next
    }
}
