//! Random models that use locks mostly, but not always, correctly.

use super::{Action, COUNTER, Condition, LOCKS, Model, NUMBERS, TIDS, Thread, Transformation, VARIABLES, Value};
use crate::rng::Rng;

/// The model of a seed.
pub fn generate(rng: &mut Rng) -> Model {
    let active = 2 + rng.below(2);
    let mut threads: Vec<_> = (0..active).map(|_| thread(rng)).collect();
    // With more threads, hardly any model would have a small state space.
    if rng.chance(0.4) {
        if rng.chance(0.5) {
            return one_at_a_time(rng);
        }
        threads.truncate(1 + rng.below(2));
        return with_starts(rng, threads);
    }
    Model { threads, active, invariant: None }
}

/// Adds short-lived threads, and a transformation of another thread, perhaps in a loop, that starts them.
fn with_starts(rng: &mut Rng, mut threads: Vec<Thread>) -> Model {
    let active = threads.len();
    for number in active..active + 1 + rng.below(2) {
        let first = to(actions(rng, 1), rng.chance(0.5).then_some(1));
        let second = to(actions(rng, 0), None);
        threads.push(Thread { locations: vec![vec![first], vec![second]] });
        let tid = rng.chance(0.5).then(|| rng.below(TIDS));
        let mut starts = actions(rng, 0);
        starts.push(Action::Start(number, tid));
        if rng.chance(0.3) {
            starts.push(Action::Copy(rng.below(TIDS), rng.below(TIDS)));
        }
        let starter = &mut threads[rng.below(active)].locations;
        let (from, target) = (rng.below(starter.len()), rng.below(starter.len()));
        // Mostly after the last one has ended, so that their number is bounded.
        let guard = match tid {
            Some(tid) if rng.chance(0.8) => Some(Condition::Terminated(tid)),
            _ => rng.chance(0.8).then(|| condition(rng)),
        };
        starter[from].push(Transformation { guard, actions: starts, target: Some(target) });
        if let Some(tid) = tid {
            // The first one has no predecessor to wait for.
            starter[0].push(to(vec![Action::Start(number, Some(tid))], Some(target)));
        }
    }
    Model { threads, active, invariant: None }
}

/// A thread starts another one whenever the last one has ended, and perhaps a third one observes this.
fn one_at_a_time(rng: &mut Rng) -> Model {
    let busy = rng.below(VARIABLES);
    let is_idle = Condition::Equal(Value::Variable(busy), Value::Number(0));
    let mut threads = vec![Thread { locations: Vec::new() }];
    if rng.chance(0.3) {
        threads.push(thread(rng));
    }
    let active = threads.len();
    let tid = rng.chance(0.5).then(|| rng.below(TIDS));
    let mut starts = vec![Action::Assign(busy, Value::Number(1)), Action::Start(active, tid)];
    if rng.chance(0.3) {
        starts.push(Action::Copy(rng.below(TIDS), rng.below(TIDS)));
    }
    if rng.chance(0.3) {
        starts.push(action(rng, 0));
    }
    threads[0].locations = vec![vec![Transformation { guard: Some(is_idle), ..to(starts, Some(0)) }]];
    let mut done = actions(rng, 0);
    done.push(Action::Assign(busy, Value::Number(0)));
    let body = vec![vec![to(actions(rng, 1), Some(1))], vec![to(done, None)]];
    threads.push(Thread { locations: body });
    Model { threads, active, invariant: None }
}

/// A model in which most threads are short-lived, and others reuse their slots. Locks are used correctly, so
/// that runs are long before an error occurs.
pub fn generate_with_reuse(rng: &mut Rng) -> Model {
    if rng.chance(0.6) {
        return one_after_another(rng);
    }
    let (active, kinds) = (1 + rng.below(2), 1 + rng.below(2));
    let mut threads: Vec<_> = (0..active).map(|_| looping(rng)).collect();
    threads.extend((0..kinds).map(|_| ending(rng)));
    for kind in active..active + kinds {
        // Sometimes, started threads start further ones.
        let others = if rng.chance(0.2) { kind } else { active };
        for _ in 0..1 + usize::from(rng.chance(0.3)) {
            let starter = rng.below(others);
            start(rng, &mut threads, starter, kind);
        }
    }
    Model { threads, active, invariant: rng.chance(0.5).then(|| invariant(rng)) }
}

fn invariant(rng: &mut Rng) -> Condition {
    match rng.below(3) {
        0 => Condition::Same(0, 1),
        1 => Condition::Equal(Value::Variable(0), Value::Variable(1)),
        _ => Condition::Less(Value::Variable(rng.below(VARIABLES)), Value::Number(NUMBERS - 1)),
    }
}

/// A thread starts a few others and ends, and another one changes the variables in their guards. No thread
/// has a loop, where reduction would have to expand some states fully: so the reduced steps depend on the
/// footprints of new threads. Errors are rare, and mostly occur in few interleavings.
fn one_after_another(rng: &mut Rng) -> Model {
    let (active, kinds) = (2, 1 + rng.below(2));
    let (asked, counted) = (0, 1);
    let at = |rng: &mut Rng| Condition::Equal(Value::Variable(counted), Value::Number(rng.below(3) as i64));
    let number = |rng: &mut Rng| Value::Number(rng.below(NUMBERS as usize) as i64);
    let changes = 1 + rng.below(2);
    let changing = (0..changes).map(|place| {
        let guard = rng.chance(0.6).then(|| at(rng));
        vec![Transformation { guard, ..to(vec![Action::Assign(asked, number(rng))], Some(place + 1)) }]
    });
    let mut changing: Vec<_> = changing.collect();
    changing.push(vec![to(Vec::new(), None)]);
    let starts = 2 + rng.below(2);
    let starting = (0..starts).map(|place| {
        let tid = rng.chance(0.2).then(|| rng.below(TIDS));
        let guard = rng.chance(0.6).then(|| at(rng));
        vec![Transformation { guard, ..to(vec![Action::Start(active + rng.below(kinds), tid)], Some(place + 1)) }]
    });
    let mut starting: Vec<_> = starting.collect();
    starting.push(vec![to(Vec::new(), None)]);
    let mut threads = vec![Thread { locations: changing }, Thread { locations: starting }];
    for _ in 0..kinds {
        let claim = match rng.below(2) {
            0 => Condition::Equal(Value::Variable(asked), number(rng)),
            _ => Condition::Less(Value::Variable(asked), number(rng)),
        };
        let claims = Action::If { condition: at(rng), yes: vec![Action::Assert(claim)], no: Vec::new() };
        let counts = Action::Assign(counted, Value::Next(counted));
        let (first, mut last) = if rng.chance(0.5) { (vec![claims], vec![]) } else { (vec![], vec![claims]) };
        last.push(counts);
        let locations = vec![vec![to(first, Some(1))], vec![to(last, None)]];
        threads.push(Thread { locations });
    }
    Model { threads, active, invariant: rng.chance(0.1).then(|| invariant(rng)) }
}

/// Lets one thread start instances of another, mostly no more than two at a time.
fn start(rng: &mut Rng, threads: &mut [Thread], starter: usize, kind: usize) {
    let tid = rng.chance(0.6).then(|| rng.below(TIDS));
    let mut starts = vec![Action::Start(kind, tid)];
    let guard = match tid {
        Some(tid) if rng.chance(0.1) => {
            // The first one has no predecessor to wait for.
            let target = rng.below(threads[starter].locations.len());
            threads[starter].locations[0].push(to(vec![Action::Start(kind, Some(tid))], Some(target)));
            Some(Condition::Terminated(tid))
        }
        _ => {
            starts.insert(0, Action::Assign(COUNTER, Value::Next(COUNTER)));
            let most = 1 + i64::from(rng.chance(0.3));
            Some(Condition::Less(Value::Variable(COUNTER), Value::Number(most)))
        }
    };
    if rng.chance(0.3) {
        starts.push(Action::Copy(rng.below(TIDS), rng.below(TIDS)));
    }
    if rng.chance(0.3) {
        starts.push(harmless(rng, 0));
    }
    let locations = &mut threads[starter].locations;
    let (from, count) = (rng.below(locations.len()), locations.len());
    let target = rng.chance(0.95).then(|| rng.below(count));
    locations[from].push(Transformation { guard, actions: starts, target });
}

/// Each location leads to the next one, and the last one to the first.
fn looping(rng: &mut Rng) -> Thread {
    if rng.chance(0.2) {
        return monitor(rng);
    }
    let count = 1 + rng.below(3);
    Thread { locations: (0..count).map(|at| vec![careful(rng, Some((at + 1) % count))]).collect() }
}

/// Each location leads to the next one, and the thread ends. It may hold a lock meanwhile.
fn ending(rng: &mut Rng) -> Thread {
    let count = 1 + rng.below(3);
    let next = |at| (at + 1 < count).then_some(at + 1);
    let mut locations: Vec<_> = (0..count).map(|at| vec![careful(rng, next(at))]).collect();
    if rng.chance(0.3) {
        let other = rng.below(count);
        locations[other].push(careful(rng, next(other)));
    }
    // Numbers wrap around: adding two is subtracting one.
    let counts = [Action::Assign(COUNTER, Value::Next(COUNTER)), Action::Assign(COUNTER, Value::Next(COUNTER))];
    locations[count - 1].iter_mut().for_each(|one| one.actions.extend(counts.clone()));
    if count > 1 && rng.chance(0.4) {
        let lock = rng.below(LOCKS);
        locations[0].iter_mut().for_each(|one| one.actions.insert(0, Action::Lock(lock)));
        let unlocks = |one: &mut Transformation| one.actions.push(Action::Unlock(lock));
        locations[count - 1].iter_mut().for_each(unlocks);
    }
    Thread { locations }
}

fn careful(rng: &mut Rng, target: Option<usize>) -> Transformation {
    let guard = rng.chance(0.4).then(|| condition(rng));
    Transformation { guard, actions: (0..rng.below(3)).map(|_| harmless(rng, 1)).collect(), target }
}

/// An action that seldom faults.
fn harmless(rng: &mut Rng, depth: usize) -> Action {
    match rng.below(if depth == 0 { 9 } else { 11 }) {
        0 => Action::Assert(condition(rng)),
        1 => Action::Copy(rng.below(TIDS), rng.below(TIDS)),
        2..=8 => Action::Assign(rng.below(VARIABLES), value(rng)),
        9 => {
            let (condition, yes) = (condition(rng), vec![harmless(rng, 0)]);
            Action::If { condition, yes, no: vec![harmless(rng, 0)] }
        }
        _ => {
            let one = (rng.chance(0.6).then(|| condition(rng)), vec![harmless(rng, 0)]);
            let other = (None, vec![harmless(rng, 0)]);
            Action::Choose { alternatives: vec![one, other], otherwise: None }
        }
    }
}

fn to(actions: Vec<Action>, target: Option<usize>) -> Transformation {
    Transformation { guard: None, actions, target }
}

fn thread(rng: &mut Rng) -> Thread {
    if rng.chance(0.7) {
        return monitor(rng);
    }
    let count = 2 + rng.below(3);
    let mut locations: Vec<_> = (0..count).map(|_| location(rng, count)).collect();
    // Otherwise threads would seldom own a lock.
    if rng.chance(0.7) {
        let lock = Action::Lock(rng.below(LOCKS));
        locations[0].push(Transformation { guard: None, actions: vec![lock], target: Some(rng.below(count)) });
    }
    Thread { locations }
}

/// Acquires a lock, waits for a condition, acts, notifies other threads, and releases the lock.
fn monitor(rng: &mut Rng) -> Thread {
    let lock = rng.below(LOCKS) * rng.below(2);
    let plain = |rng: &mut Rng| Action::Assign(rng.below(VARIABLES), value(rng));
    let tell = |rng: &mut Rng| if rng.chance(0.6) { Action::Notify(lock) } else { Action::NotifyAll(lock) };
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
    match rng.below(8) {
        6 => Condition::Terminated(rng.below(TIDS)),
        7 if rng.chance(0.3) => Condition::Same(rng.below(TIDS), rng.below(TIDS)),
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
