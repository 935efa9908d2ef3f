//! Every kind of defect is found, and only defects are.

use super::*;
use crate::text::samples::everything;
use crate::{BinaryOp, Entry, Index, Run};

const BYTE: Scalar = Scalar::unsigned(8);

/// Introduces a defect into a valid system, and expects the message.
#[track_caller]
fn defect(problem: &str, damage: impl FnOnce(&mut System)) {
    let mut system = everything();
    assert_eq!(verify(&system), Ok(()));
    damage(&mut system);
    let problems = verify(&system).expect_err("the damage should be found");
    assert!(problems.iter().any(|found| found == problem), "expected {problem:?}\nfound {problems:#?}");
}

/// Replaces the first edge, which is of location 2 of the first process.
#[track_caller]
fn bad_action(problem: &str, action: Action) {
    defect(&format!("process :init:: L2: edge 0: {problem}"), |system| system.edges[0].action = action);
}

#[track_caller]
fn bad_place(problem: &str, place: Place) {
    bad_action(problem, Action::Assign(Box::new(place), Expr::Const(0)));
}

fn block(nodes: Vec<BlockNode>) -> Action {
    Action::Deterministic(Box::new(Block { entry: Entry::Always, nodes }))
}

#[test]
fn of_channel_types() {
    defect("channel type 0: a number has 0 bits", |system| system.channel_types[0].fields[0].bits = 0);
    defect("channel type 0: 131068000 bytes are too many", |system| {
        system.channel_types[0].capacity = 65534;
        system.channel_types[0].fields = vec![BYTE; 2000];
    });
}

#[test]
fn of_frames() {
    defect("globals: x: ends at byte 41 of 40", |system| system.globals.variables[0].offset = 40);
    defect("globals: pairs: ends at byte 4294967315 of 40", |system| {
        let shape = Shape::Scalar(Scalar::signed(32));
        system.globals.variables[4].shape = Shape::Array { element: Box::new(shape), len: u32::MAX };
    });
    defect("globals: 16777217 bytes are too many", |system| system.globals.size = MAX_BYTES + 1);
    defect("globals: x: a number has 33 bits", |system| {
        system.globals.variables[0].shape = Shape::Scalar(Scalar::unsigned(33));
    });
    defect("globals: x: there is no enumeration 2", |system| {
        let scalar = BYTE.meaning(Meaning::Enumeration(EnumerationId(2)));
        system.globals.variables[0].shape = Shape::Scalar(scalar);
    });
    defect("globals: x: an array has no elements", |system| {
        let element = Box::new(Shape::Scalar(BYTE));
        system.globals.variables[0].shape = Shape::Array { element, len: 0 };
    });
    defect("globals: x: field f: ends at byte 3 of 1", |system| {
        let field = Field { name: "f".to_owned(), offset: 2, shape: Shape::Scalar(BYTE) };
        system.globals.variables[0].shape = Shape::Record { fields: vec![field], size: 1 };
    });
    defect("globals: x: nested too deeply", |system| {
        let array = |element, _| Shape::Array { element: Box::new(element), len: 1 };
        system.globals.variables[0].shape = (0..MAX_DEPTH).fold(Shape::Scalar(BYTE), array);
    });
}

#[test]
fn of_initial_values() {
    let kept = BYTE.meaning(Meaning::Channel);
    let init = |problem: &str, init: Init| {
        defect(&format!("globals: init 2: {problem}"), |system| system.globals.init.push(init));
    };
    init("there is no channel type 2", Init::Channel(Place::global(1, kept), ChannelTypeId(2)));
    init("a channel is stored where none is kept", Init::Channel(Place::global(1, BYTE), ChannelTypeId(0)));
    init("it sets a variable of another frame", Init::Value(Place::local(0, BYTE), Expr::Const(0)));
    init("there are no local variables here", Init::Value(Place::local(0, BYTE), Expr::Const(0)));
    defect("process other: init 0: it sets a variable of another frame", |system| {
        system.process_types[1].frame.init.push(Init::Value(Place::global(0, BYTE), Expr::Const(0)));
    });
}

#[test]
fn of_process_types() {
    let process = |problem: &str, damage: fn(&mut ProcessType)| {
        defect(&format!("process other: {problem}"), |system| damage(&mut system.process_types[1]));
    };
    process("there is no statement 2", |process| process.declared_at = StatementId(2));
    process("parameter 0: it is no local variable", |process| process.params[0].base = Base::Global);
    process("parameter 0: local[8]:u8 ends at byte 9 of 8", |process| process.params[0].offset = 8);
    process("provided: no process has been started", |process| process.provided = Some(Expr::Started));
    process("entry: there is no location 0", |process| process.entry = LocationId(0));
    process("entry: there is no location 3", |process| process.entry = LocationId(3));
    process("entry: location 2 has no edges", |process| process.entry = LocationId(2));
    process("location 0 is used", |process| process.locations[0].end = true);
    process("too many locations", |process| process.locations.resize(65537, Location::default()));
    defect("process :init:: label accept_all: there is no location 5", |system| {
        system.process_types[0].labels[0].location = LocationId(5);
    });
    defect("too many process types", |system| {
        let process = system.process_types[1].clone();
        system.process_types.resize(65537, process);
    });
}

#[test]
fn of_edges() {
    defect("process other: L1: its edges do not exist", |system| system.process_types[1].locations[1].count += 1);
    defect("process other: L1: its edges do not exist", |system| {
        system.process_types[1].locations[1] = Location { first: u32::MAX, count: u32::MAX, ..Location::default() };
    });
    defect("process other: L1: its edges belong to another location, too", |system| {
        system.process_types[1].locations[1].first -= 1;
    });
    defect("edge 2 belongs to no location", |system| {
        system.process_types[0].locations[1].first += 1;
        system.process_types[0].locations[1].count -= 1;
    });
    let edge = |problem: &str, damage: fn(&mut Edge)| {
        defect(&format!("process :init:: L2: edge 1: {problem}"), |system| damage(&mut system.edges[1]));
    };
    edge("there is no statement 9", |edge| edge.statement = StatementId(9));
    edge("there is no location 5", |edge| edge.target = Some(LocationId(5)));
    edge("location 3 has no edges", |edge| edge.target = Some(LocationId(3)));
    edge("there is no location 0", |edge| edge.escape = Some(LocationId(0)));
    defect("process :init:: L2: edge 1: an edge with an escape group follows one without", |system| {
        system.edges.swap(0, 1)
    });
}

#[test]
fn of_blocks() {
    let statement = StatementId(0);
    let next = Some(NodeId(1));
    bad_action("a block has no nodes", block(vec![]));
    bad_action("n0: there is no node 1", block(vec![BlockNode::Jump(next)]));
    bad_action("n0: there is no node 1", block(vec![BlockNode::Do { action: Action::Skip, statement, next }]));
    bad_action(
        "n0: there is no node 1",
        block(vec![BlockNode::Choose { alternatives: vec![NodeId(1)], statement }]),
    );
    bad_action(
        "n0: there is nothing to choose",
        block(vec![BlockNode::Choose { alternatives: vec![], statement }]),
    );
    let inner = BlockNode::Do { action: block(vec![]), statement, next: None };
    bad_action("n0: a block is part of an action", block(vec![inner]));
    let unknown = StatementId(2);
    let lost = BlockNode::Do { action: Action::Skip, statement: unknown, next: None };
    bad_action("n0: there is no statement 2", block(vec![lost]));
    let entry = Entry::AnyOf(vec![Action::Guard(Expr::Started)]);
    let nodes = vec![BlockNode::Jump(None)];
    bad_action("no process has been started", Action::Deterministic(Box::new(Block { entry, nodes })));
}

#[test]
fn of_actions() {
    let run = |id, args| Box::new(Run { process_type: ProcessTypeId(id), args, priority: 1 });
    bad_action("there is no process type 2", Action::Run(run(2, vec![]), Box::new(Action::Skip)));
    bad_action("0 arguments do not fit", Action::Run(run(1, vec![]), Box::new(Action::Skip)));
    let again = Action::Run(run(0, vec![]), Box::new(Action::Skip));
    bad_action("an action starts two processes", Action::Run(run(0, vec![]), Box::new(again)));
    bad_action("a block is part of an action", Action::Run(run(0, vec![]), Box::new(block(vec![]))));
}

#[test]
fn of_expressions() {
    bad_action("no process has been started", Action::Guard(Expr::Started));
    bad_action("there is no process type 2", Action::Guard(Expr::Find(ProcessTypeId(2))));
    bad_action("no process has a location 5", Action::Guard(Expr::At(Box::new(Expr::Myself), LocationId(5))));
    bad_action("no process has a location 0", Action::Guard(Expr::At(Box::new(Expr::Myself), LocationId(0))));
    let or = |inner, _| Expr::binary(BinaryOp::Or, inner, Expr::Const(1));
    bad_action("nested too deeply", Action::Guard((0..MAX_DEPTH).fold(Expr::Const(5), or)));
    defect("process :init:: L2: edge 0: which process moved last is not remembered", |system| {
        system.uses_last = false;
        system.edges[0].action = Action::Guard(Expr::Last);
    });
}

#[test]
fn of_places() {
    bad_place("global[40]:u8 ends at byte 41 of 40", Place::global(40, BYTE));
    bad_place("global[37]:i32 ends at byte 41 of 40", Place::global(37, Scalar::signed(32)));
    bad_place("local[2]:u8 ends at byte 3 of 2", Place::local(2, BYTE));
    bad_place("a number has 0 bits", Place::local(0, Scalar::unsigned(0)));
    let remote = |id| Base::Remote(Box::new(Expr::Myself), ProcessTypeId(id));
    bad_place("there is no process type 2", Place { base: remote(2), ..Place::global(0, BYTE) });
    bad_place("other(_self)[8]:u8 ends at byte 9 of 8", Place { base: remote(1), ..Place::global(8, BYTE) });
    let indexed = |stride, len| Place {
        indices: vec![Index { value: Expr::Const(0), stride, len }],
        ..Place::global(0, Scalar::signed(16))
    };
    bad_place("an index runs over 0 elements of 2 bytes", indexed(2, 0));
    bad_place("an index runs over 3 elements of 1 bytes", indexed(1, 3));
    bad_place("global[0][0 of 5 by 10]:i16 ends at byte 42 of 40", indexed(10, 5));
    let end = 2 + u64::from(u32::MAX) * u64::from(u32::MAX - 1);
    let problem = format!("global[0][0 of {max} by {max}]:i16 ends at byte {end} of 40", max = u32::MAX);
    bad_place(&problem, indexed(u32::MAX, u32::MAX));
}

#[test]
fn of_the_start() {
    defect("start 0: there is no process type 2", |system| system.start[0].process_type = ProcessTypeId(2));
}

#[test]
fn all_of_them_are_reported() {
    let mut system = everything();
    system.globals.size = 0;
    system.start[0].process_type = ProcessTypeId(9);
    assert!(verify(&system).is_err_and(|problems| problems.len() > 10));
}

#[test]
fn of_monitors() {
    fn monitor(system: &mut System) -> &mut Monitor {
        system.monitor.as_mut().expect("there is one")
    }
    fn first(system: &mut System) -> &mut MonitorEdge {
        &mut monitor(system).states[0].edges[0]
    }
    defect("monitor: its last state is not final", |system| monitor(system).states.clear());
    defect("monitor: its last state is not final", |system| monitor(system).states.truncate(2));
    defect("monitor: there is no statement 9", |system| monitor(system).watched[0].statement = StatementId(9));
    defect("monitor: there are no local variables here", |system| {
        monitor(system).watched[0].channel = Expr::load(Place::local(0, BYTE));
    });
    defect("monitor: M0: there is no state 3", |system| first(system).target = 3);
    defect("monitor: M0: there is no statement 9", |system| first(system).statement = StatementId(9));
    defect("monitor: M0: a monitor must not store fields", |system| {
        if let Some(event) = &mut first(system).event {
            event.fields[0] = Pattern::Store(Place::global(0, BYTE));
        }
    });
}
