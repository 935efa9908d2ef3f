//! Draws the full-screen simulation: its panels, title, key bindings and prompts, for any screen size.

use super::keys::BINDINGS;
use super::looks::{Looks, Panel};
use super::session::{Session, in_few_words};
use entail_front::legible::is_hostile;
use entail_ir::Statement;
use entail_ir::interpret::Explained;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph, Wrap};

/// The minimum width for all panels side by side; smaller screens show one at a time, without frames.
const WIDE: u16 = 64;
const HIGH: u16 = 14;

/// Draws the whole screen.
pub fn draw(frame: &mut Frame, session: &Session, looks: &mut Looks) {
    let area = frame.area();
    let rows = [Constraint::Length(1), Constraint::Min(1), Constraint::Length(1)];
    let [top, middle, bottom] = Layout::vertical(rows).areas(area);
    let is_large = area.width >= WIDE && area.height >= HIGH;
    frame.render_widget(title(session, looks, is_large), top);
    frame.render_widget(footer(looks), bottom);
    if is_large {
        let columns = Layout::horizontal([Constraint::Percentage(60), Constraint::Percentage(40)]);
        let parts = Layout::vertical([Constraint::Percentage(55), Constraint::Percentage(45)]);
        let [left, right] = columns.areas(middle);
        let ([source, steps], [state, history]) = (parts.areas(left), parts.areas(right));
        let places =
            [(Panel::Source, source), (Panel::Steps, steps), (Panel::State, state), (Panel::History, history)];
        for (panel, place) in places {
            let border = if panel == looks.panel { Style::new().fg(Color::Cyan) } else { Style::new().dim() };
            let block = Block::bordered().title(panel.title()).border_style(border);
            let inside = block.inner(place);
            frame.render_widget(block, place);
            show(frame, panel, session, looks, inside);
        }
    } else {
        show(frame, looks.panel, session, looks, middle);
    }
    if looks.help {
        frame.render_widget(Clear, middle);
        let lines = BINDINGS.iter().map(|binding| Line::from(format!("{:>5}  {}", binding.shown, binding.says)));
        frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), middle);
    }
    // A model may contain control characters.
    for cell in frame.buffer_mut().content.iter_mut().filter(|cell| cell.symbol().contains(is_hostile)) {
        cell.set_symbol("\u{fffd}");
    }
}

/// The position in the run, with a remark.
fn title(session: &Session, looks: &Looks, is_large: bool) -> Line<'static> {
    let mut place = format!("step {}", session.at());
    if session.length() > session.at() {
        place += &format!(" of {}", session.length());
    }
    let remark = if looks.running { Some("running: press any key to stop".to_owned()) } else { session.remark() };
    let remark = Span::styled(remark.unwrap_or_default(), Style::new().fg(Color::Red).bold());
    let name = if is_large { session.title.clone() } else { looks.panel.title().to_owned() };
    Line::from(vec![name.bold(), "  ".into(), place.into(), "  ".into(), remark])
}

/// The prompt, or the last message, or else the keys.
fn footer(looks: &Looks) -> Line<'static> {
    if let Some((prompt, text)) = &looks.prompt {
        return Line::from(vec![format!("{}: ", prompt.label()).bold(), text.clone().into(), "▏".into()]);
    }
    if !looks.message.is_empty() {
        return Line::from(looks.message.clone().yellow());
    }
    let shown = BINDINGS.iter().filter(|binding| !binding.brief.is_empty());
    let keys = shown.flat_map(|binding| [binding.shown.bold(), format!(" {}  ", binding.brief).dim()]);
    Line::from(keys.collect::<Vec<_>>())
}

fn show(frame: &mut Frame, panel: Panel, session: &Session, looks: &mut Looks, place: Rect) {
    if place.is_empty() {
        return;
    }
    if panel == Panel::Steps && session.choices().is_empty() {
        // Why there are no steps: the title may be truncated.
        let why = Paragraph::new(session.remark().unwrap_or_default()).wrap(Wrap { trim: true });
        return frame.render_widget(why.red(), place);
    }
    let window = Window { height: usize::from(place.height), width: usize::from(place.width) };
    let scroll = &mut looks.scroll[panel as usize];
    let lines = match panel {
        Panel::Steps => steps(session, looks.marked, window, scroll),
        Panel::Source => source(session, looks.marked, window, scroll),
        Panel::State => state(session, window, scroll),
        Panel::History => history(session, window, scroll),
    };
    frame.render_widget(Paragraph::new(lines), place);
}

/// The inner size of a panel.
#[derive(Clone, Copy)]
struct Window {
    height: usize,
    width: usize,
}

impl Window {
    /// The first visible line, given the default `first` and the scroll offset, which is clamped.
    fn first(self, first: usize, count: usize, scroll: &mut isize) -> usize {
        let last = count.saturating_sub(1) as isize;
        let first = first as isize;
        *scroll = (*scroll).clamp(-first, (last - first).max(0));
        (first + *scroll).max(0) as usize
    }

    /// The visible part of a text, sanitised.
    fn cut(self, text: &str) -> String {
        let shown = text
            .chars()
            .flat_map(|c| if c == '\t' { std::iter::repeat_n(' ', 4) } else { std::iter::repeat_n(c, 1) });
        shown.take(self.width).collect()
    }
}

fn steps(session: &Session, marked: usize, window: Window, scroll: &mut isize) -> Vec<Line<'static>> {
    let choices = session.choices();
    let first = window.first((marked + 1).saturating_sub(window.height), choices.len(), scroll);
    let shown = choices.iter().enumerate().skip(first).take(window.height).map(|(index, choice)| {
        let line = Line::from(window.cut(&format!("{:>2} {}", index + 1, on_a_line(choice.as_ref()))));
        if index == marked { line.style(Modifier::REVERSED) } else { line }
    });
    shown.collect()
}

/// The process, statement and line; the source panel shows the file.
fn on_a_line(explained: Option<&Explained>) -> String {
    let Some(Explained { process, process_name, statement, partner, .. }) = explained else {
        return in_few_words(None);
    };
    let who = format!("{process_name}({process})");
    let mut told = format!("{who:<10} {:>4}  {}", statement.line, statement.text);
    if let Some((partner, name, reply)) = partner {
        told += &format!("  →  {name}({partner}) {}  {}", reply.line, reply.text);
    }
    told
}

/// The file of the marked step, with process numbers at their locations.
fn source(session: &Session, marked: usize, window: Window, scroll: &mut isize) -> Vec<Line<'static>> {
    let choices = session.choices();
    let standings = session.process_statuses();
    let chosen = choices.get(marked).or(choices.first()).and_then(|choice| choice.as_ref());
    let last = session.last().and_then(|told| told.explained.as_ref());
    let centre = chosen.or(last).map(|explained| &*explained.statement);
    let Some(Statement { file, line, .. }) = centre.or(standings.iter().find_map(|standing| standing.next)) else {
        return Vec::new();
    };
    let Some(text) = session.sources.named(file).map(|source| &source.text) else { return Vec::new() };
    let line = *line as usize;
    let first = window.first(line.saturating_sub(window.height / 2 + 1), text.lines().count(), scroll);
    let lines = (1..).zip(text.lines()).skip(first).take(window.height);
    let told = lines.map(|(number, text): (usize, &str)| {
        let here = standings.iter().filter(|standing| {
            standing.next.is_some_and(|next| next.file == *file && next.line as usize == number)
        });
        let here: Vec<_> = here.map(|standing| standing.process.to_string()).collect();
        let marks = if here.is_empty() { String::new() } else { format!("{}▸", here.join(",")) };
        let line_style = if here.is_empty() { Style::new() } else { Style::new().fg(Color::Green) };
        let line_style = if number == line { line_style.bold() } else { line_style };
        let marks = Span::styled(format!("{marks:>5}"), Style::new().fg(Color::Cyan));
        Line::from(vec![format!("{number:>4}").dim(), marks, Span::styled(window.cut(text), line_style)])
    });
    told.collect()
}

fn state(session: &Session, window: Window, scroll: &mut isize) -> Vec<Line<'static>> {
    let values = session.values();
    let filter = session.filter();
    let heading =
        (!filter.is_empty()).then(|| Line::from(window.cut(&format!("only names with `{filter}`"))).dim());
    let height = window.height.saturating_sub(usize::from(heading.is_some()));
    let first = window.first(0, values.len(), scroll);
    let lines = values.iter().skip(first).take(height).map(|value| {
        let line = Line::from(window.cut(&format!("{} = {}", value.name, value.value)));
        if value.changed { line.style(Style::new().fg(Color::Yellow).bold()) } else { line }
    });
    heading.into_iter().chain(lines).collect()
}

fn history(session: &Session, window: Window, scroll: &mut isize) -> Vec<Line<'static>> {
    let first = window.first(session.at().saturating_sub(window.height), session.length(), scroll);
    let told = (first + 1..).zip(session.history(first, window.height)).map(|(number, told)| {
        let line = Line::from(window.cut(&format!("{number:>4} {}", in_few_words(told.as_ref()))));
        match number.cmp(&session.at()) {
            std::cmp::Ordering::Less => line,
            std::cmp::Ordering::Equal => line.bold(),
            // Undone steps.
            std::cmp::Ordering::Greater => line.dim(),
        }
    });
    told.collect()
}
