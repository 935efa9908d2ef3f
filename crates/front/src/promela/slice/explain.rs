//! Explains a slice.

use super::effects::{Item, Mandatory};
use super::graph::EdgeLabel;
use super::names::VarId;
use super::relevance::{At, Relevance, Why};
use super::rewrite::Removed;
use crate::promela::text;
use crate::source::{Place, Sources, Span};
use std::collections::HashSet;

/// The contents of a slice.
#[derive(Clone, Debug, Default)]
pub struct Explanation {
    pub kept: Vec<Kept>,
    pub dropped: Vec<Dropped>,
    /// Statements that are not in the slice.
    pub statements: Vec<Dropped>,
    /// The reason why every step stays, if so.
    pub steps: Option<&'static str>,
}

/// A variable that is kept.
#[derive(Clone, Debug)]
pub struct Kept {
    pub name: String,
    pub process: Option<String>,
    /// From the variable to the property.
    pub because: Vec<String>,
}

/// A variable or a statement that is removed.
#[derive(Clone, Debug)]
pub struct Dropped {
    pub text: String,
    pub process: Option<String>,
    pub place: Place,
}

pub fn explain(relevance: &Relevance, removed: &[Removed], sources: &Sources) -> Explanation {
    let explainer = Explainer { relevance, sources };
    let mut explanation = Explanation { steps: relevance.criterion.steps, ..Explanation::default() };
    for id in relevance.names.ids() {
        let var = &relevance.names[id];
        let process = var.owner.map(|body| relevance.processes[body.0].name.to_string());
        if relevance.is_kept_var(id) {
            let because = explainer.chain(Item::Var(id));
            explanation.kept.push(Kept { name: var.name.to_string(), process, because });
        } else {
            let place = sources.place(var.span);
            explanation.dropped.push(Dropped { text: var.name.to_string(), process, place });
        }
    }
    let mut seen = HashSet::new();
    for Removed { body, span, text } in removed {
        let process = Some(relevance.processes[body.0].name.to_string());
        let place = sources.place(*span);
        // An inline may be called several times.
        if seen.insert((*body, *span)) {
            explanation.statements.push(Dropped { text: text.clone(), process, place });
        }
    }
    explanation
}

struct Explainer<'a, 'r, 'p> {
    relevance: &'a Relevance<'r, 'p>,
    sources: &'a Sources,
}

/// Something that is kept for a reason.
#[derive(Clone, Copy)]
enum Fact {
    Item(Item),
    Edge(At),
}

impl Explainer<'_, '_, '_> {
    /// The reasons from an item to the property. Each was found before the one that it is a reason for, so that the
    /// chain is finite.
    fn chain(&self, item: Item) -> Vec<String> {
        let mut reasons = Vec::new();
        let mut fact = Some(Fact::Item(item));
        while let Some(current) = fact {
            let why = match current {
                Fact::Item(item) => self.relevance.items.get(&item).copied(),
                Fact::Edge(at) => self.relevance.processes[at.body.0].relevant[at.edge.0],
            };
            let Some(why) = why else { break };
            let (reason, next) = match why {
                Why::Property if !reasons.is_empty() => ("which the property reads".into(), None),
                _ => self.reason(why),
            };
            reasons.push(reason);
            fact = next;
        }
        reasons
    }

    fn reason(&self, why: Why) -> (String, Option<Fact>) {
        match why {
            Why::Property => ("the property reads it".into(), None),
            Why::Assertion => ("which is an assertion".into(), None),
            Why::Mandatory(Mandatory::MayFail) => ("which may fail".into(), None),
            Why::Mandatory(Mandatory::StartsProcess) => ("which starts a process".into(), None),
            Why::Mandatory(Mandatory::Special) => ("which cannot be simplified".into(), None),
            Why::Writes(item) => (format!("which changes {}", self.item(item)), Some(Fact::Item(item))),
            Why::Needed(at) => (format!("{} needs it", self.statement(at)), Some(Fact::Edge(at))),
            Why::Decides(at, Some(next)) => {
                let (at, goal) = (self.statement(at), self.statement(next));
                (format!("{at} decides whether {goal} is reached"), Some(Fact::Edge(next)))
            }
            Why::Decides(at, None) => (format!("{} decides whether a loop continues", self.statement(at)), None),
            Why::Waits(at, Some(next)) if at != next => {
                let (at, goal) = (self.statement(at), self.statement(next));
                (format!("{at} may have to wait before {goal}"), Some(Fact::Edge(next)))
            }
            Why::Waits(at, _) => (format!("{} may have to wait", self.statement(at)), None),
            Why::Given(param) => {
                (format!("it is given to {}", self.name(param)), Some(Fact::Item(Item::Var(param))))
            }
            Why::Declares(var) => {
                (format!("the declaration of {} needs it", self.name(var)), Some(Fact::Item(Item::Var(var))))
            }
        }
    }

    fn item(&self, item: Item) -> String {
        match item {
            Item::Var(var) => self.name(var),
            Item::Messages(class) => {
                let held = self.relevance.names.ids().find(|&id| self.relevance.channels.class(id) == class);
                format!("the messages in {}", held.map_or("a channel".into(), |id| self.name(id)))
            }
        }
    }

    fn name(&self, var: VarId) -> String {
        format!("`{}`", self.relevance.names[var].name)
    }

    fn statement(&self, at: At) -> String {
        let process = &self.relevance.processes[at.body.0];
        let span: Span = process.span(at.edge);
        let line = self.sources.place(span).line;
        match process.graph.edges[at.edge.0].label {
            EdgeLabel::Stmt(stmt) | EdgeLabel::Loop(stmt, _) => {
                format!("`{}` in line {line}", text::statement(stmt))
            }
            EdgeLabel::Declared(var) => format!("the declaration of `{}` in line {line}", var.name.name),
        }
    }
}
