//! The terminal: what is drawn and typed there, and that it is left as it was.

use super::looks::{Looks, Next};
use super::screen::draw;
use super::session::Session;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long it takes until an interruption is noticed.
const PATIENCE: Duration = Duration::from_millis(200);

/// Leaves the terminal as it was, however the rest ends.
struct Restored;

impl Drop for Restored {
    fn drop(&mut self) {
        // Where that fails, there is no terminal any more.
        let _ = ratatui::try_restore();
    }
}

/// Shows a session until somebody has seen enough.
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
        // All others, such as a change of size, only make it be drawn again.
        if let Event::Key(key) = event::read()?
            && key.kind != KeyEventKind::Release
            && looks.press(key, session) == Next::Quit
        {
            break;
        }
    }
    Ok(())
}
