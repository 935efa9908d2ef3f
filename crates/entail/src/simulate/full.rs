//! The terminal: drawing, key events and restoring its state.

use super::looks::{Looks, Next};
use super::screen::draw;
use super::session::Session;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The interval at which interruption is checked.
const PATIENCE: Duration = Duration::from_millis(200);

/// Restores the terminal when dropped.
struct Restored;

impl Drop for Restored {
    fn drop(&mut self) {
        // If that fails, the terminal is gone.
        let _ = ratatui::try_restore();
    }
}

/// Shows a session until the user quits.
pub fn converse(session: &mut Session, stop: &AtomicBool) -> io::Result<()> {
    let _restored = Restored;
    let mut terminal = ratatui::try_init()?;
    let mut looks = Looks::default();
    while !stop.load(Ordering::Relaxed) {
        terminal.draw(|frame| draw(frame, session, &mut looks))?;
        if !event::poll(if looks.running { Duration::ZERO } else { PATIENCE })? {
            if looks.running {
                looks.go_on(session);
            }
            continue;
        }
        // Other events, such as resizing, only redraw the screen.
        if let Event::Key(key) = event::read()?
            && key.kind != KeyEventKind::Release
            && looks.press(key, session) == Next::Quit
        {
            break;
        }
    }
    Ok(())
}
