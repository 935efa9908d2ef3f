//! A run as a message sequence chart, before it is drawn: what stands in which row, and which message goes where.

use super::options::ViewArgs;
use crate::run::{Direction, Passing, Run, Taken};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

pub struct Chart<'r> {
    /// A title for each process, by its number.
    pub lanes: Vec<String>,
    pub rows: Vec<Row<'r>>,
    /// Through channels, in the order in which they are sent.
    pub letters: Vec<Letter<'r>>,
    /// The rows that are repeated for ever, if there are any.
    pub round: Option<Range<usize>>,
}

pub struct Row<'r> {
    /// Counted from 0.
    pub step: usize,
    pub taken: &'r Taken<'r>,
    /// How many processes there were after the row before, and how many there are now.
    pub alive: (usize, usize),
    pub does: Does<'r>,
}

/// What is seen of a step.
pub enum Does<'r> {
    /// The model cannot even start.
    Nothing,
    /// Something that concerns nobody else.
    Local { lane: usize, text: &'r str },
    /// A message goes from hand to hand.
    Hands { from: usize, to: usize, text: String },
    /// Messages go into channels and come out of them.
    Posts { lane: usize, posts: Vec<Post<'r>> },
}

pub struct Post<'r> {
    /// That of the letter; none where it was in the channel from the beginning.
    pub letter: Option<usize>,
    pub passing: &'r Passing,
}

/// A message on its way through a channel.
pub struct Letter<'r> {
    pub passing: &'r Passing,
    /// In which steps it is sent and received.
    pub sent: usize,
    pub received: Option<usize>,
}

impl<'r> Chart<'r> {
    /// Of the steps that are wanted.
    pub fn of(run: &'r Run<'r>, options: &ViewArgs) -> Chart<'r> {
        let lanes = run.processes().into_iter().enumerate().map(|(number, name)| format!("{name}({number})"));
        let mut postman = Postman::default();
        let mut rows: Vec<Row> = Vec::new();
        for (step, taken) in run.steps.iter().enumerate() {
            let posts = taken.passings.iter().filter_map(|passing| postman.see(step, passing)).collect();
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
            let handed = taken.passings.iter().find(|passing| matches!(passing.way, Direction::Across));
            let text = handed.map_or_else(|| explained.statement.text.clone(), Passing::text);
            Does::Hands { from: lane, to, text }
        }
        None if posts.is_empty() => Does::Local { lane, text: &explained.statement.text },
        None => Does::Posts { lane, posts },
    }
}

/// Gives every message a number.
#[derive(Default)]
struct Postman<'r> {
    letters: Vec<Letter<'r>>,
    /// By when they are sent and received, and what they say: those that have not been received yet. A step may move equal
    /// messages through several channels; they are seen in the same order on both sides.
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
    /// With a number by which the other end is found.
    pub fn text(&self) -> String {
        let text = self.passing.text();
        self.letter.map_or_else(|| text.clone(), |letter| format!("({}) {text}", letter + 1))
    }
}

impl Does<'_> {
    /// Who acts.
    pub fn lane(&self) -> Option<usize> {
        match self {
            Does::Nothing => None,
            Does::Local { lane, .. } | Does::Posts { lane, .. } => Some(*lane),
            Does::Hands { from, .. } => Some(*from),
        }
    }

    /// What is written there.
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

    /// Whether the process is there before or after.
    pub fn has(&self, lane: usize) -> bool {
        lane < self.alive.0.max(self.alive.1)
    }
}
