//! Splits a Rust file into code, comments and string literals.

use super::{Text, without_code};
use std::ops::Range;

#[derive(Default)]
pub struct Rust {
    /// Everything except comments.
    pub code: Text,
    pub comments: Text,
    /// The string literals outside tests, each a paragraph.
    pub strings: Text,
}

/// `is_test`: the whole file belongs to tests.
pub fn split(text: &str, is_test: bool) -> Rust {
    let mut rust = Rust::default();
    let (mut code, mut done, mut number) = (String::new(), 0, 1);
    let (mut last_comment, mut in_fence) = (0, false);
    let test_modules = test_modules(text);
    let is_in_test = |number| is_test || test_modules.iter().any(|lines| lines.contains(&number));
    for (kind, range) in literals(text) {
        number += text[done..range.start].matches('\n').count();
        code += &text[done..range.start];
        done = range.end;
        let piece = &text[range];
        match kind {
            Kind::Comment => {
                for (number, line) in (number..).zip(piece.lines()) {
                    if number > last_comment + 1 {
                        in_fence = false;
                        rust.comments.end_paragraph(number);
                    }
                    last_comment = number;
                    let line = line.trim_start_matches(['/', '!', '*']);
                    in_fence ^= line.trim_start().starts_with("```");
                    if !in_fence {
                        rust.comments.push(number, &without_code(line).to_lowercase());
                    }
                }
                code.extend(piece.matches('\n'));
            }
            Kind::String => {
                if !is_in_test(number) {
                    for (number, line) in (number..).zip(piece.lines()) {
                        let line = line.trim_end_matches('\\').replace("\\n", " ");
                        rust.strings.push(number, &without_code(&line).to_lowercase());
                    }
                    rust.strings.end_paragraph(number);
                }
                code += piece;
            }
            Kind::Char => code += piece,
        }
        number += piece.matches('\n').count();
    }
    code += &text[done..];
    for (number, line) in (1..).zip(code.lines()) {
        rust.code.push(number, line);
    }
    rust
}

enum Kind {
    Comment,
    String,
    Char,
}

/// The comments and literals of a file in order, with their delimiters.
fn literals(text: &str) -> Vec<(Kind, Range<usize>)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = text[at..].find(['/', '"', '\'']) {
        let start = at + next;
        let rest = &text[start..];
        let literal = if rest.starts_with("//") {
            Some((Kind::Comment, rest.find('\n').unwrap_or(rest.len())))
        } else if rest.starts_with("/*") {
            Some((Kind::Comment, rest.find("*/").map_or(rest.len(), |end| end + 2)))
        } else if rest.starts_with('"') {
            Some((Kind::String, string(&text[at..start], rest)))
        } else if rest.starts_with('\'') {
            char(rest).map(|length| (Kind::Char, length))
        } else {
            None
        };
        at = match literal {
            Some((kind, length)) => {
                found.push((kind, start..start + length));
                start + length
            }
            None => start + 1,
        };
    }
    found
}

/// The length of the string literal at the beginning of `rest`; `before` ends with `r#` if it is a raw one.
fn string(before: &str, rest: &str) -> usize {
    let prefix = before.trim_end_matches('#');
    if prefix.ends_with('r') {
        let end = format!("\"{}", &before[prefix.len()..]);
        return rest[1..].find(&end).map_or(rest.len(), |at| 1 + at + end.len());
    }
    let mut escaped = false;
    let end = rest[1..].find(|char| {
        let ends = char == '"' && !escaped;
        escaped = char == '\\' && !escaped;
        ends
    });
    end.map_or(rest.len(), |at| at + 2)
}

/// The length of the character literal at the beginning of `rest`, unless that is a lifetime.
fn char(rest: &str) -> Option<usize> {
    let mut chars = rest.char_indices().skip(1);
    let (_, first) = chars.next()?;
    let (second, _) = chars.next()?;
    if first == '\\' {
        // The escaped character can be the quote itself.
        let after = second + 1;
        return rest.get(after..)?.find('\'').map(|end| after + end + 1);
    }
    rest[second..].starts_with('\'').then_some(second + 1)
}

/// The lines of the test modules at the top level, formatted as rustfmt does.
fn test_modules(text: &str) -> Vec<Range<usize>> {
    let mut modules = Vec::new();
    let mut lines = (1..).zip(text.lines());
    while let Some((start, line)) = lines.next() {
        if line == "#[cfg(test)]" && lines.next().is_some_and(|(_, line)| line.ends_with('{')) {
            let end = lines.find(|(_, line)| *line == "}");
            modules.push(start..end.map_or(usize::MAX, |(end, _)| end));
        }
    }
    modules
}
