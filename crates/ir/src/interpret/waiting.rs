//! Why processes are blocked, as text.

use super::eval::Evaluator;
use super::{Interpreter, ProcessView, View};
use crate::{Action, BlockNode, Edge, Enabling, LocationId, ProcessTypeId, Receive, Send, Statement};
use entail_model::State;

/// A process that is blocked outside of an end state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting<'s> {
    pub process: usize,
    pub name: &'s str,
    /// The first statement that it would execute.
    pub statement: &'s Statement,
    /// The reason as a clause; `None` if the statement itself shows it.
    pub reason: Option<String>,
}

/// The number of reasons that are listed.
const MOST_TOLD: usize = 3;

/// An end of a channel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Sender,
    Receiver,
}

impl<'s> Interpreter<'s> {
    /// The blocked processes in a deadlock.
    pub fn waiting(&self, state: &State) -> Vec<Waiting<'s>> {
        if state.is_empty() {
            return Vec::new();
        }
        let view = self.view(state);
        let waiting = |(process, seen): (usize, &ProcessView)| {
            let process_type = self.system.process_type(seen.process_type);
            let location = &process_type.locations[seen.location.index()];
            let edges = self.system.edges_of(location);
            let first = edges.first().filter(|_| !location.end)?;
            let statement = self.system.statement(first.statement);
            let evaluator = self.evaluator(state, &view, process);
            let reason = self.obstacles(&evaluator, edges);
            Some(Waiting { process, name: &process_type.name, statement, reason })
        };
        view.processes.iter().enumerate().filter_map(waiting).collect()
    }

    /// Why these edges are disabled.
    fn obstacles(&self, evaluator: &Evaluator, edges: &[Edge]) -> Option<String> {
        if !self.is_provided(evaluator) {
            return Some("its `provided` clause is false".to_owned());
        }
        let mut obstacles: Vec<String> = Vec::new();
        for obstacle in edges.iter().filter_map(|edge| self.obstacle(evaluator, edge)) {
            if !obstacles.contains(&obstacle) {
                obstacles.push(obstacle);
            }
        }
        if obstacles.len() > MOST_TOLD {
            let more = obstacles.len() - MOST_TOLD;
            obstacles.truncate(MOST_TOLD);
            obstacles.push(format!("{more} other statements are blocked"));
        }
        let last = obstacles.pop()?;
        Some(if obstacles.is_empty() { last } else { format!("{}, and {last}", obstacles.join(", ")) })
    }

    fn obstacle(&self, evaluator: &Evaluator, edge: &Edge) -> Option<String> {
        match edge.action.enabling() {
            Enabling::Condition(_) => Some(format!("`{}` is false", self.system.statement(edge.statement).text)),
            Enabling::Send(send) => self.sending(evaluator, send),
            Enabling::Receive(receive) => self.receiving(evaluator, receive),
            Enabling::Youngest => {
                let younger = evaluator.view.processes.len() - 1;
                let of = self.system.process_type(evaluator.view.processes[younger].process_type);
                (younger > evaluator.process)
                    .then(|| format!("it can end only after {}({younger}), which started later", of.name))
            }
            Enabling::Always | Enabling::Else | Enabling::AnyOf(_) => None,
        }
    }

    fn sending(&self, evaluator: &Evaluator, send: &Send) -> Option<String> {
        let number = evaluator.eval(&send.channel).ok()?;
        let name = self.channel_name(number, evaluator.state);
        if evaluator.channel_type(&send.channel).ok()?.is_rendezvous() {
            let others = self.others(evaluator, number, End::Receiver, "could");
            return Some(format!("no process receives from `{name}`{others}"));
        }
        let others = || self.others(evaluator, number, End::Receiver, "could receive from it");
        evaluator.is_full(number).ok()?.then(|| format!("channel `{name}` is full{}", others()))
    }

    fn receiving(&self, evaluator: &Evaluator, receive: &Receive) -> Option<String> {
        let number = evaluator.eval(&receive.channel).ok()?;
        let channels = self.channels(evaluator.state);
        let channel = channels.iter().find(|channel| channel.number == number)?;
        let name = &channel.name;
        let others = |could| self.others(evaluator, number, End::Sender, could);
        Some(match channel.messages.first() {
            None if channel.capacity == 0 => {
                format!("no process sends a matching message to `{name}`{}", others("could"))
            }
            None => format!("channel `{name}` is empty{}", others("could send to it")),
            Some(_) if receive.anywhere => format!("no message in `{name}` matches"),
            Some(first) => format!("the first message in `{name}` is [{first}], which does not match"),
        })
    }

    fn channel_name(&self, number: i32, state: &State) -> String {
        let channels = self.channels(state).into_iter();
        let name = channels.filter(|channel| channel.number == number).map(|channel| channel.name).next();
        name.unwrap_or_else(|| format!("#{number}"))
    }

    /// The processes that could still reach this end of the channel, as a clause.
    fn others(&self, evaluator: &Evaluator, number: i32, end: End, could: &str) -> String {
        let others = (0..evaluator.view.processes.len()).filter(|&other| other != evaluator.process);
        let names = others.filter(|&other| self.could_use(evaluator.state, evaluator.view, other, number, end));
        let names: Vec<String> = names
            .map(|other| {
                let of = self.system.process_type(evaluator.view.processes[other].process_type);
                format!("{}({other})", of.name)
            })
            .collect();
        match &names[..] {
            [] => format!(", and no other process {could}"),
            [one] => format!("; {one} {could}, but is blocked too"),
            [some @ .., last] if some.len() < MOST_TOLD => {
                format!("; {} and {last} {could}, but are blocked too", some.join(", "))
            }
            many => format!("; {} others {could}, but are blocked too", many.len()),
        }
    }

    /// Whether a process can still reach an edge that sends to the channel, or receives from it, given its current
    /// variables.
    fn could_use(&self, state: &State, view: &View, process: usize, number: i32, end: End) -> bool {
        let seen = view.processes[process];
        let evaluator = self.evaluator(state, view, process);
        let uses = |action: &Action| {
            let channel = match (action, end) {
                (Action::Send(send), End::Sender) => &send.channel,
                (Action::Receive(receive), End::Receiver) => &receive.channel,
                _ => return false,
            };
            evaluator.eval(channel) == Ok(number)
        };
        self.edges_ahead(seen.process_type, seen.location).any(|edge| match &edge.action {
            Action::Deterministic(block) => block.nodes.iter().filter_map(BlockNode::action).any(uses),
            action => uses(action),
        })
    }

    /// The edges that a process may reach.
    fn edges_ahead(&self, of: ProcessTypeId, from: LocationId) -> impl Iterator<Item = &'s Edge> {
        let locations = &self.system.process_type(of).locations;
        let ahead = self.system.reachable(of, from);
        ahead.into_iter().flat_map(|at| self.system.edges_of(&locations[at.index()]))
    }
}
