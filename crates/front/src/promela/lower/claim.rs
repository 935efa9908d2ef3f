//! Lowers properties of runs: formulas, never claims and other automata, and labels.

use super::flow::{Flow, Kind};
use super::{Assembly, Scopes, Statements, automaton};
use crate::diagnostic::Diagnostic;
use crate::promela::ctl::{self, CtlFormula};
use crate::promela::formula::{self, Temporal};
use crate::promela::{ast, text};
use crate::source::Span;
use crate::{Meaning, PropertyKind, Specification, SpinClaim};
use entail_ir::{Action, BinaryOp, Effect, Enabling, Expr, StatementId};
use entail_temporal::Formulas;
use entail_temporal::automaton::{Automaton, Edge, Marks, State};
use entail_temporal::claim::{Claim, End};
use entail_temporal::cube::Cube;
use entail_temporal::formula::{MAX_PROPOSITIONS, Proposition};
use std::collections::{HashMap, HashSet};

/// A never claim while its automaton is being built.
#[derive(Default)]
struct Draft {
    /// The states of visited locations.
    states: HashMap<u32, State>,
    pending: Vec<u32>,
    edges: Vec<Vec<Edge>>,
    /// For each state and edge, the statements that the claim executes.
    statements: Vec<Vec<Vec<StatementId>>>,
    ends: Vec<End>,
    propositions: Vec<(Expr, StatementId)>,
    /// The location of each state as text.
    names: Vec<String>,
    /// The number of statements on all paths through atomic sequences.
    passed: usize,
}

/// A transition of a never claim.
#[derive(Clone, Copy)]
struct Choice {
    label: Cube,
    statement: StatementId,
    leads: Leads,
}

#[derive(Clone, Copy)]
enum Leads {
    To(u32),
    /// Continues inside an atomic sequence.
    On(u32),
    /// An assertion fails.
    AssertionFailed,
}

/// Limit on the paths through the atomic sequences of a claim.
const MAX_PASSED: usize = 1 << 22;

/// The transitions of a never claim at the visited locations.
struct Choices<'a> {
    flow: &'a Flow,
    automaton: &'a automaton::Automaton,
    made: HashMap<u32, Vec<Choice>>,
    statements: Statements,
}

impl Draft {
    fn add_state(&mut self) -> State {
        self.names.push(String::new());
        self.edges.push(Vec::new());
        self.statements.push(Vec::new());
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

    /// The condition, or its negation, as a cube; `None` if it is never true. Equal conditions are one proposition.
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
    /// Lowers a formula by itself: an error in it does not affect the rest of the model.
    pub(super) fn alone(
        &mut self,
        name: &str,
        lower: impl FnOnce(&mut Self) -> Option<Meaning>,
    ) -> Option<Meaning> {
        let before = self.problems.len();
        let meaning = lower(self);
        let mut is_wrong = false;
        for problem in self.problems[before..].iter_mut().filter(|problem| problem.is_error()) {
            problem.property = Some(name.into());
            is_wrong = true;
        }
        meaning.filter(|_| !is_wrong)
    }

    /// A formula with its propositions lowered.
    pub(super) fn linear(&mut self, formula: &ast::Formula) -> Option<Meaning> {
        let mut problems = Vec::new();
        let read = formula::of_unit(formula, &mut |atom| self.may_fault(atom), &mut problems);
        self.problems.append(&mut problems);
        let Temporal { formulas, formula, propositions, antecedents, .. } = read?;
        let propositions = propositions.iter().map(|condition| self.proposition(condition)).collect();
        let antecedents = antecedents.iter().map(|condition| self.proposition(condition)).collect();
        Some(Meaning { says: Specification::Ltl(formulas, formula), propositions, antecedents })
    }

    pub(super) fn ctl(&mut self, formula: &ast::Formula) -> Option<Meaning> {
        let mut problems = Vec::new();
        let read = ctl::of_unit(formula, &mut |atom| self.may_fault(atom), &mut problems);
        self.problems.append(&mut problems);
        let CtlFormula { formula, propositions } = read?;
        let propositions = propositions.iter().map(|condition| self.proposition(condition)).collect();
        Some(Meaning { says: Specification::Ctl(formula), propositions, antecedents: Vec::new() })
    }

    /// An automaton in the HOA format.
    pub(super) fn hoa_claim(&mut self, hoa_claim: &ast::HoaClaim) -> Meaning {
        let propositions = hoa_claim.propositions.iter().map(|condition| self.proposition(condition)).collect();
        let says = Specification::Never(Claim::new(hoa_claim.automaton.clone()), None);
        Meaning { says, propositions, antecedents: Vec::new() }
    }

    /// Whether evaluating a condition may fault. Other problems are reported when the condition is lowered.
    fn may_fault(&mut self, condition: &ast::Expr) -> bool {
        let known = self.problems.len();
        let lowered = self.lowering(Scopes::GLOBAL, u32::MAX).expr(condition);
        self.problems.truncate(known);
        lowered.any(|part| match part {
            Expr::Load(place) => place.indices.iter().any(|index| {
                let value = index.value.constant().and_then(|value| u32::try_from(value).ok());
                value.is_none_or(|value| value >= index.len)
            }),
            Expr::Binary(BinaryOp::Div | BinaryOp::Rem, sides) => {
                sides.1.constant().is_none_or(|divisor| divisor == 0)
            }
            Expr::Enabled(process) => process.constant().is_none_or(|process| process < 0),
            Expr::Length(_) | Expr::Channel(..) | Expr::Poll(_) | Expr::Fault(_) => true,
            Expr::Const(_)
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Conditional(_)
            | Expr::Myself
            | Expr::ProcessCount
            | Expr::Last
            | Expr::Timeout
            | Expr::Started
            | Expr::LocationOf(_)
            | Expr::At(..)
            | Expr::PriorityOf(_)
            | Expr::Find(_)
            | Expr::NonProgress
            | Expr::Accepting => false,
        })
    }

    fn proposition(&mut self, condition: &ast::Expr) -> (Expr, StatementId) {
        let lowered = self.lowering(Scopes::GLOBAL, u32::MAX).expr(condition);
        (lowered, self.statement(&text::expression(condition), condition.span, 0, 0))
    }

    /// The automaton of a never claim, which has this number among the process types. The claim moves before
    /// each step of the processes.
    pub(super) fn never(&mut self, flow: &mut Flow, number: u32) -> Option<Meaning> {
        let Some(automaton) = automaton::build(flow, &self.scopes, self.problems) else {
            self.check_statements(flow);
            return None;
        };
        let mut draft = Draft::default();
        let statements = Statements { made: HashMap::new() };
        let mut choices = Choices { flow, automaton: &automaton, made: HashMap::new(), statements };
        draft.state(automaton.entry);
        while let Some(location) = draft.pending.pop() {
            self.turns(location, &mut choices, &mut draft);
            if draft.passed > MAX_PASSED {
                let message = "there are too many paths through the atomic sequences of the claim";
                return Diagnostic::general(message).refuse(self.problems);
            }
        }
        if draft.propositions.len() > MAX_PROPOSITIONS {
            let message = format!("the claim has more than {MAX_PROPOSITIONS} propositions");
            return Diagnostic::general(message).refuse(self.problems);
        }
        let Draft { edges, statements, ends, propositions, names, .. } = draft;
        let claim = Claim { ends, names, ..Claim::new(Automaton { edges, sets: 1 }) };
        let written = SpinClaim { number, statements: statements.into_iter().flatten().collect() };
        Some(Meaning { says: Specification::Never(claim, Some(written)), propositions, antecedents: Vec::new() })
    }

    /// Adds the moves of the claim from a location: each is a single transition, or a whole atomic sequence,
    /// which is executed in one state of the processes. If the sequence blocks, there is no move.
    fn turns(&mut self, location: u32, choices: &mut Choices, draft: &mut Draft) {
        let state = draft.state(location);
        let marks = Marks(u64::from(choices.automaton.marks[location as usize].accept));
        let mut begun = vec![(location, Cube::TRUE, Vec::new())];
        let mut seen = HashSet::new();
        while let Some((at, before, passed)) = begun.pop() {
            for Choice { label, statement, leads } in self.choices(at, choices, draft) {
                if at == location {
                    draft.names[state.index()] = self.line(statement);
                }
                let Some(label) = before.and(label) else { continue };
                let mut passed: Vec<StatementId> = passed.clone();
                passed.push(statement);
                let target = match leads {
                    Leads::To(target) => draft.state(target),
                    Leads::On(next) => {
                        draft.passed += passed.len();
                        // An atomic sequence of a claim changes nothing: a second visit means a cycle.
                        if seen.insert((next, label)) && draft.passed <= MAX_PASSED {
                            begun.push((next, label, passed));
                        }
                        continue;
                    }
                    Leads::AssertionFailed => {
                        let end = draft.add_state();
                        draft.end(end, statement);
                        end
                    }
                };
                draft.edges[state.index()].push(Edge { target, marks, label });
                draft.statements[state.index()].push(passed);
            }
        }
    }

    /// The transitions of the claim at a location.
    fn choices(&mut self, location: u32, choices: &mut Choices, draft: &mut Draft) -> Vec<Choice> {
        if let Some(made) = choices.made.get(&location) {
            return made.clone();
        }
        let (mut made, mut otherwise) = (Vec::new(), Vec::new());
        for transition in &choices.automaton.outgoing[location as usize] {
            let element = &choices.flow[transition.element];
            let (span, escapes) = (element.span, transition.escape.is_some() || !element.escapes.is_empty());
            let (action, statement) = self.lower_element(choices.flow, transition.element, &mut choices.statements);
            if escapes || matches!(element.kind, Kind::DStep(_)) {
                self.only_watches(span, "it can have neither `unless` nor `d_step`");
                continue;
            }
            let leads = if transition.atomic { Leads::On } else { Leads::To }(transition.target);
            let choice = |label| Choice { label, statement, leads };
            if !matches!(action.effect(), Effect::Nothing) {
                self.only_watches(span, "it cannot change anything");
                continue;
            }
            if let Action::Assert(condition) = &action {
                let fails = draft.cube(condition, statement, false);
                made.extend(fails.map(|label| Choice { leads: Leads::AssertionFailed, ..choice(label) }));
            }
            match action.enabling() {
                Enabling::Always => made.push(choice(Cube::TRUE)),
                Enabling::Condition(condition) => {
                    made.extend(draft.cube(condition, statement, true).map(choice));
                }
                Enabling::Else => otherwise.push(choice(Cube::TRUE)),
                Enabling::Youngest => {
                    let end = draft.state(location);
                    draft.end(end, statement);
                    draft.names[end.index()] = self.line(statement);
                }
                Enabling::Send(_) | Enabling::Receive(_) | Enabling::AnyOf(_) => {
                    unreachable!("they have an effect")
                }
            }
        }
        let nothing = made.iter().try_fold(Cube::TRUE, |all, choice| all.and(negated(choice.label)?));
        made.extend(nothing.iter().flat_map(|&label| otherwise.iter().map(move |one| Choice { label, ..*one })));
        choices.made.insert(location, made.clone());
        made
    }

    fn line(&self, statement: StatementId) -> String {
        format!("line {}", self.system.statement(statement).line)
    }

    fn only_watches(&mut self, span: Span, but: &str) {
        let message = format!("a never claim only observes: {but}");
        self.problems.push(Diagnostic::error(span, message).hint("write conditions, `if`, `do` and `goto` only"));
    }

    /// The properties of labels: acceptance labels are not visited infinitely often, progress labels are.
    /// Acceptance is checked by default; progress only on demand, as in SPIN.
    pub(super) fn of_labels(&self) -> Vec<(PropertyKind, Meaning, bool)> {
        // Reading a label never faults, so the position does not matter.
        let Some(statement) = self.system.process_types.first().map(|first| first.declared_at) else {
            return Vec::new();
        };
        let mut formulas = Formulas::default();
        let proposition = formulas.proposition(Proposition(0));
        let not = formulas.not(proposition);
        let (never, sometimes) = (formulas.always(not), formulas.eventually(not));
        let (finally_never, always_sometimes) = (formulas.eventually(never), formulas.always(sometimes));
        let meaning = |formula, condition: Expr| Meaning {
            says: Specification::Ltl(formulas.clone(), formula),
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

/// The negation of a cube, if it is a single literal.
fn negated(cube: Cube) -> Option<Cube> {
    (cube != Cube::TRUE).then_some(Cube { positive: cube.negative, negative: cube.positive })
}
