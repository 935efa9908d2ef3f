//! The tokens of one line, read from left to right.

use crate::text::lex::Token;
use crate::text::names::Names;
use crate::verify::MAX_DEPTH;

/// The error is a message; the caller adds the line.
pub(super) type Parsed<T> = Result<T, String>;

pub(super) struct Reader<'a> {
    tokens: &'a [Token],
    pub names: Names<'a>,
    depth: usize,
    /// The maximum height of completed parts of the current construct.
    height: usize,
}

impl<'a> Reader<'a> {
    pub fn new(tokens: &'a [Token], names: Names<'a>) -> Self {
        Reader { tokens, names, depth: 0, height: 0 }
    }

    /// Parses a construct that takes the whole line.
    pub fn all<T>(mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let whole = read(&mut self)?;
        if self.at_end() { Ok(whole) } else { self.unexpected("the end of the line") }
    }

    /// Parses a construct that may contain itself. All recursion goes through here, so that no text can
    /// exhaust the stack.
    pub fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        limited(self.depth)?;
        let before = std::mem::take(&mut self.height);
        self.depth += 1;
        let inner = read(self)?;
        self.depth -= 1;
        self.raise()?;
        self.height = self.height.max(before);
        Ok(inner)
    }

    /// Adds a level above a completed part.
    pub fn raise(&mut self) -> Parsed<()> {
        self.height += 1;
        limited(self.height)
    }

    pub fn at_end(&self) -> bool {
        self.tokens.is_empty()
    }

    pub fn peek(&self) -> Option<&'a Token> {
        self.tokens.first()
    }

    pub fn is_next(&self, distance: usize, symbol: &str) -> bool {
        matches!(self.tokens.get(distance), Some(Token::Symbol(found)) if *found == symbol)
    }

    pub fn skip(&mut self) {
        self.tokens = self.tokens.get(1..).unwrap_or_default();
    }

    pub fn eat(&mut self, symbol: &str) -> bool {
        let found = self.is_next(0, symbol);
        if found {
            self.skip();
        }
        found
    }

    pub fn symbol(&mut self, symbol: &str) -> Parsed<()> {
        if self.eat(symbol) { Ok(()) } else { self.unexpected(symbol) }
    }

    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(found)) if found == word);
        if found {
            self.skip();
        }
        found
    }

    pub fn word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { self.unexpected(word) }
    }

    pub fn name(&mut self) -> Parsed<&'a str> {
        match self.peek() {
            Some(Token::Word(name) | Token::Text(name)) => {
                self.skip();
                Ok(name)
            }
            Some(Token::Number(_) | Token::Symbol(_)) | None => self.unexpected("a name"),
        }
    }

    pub fn text(&mut self) -> Parsed<&'a str> {
        match self.peek() {
            Some(Token::Text(text)) => {
                self.skip();
                Ok(text)
            }
            Some(Token::Word(_) | Token::Number(_) | Token::Symbol(_)) | None => {
                self.unexpected("a text in quotes")
            }
        }
    }

    pub fn number<T: TryFrom<u64>>(&mut self) -> Parsed<T> {
        match self.peek() {
            Some(Token::Number(number)) => {
                self.skip();
                T::try_from(*number).map_err(|_| format!("{number} is too large"))
            }
            Some(Token::Word(_) | Token::Text(_) | Token::Symbol(_)) | None => self.unexpected("a number"),
        }
    }

    /// An identifier such as `L7`.
    pub fn id<T: TryFrom<u64>>(&mut self, letter: char) -> Parsed<T> {
        let digits = match self.peek() {
            Some(Token::Word(word)) => word.strip_prefix(letter).filter(|digits| is_number(digits)),
            Some(Token::Text(_) | Token::Number(_) | Token::Symbol(_)) | None => None,
        };
        let Some(digits) = digits else { return self.unexpected(&format!("{letter} and a number")) };
        self.skip();
        let number = digits.parse::<u64>().ok().and_then(|number| T::try_from(number).ok());
        number.ok_or_else(|| format!("{letter}{digits} is too large"))
    }

    /// Items separated by commas.
    pub fn list<T>(
        &mut self,
        open: &str,
        close: &str,
        mut read: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        self.symbol(open)?;
        if self.eat(close) {
            return Ok(items);
        }
        loop {
            items.push(read(self)?);
            if self.eat(close) {
                return Ok(items);
            }
            self.symbol(",")?;
        }
    }

    pub fn unexpected<T>(&self, wanted: &str) -> Parsed<T> {
        Err(match self.peek() {
            Some(Token::Word(found)) => format!("expected {wanted}, found {found}"),
            Some(Token::Text(found)) => format!("expected {wanted}, found {found:?}"),
            Some(Token::Number(found)) => format!("expected {wanted}, found {found}"),
            Some(Token::Symbol(found)) => format!("expected {wanted}, found {found}"),
            None => format!("expected {wanted}, found the end of the line"),
        })
    }
}

/// The limit is a few levels above that of [`verify`](crate::verify::verify), because an action surrounds the
/// expression. So no valid system is rejected.
fn limited(depth: usize) -> Parsed<()> {
    if depth > MAX_DEPTH + 4 { Err("nested too deeply".to_owned()) } else { Ok(()) }
}

pub(super) fn is_number(digits: &str) -> bool {
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
