//! The parser.

use super::label::Label;
use super::lex::{self, Placed, Token};
use super::{NamedAutomaton, Problem};
use crate::automaton::{Automaton, Edge, Marks, State};
use crate::cube::Cube;
use crate::formula::{MAX_PROPOSITIONS, Proposition};
use crate::prune;
use std::collections::HashMap;

const MAX_STATES: u32 = 100_000;
const MAX_EDGES: usize = 1_000_000;
const MAX_NESTING: u32 = 100;

/// Reads one automaton with (generalised) Büchi acceptance on states or edges.
pub fn read(text: &str) -> Result<NamedAutomaton, Problem> {
    let tokens = lex::tokens(text)?;
    let mut reader = Reader { tokens, at: 0, nesting: 0, header: Header::default(), edges: Vec::new(), count: 0 };
    reader.header()?;
    reader.body()?;
    reader.finish()
}

#[derive(Default)]
struct Header {
    states: Option<u32>,
    starts: Vec<State>,
    propositions: Vec<String>,
    aliases: HashMap<String, Label>,
    /// The sets that must be visited; none before the `Acceptance` line.
    acceptance: Option<Vec<u32>>,
    title: Option<String>,
}

struct Reader {
    tokens: Vec<Placed>,
    at: usize,
    nesting: u32,
    header: Header,
    edges: Vec<Vec<Edge>>,
    count: usize,
}

type Read<T> = Result<T, Problem>;

impl Reader {
    fn header(&mut self) -> Read<()> {
        if !self.eat(&Token::Header("HOA".into())) {
            return Err(self.expected("`HOA: v1`"));
        }
        if !self.eat(&Token::Word("v1".into())) {
            return Err(self.expected("`v1`, the version that can be read"));
        }
        while !self.eat(&Token::Word("--BODY--".into())) {
            let place = self.at;
            let Token::Header(name) = self.advance() else {
                self.at = place;
                return Err(self.expected("a header or `--BODY--`"));
            };
            match &*name {
                "States" => self.header.states = Some(self.number("how many states there are")?),
                "Start" => {
                    let start = self.state()?;
                    self.header.starts.push(start);
                }
                "AP" => self.propositions()?,
                "Alias" => self.alias()?,
                "Acceptance" => self.acceptance()?,
                "name" => match self.advance() {
                    Token::Text(title) => self.header.title = Some(title),
                    _ => return Err(self.before("expected a text in quotes")),
                },
                // The format permits ignoring headers that begin with a lower-case letter.
                _ if name.starts_with(|c: char| c.is_ascii_lowercase()) => self.skip_header(),
                _ => return Err(self.before(format!("the header `{name}:` is not known"))),
            }
        }
        match self.header.acceptance {
            Some(_) => Ok(()),
            None => Err(self.before("there is no `Acceptance:` in the header")),
        }
    }

    fn skip_header(&mut self) {
        while !matches!(self.token(), Token::Header(_) | Token::End) && !self.is_dashes() {
            self.at += 1;
        }
    }

    fn is_dashes(&self) -> bool {
        matches!(self.token(), Token::Word(word) if word.starts_with("--"))
    }

    fn propositions(&mut self) -> Read<()> {
        let count = self.number("how many propositions there are")?;
        if count as usize > MAX_PROPOSITIONS {
            return Err(self.before(format!("there may be {MAX_PROPOSITIONS} propositions at most")));
        }
        for _ in 0..count {
            match self.advance() {
                Token::Text(name) => self.header.propositions.push(name),
                _ => return Err(self.before("expected the name of a proposition in quotes")),
            }
        }
        Ok(())
    }

    fn alias(&mut self) -> Read<()> {
        let Token::Alias(name) = self.advance() else { return Err(self.before("expected a name behind `@`")) };
        let label = self.disjunction()?;
        self.header.aliases.insert(name, label);
        Ok(())
    }

    fn acceptance(&mut self) -> Read<()> {
        let count = self.number("how many acceptance sets there are")?;
        if count > 64 {
            return Err(self.before("there may be 64 acceptance sets at most"));
        }
        let mut sets = Vec::new();
        let mut open = 0;
        loop {
            while self.eat(&Token::Punctuation('(')) {
                open += 1;
            }
            match self.advance() {
                Token::Word(word) if word == "t" => {}
                Token::Word(word) if word == "Inf" => {
                    self.expect('(')?;
                    let set = self.number("the number of an acceptance set")?;
                    if set >= count {
                        return Err(self.before(format!("there are only {count} acceptance sets")));
                    }
                    self.expect(')')?;
                    sets.push(set);
                }
                _ => return Err(self.before("only Büchi acceptance can be read: `t`, or `Inf(…)` joined by `&`")),
            }
            while open > 0 && self.eat(&Token::Punctuation(')')) {
                open -= 1;
            }
            if !self.eat(&Token::Punctuation('&')) {
                break;
            }
        }
        if open > 0 {
            return Err(self.expected("`)`"));
        }
        if let Token::Punctuation('|') = self.token() {
            self.at += 1;
            return Err(self.before("only Büchi acceptance can be read: sets are joined by `&`"));
        }
        sets.sort_unstable();
        sets.dedup();
        self.header.acceptance = Some(sets);
        Ok(())
    }

    fn body(&mut self) -> Read<()> {
        while !self.eat(&Token::Word("--END--".into())) {
            if !self.eat(&Token::Header("State".into())) {
                return Err(self.expected("`State:` or `--END--`"));
            }
            let shared = self.label()?;
            let state = self.state()?;
            if let Token::Text(_) = self.token() {
                self.at += 1;
            }
            let marks = self.marks()?;
            let first = self.count;
            while matches!(self.token(), Token::Punctuation('[') | Token::Number(_)) {
                self.edge(state, shared.as_ref(), marks, first)?;
            }
        }
        if *self.token() == Token::End { Ok(()) } else { Err(self.expected("the end: one automaton can be read")) }
    }

    fn edge(&mut self, state: State, shared: Option<&Label>, common: Marks, first: usize) -> Read<()> {
        let own = self.label()?;
        if own.is_some() && shared.is_some() {
            return Err(self.before("its state has a label, so this edge cannot have one"));
        }
        let target = self.state()?;
        let marks = self.marks()?.with(common);
        let cubes = match own.as_ref().or(shared) {
            Some(label) => label.holds.clone(),
            None => vec![self.letter(self.count - first)?],
        };
        self.count += cubes.len();
        if self.count > MAX_EDGES {
            return Err(self.before(format!("there are more than {MAX_EDGES} edges")));
        }
        self.edges[state.index()].extend(cubes.into_iter().map(|label| Edge { target, marks, label }));
        Ok(())
    }

    /// The label of an unlabelled edge, by its index in the state: there is one edge for each letter.
    fn letter(&self, place: usize) -> Read<Cube> {
        let count = self.header.propositions.len();
        if place.checked_shr(count as u32).unwrap_or(0) != 0 {
            return Err(self.before("there are more edges without labels than letters"));
        }
        let all = Marks::all(count as u32).0;
        Ok(Cube { positive: place as u64, negative: all & !(place as u64) })
    }

    /// `[…]`, if present.
    fn label(&mut self) -> Read<Option<Label>> {
        if !self.eat(&Token::Punctuation('[')) {
            return Ok(None);
        }
        let label = self.disjunction()?;
        self.expect(']')?;
        Ok(Some(label))
    }

    fn disjunction(&mut self) -> Read<Label> {
        let mut label = self.conjunction()?;
        while self.eat(&Token::Punctuation('|')) {
            let other = self.conjunction()?;
            label = label.or(other).ok_or_else(|| self.before("this label is too large"))?;
        }
        Ok(label)
    }

    fn conjunction(&mut self) -> Read<Label> {
        let mut label = self.literal()?;
        while self.eat(&Token::Punctuation('&')) {
            let other = self.literal()?;
            label = label.and(other).ok_or_else(|| self.before("this label is too large"))?;
        }
        Ok(label)
    }

    fn literal(&mut self) -> Read<Label> {
        let mut negated = false;
        while self.eat(&Token::Punctuation('!')) {
            negated = !negated;
        }
        let label = match self.advance() {
            Token::Word(word) if word == "t" => Label::constant(true),
            Token::Word(word) if word == "f" => Label::constant(false),
            Token::Number(number) if (number as usize) < self.header.propositions.len() => {
                Label::proposition(Proposition(number as u8))
            }
            Token::Number(_) => {
                let count = self.header.propositions.len();
                return Err(self.before(format!("there are only {count} propositions")));
            }
            Token::Alias(name) => match self.header.aliases.get(&name) {
                Some(label) => label.clone(),
                None => return Err(self.before(format!("`@{name}` is not defined"))),
            },
            Token::Punctuation('(') => {
                if self.nesting == MAX_NESTING {
                    return Err(self.before(format!("this is nested more than {MAX_NESTING} levels deep")));
                }
                self.nesting += 1;
                let label = self.disjunction()?;
                self.nesting -= 1;
                self.expect(')')?;
                label
            }
            _ => return Err(self.before("expected a proposition's number, `t`, `f`, `!` or `(`")),
        };
        Ok(if negated { label.not() } else { label })
    }

    /// `{…}`, if present: the acceptance sets.
    fn marks(&mut self) -> Read<Marks> {
        let mut marks = Marks::NONE;
        if !self.eat(&Token::Punctuation('{')) {
            return Ok(marks);
        }
        while !self.eat(&Token::Punctuation('}')) {
            let set = self.number("the number of an acceptance set or `}`")?;
            if set >= 64 {
                return Err(self.before("there is no such acceptance set"));
            }
            let counted = self.header.acceptance.iter().flatten().position(|&counted| counted == set);
            marks = marks.with(Marks(counted.map_or(0, |counted| 1 << counted)));
        }
        Ok(marks)
    }

    fn state(&mut self) -> Read<State> {
        let number = self.number("the number of a state")?;
        let count = self.header.states.unwrap_or(MAX_STATES);
        if number >= count {
            return Err(self.before(format!("there are only {count} states")));
        }
        if number >= MAX_STATES {
            return Err(self.before(format!("there may be {MAX_STATES} states at most")));
        }
        if *self.token() == Token::Punctuation('&') {
            return Err(self.expected("one state: alternating automata cannot be read"));
        }
        if self.edges.len() <= number as usize {
            self.edges.resize(number as usize + 1, Vec::new());
        }
        Ok(State(number))
    }

    fn finish(mut self) -> Read<NamedAutomaton> {
        let starts = std::mem::take(&mut self.header.starts);
        let mut edges = self.edges;
        match starts[..] {
            [] => edges = Automaton::empty().edges,
            [start] => {
                edges.swap(State::INITIAL.index(), start.index());
                let swapped = |state: State| match state {
                    State::INITIAL => start,
                    state if state == start => State::INITIAL,
                    state => state,
                };
                edges.iter_mut().flatten().for_each(|edge| edge.target = swapped(edge.target));
            }
            // A new state with the edges of all of them.
            _ => {
                let first = starts.iter().flat_map(|start| edges[start.index()].clone()).collect();
                edges.insert(0, first);
                edges.iter_mut().flatten().for_each(|edge| edge.target = State(edge.target.0 + 1));
            }
        }
        let sets = self.header.acceptance.map_or(0, |sets| sets.len() as u32);
        let mut automaton = Automaton { edges, sets };
        prune::keep_reachable(&mut automaton);
        Ok(NamedAutomaton { automaton, propositions: self.header.propositions, title: self.header.title })
    }

    fn token(&self) -> &Token {
        &self.tokens[self.at].token
    }

    fn advance(&mut self) -> Token {
        let token = self.token().clone();
        // The end token is never passed.
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn eat(&mut self, token: &Token) -> bool {
        let found = self.token() == token;
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, punctuation: char) -> Read<()> {
        if self.eat(&Token::Punctuation(punctuation)) {
            Ok(())
        } else {
            Err(self.expected(&format!("`{punctuation}`")))
        }
    }

    fn number(&mut self, what: &str) -> Read<u32> {
        match *self.token() {
            Token::Number(number) => {
                self.advance();
                Ok(number)
            }
            _ => Err(self.expected(what)),
        }
    }

    fn expected(&self, what: &str) -> Problem {
        self.problem(self.at, format!("expected {what}"))
    }

    /// A problem with the last token read.
    fn before(&self, message: impl Into<String>) -> Problem {
        let at = if *self.token() == Token::End { self.at } else { self.at.saturating_sub(1) };
        self.problem(at, message.into())
    }

    fn problem(&self, at: usize, message: String) -> Problem {
        let Placed { start, end, .. } = self.tokens[at];
        Problem { start, end, message }
    }
}
