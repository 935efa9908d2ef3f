//! External properties: they are not part of the model, but may use its macros and names.

use super::ast::{Expr, Formula, HoaClaim, Ident, Unit};
use super::parse::Logic;
use super::token::Token;
use super::{formula, parse, propositions};
use crate::diagnostic::Diagnostic;
use crate::source::{Sources, Span};
use crate::{Asked, AskedKind};
use entail_temporal::{Automaton, hoa};
use std::sync::Arc;

/// The properties, and the texts to be parsed for them.
pub struct ExternalProperties<'a> {
    questions: Vec<External<'a>>,
    /// Each with a name for messages.
    pub texts: Vec<(String, String)>,
}

enum External<'a> {
    Formula(&'a Asked, Logic),
    Never(&'a Asked),
    /// An automaton, its span, and the number of its propositions; each has a text.
    HoaClaim(&'a Asked, Automaton, Span, usize),
}

impl<'a> ExternalProperties<'a> {
    pub fn prepare(
        external: &'a [Asked],
        sources: &mut Sources,
        problems: &mut Vec<Diagnostic>,
    ) -> ExternalProperties<'a> {
        let mut prepared = ExternalProperties { questions: Vec::new(), texts: Vec::new() };
        for one in external {
            match one.kind {
                AskedKind::Formula => {
                    prepared.add(External::Formula(one, Logic::Ltl), [(one.source.clone(), one.text.clone())])
                }
                AskedKind::Ctl => {
                    prepared.add(External::Formula(one, Logic::Ctl), [(one.source.clone(), one.text.clone())])
                }
                AskedKind::Never => prepared.add(External::Never(one), [(one.source.clone(), one.text.clone())]),
                AskedKind::Hoa => prepared.add_automaton(one, sources, problems),
            }
        }
        prepared
    }

    fn add(&mut self, question: External<'a>, texts: impl IntoIterator<Item = (String, String)>) {
        self.questions.push(question);
        self.texts.extend(texts);
    }

    fn add_automaton(&mut self, external: &'a Asked, sources: &mut Sources, problems: &mut Vec<Diagnostic>) {
        let file = sources.add(&*external.source, &*external.text);
        let span = |start: usize, end: usize| Span { file, start: start as u32, end: end as u32 };
        match hoa::read(&external.text) {
            Ok(named) => {
                let name = format!("{}, a proposition", external.source);
                let texts: Vec<_> = named.propositions.into_iter().map(|text| (name.clone(), text)).collect();
                let whole = span(0, external.text.len());
                self.add(External::HoaClaim(external, named.automaton, whole, texts.len()), texts);
            }
            Err(problem) => problems.push(Diagnostic::error(span(problem.start, problem.end), problem.message)),
        }
    }

    /// The properties as units, given the tokens of the texts.
    pub fn units(
        self,
        tokens: Vec<Vec<Token>>,
        proctypes: &[Arc<str>],
        problems: &mut Vec<Diagnostic>,
    ) -> Vec<Unit> {
        let mut tokens = tokens.into_iter();
        let mut units = Vec::new();
        for question in self.questions {
            units.extend(match question {
                External::Formula(external, logic) => tokens.next().and_then(|tokens| {
                    let (expr, first) = read_formula(logic, tokens, proctypes, problems)?;
                    let name = Some(Ident { name: external.name().into(), span: first });
                    let formula = Formula { name, span: expr.span, expr: Some(expr) };
                    Some(match logic {
                        Logic::Ltl => Unit::Ltl(formula),
                        Logic::Ctl => Unit::Ctl(formula),
                    })
                }),
                External::Never(external) => tokens.next().and_then(|tokens| {
                    let claim = parse::parse_claim_about(proctypes.to_vec(), tokens, problems)?;
                    let name = Some(Ident { name: external.name().into(), span: claim.span });
                    Some(Unit::Never(super::ast::Claim { name, ..claim }))
                }),
                External::HoaClaim(external, automaton, span, count) => {
                    let texts = tokens.by_ref().take(count);
                    let read = texts.filter_map(|tokens| {
                        let (proposition, _) = read_formula(Logic::Ltl, tokens, proctypes, problems)?;
                        propositions::refuse_temporal(&proposition)
                            .map_err(|problem| problems.push(problem))
                            .ok()?;
                        Some(proposition)
                    });
                    let propositions: Vec<Expr> = read.collect();
                    let name = Ident { name: external.name().into(), span };
                    Some(Unit::HoaClaim(Box::new(HoaClaim { name, automaton, propositions, span })))
                }
            });
        }
        units
    }
}

fn read_formula(
    logic: Logic,
    tokens: Vec<Token>,
    proctypes: &[Arc<str>],
    problems: &mut Vec<Diagnostic>,
) -> Option<(Expr, Span)> {
    let Some(first) = tokens.first().map(|token| token.span) else {
        return formula::empty(logic).refuse(problems);
    };
    Some((parse::parse_formula_about(logic, proctypes.to_vec(), tokens, problems)?, first))
}
