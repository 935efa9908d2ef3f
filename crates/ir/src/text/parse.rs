//! Parses a system from text.
//!
//! There are two passes: the first reads declarations, the second their uses, so that a process may refer to
//! a later one.

mod monitor;
mod phrase;
mod reader;

use super::ParseError;
use super::lex::{Token, lex};
use super::names::Names;
use crate::{
    Action, Block, BlockNode, ChannelType, ChannelTypeId, Edge, Entry, Enumeration, Expr, Frame, Init, Label,
    Location, LocationId, NodeId, ProcessType, ProcessTypeId, Start, Statement, StatementId, System, Variable,
    verify::verify,
};
use reader::{Parsed, Reader};

/// Parses the text form of a system, and [`verify`]s it.
pub fn parse(text: &str) -> Result<System, ParseError> {
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let tokens = lex(line).map_err(|message| ParseError { line: number, message })?;
        lines.push(Line { number, tokens });
    }
    let mut parser = Parser::default();
    parser.pass(&lines, Parser::declare)?;
    (parser.section, parser.processes) = (Section::None, 0);
    parser.pass(&lines, Parser::define)?;
    let whole = |message| ParseError { line: 0, message };
    let system = parser.finish().map_err(whole)?;
    verify(&system).map_err(|problems| whole(problems.join("\n")))?;
    Ok(system)
}

struct Line {
    number: usize,
    tokens: Vec<Token>,
}

#[derive(Default)]
struct Parser {
    system: System,
    section: Section,
    /// The number of process types so far in this pass.
    processes: usize,
    location: Option<Heading>,
    /// Each edge with its index in the system.
    edges: Vec<(u64, Edge)>,
}

/// The section that lines like `var` belong to.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Section {
    #[default]
    None,
    Globals,
    Process(ProcessTypeId),
}

/// The location that edges belong to.
#[derive(Clone, Copy)]
struct Heading {
    id: LocationId,
    /// The index of the first of its edges, once known.
    first: Option<u32>,
    edges: u32,
}

impl Parser {
    fn pass(&mut self, lines: &[Line], read: fn(&mut Self, &[Token]) -> Parsed<()>) -> Result<(), ParseError> {
        for line in lines.iter().filter(|line| !line.tokens.is_empty()) {
            read(self, &line.tokens).map_err(|message| ParseError { line: line.number, message })?;
        }
        Ok(())
    }

    /// First pass over a line.
    fn declare(&mut self, tokens: &[Token]) -> Parsed<()> {
        if heading(tokens) == Some('s') {
            return self.statement(tokens);
        }
        match first_word(tokens) {
            "uses" => self.uses(tokens),
            "enum" => self.enumeration(tokens),
            "channel" => self.channel_type(tokens),
            "globals" => self.globals(tokens),
            "process" => self.process_type(tokens),
            "var" => self.variable(tokens),
            _ => Ok(()),
        }
    }

    /// Second pass over a line.
    fn define(&mut self, tokens: &[Token]) -> Parsed<()> {
        match heading(tokens) {
            Some('s') => return Ok(()),
            Some('L') => return self.location(tokens),
            Some('n') => return self.node(tokens),
            Some('M') => return self.post(tokens),
            Some(_) | None => {}
        }
        match first_word(tokens) {
            "uses" | "enum" | "channel" | "var" => Ok(()),
            "globals" => {
                self.enter_section(Section::Globals);
                Ok(())
            }
            "process" => self.enter_process(),
            "param" => self.param(tokens),
            "let" => self.init(tokens),
            "provided" => self.provided(tokens),
            "label" => self.label(tokens),
            "invariant" => {
                let invariant = self.condition("invariant", tokens)?;
                self.system.invariants.push(invariant);
                Ok(())
            }
            "proposition" => {
                let proposition = self.condition("proposition", tokens)?;
                self.system.propositions.push(proposition);
                Ok(())
            }
            "monitor" => self.monitor(tokens),
            "watch" => self.watched(tokens),
            "expect" => self.expected(tokens),
            "start" => self.start(tokens),
            "enter" => self.block_entry(tokens),
            _ => self.edge(tokens),
        }
    }

    fn finish(mut self) -> Parsed<System> {
        self.edges.sort_by_key(|(position, _)| *position);
        for (expected, (position, edge)) in (0..).zip(self.edges) {
            if position != expected {
                return Err(format!("edges overlap or leave a gap at e{expected}"));
            }
            self.system.edges.push(edge);
        }
        Ok(self.system)
    }

    fn reader<'a>(&'a self, tokens: &'a [Token]) -> Reader<'a> {
        let process = match self.section {
            Section::None | Section::Globals => None,
            Section::Process(id) => Some(id),
        };
        Reader::new(tokens, Names { system: &self.system, process })
    }

    /// Reads a line that begins with a word.
    fn line<'a, T>(
        &'a self,
        word: &str,
        tokens: &'a [Token],
        read: impl FnOnce(&mut Reader<'a>) -> Parsed<T>,
    ) -> Parsed<T> {
        self.reader(tokens).all(|line| {
            line.word(word)?;
            read(line)
        })
    }

    fn uses(&mut self, tokens: &[Token]) -> Parsed<()> {
        let what = self.line("uses", tokens, Reader::name)?;
        match what {
            "last" => self.system.uses_last = true,
            "priorities" => self.system.uses_priorities = true,
            "oldest_first" => self.system.oldest_first = true,
            "lazy_messages" => self.system.lazy_messages = true,
            "reclaims" => self.system.reclaims = true,
            "joins_atomic" => self.system.joins_atomic = true,
            "forgives_start" => self.system.forgives_start = true,
            other => return Err(format!("nothing is known about the use of {other}")),
        }
        Ok(())
    }

    fn enumeration(&mut self, tokens: &[Token]) -> Parsed<()> {
        let enumeration = self.line("enum", tokens, |line| {
            let name = line.name()?.to_owned();
            line.word("from")?;
            let first = line.signed()?;
            let members = line.list("{", "}", |line| line.name().map(str::to_owned))?;
            Ok(Enumeration { name, first, members })
        })?;
        self.system.enumerations.push(enumeration);
        Ok(())
    }

    /// A condition without access to processes.
    fn condition(&mut self, word: &str, tokens: &[Token]) -> Parsed<(Expr, StatementId)> {
        self.enter_section(Section::None);
        self.line(word, tokens, Reader::condition_with_statement)
    }

    fn channel_type(&mut self, tokens: &[Token]) -> Parsed<()> {
        let (id, channel_type) = self.line("channel", tokens, |line| {
            let id: u64 = line.id('c')?;
            let name = line.name()?.to_owned();
            line.symbol(":")?;
            let capacity = line.number()?;
            line.word("of")?;
            let fields = line.list("(", ")", Reader::scalar)?;
            Ok((id, ChannelType { name, capacity, fields }))
        })?;
        in_order('c', id, self.system.channel_types.len())?;
        self.system.channel_types.push(channel_type);
        Ok(())
    }

    fn globals(&mut self, tokens: &[Token]) -> Parsed<()> {
        let size = self.line("globals", tokens, |line| {
            line.word("size")?;
            line.number()
        })?;
        self.system.globals.size = size;
        self.enter_section(Section::Globals);
        Ok(())
    }

    fn process_type(&mut self, tokens: &[Token]) -> Parsed<()> {
        let process_type = self.line("process", tokens, |line| {
            let name = line.name()?.to_owned();
            line.word("size")?;
            let frame = Frame { size: line.number()?, ..Frame::default() };
            line.word("entry")?;
            let entry = line.id('L').map(LocationId)?;
            line.word("declared")?;
            let declared_at = line.id('s').map(StatementId)?;
            let deterministic = line.eat_word("deterministic");
            let (params, locations, labels) = (Vec::new(), Vec::new(), Vec::new());
            Ok(ProcessType {
                name,
                params,
                frame,
                locations,
                entry,
                labels,
                provided: None,
                deterministic,
                declared_at,
            })
        })?;
        self.enter_process()?;
        self.system.process_types.push(process_type);
        Ok(())
    }

    fn enter_process(&mut self) -> Parsed<()> {
        let id = u16::try_from(self.processes).map_err(|_| "there are too many process types")?;
        self.processes += 1;
        self.enter_section(Section::Process(ProcessTypeId(id)));
        Ok(())
    }

    fn enter_section(&mut self, section: Section) {
        self.section = section;
        self.location = None;
    }

    fn variable(&mut self, tokens: &[Token]) -> Parsed<()> {
        let variable = self.line("var", tokens, |line| {
            let name = line.name()?.to_owned();
            line.symbol(":")?;
            let shape = line.shape()?;
            line.word("at")?;
            Ok(Variable { name, offset: line.number()?, shape })
        })?;
        self.frame()?.variables.push(variable);
        Ok(())
    }

    fn statement(&mut self, tokens: &[Token]) -> Parsed<()> {
        let (id, statement) = self.reader(tokens).all(|line| {
            let id: u64 = line.id('s')?;
            line.symbol(":")?;
            let text = line.text()?.to_owned();
            line.word("at")?;
            let file = line.text()?.to_owned();
            line.symbol(":")?;
            let source_line = line.number()?;
            line.symbol(":")?;
            let column = line.number()?;
            line.word("spin")?;
            let spin_id = line.number()?;
            let location = LocationId(if line.at_end() { 0 } else { line.id('L')? });
            Ok((id, Statement { text, file, line: source_line, column, spin_id, location }))
        })?;
        in_order('s', id, self.system.statements.len())?;
        self.system.statements.push(statement);
        Ok(())
    }

    fn param(&mut self, tokens: &[Token]) -> Parsed<()> {
        let place = self.line("param", tokens, Reader::place)?;
        self.process()?.params.push(place);
        Ok(())
    }

    fn init(&mut self, tokens: &[Token]) -> Parsed<()> {
        let init = self.line("let", tokens, |line| {
            let place = line.place()?;
            line.symbol("=")?;
            if line.eat_word("new") {
                Ok(Init::Channel(place, ChannelTypeId(line.id('c')?)))
            } else {
                Ok(Init::Value(place, line.expr()?))
            }
        })?;
        self.frame()?.init.push(init);
        Ok(())
    }

    fn provided(&mut self, tokens: &[Token]) -> Parsed<()> {
        let condition = self.line("provided", tokens, Reader::expr)?;
        self.process()?.provided = Some(condition);
        Ok(())
    }

    fn label(&mut self, tokens: &[Token]) -> Parsed<()> {
        let label = self.line("label", tokens, |line| {
            Ok(Label { name: line.name()?.to_owned(), location: LocationId(line.id('L')?) })
        })?;
        self.process()?.labels.push(label);
        Ok(())
    }

    fn start(&mut self, tokens: &[Token]) -> Parsed<()> {
        let start = self.line("start", tokens, |line| {
            Ok(Start { process_type: line.process_type()?, priority: line.priority()? })
        })?;
        self.system.start.push(start);
        Ok(())
    }

    fn location(&mut self, tokens: &[Token]) -> Parsed<()> {
        let (id, first, location) = self.reader(tokens).all(|line| {
            let id = LocationId(line.id('L')?);
            line.symbol(":")?;
            let end = line.eat_word("end");
            let accept = line.eat_word("accept");
            let progress = line.eat_word("progress");
            let first: Option<u32> = if line.eat_word("from") { Some(line.id('e')?) } else { None };
            Ok((id, first, Location { first: first.unwrap_or(0), count: 0, end, accept, progress }))
        })?;
        let locations = &mut self.process()?.locations;
        if locations.len() > id.index() {
            return Err(format!("{id} is out of order"));
        }
        locations.resize(id.index(), Location::default());
        locations.push(location);
        self.location = Some(Heading { id, first, edges: 0 });
        Ok(())
    }

    fn edge(&mut self, tokens: &[Token]) -> Parsed<()> {
        let edge = self.reader(tokens).all(Reader::edge)?;
        let edges_before = u32::try_from(self.edges.len()).map_err(|_| "there are too many edges")?;
        let Heading { id, first, edges } = self.location.as_mut().ok_or("an edge needs a location before it")?;
        let (id, first) = (*id, *first.get_or_insert(edges_before));
        let position = u64::from(first) + u64::from(*edges);
        *edges += 1;
        let count = *edges;
        if let Some(location) = self.process()?.locations.get_mut(id.index()) {
            (location.first, location.count) = (first, count);
        }
        self.edges.push((position, edge));
        Ok(())
    }

    fn block_entry(&mut self, tokens: &[Token]) -> Parsed<()> {
        let action = self.line("enter", tokens, Reader::action)?;
        match &mut self.block()?.entry {
            Entry::AnyOf(actions) => actions.push(action),
            Entry::Always | Entry::Otherwise => return Err("the block can be entered anyway".to_owned()),
        }
        Ok(())
    }

    fn node(&mut self, tokens: &[Token]) -> Parsed<()> {
        let (id, node): (NodeId, BlockNode) = self.reader(tokens).all(|line| {
            let id = NodeId(line.id('n')?);
            line.symbol(":")?;
            Ok((id, line.node()?))
        })?;
        let nodes = &mut self.block()?.nodes;
        in_order('n', u64::from(id.0), nodes.len())?;
        nodes.push(node);
        Ok(())
    }

    fn process(&mut self) -> Parsed<&mut ProcessType> {
        let process = match self.section {
            Section::None | Section::Globals => None,
            Section::Process(id) => self.system.process_types.get_mut(id.index()),
        };
        process.ok_or_else(|| "this belongs into a process".to_owned())
    }

    fn frame(&mut self) -> Parsed<&mut Frame> {
        match self.section {
            Section::None => Err("this belongs to the globals or into a process".to_owned()),
            Section::Globals => Ok(&mut self.system.globals),
            Section::Process(_) => self.process().map(|process| &mut process.frame),
        }
    }

    /// The block of the last edge.
    fn block(&mut self) -> Parsed<&mut Block> {
        let edge = self.location.filter(|heading| heading.edges > 0).and(self.edges.last_mut());
        if let Some((_, Edge { action: Action::Deterministic(block), .. })) = edge {
            Ok(block)
        } else {
            Err("this belongs into a deterministic block".to_owned())
        }
    }
}

/// The letter of a line that begins with `L1:` or the like.
fn heading(tokens: &[Token]) -> Option<char> {
    match tokens {
        [Token::Word(word), Token::Symbol(":"), ..] => word.chars().next(),
        _ => None,
    }
}

fn first_word(tokens: &[Token]) -> &str {
    match tokens {
        [Token::Word(word), ..] => word,
        _ => "",
    }
}

/// Items that are referred to by number must be in the order of their numbers.
fn in_order(letter: char, found: u64, expected: usize) -> Parsed<()> {
    if found == expected as u64 {
        Ok(())
    } else {
        Err(format!("expected {letter}{expected}, found {letter}{found}"))
    }
}
