//! The interface between models, searches and stores.
//!
//! A model is a set of initial states and, for every state, the steps enabled in it. States are flat bytes, so that one
//! search and one store serve every language. This crate knows nothing about processes, variables or properties; the
//! crates below it know nothing about languages.

#![warn(missing_docs)]

mod accepting;
mod deadline;
mod forward;
mod named;
mod observer;
mod reduction;
mod shuffled;
mod starting_at;
mod store;
mod subformula;
mod successors;

pub use accepting::{AcceptanceMarks, Accepting, Concurrent, Propositional, Valuation};
pub use deadline::Deadline;
pub use named::Named;
pub use observer::{Event, EventTarget, Observer, Progress, StateName};
pub use reduction::{Reduced, Reduction};
pub use shuffled::Shuffled;
pub use starting_at::StartingAt;
pub use store::{
    Components, Entry, Full, Growth, Guarantee, Key, KeySet, Keys, LosslessStore, Node, Numbered, Opened,
    Partition, SpareNodes, StateKey, Store, Visit, WideKey, insert_each, partition_of,
};
pub use subformula::{AfterFault, Subformula, SubformulaId, Subformulas};
pub use successors::{Successor, Successors, Target};

use std::fmt::Debug;
use std::hash::Hash;
use std::io;

use entail_disk::{Reader, Snapshot, Writer, damaged, snapshot};

/// A state, as flat bytes. Equal bytes mean equal states. The length may vary as processes start and end.
pub type State = [u8];

/// A state under construction.
pub type StateBuf = Vec<u8>;

/// A transition system to explore.
pub trait Model: Sync {
    /// Identifies one step out of a state. Small, because searches store millions of them.
    type Step: Copy + Eq + Hash + Debug + Send;

    /// Buffers that [`Model::expand`] reuses from one state to the next.
    type Scratch: Default + Send;

    /// Calls `each` for every initial state.
    fn initial_states(&self, each: &mut dyn FnMut(&State));

    /// Appends every step enabled in `state`, in the order of the language's own tools.
    ///
    /// A step whose guard cannot be evaluated (for example, because of an index out of range) counts as enabled, and
    /// firing it reports the fault. So the search finds the fault once, like any other step.
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
    fn unused_bits(&self) -> Option<UnusedBits> {
        None
    }

    /// Appends the components of a stable state, in order; the rest of the state is one more component. A store can
    /// share components between states (collapse compression).
    fn parts(&self, state: &State, parts: &mut Vec<Part>) {
        parts.extend((1..).map(|word| Part { end: 64 * word, kind: word }).take(state.len() / 8));
    }

    /// Whether a search that has taken so many steps should restart, because the model has found a better
    /// representation of its states. The search then ends as if it had been interrupted.
    fn should_restart(&self, _steps: u64) -> bool {
        false
    }

    /// Computes all successors of `state`, with the same result as [`Model::enabled`] and [`Model::fire`]. Models
    /// override it with faster implementations.
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

    /// Whether a search must apply the cycle proviso, because partial-order reduction may ignore steps that it
    /// postpones on a cycle of reduced states. A search applies it with [`Model::expand_further`].
    fn needs_proviso(&self) -> bool {
        false
    }

    /// Expands a state by other steps than the previous `times` expansions. After finitely many expansions the state is
    /// fully expanded, and its successors are no longer [reduced](Successors::are_reduced).
    fn expand_further(
        &self,
        state: &State,
        _times: u32,
        successors: &mut Successors<Self::Step>,
        scratch: &mut Self::Scratch,
    ) {
        self.expand(state, successors, scratch);
    }

    /// The fast path: expands stable states, given as words, in order, up to the first one that it cannot expand.
    /// Passes through transient states, path by path and in the order of steps; a path that returns to one of its own
    /// transient states ends there. Appends every step. Returns the number of states expanded, which may be 0.
    ///
    /// A buffer instead of a callback, so that a model is compiled once for all searches.
    ///
    /// The fast path can expand a state if it has a successor, no step has a fault, and all targets have the same
    /// number of words as the state. Most states of many models satisfy this.
    fn expand_words<K: StateKey>(
        &self,
        _states: &[K],
        _scratch: &mut Self::Scratch,
        _transitions: &mut Vec<Transition<Self::Step, K>>,
    ) -> usize {
        0
    }
}

/// A step on a path from a stable state to the next ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition<S, K> {
    /// The step.
    pub step: S,
    /// The target, if it is stable.
    pub next: Option<K>,
    /// The index of the stable state in which the path begins.
    pub from: u32,
    /// The number of transient states since then.
    pub passed: u16,
    /// The expansion of the stable state is reduced and [needs the proviso](Model::needs_proviso).
    pub reduced: bool,
}

/// Buffers for transitions, one for each type of keys ([`StateKey::buffer`]).
#[derive(Debug)]
pub struct TransitionBuffers<S> {
    pub(crate) narrow: Vec<Transition<S, Key>>,
    pub(crate) wide: Vec<Transition<S, WideKey>>,
}

impl<S> Default for TransitionBuffers<S> {
    fn default() -> Self {
        TransitionBuffers { narrow: Vec::new(), wide: Vec::new() }
    }
}

/// The result of firing a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Fired {
    /// The buffer holds the successor.
    Done,
    /// A check failed, but the run continues: the buffer holds the successor.
    Failed(Fault),
    /// The step cannot be completed. The contents of the buffer are unspecified.
    Broken(Fault),
}

impl Fired {
    /// Whether there is no successor.
    pub fn is_broken(&self) -> bool {
        matches!(self, Fired::Broken(_))
    }

    /// The fault, if there is one.
    pub fn fault(&self) -> Option<Fault> {
        match self {
            Fired::Done => None,
            Fired::Failed(fault) | Fired::Broken(fault) => Some(*fault),
        }
    }
}

/// A fault in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind of fault.
    pub kind: FaultKind,
    /// The statement, in the model's own numbering.
    pub place: u32,
    /// How often the fault occurred within this step; at least 1.
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
        /// The kinds of faults.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum FaultKind {
            $($(#[$doc])* $kind,)*
        }

        impl FaultKind {
            /// All kinds.
            pub const ALL: &[FaultKind] = &[$(FaultKind::$kind),*];

            /// The name in machine-readable output.
            pub fn name(self) -> &'static str {
                match self {
                    $(FaultKind::$kind => $name,)*
                }
            }

            /// A short description for users.
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
    /// An invariant does not hold.
    Invariant: "invariant", "invariant violated";
    /// An array index outside its array.
    Index: "index", "array index out of range";
    /// A value outside the range of the variable or message it is meant for.
    Range: "range", "value out of range";
    /// A division or remainder by zero.
    DivisionByZero: "division_by_zero", "division by zero";
    /// Reading or removing the head of an empty list.
    ListEmpty: "list_empty", "empty list";
    /// Appending to a full list.
    ListFull: "list_full", "full list";
    /// All alternatives are disabled where one must be enabled.
    NoAlternative: "no_alternative", "no alternative is possible";
    /// A thread releases, waits on or notifies a lock that it does not hold.
    NotOwner: "not_owner", "the lock is not held";
    /// A channel variable that holds no channel.
    NoChannel: "no_channel", "channel not initialised";
    /// A message with a different number of fields than the channel has.
    MessageFields: "message_fields", "wrong number of message fields";
    /// Polling a rendezvous channel, or sending to one without a receiver.
    Rendezvous: "rendezvous", "wrong use of a rendezvous channel";
    /// More processes than the language allows.
    TooManyProcesses: "too_many_processes", "too many processes";
    /// More threads than entail can distinguish. The limit is entail's, not the language's.
    TooManyThreads: "too_many_threads", "too many threads";
    /// More channels than the language allows.
    TooManyChannels: "too_many_channels", "too many channels";
    /// A priority outside 1 to 255.
    Priority: "priority", "priority out of range";
    /// The expression `enabled` refers to itself, directly or through other processes.
    SelfReference: "self_reference", "enabled() refers to itself";
    /// A deterministic sequence blocks.
    Blocked: "blocked", "blocked inside a deterministic sequence";
    /// A deterministic sequence does not terminate.
    Endless: "endless", "a deterministic sequence that does not end";
    /// A deterministic sequence exceeds the limit of steps.
    TooLong: "too_long", "a deterministic sequence with too many steps";
    /// A process that must be deterministic has a choice.
    Choice: "choice", "a nondeterministic choice in a D_proctype";
    /// The state is larger than the representation permits.
    StateSize: "state_size", "the state is too large";
    /// A proposition cannot be evaluated in a state.
    Proposition: "proposition", "a proposition cannot be evaluated";
    /// A never claim has reached its end.
    ClaimEnd: "claim_end", "end state in claim reached";
    /// A bad prefix: whatever follows, the run violates the property.
    Refuted: "refuted", "the property is violated, however the run continues";
    /// A message was sent or received that does not match the next event of a trace.
    UnexpectedEvent: "unexpected_event", "an event that the trace does not expect";
    /// All events of a `notrace` have occurred, in order.
    ForbiddenEvents: "forbidden_events", "all events of the notrace matched";
    /// A message matches a trace in two ways.
    AmbiguousEvent: "ambiguous_event", "an event that matches the trace in two ways";
}

impl FaultKind {
    /// Whether the fault is the result of checking a property, so that it always counts as an error.
    pub fn is_answer(self) -> bool {
        self.is_of_events() || matches!(self, FaultKind::Proposition | FaultKind::ClaimEnd | FaultKind::Refuted)
    }

    /// Whether the fault is a limit of entail and not an error of the model.
    pub fn is_limit(self) -> bool {
        matches!(self, FaultKind::TooLong | FaultKind::StateSize | FaultKind::TooManyThreads)
    }

    /// Whether a trace monitor reports the fault.
    pub fn is_of_events(self) -> bool {
        matches!(self, FaultKind::UnexpectedEvent | FaultKind::ForbiddenEvents | FaultKind::AmbiguousEvent)
    }

    /// Whether the fault violates a claim of the model, which the user can choose not to check. SPIN disables array
    /// index checks together with assertions.
    pub fn is_claim(self) -> bool {
        matches!(self, FaultKind::Assertion | FaultKind::Invariant | FaultKind::Index)
    }
}

/// In states of this length, all bits of the last word from one on are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnusedBits {
    /// The length of these states in bytes.
    pub len: usize,
    /// The first unused bit of the last word.
    pub from: u32,
}

/// A component of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Part {
    /// The bit before which it ends.
    pub end: u32,
    /// Components of the same kind are likely to be equal.
    pub kind: u32,
}

snapshot!(Part { end, kind });

/// The labels of a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// The state is a valid end state.
    pub valid_end: bool,
    /// The state has an acceptance label.
    pub accepting: bool,
    /// The state has a progress label.
    pub progress: bool,
}
