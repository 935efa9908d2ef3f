//! What those may do who are not there yet.
//!
//! They use the channels that they are given when they are started, and their own, which nobody has now. Who knows that sees
//! that they do not meddle with those of others.

use std::collections::{HashMap, HashSet};

use super::settled::Facts;
use crate::footprint::{Footprint, Known, Span, Surveyor, gone};
use crate::{Init, ProcessTypeId, Run};

/// Which channels variables stand for: where these begin, and some channels.
type Channels = Vec<(u32, Span)>;

/// If more kinds of newcomers may follow one, nothing is known of their channels.
const MOST_KINDS: usize = 16;

/// The lives of those who may be started, each found out once.
pub(super) struct Newcomers<'a> {
    surveyor: &'a Surveyor<'a>,
    facts: &'a Facts<'a>,
    kinds: HashMap<(ProcessTypeId, Channels), usize>,
    /// Of each kind.
    lives: Vec<Footprint>,
}

impl<'a> Newcomers<'a> {
    pub fn new(surveyor: &'a Surveyor<'a>, facts: &'a Facts<'a>) -> Self {
        Newcomers { surveyor, facts, kinds: HashMap::new(), lives: Vec::new() }
    }

    /// The kind of those whom a process of this type starts.
    pub fn kind(&mut self, run: &Run, by: ProcessTypeId, starter: Known) -> usize {
        let kind = (run.process_type, self.channels(run, by, starter));
        if let Some(known) = self.kinds.get(&kind) {
            return *known;
        }
        self.lives.push(self.find_out(&kind));
        self.kinds.insert(kind, self.lives.len() - 1);
        self.lives.len() - 1
    }

    /// All that may ever be done by somebody of a kind, and by those whom that one starts.
    pub fn life(&self, kind: usize) -> &Footprint {
        &self.lives[kind]
    }

    fn find_out(&self, kind: &(ProcessTypeId, Channels)) -> Footprint {
        let (mut life, mut known, mut waiting) =
            (Footprint::default(), HashSet::from([kind.clone()]), vec![kind.clone()]);
        while let Some((of, channels)) = waiting.pop() {
            let newcomer = Known { channels: &channels, ..self.facts.of_anybody().of_newcomers() };
            for (edge, footprint) in self.surveyor.of_process(of, newcomer) {
                life.join(&footprint);
                self.surveyor.system().edge(edge).action.each_run(&mut |run| {
                    let is_known = known.len() < MOST_KINDS;
                    let channels = if is_known { self.channels(run, of, newcomer) } else { Channels::new() };
                    if known.insert((run.process_type, channels.clone())) {
                        waiting.push((run.process_type, channels));
                    }
                });
            }
        }
        // Whoever goes might have met them.
        life.reads.extend(gone(&life.waits));
        life
    }

    /// What is known of the channels of somebody who is started, as long as he lives.
    fn channels(&self, run: &Run, by: ProcessTypeId, starter: Known) -> Channels {
        let process = self.surveyor.system().process_type(run.process_type);
        let given = process.params.iter().zip(&run.args);
        let given = given.map(|(place, arg)| (place, self.surveyor.channels(arg, by, starter)));
        let made = process.frame.init.iter().filter_map(|init| match init {
            Init::Channel(place, _) => Some((place, starter.new_channels?)),
            Init::Value(..) => None,
        });
        let settled = given.chain(made).filter(|(place, _)| self.facts.is_settled(run.process_type, place));
        settled.map(|(place, span)| (place.offset, span)).collect()
    }
}
