//! Lowers a `d_step` to a single block.

use super::flow::{Element, ElementId, Flow, Kind, SequenceId};
use entail_ir::{Action, Block, BlockNode, Entry, NodeId, StatementId};
use std::collections::HashMap;

/// Returns the action and the statement of an element.
pub type Lower<'a> = dyn FnMut(ElementId, &Element) -> (Action, StatementId) + 'a;

/// `sequence` is the body of a `d_step`.
pub fn block(flow: &Flow, sequence: SequenceId, lower: &mut Lower<'_>) -> Block {
    let mut next_of = HashMap::new();
    link(flow, flow[sequence].first, flow[sequence].last, None, &mut next_of);
    let mut builder = Builder { flow, lower, next_of, nodes: Vec::new(), node_of: HashMap::new() };
    if let Some(first) = flow[sequence].first {
        builder.node(first);
    }
    let entry = builder.entry(sequence);
    Block { entry, nodes: builder.nodes }
}

/// Records the successor of each element up to `last`. `after` is the default successor of the last one.
fn link(
    flow: &Flow,
    first: Option<ElementId>,
    last: Option<ElementId>,
    after: Option<ElementId>,
    next_of: &mut HashMap<ElementId, Option<ElementId>>,
) {
    let mut current = first;
    while let Some(id) = current {
        let next = flow[id].next.filter(|next| flow[*next].deterministic);
        let next = if current == last { next.or(after) } else { next };
        next_of.insert(id, next);
        match flow[id].kind {
            Kind::Block(inner) | Kind::Atomic(inner) | Kind::DStep(inner) => {
                link(flow, flow[inner].first, flow[inner].last, next, next_of);
            }
            _ => {
                for &branch in &flow[id].branches {
                    link(flow, flow[branch].first, flow[branch].extent, None, next_of);
                }
            }
        }
        if current == last {
            break;
        }
        current = flow[id].next;
    }
}

struct Builder<'a, 'l> {
    flow: &'a Flow,
    lower: &'a mut Lower<'l>,
    next_of: HashMap<ElementId, Option<ElementId>>,
    nodes: Vec<BlockNode>,
    node_of: HashMap<ElementId, NodeId>,
}

impl Builder<'_, '_> {
    /// The node of an element. Creates it, and its successors, if it does not exist yet.
    fn node(&mut self, start: ElementId) -> NodeId {
        let mut pending = vec![start];
        let reserve = |builder: &mut Self, element: ElementId, pending: &mut Vec<ElementId>| {
            *builder.node_of.entry(element).or_insert_with(|| {
                builder.nodes.push(BlockNode::Jump(None));
                pending.push(element);
                NodeId(builder.nodes.len() as u32 - 1)
            })
        };
        let first = reserve(self, start, &mut Vec::new());
        let mut made = vec![false; self.flow.elements.len()];
        while let Some(id) = pending.pop() {
            if std::mem::replace(&mut made[id.0 as usize], true) {
                continue;
            }
            let element = &self.flow[id];
            let next = self.next(id);
            let mut node_of =
                |builder: &mut Self, next: Option<ElementId>| next.map(|next| reserve(builder, next, &mut pending));
            let node = match &element.kind {
                Kind::Joint | Kind::Exit | Kind::Goto(_) => BlockNode::Jump(node_of(self, next)),
                Kind::Block(inner) | Kind::Atomic(inner) | Kind::DStep(inner) => {
                    let first = self.flow[*inner].first;
                    BlockNode::Jump(node_of(self, first.or(next)))
                }
                Kind::If | Kind::Do | Kind::Unless => {
                    let begins = element.branches.iter().filter_map(|branch| self.flow[*branch].first);
                    let begins: Vec<_> = begins.collect();
                    let alternatives = begins.into_iter().filter_map(|begin| node_of(self, Some(begin))).collect();
                    let (_, statement) = (self.lower)(id, element);
                    BlockNode::Choose { alternatives, statement }
                }
                Kind::Simple(_) | Kind::Nothing | Kind::Else | Kind::End => {
                    let next = node_of(self, next);
                    let (action, statement) = (self.lower)(id, element);
                    BlockNode::Do { action, statement, next }
                }
            };
            let slot = self.node_of[&id];
            self.nodes[slot.0 as usize] = node;
        }
        first
    }

    /// The successor of an element inside the sequence; `None` at its end.
    fn next(&self, id: ElementId) -> Option<ElementId> {
        let next = match &self.flow[id].kind {
            Kind::Goto(_) => self.flow.jumps.get(&id).copied(),
            _ => self.next_of.get(&id).copied().flatten(),
        };
        next.filter(|next| self.flow[*next].deterministic)
    }

    /// The condition for entering the sequence, by the rules of SPIN's code generator.
    fn entry(&mut self, sequence: SequenceId) -> Entry {
        let Some(first) = self.flow[sequence].first else { return Entry::Always };
        match self.flow[first].kind.clone() {
            Kind::Unless => self.entry(self.flow[first].branches[0]),
            Kind::Block(inner) => self.entry(inner),
            Kind::If => self.entry_of_choice(first),
            Kind::Joint => match self.flow[first].next {
                Some(next) if matches!(self.flow[next].kind, Kind::Do) => self.entry_of_choice(next),
                _ => Entry::Always,
            },
            Kind::Else => Entry::Otherwise,
            Kind::Simple(_) => match self.guard(first) {
                Some(guard) => Entry::AnyOf(vec![guard]),
                None => Entry::Always,
            },
            _ => Entry::Always,
        }
    }

    fn entry_of_choice(&mut self, choice: ElementId) -> Entry {
        let mut guards = Vec::new();
        self.collect_guards(choice, &mut guards);
        if guards.is_empty() { Entry::Always } else { Entry::AnyOf(guards) }
    }

    fn collect_guards(&mut self, choice: ElementId, guards: &mut Vec<Action>) {
        for branch in self.flow[choice].branches.clone() {
            let Some(first) = self.flow[branch].first else { continue };
            let begin = self.flow.beginning(first);
            match self.flow[begin].kind.clone() {
                Kind::Block(inner) => {
                    if let Some(first) = self.flow[inner].first {
                        self.collect_guards(first, guards);
                    }
                }
                Kind::If => self.collect_guards(begin, guards),
                Kind::Else => guards.push(Action::Skip),
                Kind::Simple(_) => guards.extend(self.guard(begin)),
                _ => {}
            }
        }
    }

    /// The action of an element that may block.
    fn guard(&mut self, id: ElementId) -> Option<Action> {
        let (action, _) = (self.lower)(id, &self.flow[id]);
        match action {
            Action::Skip | Action::Guard(_) | Action::Send(_) | Action::Receive(_) => Some(action),
            _ => None,
        }
    }
}
