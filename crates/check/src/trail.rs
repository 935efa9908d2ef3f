//! Trails: counterexamples in SPIN's format, so that each tool can replay the counterexamples of the other.
//!
//! A line is `step:process:statement`, three decimal numbers; the statement has SPIN's number. A rendezvous is two
//! lines, the sender's first; a deterministic sequence is one. Lines with a negative step are annotations:
//!
//! ```text
//! -2:N:-2     a claim runs along, as process 0; the others are numbered from 1
//! -4:-4:-4    statements were merged: a line may stand for itself and statements after it
//! -1:-1:-1    the following steps repeat forever
//! -5 … -8     in which order processes and statements were tried
//! # …         a comment, and the end of the trail for SPIN; see [`Provenance`]
//! ```
//!
//! The claim's line precedes those of the step that it observes; atomic sequences of the claim have several lines.
//! After the processes have ended, the claim moves alone. We write the moves of never claims only: for a formula SPIN
//! builds an automaton of its own, and for labels none. A claim that is not in the model (`-N FILE`) counts as its last
//! one; without it `spin -t` skips its lines, with the same `-N FILE` it follows them.

use crate::plan::Watched;
use crate::provenance::{self, Provenance};
use entail_front::SpinClaim;
use entail_ir::System;
use entail_ir::interpret::Step;
use entail_search::{Counterexample, ErrorKind};
use std::fmt::{self, Write as _};
use std::io::{self, BufRead, Read, Write};

/// A run in a trail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trail {
    /// One move for each process that takes part in a step.
    pub moves: Vec<Move>,
    /// The index of the first move of the cycle, if the run is infinite.
    pub cycle_start: Option<usize>,
    /// Whether statements were merged: a line may stand for itself and statements after it.
    pub merged: bool,
    /// The provenance, if the trail has one.
    pub provenance: Option<Provenance>,
}

/// The part of one process in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The step number in the file.
    pub step: u32,
    /// The number of the process, not counting a claim.
    pub process: u32,
    /// The statement's [`entail_ir::Statement::spin_id`].
    pub statement: u32,
}

/// The maximum length: longer trails are unusable.
const MAX_MOVES: usize = 1 << 27;
const MAX_LINE: u64 = 80;
/// The maximum length of a provenance; formulas may be long.
const MAX_PROVENANCE: u64 = 1 << 20;

/// The line before the cycle.
const CYCLE: &str = "-1:-1:-1\n";

impl Trail {
    /// The trail of a run; empty if the model cannot start.
    pub fn of(run: &Counterexample<Step>, system: &System) -> Trail {
        let steps = if run.start.is_empty() { &[] } else { &run.steps[..] };
        let lines = |steps: &[Step]| steps.iter().map(|step| 1 + usize::from(step.partner().is_some())).sum();
        let cycle_start = match run.error {
            ErrorKind::Cycle { begins } => Some(lines(&steps[..begins.min(steps.len())])),
            ErrorKind::Fault(_) | ErrorKind::InvalidEnd => None,
        };
        let moves = (1..).zip(steps.iter().flat_map(|&step| halves(step, system)));
        let moves = moves.map(|(step, (process, statement))| Move { step, process, statement });
        Trail { moves: moves.collect(), cycle_start, ..Trail::default() }
    }

    /// The content of the file.
    pub fn text(&self) -> String {
        let mut lines: Vec<String> = self.moves.iter().map(|one| format!("{one}\n")).collect();
        if let Some(start) = self.cycle_start {
            // After the last step, the cycle is the stuttering of the last state.
            lines.insert(start.min(lines.len()), CYCLE.to_owned());
        }
        lines.extend(self.provenance.as_ref().map(Provenance::to_string));
        lines.concat()
    }

    /// Reads a trail. Input that is not a trail takes little memory.
    pub fn read(mut input: impl BufRead) -> Result<Trail, String> {
        let mut trail = Trail::default();
        let mut claim = false;
        for line in 1.. {
            let Some(text) = next_line(&mut input).map_err(|error| format!("line {line}: {error}"))? else { break };
            if text.starts_with(b"#") {
                trail.provenance = provenance(text, &mut input).map_err(|why| format!("line {line}: {why}"))?;
                continue;
            }
            let numbers = parse_line(&text)
                .ok_or_else(|| format!("line {line} is not of the form `step:process:statement`"))?;
            match numbers {
                [-1, ..] => trail.cycle_start = Some(trail.moves.len()),
                [-2, ..] => claim = true,
                [-4, ..] => trail.merged = true,
                [..=-1, ..] => {}
                // The moves of the other processes determine those of the claim.
                [_, 0, _] if claim => {}
                [step, process, statement] => {
                    let number = |number: i64| {
                        u32::try_from(number).map_err(|_| format!("line {line}: {number} is out of range"))
                    };
                    let (step, statement) = (number(step)?, number(statement)?);
                    let process = number(process - i64::from(claim))?;
                    trail.moves.push(Move { step, process, statement });
                }
            }
            if trail.moves.len() > MAX_MOVES {
                return Err(format!("it has more than {MAX_MOVES} steps"));
            }
        }
        Ok(trail)
    }
}

impl Trail {
    /// Whether a file with this beginning can be a trail: all of its complete lines are lines of a trail.
    pub fn is_begun_by(head: &[u8]) -> bool {
        let is_one = |line: &[u8]| line.starts_with(b"#") || parse_line(line).is_some();
        let mut lines = head.split_inclusive(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        // A file that begins with a comment is a trail only if the comment is a provenance.
        let first = lines.next();
        first.is_none_or(|line| line.starts_with(provenance::MARK.as_bytes()) || parse_line(line).is_some())
            && lines.all(|line| !line.ends_with(b"\n") || is_one(line))
    }
}

/// The text of a trail with the moves of a never claim.
pub(crate) fn with_claim(run: &Watched, claim: &SpinClaim, system: &System) -> String {
    let mut text = format!("-2:{}:-2\n", claim.number);
    let mut step = 0;
    for (index, taken) in run.moves.iter().enumerate() {
        if run.cycle_start == Some(index) {
            text += CYCLE;
        }
        let edge = taken.edge.iter().flat_map(|edge| &claim.statements[*edge as usize]);
        let claim = edge.map(|statement| (0, system.statement(*statement).spin_id));
        let processes = taken.step.into_iter().flat_map(|step| halves(step, system));
        for (process, statement) in claim.chain(processes.map(|(process, statement)| (process + 1, statement))) {
            step += 1;
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}", Move { step, process, statement });
        }
    }
    text
}

/// Writes a trail while the run takes place, without keeping it in memory.
pub struct Record<W> {
    out: W,
    provenance: Option<Provenance>,
    moves: u32,
    /// The first error, after which nothing is written.
    failed: Option<io::Error>,
}

impl<W: Write> Record<W> {
    /// Records a run with this provenance.
    pub fn new(out: W, provenance: Option<Provenance>) -> Record<W> {
        Record { out, provenance, moves: 0, failed: None }
    }

    /// The writer.
    pub fn out(&self) -> &W {
        &self.out
    }

    /// Adds a step of a model that could start.
    pub fn add(&mut self, step: Step, system: &System) {
        for (process, statement) in halves(step, system) {
            self.moves = self.moves.saturating_add(1);
            let one = Move { step: self.moves, process, statement };
            if self.failed.is_none() {
                self.failed = writeln!(self.out, "{one}").err();
            }
        }
    }

    /// Returns the writer, or the first error.
    pub fn finish(mut self) -> io::Result<W> {
        self.failed.map_or(Ok(()), Err)?;
        self.provenance.iter().try_for_each(|known| write!(self.out, "{known}"))?;
        self.out.flush()?;
        Ok(self.out)
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Move { step, process, statement } = self;
        write!(f, "{step}:{process}:{statement}")
    }
}

/// The processes of a step, with the numbers of their statements.
fn halves(step: Step, system: &System) -> impl Iterator<Item = (u32, u32)> {
    let half = |process: usize, edge| (process as u32, system.statement(system.edge(edge).statement).spin_id);
    let second = step.partner().map(|(process, edge)| half(process, edge));
    std::iter::once(half(step.process(), step.edge())).chain(second)
}

/// The next line that is not empty, truncated to the maximum length of a trail's line.
fn next_line(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    loop {
        let mut line = Vec::new();
        if input.take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        if !line.trim_ascii().is_empty() {
            return Ok(Some(line));
        }
    }
}

/// Reads the rest of a comment, which may be a provenance.
fn provenance(mut line: Vec<u8>, input: &mut impl BufRead) -> Result<Option<Provenance>, String> {
    if !line.ends_with(b"\n") {
        input.take(MAX_PROVENANCE).read_until(b'\n', &mut line).map_err(|error| error.to_string())?;
    }
    line.strip_prefix(provenance::MARK.as_bytes()).map(Provenance::parse).transpose()
}

fn parse_line(line: &[u8]) -> Option<[i64; 3]> {
    let text = std::str::from_utf8(line.trim_ascii()).ok()?;
    let mut numbers = text.split(':').map(|number| number.trim().parse::<i32>().map(i64::from).ok());
    let parsed = [numbers.next()??, numbers.next()??, numbers.next()??];
    numbers.next().is_none().then_some(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::Coverage;
    use crate::plan::{Goal, Plan};
    use crate::progress::Watch;
    use crate::provenance::{ReadAs, Shown};
    use entail_front::source::Sources;
    use entail_front::{Meaning, PropertyKind, Specification, promela};
    use entail_ir::Interpreter;
    use proptest::prelude::*;
    use std::sync::atomic::AtomicBool;

    fn read(text: &str) -> Result<Trail, String> {
        Trail::read(text.as_bytes())
    }

    fn moves(numbers: &[(u32, u32, u32)]) -> Vec<Move> {
        numbers.iter().map(|&(step, process, statement)| Move { step, process, statement }).collect()
    }

    #[test]
    fn a_plain_trail_is_its_moves() {
        let trail = read("1:0:9\n2:1:0\n").unwrap();
        assert_eq!(trail, Trail { moves: moves(&[(1, 0, 9), (2, 1, 0)]), ..Trail::default() });
    }

    #[test]
    fn what_is_written_is_read_again() {
        let trail = Trail { moves: moves(&[(1, 0, 9), (2, 255, 0), (3, 7, u16::MAX.into())]), ..Trail::default() };
        assert_eq!(read(&trail.text()), Ok(trail));
    }

    #[test]
    fn where_it_comes_from_is_read_again() {
        let formula = "[] (x == 1) ".repeat(1000);
        let shown =
            Shown { name: "f".into(), text: formula.clone(), asked: Some(("ltl".into(), "--ltl".into(), formula)) };
        let reading = ReadAs { defines: vec!["N=3".into(), "TEXT=\"a\nb\"".into()], ..ReadAs::default() };
        let provenance =
            Provenance { model: "m.pml".into(), reading, property: Some(shown), ..Provenance::default() };
        let trail = Trail { moves: moves(&[(1, 0, 9)]), provenance: Some(provenance), ..Trail::default() };
        assert_eq!(read(&trail.text()), Ok(trail.clone()));
        assert_eq!(read("1:0:9\n# a comment\n").map(|trail| trail.provenance), Ok(None));
        assert!(read("1:0:9\n# entail {\n").unwrap_err().contains("line 2"));
    }

    #[test]
    fn what_is_repeated_is_marked_even_if_it_is_no_step() {
        let moves = moves(&[(1, 0, 9), (2, 1, 0)]);
        let trail = |start| Trail { moves: moves.clone(), cycle_start: Some(start), ..Trail::default() };
        assert_eq!(trail(1).text(), "1:0:9\n-1:-1:-1\n2:1:0\n");
        assert_eq!(trail(2).text(), "1:0:9\n2:1:0\n-1:-1:-1\n");
        assert_eq!(read(&trail(2).text()), Ok(trail(2)));
    }

    #[test]
    fn a_claim_takes_number_0_and_is_left_out() {
        let trail = read("-2:2:-2\n1:0:10\n2:1:0\n3:0:10\n4:2:5\n").unwrap();
        assert_eq!(trail.moves, moves(&[(2, 0, 0), (4, 1, 5)]));
    }

    /// The trail of a run that the model's never claim accepts, in one line.
    fn claimed(text: &str) -> String {
        let model = promela::load_text("model.pml", text, &mut Sources::default(), &mut Vec::new());
        let model = model.expect("a model");
        let never = model.properties.iter().find(|property| property.kind == PropertyKind::Never);
        let Meaning { says, propositions, .. } = never.and_then(|never| never.meaning.as_ref()).expect("a claim");
        let Specification::Never(claim, Some(written)) = says else { panic!("it stands in the model") };
        let system = System { propositions: propositions.clone(), ..model.in_motion() };
        let mut watch = Watch::silent(Coverage::new(&system));
        let (interpreter, stop) = (Interpreter::new(&system), AtomicBool::new(false));
        let done = Plan::default().run_unkept(&interpreter, Goal::Claim(claim), &stop, &mut watch);
        let text = with_claim(&done.watched.expect("a run"), written, &system);
        text.lines().collect::<Vec<_>>().join(" ")
    }

    // SPIN's verifier writes the same trail.
    #[test]
    fn a_claim_moves_before_the_processes_and_ends_alone() {
        let model = "bit x; never { x == 0; x == 1 } active proctype P() { x = 1 }";
        assert_eq!(claimed(model), "-2:0:-2 1:0:0 2:1:3 3:0:1");
    }

    #[test]
    fn a_claim_waits_for_both_halves_of_a_rendezvous() {
        let model = "chan c = [0] of { bit };
            active proctype P() { do :: c!1 od }
            active proctype Q() { do :: c?_ od }
            never { accept: do :: true; len(c) == 0 od }";
        assert_eq!(claimed(model), "-2:2:-2 -1:-1:-1 1:0:10 2:1:0 3:2:5 4:0:11 5:1:0 6:2:5");
    }

    #[test]
    fn atomic_sequences_are_one_turn_and_the_claim_goes_on_after_the_processes() {
        let model = "bit x;
            active proctype P() { atomic { x = 1; x = 0 } }
            never { atomic { true; x == 0 }; accept: do :: x == 0 od }";
        assert_eq!(claimed(model), "-2:1:-2 1:0:4 2:0:5 3:1:0 4:1:1 5:0:7 6:1:3 -1:-1:-1 7:0:7");
    }

    #[test]
    fn remarks_are_understood() {
        let trail = read("-4:-4:-4\n-5:0:0\n1:0:9\n-1:-1:-1\n2:1:0\n").unwrap();
        assert!(trail.merged);
        assert_eq!(trail.cycle_start, Some(1));
        assert_eq!(trail.moves.len(), 2);
    }

    #[test]
    fn what_is_no_trail_is_refused_with_its_line() {
        for (text, line) in [
            ("hello\n", "line 1 "),
            ("1:0:9\n2:1\n", "line 2 "),
            ("1:0:9\n\n2:1:0:4\n", "line 2 "),
            ("1:0:99999999999999\n", "line 1 "),
            ("1:-7:3\n", "line 1:"),
            ("-2:0:-2\n1:-1:3\n", "line 2:"),
            ("\u{0}\u{1}binary", "line 1 "),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(line), "{text:?}: {error}");
        }
    }

    #[test]
    fn a_trail_is_known_by_its_beginning() {
        for trail in ["", "\n", "1:0:9\n", "-4:-4:-4\n1:0:9\n2:1", "-2:2:-2\n-4:-4:-4\n1:0:19"] {
            assert!(Trail::is_begun_by(trail.as_bytes()), "{trail:?}");
        }
        for other in ["byte x;\n", "1:0:9\nhello\n", "entail saved\r\n", "1, 2, 3", "\u{0}"] {
            assert!(!Trail::is_begun_by(other.as_bytes()), "{other:?}");
        }
    }

    #[test]
    fn endless_lines_are_refused_without_being_read() {
        let endless = std::io::BufReader::new(std::io::repeat(b'1'));
        assert!(Trail::read(endless).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            let _ = Trail::read(&bytes[..]);
        }

        #[test]
        fn a_damaged_trail_is_read_or_refused(at in 0usize..40, byte: u8) {
            let mut text = b"-2:1:-2\n-4:-4:-4\n1:0:9\n2:1:0\n-1:-1:-1\n3:2:65535\n".to_vec();
            text[at] = byte;
            let _ = Trail::read(&text[..]);
        }
    }
}
