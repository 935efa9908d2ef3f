//! The contract: what a model offers, and what searches and stores may rely on.
//!
//! A model is a set of initial states and, for every state, the steps enabled in it. States are flat bytes, so
//! that one search and one store serve every language. Nothing in this crate knows processes, variables or
//! properties; nothing below it knows a language.

#![warn(missing_docs)]

mod accepting;
mod deadline;
mod observer;
mod reduction;
mod shuffled;
mod starting_at;
mod store;
mod subformula;
mod successors;

pub use accepting::{AcceptanceMarks, Accepting, Concurrent, Propositional, Valuation};
pub use deadline::Deadline;
pub use observer::{Event, EventTarget, Observer, Progress, StateName};
pub use reduction::{Reduced, Reduction};
pub use shuffled::Shuffled;
pub use starting_at::StartingAt;
pub use store::{
    Full, Growth, Guarantee, Key, KeySet, Keys, Numbered, Opened, StateKey, Store, Visit, WideKey, insert_each,
};
pub use subformula::{Beyond, Subformula, SubformulaId, Subformulas};
pub use successors::{Successor, Successors, Target};

use std::fmt::Debug;
use std::hash::Hash;
use std::io;

use entail_disk::{Reader, Snapshot, Writer, damaged, snapshot};

/// A state, as flat bytes. Equal bytes mean equal states. The length may vary as processes come and go.
pub type State = [u8];

/// A state under construction.
pub type StateBuf = Vec<u8>;

/// Something that can be explored.
pub trait Model: Sync {
    /// Identifies one step out of a state; small enough to keep by the million.
    type Step: Copy + Eq + Hash + Debug + Send;

    /// Buffers that [`Model::expand`] reuses from one state to the next.
    type Scratch: Default;

    /// Calls `each` for every initial state.
    fn initial_states(&self, each: &mut dyn FnMut(&State));

    /// Appends every step enabled in `state`, in the order of the language's own tools.
    ///
    /// A step whose guard cannot be evaluated (an index out of range, say) counts as enabled: firing it reports
    /// the fault. So a fault is met once, by the search, like any other step.
    fn enabled(&self, state: &State, steps: &mut Vec<Self::Step>);

    /// Turns `state`, in which `step` is enabled, into its successor.
    fn fire(&self, step: Self::Step, state: &mut StateBuf) -> Fired;

    /// Whether `state` is inside an atomic sequence. Searches pass through such states: they do not store, count or compare them,
    /// and do not check for invalid end states there.
    fn is_transient(&self, _state: &State) -> bool {
        false
    }

    /// The labels of a state.
    fn marks(&self, state: &State) -> Marks;

    /// Unused bits of states, where a wrapper such as a product can store data of its own.
    fn room(&self) -> Option<Room> {
        None
    }

    /// Appends the components of a stable state, in order; the rest of the state is one more. A store can share components
    /// between states (collapse compression).
    fn parts(&self, state: &State, parts: &mut Vec<Part>) {
        parts.extend((1..).map(|word| Part { end: 64 * word, kind: word }).take(state.len() / 8));
    }

    /// Whether a search that has taken so many steps should restart, because the model has learnt a better representation of its
    /// states. The search then ends as if it had been interrupted.
    fn should_begin_again(&self, _steps: u64) -> bool {
        false
    }

    /// Computes all successors of `state`: the same as [`Model::enabled`] and [`Model::fire`], at once. A model that has a faster
    /// way implements it here.
    fn expand(&self, state: &State, successors: &mut Successors<Self::Step>, _scratch: &mut Self::Scratch) {
        let mut steps = Vec::new();
        self.enabled(state, &mut steps);
        let mut reached = StateBuf::new();
        for step in steps {
            reached.clear();
            reached.extend_from_slice(state);
            let fired = self.fire(step, &mut reached);
            let transient = !fired.is_broken() && self.is_transient(&reached);
            successors.push(step, fired, transient, |states| states.extend_from_slice(&reached));
        }
    }

    /// Whether a search must apply the cycle proviso: partial-order reduction may postpone steps, and on a cycle of reduced
    /// states they would be ignored. A search solves this by [`Model::expand_further`].
    fn needs_proviso(&self) -> bool {
        false
    }

    /// Expands a state by other steps than the `times` times before. After some times it is fully expanded, and its successors
    /// are not [reduced](Successors::are_reduced) any more.
    fn expand_further(
        &self,
        state: &State,
        _times: u32,
        successors: &mut Successors<Self::Step>,
        scratch: &mut Self::Scratch,
    ) {
        self.expand(state, successors, scratch);
    }

    /// Expands stable states one after the other, which are given as their words, up to the first one for which that is
    /// not enough. Transient states on the way are passed through, path by path and in the order of steps, unless they
    /// are on the path already. `each` is told about every step. Returns how many states have been expanded, which may be
    /// none.
    ///
    /// It is enough for states in which something can happen, but no fault, and where all that is reached has as many
    /// words. Many models have few others, so that it is worth to do these quickly.
    fn expand_words<K: StateKey>(
        &self,
        _states: &[K],
        _scratch: &mut Self::Scratch,
        _each: impl FnMut(Transition<Self::Step, K>),
    ) -> usize {
        0
    }
}

/// A step on the way from a stable state to the next ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition<S, K> {
    /// Which of the states that are expanded the way begins in.
    pub from: usize,
    /// How many transient states were passed since.
    pub passed: usize,
    /// The step.
    pub step: S,
    /// Where it leads, if that is stable.
    pub next: Option<K>,
    /// The state where the way begins is not fully expanded, and [needs the proviso](Model::needs_proviso).
    pub reduced: bool,
}

/// What became of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Fired {
    /// The buffer holds the successor.
    Done,
    /// Something that must hold did not, but the run goes on: the buffer holds the successor.
    Failed(Fault),
    /// The step cannot be completed; what the buffer holds means nothing.
    Broken(Fault),
}

impl Fired {
    /// Whether there is no successor.
    pub fn is_broken(&self) -> bool {
        matches!(self, Fired::Broken(_))
    }

    /// What went wrong, if something did.
    pub fn fault(&self) -> Option<Fault> {
        match self {
            Fired::Done => None,
            Fired::Failed(fault) | Fired::Broken(fault) => Some(*fault),
        }
    }
}

/// Something went wrong while a step was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What went wrong.
    pub kind: FaultKind,
    /// Which statement, in the model's own numbering.
    pub place: u32,
    /// How often it went wrong within this one step; at least 1.
    pub times: u32,
}

snapshot!(Fault { kind, place, times });

impl Snapshot for FaultKind {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.name().to_owned().save(to)
    }

    fn load(from: &mut Reader) -> io::Result<FaultKind> {
        let name = String::load(from)?;
        let known = FaultKind::ALL.iter().find(|kind| kind.name() == name);
        known.copied().ok_or_else(|| damaged(format!("there are no faults called `{name}`")))
    }
}

macro_rules! fault_kinds {
    ($($(#[$doc:meta])* $kind:ident: $name:literal, $words:literal;)*) => {
        /// What can go wrong in a step.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum FaultKind {
            $($(#[$doc])* $kind,)*
        }

        impl FaultKind {
            /// All kinds.
            pub const ALL: &[FaultKind] = &[$(FaultKind::$kind),*];

            /// For programs.
            pub fn name(self) -> &'static str {
                match self {
                    $(FaultKind::$kind => $name,)*
                }
            }

            /// For people, in short.
            pub fn words(self) -> &'static str {
                match self {
                    $(FaultKind::$kind => $words,)*
                }
            }
        }
    };
}

fault_kinds! {
    /// An assertion of the model does not hold.
    Assertion: "assertion", "assertion violated";
    /// Something that must hold in every state does not.
    Invariant: "invariant", "invariant violated";
    /// An array index outside its array.
    Index: "index", "array index out of range";
    /// A value outside the range of the variable or message it is meant for.
    Range: "range", "value out of range";
    /// A division or remainder by zero.
    DivisionByZero: "division_by_zero", "division by zero";
    /// The head of a list without elements was asked for, or removed.
    ListEmpty: "list_empty", "empty list";
    /// An element too many for a list.
    ListFull: "list_full", "full list";
    /// None of the alternatives is possible where one must be.
    NoAlternative: "no_alternative", "no alternative is possible";
    /// A thread releases, waits on or notifies a lock that it does not hold.
    NotOwner: "not_owner", "the lock is not held";
    /// A channel variable that holds no channel.
    NoChannel: "no_channel", "channel not initialised";
    /// A message with another number of fields than the channel has.
    MessageFields: "message_fields", "wrong number of message fields";
    /// Polling a rendezvous channel, or sending to one without a receiver.
    Rendezvous: "rendezvous", "wrong use of a rendezvous channel";
    /// More processes than the language allows.
    TooManyProcesses: "too_many_processes", "too many processes";
    /// More threads than can be told apart, where their number is a limit of ours and not of the language.
    TooManyThreads: "too_many_threads", "too many threads";
    /// More channels than the language allows.
    TooManyChannels: "too_many_channels", "too many channels";
    /// A priority outside 1 to 255.
    Priority: "priority", "priority out of range";
    /// `enabled` refers to itself, directly or through other processes.
    SelfReference: "self_reference", "enabled() refers to itself";
    /// A deterministic sequence that cannot go on.
    Blocked: "blocked", "blocked inside an atomic sequence";
    /// A deterministic sequence that does not end.
    Endless: "endless", "an atomic sequence that does not end";
    /// A deterministic sequence that did not end in time.
    TooLong: "too_long", "an atomic sequence with too many steps";
    /// A process that must never have a choice had one.
    Choice: "choice", "a nondeterministic choice in a D_proctype";
    /// The state grew beyond what can be represented.
    StateSize: "state_size", "the state is too large";
    /// Something that is asked of a state has no answer there.
    Proposition: "proposition", "a proposition cannot be evaluated";
    /// What must never happen has happened.
    ClaimEnd: "claim_end", "end state in claim reached";
    /// Something that was promised of the whole run cannot come true any more.
    Refuted: "refuted", "the property is violated, however the run continues";
    /// A message was sent or received that a trace does not go on with.
    UnexpectedEvent: "unexpected_event", "an event that the trace does not expect";
    /// Events that must not come in this order have done so.
    ForbiddenEvents: "forbidden_events", "all events of the notrace matched";
    /// A message fits a trace in two ways.
    AmbiguousEvent: "ambiguous_event", "an event that matches the trace in two ways";
}

impl FaultKind {
    /// Whether it is the answer to what was asked of a run, so that it always counts.
    pub fn is_answer(self) -> bool {
        self.is_of_events() || matches!(self, FaultKind::Proposition | FaultKind::ClaimEnd | FaultKind::Refuted)
    }

    /// Whether it is not the model that is wrong: it goes beyond what the tool can do.
    pub fn is_limit(self) -> bool {
        matches!(self, FaultKind::TooLong | FaultKind::StateSize | FaultKind::TooManyThreads)
    }

    /// Whether a monitor objects to an event.
    pub fn is_of_events(self) -> bool {
        matches!(self, FaultKind::UnexpectedEvent | FaultKind::ForbiddenEvents | FaultKind::AmbiguousEvent)
    }

    /// Whether it is something the model claims, so that there is a choice not to check it. SPIN switches off
    /// indices together with assertions.
    pub fn is_claim(self) -> bool {
        matches!(self, FaultKind::Assertion | FaultKind::Invariant | FaultKind::Index)
    }
}

/// In states of so many bytes, there are only zeros from this bit of the last word on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// The length of such states in bytes.
    pub len: usize,
    /// The first unused bit of the last word.
    pub from: u32,
}

/// A part of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Part {
    /// Before this bit of the state it ends.
    pub end: u32,
    /// Parts of the same kind are likely to be alike.
    pub kind: u32,
}

snapshot!(Part { end, kind });

/// What a state is, apart from where it leads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// The run may end here.
    pub valid_end: bool,
    /// An acceptance label of the language.
    pub accepting: bool,
    /// A progress label of the language.
    pub progress: bool,
}
