//! Escapes text from models, file names and users for terminals.

use std::borrow::Cow;
use std::path::Path;

/// Whether a character can manipulate a terminal or change the order of text: control characters, which begin
/// escape sequences, marks of text direction, and separators that look like line breaks.
pub fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0001}'..='\u{e007f}')
}

/// The text with hostile characters escaped, as in `\u{1b}`. Line breaks and tabs stay.
pub fn legible(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_hostile(c) && c != '\n' && c != '\t')
}

/// The same with line breaks and tabs escaped, for names.
pub fn on_a_line(text: &str) -> Cow<'_, str> {
    escaped(text, is_hostile)
}

/// The name of a file, for messages.
pub fn shown(path: &Path) -> String {
    on_a_line(&path.display().to_string()).into_owned()
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_escaped(c) { escaped.extend(c.escape_unicode()) } else { escaped.push(c) }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_escaped() {
        assert_eq!(legible("\u{1b}[2J\u{7}\u{9b}1m\r\u{7f}"), r"\u{1b}[2J\u{7}\u{9b}1m\u{d}\u{7f}");
        assert_eq!(legible("a\u{202e}b\u{2066}c\u{2028}d"), r"a\u{202e}b\u{2066}c\u{2028}d");
    }

    #[test]
    fn other_text_stays_as_it_is() {
        let text = "Straße → 状態 👩‍🔬\n\tx == 1";
        assert!(matches!(legible(text), Cow::Borrowed(shown) if shown == text));
    }

    #[test]
    fn a_name_stays_on_its_line() {
        assert_eq!(on_a_line("a\nb\tc"), r"a\u{a}b\u{9}c");
    }
}
