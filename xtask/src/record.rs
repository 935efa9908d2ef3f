//! Records SPIN's answers on random models, so that machines without SPIN can compare too.

use crate::Result;
use entail_testkit::promela::Program;
use entail_testkit::spin::{SpinAnswer, Status};
use std::path::Path;

const HEADER: &str = "seed,program,accepted,stored,transitions,errors,status";

pub struct Row {
    pub seed: u64,
    /// Of the program's text: a record for another generator's programs is invalid.
    fingerprint: u64,
    pub answer: SpinAnswer,
}

impl Row {
    /// `None` if the answer is unreliable.
    pub fn new(seed: u64, program: &Program, answer: SpinAnswer) -> Option<Self> {
        status_word(&answer.status)?;
        Some(Self { seed, fingerprint: fingerprint(program), answer })
    }

    pub fn is_about(&self, program: &Program) -> bool {
        self.fingerprint == fingerprint(program)
    }
}

pub fn write(file: &Path, rows: &[Row]) -> Result<()> {
    let mut text = String::from(HEADER);
    for Row { seed, fingerprint, answer } in rows {
        let SpinAnswer { accepted, stored, transitions, errors, status, .. } = answer;
        let status = status_word(status).expect("rows hold facts only");
        text += &format!("\n{seed},{fingerprint:016x},{accepted},{stored},{transitions},{errors},{status}");
    }
    Ok(std::fs::write(file, text + "\n")?)
}

pub fn read(file: &Path) -> Result<Vec<Row>> {
    let text = std::fs::read_to_string(file).map_err(|problem| format!("{}: {problem}", file.display()))?;
    let row = |line: &str| parse(line).ok_or_else(|| format!("{}: bad row: {line}", file.display()).into());
    text.lines().skip(1).map(row).collect()
}

fn parse(line: &str) -> Option<Row> {
    let [seed, fingerprint, accepted, stored, transitions, errors, status] =
        line.split(',').collect::<Vec<_>>().try_into().ok()?;
    let answer = SpinAnswer {
        accepted: accepted.parse().ok()?,
        stored: stored.parse().ok()?,
        transitions: transitions.parse().ok()?,
        errors: errors.parse().ok()?,
        status: match status {
            "complete" => Status::Complete,
            "rejected" => Status::Rejected,
            "faulty" => Status::Faulty("a fault on record".into()),
            _ => return None,
        },
        ..SpinAnswer::default()
    };
    Some(Row { seed: seed.parse().ok()?, fingerprint: u64::from_str_radix(fingerprint, 16).ok()?, answer })
}

fn status_word(status: &Status) -> Option<&'static str> {
    match status {
        Status::Complete => Some("complete"),
        Status::Rejected => Some("rejected"),
        Status::Faulty(_) => Some("faulty"),
        Status::DoesNotCompile | Status::Limit(_) | Status::Crashed => None,
    }
}

/// FNV-1a, which is the same on every machine and in every version.
fn fingerprint(program: &Program) -> u64 {
    program
        .to_string()
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use entail_testkit::promela::generate;

    #[test]
    fn what_is_written_is_read_back() {
        let answer = SpinAnswer {
            accepted: true,
            stored: 12,
            transitions: 34,
            errors: 5,
            status: Status::Complete,
            ..SpinAnswer::default()
        };
        let file = tempfile::NamedTempFile::new().unwrap();
        let program = generate(7);
        write(file.path(), &[Row::new(7, &program, answer.clone()).unwrap()]).unwrap();
        let rows = read(file.path()).unwrap();
        assert_eq!((rows.len(), rows[0].seed, &rows[0].answer), (1, 7, &answer));
        assert!(rows[0].is_about(&program) && !rows[0].is_about(&generate(8)));
    }
}
