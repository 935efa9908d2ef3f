//! Deterministic sequences.

use super::{Emitter, Env};
use crate::jit::by_interpreter::Helper;
use crate::jit::code::Callee;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use cranelift_frontend::Variable;
use entail_ir::{Action, Block as Sequence, BlockNode, Effect, Entry, FaultKind, NodeId, StatementId};

/// The blocks of code of a sequence.
struct Nodes {
    /// For each node: the block where it begins.
    enter: Vec<Block>,
    /// For each node: the block for when its action is known to be executable.
    perform: Vec<Block>,
    done: Block,
    passed: Option<Passed>,
}

/// A count of the nodes passed, for sequences that may not terminate.
#[derive(Clone, Copy)]
struct Passed {
    nodes: Variable,
    long: Block,
}

/// Sequences that pass more nodes are left to the interpreter.
const MOST_NODES: i64 = 1 << 24;

impl Emitter<'_, '_> {
    /// Runs a sequence on the state at `to`; the environment's state is the one before the sequence.
    pub(super) fn run_block(&mut self, block: &Sequence, env: &Env, to: Value) {
        let passed = has_circle(block).then(|| self.begin_passing());
        let nodes = Nodes {
            enter: block.nodes.iter().map(|_| self.block()).collect(),
            perform: block.nodes.iter().map(|_| self.block()).collect(),
            done: self.block(),
            passed,
        };
        let first = NodeId(0);
        if begins_with_its_entry(block) {
            self.proceed_performing(&nodes, first);
        } else {
            self.proceed(&nodes, Some(first));
        }
        let unchanged = unchanged_before(block);
        for (id, node) in block.nodes.iter().enumerate() {
            self.go_on_in(nodes.enter[id]);
            // Recently written memory is slower to read.
            let state = if unchanged[id] { env.state } else { to };
            let env = Env { state, fault: self.fault_block(), ..*env };
            match node {
                BlockNode::Do { action, statement, next } => {
                    let blocked = self.cold_block();
                    let found = self.possible(action, &env, blocked);
                    self.jump(nodes.perform[id]);
                    self.go_on_in(nodes.perform[id]);
                    self.perform(action, found, &env, *statement, Some(to));
                    self.proceed(&nodes, *next);
                    self.go_on_in(blocked);
                    self.fault(FaultKind::Blocked, &env);
                    self.never();
                    self.broken_here(&env, *statement);
                }
                BlockNode::Choose { alternatives, statement } => {
                    for &alternative in alternatives {
                        let other = self.block();
                        match &block.nodes[alternative.0 as usize] {
                            BlockNode::Do { action, .. } => match self.possible(action, &env, other) {
                                None => self.proceed_performing(&nodes, alternative),
                                // The guard is evaluated again.
                                Some(_) => self.proceed(&nodes, Some(alternative)),
                            },
                            BlockNode::Choose { .. } | BlockNode::Jump(_) => {
                                self.proceed(&nodes, Some(alternative));
                            }
                        }
                        self.go_on_in(other);
                    }
                    self.fault(FaultKind::Blocked, &env);
                    self.never();
                    self.broken_here(&env, *statement);
                }
                BlockNode::Jump(next) => self.proceed(&nodes, *next),
            }
        }
        if let Some(passed) = passed {
            self.write_long(passed.long);
        }
        self.go_on_in(nodes.done);
    }

    fn broken_here(&mut self, env: &Env, statement: StatementId) {
        let taking = self.taking.expect("a step is being taken");
        self.write_broken(env.fault, taking.step, statement, taking.then);
    }

    /// Ends an unreachable block.
    fn never(&mut self) {
        let then = self.taking.expect("a step is being taken").then;
        self.jump(then);
    }

    /// Jumps to a node, or out of the sequence.
    fn proceed(&mut self, nodes: &Nodes, next: Option<NodeId>) {
        self.pass(nodes);
        self.jump(next.map_or(nodes.done, |next| nodes.enter[next.0 as usize]));
    }

    /// Jumps to a node whose action is known to be executable.
    fn proceed_performing(&mut self, nodes: &Nodes, next: NodeId) {
        self.pass(nodes);
        self.jump(nodes.perform[next.0 as usize]);
    }

    fn begin_passing(&mut self) -> Passed {
        let passed = Passed { nodes: self.b.declare_var(types::I32), long: self.cold_block() };
        let none = self.b.ins().iconst(types::I32, 0);
        self.b.def_var(passed.nodes, none);
        passed
    }

    /// Counts a node before it is entered.
    fn pass(&mut self, nodes: &Nodes) {
        let Some(passed) = nodes.passed else { return };
        let count = self.b.use_var(passed.nodes);
        let too_many = self.b.ins().icmp_imm_u(IntCC::Equal, count, MOST_NODES);
        self.if_leave(too_many, passed.long);
        let count = self.b.ins().iadd_imm_u(count, 1);
        self.b.def_var(passed.nodes, count);
    }

    /// Leaves a sequence that may not terminate to the interpreter, which decides.
    fn write_long(&mut self, long: Block) {
        let taking = self.taking.expect("a step is being taken");
        self.go_on_in(long);
        let context = self.context;
        self.call_writer(Callee::Helper(Helper::Fire), &[context], &[taking.step]);
        self.jump(taking.then);
    }
}

/// Whether the guard of the sequence is that its first action is executable.
fn begins_with_its_entry(block: &Sequence) -> bool {
    let Some(BlockNode::Do { action, .. }) = block.nodes.first() else { return false };
    match &block.entry {
        Entry::AnyOf(actions) => {
            matches!(&actions[..], [only] if only == action) && !matches!(action, Action::Receive(_))
        }
        Entry::Always | Entry::Otherwise => false,
    }
}

/// For each node: whether nothing was stored before it is entered.
fn unchanged_before(block: &Sequence) -> Vec<bool> {
    let stores =
        |id: &usize| block.nodes[*id].action().is_some_and(|action| !matches!(action.effect(), Effect::Nothing));
    let mut unchanged = vec![true; block.nodes.len()];
    let mut pending: Vec<_> = (0..block.nodes.len()).filter(stores).collect();
    while let Some(id) = pending.pop() {
        for next in block.nodes[id].successors() {
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
    let mut path = vec![(0, block.nodes[0].successors().to_vec())];
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
                    path.push((next, block.nodes[next].successors().to_vec()));
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
