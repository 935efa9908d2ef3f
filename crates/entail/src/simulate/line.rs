//! A line-based session, for use without a terminal and in scripts.

use super::session::{Act, Session, in_words};
use std::io::{self, BufRead, Read, Write};

/// The commands with their help.
pub const COMMANDS: &[(&str, &str)] = &[
    ("NUMBER", "take this step"),
    ("r [N]", "take a step at random, or N"),
    ("u", "continue at random until an error or an end"),
    ("b [N]", "undo a step, or N"),
    ("f [N]", "redo a step, or N"),
    ("j N", "jump to the state after N steps"),
    ("s", "the state"),
    ("/ [TEXT]", "show only names that contain this text"),
    ("h", "the last steps"),
    ("w [FILE]", "write the run as a trail"),
    ("?", "help"),
    ("q", "quit"),
];

/// A parsed command.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    Nothing,
    Do(Act),
    State,
    History,
    Help,
    Quit,
}

/// The maximum number of steps of an unattended run.
const UNTIL: usize = 100_000;
/// The number of steps in the history.
const LAST_STEPS: usize = 20;
/// The maximum length of a command.
const MAX_LINE: u64 = 4096;

/// Reads and executes commands until the end of input. Echoes commands that do not come from a terminal.
pub fn converse(
    session: &mut Session,
    (mut input, echo): (impl BufRead, bool),
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "{}; ? for help\n", session.title)?;
    tell_choices(session, out)?;
    loop {
        write!(out, "{}> ", session.at())?;
        out.flush()?;
        let Some(line) = read_line(&mut input)? else { return writeln!(out) };
        if echo {
            writeln!(out, "{line}")?;
        }
        match understand(&line) {
            Ok(Said::Nothing) => {}
            Ok(Said::Quit) => return Ok(()),
            Ok(Said::Help) => COMMANDS.iter().try_for_each(|(say, what)| writeln!(out, "  {say:<10} {what}"))?,
            Ok(Said::State) => tell_state(session, out)?,
            Ok(Said::History) => tell_history(session, out)?,
            Ok(Said::Do(act)) => {
                let at = session.at();
                let is_filter = matches!(act, Act::Filter(_));
                match session.act(act) {
                    Ok(said) | Err(said) if !said.is_empty() => writeln!(out, "{said}")?,
                    Ok(_) | Err(_) => {}
                }
                if is_filter {
                    tell_state(session, out)?;
                }
                if session.at() != at {
                    let told = session.last().map_or_else(String::new, |told| told.text());
                    writeln!(out, "{told}")?;
                    tell_choices(session, out)?;
                }
            }
            Err(why) => writeln!(out, "{why}; ? for help")?,
        }
    }
}

/// The next line, truncated to the maximum length; `None` at the end.
fn read_line(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    if input.take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    Ok(Some(String::from_utf8_lossy(&line).trim().to_owned()))
}

fn understand(line: &str) -> Result<Said, String> {
    let end = line.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(line.len());
    let (word, rest) = if line.starts_with(['/', '?']) { line.split_at(1) } else { line.split_at(end) };
    let rest = rest.trim();
    let count = || match rest {
        "" => Ok(1),
        rest => rest.parse::<usize>().map_err(|_| format!("`{rest}` is not a number")),
    };
    let act = match word {
        "" if rest.is_empty() => return Ok(Said::Nothing),
        "" => Act::Choose(count()?),
        "r" => Act::Random(count()?),
        "u" => Act::Random(UNTIL),
        "b" => Act::Back(count()?),
        "f" => Act::Forward(count()?),
        "j" if rest.is_empty() => return Err("`j` needs a step number".to_owned()),
        "j" => Act::Jump(count()?),
        "/" => Act::Filter(rest.to_owned()),
        "w" => Act::Write((!rest.is_empty()).then(|| rest.into())),
        "s" => return Ok(Said::State),
        "h" => return Ok(Said::History),
        "?" => return Ok(Said::Help),
        "q" => return Ok(Said::Quit),
        _ => return Err(format!("`{line}` is not a command")),
    };
    Ok(Said::Do(act))
}

fn tell_choices(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    if let Some(remark) = session.remark() {
        writeln!(out, "{remark}")?;
    }
    for (number, choice) in (1..).zip(session.choices()) {
        writeln!(out, "{number:>5}  {}", in_words(choice.as_ref()))?;
    }
    Ok(())
}

fn tell_state(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    for value in session.values() {
        let mark = if value.changed { '*' } else { ' ' };
        writeln!(out, "  {mark} {} = {}", value.name, value.value)?;
    }
    Ok(())
}

fn tell_history(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    let first = session.at().saturating_sub(LAST_STEPS);
    for (number, told) in (first + 1..).zip(session.history(first, session.at() - first)) {
        writeln!(out, "{number:>5}  {}", in_words(told.as_ref()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_understood() {
        for (line, said) in [
            ("", Said::Nothing),
            ("3", Said::Do(Act::Choose(3))),
            ("r", Said::Do(Act::Random(1))),
            ("r 5", Said::Do(Act::Random(5))),
            ("b2", Said::Do(Act::Back(2))),
            ("j 0", Said::Do(Act::Jump(0))),
            ("/", Said::Do(Act::Filter(String::new()))),
            ("/ turn", Said::Do(Act::Filter("turn".to_owned()))),
            ("w a b.trail", Said::Do(Act::Write(Some("a b.trail".into())))),
            ("q", Said::Quit),
        ] {
            assert_eq!(understand(line), Ok(said), "{line}");
        }
    }

    #[test]
    fn other_lines_are_refused() {
        for line in ["x", "j", "r -1", "3 4", "99999999999999999999999", "quit now", "jj 3", "\u{1b}[A"] {
            assert!(understand(line).is_err(), "{line}");
        }
    }

    #[test]
    fn endless_lines_are_cut() {
        let mut endless = io::BufReader::new(io::repeat(b'1'));
        assert_eq!(read_line(&mut endless).unwrap().map(|line| line.len() as u64), Some(MAX_LINE));
    }
}
