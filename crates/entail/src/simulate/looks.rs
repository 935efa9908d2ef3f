//! The state of the screen, and its reaction to keys.

use super::keys::{Command, MANY, command};
use super::session::{Act, Session, Stopped};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

#[derive(Default)]
pub struct Looks {
    pub panel: Panel,
    /// The marked step.
    pub marked: usize,
    /// The scroll offset of each panel from its default position.
    pub scroll: [isize; Panel::ALL.len()],
    /// The current prompt with its input.
    pub prompt: Option<(Prompt, String)>,
    pub help: bool,
    /// The last message.
    pub message: String,
    /// Whether a random run is in progress.
    pub running: bool,
}

/// A part of the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Panel {
    #[default]
    Steps,
    Source,
    State,
    History,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prompt {
    Jump,
    Filter,
    Write,
}

/// The action after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Stay,
    Quit,
}

/// The number of lines per page, independent of the screen.
const PAGE: isize = 10;
/// The number of steps between checks for keys.
const SLICE: usize = 500;
/// The maximum length of input.
const MOST_TYPED: usize = 200;

impl Looks {
    pub fn press(&mut self, key: KeyEvent, session: &mut Session) -> Next {
        let is_interrupt = key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c');
        if is_interrupt {
            return Next::Quit;
        }
        if std::mem::take(&mut self.running) || std::mem::take(&mut self.help) {
            return Next::Stay;
        }
        self.message.clear();
        match (self.prompt.take(), key.code) {
            (Some((prompt, text)), code) => self.typed(prompt, text, code, session),
            (None, KeyCode::Char(digit @ '1'..='9')) => {
                self.act(Act::Choose(digit as usize - '0' as usize), session);
            }
            (None, code) => {
                if let Some(command) = command(code) {
                    return self.obey(command, session);
                }
            }
        }
        Next::Stay
    }

    fn obey(&mut self, command: Command, session: &mut Session) -> Next {
        let page = &mut self.scroll[self.panel as usize];
        match command {
            Command::Up => self.marked = self.marked.saturating_sub(1),
            Command::Down => self.marked = (self.marked + 1).min(session.choices().len().saturating_sub(1)),
            Command::Take => self.act(Act::Choose(self.marked + 1), session),
            Command::Back => self.act(Act::Back(1), session),
            Command::Forward => self.act(Act::Forward(1), session),
            Command::Random => self.act(Act::Random(1), session),
            Command::Many => self.act(Act::Random(MANY), session),
            Command::Run => self.running = true,
            Command::Jump => self.prompt = Some((Prompt::Jump, String::new())),
            Command::Filter => self.prompt = Some((Prompt::Filter, session.filter().to_owned())),
            Command::Write => self.prompt = Some((Prompt::Write, String::new())),
            Command::Panel => self.panel = self.panel.next(),
            Command::PageUp => *page = page.saturating_sub(PAGE),
            Command::PageDown => *page = page.saturating_add(PAGE),
            Command::Help => self.help = true,
            Command::Quit => return Next::Quit,
        }
        Next::Stay
    }

    /// Handles a key in a prompt.
    fn typed(&mut self, prompt: Prompt, mut text: String, key: KeyCode, session: &mut Session) {
        match key {
            KeyCode::Esc => return,
            KeyCode::Enter => {
                match (prompt, text.as_str()) {
                    (Prompt::Filter, _) => self.act(Act::Filter(text), session),
                    (Prompt::Write, "") => self.act(Act::Write(None), session),
                    (Prompt::Write, path) => self.act(Act::Write(Some(path.into())), session),
                    (Prompt::Jump, "") => {}
                    (Prompt::Jump, number) => match number.parse() {
                        Ok(to) => self.act(Act::Jump(to), session),
                        Err(_) => self.message = format!("`{number}` is not a number"),
                    },
                }
                return;
            }
            KeyCode::Backspace => drop(text.pop()),
            KeyCode::Char(c) if text.chars().count() < MOST_TYPED => text.push(c),
            _ => {}
        }
        self.prompt = Some((prompt, text));
    }

    fn act(&mut self, act: Act, session: &mut Session) {
        let was_at = session.at();
        self.message = session.act(act).unwrap_or_else(|why| why);
        if session.at() != was_at {
            self.look_anew(session);
        }
    }

    /// Continues a random run for some steps.
    pub fn go_on(&mut self, session: &mut Session) {
        let stopped = session.run(SLICE);
        self.running = stopped == Stopped::Enough;
        self.message = stopped.words().unwrap_or_default().to_owned();
        self.look_anew(session);
    }

    fn look_anew(&mut self, session: &Session) {
        self.marked = session.taken_before().unwrap_or(0);
        self.scroll[Panel::Source as usize] = 0;
        self.scroll[Panel::History as usize] = 0;
        self.scroll[Panel::Steps as usize] = 0;
    }
}

impl Panel {
    pub const ALL: [Panel; 4] = [Panel::Steps, Panel::Source, Panel::State, Panel::History];

    fn next(self) -> Panel {
        Panel::ALL[(self as usize + 1) % Panel::ALL.len()]
    }

    pub fn title(self) -> &'static str {
        match self {
            Panel::Steps => "steps",
            Panel::Source => "source",
            Panel::State => "state",
            Panel::History => "history",
        }
    }
}

impl Prompt {
    pub fn label(self) -> &'static str {
        match self {
            Prompt::Jump => "jump to step",
            Prompt::Filter => "show only",
            Prompt::Write => "write to [MODEL.trail]",
        }
    }
}
