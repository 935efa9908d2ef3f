//! Deterministic sequences.

use super::{Emitter, Scene};
use crate::by_interpreter::Helper;
use crate::code::Callee;
use crate::context::failure;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use cranelift_frontend::Variable;
use entail_ir::{Action, Block as Sequence, BlockNode, Entry, FaultKind, NodeId, StatementId};

/// The blocks of code of a sequence.
struct Nodes {
    /// Per node: where it begins.
    enter: Vec<Block>,
    /// Per node: where it goes on once its action is known to be possible.
    perform: Vec<Block>,
    done: Block,
    passed: Option<Passed>,
}

/// How many nodes have been passed, and the last statement: where a sequence might not end.
#[derive(Clone, Copy)]
struct Passed {
    nodes: Variable,
    statement: Variable,
    endless: Block,
}

impl Emitter<'_, '_> {
    /// Runs a sequence on the state at `to`, of which the scene's state is what it was before.
    pub(super) fn run_block(&mut self, block: &Sequence, scene: &Scene, statement: StatementId, to: Value) {
        let passed = has_circle(block).then(|| self.begin_passing(statement));
        let nodes = Nodes {
            enter: block.nodes.iter().map(|_| self.block()).collect(),
            perform: block.nodes.iter().map(|_| self.block()).collect(),
            done: self.block(),
            passed,
        };
        let first = NodeId(0);
        if begins_with_its_entry(block) {
            self.proceed_performing(block, &nodes, first);
        } else {
            self.proceed(block, &nodes, Some(first));
        }
        let unchanged = unchanged_before(block);
        for (id, node) in block.nodes.iter().enumerate() {
            self.go_on_in(nodes.enter[id]);
            // What has just been written is slower to read.
            let state = if unchanged[id] { scene.state } else { to };
            let scene = Scene { state, fault: self.fault_block(), ..*scene };
            match node {
                BlockNode::Do { action, statement, next } => {
                    let blocked = self.cold_block();
                    let found = self.possible(action, &scene, blocked);
                    self.jump(nodes.perform[id]);
                    self.go_on_in(nodes.perform[id]);
                    self.perform(action, found, &scene, *statement, Some(to));
                    self.proceed(block, &nodes, *next);
                    self.go_on_in(blocked);
                    self.fault(FaultKind::Blocked, &scene);
                    self.never();
                    self.broken_here(&scene, *statement);
                }
                BlockNode::Choose { alternatives, statement } => {
                    for &alternative in alternatives {
                        let other = self.block();
                        match &block.nodes[alternative.0 as usize] {
                            BlockNode::Do { action, .. } => match self.possible(action, &scene, other) {
                                None => self.proceed_performing(block, &nodes, alternative),
                                // What it takes is found again.
                                Some(_) => self.proceed(block, &nodes, Some(alternative)),
                            },
                            BlockNode::Choose { .. } | BlockNode::Jump(_) => {
                                self.proceed(block, &nodes, Some(alternative));
                            }
                        }
                        self.go_on_in(other);
                    }
                    self.fault(FaultKind::Blocked, &scene);
                    self.never();
                    self.broken_here(&scene, *statement);
                }
                BlockNode::Jump(next) => self.proceed(block, &nodes, *next),
            }
        }
        if let Some(passed) = passed {
            self.write_endless(passed);
        }
        self.go_on_in(nodes.done);
    }

    fn broken_here(&mut self, scene: &Scene, statement: StatementId) {
        let taking = self.taking.expect("a step is being taken");
        self.write_broken(scene.fault, taking.step, statement, taking.then);
    }

    /// Ends a block that is never reached.
    fn never(&mut self) {
        let then = self.taking.expect("a step is being taken").then;
        self.jump(then);
    }

    /// Goes to a node, or out of the sequence.
    fn proceed(&mut self, block: &Sequence, nodes: &Nodes, next: Option<NodeId>) {
        self.pass(block, nodes, next);
        self.jump(next.map_or(nodes.done, |next| nodes.enter[next.0 as usize]));
    }

    /// Goes to a node whose action is known to be possible.
    fn proceed_performing(&mut self, block: &Sequence, nodes: &Nodes, next: NodeId) {
        self.pass(block, nodes, Some(next));
        self.jump(nodes.perform[next.0 as usize]);
    }

    fn begin_passing(&mut self, statement: StatementId) -> Passed {
        let passed = Passed {
            nodes: self.b.declare_var(types::I32),
            statement: self.b.declare_var(types::I64),
            endless: self.cold_block(),
        };
        let (none, statement) = (self.b.ins().iconst(types::I32, 0), self.word(u64::from(statement.0)));
        self.b.def_var(passed.nodes, none);
        self.b.def_var(passed.statement, statement);
        passed
    }

    /// Counts a node before it is entered; the end of a sequence comes too late after too many.
    fn pass(&mut self, block: &Sequence, nodes: &Nodes, next: Option<NodeId>) {
        let Some(passed) = nodes.passed else { return };
        let count = self.b.use_var(passed.nodes);
        let too_many = self.b.ins().icmp_imm_u(IntCC::Equal, count, i64::from(Sequence::LIMIT));
        self.if_leave(too_many, passed.endless);
        let count = self.b.ins().iadd_imm_u(count, 1);
        self.b.def_var(passed.nodes, count);
        let node = next.map(|next| &block.nodes[next.0 as usize]);
        match node {
            Some(BlockNode::Do { statement, .. } | BlockNode::Choose { statement, .. }) => {
                let statement = self.word(u64::from(statement.0));
                self.b.def_var(passed.statement, statement);
            }
            Some(BlockNode::Jump(_)) | None => {}
        }
    }

    fn write_endless(&mut self, passed: Passed) {
        let taking = self.taking.expect("a step is being taken");
        self.go_on_in(passed.endless);
        let statement = self.b.use_var(passed.statement);
        let place = self.b.ins().ishl_imm_u(statement, 32);
        let kind = self.word(failure(FaultKind::Endless, 0));
        let what = self.b.ins().bor(kind, place);
        let times = match self.failures {
            None => self.b.ins().iconst(types::I32, 1),
            Some(failures) => {
                let count = self.b.use_var(failures.count);
                self.b.ins().iadd_imm_u(count, 1)
            }
        };
        let context = self.context;
        self.call_writer(Callee::Helper(Helper::Broken), &[context], &[taking.step, what, times]);
        self.jump(taking.then);
    }
}

/// Whether the condition on which the sequence is entered is that its first action is possible.
fn begins_with_its_entry(block: &Sequence) -> bool {
    let Some(BlockNode::Do { action, .. }) = block.nodes.first() else { return false };
    match &block.entry {
        Entry::AnyOf(actions) => {
            matches!(&actions[..], [only] if only == action) && !matches!(action, Action::Receive(_))
        }
        Entry::Always | Entry::Otherwise => false,
    }
}

fn followers(block: &Sequence, id: usize) -> Vec<NodeId> {
    match &block.nodes[id] {
        BlockNode::Do { next, .. } | BlockNode::Jump(next) => next.iter().copied().collect(),
        BlockNode::Choose { alternatives, .. } => alternatives.clone(),
    }
}

/// Per node: whether nothing has been stored when it is entered.
fn unchanged_before(block: &Sequence) -> Vec<bool> {
    let stores = |id: usize| match &block.nodes[id] {
        BlockNode::Do { action, .. } => match action {
            Action::Skip
            | Action::Guard(_)
            | Action::Else
            | Action::Assert(_)
            | Action::Print(..)
            | Action::PrintName(_) => false,
            Action::Assign(..)
            | Action::Send(_)
            | Action::Receive(_)
            | Action::SetPriority(_)
            | Action::Run(..)
            | Action::End
            | Action::Deterministic(_) => true,
        },
        BlockNode::Choose { .. } | BlockNode::Jump(_) => false,
    };
    let mut unchanged = vec![true; block.nodes.len()];
    let mut pending: Vec<_> = (0..block.nodes.len()).filter(|id| stores(*id)).collect();
    while let Some(id) = pending.pop() {
        for next in followers(block, id) {
            if std::mem::replace(&mut unchanged[next.0 as usize], false) {
                pending.push(next.0 as usize);
            }
        }
    }
    unchanged
}

/// Whether some node may be passed twice.
fn has_circle(block: &Sequence) -> bool {
    #[derive(Clone, Copy, PartialEq)]
    enum Visit {
        New,
        Open,
        Done,
    }
    let mut visits = vec![Visit::New; block.nodes.len()];
    let mut path = vec![(0, followers(block, 0))];
    visits[0] = Visit::Open;
    while let Some((id, rest)) = path.last_mut() {
        match rest.pop().map(|next| next.0 as usize) {
            None => {
                visits[*id] = Visit::Done;
                path.pop();
            }
            Some(next) => match visits[next] {
                Visit::Open => return true,
                Visit::Done => {}
                Visit::New => {
                    visits[next] = Visit::Open;
                    path.push((next, followers(block, next)));
                }
            },
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jumps(to: &[Option<u32>]) -> Sequence {
        let nodes = to.iter().map(|next| BlockNode::Jump(next.map(NodeId))).collect();
        Sequence { entry: Entry::Always, nodes }
    }

    #[test]
    fn a_circle_is_found_wherever_it_is() {
        assert!(!has_circle(&jumps(&[Some(2), None, Some(1)])));
        assert!(has_circle(&jumps(&[Some(1), Some(2), Some(1)])));
        assert!(has_circle(&jumps(&[Some(0)])));
    }

    #[test]
    fn two_ways_to_a_node_are_no_circle() {
        let mut block = jumps(&[None, Some(2), None]);
        block.nodes[0] = BlockNode::Choose { alternatives: vec![NodeId(1), NodeId(2)], statement: StatementId(0) };
        assert!(!has_circle(&block));
    }
}
