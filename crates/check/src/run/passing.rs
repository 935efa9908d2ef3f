//! Messages on their way: which receive belongs to which send.

use super::{Snapshot, TraceStep};
use std::collections::HashMap;

/// A message that is sent or received in a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passing {
    /// The name of the channel.
    pub channel: String,
    /// The message, as one would write it.
    pub message: String,
    /// From where to where it goes.
    pub way: Direction,
}

/// From where to where a message goes. Steps are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Into a channel; and in which step it is taken out again, if it is.
    In {
        /// That step.
        until: Option<usize>,
    },
    /// Out of a channel; and in which step it was put in, if that was in this run.
    Out {
        /// That step.
        since: Option<usize>,
    },
    /// From hand to hand.
    Across,
}

impl Passing {
    /// As one would write it in Promela.
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
    /// By the channel's number: its messages, each with the index of the passing that put it there.
    waiting: HashMap<i32, Vec<(String, Option<usize>)>>,
    /// With the step of each.
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

    /// Sees what the step has moved.
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
        // Others went away with the process that made them.
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

    /// All that was seen, each with its step, in order.
    pub fn done(self) -> Vec<(usize, Passing)> {
        self.passings
    }
}

/// For each message that is there now, which one of before it is, if it is not new. Messages do not overtake each other.
///
/// Of equal messages the first leaves and the last is new: that is what a queue does, and nobody can tell otherwise.
fn kept(before: &[&str], now: &[String]) -> Vec<Option<usize>> {
    // A statement moves one message, and a deterministic sequence takes from the front and puts to the back.
    let is_shifted = |gone: &usize| {
        let rest = &before[*gone..];
        rest.len() <= now.len() && rest.iter().zip(now).all(|(before, now)| before == now)
    };
    if let Some(gone) = (0..before.len()).find(is_shifted) {
        return (0..now.len()).map(|index| Some(index + gone).filter(|index| *index < before.len())).collect();
    }
    // Or something happens in the middle: what can be found again in order has stayed.
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
