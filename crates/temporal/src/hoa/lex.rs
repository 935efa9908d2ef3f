//! The lexer.

use super::Problem;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// `States:`, without the colon.
    Header(String),
    /// A name, or a word between two dashes: `--BODY--`.
    Word(String),
    /// `@name`, without the `@`.
    Alias(String),
    Number(u32),
    Text(String),
    Punctuation(char),
    End,
}

#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub token: Token,
    pub start: usize,
    pub end: usize,
}

/// All tokens, and an end token.
pub(super) fn tokens(text: &str) -> Result<Vec<Placed>, Problem> {
    let mut tokens = Vec::new();
    let mut at = skip_blanks(text, 0)?;
    while at < text.len() {
        let (token, length) =
            token(&text[at..]).map_err(|(message, length)| Problem { start: at, end: at + length, message })?;
        tokens.push(Placed { token, start: at, end: at + length });
        at = skip_blanks(text, at + length)?;
    }
    tokens.push(Placed { token: Token::End, start: text.len(), end: text.len() });
    Ok(tokens)
}

/// The position behind white space and comments, which may be nested.
fn skip_blanks(text: &str, from: usize) -> Result<usize, Problem> {
    let mut at = from;
    let mut depth = 0;
    loop {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if depth > 0 && rest.starts_with("*/") {
            depth -= 1;
            at += 2;
        } else {
            match rest.chars().next() {
                Some(c) if depth > 0 || c.is_whitespace() => at += c.len_utf8(),
                None if depth > 0 => {
                    let message = "this comment does not end".to_owned();
                    return Err(Problem { start: from, end: from, message });
                }
                Some(_) | None => return Ok(at),
            }
        }
    }
}

/// The first token of a nonempty text, and its length.
fn token(text: &str) -> Result<(Token, usize), (String, usize)> {
    let first = text.chars().next().unwrap_or(' ');
    let length = |is: fn(char) -> bool| text.find(|c| !is(c)).unwrap_or(text.len());
    match first {
        '"' => quoted(text),
        '0'..='9' => {
            let length = length(|c| c.is_ascii_digit());
            match text[..length].parse() {
                Ok(number) => Ok((Token::Number(number), length)),
                Err(_) => Err(("this number is too large".to_owned(), length)),
            }
        }
        '-' if text.starts_with("--") => {
            let length = length(|c| c == '-' || c.is_ascii_uppercase());
            Ok((Token::Word(text[..length].to_owned()), length))
        }
        '@' => {
            let name = text[1..].find(|c| !is_name(c)).unwrap_or(text.len() - 1);
            Ok((Token::Alias(text[1..=name].to_owned()), name + 1))
        }
        'a'..='z' | 'A'..='Z' | '_' => {
            let length = length(is_name);
            let word = text[..length].to_owned();
            if text[length..].starts_with(':') {
                Ok((Token::Header(word), length + 1))
            } else {
                Ok((Token::Word(word), length))
            }
        }
        '!' | '&' | '|' | '(' | ')' | '[' | ']' | '{' | '}' => Ok((Token::Punctuation(first), 1)),
        _ => Err((format!("`{first}` begins nothing in this format"), first.len_utf8())),
    }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

fn quoted(text: &str) -> Result<(Token, usize), (String, usize)> {
    let mut content = String::new();
    let mut characters = text.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Ok((Token::Text(content), at + 1)),
            '\\' => content.extend(characters.next().map(|(_, escaped)| escaped)),
            _ => content.push(character),
        }
    }
    Err(("this text does not end".to_owned(), 1))
}
