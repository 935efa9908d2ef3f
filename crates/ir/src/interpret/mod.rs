//! The interpreter: the reference for every faster engine.

mod engine;
mod eval;
mod explain;
mod fire;
mod inventory;
pub mod layout;
mod numbers;
mod reclaim;
mod waiting;
mod watch;

pub use engine::{Code, Codes, Engine, Exclusive, Far, Kind, Sink, Source, Words};
pub use explain::Explained;
pub use inventory::{Change, Contents, ProcessStatus};
pub use layout::{ChannelLayout, ChannelView, Layout, ProcessVector, ProcessView, View};
pub use numbers::{Number, StateNumbers};
pub use waiting::Waiting;

use crate::monitor::{MonitorEdge, Rule};
use crate::{Action, Edge, EdgeId, Expr, Location, ProcessTypeId, System};
use entail_model::{
    Concurrent, Deadline, Fault, FaultKind, Fired, Marks, Model, Propositional, State, StateBuf, Valuation,
};
use eval::Evaluator;
use reclaim::References;

/// SPIN's limit, and ours: a process number fits into a byte with one value to spare.
pub const MAX_PROCESSES: usize = 255;
/// Likewise for channels; number 0 means none.
pub const MAX_CHANNELS: usize = 255;
/// Larger states are a mistake of the model. Compiled code relies on this limit.
pub const MAX_STATE_BYTES: usize = 500 << 10;

/// A system, ready to run.
#[derive(Debug)]
pub struct Interpreter<'s> {
    system: &'s System,
    layout: Layout,
    references: References,
    uses_timeout: bool,
    /// Whether a proposition depends on `timeout`, directly or through `enabled`.
    asks_timeout: bool,
    deadline: Deadline<'s>,
}

/// A step: an edge of a process, and in a rendezvous also the edge of the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Step(u64);

/// A message that a sender offers in a rendezvous.
pub(crate) struct Offer {
    channel: i32,
    /// Its fields, or the fault of their evaluation.
    fields: Evaluated<Vec<i32>>,
}

impl<'s> Interpreter<'s> {
    pub fn new(system: &'s System) -> Self {
        let uses_timeout = system.edges.iter().any(|edge| edge.action.mentions_timeout());
        let asks_timeout = system.propositions.iter().any(|(condition, _)| {
            let mut asks = false;
            condition.each(&mut |part| {
                asks |= matches!(part, Expr::Timeout) || uses_timeout && matches!(part, Expr::Enabled(_));
            });
            asks
        });
        let (layout, references) = (Layout::new(system), References::new(system));
        Interpreter { system, layout, references, uses_timeout, asks_timeout, deadline: Deadline::NEVER }
    }

    /// The same interpreter with a deadline for long computations.
    pub fn until(self, deadline: Deadline<'s>) -> Self {
        Interpreter { deadline, ..self }
    }

    pub fn deadline(&self) -> Deadline<'s> {
        self.deadline
    }

    /// The fault of the initial state, if an invariant fails there.
    pub fn broken_start(&self) -> Option<Fault> {
        self.start(&mut vec![0; self.layout.first_process]).err().filter(|fault| fault.kind == FaultKind::Invariant)
    }

    pub fn system(&self) -> &'s System {
        self.system
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The marks of a state with a known process vector.
    pub fn marks_with(&self, state: &State, vector: &ProcessVector) -> Marks {
        let processes = vector.types.iter().zip(&vector.starts);
        let marks = marks_of(processes.map(|(&process_type, &start)| {
            let process_type = ProcessTypeId(process_type as u16);
            let location = self.layout.location(state, start as usize);
            &self.system.process_type(process_type).locations[location.index()]
        }));
        self.monitored(marks, state)
    }

    /// The marks of a state if the monitor decides about end states: where processes may end, and some exist, it must
    /// be in an end state too.
    fn monitored(&self, marks: Marks, state: &State) -> Marks {
        let (Some(watch), Some(monitor)) = (self.layout.watch, &self.system.monitor) else { return marks };
        let is_end = || monitor.states[self.layout.watch(state, watch)].end;
        let stays = marks.valid_end && state[self.layout.process_count] > 0;
        Marks { valid_end: monitor.rule == Rule::Forbids || !stays || is_end(), ..marks }
    }

    /// The edges of the monitor in a state.
    pub fn awaited(&self, state: &State) -> Option<&'s [MonitorEdge]> {
        let (watch, monitor) = (self.layout.watch?, self.system.monitor.as_ref()?);
        Some(&monitor.states[self.layout.watch(state, watch)].edges)
    }

    /// The positions of the processes and channels of `state`.
    pub fn view(&self, state: &State) -> View {
        self.layout.view(self.system, state)
    }

    fn steps_of_all(&self, state: &State, view: &View, timeout: bool, steps: &mut Vec<Step>) {
        let exclusive = usize::from(state[0]);
        let of_one = |process: usize, steps: &mut Vec<Step>| {
            self.steps_of_one(&Evaluator { timeout, ..self.evaluator(state, view, process) }, steps);
        };
        match exclusive.checked_sub(1) {
            Some(process) => of_one(process, steps),
            None => self.in_turn(view.processes.len(), |process| of_one(process, steps)),
        }
    }

    /// Calls `each` for the processes, in the order of their steps.
    fn in_turn(&self, processes: usize, mut each: impl FnMut(usize)) {
        if self.system.oldest_first {
            (0..processes).for_each(each);
        } else {
            (0..processes).rev().for_each(&mut each);
        }
    }

    /// The steps of the evaluator's process.
    fn steps_of_one(&self, evaluator: &Evaluator<'_>, steps: &mut Vec<Step>) {
        if !self.may_move(evaluator) {
            return;
        }
        self.each_possible_edge(evaluator, |edge_id, edge| {
            let Some(send) = rendezvous(edge, evaluator) else {
                steps.push(Step::new(evaluator.process, edge_id, evaluator.timeout));
                return true;
            };
            let before = steps.len();
            match evaluator.offer_of(send) {
                Ok(offer) => self.partners(evaluator, &offer, |partner, partner_edge| {
                    steps.push(Step::rendezvous(
                        evaluator.process,
                        edge_id,
                        partner,
                        partner_edge,
                        evaluator.timeout,
                    ));
                }),
                Err(_) => steps.push(Step::new(evaluator.process, edge_id, evaluator.timeout)),
            }
            steps.len() > before
        });
    }

    /// Every edge of another process that accepts the offer.
    fn partners(&self, sender: &Evaluator<'_>, offer: &Offer, mut each: impl FnMut(usize, EdgeId)) {
        self.in_turn(sender.view.processes.len(), |partner| {
            let evaluator = Evaluator { process: partner, offer: Some(offer), ..*sender };
            if partner != sender.process && self.may_move(&evaluator) {
                self.each_possible_edge(&evaluator, |edge_id, _| {
                    each(partner, edge_id);
                    true
                });
            }
        });
    }

    /// Calls `take` for every enabled edge of the evaluator's process. `take` returns whether the edge can be taken,
    /// which in a rendezvous depends on partners.
    fn each_possible_edge(&self, evaluator: &Evaluator<'_>, mut take: impl FnMut(EdgeId, &'s Edge) -> bool) {
        let process = evaluator.view.processes[evaluator.process];
        let location = &self.system.process_type(process.process_type).locations[process.location.index()];
        let mut moved = evaluator.moved;
        let mut escaped = None;
        for id in location.first..location.first + location.count {
            let edge = self.system.edge(EdgeId(id));
            if escaped.is_some() && edge.escape != escaped {
                break;
            }
            let possible = if edge.action.waits_for_others() {
                !moved && evaluator.offer.is_none()
            } else {
                // A guard that cannot be evaluated counts as possible, so that the fault is met when it fires.
                Evaluator { moved, ..*evaluator }.possible(&edge.action).unwrap_or(true)
            };
            if possible && take(EdgeId(id), edge) {
                escaped = edge.escape;
                moved = true;
            }
        }
    }

    /// Whether the `provided` clause and the priorities let the process move.
    fn may_move(&self, evaluator: &Evaluator<'_>) -> bool {
        self.is_provided(evaluator) && (!self.system.uses_priorities || self.has_precedence(evaluator))
    }

    fn is_provided(&self, evaluator: &Evaluator<'_>) -> bool {
        let process_type = evaluator.view.processes[evaluator.process].process_type;
        let provided = self.system.process_type(process_type).provided.as_ref();
        provided.is_none_or(|condition| evaluator.eval(condition).is_ok_and(|value| value != 0))
    }

    /// Whether no process of higher priority could move.
    fn has_precedence(&self, evaluator: &Evaluator<'_>) -> bool {
        let priority =
            |process: usize| self.layout.priority(evaluator.state, evaluator.view.processes[process].start);
        let mine = priority(evaluator.process);
        (0..evaluator.view.processes.len()).all(|other| {
            other == evaluator.process || priority(other) <= mine || {
                let other = Evaluator { process: other, ..*evaluator };
                !self.is_provided(&other) || !self.could_move(&other)
            }
        })
    }

    /// Whether the process could move by itself: the meaning of `enabled()`. A rendezvous counts without a partner.
    fn could_move(&self, evaluator: &Evaluator<'_>) -> bool {
        let mut found = false;
        self.each_possible_edge(&Evaluator { offer: None, ..*evaluator }, |_, _| {
            found = true;
            true
        });
        found
    }

    fn evaluator<'a>(&'a self, state: &'a State, view: &'a View, process: usize) -> Evaluator<'a> {
        Evaluator {
            interpreter: self,
            state,
            view,
            process,
            watches: false,
            timeout: false,
            offer: None,
            started: 0,
            asking: 0,
            moved: false,
            ended: false,
        }
    }
}

impl Model for Interpreter<'_> {
    type Step = Step;
    type Scratch = ();

    fn initial_states(&self, each: &mut dyn FnMut(&State)) {
        let mut state = vec![0; self.layout.first_process];
        match self.start(&mut state) {
            Ok(()) => each(&state),
            // A model that faults before its first step reports the fault in its first step: see `enabled`.
            Err(_) => each(&[]),
        }
    }

    fn enabled(&self, state: &State, steps: &mut Vec<Step>) {
        if state.is_empty() {
            steps.push(Step::START);
            return;
        }
        let view = self.view(state);
        let before = steps.len();
        self.steps_of_all(state, &view, false, steps);
        if steps.len() == before && self.uses_timeout && !self.is_transient(state) {
            self.steps_of_all(state, &view, true, steps);
        }
    }

    fn fire(&self, step: Step, state: &mut StateBuf) -> Fired {
        if state.is_empty() {
            let mut first = vec![0; self.layout.first_process];
            return match self.start(&mut first) {
                Ok(()) => Fired::Done,
                Err(fault) => Fired::Broken(fault),
            };
        }
        self.take(step, state)
    }

    fn is_transient(&self, state: &State) -> bool {
        state.first().is_some_and(|&exclusive| exclusive > 0)
    }

    fn marks(&self, state: &State) -> Marks {
        if state.is_empty() {
            return Marks::default();
        }
        let view = self.view(state);
        let marks =
            marks_of(view.processes.iter().map(|process| {
                &self.system.process_type(process.process_type).locations[process.location.index()]
            }));
        self.monitored(marks, state)
    }
}

impl Propositional for Interpreter<'_> {
    fn valuation(&self, state: &State, (): &mut ()) -> Valuation {
        self.propositions_at(state, false)
    }

    /// `np_` changes.
    fn sees_end(&self) -> bool {
        let mut sees = false;
        for (condition, _) in &self.system.propositions {
            condition.each(&mut |part| sees |= *part == Expr::NonProgress);
        }
        sees
    }

    fn valuation_after_end(&self, state: &State, (): &mut ()) -> Valuation {
        self.propositions_at(state, true)
    }
}

impl Interpreter<'_> {
    fn propositions_at(&self, state: &State, ended: bool) -> Valuation {
        let mut valuation = Valuation::default();
        if state.is_empty() {
            return valuation;
        }
        let view = self.view(state);
        let timeout = self.asks_timeout && {
            let mut steps = Vec::new();
            self.steps_of_all(state, &view, false, &mut steps);
            steps.is_empty()
        };
        let evaluator = Evaluator { watches: true, timeout, ended, ..self.evaluator(state, &view, 0) };
        for (bit, (condition, statement)) in self.system.propositions.iter().enumerate() {
            match evaluator.eval(condition) {
                Ok(value) => valuation.holds |= u64::from(value != 0) << bit,
                Err(_) => {
                    valuation.unknown |= 1 << bit;
                    let fault = Fault { kind: FaultKind::Proposition, place: statement.0, times: 1 };
                    valuation.fault.get_or_insert(fault);
                }
            }
        }
        valuation
    }
}

impl Concurrent for Interpreter<'_> {
    fn processes(&self, state: &State) -> usize {
        state.get(self.layout.process_count).map_or(0, |&count| usize::from(count))
    }

    fn owner(&self, step: Step) -> usize {
        step.process()
    }
}

/// The marks of a state whose processes are at these locations.
fn marks_of<'s>(locations: impl Iterator<Item = &'s Location>) -> Marks {
    let mut marks = Marks { valid_end: true, ..Marks::default() };
    for location in locations {
        marks.valid_end &= location.end;
        marks.accepting |= location.accept;
        marks.progress |= location.progress;
    }
    marks
}

/// The send of `edge`, if it goes through a rendezvous channel.
fn rendezvous<'e>(edge: &'e Edge, evaluator: &Evaluator<'_>) -> Option<&'e crate::Send> {
    let Action::Send(send) = &edge.action else { return None };
    evaluator.channel_type(&send.channel).ok().filter(|channel| channel.is_rendezvous()).map(|_| &**send)
}

impl Step {
    /// The only step of a system whose initial state faults.
    pub const START: Step = Step(u64::MAX);

    const NO_PARTNER: u64 = 0xff;

    /// Bits from the bottom: process 8, edge 24, partner 8, its edge 23, timeout 1.
    fn new(process: usize, edge: EdgeId, timeout: bool) -> Self {
        Step(process as u64 | u64::from(edge.0) << 8 | Self::NO_PARTNER << 32 | u64::from(timeout) << 63)
    }

    fn rendezvous(process: usize, edge: EdgeId, partner: usize, partner_edge: EdgeId, timeout: bool) -> Self {
        let partner = (partner as u64) << 32 | u64::from(partner_edge.0) << 40;
        Step(process as u64 | u64::from(edge.0) << 8 | partner | u64::from(timeout) << 63)
    }

    pub fn bits(self) -> u64 {
        self.0
    }

    pub fn from_bits(bits: u64) -> Self {
        Step(bits)
    }

    /// The number of edges that a step can name.
    pub const MAX_EDGES: usize = 1 << 23;

    pub fn process(self) -> usize {
        (self.0 & 0xff) as usize
    }

    pub fn edge(self) -> EdgeId {
        EdgeId((self.0 >> 8) as u32 & 0xff_ffff)
    }

    /// The receiver in a rendezvous, and its edge.
    pub fn partner(self) -> Option<(usize, EdgeId)> {
        let partner = self.0 >> 32 & 0xff;
        (partner != Self::NO_PARTNER).then_some((partner as usize, EdgeId((self.0 >> 40) as u32 & 0x7f_ffff)))
    }

    /// Whether `timeout` is true in it.
    pub fn is_timeout(self) -> bool {
        self.0 >> 63 != 0
    }
}

impl std::fmt::Debug for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.process(), self.edge().0)?;
        if let Some((partner, edge)) = self.partner() {
            write!(f, "+{partner}:{}", edge.0)?;
        }
        Ok(())
    }
}

pub(crate) type Evaluated<T> = Result<T, FaultKind>;
