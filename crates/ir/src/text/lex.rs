//! The tokens of a line.

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    /// Quoted, with its escapes resolved.
    Text(String),
    Number(u64),
    Symbol(&'static str),
}

/// Longer symbols come first: `->` is not `-` and `>`.
const SYMBOLS: [&str; 37] = [
    "->", "!!", "??", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "+", "-", "*", "/", "%", "&", "^", "|", "<",
    ">", "=", "!", "?", "~", "(", ")", "[", "]", "{", "}", ",", ":", ";", ".", "#", "@",
];

pub(super) fn lex(line: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() && !rest.starts_with("//") {
        let (token, after) = first_token(rest)?;
        tokens.push(token);
        rest = after.trim_start();
    }
    Ok(tokens)
}

fn first_token(text: &str) -> Result<(Token, &str), String> {
    if let Some(text) = text.strip_prefix('"') {
        return quoted(text).map(|(content, after)| (Token::Text(content), after));
    }
    let (digits, after) = split_while(text, |c| c.is_ascii_digit());
    if !digits.is_empty() {
        let number = digits.parse().map_err(|_| format!("{digits} is too large"))?;
        return Ok((Token::Number(number), after));
    }
    let (word, after) = split_while(text, |c| c.is_ascii_alphanumeric() || c == '_');
    if !word.is_empty() {
        return Ok((Token::Word(word.to_owned()), after));
    }
    let symbol = SYMBOLS.iter().find_map(|symbol| Some((Token::Symbol(symbol), text.strip_prefix(symbol)?)));
    symbol.ok_or_else(|| format!("{:?} has no meaning here", text.chars().next().unwrap_or_default()))
}

fn split_while(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !belongs(c)).unwrap_or(text.len()))
}

/// Splits at the closing quote: the text before it, and the rest of the line.
fn quoted(text: &str) -> Result<(String, &str), String> {
    let mut content = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => return Ok((content, chars.as_str())),
            '\\' => {
                let (resolved, after) = escape(chars.as_str())?;
                content.push(resolved);
                chars = after.chars();
            }
            plain => content.push(plain),
        }
    }
    Err("the closing quote is missing".to_owned())
}

/// The character of an escape sequence; the text begins after its `\`.
fn escape(text: &str) -> Result<(char, &str), String> {
    let mut chars = text.chars();
    let resolved = match chars.next() {
        Some('n') => '\n',
        Some('t') => '\t',
        Some(same @ ('"' | '\\')) => same,
        Some('u') => return code_point(chars.as_str()).ok_or_else(|| "\\u needs a {code point}".to_owned()),
        Some(other) => return Err(format!("\\{other} is no escape")),
        None => return Err("the closing quote is missing".to_owned()),
    };
    Ok((resolved, chars.as_str()))
}

fn code_point(text: &str) -> Option<(char, &str)> {
    let (digits, after) = text.strip_prefix('{')?.split_once('}')?;
    Some((char::from_u32(u32::from_str_radix(digits, 16).ok()?)?, after))
}

/// The inverse of reading a quoted token. The result contains no line break.
pub(super) fn quote(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '"' | '\\' => quoted.extend(['\\', c]),
            control if control.is_control() => quoted.push_str(&format!("\\u{{{:x}}}", u32::from(control))),
            plain => quoted.push(plain),
        }
    }
    quoted.push('"');
    quoted
}
