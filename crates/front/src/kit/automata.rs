//! Builds systems.

use crate::source::{Sources, Span};
use entail_ir::{
    Action, Block, BlockNode, Edge, Entry, Frame, Label, Location, LocationId, NodeId, Place, ProcessType,
    ProcessTypeId, Statement, StatementId, System,
};

/// A system under construction.
#[derive(Debug, Default)]
pub struct Automata {
    pub system: System,
}

/// The locations of one process type under construction, each with its edges.
#[derive(Debug, Default)]
pub struct Automaton {
    drafts: Vec<Draft>,
    labels: Vec<Label>,
}

#[derive(Debug, Default)]
struct Draft {
    edges: Vec<Edge>,
    end: bool,
}

impl Automata {
    /// Adds a statement that edges can refer to. Trails identify the steps of a process by their statements,
    /// so edges of one location that can be enabled together need different statements.
    pub fn statement(&mut self, sources: &Sources, span: Span, text: impl Into<String>) -> StatementId {
        let place = sources.place(span);
        let number = self.system.statements.len() as u32;
        self.system.statements.push(Statement {
            text: text.into(),
            file: place.file,
            line: place.line,
            column: place.column,
            spin_id: number,
            location: LocationId(0),
        });
        StatementId(number)
    }

    /// Completes a process type. Its first location is the entry; its arguments are stored to `params`.
    pub fn add(
        &mut self,
        name: &str,
        frame: Frame,
        params: Vec<Place>,
        automaton: Automaton,
        declared_at: StatementId,
    ) -> ProcessTypeId {
        let mut locations = vec![Location::default()];
        for draft in automaton.drafts {
            let (first, count) = (self.system.edges.len() as u32, draft.edges.len() as u32);
            let first = if count == 0 { 0 } else { first };
            locations.push(Location { first, count, end: draft.end, ..Location::default() });
            self.system.edges.extend(draft.edges);
        }
        let id = ProcessTypeId(self.system.process_types.len() as u16);
        self.system.process_types.push(ProcessType {
            name: name.to_owned(),
            params,
            frame,
            locations,
            entry: LocationId(1),
            labels: automaton.labels,
            provided: None,
            deterministic: false,
            declared_at,
        });
        id
    }
}

impl Automaton {
    /// Adds a location; the first one is the entry.
    pub fn location(&mut self) -> LocationId {
        self.drafts.push(Draft::default());
        LocationId(self.drafts.len() as u16)
    }

    /// The number of locations.
    pub fn len(&self) -> usize {
        self.drafts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.drafts.is_empty()
    }

    pub fn label(&mut self, location: LocationId, name: &str) {
        self.labels.push(Label { name: name.to_owned(), location });
    }

    /// Makes the location a valid end state.
    pub fn end(&mut self, location: LocationId) {
        self.drafts[location.index() - 1].end = true;
    }

    pub fn edge(&mut self, from: LocationId, action: Action, target: LocationId, statement: StatementId) {
        self.push(
            from,
            Edge { target: Some(target), action, atomic: false, escape: None, forgets: Vec::new(), statement },
        );
    }

    /// Adds an atomic edge.
    pub fn atomic_edge(&mut self, from: LocationId, action: Action, target: LocationId, statement: StatementId) {
        self.push(
            from,
            Edge { target: Some(target), action, atomic: true, escape: None, forgets: Vec::new(), statement },
        );
    }

    fn push(&mut self, from: LocationId, edge: Edge) {
        self.drafts[from.index() - 1].edges.push(edge);
    }
}

/// A sequence of actions in one step, each with its statement. A single action that is always enabled needs no block.
pub fn sequence(entry: Entry, mut actions: Vec<(Action, StatementId)>, statement: StatementId) -> Action {
    if entry == Entry::Always && actions.len() <= 1 {
        return actions.pop().map_or(Action::Skip, |(action, _)| action);
    }
    if actions.is_empty() {
        actions.push((Action::Skip, statement));
    }
    let last = actions.len() - 1;
    let nodes = actions.into_iter().enumerate().map(|(i, (action, statement))| {
        let next = (i < last).then(|| NodeId(i as u32 + 1));
        BlockNode::Do { action, statement, next }
    });
    Action::Deterministic(Box::new(Block { entry, nodes: nodes.collect() }))
}
