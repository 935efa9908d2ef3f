//! Parses the parts of a line: actions, expressions, places and shapes.

use entail_model::{FaultKind, Named};

use super::reader::{Parsed, Reader, is_number};
use crate::text::lex::Token;
use crate::text::names::{Step, position};
use crate::text::{BINARY_OPS, USUAL_PRIORITY};
use crate::{
    Action, Base, BinaryOp, Block, BlockNode, ChannelTest, Edge, Entry, EnumerationId, Expr, Field, Frame, Index,
    LocationId, Meaning, NodeId, Pattern, Place, Poll, ProcessTypeId, Range, Receive, Run, Scalar, Send, Shape,
    StatementId, UnaryOp,
};

impl Reader<'_> {
    pub fn edge(&mut self) -> Parsed<Edge> {
        let action = if self.eat_word("deterministic") { self.block_head() } else { self.action()? };
        self.symbol("->")?;
        let target = if self.eat_word("exit") { None } else { Some(LocationId(self.id('L')?)) };
        let atomic = self.eat_word("atomic");
        let escape = if self.eat_word("escape") { Some(LocationId(self.id('L')?)) } else { None };
        let mut forgets = Vec::new();
        while self.eat_word("forgets") {
            forgets.push(self.place()?);
        }
        Ok(Edge { target, action, atomic, escape, forgets, statement: self.statement_id()? })
    }

    /// The nodes follow on lines of their own.
    fn block_head(&mut self) -> Action {
        let entry = if self.eat_word("always") {
            Entry::Always
        } else if self.eat_word("otherwise") {
            Entry::Otherwise
        } else {
            Entry::AnyOf(Vec::new())
        };
        Action::Deterministic(Box::new(Block { entry, nodes: Vec::new() }))
    }

    pub fn node(&mut self) -> Parsed<BlockNode> {
        if self.eat_word("jump") {
            return self.next_node().map(BlockNode::Jump);
        }
        if self.eat_word("choose") {
            let alternatives = self.list("(", ")", |line| line.id('n').map(NodeId))?;
            return Ok(BlockNode::Choose { alternatives, statement: self.statement_id()? });
        }
        let action = self.action()?;
        self.symbol("->")?;
        let next = self.next_node()?;
        Ok(BlockNode::Do { action, statement: self.statement_id()?, next })
    }

    fn next_node(&mut self) -> Parsed<Option<NodeId>> {
        if self.eat_word("exit") { Ok(None) } else { Ok(Some(NodeId(self.id('n')?))) }
    }

    pub(super) fn statement_id(&mut self) -> Parsed<StatementId> {
        self.symbol("@")?;
        self.id('s').map(StatementId)
    }

    pub fn action(&mut self) -> Parsed<Action> {
        if self.eat_word("skip") {
            Ok(Action::Skip)
        } else if self.eat_word("else") {
            Ok(Action::Else)
        } else if self.eat_word("end") {
            Ok(Action::End)
        } else if self.eat_word("when") {
            self.expr().map(Action::Guard)
        } else if self.eat_word("assert") {
            self.expr().map(Action::Assert)
        } else if self.eat_word("printname") {
            self.expr().map(Action::PrintName)
        } else if self.eat_word("print") {
            let text = self.text()?.to_owned();
            let values = if self.is_next(0, "(") { self.list("(", ")", Self::expr)? } else { Vec::new() };
            Ok(Action::Print(text, values))
        } else if self.eat_word("run") {
            self.run()
        } else {
            self.transfer()
        }
    }

    fn run(&mut self) -> Parsed<Action> {
        let process_type = self.process_type()?;
        let args = self.list("(", ")", Self::expr)?;
        let run = Run { process_type, args, priority: self.priority()? };
        self.word("then")?;
        let then = self.nested(Self::action)?;
        Ok(Action::Run(Box::new(run), Box::new(then)))
    }

    /// An assignment, a send or a receive: the token after the first operand decides.
    fn transfer(&mut self) -> Parsed<Action> {
        let first = self.operand()?;
        if self.eat("=") {
            return self.assignment(first);
        }
        if self.is_next(0, "!") || self.is_next(0, "!!") {
            let sorted = self.is_next(0, "!!");
            self.skip();
            let fields = self.list("(", ")", Self::expr)?;
            let when = self.condition()?;
            return Ok(Action::Send(Box::new(Send { channel: first, fields, sorted, when })));
        }
        let (anywhere, fields) = self.patterns()?;
        let keep = self.eat_word("keep");
        let when = self.condition()?;
        Ok(Action::Receive(Box::new(Receive { channel: first, fields, anywhere, keep, when })))
    }

    /// The `when` clause of a send or a receive.
    fn condition(&mut self) -> Parsed<Option<Expr>> {
        if self.eat_word("when") { self.expr().map(Some) } else { Ok(None) }
    }

    fn assignment(&mut self, target: Expr) -> Parsed<Action> {
        let value = self.expr()?;
        if let Expr::Load(place) = target {
            Ok(Action::Assign(place, value))
        } else if let Expr::PriorityOf(process) = target {
            Ok(Action::SetPriority(Box::new((*process, value))))
        } else {
            Err("only a place or a priority can be assigned to".to_owned())
        }
    }

    /// The rest of a receive or a poll after the channel.
    fn patterns(&mut self) -> Parsed<(bool, Vec<Pattern>)> {
        let anywhere = self.eat("??");
        if !anywhere && !self.eat("?") {
            return self.unexpected("=, !, !!, ? or ??");
        }
        Ok((anywhere, self.list("(", ")", Self::pattern)?))
    }

    pub(super) fn pattern(&mut self) -> Parsed<Pattern> {
        if self.eat_word("_") {
            Ok(Pattern::Ignore)
        } else if self.eat("==") {
            self.operand().map(Pattern::Equal)
        } else {
            self.place().map(Pattern::Store)
        }
    }

    pub fn expr(&mut self) -> Parsed<Expr> {
        self.nested(|line| {
            let left = line.operand()?;
            if line.eat("?") {
                let yes = line.operand()?;
                line.symbol(":")?;
                return Ok(Expr::Conditional(Box::new((left, yes, line.operand()?))));
            }
            match BINARY_OPS.into_iter().find(|op| line.eat(op.symbol())) {
                Some(op) => line.chain(op, left),
                None => Ok(left),
            }
        })
    }

    /// The rest of `a + b + c` after the first operator.
    fn chain(&mut self, op: BinaryOp, first: Expr) -> Parsed<Expr> {
        let mut left = Expr::binary(op, first, self.operand()?);
        while self.eat(op.symbol()) {
            self.raise()?;
            left = Expr::binary(op, left, self.operand()?);
        }
        Ok(left)
    }

    pub(super) fn operand(&mut self) -> Parsed<Expr> {
        if self.eat("!!") {
            let operand = self.nested(Self::operand)?;
            return Ok(Expr::unary(UnaryOp::Not, Expr::unary(UnaryOp::Not, operand)));
        }
        if self.eat("-") {
            return match self.peek() {
                Some(Token::Number(_)) => self.constant(-1),
                Some(Token::Word(_) | Token::Text(_) | Token::Symbol(_)) | None => {
                    Ok(Expr::unary(UnaryOp::Negate, self.nested(Self::operand)?))
                }
            };
        }
        for (symbol, op) in [("!", UnaryOp::Not), ("~", UnaryOp::Complement)] {
            if self.eat(symbol) {
                return Ok(Expr::unary(op, self.nested(Self::operand)?));
            }
        }
        self.atom()
    }

    fn constant(&mut self, sign: i64) -> Parsed<Expr> {
        let value = sign * i64::from(self.number::<u32>()?);
        i32::try_from(value).map(Expr::Const).map_err(|_| format!("{value} does not fit 32 bits"))
    }

    fn atom(&mut self) -> Parsed<Expr> {
        match self.peek() {
            Some(Token::Number(_)) => self.constant(1),
            Some(Token::Symbol("(")) => self.in_parentheses(Self::expr),
            Some(Token::Word(word)) => {
                if let Some(expr) = nullary(word) {
                    self.skip();
                    Ok(expr)
                } else if let Some(test) = ChannelTest::find(word) {
                    self.skip();
                    self.in_parentheses(Self::boxed).map(|channel| Expr::Channel(test, channel))
                } else if let Some(arguments) = function(word) {
                    self.skip();
                    self.in_parentheses(arguments)
                } else {
                    self.place().map(Expr::load)
                }
            }
            Some(Token::Text(_) | Token::Symbol(_)) | None => self.place().map(Expr::load),
        }
    }

    fn in_parentheses<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.symbol("(")?;
        let inner = read(self)?;
        self.symbol(")")?;
        Ok(inner)
    }

    fn boxed(&mut self) -> Parsed<Box<Expr>> {
        self.expr().map(Box::new)
    }

    fn at(&mut self) -> Parsed<Expr> {
        let process = self.boxed()?;
        self.symbol(",")?;
        self.id('L').map(|id| Expr::At(process, LocationId(id)))
    }

    fn poll(&mut self) -> Parsed<Expr> {
        self.nested(|line| {
            let channel = line.operand()?;
            let (anywhere, fields) = line.patterns()?;
            Ok(Expr::Poll(Box::new(Poll { channel, anywhere, fields })))
        })
    }

    pub fn place(&mut self) -> Parsed<Place> {
        if self.eat_word("global") {
            return self.position(Base::Global);
        }
        if self.eat_word("local") {
            return self.position(Base::Local);
        }
        if self.eat_word("nowhere") {
            return self.position(Base::Nowhere);
        }
        if self.is_next(0, "#") || self.is_next(1, "(") {
            let process_type = self.process_type()?;
            let process = self.in_parentheses(Self::expr)?;
            let base = Base::Remote(Box::new(process), process_type);
            return if self.eat(".") { self.path(base) } else { self.position(base) };
        }
        let Some(Token::Word(name) | Token::Text(name)) = self.peek() else {
            return self.unexpected("an operand");
        };
        let base = self.names.base_of(name).ok_or_else(|| format!("no variable is called {name}"))?;
        self.path(base)
    }

    /// A place by name.
    fn path(&mut self, base: Base) -> Parsed<Place> {
        let name = self.name()?;
        let (mut steps, mut values) = (Vec::new(), Vec::new());
        loop {
            if self.eat(".") {
                steps.push(Step::Field(self.name()?));
            } else if self.eat("[") {
                if self.is_next(1, "]") && matches!(self.peek(), Some(Token::Number(_))) {
                    steps.push(Step::Constant(self.number()?));
                } else {
                    steps.push(Step::Computed);
                    values.push(self.expr()?);
                }
                self.symbol("]")?;
            } else {
                break;
            }
        }
        let nowhere = Frame::default();
        let found = position(self.names.frame(&base).unwrap_or(&nowhere), name, &steps)?;
        let index = |(value, (stride, len))| Index { value, stride, len };
        let indices = values.into_iter().zip(found.strides).map(index).collect();
        Ok(Place { base, offset: found.offset, indices, scalar: found.scalar })
    }

    /// A place by its position in the frame.
    fn position(&mut self, base: Base) -> Parsed<Place> {
        self.symbol("[")?;
        let offset = self.number()?;
        self.symbol("]")?;
        let mut indices = Vec::new();
        while self.eat("[") {
            let value = self.expr()?;
            self.word("of")?;
            let len = self.number()?;
            self.word("by")?;
            indices.push(Index { value, stride: self.number()?, len });
            self.symbol("]")?;
        }
        self.symbol(":")?;
        Ok(Place { base, offset, indices, scalar: self.scalar()? })
    }

    pub fn process_type(&mut self) -> Parsed<ProcessTypeId> {
        if self.eat("#") {
            return self.number().map(ProcessTypeId);
        }
        let name = self.name()?;
        self.names.process_type(name).ok_or_else(|| format!("no process type is called {name}"))
    }

    pub fn priority(&mut self) -> Parsed<u8> {
        if self.eat_word("priority") { self.number() } else { Ok(USUAL_PRIORITY) }
    }

    pub fn shape(&mut self) -> Parsed<Shape> {
        self.nested(|line| {
            if line.eat("[") {
                let element = Box::new(line.shape()?);
                line.symbol(";")?;
                let len = line.number()?;
                line.symbol("]")?;
                return Ok(Shape::Array { element, len });
            }
            if line.eat_word("record") {
                let size = line.number()?;
                return Ok(Shape::Record { fields: line.list("{", "}", Self::field)?, size });
            }
            line.scalar().map(Shape::Scalar)
        })
    }

    fn field(&mut self) -> Parsed<Field> {
        let name = self.name()?.to_owned();
        self.symbol(":")?;
        let shape = self.shape()?;
        self.word("at")?;
        Ok(Field { name, offset: self.number()?, shape })
    }

    pub fn scalar(&mut self) -> Parsed<Scalar> {
        let width = match self.peek() {
            Some(Token::Word(word)) => scalar_width(word),
            Some(Token::Text(_) | Token::Number(_) | Token::Symbol(_)) | None => None,
        };
        let Some((signed, bits)) = width else { return self.unexpected("a type like u8 or i32") };
        self.skip();
        let range = if self.is_next(0, "[") { Some(self.range()?) } else { None };
        let meaning = if self.is_next(0, "(") { self.in_parentheses(Self::meaning)? } else { Meaning::Number };
        Ok(Scalar { bits, signed, range, meaning })
    }

    fn range(&mut self) -> Parsed<Range> {
        self.symbol("[")?;
        let low = self.signed()?;
        self.symbol(",")?;
        let high = self.signed()?;
        self.symbol("]")?;
        Ok(Range { low, high })
    }

    pub fn signed(&mut self) -> Parsed<i32> {
        let sign = if self.eat("-") { -1 } else { 1 };
        let value = sign * i64::from(self.number::<u32>()?);
        i32::try_from(value).map_err(|_| format!("{value} does not fit 32 bits"))
    }

    fn fault(&mut self) -> Parsed<Expr> {
        let name = self.name()?;
        let kind = FaultKind::ALL.iter().find(|kind| kind.name() == name);
        kind.map(|kind| Expr::Fault(*kind)).ok_or_else(|| format!("no fault is called {name}"))
    }

    pub fn condition_with_statement(&mut self) -> Parsed<(Expr, StatementId)> {
        Ok((self.expr()?, self.statement_id()?))
    }

    fn meaning(&mut self) -> Parsed<Meaning> {
        let words = [
            ("bool", Meaning::Boolean),
            ("chan", Meaning::Channel),
            ("pid", Meaning::Process),
            ("tid", Meaning::Thread),
        ];
        for (word, meaning) in words {
            if self.eat_word(word) {
                return Ok(meaning);
            }
        }
        if self.eat("#") {
            return self.number().map(EnumerationId).map(Meaning::Enumeration);
        }
        let name = self.name()?;
        let found = self.names.enumeration(name).map(Meaning::Enumeration);
        found.ok_or_else(|| format!("no enumeration is called {name}"))
    }
}

/// The parser for the arguments of the function with this name.
fn function<'a>(word: &str) -> Option<fn(&mut Reader<'a>) -> Parsed<Expr>> {
    Some(match word {
        "len" => |line| line.boxed().map(Expr::Length),
        "enabled" => |line| line.boxed().map(Expr::Enabled),
        "location" => |line| line.boxed().map(Expr::LocationOf),
        "priority" => |line| line.boxed().map(Expr::PriorityOf),
        "find" => |line| line.process_type().map(Expr::Find),
        "at" => Reader::at,
        "poll" => Reader::poll,
        "fault" => Reader::fault,
        _ => return None,
    })
}

fn nullary(word: &str) -> Option<Expr> {
    Some(match word {
        "_self" => Expr::Myself,
        "_processes" => Expr::ProcessCount,
        "_last" => Expr::Last,
        "_timeout" => Expr::Timeout,
        "_started" => Expr::Started,
        "_nonprogress" => Expr::NonProgress,
        "_accepting" => Expr::Accepting,
        _ => return None,
    })
}

/// Whether it is signed, and how many bits it has.
fn scalar_width(word: &str) -> Option<(bool, u8)> {
    let (signed, digits) = match word.split_at_checked(1)? {
        ("i", digits) => (true, digits),
        ("u", digits) => (false, digits),
        _ => return None,
    };
    digits.parse().ok().filter(|_| is_number(digits)).map(|bits| (signed, bits))
}
