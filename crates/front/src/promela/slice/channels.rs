//! Which variables may hold the same channel. Channels are assigned, passed to processes and sent in messages. If one
//! may flow into the other, they are in one class; directions are ignored.
//!
//! After Steensgaard: Points-to analysis in almost linear time, POPL 1996.

use super::names::{Names, VarId};
use std::collections::HashSet;

/// A class of channels that may be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Class(pub u32);

/// A flow of values.
#[derive(Clone, Debug)]
pub enum Move {
    /// From any of these variables into one.
    Into(VarId, Vec<VarId>),
    /// From any of these into messages of a channel.
    Sent(VarId, Vec<VarId>),
    /// From messages of a channel into a variable.
    Received(VarId, VarId),
}

#[derive(Debug)]
pub struct Channels {
    parent: Vec<u32>,
    /// The class that messages of a class contain.
    content: Vec<Option<u32>>,
    holds: Vec<bool>,
    /// Variables that are assigned to.
    written: HashSet<VarId>,
}

impl Channels {
    pub fn of(names: &Names, moves: &[Move]) -> Channels {
        let count = names.vars.len();
        let written = moves.iter().filter_map(|step| match step {
            Move::Into(to, _) | Move::Received(_, to) => Some(*to),
            Move::Sent(..) => None,
        });
        let mut channels = Channels {
            parent: (0..count as u32).collect(),
            content: vec![None; count],
            holds: names.vars.iter().map(|var| var.holds_channels()).collect(),
            written: written.collect(),
        };
        let state = |it: &Channels| (it.parent.clone(), it.content.clone(), it.holds.clone());
        loop {
            let before = state(&channels);
            moves.iter().for_each(|step| channels.follow(step));
            if state(&channels) == before {
                return channels;
            }
        }
    }

    /// The channels that a variable may hold.
    pub fn class(&self, var: VarId) -> Class {
        Class(self.root(var.0))
    }

    /// Whether a variable is assigned to.
    pub fn is_written(&self, var: VarId) -> bool {
        self.written.contains(&var)
    }

    fn follow(&mut self, step: &Move) {
        match step {
            Move::Into(to, from) => from.iter().for_each(|from| self.flow(from.0, to.0)),
            Move::Sent(channel, from) => {
                let content = self.content_of(channel.0);
                from.iter().for_each(|from| self.flow(from.0, content));
            }
            Move::Received(channel, to) => {
                let content = self.content_of(channel.0);
                self.flow(content, to.0);
            }
        }
    }

    /// Numbers flow freely; classes are joined only if a channel may be involved.
    fn flow(&mut self, from: u32, to: u32) {
        let (from, to) = (self.root(from), self.root(to));
        if self.holds[from as usize] || self.holds[to as usize] {
            self.unite(from, to);
        }
    }

    fn content_of(&mut self, var: u32) -> u32 {
        let root = self.root(var);
        match self.content[root as usize] {
            Some(content) => content,
            None => {
                let new = self.parent.len() as u32;
                self.parent.push(new);
                self.content.push(None);
                self.holds.push(false);
                self.content[root as usize] = Some(new);
                new
            }
        }
    }

    fn unite(&mut self, one: u32, other: u32) {
        let mut pending = vec![(one, other)];
        while let Some((one, other)) = pending.pop() {
            let (one, other) = (self.root(one), self.root(other));
            if one == other {
                continue;
            }
            let (keep, gone) = (one.min(other), one.max(other));
            self.parent[gone as usize] = keep;
            self.holds[keep as usize] |= self.holds[gone as usize];
            match (self.content[keep as usize], self.content[gone as usize]) {
                (Some(left), Some(right)) => pending.push((left, right)),
                (None, content) => self.content[keep as usize] = content,
                (Some(_), None) => {}
            }
        }
    }

    fn root(&self, mut node: u32) -> u32 {
        while self.parent[node as usize] != node {
            node = self.parent[node as usize];
        }
        node
    }
}
