//! Models as BIR text.

use super::{Action, COUNTER, Condition, LOCKS, Model, NUMBERS, TIDS, Thread, Transformation, Value};

pub fn text(model: &Model) -> String {
    let variables: String = (0..=COUNTER).map(|n| format!("  int wrap (0, {}) x{n};\n", NUMBERS - 1)).collect();
    let locks: String = (0..LOCKS).map(|n| format!("  lock l{n};\n")).collect();
    let tids: String = (0..TIDS).map(|n| format!("  tid t{n};\n")).collect();
    let active = |n| if n < model.active { "active " } else { "" };
    let threads: String = model.threads.iter().enumerate().map(|(n, one)| thread(n, one, active(n))).collect();
    let invariant =
        model.invariant.as_ref().map_or(String::new(), |one| format!("  invariant {};\n", condition(one)));
    format!("system Random {{\n{variables}{locks}{tids}{invariant}{threads}}}\n")
}

fn thread(number: usize, thread: &Thread, active: &str) -> String {
    let location = |(n, alternatives): (usize, &Vec<Transformation>)| {
        let alternatives: String = alternatives.iter().map(transformation).collect();
        format!("    loc a{n}:\n{alternatives}")
    };
    let locations: String = thread.locations.iter().enumerate().map(location).collect();
    format!("  {active}thread T{number}() {{\n{locations}  }}\n")
}

fn transformation(transformation: &Transformation) -> String {
    let guard = transformation.guard.as_ref().map_or(String::new(), |guard| format!("when {} ", condition(guard)));
    let jump = transformation.target.map_or("return".to_owned(), |target| format!("goto a{target}"));
    format!("      {guard}do {{ {}}} {jump};\n", actions(&transformation.actions))
}

fn actions(all: &[Action]) -> String {
    all.iter().map(|one| action(one) + " ").collect()
}

fn action(action: &Action) -> String {
    match action {
        Action::Assign(variable, new) => format!("x{variable} := {};", value(*new)),
        Action::Assert(claim) => format!("assert {};", condition(claim)),
        Action::Lock(lock) => format!("lock(l{lock});"),
        Action::Unlock(lock) => format!("unlock(l{lock});"),
        Action::Wait(lock) => format!("wait(l{lock});"),
        Action::Notify(lock) => format!("notify(l{lock});"),
        Action::NotifyAll(lock) => format!("notifyAll(l{lock});"),
        Action::Start(thread, None) => format!("start T{thread}();"),
        Action::Start(thread, Some(tid)) => format!("t{tid} := start T{thread}();"),
        Action::Copy(to, from) => format!("t{to} := t{from};"),
        Action::Choose { alternatives, otherwise } => {
            let one = |(guard, body): &(Option<Condition>, Vec<Action>)| {
                let guard = guard.as_ref().map_or(String::new(), |guard| format!("when {} ", condition(guard)));
                format!("{guard}do {}", actions(body))
            };
            let alternatives: String = alternatives.iter().map(one).collect();
            let otherwise = otherwise.as_ref().map_or(String::new(), |body| format!("else do {}", actions(body)));
            format!("choose {alternatives}{otherwise}end")
        }
        Action::If { condition: test, yes, no } => {
            format!("if {} do {}else do {}end", condition(test), actions(yes), actions(no))
        }
    }
}

fn condition(condition: &Condition) -> String {
    match condition {
        Condition::Less(left, right) => format!("{} < {}", value(*left), value(*right)),
        Condition::Equal(left, right) => format!("{} == {}", value(*left), value(*right)),
        Condition::Available(lock) => format!("lockAvailable(l{lock})"),
        Condition::Mine(lock) => format!("hasLock(l{lock})"),
        Condition::Terminated(tid) => format!("threadTerminated(t{tid})"),
        Condition::Same(left, right) => format!("t{left} == t{right}"),
    }
}

fn value(value: Value) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        Value::Variable(variable) => format!("x{variable}"),
        Value::Next(variable) => format!("x{variable} + 1"),
    }
}
