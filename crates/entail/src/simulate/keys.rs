//! What keys do.

use ratatui::crossterm::event::KeyCode;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    Up,
    Down,
    Take,
    Back,
    Forward,
    Random,
    Many,
    Run,
    Jump,
    Filter,
    Write,
    Panel,
    PageUp,
    PageDown,
    Help,
    Quit,
}

pub struct Binding {
    pub keys: &'static [KeyCode],
    /// How the keys are shown.
    pub shown: &'static str,
    pub command: Command,
    /// In a word or two, for the line at the bottom; nothing if it is not shown there.
    pub brief: &'static str,
    pub says: &'static str,
}

/// How many steps are many.
pub const MANY: usize = 100;

/// In the order in which they are shown. The digits are not here: they choose the step of that number.
pub const BINDINGS: &[Binding] = &[
    bind(
        &[KeyCode::Enter, KeyCode::Char(' ')],
        "⏎",
        Command::Take,
        "take",
        "take the step that is marked, or 1 to 9",
    ),
    bind(
        &[KeyCode::Left, KeyCode::Backspace, KeyCode::Char('b')],
        "b",
        Command::Back,
        "back",
        "take back the last step, also ←",
    ),
    bind(
        &[KeyCode::Right, KeyCode::Char('f')],
        "f",
        Command::Forward,
        "again",
        "take it again, if it was taken back, also →",
    ),
    bind(&[KeyCode::Char('r')], "r", Command::Random, "random", "take a step at random"),
    bind(&[KeyCode::Char('R')], "R", Command::Many, "", "take a hundred steps at random"),
    bind(&[KeyCode::Char('u')], "u", Command::Run, "run", "go on at random until something happens"),
    bind(&[KeyCode::Char('j')], "j", Command::Jump, "jump", "jump to where so many steps lead"),
    bind(&[KeyCode::Char('/')], "/", Command::Filter, "filter", "show only what has some text in its name"),
    bind(&[KeyCode::Char('w')], "w", Command::Write, "write", "write the run up to here as a trail"),
    bind(&[KeyCode::Tab], "⇥", Command::Panel, "panel", "turn to the next panel"),
    bind(&[KeyCode::Char('?'), KeyCode::F(1)], "?", Command::Help, "help", "what keys do"),
    bind(&[KeyCode::Char('q')], "q", Command::Quit, "quit", "quit"),
    bind(&[KeyCode::Up], "↑", Command::Up, "", "mark the step above"),
    bind(&[KeyCode::Down], "↓", Command::Down, "", "mark the step below"),
    bind(&[KeyCode::PageUp], "PgUp", Command::PageUp, "", "turn back a page of the panel"),
    bind(&[KeyCode::PageDown], "PgDn", Command::PageDown, "", "turn over a page of the panel"),
];

const fn bind(
    keys: &'static [KeyCode],
    shown: &'static str,
    command: Command,
    brief: &'static str,
    says: &'static str,
) -> Binding {
    Binding { keys, shown, command, brief, says }
}

pub fn command(key: KeyCode) -> Option<Command> {
    BINDINGS.iter().find(|binding| binding.keys.contains(&key)).map(|binding| binding.command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_does_two_things() {
        let keys: Vec<_> = BINDINGS.iter().flat_map(|binding| binding.keys).collect();
        for (index, key) in keys.iter().enumerate() {
            assert!(!keys[..index].contains(key), "{key:?}");
            assert!(!matches!(key, KeyCode::Char('0'..='9')), "{key:?}");
        }
    }
}
