//! The graph of elements, and the flow of control in it.

use super::flow::{Element, ElementId, Flow, Jump, Kind, Sequence, SequenceId};
use super::scope::Scopes;
use crate::promela::ast::StmtKind;
use std::collections::HashMap;
use std::ops::{Index, IndexMut};

/// The element where control rests if it arrives at an element, by whether it comes from an atomic one.
pub type Rests = HashMap<(ElementId, bool), Option<ElementId>>;

impl Index<ElementId> for Flow {
    type Output = Element;
    fn index(&self, id: ElementId) -> &Element {
        &self.elements[id.0 as usize]
    }
}

impl IndexMut<ElementId> for Flow {
    fn index_mut(&mut self, id: ElementId) -> &mut Element {
        &mut self.elements[id.0 as usize]
    }
}

impl Index<SequenceId> for Flow {
    type Output = Sequence;
    fn index(&self, id: SequenceId) -> &Sequence {
        &self.sequences[id.0 as usize]
    }
}

impl Flow {
    /// The elements of a sequence, up to and including `end`.
    pub fn until(&self, sequence: SequenceId, end: Option<ElementId>) -> Vec<ElementId> {
        let mut elements = Vec::new();
        let mut current = self[sequence].first;
        while let Some(element) = current {
            elements.push(element);
            if current == end {
                break;
            }
            current = self[element].next;
        }
        elements
    }

    /// Makes the sequence atomic: it can be interrupted only after its last element.
    pub fn make_atomic(&mut self, sequence: SequenceId, deterministic: bool) {
        self.mark_atomic(sequence, deterministic);
        let mut sequence = sequence;
        while let Some(last) = self[sequence].last {
            sequence = match self[last].kind {
                Kind::Block(inner) | Kind::Atomic(inner) => inner,
                Kind::Unless => self[last].branches[0],
                _ => {
                    self[last].atomic = false;
                    self[last].last_atomic = true;
                    return;
                }
            };
            self.mark_atomic(sequence, deterministic);
        }
    }

    fn mark_atomic(&mut self, sequence: SequenceId, deterministic: bool) {
        let mut pending = vec![sequence];
        while let Some(sequence) = pending.pop() {
            for id in self.until(sequence, self[sequence].last) {
                let element = &mut self[id];
                element.atomic = true;
                element.deterministic |= deterministic;
                match element.kind {
                    Kind::Atomic(inner) | Kind::Block(inner) => {
                        element.kind = Kind::Block(inner);
                        pending.push(inner);
                    }
                    Kind::DStep(inner) if deterministic => {
                        element.kind = Kind::Block(inner);
                        pending.push(inner);
                    }
                    _ => pending.extend(element.branches.iter().copied()),
                }
            }
        }
    }

    /// Attaches an escape to every element of the body.
    pub fn attach_escape(&mut self, body: SequenceId, escape: SequenceId) {
        for element in self.until(body, self[body].extent) {
            self.attach_to_element(element, escape);
        }
    }

    fn attach_to_element(&mut self, id: ElementId, escape: SequenceId) {
        if self[id].escapes.contains(&escape) {
            return;
        }
        for inner in self[id].escapes.clone() {
            self.attach_escape(inner, escape);
        }
        self[id].escapes.insert(0, escape);
        match self[id].kind.clone() {
            Kind::Unless => {
                let body = self[id].branches[0];
                self.attach_escape(body, escape);
            }
            Kind::If | Kind::Do => {
                for branch in self[id].branches.clone() {
                    self.attach_escape(branch, escape);
                }
            }
            Kind::DStep(sequence) => {
                if let Some(first) = self[sequence].first {
                    self.attach_to_element(first, escape);
                }
            }
            Kind::Atomic(sequence) | Kind::Block(sequence) => self.attach_escape(sequence, escape),
            Kind::Simple(_) | Kind::Nothing | Kind::Else | Kind::Goto(_) | Kind::Joint | Kind::Exit | Kind::End => {
            }
        }
    }

    /// Of several `skip`s or `printf`s in a row, SPIN removes the unlabelled `skip`s after the first, unless
    /// they end the branch.
    pub fn drop_redundant_skips(&mut self, branch: SequenceId) {
        let Sequence { first, last, extent } = self[branch].clone();
        let mut previous = None;
        let mut in_a_row = 0;
        for id in self.until(branch, last) {
            let labelled = self.labels.at(id).is_some();
            if labelled || !self.does_nothing(id) {
                in_a_row = 0;
            } else {
                in_a_row += 1;
                let at_an_end = [first, last, extent].contains(&Some(id));
                if in_a_row > 1 && self.is_skip(id) && !at_an_end {
                    let previous: ElementId = previous.expect("the first is never dropped");
                    self[previous].next = self[id].next;
                    continue;
                }
            }
            previous = Some(id);
        }
    }

    pub fn is_skip(&self, id: ElementId) -> bool {
        matches!(&self[id].kind, Kind::Simple(stmt) if stmt.is_skip())
    }

    fn does_nothing(&self, id: ElementId) -> bool {
        let Kind::Simple(stmt) = &self[id].kind else { return false };
        self.is_skip(id) || matches!(stmt.kind, StmtKind::Printf(..) | StmtKind::Printm(_))
    }

    /// The target of a jump; `None` if its label is not defined. Of several labels with the name, the one in
    /// the jump's own block has precedence, then one in a surrounding block, then any other.
    pub fn target(&self, jump: ElementId, scopes: &Scopes) -> Option<ElementId> {
        match &self[jump].kind {
            Kind::Goto(Jump::Break(id)) => self.exit(*id),
            Kind::Goto(Jump::Label(name)) => {
                let scope = self[jump].scope;
                let mut best = None;
                for label in self.labels.named(&name.name).rev() {
                    if label.scope == scope {
                        return Some(label.element);
                    }
                    if scopes.is_inside(scope, label.scope) || best.is_none() {
                        best = Some(label.element);
                    }
                }
                best
            }
            _ => None,
        }
    }

    /// The element where control rests if it arrives at `start`. It passes jumps and joints. It does not
    /// leave an atomic sequence, because leaving takes a step of its own; this depends on whether it comes
    /// from an atomic element. `None` if the jumps form a cycle or have no target. Results are added to
    /// `known`.
    pub fn resting_place(&self, start: ElementId, from_atomic: bool, known: &mut Rests) -> Option<ElementId> {
        let mut passed = Vec::new();
        let mut current = start;
        let rest = loop {
            if let Some(&rest) = known.get(&(current, from_atomic)) {
                break rest;
            }
            // A second visit means a cycle.
            known.insert((current, from_atomic), None);
            passed.push(current);
            let next = match &self[current].kind {
                Kind::Goto(_) => self.jumps.get(&current).copied(),
                Kind::Joint | Kind::Exit => match self[current].next {
                    Some(next) => Some(next),
                    None => break Some(current),
                },
                Kind::Unless => {
                    let body = self[self[current].branches[0]].first;
                    body.and_then(|body| self.resting_place(body, from_atomic, known))
                }
                Kind::Simple(_)
                | Kind::Nothing
                | Kind::Else
                | Kind::If
                | Kind::Do
                | Kind::Atomic(_)
                | Kind::DStep(_)
                | Kind::Block(_)
                | Kind::End => break Some(current),
            };
            let Some(next) = next else { break None };
            if from_atomic && !self[next].atomic {
                break Some(current);
            }
            current = next;
        };
        known.extend(passed.into_iter().map(|element| ((element, from_atomic), rest)));
        rest
    }

    /// The first element of a branch that is not a joint.
    pub fn beginning(&self, start: ElementId) -> ElementId {
        let mut current = start;
        for _ in 0..self.elements.len() {
            current = match &self[current].kind {
                Kind::Joint => match self[current].next {
                    Some(next) => next,
                    None => return current,
                },
                Kind::Unless => match self[self[current].branches[0]].first {
                    Some(first) => first,
                    None => return current,
                },
                _ => return current,
            };
        }
        current
    }
}
