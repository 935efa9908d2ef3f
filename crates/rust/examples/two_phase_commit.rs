//! Two-phase commit: a coordinator and some participants agree to commit or to abort.
//!
//! After Gray, Lamport: Consensus on transaction commit, ACM Transactions on Database Systems, 2006.
//!
//! `cargo run -p entail-rust --example two_phase_commit` checks the protocol; with `-- --hasty`, participants do not
//! wait for the coordinator after they have voted, and the check finds the resulting error.

use entail_rust::{Check, Error, Fairness, Model, Predicate, Property};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

pub struct TwoPhaseCommit {
    pub participants: usize,
    /// A participant that waits too long aborts on its own, even if it has voted to commit.
    pub hasty: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Status {
    Working,
    Prepared,
    Committed,
    Aborted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Message {
    /// A participant votes to commit.
    Prepared(usize),
    Commit,
    Abort,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    coordinator: Status,
    /// The votes that the coordinator has received.
    votes: BTreeSet<usize>,
    participants: Vec<Status>,
    /// All messages that were ever sent. They may arrive in any order, and more than once.
    messages: BTreeSet<Message>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    Vote(usize),
    GiveUp(usize),
    Obey(usize, Message),
    CountVote(usize),
    Decide(Message),
}

impl Model for TwoPhaseCommit {
    type State = State;
    type Action = Action;

    fn initial_states(&self) -> Vec<State> {
        let participants = vec![Status::Working; self.participants];
        vec![State {
            coordinator: Status::Working,
            votes: BTreeSet::new(),
            participants,
            messages: BTreeSet::new(),
        }]
    }

    fn actions(&self, _: &State) -> Vec<Action> {
        let of_participant = |number| {
            let obey = [Message::Commit, Message::Abort].map(|message| Action::Obey(number, message));
            [Action::Vote(number), Action::GiveUp(number), Action::CountVote(number)].into_iter().chain(obey)
        };
        let decide = [Message::Commit, Message::Abort].map(Action::Decide);
        (0..self.participants).flat_map(of_participant).chain(decide).collect()
    }

    fn next(&self, state: &State, action: &Action) -> Option<State> {
        let mut next = state.clone();
        match *action {
            Action::Vote(number) if state.participants[number] == Status::Working => {
                next.participants[number] = Status::Prepared;
                next.messages.insert(Message::Prepared(number));
            }
            Action::GiveUp(number) => match state.participants[number] {
                Status::Working => next.participants[number] = Status::Aborted,
                Status::Prepared if self.hasty => next.participants[number] = Status::Aborted,
                _ => return None,
            },
            Action::Obey(number, message) if state.messages.contains(&message) => {
                let status = if message == Message::Commit { Status::Committed } else { Status::Aborted };
                if matches!(state.participants[number], Status::Committed | Status::Aborted) {
                    return None;
                }
                next.participants[number] = status;
            }
            Action::CountVote(number)
                if state.coordinator == Status::Working && state.messages.contains(&Message::Prepared(number)) =>
            {
                if !next.votes.insert(number) {
                    return None;
                }
            }
            Action::Decide(message) if state.coordinator == Status::Working => {
                if message == Message::Commit && state.votes.len() < self.participants {
                    return None;
                }
                next.coordinator = if message == Message::Commit { Status::Committed } else { Status::Aborted };
                next.messages.insert(message);
            }
            Action::Vote(_) | Action::Obey(..) | Action::CountVote(_) | Action::Decide(_) => return None,
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("all agree", |_, state: &State| {
                !state.participants.contains(&Status::Committed) || !state.participants.contains(&Status::Aborted)
            }),
            Property::no_deadlock(),
            Property::eventually("all decide", |_, state: &State| all_decided(state)),
            Property::ltl("decisions are final", "[] (committed -> [] committed)"),
        ]
    }

    fn propositions(&self) -> Vec<(&'static str, Predicate<Self>)> {
        vec![("committed", |_, state: &State| state.participants.contains(&Status::Committed))]
    }

    fn may_end(&self, state: &State) -> bool {
        all_decided(state)
    }

    fn process(&self, action: &Action) -> usize {
        match *action {
            Action::CountVote(_) | Action::Decide(_) => 0,
            Action::Vote(number) | Action::GiveUp(number) | Action::Obey(number, _) => number + 1,
        }
    }

    fn processes(&self, _: &State) -> usize {
        self.participants + 1
    }
}

fn all_decided(state: &State) -> bool {
    state.participants.iter().all(|status| matches!(status, Status::Committed | Status::Aborted))
}

fn main() -> Result<(), Error> {
    let hasty = std::env::args().any(|word| word == "--hasty");
    let check = Check { fairness: Fairness::Weak, ..Check::default() };
    print!("{}", check.run(&TwoPhaseCommit { participants: 3, hasty })?);
    Ok(())
}
