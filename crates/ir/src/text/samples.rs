//! Systems for tests.

use entail_model::FaultKind;

use crate::monitor::{Direction, Event, Monitor, MonitorEdge, MonitorState, Rule, Watched};
use crate::{
    Action, Base, BinaryOp, Block, BlockNode, ChannelTest, ChannelType, ChannelTypeId, Edge, Entry, Enumeration,
    EnumerationId, Expr, Field, Frame, Index, Init, Label, Location, LocationId, Meaning, NodeId, Pattern, Place,
    Poll, ProcessType, ProcessTypeId, Range, Receive, Run, Scalar, Send, Shape, Start, Statement, StatementId,
    System, UnaryOp, Variable,
};

const BYTE: Scalar = Scalar::unsigned(8);
const CHANNEL: Scalar = BYTE.meaning(Meaning::Channel);
const NAMED: Scalar = BYTE.meaning(Meaning::Enumeration(EnumerationId(0)));
const SELF: ProcessTypeId = ProcessTypeId(0);
const OTHER: ProcessTypeId = ProcessTypeId(1);

/// A system that contains every kind of action, expression, place and initial value.
pub(crate) fn everything() -> System {
    let mut system = System {
        globals: globals(),
        channel_types: vec![
            ChannelType { name: "[2] of { mtype, byte }".to_owned(), capacity: 2, fields: vec![NAMED, BYTE] },
            ChannelType { name: "meet".to_owned(), capacity: 0, fields: vec![] },
        ],
        enumerations: vec![
            Enumeration {
                name: "mtype".to_owned(),
                first: 1,
                members: vec!["ack".to_owned(), "not ok".to_owned()],
            },
            Enumeration { name: "mtype".to_owned(), first: -2, members: vec![] },
        ],
        start: vec![Start { process_type: SELF, priority: 1 }, Start { process_type: SELF, priority: 5 }],
        uses_last: true,
        uses_priorities: true,
        oldest_first: true,
        lazy_messages: true,
        reclaims: true,
        joins_atomic: true,
        forgives_start: true,
        invariants: vec![(sum(), StatementId(1))],
        propositions: vec![(sum(), StatementId(1)), (Expr::ProcessCount, StatementId(0))],
        monitor: Some(monitor()),
        ..System::default()
    };
    statements(&mut system);
    system.process_types = vec![main_process(), other_process()];
    let guards = exprs().into_iter().map(Action::Guard);
    let escapes = Edge { escape: Some(LocationId(4)), ..edge(Action::Skip, Some(2)) };
    let first = actions().into_iter().chain(guards).map(|action| edge(action, Some(2)));
    fill(&mut system, SELF, 2, vec![escapes, edge(Action::End, None)]);
    fill(&mut system, SELF, 1, first.collect());
    fill(&mut system, OTHER, 1, vec![Edge { atomic: true, ..edge(Action::End, None) }]);
    system
}

fn monitor() -> Monitor {
    let channel = Expr::load(Place::global(1, CHANNEL));
    let event = |direction| Event {
        direction,
        channel: channel.clone(),
        fields: vec![Pattern::Equal(sum()), Pattern::Ignore],
    };
    let expected =
        |event: Option<Event>, target| MonitorEdge { event, target, statement: StatementId(u32::from(target)) };
    let (send, receive) = (event(Direction::Send), event(Direction::Receive));
    let watched = |direction| Watched { direction, channel: channel.clone(), statement: StatementId(1) };
    Monitor {
        rule: Rule::Forbids,
        watched: vec![watched(Direction::Send), watched(Direction::Receive)],
        states: vec![
            MonitorState { edges: vec![expected(Some(send), 1), expected(Some(receive), 0)], end: true },
            MonitorState { edges: vec![expected(None, 0)], end: false },
            MonitorState { edges: vec![], end: true },
        ],
    }
}

fn globals() -> Frame {
    let pair = Shape::Record {
        fields: vec![
            Field {
                name: "a".to_owned(),
                offset: 0,
                shape: Shape::Scalar(Scalar::unsigned(1).meaning(Meaning::Boolean)),
            },
            Field { name: "b".to_owned(), offset: 2, shape: array(Shape::Scalar(Scalar::signed(16)), 3) },
        ],
        size: 8,
    };
    Frame {
        size: 40,
        variables: vec![
            variable("x", 0, Shape::Scalar(BYTE)),
            variable("q", 1, Shape::Scalar(CHANNEL)),
            variable("when", 2, Shape::Scalar(NAMED)),
            variable("table", 4, array(Shape::Scalar(Scalar::signed(32)), 4)),
            variable("pairs", 20, array(pair, 2)),
            variable("", 36, Shape::Scalar(BYTE.meaning(Meaning::Enumeration(EnumerationId(1))))),
            variable("x", 37, Shape::Scalar(BYTE.meaning(Meaning::Process))),
        ],
        init: vec![
            Init::Value(Place::global(0, BYTE), Expr::Const(3)),
            Init::Channel(Place::global(1, CHANNEL), ChannelTypeId(0)),
        ],
    }
}

fn main_process() -> ProcessType {
    let variables = vec![variable("i", 0, Shape::Scalar(BYTE)), variable("q", 1, Shape::Scalar(CHANNEL))];
    let init = vec![Init::Channel(Place::local(1, CHANNEL), ChannelTypeId(1))];
    ProcessType {
        name: ":init:".to_owned(),
        params: vec![],
        frame: Frame { size: 2, variables, init },
        locations: vec![Location::default(); 5],
        entry: LocationId(1),
        labels: vec![Label { name: "accept_all".to_owned(), location: LocationId(2) }],
        provided: Some(Expr::load(Place::local(0, BYTE))),
        deterministic: true,
        declared_at: StatementId(0),
    }
}

fn other_process() -> ProcessType {
    let variables =
        vec![variable("who", 0, Shape::Scalar(BYTE)), variable("grid", 1, array(array(Shape::Scalar(BYTE), 3), 2))];
    ProcessType {
        name: "other".to_owned(),
        params: vec![Place::local(0, BYTE)],
        frame: Frame { size: 8, variables, init: vec![] },
        locations: vec![
            Location::default(),
            Location { end: true, accept: true, progress: true, ..Location::default() },
            Location::default(),
        ],
        entry: LocationId(1),
        labels: vec![],
        provided: None,
        deterministic: false,
        declared_at: StatementId(1),
    }
}

fn statements(system: &mut System) {
    let statement = |text: &str, location| Statement {
        text: text.to_owned(),
        file: "a \"b\"\\.pml".to_owned(),
        line: 3,
        column: 4,
        spin_id: 5,
        location: LocationId(location),
    };
    system.statements = vec![statement("init", 0), statement("printf(\"%d\\n\",\n\tx) // \u{1}é", 7)];
}

fn actions() -> Vec<Action> {
    let x = || Place::global(0, BYTE);
    let run = |args| Run { process_type: OTHER, args, priority: 7 };
    let block = |entry, nodes| Action::Deterministic(Box::new(Block { entry, nodes }));
    let receive = |fields, anywhere, keep, when| {
        let channel = Expr::load(Place::local(1, CHANNEL));
        Action::Receive(Box::new(Receive { channel, fields, anywhere, keep, when }))
    };
    vec![
        Action::Skip,
        Action::Guard(Expr::Const(i32::MIN)),
        Action::Else,
        Action::Send(Box::new(Send { channel: Expr::Const(1), fields: vec![], sorted: false, when: None })),
        Action::Send(Box::new(Send {
            channel: sum(),
            fields: vec![sum(), Expr::Last],
            sorted: true,
            when: Some(sum()),
        })),
        receive(vec![], false, true, None),
        receive(patterns(), true, false, None),
        receive(patterns(), false, true, Some(sum())),
        Action::Assert(sum()),
        Action::Print("nothing\n".to_owned(), vec![]),
        Action::Print("%d \"%d\"".to_owned(), vec![sum(), Expr::Const(-1)]),
        Action::PrintName(Expr::load(Place::global(2, NAMED))),
        Action::SetPriority(Box::new((Expr::Myself, sum()))),
        Action::Run(Box::new(run(vec![sum()])), Box::new(Action::Assign(Box::new(x()), Expr::Started))),
        Action::End,
        block(Entry::Always, nodes(Action::Guard(sum()))),
        block(Entry::Otherwise, nodes(Action::Guard(sum()))),
        block(
            Entry::AnyOf(vec![Action::Guard(sum()), receive(patterns(), false, false, None)]),
            nodes(Action::Guard(sum())),
        ),
    ]
    .into_iter()
    .chain(places().into_iter().map(|place| Action::Assign(Box::new(place), sum())))
    .collect()
}

fn nodes(action: Action) -> Vec<BlockNode> {
    let statement = StatementId(1);
    vec![
        BlockNode::Do { action: Action::Skip, statement, next: Some(NodeId(1)) },
        BlockNode::Choose { alternatives: vec![NodeId(2), NodeId(3)], statement },
        BlockNode::Do { action, statement, next: None },
        BlockNode::Jump(Some(NodeId(0))),
        BlockNode::Jump(None),
    ]
}

fn patterns() -> Vec<Pattern> {
    vec![Pattern::Store(Place::local(0, BYTE)), Pattern::Equal(sum()), Pattern::Ignore]
}

/// Places by name and by position, with constant and computed indices, shadowed and unnamed.
fn places() -> Vec<Place> {
    let index = |value, stride, len| Index { value, stride, len };
    let remote = |process, of| Base::Remote(Box::new(process), of);
    let indexed = |base, offset, indices, scalar| Place { base, offset, indices, scalar };
    let word = Scalar::signed(32);
    vec![
        Place::global(0, BYTE),
        Place::global(0, Scalar::unsigned(7)),
        Place::global(1, CHANNEL),
        Place::global(3, BYTE),
        Place::global(12, word),
        Place::global(37, BYTE.meaning(Meaning::Process)),
        Place::global(36, BYTE.meaning(Meaning::Enumeration(EnumerationId(1)))),
        Place::local(1, CHANNEL),
        indexed(Base::Global, 4, vec![index(sum(), 4, 4)], word),
        indexed(Base::Nowhere, 0, vec![index(sum(), 4, 4)], word),
        indexed(Base::Global, 4, vec![index(Expr::Const(2), 4, 4)], word),
        indexed(Base::Global, 8, vec![index(sum(), 4, 3)], word),
        indexed(Base::Global, 24, vec![index(Expr::Myself, 8, 2)], Scalar::signed(16)),
        indexed(Base::Global, 22, vec![index(Expr::Myself, 8, 2), index(Expr::Last, 2, 3)], Scalar::signed(16)),
        indexed(remote(Expr::Find(OTHER), OTHER), 1, vec![index(sum(), 3, 2), index(Expr::Const(1), 1, 3)], BYTE),
        indexed(remote(sum(), OTHER), 4, vec![], Scalar::unsigned(16)),
        indexed(remote(Expr::Const(0), SELF), 0, vec![], BYTE),
    ]
}

fn exprs() -> Vec<Expr> {
    let boxed = || Box::new(sum());
    let poll = |anywhere| Poll { channel: Expr::Const(1), anywhere, fields: patterns() };
    let mut exprs = vec![
        Expr::Const(i32::MAX),
        Expr::Conditional(Box::new((sum(), Expr::Const(1), sum()))),
        Expr::unary(UnaryOp::Negate, Expr::Const(5)),
        Expr::unary(UnaryOp::Negate, Expr::Const(-5)),
        Expr::unary(UnaryOp::Not, Expr::unary(UnaryOp::Not, sum())),
        Expr::unary(UnaryOp::Complement, Expr::unary(UnaryOp::Negate, Expr::Myself)),
        Expr::binary(BinaryOp::Sub, sum(), Expr::unary(UnaryOp::Negate, Expr::Const(1))),
        Expr::Length(boxed()),
        Expr::Poll(Box::new(poll(false))),
        Expr::Poll(Box::new(poll(true))),
        Expr::Myself,
        Expr::ProcessCount,
        Expr::Last,
        Expr::Timeout,
        Expr::Enabled(boxed()),
        Expr::LocationOf(boxed()),
        Expr::At(boxed(), LocationId(2)),
        Expr::PriorityOf(boxed()),
        Expr::Find(SELF),
        Expr::Find(OTHER),
        Expr::NonProgress,
        Expr::Accepting,
        Expr::Fault(FaultKind::ListEmpty),
    ];
    exprs.extend(super::BINARY_OPS.map(|op| Expr::binary(op, sum(), Expr::Const(-7))));
    let tests = [ChannelTest::Full, ChannelTest::Empty, ChannelTest::NotFull, ChannelTest::NotEmpty];
    exprs.extend(tests.map(|test| Expr::Channel(test, boxed())));
    exprs.extend(places().into_iter().map(Expr::load));
    exprs
}

fn sum() -> Expr {
    Expr::binary(BinaryOp::Add, Expr::load(Place::global(0, BYTE)), Expr::Const(1))
}

fn variable(name: &str, offset: u32, shape: Shape) -> Variable {
    Variable { name: name.to_owned(), offset, shape }
}

fn array(element: Shape, len: u32) -> Shape {
    Shape::Array { element: Box::new(element), len }
}

fn edge(action: Action, target: Option<u16>) -> Edge {
    Edge {
        target: target.map(LocationId),
        action,
        atomic: false,
        escape: None,
        forgets: Vec::new(),
        statement: StatementId(1),
    }
}

/// Gives a location its edges.
fn fill(system: &mut System, process: ProcessTypeId, location: usize, edges: Vec<Edge>) {
    let location = &mut system.process_types[process.index()].locations[location];
    (location.first, location.count) = (system.edges.len() as u32, edges.len() as u32);
    system.edges.extend(edges);
}

/// A random valid system, determined by the seed.
pub(crate) fn random(seed: u64) -> System {
    let mut random = Random(seed);
    let mut system = everything();
    system.edges.clear();
    system.globals = random.frame(&Base::Global);
    system.process_types = (0..=random.below(3)).map(|_| random.process_type()).collect();
    system.start.clear();
    system.invariants = vec![(Expr::ProcessCount, StatementId(0))];
    system.propositions = vec![(Expr::ProcessCount, StatementId(0))];
    system.monitor = random.chance().then(|| {
        let post = MonitorState { edges: vec![], end: random.chance() };
        let rule = if random.chance() { Rule::Requires } else { Rule::Forbids };
        Monitor { rule, watched: vec![], states: vec![post; 1 + random.below(3) as usize] }
    });
    // Places refer to frames of all process types, so edges are generated last.
    for id in 0..system.process_types.len() {
        let process = ProcessTypeId(id as u16);
        for location in 1..system.process_types[id].locations.len() {
            let mut edges: Vec<_> = (0..=random.below(3)).map(|_| random.edge(&system, process)).collect();
            edges.sort_by_key(|edge| edge.escape.is_none());
            fill(&mut system, process, location, edges);
        }
        let provided = random.chance().then(|| random.expr(&system, process, 4));
        let params = system.process_types[id].params.len();
        system.process_types[id].provided = provided;
        if params == 0 {
            system.start.push(Start { process_type: process, priority: random.below(4) as u8 });
        }
    }
    system
}

/// SplitMix64: enough to vary test data.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 16
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn chance(&mut self) -> bool {
        self.below(2) == 0
    }

    fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize].clone()
    }

    /// A small set of names, so that they clash.
    fn name(&mut self) -> String {
        self.pick(&["x", "y", "i", "P", "len", "L1", "u8", "", "a b", "\"\n", "ß"]).to_owned()
    }

    fn scalar(&mut self) -> Scalar {
        let meaning = self.pick(&[
            Meaning::Number,
            Meaning::Boolean,
            Meaning::Enumeration(EnumerationId(0)),
            Meaning::Enumeration(EnumerationId(1)),
            Meaning::Channel,
            Meaning::Process,
            Meaning::Thread,
        ]);
        let plain = Scalar { bits: 1 + self.below(32) as u8, signed: self.chance(), range: None, meaning };
        let value = plain.truncate(self.below(u64::MAX) as i32);
        Scalar { range: self.chance().then_some(Range { low: value.min(0), high: value.max(0) }), ..plain }
    }

    fn shape(&mut self, depth: u32) -> Shape {
        match self.below(if depth == 0 { 1 } else { 3 }) {
            0 => Shape::Scalar(self.scalar()),
            1 => array(self.shape(depth - 1), 1 + self.below(3) as u32),
            _ => {
                let mut size = 0;
                let mut fields = Vec::new();
                for _ in 0..self.below(3) {
                    let field = Field { name: self.name(), offset: size, shape: self.shape(depth - 1) };
                    size += field.shape.size();
                    fields.push(field);
                }
                Shape::Record { fields, size }
            }
        }
    }

    fn frame(&mut self, base: &Base) -> Frame {
        let mut frame = Frame::default();
        for _ in 0..self.below(5) {
            let variable = variable(&self.name(), frame.size, self.shape(3));
            frame.size += variable.shape.size();
            frame.variables.push(variable);
        }
        for _ in 0..self.below(3) {
            let Some(place) = self.place_in(&frame, base.clone(), |random| Expr::Const(random.next() as i32))
            else {
                break;
            };
            frame.init.push(if place.scalar.meaning == Meaning::Channel {
                Init::Channel(place, ChannelTypeId(self.below(2) as u16))
            } else {
                Init::Value(place, Expr::Const(self.next() as i32))
            });
        }
        frame
    }

    fn process_type(&mut self) -> ProcessType {
        let mut process = ProcessType { name: self.name(), params: vec![], ..main_process() };
        process.frame = self.frame(&Base::Local);
        process.deterministic = self.chance();
        let scalar = match process.frame.variables.first() {
            Some(Variable { offset, shape: Shape::Scalar(scalar), .. }) => Some(Place::local(*offset, *scalar)),
            Some(_) | None => None,
        };
        process.params.extend(scalar.filter(|_| self.chance()));
        for location in &mut process.locations[1..] {
            (location.end, location.accept, location.progress) = (self.chance(), self.chance(), self.chance());
        }
        process
    }

    /// A random scalar of the frame, if it has any; sometimes viewed as another one of the same size.
    fn place_in(&mut self, frame: &Frame, base: Base, mut value: impl FnMut(&mut Self) -> Expr) -> Option<Place> {
        if frame.variables.is_empty() {
            return None;
        }
        let variable = self.pick(&frame.variables);
        let (mut offset, mut shape, mut indices) = (variable.offset, variable.shape, Vec::new());
        loop {
            shape = match shape {
                Shape::Scalar(scalar) => {
                    let bits = if self.below(8) == 0 { 8 } else { scalar.bits };
                    return Some(Place { base, offset, indices, scalar: Scalar { bits, range: None, ..scalar } });
                }
                Shape::Array { element, len } => {
                    let stride = element.size();
                    if self.chance() && stride > 0 {
                        indices.push(Index { value: value(self), stride, len });
                    } else {
                        offset += stride * self.below(u64::from(len)) as u32;
                    }
                    *element
                }
                Shape::Record { fields, .. } if fields.is_empty() => return None,
                Shape::Record { fields, .. } => {
                    let field = self.pick(&fields);
                    offset += field.offset;
                    field.shape
                }
            };
        }
    }

    fn place(&mut self, system: &System, process: ProcessTypeId, depth: u32) -> Option<Place> {
        let of = ProcessTypeId(self.below(system.process_types.len() as u64) as u16);
        let (frame, base) = match self.below(if depth == 0 { 2 } else { 3 }) {
            0 => (&system.globals, Base::Global),
            1 => (&system.process_type(process).frame, Base::Local),
            _ => {
                let number = Box::new(self.expr(system, process, depth - 1));
                (&system.process_type(of).frame, Base::Remote(number, of))
            }
        };
        self.place_in(frame, base, |random| random.expr(system, process, depth.saturating_sub(1)))
    }

    fn expr(&mut self, system: &System, process: ProcessTypeId, depth: u32) -> Expr {
        if depth == 0 {
            return self.pick(&[Expr::Const(-1), Expr::Const(0), Expr::Myself, Expr::Last, Expr::Timeout]);
        }
        let below = |random: &mut Self| random.expr(system, process, depth - 1);
        match self.below(9) {
            0 => Expr::Const(self.next() as i32),
            1 | 2 => self.place(system, process, depth - 1).map_or(Expr::ProcessCount, Expr::load),
            3 => {
                let op = self.pick(&[UnaryOp::Not, UnaryOp::Negate, UnaryOp::Complement]);
                Expr::unary(op, below(self))
            }
            4 | 5 => Expr::binary(self.pick(&super::BINARY_OPS), below(self), below(self)),
            6 => Expr::Conditional(Box::new((below(self), below(self), below(self)))),
            7 => Expr::At(Box::new(below(self)), LocationId(1 + self.below(4) as u16)),
            _ => {
                let fields = self.patterns(system, process, depth - 1);
                Expr::Poll(Box::new(Poll { channel: below(self), anywhere: self.chance(), fields }))
            }
        }
    }

    fn patterns(&mut self, system: &System, process: ProcessTypeId, depth: u32) -> Vec<Pattern> {
        let pattern = |random: &mut Self| match random.below(3) {
            0 => random.place(system, process, depth).map_or(Pattern::Ignore, Pattern::Store),
            1 => Pattern::Equal(random.expr(system, process, depth)),
            _ => Pattern::Ignore,
        };
        (0..self.below(3)).map(|_| pattern(self)).collect()
    }

    fn condition(&mut self, system: &System, process: ProcessTypeId) -> Option<Expr> {
        self.chance().then(|| self.expr(system, process, 2))
    }

    fn action(&mut self, system: &System, process: ProcessTypeId) -> Action {
        let expr = |random: &mut Self| random.expr(system, process, 4);
        match self.below(6) {
            0 => Action::Guard(expr(self)),
            1 => Action::Print(self.name(), vec![expr(self)]),
            2 => {
                let fields = (0..self.below(3)).map(|_| expr(self)).collect();
                Action::Send(Box::new(Send {
                    channel: expr(self),
                    fields,
                    sorted: self.chance(),
                    when: self.condition(system, process),
                }))
            }
            3 => {
                let fields = self.patterns(system, process, 3);
                let (anywhere, keep) = (self.chance(), self.chance());
                let when = self.condition(system, process);
                Action::Receive(Box::new(Receive { channel: expr(self), fields, anywhere, keep, when }))
            }
            4 => {
                let process_type = ProcessTypeId(self.below(system.process_types.len() as u64) as u16);
                let args = system.process_type(process_type).params.iter().map(|_| expr(self)).collect();
                let run = Run { process_type, args, priority: self.below(3) as u8 };
                Action::Run(Box::new(run), Box::new(Action::Guard(Expr::Started)))
            }
            _ => match self.place(system, process, 3) {
                Some(place) => Action::Assign(Box::new(place), expr(self)),
                None => Action::Skip,
            },
        }
    }

    fn edge(&mut self, system: &System, process: ProcessTypeId) -> Edge {
        let action = if self.below(4) == 0 {
            let entry = match self.below(3) {
                0 => Entry::Always,
                1 => Entry::Otherwise,
                _ => Entry::AnyOf((0..self.below(3)).map(|_| self.action(system, process)).collect()),
            };
            Action::Deterministic(Box::new(Block { entry, nodes: nodes(self.action(system, process)) }))
        } else {
            self.action(system, process)
        };
        let target = self.chance().then(|| LocationId(1 + self.below(4) as u16));
        let escape = self.chance().then(|| LocationId(1 + self.below(4) as u16));
        let mut forgets = Vec::new();
        while self.chance() {
            let place = self.place(system, process, 0);
            forgets.extend(
                place.filter(|place| place.indices.is_empty() && matches!(place.base, Base::Global | Base::Local)),
            );
        }
        let (atomic, statement) = (self.chance(), StatementId(self.below(2) as u32));
        Edge { target, action, atomic, escape, forgets, statement }
    }
}
