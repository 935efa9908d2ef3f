//! The footprints of processes that do not exist yet.
//!
//! A process uses the channels that are passed to it and those that it creates. No process that exists uses the
//! latter, so that most dependencies on processes to come disappear.

use std::collections::{HashMap, HashSet};

use super::frozen::FrozenValues;
use crate::footprint::{Footprint, FootprintAnalysis, Known, Span, gone};
use crate::{Init, ProcessTypeId, Run};

/// The channels that variables denote: the offset of each variable, and a range of channels.
type Channels = Vec<(u32, Span)>;

/// If a process may start, directly or indirectly, more kinds than this, nothing is assumed about their channels.
const MOST_KINDS: usize = 16;

/// The footprints of processes that may be started, each computed once.
pub(super) struct SpawnedProcesses<'a> {
    analysis: &'a FootprintAnalysis<'a>,
    facts: &'a FrozenValues<'a>,
    kinds: HashMap<(ProcessTypeId, Channels), usize>,
    /// By kind.
    lives: Vec<Footprint>,
}

impl<'a> SpawnedProcesses<'a> {
    pub fn new(analysis: &'a FootprintAnalysis<'a>, facts: &'a FrozenValues<'a>) -> Self {
        SpawnedProcesses { analysis, facts, kinds: HashMap::new(), lives: Vec::new() }
    }

    /// The kind of process that this `run` starts.
    pub fn kind(&mut self, run: &Run, by: ProcessTypeId, starter: Known) -> usize {
        let kind = (run.process_type, self.channels(run, by, starter));
        if let Some(known) = self.kinds.get(&kind) {
            return *known;
        }
        self.lives.push(self.find_out(&kind));
        self.kinds.insert(kind, self.lives.len() - 1);
        self.lives.len() - 1
    }

    /// Everything that a process of this kind, and the processes that it starts, may ever do.
    pub fn life(&self, kind: usize) -> &Footprint {
        &self.lives[kind]
    }

    fn find_out(&self, kind: &(ProcessTypeId, Channels)) -> Footprint {
        let (mut life, mut known, mut waiting) =
            (Footprint::default(), HashSet::from([kind.clone()]), vec![kind.clone()]);
        while let Some((of, channels)) = waiting.pop() {
            let spawned = Known { channels: &channels, ..self.facts.of_anybody().of_spawned() };
            for (edge, footprint) in self.analysis.of_process(of, spawned) {
                life.join(&footprint);
                self.analysis.system().edge(edge).action.each_run(&mut |run| {
                    let is_known = known.len() < MOST_KINDS;
                    let channels = if is_known { self.channels(run, of, spawned) } else { Channels::new() };
                    if known.insert((run.process_type, channels.clone())) {
                        waiting.push((run.process_type, channels));
                    }
                });
            }
        }
        // A process that leaves a rendezvous may have been their partner.
        life.reads.extend(gone(&life.waits));
        life
    }

    /// The channels of a process that is started, as far as they are known and never change.
    fn channels(&self, run: &Run, by: ProcessTypeId, starter: Known) -> Channels {
        let process = self.analysis.system().process_type(run.process_type);
        let given = process.params.iter().zip(&run.args);
        let given = given.map(|(place, arg)| (place, self.analysis.channels(arg, by, starter)));
        let made = process.frame.init.iter().filter_map(|init| match init {
            Init::Channel(place, _) => Some((place, starter.new_channels?)),
            Init::Value(..) => None,
        });
        let frozen = given.chain(made).filter(|(place, _)| self.facts.is_frozen(run.process_type, place));
        frozen.map(|(place, span)| (place.offset, span)).collect()
    }
}
