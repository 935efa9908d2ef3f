//! CTL formulas on small random graphs, against their definition by fixpoints.

mod common;

use std::collections::HashSet;

use common::rings::{Edge, Rings};
use entail_model::{AfterFault, Subformula, SubformulaId, Subformulas};
use entail_search::{CtlResult, End, Limit, Limits, Witness, ctl};
use entail_store::{ExactWordSet, NumberMap};
use entail_testkit::rng::Rng;

/// Random subformulas; the last one is evaluated.
fn random_questions(rng: &mut Rng) -> (Subformulas, SubformulaId) {
    let mut questions = Subformulas::default();
    let mut known: Vec<_> = (0..3).map(|bit| questions.add(Subformula::Proposition(bit))).collect();
    known.push(questions.add(Subformula::Const(rng.chance(0.5))));
    for _ in 0..1 + rng.below(6) {
        // Recent ones become operands of the next one.
        let recent = known.len() - 1 - rng.below(2);
        let (one, other) = (known[recent], *rng.pick(&known));
        let (first, then) = if rng.chance(0.5) { (one, other) } else { (other, one) };
        let after_fault = if rng.chance(0.5) { AfterFault::No } else { AfterFault::Yes };
        let question = match rng.below(9) {
            0 => Subformula::Not(one),
            1 => Subformula::And(first, then),
            2 => Subformula::Or(first, then),
            3 => Subformula::Next { then: one, after_fault },
            4 => Subformula::Until { first, then, after_fault },
            5 => Subformula::WeakUntil { first, then, after_fault },
            6 => Subformula::FairComponent(one),
            _ => Subformula::UntilComponent {
                first,
                then,
                component: questions.add(Subformula::FairComponent(first)),
                after_fault,
            },
        };
        known.push(questions.add(question));
    }
    let asked = *known.last().expect("there are some");
    (questions, asked)
}

/// The nodes in which a formula holds.
fn holds(rings: &Rings, questions: &Subformulas, asked: SubformulaId) -> HashSet<usize> {
    let stable = || (0..rings.nodes.len()).filter(|&node| !rings.nodes[node].transient);
    let of = |question| holds(rings, questions, question);
    let leads_to = |node: usize, to: &HashSet<usize>| rings.ways(node).iter().any(|(next, _)| to.contains(next));
    let ends = |node: usize, after_fault: AfterFault| after_fault == AfterFault::Yes && rings.ends(node);
    let until = |first: &HashSet<usize>, mut holds: HashSet<usize>, after_fault: AfterFault| loop {
        let leads = |node: usize| leads_to(node, &holds) || ends(node, after_fault);
        let more: Vec<_> = first.iter().filter(|&&node| !holds.contains(&node) && leads(node)).collect();
        if more.is_empty() {
            return holds;
        }
        holds.extend(more);
    };
    match questions.get(asked) {
        Subformula::Const(value) => stable().filter(|_| value).collect(),
        Subformula::Proposition(bit) => stable().filter(|&node| rings.nodes[node].holds >> bit & 1 == 1).collect(),
        Subformula::Not(operand) => {
            let not = of(operand);
            stable().filter(|node| !not.contains(node)).collect()
        }
        Subformula::And(left, right) => &of(left) & &of(right),
        Subformula::Or(left, right) => &of(left) | &of(right),
        Subformula::Next { then, after_fault } => {
            let then = of(then);
            stable().filter(|&node| leads_to(node, &then) || ends(node, after_fault)).collect()
        }
        Subformula::Until { first, then, after_fault } => until(&of(first), of(then), after_fault),
        Subformula::WeakUntil { first, then, after_fault } => {
            let first = of(first);
            let among: Vec<_> = first.iter().copied().collect();
            let rounds = rings.accepted_rounds(&among).flatten();
            until(&first, rounds.chain(of(then)).collect(), after_fault)
        }
        Subformula::FairComponent(of_all) => {
            let of_all = of(of_all);
            let nodes: Vec<_> = stable().collect();
            // The maximal ones.
            let rounds: Vec<_> = rings.rounds(&nodes).collect();
            let whole = rounds
                .iter()
                .filter(|round| rounds.iter().all(|other| other == *round || !other.is_superset(round)));
            let accepted = whole.filter(|round| rings.is_accepted(round) && round.is_subset(&of_all));
            accepted.flatten().copied().collect()
        }
        Subformula::UntilComponent { first, then, component, after_fault } => {
            until(&of(first), &of(then) | &of(component), after_fault)
        }
    }
}

/// Replays a run, and checks that it satisfies the formula.
fn check(rings: &Rings, questions: &Subformulas, asked: SubformulaId, witness: &Witness<u32>) {
    let edges: Vec<Edge> = witness.steps.iter().map(|&step| rings.edges[step as usize]).collect();
    let nodes: Vec<_> = std::iter::once(rings.initial[0]).chain(edges.iter().map(|edge| edge.to)).collect();
    assert!(edges.iter().zip(&nodes).all(|(edge, node)| edge.from == *node), "{witness:?} in {rings:?}");
    let stable: Vec<_> = nodes.into_iter().filter(|&node| !rings.nodes[node].transient).collect();
    let (last, before) = stable.split_last().expect("the first one is stable");
    let of = |question| holds(rings, questions, question);
    let (first, then) = match questions.get(asked) {
        Subformula::Next { then, .. } => {
            assert_eq!(before.len(), 1);
            (None, then)
        }
        Subformula::Until { first, then, .. }
        | Subformula::WeakUntil { first, then, .. }
        | Subformula::UntilComponent { first, then, .. } => (Some(first), then),
        other => panic!("{other:?} is not about runs"),
    };
    if let Some(first) = first {
        assert!(before.iter().all(|node| of(first).contains(node)), "{witness:?} in {rings:?}");
    }
    match witness.cycle_start {
        None => assert!(of(then).contains(last), "{witness:?} in {rings:?}"),
        Some(begins) => assert!(rings.is_accepted_round(&edges[begins..]), "{witness:?} in {rings:?}"),
    }
    if let (Subformula::UntilComponent { component, .. }, Some(_)) = (questions.get(asked), witness.cycle_start) {
        assert!(of(component).contains(last), "{witness:?} in {rings:?}");
    }
}

#[test]
fn answers_are_those_of_the_definition() {
    let mut rng = Rng::new(23);
    let (mut yes, mut no, mut shown, mut rounds, mut ending) = (0, 0, 0, 0, 0);
    for _ in 0..20_000 {
        let rings = Rings { faults: true, ..Rings::random(&mut rng) };
        let (questions, asked) = random_questions(&mut rng);
        let mut store = NumberMap::new(ExactWordSet::new(8));
        let answered = ctl(&rings, &mut store, &questions, asked, &Limits::default(), &mut ());
        let expected = holds(&rings, &questions, asked);
        let all = rings.initial.iter().all(|node| expected.contains(node));
        assert_eq!(answered.holds, Some(all), "{questions:?} in {rings:?}");
        assert_eq!(answered.outcome.end, End::Complete);
        if all {
            yes += 1
        } else {
            no += 1
        }
        // With a single initial state, the witness starts there.
        let (about, negated) = match questions.get(asked) {
            Subformula::Not(operand) => (operand, true),
            _ => (asked, false),
        };
        let may_end = rings.has_end();
        ending += usize::from(may_end);
        let is_of_runs = match questions.get(about) {
            Subformula::FairComponent(_) => false,
            // The run may end in a fault.
            Subformula::Next { after_fault: AfterFault::Yes, .. }
            | Subformula::Until { after_fault: AfterFault::Yes, .. }
            | Subformula::WeakUntil { after_fault: AfterFault::Yes, .. }
            | Subformula::UntilComponent { after_fault: AfterFault::Yes, .. } => !may_end,
            about => about.is_temporal(),
        };
        if is_of_runs && rings.initial.len() == 1 {
            assert_eq!(answered.witness.is_some(), all != negated, "{questions:?} in {rings:?}");
            if let Some(witness) = answered.witness {
                check(&rings, &questions, about, &witness);
                shown += 1;
                rounds += usize::from(witness.cycle_start.is_some());
            }
        }
    }
    assert!(
        yes > 4000 && no > 4000 && shown > 1000 && rounds > 100 && ending > 1000,
        "{yes}, {no}, {shown}, {rounds}, {ending}"
    );
}

#[test]
fn a_search_that_is_cut_short_has_no_answer() {
    let line: Vec<_> = (0..9).map(|node| (node, node + 1, common::rings::Kind::Plain)).collect();
    let rings = Rings::of(&line);
    let mut questions = Subformulas::default();
    let (no, yes) = (questions.add(Subformula::Const(false)), questions.add(Subformula::Const(true)));
    let asked = questions.add(Subformula::Until { first: yes, then: no, after_fault: AfterFault::No });
    let ask = |depth| {
        let mut store = NumberMap::new(ExactWordSet::new(8));
        let limits = Limits { depth, ..Limits::default() };
        let CtlResult { holds, outcome, .. } = ctl(&rings, &mut store, &questions, asked, &limits, &mut ());
        (holds, outcome.end)
    };
    assert_eq!(ask(None), (Some(false), End::Complete));
    assert_eq!(ask(Some(5)), (None, End::Limit(Limit::Depth)));
}
