//! Random models in which locks are mostly, but not always, used as they should be.

use super::{Action, Condition, LOCKS, Model, NUMBERS, Thread, Transformation, VARIABLES, Value};
use crate::rng::Rng;

/// A model for every seed.
pub fn generate(rng: &mut Rng) -> Model {
    let threads = 2 + rng.below(2);
    Model { threads: (0..threads).map(|_| thread(rng)).collect() }
}

fn thread(rng: &mut Rng) -> Thread {
    if rng.chance(0.7) {
        return monitor(rng);
    }
    let count = 2 + rng.below(3);
    let mut locations: Vec<_> = (0..count).map(|_| location(rng, count)).collect();
    // Otherwise few would ever get to own a lock.
    if rng.chance(0.7) {
        let lock = Action::Lock(rng.below(LOCKS));
        locations[0].push(Transformation { guard: None, actions: vec![lock], target: Some(rng.below(count)) });
    }
    Thread { locations }
}

/// Takes a lock, waits for something, does something, tells others, and gives the lock back.
fn monitor(rng: &mut Rng) -> Thread {
    let lock = rng.below(LOCKS) * rng.below(2);
    let plain = |rng: &mut Rng| Action::Assign(rng.below(VARIABLES), value(rng));
    let tell = |rng: &mut Rng| if rng.chance(0.6) { Action::Notify(lock) } else { Action::NotifyAll(lock) };
    let to = |actions: Vec<Action>, target: Option<usize>| Transformation { guard: None, actions, target };
    let test = condition(rng);
    let waiting = Transformation { guard: Some(test.clone()), ..to(vec![Action::Wait(lock)], Some(1)) };
    let not = vec![plain(rng), Action::If { condition: test, yes: Vec::new(), no: vec![tell(rng)] }];
    let mut last = vec![tell(rng), Action::Unlock(lock)];
    if rng.chance(0.5) {
        last.insert(0, action(rng, 1));
    }
    let again = rng.chance(0.7).then_some(0);
    let mut first = vec![to(vec![Action::Lock(lock)], Some(1))];
    if rng.chance(0.3) {
        first.push(to(vec![Action::Lock(lock), Action::Lock(lock), Action::Unlock(lock)], Some(1)));
    }
    Thread { locations: vec![first, vec![waiting, to(not, Some(2))], vec![to(last, again)]] }
}

fn location(rng: &mut Rng, count: usize) -> Vec<Transformation> {
    (0..1 + rng.below(2))
        .map(|_| {
            let guard = rng.chance(0.6).then(|| condition(rng));
            let mut actions = actions(rng, 2);
            if rng.chance(0.25) {
                actions.push(Action::Wait(rng.below(LOCKS)));
            }
            let target = rng.chance(0.9).then(|| rng.below(count));
            Transformation { guard, actions, target }
        })
        .collect()
}

fn actions(rng: &mut Rng, depth: usize) -> Vec<Action> {
    (0..rng.below(4)).map(|_| action(rng, depth)).collect()
}

fn action(rng: &mut Rng, depth: usize) -> Action {
    let lock = rng.below(LOCKS);
    match rng.below(if depth == 0 { 10 } else { 13 }) {
        0..=3 => Action::Assign(rng.below(VARIABLES), value(rng)),
        4 => Action::Assert(condition(rng)),
        5 => Action::Lock(lock),
        6 | 7 => Action::Unlock(lock),
        8 => Action::Notify(lock),
        9 => Action::NotifyAll(lock),
        10 => {
            let (condition, yes) = (condition(rng), actions(rng, depth - 1));
            Action::If { condition, yes, no: actions(rng, depth - 1) }
        }
        _ => {
            let alternatives = (0..1 + rng.below(2))
                .map(|_| (rng.chance(0.6).then(|| condition(rng)), actions(rng, depth - 1)))
                .collect();
            Action::Choose { alternatives, otherwise: rng.chance(0.6).then(|| actions(rng, depth - 1)) }
        }
    }
}

fn condition(rng: &mut Rng) -> Condition {
    let lock = rng.below(LOCKS);
    match rng.below(6) {
        0 => Condition::Available(lock),
        1 | 2 => Condition::Mine(lock),
        3 => Condition::Equal(value(rng), value(rng)),
        _ => Condition::Less(value(rng), value(rng)),
    }
}

fn value(rng: &mut Rng) -> Value {
    match rng.below(3) {
        0 => Value::Number(rng.below(NUMBERS as usize) as i64),
        1 => Value::Variable(rng.below(VARIABLES)),
        _ => Value::Next(rng.below(VARIABLES)),
    }
}
