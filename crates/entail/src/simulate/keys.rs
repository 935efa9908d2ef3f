//! Key bindings.

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
    /// The label of the keys.
    pub shown: &'static str,
    pub command: Command,
    /// A short name for the footer; empty if the footer omits it.
    pub brief: &'static str,
    pub says: &'static str,
}

/// The number of steps of `Command::Many`.
pub const MANY: usize = 100;

/// In display order. Digits, which choose the step of that number, are not listed.
pub const BINDINGS: &[Binding] = &[
    bind(&[KeyCode::Enter, KeyCode::Char(' ')], "⏎", Command::Take, "take", "take the marked step, or step 1 to 9"),
    bind(
        &[KeyCode::Left, KeyCode::Backspace, KeyCode::Char('b')],
        "b",
        Command::Back,
        "back",
        "undo the last step, also ←",
    ),
    bind(&[KeyCode::Right, KeyCode::Char('f')], "f", Command::Forward, "again", "redo an undone step, also →"),
    bind(&[KeyCode::Char('r')], "r", Command::Random, "random", "take a step at random"),
    bind(&[KeyCode::Char('R')], "R", Command::Many, "", "take a hundred steps at random"),
    bind(&[KeyCode::Char('u')], "u", Command::Run, "run", "continue at random until an error or an end"),
    bind(&[KeyCode::Char('j')], "j", Command::Jump, "jump", "jump to the state after a number of steps"),
    bind(&[KeyCode::Char('/')], "/", Command::Filter, "filter", "show only names that contain a text"),
    bind(&[KeyCode::Char('w')], "w", Command::Write, "write", "write the run up to here as a trail"),
    bind(&[KeyCode::Tab], "⇥", Command::Panel, "panel", "show the next panel"),
    bind(&[KeyCode::Char('?'), KeyCode::F(1)], "?", Command::Help, "help", "show the key bindings"),
    bind(&[KeyCode::Char('q')], "q", Command::Quit, "quit", "quit"),
    bind(&[KeyCode::Up], "↑", Command::Up, "", "mark the step above"),
    bind(&[KeyCode::Down], "↓", Command::Down, "", "mark the step below"),
    bind(&[KeyCode::PageUp], "PgUp", Command::PageUp, "", "scroll the panel back by a page"),
    bind(&[KeyCode::PageDown], "PgDn", Command::PageDown, "", "scroll the panel forward by a page"),
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
