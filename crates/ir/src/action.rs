//! What an edge does, and when it can.

use crate::{Expr, Place, ProcessTypeId, StatementId};

#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Always possible, changes nothing.
    Skip,
    /// Possible where the expression is not 0; changes nothing.
    Guard(Expr),
    /// Possible where no other edge of the location is.
    Else,
    Assign(Box<Place>, Expr),
    Send(Box<Send>),
    Receive(Box<Receive>),
    Assert(Expr),
    /// The text with its escapes resolved, and what the `%` in it stand for.
    Print(String, Vec<Expr>),
    /// Prints the name of an enumeration's member.
    PrintName(Expr),
    SetPriority(Box<(Expr, Expr)>),
    /// Starts a process, then does something that may use its number as [`Expr::Started`].
    Run(Box<Run>, Box<Action>),
    /// The end of a process: possible for the youngest only.
    End,
    /// Several actions as one.
    Deterministic(Box<Block>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Send {
    pub channel: Expr,
    pub fields: Vec<Expr>,
    /// Before the first message that is greater, instead of at the end.
    pub sorted: bool,
    /// What else must hold for it to be possible.
    pub when: Option<Expr>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Receive {
    pub channel: Expr,
    pub fields: Vec<Pattern>,
    /// The first message that fits, instead of the first message.
    pub anywhere: bool,
    /// Leave the message in the channel.
    pub keep: bool,
    /// What must hold once the message has been stored: otherwise it is not received, and nothing has changed.
    pub when: Option<Expr>,
}

/// What a field of a message must be, and what becomes of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    Store(Place),
    Equal(Expr),
    Ignore,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub process_type: ProcessTypeId,
    pub args: Vec<Expr>,
    pub priority: u8,
}

/// A deterministic sequence. It runs from its first node to an end without looking back: of several
/// alternatives the first possible one is taken, and to be stuck is an error.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// When the whole can be entered.
    pub entry: Entry,
    pub nodes: Vec<BlockNode>,
}

/// The ways in which a deterministic sequence can be entered. Not simply "its first action is possible":
/// of alternatives at the beginning, SPIN considers only those that begin with a condition or a channel
/// operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    Always,
    /// No other edge of the location is enabled.
    Otherwise,
    /// Any of these is possible.
    AnyOf(Vec<Action>),
}

/// Index into [`Block::nodes`]; node 0 is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodeId(pub u32);

#[derive(Clone, Debug, PartialEq)]
pub enum BlockNode {
    /// Does it, and goes on; `None` leaves the block.
    Do {
        action: Action,
        statement: StatementId,
        next: Option<NodeId>,
    },
    /// Goes on at the first alternative that does not begin with an impossible action.
    Choose {
        alternatives: Vec<NodeId>,
        statement: StatementId,
    },
    Jump(Option<NodeId>),
}

impl Block {
    /// How many nodes one step may pass: a block that does not end is an error, not a hang.
    pub const LIMIT: u32 = 1_000_000;
}

impl Action {
    /// Whether it depends on nothing else being able to move.
    pub fn mentions_timeout(&self) -> bool {
        let mut found = false;
        self.each_expr(&mut |expr| found |= matches!(expr, Expr::Timeout));
        found
    }

    /// Whether the action is possible wherever nothing else of its location is.
    pub fn is_always_possible(&self) -> bool {
        match self {
            Action::Skip
            | Action::Else
            | Action::Assign(..)
            | Action::Assert(_)
            | Action::Print(..)
            | Action::PrintName(_)
            | Action::SetPriority(_)
            | Action::Run(..) => true,
            Action::Guard(condition) => condition.is_true(),
            Action::Send(_) | Action::Receive(_) | Action::End => false,
            Action::Deterministic(block) => match &block.entry {
                Entry::Always | Entry::Otherwise => true,
                Entry::AnyOf(actions) => actions.iter().any(Action::is_always_possible),
            },
        }
    }

    /// Calls `each` for every expression in the action, including those inside others.
    pub fn each_expr(&self, each: &mut dyn FnMut(&Expr)) {
        match self {
            Action::Skip | Action::Else | Action::End => {}
            Action::Guard(expr) | Action::Assert(expr) | Action::PrintName(expr) => expr.each(each),
            Action::Assign(place, value) => {
                place.each_expr(each);
                value.each(each);
            }
            Action::Send(send) => {
                send.channel.each(each);
                send.fields.iter().chain(&send.when).for_each(|part| part.each(each));
            }
            Action::Receive(receive) => {
                receive.channel.each(each);
                receive.fields.iter().for_each(|field| field.each_expr(each));
                receive.when.iter().for_each(|condition| condition.each(each));
            }
            Action::Print(_, args) => args.iter().for_each(|arg| arg.each(each)),
            Action::SetPriority(parts) => {
                parts.0.each(each);
                parts.1.each(each);
            }
            Action::Run(run, then) => {
                run.args.iter().for_each(|arg| arg.each(each));
                then.each_expr(each);
            }
            Action::Deterministic(block) => block.each_expr(each),
        }
    }
}

impl Block {
    fn each_expr(&self, each: &mut dyn FnMut(&Expr)) {
        if let Entry::AnyOf(actions) = &self.entry {
            actions.iter().for_each(|action| action.each_expr(each));
        }
        for node in &self.nodes {
            if let BlockNode::Do { action, .. } = node {
                action.each_expr(each);
            }
        }
    }
}

impl Pattern {
    pub(crate) fn each_expr(&self, each: &mut dyn FnMut(&Expr)) {
        match self {
            Pattern::Store(place) => place.each_expr(each),
            Pattern::Equal(expr) => expr.each(each),
            Pattern::Ignore => {}
        }
    }
}
