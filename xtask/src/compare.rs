//! Compares two answers.

use crate::entail::Answer;
use entail_testkit::promela::Compare;
use entail_testkit::spin::{SpinAnswer, Status};

/// The result of comparing a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    Same,
    /// SPIN has no answer to compare with.
    Skipped(&'static str),
    Different(String),
}

/// Compares the counts of a search of the model as written.
pub fn counts(compare: Compare, spin: &SpinAnswer, entail: &Answer) -> Comparison {
    match &spin.status {
        Status::Rejected => match entail {
            Answer::Rejected(_) => Comparison::Same,
            _ => different(format!("SPIN rejects the model, entail does not: {}", describe(entail))),
        },
        Status::DoesNotCompile => Comparison::Skipped("SPIN's C code does not compile"),
        Status::Limit(_) => Comparison::Skipped("SPIN reached a limit"),
        Status::Crashed => Comparison::Skipped("SPIN's verifier crashed"),
        Status::Faulty(_) => verdict(spin, entail),
        Status::Complete if compare == Compare::VerdictOnly => verdict(spin, entail),
        Status::Complete => match entail {
            Answer::Checked(counts) => {
                let pairs = [
                    ("states", spin.stored, counts.stored),
                    ("transitions", spin.transitions, counts.transitions),
                    ("errors", spin.errors, counts.errors),
                ];
                let differing = pairs.iter().filter(|(_, theirs, ours)| *theirs != as_printed_by_pan(*ours));
                let parts: Vec<_> =
                    differing.map(|(what, theirs, ours)| format!("{what}: SPIN {theirs}, entail {ours}")).collect();
                if parts.is_empty() { verdict(spin, entail) } else { different(parts.join("; ")) }
            }
            _ => different(format!("SPIN checks the model, entail does not: {}", describe(entail))),
        },
    }
}

/// `pan` prints the first eight digits of a number.
fn as_printed_by_pan(count: u64) -> u64 {
    format!("{count:.7e}").parse::<f64>().map_or(count, |rounded| rounded as u64)
}

/// Compares only the existence of errors.
pub fn verdict(spin: &SpinAnswer, entail: &Answer) -> Comparison {
    match (&spin.status, entail) {
        (Status::Complete | Status::Faulty(_), Answer::Checked(counts)) => {
            let word = |violated| if violated { "violated" } else { "holds" };
            let theirs = spin.errors > 0 || matches!(spin.status, Status::Faulty(_));
            if theirs == counts.violated {
                Comparison::Same
            } else {
                different(format!("verdict: SPIN {}, entail {}", word(theirs), word(counts.violated)))
            }
        }
        (Status::Complete | Status::Faulty(_), other) => {
            different(format!("SPIN checks the model, entail does not: {}", describe(other)))
        }
        _ => Comparison::Skipped("SPIN has no verdict"),
    }
}

/// A summary of an answer.
pub fn describe(answer: &Answer) -> String {
    match answer {
        Answer::Checked(counts) => {
            format!("{} states, {} transitions, {} errors", counts.stored, counts.transitions, counts.errors)
        }
        Answer::Rejected(why) => format!("rejected: {why}"),
        Answer::Inconclusive => "inconclusive".into(),
        Answer::Broken(why) => format!("broken: {why}"),
    }
}

/// A summary of SPIN's answer.
pub fn describe_spin(answer: &SpinAnswer) -> String {
    let counts = format!("{} states, {} transitions, {} errors", answer.stored, answer.transitions, answer.errors);
    match &answer.status {
        Status::Complete => counts,
        Status::Faulty(fault) => format!("{fault}; {counts}"),
        Status::Rejected => "rejected".into(),
        Status::DoesNotCompile => "its C code does not compile".into(),
        Status::Limit(which) => format!("limit reached: {which}"),
        Status::Crashed => "crashed".into(),
    }
}

fn different(how: String) -> Comparison {
    Comparison::Different(how)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entail::Counts;

    fn spin(status: Status, errors: u64) -> SpinAnswer {
        SpinAnswer { accepted: true, stored: 10, transitions: 20, errors, status, ..SpinAnswer::default() }
    }

    fn entail(stored: u64, errors: u64) -> Answer {
        Answer::Checked(Counts { violated: errors > 0, errors, stored, transitions: 20, ..Counts::default() })
    }

    #[test]
    fn every_count_is_compared() {
        let compare = |ours| counts(Compare::Everything, &spin(Status::Complete, 0), &ours);
        assert_eq!(compare(entail(10, 0)), Comparison::Same);
        assert_eq!(compare(entail(11, 0)), Comparison::Different("states: SPIN 10, entail 11".into()));
        assert_eq!(compare(entail(10, 1)), Comparison::Different("errors: SPIN 0, entail 1".into()));
    }

    #[test]
    fn eight_digits_of_large_counts_are_compared() {
        let theirs = SpinAnswer { stored: 106_776_820, ..spin(Status::Complete, 0) };
        let compare = |stored| counts(Compare::Everything, &theirs, &entail(stored, 0));
        assert_eq!(compare(106_776_824), Comparison::Same);
        assert_ne!(compare(106_776_834), Comparison::Same);
        assert_eq!(as_printed_by_pan(93_278_861), 93_278_861);
    }

    #[test]
    fn only_the_verdict_counts_where_spin_is_undefined() {
        assert_eq!(counts(Compare::VerdictOnly, &spin(Status::Complete, 2), &entail(99, 1)), Comparison::Same);
        let faulty = spin(Status::Faulty("block in d_step seq".into()), 1);
        assert_eq!(counts(Compare::Everything, &faulty, &entail(99, 5)), Comparison::Same);
    }

    #[test]
    fn both_must_reject_a_wrong_model() {
        let rejected = SpinAnswer::default();
        let ours = Answer::Rejected("no such variable".into());
        assert_eq!(counts(Compare::Everything, &rejected, &ours), Comparison::Same);
        assert_ne!(counts(Compare::Everything, &rejected, &entail(1, 0)), Comparison::Same);
    }
}
