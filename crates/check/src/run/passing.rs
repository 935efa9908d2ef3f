//! Matches receives with sends.

use super::{Snapshot, TraceStep};
use std::collections::HashMap;

/// A message that a step sends or receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passing {
    /// The name of the channel.
    pub channel: String,
    /// The message in Promela syntax.
    pub message: String,
    /// The direction.
    pub way: Direction,
}

/// The direction of a message. Steps are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Into a channel.
    In {
        /// The step at the other end, if it is part of the run.
        until: Option<usize>,
    },
    /// Out of a channel.
    Out {
        /// The step at the other end, if it is part of the run.
        since: Option<usize>,
    },
    /// By rendezvous.
    Across,
}

impl Passing {
    /// The operation in Promela syntax.
    pub fn text(&self) -> String {
        let Passing { channel, message, way } = self;
        let sign = match way {
            Direction::In { .. } | Direction::Across => '!',
            Direction::Out { .. } => '?',
        };
        format!("{channel}{sign}{message}")
    }
}

/// Follows messages through channels, step by step.
pub struct MessageMatcher {
    /// For each channel number, its messages, each with the index of the send.
    waiting: HashMap<i32, Vec<(String, Option<usize>)>>,
    /// The messages, each with its step.
    passings: Vec<(usize, Passing)>,
}

impl MessageMatcher {
    pub fn new(start: &Snapshot) -> MessageMatcher {
        let waiting = start.channels.iter().map(|channel| {
            let messages = channel.messages.iter().map(|message| (message.clone(), None));
            (channel.number, messages.collect())
        });
        MessageMatcher { waiting: waiting.collect(), passings: Vec::new() }
    }

    /// Adds a step.
    pub fn look(&mut self, step: usize, told: &TraceStep, after: &Snapshot) {
        let name_of = |number| {
            let channel = after.channels.iter().find(|channel| channel.number == number);
            channel.map_or_else(|| format!("#{number}"), |channel| channel.name.clone())
        };
        if let Some(explained) = &told.explained
            && let Some((number, message)) = &explained.handed
        {
            let (channel, message) = (name_of(*number), message.clone());
            self.passings.push((step, Passing { channel, message, way: Direction::Across }));
        }
        for channel in &after.channels {
            let before = self.waiting.remove(&channel.number).unwrap_or_default();
            let texts: Vec<&str> = before.iter().map(|(message, _)| message.as_str()).collect();
            let kept = kept(&texts, &channel.messages);
            for (index, (message, since)) in before.iter().enumerate() {
                if !kept.contains(&Some(index)) {
                    self.take_out(step, channel.name.clone(), message.clone(), *since);
                }
            }
            let now = channel.messages.iter().zip(&kept).map(|(message, kept)| match kept {
                Some(index) => before[*index].clone(),
                None => {
                    let way = Direction::In { until: None };
                    let (channel, message) = (channel.name.clone(), message.clone());
                    self.passings.push((step, Passing { channel, message: message.clone(), way }));
                    (message, Some(self.passings.len() - 1))
                }
            });
            let now = now.collect();
            self.waiting.insert(channel.number, now);
        }
        // The other channels ended with the process that created them.
        self.waiting.retain(|number, _| after.channels.iter().any(|channel| channel.number == *number));
    }

    fn take_out(&mut self, step: usize, channel: String, message: String, put_in: Option<usize>) {
        if let Some((_, Passing { way: Direction::In { until }, .. })) =
            put_in.map(|index| &mut self.passings[index])
        {
            *until = Some(step);
        }
        let since = put_in.map(|index| self.passings[index].0);
        self.passings.push((step, Passing { channel, message, way: Direction::Out { since } }));
    }

    /// All messages in order, each with its step.
    pub fn done(self) -> Vec<(usize, Passing)> {
        self.passings
    }
}

/// For each message of the channel, its previous index; `None` if it is new. Messages do not overtake each other.
///
/// Among equal messages, the first leaves and the last is new, as in a queue; other choices are indistinguishable.
fn kept(before: &[&str], now: &[String]) -> Vec<Option<usize>> {
    // A statement moves one message. A deterministic sequence removes messages at the front and appends at the back.
    let is_shifted = |gone: &usize| {
        let rest = &before[*gone..];
        rest.len() <= now.len() && rest.iter().zip(now).all(|(before, now)| before == now)
    };
    if let Some(gone) = (0..before.len()).find(is_shifted) {
        return (0..now.len()).map(|index| Some(index + gone).filter(|index| *index < before.len())).collect();
    }
    // Otherwise messages changed in the middle: a common subsequence has stayed.
    let mut next = 0;
    let find = |message: &String| {
        let found = next + before.get(next..)?.iter().position(|before| before == message)?;
        next = found + 1;
        Some(found)
    };
    now.iter().map(find).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept_of(before: &[&str], now: &[&str]) -> Vec<Option<usize>> {
        let now: Vec<String> = now.iter().map(|message| (*message).to_owned()).collect();
        kept(before, &now)
    }

    #[test]
    fn what_is_received_leaves_at_the_front() {
        assert_eq!(kept_of(&["a", "b"], &["b"]), [Some(1)]);
        assert_eq!(kept_of(&["a", "a"], &["a"]), [Some(1)]);
        assert_eq!(kept_of(&["a"], &[]), []);
    }

    #[test]
    fn what_is_sent_comes_at_the_back() {
        assert_eq!(kept_of(&["a"], &["a", "a"]), [Some(0), None]);
        assert_eq!(kept_of(&[], &["a"]), [None]);
    }

    #[test]
    fn messages_are_taken_from_the_middle_and_sorted_in() {
        assert_eq!(kept_of(&["a", "b", "c"], &["a", "c"]), [Some(0), Some(2)]);
        assert_eq!(kept_of(&["a", "c"], &["a", "b", "c"]), [Some(0), None, Some(1)]);
        assert_eq!(kept_of(&["b", "c"], &["a", "b", "c"]), [None, Some(0), Some(1)]);
    }

    #[test]
    fn a_sequence_receives_and_sends_at_once() {
        assert_eq!(kept_of(&["a", "b"], &["b", "c"]), [Some(1), None]);
        assert_eq!(kept_of(&["a"], &["b"]), [None]);
    }
}
