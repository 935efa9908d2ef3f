//! Random systems, with features beyond those of any language.

use entail_ir::{
    Action, Base, BinaryOp, Block, BlockNode, ChannelTest, ChannelType, ChannelTypeId, Edge, Entry, Expr,
    FaultKind, Frame, Index, Init, Location, LocationId, Meaning, NodeId, Pattern, Place, Poll, ProcessType,
    ProcessTypeId, Range, Receive, Run, Scalar, Send, Shape, Start, Statement, StatementId, System, UnaryOp,
    Variable,
};
use entail_testkit::rng::Rng;

const CHANNEL: Scalar = Scalar::unsigned(8).meaning(Meaning::Channel);
const LOCATIONS: usize = 5;
const STATEMENTS: u32 = 40;
/// The first bytes of every frame hold channels.
const CHANNELS: u32 = 3;

/// A random valid system, determined by the seed.
pub fn system(seed: u64) -> System {
    let mut rng = Rng::new(seed);
    // Each system has some features and lacks others, so that rare faults do not dominate all systems.
    let wild = rng.chance(0.3);
    let mut maker = Maker { rng, wild, system: System::default(), started: false };
    maker.fill();
    maker.system
}

struct Maker {
    rng: Rng,
    /// With rare and difficult features.
    wild: bool,
    system: System,
    /// Whether the current action has started a process.
    started: bool,
}

impl Maker {
    fn fill(&mut self) {
        let statement = |line| Statement {
            text: format!("statement {line}"),
            file: "random".to_owned(),
            line,
            column: 1,
            spin_id: line,
            location: LocationId(0),
        };
        self.system.statements = (0..STATEMENTS).map(statement).collect();
        self.system.uses_last = self.rng.chance(0.2);
        self.system.oldest_first = self.rng.chance(0.3);
        self.system.lazy_messages = self.rng.chance(0.3);
        let types = 1 + self.rng.below(4);
        self.system.channel_types = (0..types).map(|_| self.channel_type()).collect();
        self.system.globals = self.frame(&Base::Global);
        let processes = 1 + self.rng.below(3);
        self.system.process_types = (0..processes).map(|_| self.process_type()).collect();
        for id in 0..processes {
            self.edges_of(ProcessTypeId(id as u16));
            if self.rng.chance(0.15) {
                self.system.process_types[id].provided = Some(self.expr(Some(ProcessTypeId(id as u16)), 2));
            }
        }
        if self.rng.chance(0.2) {
            let condition = self.expr(None, 3);
            self.system.invariants.push((condition, StatementId(7)));
        }
        let count = 1 + self.rng.below(4);
        self.system.start = (0..count)
            .map(|_| Start { process_type: ProcessTypeId(self.rng.below(processes) as u16), priority: 1 })
            .collect();
    }

    fn channel_type(&mut self) -> ChannelType {
        let capacity = *self.rng.pick(&[0, 0, 1, 1, 2, 3, 5, 300]);
        let fields = (0..self.rng.below(4)).map(|_| self.scalar()).collect();
        ChannelType { name: "c".to_owned(), capacity, fields }
    }

    fn scalar(&mut self) -> Scalar {
        let plain = match self.rng.below(6) {
            0 => Scalar::unsigned(1 + self.rng.below(32) as u8),
            1 => Scalar::signed(1 + self.rng.below(32) as u8),
            2 => Scalar::signed(32),
            3 => Scalar::signed(16),
            _ => Scalar::unsigned(8),
        };
        let value = plain.truncate(self.rng.range(-3..9) as i32);
        let range = Range { low: value.min(0), high: value.max(0) };
        Scalar { range: self.rng.chance(0.1).then_some(range), ..plain }
    }

    /// Channels, then numbers, then an array.
    fn frame(&mut self, base: &Base) -> Frame {
        let mut frame = Frame::default();
        let add = |frame: &mut Frame, shape: Shape| {
            frame.variables.push(Variable { name: format!("v{}", frame.size), offset: frame.size, shape });
            frame.size += frame.variables[frame.variables.len() - 1].shape.size();
        };
        for _ in 0..CHANNELS {
            add(&mut frame, Shape::Scalar(CHANNEL));
        }
        for _ in 0..1 + self.rng.below(4) {
            add(&mut frame, Shape::Scalar(self.scalar()));
        }
        let element = Box::new(Shape::Scalar(self.scalar()));
        let len = if self.rng.chance(0.05) { 200 } else { 1 + self.rng.below(4) as u32 };
        add(&mut frame, Shape::Array { element, len });
        for offset in 0..CHANNELS {
            let place = Place { base: base.clone(), offset, indices: Vec::new(), scalar: CHANNEL };
            let channel_type = ChannelTypeId(self.rng.below(self.system.channel_types.len()) as u16);
            let likely = if *base == Base::Global { 0.8 } else { 0.2 };
            if self.rng.chance(likely) {
                frame.init.push(Init::Channel(place, channel_type));
            } else if self.rng.chance(0.8) {
                frame.init.push(Init::Value(place, Expr::Const(1 + self.rng.below(3) as i32)));
            }
        }
        frame
    }

    fn process_type(&mut self) -> ProcessType {
        let frame = self.frame(&Base::Local);
        let params = if self.rng.chance(0.5) { vec![Place::local(0, CHANNEL)] } else { Vec::new() };
        let locations = (0..=LOCATIONS).map(|id| Location { end: id > 0, ..Location::default() }).collect();
        ProcessType {
            name: "p".to_owned(),
            params,
            frame,
            locations,
            entry: LocationId(1),
            labels: Vec::new(),
            provided: None,
            deterministic: self.wild && self.rng.chance(0.1),
            declared_at: StatementId(0),
        }
    }

    fn edges_of(&mut self, of: ProcessTypeId) {
        for id in 1..=LOCATIONS {
            let count = 1 + self.rng.below(4);
            let mut edges: Vec<_> = (0..count).map(|_| self.edge(of)).collect();
            edges.sort_by_key(|edge| (edge.escape.is_none(), edge.escape));
            let location = &mut self.system.process_types[of.index()].locations[id];
            location.first = self.system.edges.len() as u32;
            location.count = edges.len() as u32;
            self.system.edges.extend(edges);
        }
    }

    fn edge(&mut self, of: ProcessTypeId) -> Edge {
        let action =
            if self.rng.chance(0.2) { Action::Deterministic(Box::new(self.block(of))) } else { self.action(of) };
        let ends = action == Action::End;
        Edge {
            target: (!ends).then(|| LocationId(1 + self.rng.below(LOCATIONS) as u16)),
            action,
            atomic: self.rng.chance(0.3),
            escape: self.rng.chance(0.1).then(|| LocationId(1 + self.rng.below(2) as u16)),
            forgets: self.forgotten(of),
            statement: self.statement(),
        }
    }

    fn forgotten(&mut self, of: ProcessTypeId) -> Vec<Place> {
        let count = if self.rng.chance(0.2) { 1 + self.rng.below(3) } else { 0 };
        let places = (0..count).map(|_| self.place(Some(of), 0));
        places.filter(|place| matches!(place.base, Base::Global | Base::Local)).collect()
    }

    fn statement(&mut self) -> StatementId {
        StatementId(self.rng.below(STATEMENTS as usize) as u32)
    }

    fn block(&mut self, of: ProcessTypeId) -> Block {
        let len = 1 + self.rng.below(5);
        let nodes: Vec<_> = (0..len).map(|id| self.node(of, id, len)).collect();
        let entry = match (self.rng.below(4), &nodes[0]) {
            (0, _) => Entry::Always,
            (1, _) => Entry::Otherwise,
            (2, BlockNode::Do { action, .. }) => Entry::AnyOf(vec![action.clone()]),
            _ => Entry::AnyOf((0..1 + self.rng.below(2)).map(|_| self.simple_action(of)).collect()),
        };
        Block { entry, nodes }
    }

    fn node(&mut self, of: ProcessTypeId, id: usize, len: usize) -> BlockNode {
        // An infinite loop takes a million nodes, so there are few.
        let first = if self.rng.chance(0.004) { 0 } else { id + 1 };
        let next = |rng: &mut Rng| (first < len).then(|| NodeId((first + rng.below(len - first)) as u32));
        match self.rng.below(6) {
            0 => BlockNode::Jump(next(&mut self.rng)),
            1 if first < len => {
                let alternatives = (0..1 + self.rng.below(3)).filter_map(|_| next(&mut self.rng)).collect();
                BlockNode::Choose { alternatives, statement: self.statement() }
            }
            _ => BlockNode::Do {
                action: self.simple_action(of),
                statement: self.statement(),
                next: next(&mut self.rng),
            },
        }
    }

    fn action(&mut self, of: ProcessTypeId) -> Action {
        match self.rng.below(24) {
            0 => Action::Else,
            1 => Action::End,
            2 => self.run(of),
            3 if self.wild => Action::SetPriority(Box::new((self.expr(Some(of), 1), self.expr(Some(of), 1)))),
            _ => self.simple_action(of),
        }
    }

    fn run(&mut self, of: ProcessTypeId) -> Action {
        let id = self.rng.below(self.system.process_types.len());
        let params = self.system.process_types[id].params.len();
        let args = (0..params).map(|_| self.channel_expr(Some(of))).collect();
        self.started = true;
        // Always enabled: guards are not tested here.
        let then = Action::Assign(Box::new(self.place(Some(of), 2)), self.expr(Some(of), 3));
        self.started = false;
        Action::Run(Box::new(Run { process_type: ProcessTypeId(id as u16), args, priority: 1 }), Box::new(then))
    }

    fn simple_action(&mut self, of: ProcessTypeId) -> Action {
        let of = Some(of);
        match self.rng.below(14) {
            0 => Action::Skip,
            1 | 2 => Action::Guard(self.expr(of, 3)),
            3..=5 => Action::Assign(Box::new(self.place(of, 2)), self.expr(of, 3)),
            6..=8 => Action::Send(Box::new(Send {
                channel: self.channel_expr(of),
                fields: (0..self.field_count()).map(|_| self.expr(of, 2)).collect(),
                sorted: self.rng.chance(0.2),
                when: self.rng.chance(0.15).then(|| self.expr(of, 2)),
            })),
            9..=11 => Action::Receive(Box::new(Receive {
                channel: self.channel_expr(of),
                fields: self.patterns(of),
                anywhere: self.rng.chance(0.3),
                keep: self.rng.chance(0.15),
                when: self.rng.chance(0.2).then(|| self.expr(of, 2)),
            })),
            12 => Action::Assert(self.expr(of, 2)),
            _ => Action::Print("%d".to_owned(), vec![self.expr(of, 2)]),
        }
    }

    /// Usually that of some channel.
    fn field_count(&mut self) -> usize {
        let channel_type = self.rng.below(self.system.channel_types.len());
        self.system.channel_types[channel_type].fields.len()
    }

    fn patterns(&mut self, of: Option<ProcessTypeId>) -> Vec<Pattern> {
        (0..self.field_count())
            .map(|_| match self.rng.below(5) {
                0 => Pattern::Ignore,
                1 => Pattern::Equal(self.expr(of, 2)),
                _ => Pattern::Store(self.place(of, 2)),
            })
            .collect()
    }

    /// Usually the number of a channel.
    fn channel_expr(&mut self, of: Option<ProcessTypeId>) -> Expr {
        let offset = self.rng.below(CHANNELS as usize) as u32;
        match self.rng.below(20) {
            0 => self.expr(of, 1),
            1 => Expr::Const(self.rng.range(-1..6) as i32),
            2..=6 if of.is_some() => Expr::load(Place::local(offset, CHANNEL)),
            _ => Expr::load(Place::global(offset, CHANNEL)),
        }
    }

    fn expr(&mut self, of: Option<ProcessTypeId>, depth: usize) -> Expr {
        if depth == 0 || self.rng.chance(0.2) {
            return self.leaf(of, depth);
        }
        let below = depth - 1;
        match self.rng.below(22) {
            0 | 1 => {
                let op = *self.rng.pick(&[UnaryOp::Not, UnaryOp::Negate, UnaryOp::Complement]);
                Expr::unary(op, self.expr(of, below))
            }
            2..=11 => {
                let op = self.operator();
                Expr::binary(op, self.expr(of, below), self.expr(of, below))
            }
            12 => Expr::conditional(self.expr(of, below), self.expr(of, below), self.expr(of, below)),
            13 => Expr::Length(Box::new(self.channel_expr(of))),
            14 => {
                let tests = [ChannelTest::Full, ChannelTest::Empty, ChannelTest::NotFull, ChannelTest::NotEmpty];
                Expr::Channel(*self.rng.pick(&tests), Box::new(self.channel_expr(of)))
            }
            15 => {
                let (channel, anywhere) = (self.channel_expr(of), self.rng.chance(0.5));
                Expr::Poll(Box::new(Poll { channel, anywhere, fields: self.patterns(of) }))
            }
            16 => Expr::LocationOf(Box::new(self.process_expr(of))),
            17 => Expr::At(Box::new(self.process_expr(of)), LocationId(1 + self.rng.below(LOCATIONS) as u16)),
            18 => Expr::PriorityOf(Box::new(self.process_expr(of))),
            19 if self.wild => Expr::Enabled(Box::new(self.process_expr(of))),
            20 if self.wild => Expr::Fault(FaultKind::ListEmpty),
            _ => Expr::load(self.place(of, depth)),
        }
    }

    fn operator(&mut self) -> BinaryOp {
        let ops = [
            BinaryOp::Add,
            BinaryOp::Sub,
            BinaryOp::Mul,
            BinaryOp::Div,
            BinaryOp::Rem,
            BinaryOp::BitAnd,
            BinaryOp::BitXor,
            BinaryOp::BitOr,
            BinaryOp::Shl,
            BinaryOp::Shr,
            BinaryOp::Lt,
            BinaryOp::Gt,
            BinaryOp::Le,
            BinaryOp::Ge,
            BinaryOp::Eq,
            BinaryOp::Ne,
            BinaryOp::And,
            BinaryOp::Or,
        ];
        *self.rng.pick(&ops)
    }

    /// Usually the number of a process.
    fn process_expr(&mut self, of: Option<ProcessTypeId>) -> Expr {
        match self.rng.below(4) {
            0 => self.expr(of, 1),
            1 => Expr::Find(ProcessTypeId(self.rng.below(self.system.process_types.len()) as u16)),
            2 => Expr::Const(self.rng.range(-1..4) as i32),
            _ => Expr::Myself,
        }
    }

    fn leaf(&mut self, of: Option<ProcessTypeId>, depth: usize) -> Expr {
        match self.rng.below(16) {
            0 => Expr::Myself,
            1 => Expr::ProcessCount,
            2 if self.system.uses_last => Expr::Last,
            3 => Expr::Timeout,
            4 if self.started => Expr::Started,
            5 => Expr::Const(*self.rng.pick(&[i32::MIN, i32::MAX, 255, 256, -1, 31, 65_536])),
            6 if self.wild => self.rng.pick(&[Expr::NonProgress, Expr::Accepting]).clone(),
            7..=9 => Expr::Const(self.rng.range(-2..6) as i32),
            _ => Expr::load(self.place(of, depth)),
        }
    }

    fn place(&mut self, of: Option<ProcessTypeId>, depth: usize) -> Place {
        let other = ProcessTypeId(self.rng.below(self.system.process_types.len()) as u16);
        let (base, seen) = match (self.rng.below(16), of) {
            (0, _) => (Base::Remote(Box::new(self.process_expr(of)), other), Some(other)),
            (1, _) => (Base::Nowhere, None),
            (2..=7, Some(of)) => (Base::Local, Some(of)),
            _ => (Base::Global, None),
        };
        let frame = seen.map_or(&self.system.globals, |of| &self.system.process_type(of).frame);
        let Variable { offset, shape, .. } = self.rng.pick(&frame.variables).clone();
        match shape {
            Shape::Array { element, len } => {
                let Shape::Scalar(scalar) = *element else { unreachable!("arrays are of numbers") };
                if depth > 0 {
                    let value = self.expr(of, depth - 1);
                    return Place {
                        base,
                        offset,
                        indices: vec![Index { value, stride: scalar.size(), len }],
                        scalar,
                    };
                }
                let offset = offset + scalar.size() * self.rng.below(len as usize) as u32;
                Place { base, offset, indices: Vec::new(), scalar }
            }
            Shape::Scalar(scalar) => Place { base, offset, indices: Vec::new(), scalar },
            Shape::Record { .. } => unreachable!("there are no records"),
        }
    }
}
