//! What is said about the runs of a model: formulas, never claims and other automata, and the labels of processes.

use super::flow::{Flow, Kind};
use super::{Assembly, Scopes, Statements, automaton};
use crate::diagnostic::Diagnostic;
use crate::promela::branching::{self, Branching};
use crate::promela::formula::{self, Temporal};
use crate::promela::{ast, text};
use crate::source::Span;
use crate::{Meaning, PropertyKind, Says};
use entail_ir::{Action, Expr, StatementId};
use entail_temporal::Formulas;
use entail_temporal::automaton::{Automaton, Edge, Marks, State};
use entail_temporal::claim::{Claim, End};
use entail_temporal::cube::Cube;
use entail_temporal::formula::{MAX_PROPOSITIONS, Proposition};
use std::collections::HashMap;

/// A never claim on its way to an automaton.
#[derive(Default)]
struct Draft {
    /// Of locations that have been met.
    states: HashMap<u32, State>,
    pending: Vec<u32>,
    edges: Vec<Vec<Edge>>,
    ends: Vec<End>,
    propositions: Vec<(Expr, StatementId)>,
    /// Of states: where the claim is then.
    names: Vec<String>,
}

impl Draft {
    fn add_state(&mut self) -> State {
        self.names.push(String::new());
        self.edges.push(Vec::new());
        State(self.edges.len() as u32 - 1)
    }

    fn state(&mut self, location: u32) -> State {
        if let Some(state) = self.states.get(&location) {
            return *state;
        }
        let state = self.add_state();
        self.states.insert(location, state);
        self.pending.push(location);
        state
    }

    fn end(&mut self, state: State, statement: StatementId) {
        self.ends.push(End::of_never(state, statement.0));
    }

    /// Where a condition holds, or does not; nowhere if that is never. Equal conditions are one proposition.
    fn cube(&mut self, condition: &Expr, statement: StatementId, holds: bool) -> Option<Cube> {
        if let Expr::Const(value) = condition {
            return ((*value != 0) == holds).then_some(Cube::TRUE);
        }
        let known = self.propositions.iter().position(|(known, _)| known == condition);
        let number = known.unwrap_or_else(|| {
            self.propositions.push((condition.clone(), statement));
            self.propositions.len() - 1
        });
        (number < MAX_PROPOSITIONS).then(|| Cube::literal(Proposition(number as u8), holds))
    }
}

impl Assembly<'_> {
    /// A formula with its propositions lowered.
    pub(super) fn linear(&mut self, formula: &ast::Formula) -> Option<Meaning> {
        let Temporal { formulas, formula, propositions, antecedents, .. } =
            formula::of_unit(formula, self.problems)?;
        let propositions = propositions.iter().map(|condition| self.proposition(condition)).collect();
        let antecedents = antecedents.iter().map(|condition| self.proposition(condition)).collect();
        Some(Meaning { says: Says::Always(formulas, formula), propositions, antecedents })
    }

    pub(super) fn branching(&mut self, formula: &ast::Formula) -> Option<Meaning> {
        let Branching { formula, propositions } = branching::of_unit(formula, self.problems)?;
        let propositions = propositions.iter().map(|condition| self.proposition(condition)).collect();
        Some(Meaning { says: Says::Branching(formula), propositions, antecedents: Vec::new() })
    }

    /// An automaton from elsewhere.
    pub(super) fn watcher(&mut self, watcher: &ast::Watcher) -> Meaning {
        let propositions = watcher.propositions.iter().map(|condition| self.proposition(condition)).collect();
        let says = Says::Never(Claim::new(watcher.automaton.clone()));
        Meaning { says, propositions, antecedents: Vec::new() }
    }

    fn proposition(&mut self, condition: &ast::Expr) -> (Expr, StatementId) {
        let lowered = self.lowering(Scopes::GLOBAL, u32::MAX).expr(condition);
        (lowered, self.statement(&text::expression(condition), condition.span, 0, 0))
    }

    /// The automaton of a never claim. It takes one step before each step of the processes.
    pub(super) fn never(&mut self, flow: &mut Flow) -> Option<Meaning> {
        let Some(automaton) = automaton::build(flow, &self.scopes, self.problems) else {
            self.check_statements(flow);
            return None;
        };
        let mut statements = Statements { made: HashMap::new() };
        let mut draft = Draft::default();
        draft.state(automaton.entry);
        while let Some(location) = draft.pending.pop() {
            let state = draft.state(location);
            let marks = Marks(u64::from(automaton.marks[location as usize].accept));
            // Where the claim goes if it can, where if nothing else can, and what would be possible otherwise.
            let (mut cubes, mut otherwise) = (Vec::new(), Vec::new());
            for transition in &automaton.outgoing[location as usize] {
                let element = &flow[transition.element];
                let (span, escapes) = (element.span, transition.escape.is_some() || !element.escapes.is_empty());
                let (action, statement) = self.lower_element(flow, transition.element, &mut statements);
                if escapes || matches!(element.kind, Kind::DStep(_)) {
                    self.only_watches(span, "it can have neither `unless` nor `d_step`");
                    continue;
                }
                draft.names[state.index()] = format!("line {}", self.system.statement(statement).line);
                let target = |draft: &mut Draft| draft.state(transition.target);
                match &action {
                    Action::Guard(condition) => {
                        if let Some(cube) = draft.cube(condition, statement, true) {
                            cubes.push((cube, target(&mut draft)));
                        }
                    }
                    Action::Skip | Action::Print(..) | Action::PrintName(_) => {
                        cubes.push((Cube::TRUE, target(&mut draft)));
                    }
                    Action::Assert(condition) => {
                        if let Some(fails) = draft.cube(condition, statement, false) {
                            let end = draft.add_state();
                            draft.end(end, statement);
                            cubes.push((fails, end));
                        }
                        cubes.push((Cube::TRUE, target(&mut draft)));
                    }
                    Action::Else => otherwise.push(target(&mut draft)),
                    Action::End => draft.end(state, statement),
                    Action::Assign(..)
                    | Action::Send(_)
                    | Action::Receive(_)
                    | Action::SetPriority(_)
                    | Action::Run(..)
                    | Action::Deterministic(_) => self.only_watches(span, "it can change nothing"),
                }
            }
            let edge = |(label, target): (Cube, State)| Edge { target, marks, label };
            if !otherwise.is_empty() {
                let nothing = cubes.iter().try_fold(Cube::TRUE, |all, (cube, _)| all.and(negated(*cube)?));
                let nothing =
                    nothing.into_iter().flat_map(|cube| otherwise.iter().map(move |target| (cube, *target)));
                draft.edges[state.index()].extend(nothing.map(edge));
            }
            draft.edges[state.index()].extend(cubes.into_iter().map(edge));
        }
        if draft.propositions.len() > MAX_PROPOSITIONS {
            let message = format!("the claim asks more than {MAX_PROPOSITIONS} different things");
            self.problems.push(Diagnostic::general(message));
            return None;
        }
        let Draft { edges, ends, propositions, names, .. } = draft;
        let says = Says::Never(Claim { ends, names, ..Claim::new(Automaton { edges, sets: 1 }) });
        Some(Meaning { says, propositions, antecedents: Vec::new() })
    }

    fn only_watches(&mut self, span: Span, but: &str) {
        let message = format!("a never claim only watches: {but}");
        self.problems.push(Diagnostic::error(span, message).hint("write conditions, `if`, `do` and `goto` only"));
    }

    /// What acceptance and progress labels say: that some states are not passed again and again, and that others are.
    /// Acceptance labels are there to be checked; progress is checked only on demand, as in SPIN.
    pub(super) fn of_labels(&self) -> Vec<(PropertyKind, Meaning, bool)> {
        // To ask for labels never fails, so that the place does not matter.
        let Some(statement) = self.system.process_types.first().map(|first| first.declared_at) else {
            return Vec::new();
        };
        let mut formulas = Formulas::default();
        let asked = formulas.proposition(Proposition(0));
        let not = formulas.not(asked);
        let (never, sometimes) = (formulas.always(not), formulas.eventually(not));
        let (finally_never, always_sometimes) = (formulas.eventually(never), formulas.always(sometimes));
        let meaning = |formula, condition: Expr| Meaning {
            says: Says::Always(formulas.clone(), formula),
            propositions: vec![(condition, statement)],
            antecedents: Vec::new(),
        };
        let mut locations = self.system.process_types.iter().flat_map(|process_type| &process_type.locations);
        let has_labels = locations.any(|location| location.accept);
        vec![
            (PropertyKind::Acceptance, meaning(finally_never, Expr::Accepting), has_labels),
            (PropertyKind::Progress, meaning(always_sometimes, Expr::NonProgress), false),
        ]
    }
}

/// Where a condition does not hold, if it is a single one.
fn negated(cube: Cube) -> Option<Cube> {
    (cube != Cube::TRUE).then_some(Cube { positive: cube.negative, negative: cube.positive })
}
