//! The steps of processes at each location.

use super::number::{Number, Offset};
use super::{CurrentProcess, Emitter, Env, Purpose, Taking};
use crate::jit::by_interpreter::{ANY_EDGE, Helper};
use crate::jit::code::Callee;
use crate::jit::fallback::Execution;
use cranelift_codegen::ir::{Block, InstBuilder, JumpTableData, Value, types};
use cranelift_frontend::Switch;
use entail_ir::interpret::Codes;
use entail_ir::{Action, Edge, EdgeId, Location, LocationId, ProcessTypeId, Range, Scalar};
use std::collections::BTreeMap;

impl Emitter<'_, '_> {
    /// All steps of a state whose processes never change.
    pub(super) fn expand(&mut self, out: Value) {
        let program = self.program;
        self.begin_writing(out);
        let state = self.source();
        let fixed = program.facts.fixed().expect("the processes do not change");
        let blocks: Vec<_> = fixed.iter().map(|_| self.block()).collect();
        let done = self.block();
        let exclusive = program.uses_exclusive.then(|| {
            let exclusive = self.load_scalar(state, Offset::fixed(0), Scalar::unsigned(8));
            let exclusive = self.value(exclusive);
            let all = self.block();
            let far = program.codes.filter(|_| program.only_words).map_or(&[][..], Codes::far);
            // An alias may be the number of a process that never has exclusive control.
            let mut entries: BTreeMap<_, _> = (1..).zip(&blocks).collect();
            entries.extend(far.iter().map(|far| (u128::from(far.alias), &blocks[usize::from(far.process)])));
            let mut switch = Switch::new();
            entries.into_iter().for_each(|(number, block)| switch.set_entry(number, *block));
            switch.emit(&mut self.b, exclusive, all);
            self.go_on_in(all);
            exclusive
        });
        let in_turn: Vec<usize> = self.in_turn(fixed.len());
        let first = in_turn.first().map_or(done, |process| blocks[*process]);
        self.jump(first);
        for (turn, &process) in in_turn.iter().enumerate() {
            let next = in_turn.get(turn + 1).map_or(done, |process| blocks[*process]);
            self.go_on_in(blocks[process]);
            if let Some(exists) = self.exists(process, state) {
                self.unless_leave(exists, next);
            }
            let who = CurrentProcess {
                of: Some(fixed[process].process_type),
                number: Number::Known(process as i32),
                start: Offset::fixed(fixed[process].start),
            };
            let after = if exclusive.is_some() && next != done { self.block() } else { next };
            self.steps_of_one(state, who, after);
            if let Some(exclusive) = exclusive.filter(|_| next != done) {
                self.go_on_in(after);
                self.b.ins().brif(exclusive, done, &[], next, &[]);
            }
        }
        self.go_on_in(done);
        self.finish_writing();
    }

    /// Processes in the order of their steps.
    pub(super) fn in_turn(&self, processes: usize) -> Vec<usize> {
        if self.program.system.oldest_first { (0..processes).collect() } else { (0..processes).rev().collect() }
    }

    /// The steps of one process.
    pub(super) fn expand_one(&mut self, of: ProcessTypeId, params: &[Value]) {
        self.begin_writing(params[1]);
        let state = self.source();
        let who = self.who(of, params[2], params[3]);
        let done = self.block();
        self.steps_of_one(state, who, done);
        self.go_on_in(done);
        self.finish_writing();
    }

    pub(super) fn who(&self, of: ProcessTypeId, number: Value, start: Value) -> CurrentProcess {
        match self.program.facts.only(of) {
            Some((process, start)) => {
                CurrentProcess { of: Some(of), number: Number::Known(process as i32), start: Offset::fixed(start) }
            }
            None => CurrentProcess {
                of: Some(of),
                number: Number::Computed(number, Range { low: 0, high: 254 }),
                start: Offset { fixed: 0, computed: Some(start) },
            },
        }
    }

    fn steps_of_one(&mut self, state: Value, who: CurrentProcess, done: Block) {
        let of = who.of.expect("a process has a type");
        let fault = self.fault_block();
        let env = Env { state, who, purpose: Purpose::ForSteps, offered: false, fault };
        if self.program.is_interpreted(of) {
            self.leave_to_interpreter(ANY_EDGE, &env);
            return self.jump(done);
        }
        self.if_provided(of, &env, done);
        self.by_location(
            of,
            &env,
            |_, _| true,
            done,
            |this, _, location| {
                this.steps_at(location, &env, done);
            },
        );
    }

    /// Lets the interpreter take the steps that begin with an edge.
    pub(super) fn leave_to_interpreter(&mut self, edge: u32, env: &Env) {
        let number = self.value(env.who.number);
        let edge = self.b.ins().iconst(types::I32, i64::from(edge));
        let context = self.context;
        self.call_writer(Callee::Helper(Helper::Steps), &[context], &[number, edge]);
    }

    /// Continues only if the provided clause of the process holds. A condition that cannot be evaluated does not hold.
    pub(super) fn if_provided(&mut self, of: ProcessTypeId, env: &Env, no: Block) {
        let program = self.program;
        let Some(condition) = &program.system.process_type(of).provided else { return };
        let fault = self.fault_block();
        self.require(condition, &Env { fault, ..*env }, no);
        let here = self.b.current_block().expect("code is being written");
        if self.enter_fault(fault).is_some() {
            self.jump(no);
            self.go_on_in(here);
        }
    }

    /// Jumps to the code of the process's location. `each` emits it for the `wanted` locations.
    pub(super) fn by_location(
        &mut self,
        of: ProcessTypeId,
        env: &Env,
        wanted: impl Fn(LocationId, &Location) -> bool,
        otherwise: Block,
        mut each: impl FnMut(&mut Self, LocationId, &Location),
    ) {
        let program = self.program;
        let locations = program.reach.locations(program.system, of);
        let locations: Vec<_> = locations
            .filter(|(id, location)| wanted(*id, location))
            .map(|(id, location)| (id, location, self.block()))
            .collect();
        let here = self.load_station(env.state, env.who.start);
        let here = self.value(here);
        let station = |id: LocationId| program.layout.station(of, id);
        let blocks: Vec<_> = locations.iter().map(|(id, _, block)| (station(*id), *block)).collect();
        self.switch(here, &blocks, otherwise);
        for (id, location, block) in locations {
            self.go_on_in(block);
            each(self, id, location);
        }
    }

    /// Jumps to the block for a number.
    fn switch(&mut self, number: Value, blocks: &[(u16, Block)], otherwise: Block) {
        const BRANCHES: usize = 2;
        let len = blocks.iter().map(|(number, _)| usize::from(*number) + 1).max().unwrap_or(0);
        if blocks.len() <= BRANCHES || len > 4 * blocks.len() + 16 {
            let mut switch = Switch::new();
            for (number, block) in blocks {
                switch.set_entry(u128::from(*number), *block);
            }
            return switch.emit(&mut self.b, number, otherwise);
        }
        // A table from 0 on needs no subtraction.
        let mut targets = vec![otherwise; len];
        for (number, block) in blocks {
            targets[usize::from(*number)] = *block;
        }
        // Every entry is a separate block call, even for the same block: arguments are added to each later.
        let mut call = |block| self.b.func.dfg.block_call(block, &[]);
        let table: Vec<_> = targets.into_iter().map(&mut call).collect();
        let table = JumpTableData::new(call(otherwise), &table);
        let table = self.b.create_jump_table(table);
        self.b.ins().br_table(number, table);
    }

    fn steps_at(&mut self, location: &Location, env: &Env, done: Block) {
        let program = self.program;
        let since = self.b.use_var(self.out);
        let mut has_moved = Moved::Not;
        let mut group = None;
        for id in location.first..location.first + location.count {
            let edge = program.system.edge(EdgeId(id));
            if group.is_some() && edge.escape != group {
                match has_moved {
                    Moved::Not => {}
                    Moved::Surely => break,
                    Moved::Perhaps => {
                        let moved = self.has_moved(since);
                        self.if_leave(moved, done);
                        has_moved = Moved::Not;
                    }
                }
            }
            group = edge.escape;
            let next = self.block();
            if edge.action.waits_for_others() {
                match has_moved {
                    Moved::Not => {}
                    Moved::Surely => {
                        self.jump(next);
                        self.go_on_in(next);
                        continue;
                    }
                    Moved::Perhaps => {
                        let moved = self.has_moved(since);
                        self.if_leave(moved, next);
                    }
                }
                self.take(EdgeId(id), edge, env, next);
                has_moved = Moved::Surely;
            } else {
                self.take(EdgeId(id), edge, env, next);
                let surely = has_moved == Moved::Surely || edge.action.is_always_possible();
                has_moved = if surely { Moved::Surely } else { Moved::Perhaps };
            }
            self.go_on_in(next);
        }
        self.jump(done);
    }

    /// The steps that begin with an edge.
    fn take(&mut self, id: EdgeId, edge: &Edge, env: &Env, next: Block) {
        let way = self.program.execution(id);
        if way == Execution::Interpreted {
            self.leave_to_interpreter(id.0, env);
            return self.jump(next);
        }
        let env = Env { fault: self.fault_block(), ..*env };
        let step = self.step_bits(id, &env);
        self.taking = Some(Taking { step, then: next });
        self.failures = None;
        if way == Execution::Native && self.may_fail(&edge.action, env.who.of) {
            self.begin_no_failures();
        }
        match &edge.action {
            Action::Send(send) if self.program.may_offer(edge, env.who.of.expect("a process moves")) => {
                self.take_send(id, edge, send, &env, step, next);
            }
            action => {
                let found = if action.waits_for_others() { None } else { self.possible(action, &env, next) };
                match way {
                    Execution::Native => {
                        let to = self.perform(action, found, &env, edge.statement, None);
                        self.conclude(edge, &env, to, step);
                    }
                    Execution::Fired => {
                        let context = self.context;
                        self.call_writer(Callee::Helper(Helper::Fire), &[context], &[step]);
                    }
                    Execution::Interpreted => unreachable!("left to the interpreter above"),
                }
                self.jump(next);
            }
        }
        self.write_broken(env.fault, step, edge.statement, next);
    }

    /// Whether a process could move: 1 or 0.
    pub(super) fn can_move(&mut self, of: ProcessTypeId, params: &[Value]) {
        let program = self.program;
        let who = self.who(of, params[2], params[3]);
        let [yes, no] = [self.block(), self.block()];
        let fault = self.fault_block();
        let env = Env { state: params[1], who, purpose: Purpose::Whether, offered: false, fault };
        self.if_provided(of, &env, no);
        let asked = |id: LocationId, _: &Location| {
            let mut edges = program.each_edge().filter(|(other, ..)| *other == of);
            edges.any(|(_, _, edge)| edge.atomic && edge.target == Some(id))
                && !program.is_never_stuck(of, id)
                && !program.asks_interpreter(of, id)
        };
        self.by_location(of, &env, asked, no, |this, _, location| {
            this.any_step_at(location, &env, yes);
            this.jump(no);
        });
        self.answer(&env, yes, no);
    }

    /// Returns 1 from `yes` and from faults, which occur when the step is taken, and 0 from `no`.
    pub(super) fn answer(&mut self, env: &Env, yes: Block, no: Block) {
        if self.enter_fault(env.fault).is_some() {
            self.jump(yes);
        }
        for (block, answer) in [(yes, 1), (no, 0)] {
            self.go_on_in(block);
            let answer = self.b.ins().iconst(types::I32, answer);
            self.b.ins().return_(&[answer]);
        }
    }

    fn any_step_at(&mut self, location: &Location, env: &Env, yes: Block) {
        let program = self.program;
        for edge in program.system.edges_of(location) {
            let next = self.block();
            match &edge.action {
                Action::Send(send) if program.may_offer(edge, env.who.of.expect("a process moves")) => {
                    self.ask_send(send, env, yes, next);
                }
                action => {
                    if !action.waits_for_others() {
                        self.possible(action, env, next);
                    }
                    self.jump(yes);
                }
            }
            self.go_on_in(next);
        }
    }
}

/// Whether an entry was written for an earlier edge of the location.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moved {
    Not,
    Perhaps,
    Surely,
}
