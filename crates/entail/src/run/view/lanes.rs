//! The structure of a message sequence chart, independent of its drawing.

use super::options::ViewArgs;
use crate::run::{Direction, Passing, Run, Taken};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

pub struct Chart<'r> {
    /// The title of each process, by number.
    pub lanes: Vec<String>,
    pub rows: Vec<Row<'r>>,
    /// Messages through channels, in the order of their sends.
    pub letters: Vec<Letter<'r>>,
    /// The rows of the cycle, if the run is infinite.
    pub round: Option<Range<usize>>,
}

pub struct Row<'r> {
    /// The step, counted from 0.
    pub step: usize,
    pub taken: &'r Taken<'r>,
    /// The numbers of processes after the previous row and after this one.
    pub alive: (usize, usize),
    pub does: Does<'r>,
}

/// The content of a row.
pub enum Does<'r> {
    /// The model cannot start.
    Nothing,
    /// A step without messages.
    Local { lane: usize, text: &'r str },
    /// A rendezvous.
    Hands { from: usize, to: usize, text: String },
    /// Sends and receives through channels.
    Posts { lane: usize, posts: Vec<Post<'r>> },
}

pub struct Post<'r> {
    /// The index of the message; `None` if it was in the channel initially.
    pub letter: Option<usize>,
    pub passing: &'r Passing,
}

/// A message through a channel.
pub struct Letter<'r> {
    pub passing: &'r Passing,
    /// The steps of its send and its receive.
    pub sent: usize,
    pub received: Option<usize>,
}

impl<'r> Chart<'r> {
    /// The chart of the selected steps.
    pub fn of(run: &'r Run<'r>, options: &ViewArgs) -> Chart<'r> {
        let lanes = run.processes().into_iter().enumerate().map(|(number, name)| format!("{name}({number})"));
        let mut postman = Postman::default();
        let mut rows: Vec<Row> = Vec::new();
        for (step, taken) in run.steps.iter().enumerate() {
            let posts = taken.messages.iter().filter_map(|passing| postman.see(step, passing)).collect();
            if options.wants(taken) {
                let before = rows.last().map_or(run.start.processes.len(), |row| row.alive.1);
                let alive = (before, taken.after.processes.len());
                rows.push(Row { step, taken, alive, does: does(taken, posts) });
            }
        }
        let begin = run.cycle_start.map(|start| rows.partition_point(|row| row.step < start));
        let round = begin.map(|begin| begin..rows.len()).filter(|round| !round.is_empty());
        Chart { lanes: lanes.collect(), rows, letters: postman.letters, round }
    }
}

fn does<'r>(taken: &'r Taken, posts: Vec<Post<'r>>) -> Does<'r> {
    let Some(explained) = &taken.told.explained else { return Does::Nothing };
    let lane = explained.process;
    match explained.partner {
        Some((to, ..)) => {
            let handed = taken.messages.iter().find(|passing| matches!(passing.way, Direction::Across));
            let text = handed.map_or_else(|| explained.statement.text.clone(), Passing::text);
            Does::Hands { from: lane, to, text }
        }
        None if posts.is_empty() => Does::Local { lane, text: &explained.statement.text },
        None => Does::Posts { lane, posts },
    }
}

/// Numbers the messages.
#[derive(Default)]
struct Postman<'r> {
    letters: Vec<Letter<'r>>,
    /// Messages in channels, by the steps of send and receive and by content. A step may move equal messages through
    /// several channels; both sides list them in the same order.
    under_way: HashMap<(usize, usize, &'r str), VecDeque<usize>>,
}

impl<'r> Postman<'r> {
    fn see(&mut self, step: usize, passing: &'r Passing) -> Option<Post<'r>> {
        let message = passing.message.as_str();
        let letter = match passing.way {
            Direction::Across => return None,
            Direction::In { until } => {
                let letter = self.letters.len();
                self.letters.push(Letter { passing, sent: step, received: until });
                if let Some(until) = until {
                    self.under_way.entry((step, until, message)).or_default().push_back(letter);
                }
                Some(letter)
            }
            Direction::Out { since } => {
                let waiting = since.and_then(|since| self.under_way.get_mut(&(since, step, message)));
                waiting.and_then(VecDeque::pop_front)
            }
        };
        Some(Post { letter, passing })
    }
}

impl Post<'_> {
    /// The text with the number of the message.
    pub fn text(&self) -> String {
        let text = self.passing.text();
        self.letter.map_or_else(|| text.clone(), |letter| format!("({}) {text}", letter + 1))
    }
}

impl Does<'_> {
    /// The lane of the acting process.
    pub fn lane(&self) -> Option<usize> {
        match self {
            Does::Nothing => None,
            Does::Local { lane, .. } | Does::Posts { lane, .. } => Some(*lane),
            Does::Hands { from, .. } => Some(*from),
        }
    }

    /// The text in the lane.
    pub fn text(&self) -> String {
        match self {
            Does::Nothing => String::new(),
            Does::Local { text, .. } => (*text).to_owned(),
            Does::Hands { text, .. } => text.clone(),
            Does::Posts { posts, .. } => posts.iter().map(Post::text).collect::<Vec<_>>().join(" "),
        }
    }
}

impl Row<'_> {
    pub fn starts(&self, lane: usize) -> bool {
        (self.alive.0..self.alive.1).contains(&lane)
    }

    pub fn ends(&self, lane: usize) -> bool {
        (self.alive.1..self.alive.0).contains(&lane)
    }

    /// Whether the process exists before or after the row.
    pub fn has(&self, lane: usize) -> bool {
        lane < self.alive.0.max(self.alive.1)
    }
}
