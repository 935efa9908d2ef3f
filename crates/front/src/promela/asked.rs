//! What is asked of a model besides what it says itself. The model's macros and names may be used.

use super::ast::{Expr, Formula, Ident, Unit, Watcher};
use super::parse::Logic;
use super::token::Token;
use super::{formula, parse, propositions};
use crate::diagnostic::Diagnostic;
use crate::source::{Sources, Span};
use crate::{Asked, AskedKind};
use entail_temporal::{Automaton, hoa};
use std::sync::Arc;

/// Questions, and the texts that have to be read to understand them.
pub struct Questions<'a> {
    questions: Vec<Question<'a>>,
    /// Each with a name for messages.
    pub texts: Vec<(String, String)>,
}

enum Question<'a> {
    Formula(&'a Asked, Logic),
    Never(&'a Asked),
    /// An automaton, and where it stands; a text for each of its propositions.
    Watcher(&'a Asked, Automaton, Span, usize),
}

impl<'a> Questions<'a> {
    pub fn prepare(asked: &'a [Asked], sources: &mut Sources, problems: &mut Vec<Diagnostic>) -> Questions<'a> {
        let mut prepared = Questions { questions: Vec::new(), texts: Vec::new() };
        for one in asked {
            match one.kind {
                AskedKind::Formula => {
                    prepared.add(Question::Formula(one, Logic::Linear), [(one.source.clone(), one.text.clone())])
                }
                AskedKind::Ctl => {
                    prepared.add(Question::Formula(one, Logic::Branching), [(one.source.clone(), one.text.clone())])
                }
                AskedKind::Never => prepared.add(Question::Never(one), [(one.source.clone(), one.text.clone())]),
                AskedKind::Hoa => prepared.add_automaton(one, sources, problems),
            }
        }
        prepared
    }

    fn add(&mut self, question: Question<'a>, texts: impl IntoIterator<Item = (String, String)>) {
        self.questions.push(question);
        self.texts.extend(texts);
    }

    fn add_automaton(&mut self, asked: &'a Asked, sources: &mut Sources, problems: &mut Vec<Diagnostic>) {
        let file = sources.add(&*asked.source, &*asked.text);
        let span = |start: usize, end: usize| Span { file, start: start as u32, end: end as u32 };
        match hoa::read(&asked.text) {
            Ok(named) => {
                let name = format!("{}, a proposition", asked.source);
                let texts: Vec<_> = named.propositions.into_iter().map(|text| (name.clone(), text)).collect();
                let whole = span(0, asked.text.len());
                self.add(Question::Watcher(asked, named.automaton, whole, texts.len()), texts);
            }
            Err(problem) => problems.push(Diagnostic::error(span(problem.start, problem.end), problem.message)),
        }
    }

    /// What is asked, given the tokens of the texts.
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
                Question::Formula(asked, logic) => tokens.next().and_then(|tokens| {
                    let (expr, first) = read_formula(logic, tokens, proctypes, problems)?;
                    let name = Some(Ident { name: asked.name().into(), span: first });
                    let formula = Formula { name, span: expr.span, expr: Some(expr) };
                    Some(match logic {
                        Logic::Linear => Unit::Ltl(formula),
                        Logic::Branching => Unit::Ctl(formula),
                    })
                }),
                Question::Never(asked) => tokens.next().and_then(|tokens| {
                    let claim = parse::parse_claim_about(proctypes.to_vec(), tokens, problems)?;
                    let name = Some(Ident { name: asked.name().into(), span: claim.span });
                    Some(Unit::Never(super::ast::Claim { name, ..claim }))
                }),
                Question::Watcher(asked, automaton, span, count) => {
                    let texts = tokens.by_ref().take(count);
                    let read = texts.filter_map(|tokens| {
                        let (proposition, _) = read_formula(Logic::Linear, tokens, proctypes, problems)?;
                        propositions::refuse_temporal(&proposition)
                            .map_err(|problem| problems.push(problem))
                            .ok()?;
                        Some(proposition)
                    });
                    let propositions: Vec<Expr> = read.collect();
                    let name = Ident { name: asked.name().into(), span };
                    Some(Unit::Watcher(Box::new(Watcher { name, automaton, propositions, span })))
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
        problems.push(formula::empty(logic));
        return None;
    };
    Some((parse::parse_formula_about(logic, proctypes.to_vec(), tokens, problems)?, first))
}
