//! Problems in a model's text, and how they are displayed.

use crate::legible::is_hostile;
use crate::source::{Sources, Span};
use annotate_snippets::{
    Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet, normalize_untrusted_str,
};
use std::ops::Range;

/// A problem: what is wrong, where, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    pub message: String,
    pub span: Option<Span>,
    /// A note under the underlined text; may be empty.
    pub label: Box<str>,
    /// Related positions, such as the first declaration of a name declared twice.
    pub related: Vec<(Span, String)>,
    pub hint: Option<Box<str>>,
    /// The property that the error concerns, if the rest of the model is correct.
    pub property: Option<Box<str>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Error,
    Warning,
}

impl Diagnostic {
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, Some(span), message)
    }

    pub fn warning(span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, Some(span), message)
    }

    /// An error without a position.
    pub fn general(message: impl Into<String>) -> Self {
        Self::new(Severity::Error, None, message)
    }

    fn new(severity: Severity, span: Option<Span>, message: impl Into<String>) -> Self {
        let (label, related) = (Box::default(), Vec::new());
        Self { severity, message: message.into(), span, label, related, hint: None, property: None }
    }

    #[must_use]
    pub fn label(mut self, label: impl Into<Box<str>>) -> Self {
        self.label = label.into();
        self
    }

    #[must_use]
    pub fn related(mut self, span: Span, label: impl Into<String>) -> Self {
        self.related.push((span, label.into()));
        self
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<Box<str>>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a similar name as a hint, if there is one.
    #[must_use]
    pub fn or_similar(self, similar: Option<&str>) -> Self {
        match similar {
            Some(similar) => self.hint(format!("did you mean `{similar}`?")),
            None => self,
        }
    }

    /// Reports a problem of something that has no meaning then.
    pub fn refuse<T>(self, problems: &mut Vec<Diagnostic>) -> Option<T> {
        problems.push(self);
        None
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error && self.property.is_none()
    }
}

/// All problems as text, each with the lines that it concerns.
pub fn render(diagnostics: &[Diagnostic], sources: &Sources, colour: bool) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let shown: Vec<String> = diagnostics.iter().map(|one| renderer.render(&[group(one, sources)]) + "\n").collect();
    // The renderer replaces escape characters, but not other characters that can manipulate a terminal.
    shown.join("\n").replace(|c| is_hostile(c) && c != '\n' && c != '\u{1b}', "\u{fffd}")
}

fn group(diagnostic: &Diagnostic, sources: &Sources) -> Group<'static> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let primary = diagnostic.span.map(|span| (AnnotationKind::Primary, span, &*diagnostic.label));
    let related = diagnostic.related.iter().map(|(span, label)| (AnnotationKind::Context, *span, label.as_str()));
    let mut group = Group::with_title(level.primary_title(legible(&diagnostic.message)));
    for (kind, span, label) in primary.into_iter().chain(related) {
        let label = (!label.is_empty()).then(|| legible(label));
        group = excerpt(group, sources, span, |marked| kind.span(marked).label(label));
    }
    match &diagnostic.hint {
        Some(hint) => group.element(Level::HELP.message(legible(hint))),
        None => group,
    }
}

/// A longer line is shortened to this many bytes before and after the beginning of a span.
const REACH: usize = 60;
const LONG_LINE: usize = 2000;

/// Shows the line of the beginning of `span`, and underlines the part of the span on that line.
fn excerpt(
    group: Group<'static>,
    sources: &Sources,
    span: Span,
    note: impl FnOnce(Range<usize>) -> Annotation<'static>,
) -> Group<'static> {
    let text = &*sources.file(span.file).text;
    let start = visible(text, span.start as usize);
    let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let line_end = text[start..].find('\n').map_or(text.len(), |length| start + length);
    let end = boundary(text, span.end as usize).clamp(start, line_end);
    let place = sources.place(Span { start: start as u32, end: end as u32, ..span });
    let (file, line) = (legible(&place.file), place.line as usize);
    if sources.file(span.file).hidden {
        return group.element(Origin::path(file).line(line).char_column(place.column as usize));
    }
    let snippet = |text: String, marked| Snippet::source(text).line_start(line).annotation(note(marked));
    if line_end - line_start <= LONG_LINE {
        let source = text[line_start..line_end].trim_end_matches('\r');
        let marked = start - line_start..(end - line_start).clamp(start - line_start, source.len());
        return group.element(snippet(source.to_owned(), marked).path(file));
    }
    let from = boundary(text, start.saturating_sub(REACH)).max(line_start);
    let to = boundary(text, start + REACH).min(line_end);
    let marked = "…".len() + start - from.."…".len() + end.min(to) - from;
    // The origin is printed separately, because the column in the shortened line is not the column in the file.
    let origin = Origin::path(file).line(line).char_column(place.column as usize);
    group.element(origin).element(snippet(format!("…{}…", &text[from..to]), marked))
}

/// Messages quote the model: escaped for terminals, and truncated.
fn legible(text: &str) -> String {
    const ENOUGH: usize = 1000;
    let shown = normalize_untrusted_str(&text[..boundary(text, ENOUGH)]);
    if text.len() > ENOUGH { shown + "…" } else { shown }
}

/// The span to display for `at`: at the end of a file, the last character.
fn visible(text: &str, at: usize) -> usize {
    let at = boundary(text, at);
    if text[at..].trim_end().is_empty() { text.trim_end().len() } else { at }
}

/// The last position up to `at` where `text` can be split.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str, range: Range<usize>) -> String {
        let mut sources = Sources::default();
        let file = sources.add("m.pml", text);
        let span = Span { file, start: range.start as u32, end: range.end as u32 };
        render(&[Diagnostic::error(span, "this is wrong").label("here")], &sources, false)
    }

    #[track_caller]
    fn check(text: &str, range: Range<usize>, expected: &str) {
        let shown = show(text, range);
        let expected = expected.trim_start_matches('\n');
        assert_eq!(shown, expected, "shown:\n{shown}");
    }

    #[test]
    fn underlines_the_span() {
        check(
            "a\nbyte x = 3;\nb\n",
            7..8,
            "
error: this is wrong
 --> m.pml:2:6
  |
2 | byte x = 3;
  |      ^ here
",
        );
    }

    #[test]
    fn tabs_are_aligned() {
        check(
            "\tbyte\tx = 3;\r\n",
            6..7,
            "
error: this is wrong
 --> m.pml:1:7
  |
1 |     byte    x = 3;
  |             ^ here
",
        );
    }

    #[test]
    fn shows_the_first_line_of_a_longer_span() {
        check(
            "do\r\n:: x\nod\n",
            1..11,
            "
error: this is wrong
 --> m.pml:1:2
  |
1 | do
  |  ^ here
",
        );
    }

    #[test]
    fn the_end_of_a_file_is_behind_its_last_text() {
        for range in [5..5, 6..6, 7..7, 99..100] {
            check(
                "a\nabc\n\n",
                range,
                "
error: this is wrong
 --> m.pml:2:4
  |
2 | abc
  |    ^ here
",
            );
        }
    }

    #[test]
    fn an_empty_file_has_a_place_too() {
        check(
            "",
            0..0,
            "
error: this is wrong
 --> m.pml:1:1
  |
1 |
  | ^ here
",
        );
    }

    #[test]
    fn control_characters_of_the_text_do_not_reach_the_terminal() {
        let mut sources = Sources::default();
        let evil = "\u{1b}[2J\u{9b}1m\u{7}\r\u{202e}\u{2066}\u{61c}\u{8}\u{7f}\u{90}";
        let file = sources.add(format!("m{evil}.pml"), format!("x{evil}y"));
        let span = Span { file, start: 0, end: 1 };
        let problem = Diagnostic::error(span, evil).label(evil).related(span, evil).hint(evil);
        let shown = render(&[problem], &sources, false);
        assert!(!shown.contains(|c| is_hostile(c) && c != '\n'), "{shown:?}");
    }

    #[test]
    fn long_messages_are_cut() {
        let shown = render(&[Diagnostic::general("ü".repeat(1_000_000))], &Sources::default(), false);
        assert!(shown.len() < 1100 && shown.ends_with("…\n"));
    }

    #[test]
    fn only_a_window_of_a_huge_line_is_shown() {
        let huge = "word ".repeat(200_000);
        check(
            &huge,
            500_000..600_000,
            "
error: this is wrong
 --> m.pml:1:500001
  |
 ::: \n1 | …word word word word word word word word word word word word word word word word word word word word word word word word …
  |                                                              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ here
",
        );
        assert!(show(&huge, 0..4).lines().all(|line| line.len() < 200));
        assert!(show(&huge, huge.len()..huge.len()).lines().all(|line| line.len() < 200));
        assert!(show(&"ü".repeat(500_000), 500_000..500_002).contains('^'));
    }

    #[test]
    fn related_places_and_the_hint_follow() {
        let mut sources = Sources::default();
        let main = sources.add("m.pml", "#define N 3\nx\n");
        let other = sources.add("h.pml", "\n#define N 4\n");
        let problem = Diagnostic::warning(Span { file: other, start: 9, end: 10 }, "`N` is defined twice")
            .related(Span { file: main, start: 8, end: 9 }, "first here")
            .hint("remove one");
        let shown = render(&[problem, Diagnostic::general("no model")], &sources, false);
        let expected = "\
warning: `N` is defined twice
 --> h.pml:2:9
  |
2 | #define N 4
  |         ^
  |
 ::: m.pml:1:9
  |
1 | #define N 3
  |         - first here
  |
  = help: remove one

error: no model
";
        assert_eq!(shown, expected, "shown:\n{shown}");
    }

    #[test]
    fn colours_are_shown_on_demand() {
        let problem = Diagnostic::general("no model");
        assert!(render(std::slice::from_ref(&problem), &Sources::default(), true).contains('\u{1b}'));
        assert!(!render(&[problem], &Sources::default(), false).contains('\u{1b}'));
    }
}
