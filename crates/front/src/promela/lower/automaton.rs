//! Builds locations and edges from the graph of elements, as SPIN's verifier does.

use super::flow::{ElementId, Flow, Jump, Kind, SequenceId};
use super::graph::Rests;
use super::scope::Scopes;
use crate::diagnostic::Diagnostic;
use crate::suggest::{did_you_mean, is_worth_it};
use std::collections::HashSet;

/// The outgoing transitions of each location of a process type; indexed by the location's number.
#[derive(Debug, Default)]
pub struct Automaton {
    pub entry: u32,
    pub outgoing: Vec<Vec<Transition>>,
    pub marks: Vec<LocationMarks>,
}

#[derive(Clone, Debug)]
pub struct Transition {
    pub element: ElementId,
    /// 0: the process ends.
    pub target: u32,
    pub atomic: bool,
    /// The location of the escape that it belongs to.
    pub escape: Option<u32>,
    /// The first elements of the element's escapes.
    escapes: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct LocationMarks {
    pub end: bool,
    pub accept: bool,
    pub progress: bool,
}

/// A location while the automaton is being built.
#[derive(Clone, Debug, Default)]
enum Entry {
    #[default]
    Nothing,
    /// The transitions that begin at these locations. They replace the entry later.
    Choice(Vec<u32>),
    One(Transition),
}

/// Builds the automaton. Fails with problems if jumps have no target.
pub fn build(flow: &mut Flow, scopes: &Scopes, problems: &mut Vec<Diagnostic>) -> Option<Automaton> {
    let before = problems.len();
    let entries = vec![Entry::default(); flow.numbers() as usize];
    let mut builder = Builder { flow, scopes, problems, entries, done: HashSet::new(), rests: Rests::new() };
    let body = builder.flow.body?;
    let first = builder.flow[body].first?;
    builder.resolve_jumps();
    if builder.problems.len() > before {
        return None;
    }
    builder.sequence(body);
    let entry = builder.rest(first, first)?;
    let mut marks = builder.label_marks();
    if let Some(last) = builder.flow[body].last {
        marks[builder.number(last) as usize].end = true;
    }
    let entries = std::mem::take(&mut builder.entries);
    if problems.len() > before {
        return None;
    }
    let mut outgoing = resolve_choices(entries, &mut marks);
    insert_escapes(&mut outgoing, flow);
    Some(Automaton { entry, outgoing, marks })
}

struct Builder<'a> {
    flow: &'a mut Flow,
    scopes: &'a Scopes,
    problems: &'a mut Vec<Diagnostic>,
    entries: Vec<Entry>,
    done: HashSet<ElementId>,
    /// A cache of resting places. It is valid as long as the flow is unchanged.
    rests: Rests,
}

impl Builder<'_> {
    fn resolve_jumps(&mut self) {
        for index in 0..self.flow.elements.len() {
            let id = ElementId(index as u32);
            let Kind::Goto(jump) = self.flow[id].kind.clone() else { continue };
            match self.flow.target(id, self.scopes) {
                // A jump out of a `d_step` is an error too, and has been reported when its end was reached.
                Some(target) if self.flow[target].deterministic && !self.flow[id].deterministic => {
                    self.problems.push(Diagnostic::error(self.flow[id].span, "a jump into a `d_step`"));
                }
                Some(target) => {
                    self.flow.jumps.insert(id, target);
                }
                None => self.unknown_label(&jump),
            }
        }
    }

    fn unknown_label(&mut self, jump: &Jump) {
        // A `break` outside of a loop has been reported already.
        let Jump::Label(name) = jump else { return };
        let problem = Diagnostic::error(name.span, format!("there is no label `{}`", name.name));
        let labels = self.flow.labels.iter().map(|label| &*label.name.name);
        let similar = is_worth_it(self.problems).then(|| did_you_mean(&name.name, labels)).flatten();
        self.problems.push(problem.or_similar(similar));
    }

    fn number(&self, element: ElementId) -> u32 {
        self.flow[element].number
    }

    /// The number of the location where control rests after `from` if it continues at `to`; 0 if there is none.
    fn rest(&mut self, from: ElementId, to: ElementId) -> Option<u32> {
        let rest = self.flow.resting_place(to, self.flow[from].atomic, &mut self.rests);
        if rest.is_none() {
            let span = self.flow[to].span;
            self.problems.push(Diagnostic::error(span, "these jumps form a cycle without a statement"));
        }
        rest.map(|rest| self.number(rest))
    }

    fn sequence(&mut self, sequence: SequenceId) {
        let last = self.flow[sequence].last;
        let mut current = self.flow[sequence].first;
        while let Some(id) = current {
            if self.done.insert(id) {
                self.element(id);
            }
            if current == last {
                break;
            }
            current = self.flow[id].next;
        }
    }

    fn element(&mut self, id: ElementId) {
        let branches = self.flow[id].branches.clone();
        match self.flow[id].kind.clone() {
            Kind::Unless => self.sequence(branches[0]),
            Kind::If | Kind::Do => {
                let begins = branches.iter().filter_map(|branch| self.flow[*branch].first);
                let begins = begins.map(|first| self.number(self.flow.beginning(first))).collect();
                self.set(id, Entry::Choice(begins));
                branches.into_iter().for_each(|branch| self.sequence(branch));
            }
            Kind::Atomic(inner) | Kind::Block(inner) => {
                self.enter(id, inner);
                if let Some(first) = self.flow[inner].first {
                    let begin = self.number(self.flow.beginning(first));
                    self.set(id, Entry::Choice(vec![begin]));
                }
                self.sequence(inner);
            }
            Kind::DStep(inner) => {
                self.enter(id, inner);
                self.simple(id);
            }
            Kind::Simple(_) | Kind::Nothing | Kind::Else | Kind::Goto(_) | Kind::Joint | Kind::Exit | Kind::End => {
                self.simple(id);
            }
        }
    }

    /// Links the end of an inner sequence to its successor, and determines which of its jumps leave atomicity.
    fn enter(&mut self, outer: ElementId, inner: SequenceId) {
        self.rests.clear();
        self.settle_jumps(inner);
        if let Some(last) = self.flow[inner].last {
            self.flow[last].next = self.flow[outer].next;
        }
    }

    /// A jump from one atomic sequence into another keeps exclusive control; a jump out of the sequence gives it up.
    fn settle_jumps(&mut self, sequence: SequenceId) {
        for id in self.flow.until(sequence, self.flow[sequence].extent) {
            if let Some(target) = self.flow.jumps.get(&id) {
                let target = &self.flow[*target];
                let into_atomic = target.atomic || target.last_atomic;
                let jump = &mut self.flow[id];
                if (jump.atomic || jump.last_atomic) && !into_atomic {
                    (jump.atomic, jump.last_atomic) = (false, true);
                }
                if jump.last_atomic && into_atomic {
                    (jump.atomic, jump.last_atomic) = (true, false);
                }
            } else {
                for branch in self.flow[id].branches.clone() {
                    self.settle_jumps(branch);
                }
            }
        }
    }

    fn simple(&mut self, id: ElementId) {
        let next = match self.flow[id].kind {
            Kind::Goto(_) => self.flow.jumps.get(&id).copied(),
            _ => self.flow[id].next,
        };
        let target = match next {
            Some(next) => self.rest(id, next).unwrap_or(0),
            None => 0,
        };
        let escapes = self.escapes(id);
        let atomic = self.flow[id].atomic;
        self.set(id, Entry::One(Transition { element: id, target, atomic, escape: None, escapes }));
    }

    /// The first elements of an element's escapes. Builds the escapes too.
    fn escapes(&mut self, id: ElementId) -> Vec<u32> {
        if matches!(self.flow[id].kind, Kind::Joint) {
            return Vec::new();
        }
        let escapes = self.flow[id].escapes.clone();
        let begins: Vec<_> = escapes.iter().filter_map(|escape| self.flow[*escape].first).collect();
        let begins = begins.into_iter().filter_map(|first| self.rest(id, first)).collect();
        escapes.into_iter().for_each(|escape| self.sequence(escape));
        begins
    }

    fn set(&mut self, id: ElementId, entry: Entry) {
        let number = self.number(id) as usize;
        self.entries[number] = entry;
    }

    fn label_marks(&self) -> Vec<LocationMarks> {
        let mut marks = vec![LocationMarks::default(); self.entries.len()];
        for label in self.flow.labels.iter() {
            let mark = &mut marks[self.number(label.element) as usize];
            mark.end |= label.name.name.starts_with("end");
            mark.accept |= label.name.name.starts_with("accept");
            mark.progress |= label.name.name.starts_with("progress");
        }
        marks
    }
}

/// Replaces choices by the transitions that they lead to. Where SPIN passes through a location without
/// stopping, it moves the location's marks to the next one, and so does this function.
fn resolve_choices(mut entries: Vec<Entry>, marks: &mut [LocationMarks]) -> Vec<Vec<Transition>> {
    // Choices can begin with choices. The nesting depth is that of the text, so this terminates.
    let mut changed = true;
    let mut rounds = 0;
    while changed && rounds < entries.len() {
        changed = false;
        rounds += 1;
        for i in 1..entries.len() {
            let Entry::Choice(begins) = &entries[i] else { continue };
            let nested = begins.iter().any(|begin| matches!(entries[*begin as usize], Entry::Choice(_)));
            if !nested {
                continue;
            }
            let mut flat = Vec::new();
            for &begin in begins {
                match &entries[begin as usize] {
                    Entry::Choice(inner) => {
                        flat.extend(inner.iter().map(|inner| (*inner, begin)));
                        changed = true;
                    }
                    Entry::Nothing | Entry::One(_) => flat.push((begin, begin)),
                }
            }
            for (begin, through) in &flat {
                marks[*begin as usize].inherit(marks[*through as usize]);
            }
            entries[i] = Entry::Choice(flat.into_iter().map(|(begin, _)| begin).collect());
        }
    }
    let mut outgoing = Vec::new();
    for entry in &entries {
        outgoing.push(match entry {
            Entry::Nothing => Vec::new(),
            Entry::One(transition) => vec![transition.clone()],
            Entry::Choice(begins) => {
                let mut transitions = Vec::new();
                for &begin in begins {
                    if let Entry::One(transition) = &entries[begin as usize] {
                        marks[transition.target as usize].inherit(marks[begin as usize]);
                        transitions.push(transition.clone());
                    }
                }
                transitions
            }
        });
    }
    outgoing
}

/// Inserts the transitions of escapes before the transitions that they may interrupt.
fn insert_escapes(outgoing: &mut [Vec<Transition>], flow: &Flow) {
    let most = flow.elements.iter().map(|element| element.escapes.len()).max().unwrap_or(0);
    if most == 0 {
        return;
    }
    for i in 1..outgoing.len() {
        let original = outgoing[i].clone();
        for transition in original {
            for &begin in transition.escapes.iter().rev() {
                for escape in outgoing[begin as usize].clone() {
                    if outgoing[i].iter().any(|present| present.element == escape.element) {
                        continue;
                    }
                    outgoing[i].insert(0, Transition { escape: Some(begin), ..escape });
                }
            }
        }
    }
}

impl LocationMarks {
    fn inherit(&mut self, from: LocationMarks) {
        self.end |= from.end;
        self.accept |= from.accept;
        self.progress |= from.progress;
    }
}
