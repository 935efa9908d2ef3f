//! A naive implementation of ESML: values are trees, states are compared as such, and no code is shared with entail.

use super::{CAPACITY, Command, Communication, DIGITS, Data, Expr, Model, Op, Place, Process, Ty};
use std::collections::{HashMap, VecDeque};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Value {
    Number(i64),
    Boolean(bool),
    List(Vec<Value>),
    Parts(Vec<Value>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Local {
    counter: usize,
    vars: Vec<Value>,
}

type State = Vec<Local>;

/// The step faults and has no successor.
struct Fault;

type Evaluated<T> = Result<T, Fault>;

/// The results of exploring a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub unique: u64,
    pub matched: u64,
    /// Faulty steps and deadlocks.
    pub errors: u64,
}

/// Explores a model; `None` if it has more than `limit` states.
pub fn explore(model: &Model, limit: usize) -> Option<Summary> {
    let machine = Machine { model, code: model.processes.iter().map(compile).collect() };
    let start: State = model
        .processes
        .iter()
        .map(|process| Local { counter: 0, vars: process.vars.iter().map(|ty| initial(*ty)).collect() })
        .collect();
    let mut found = Summary::default();
    let mut known = HashMap::from([(start.clone(), ())]);
    let mut queue = VecDeque::from([start]);
    while let Some(state) = queue.pop_front() {
        let steps = machine.steps(&state);
        let ended =
            |(process, local): (usize, &Local)| matches!(machine.code[process][local.counter], Code::Terminate);
        if steps.is_empty() && !state.iter().enumerate().all(ended) {
            found.errors += 1;
        }
        for step in steps {
            match step {
                Err(Fault) => found.errors += 1,
                Ok(next) if known.contains_key(&next) => found.matched += 1,
                Ok(next) => {
                    known.insert(next.clone(), ());
                    queue.push_back(next);
                }
            }
        }
        if known.len() > limit {
            return None;
        }
    }
    found.unique = known.len() as u64;
    Some(found)
}

fn initial(ty: Ty) -> Value {
    match ty {
        Ty::Digit => Value::Number(0),
        Ty::Boolean => Value::Boolean(false),
        Ty::Queue | Ty::Pairs => Value::List(Vec::new()),
        Ty::Row => Value::Parts(vec![Value::Number(0); 2]),
        Ty::Pair => Value::Parts(vec![Value::Number(0), Value::Boolean(false)]),
    }
}

enum Code<'m> {
    Command(&'m Command),
    Guards { guards: Vec<(&'m Expr, usize)>, otherwise: Option<usize> },
    Poll(Vec<(&'m Communication, Option<&'m Expr>, usize)>),
    Jump(usize),
    Trap,
    Terminate,
}

fn compile(process: &Process) -> Vec<Code<'_>> {
    let mut code = Vec::new();
    compile_all(&process.body, &mut code);
    code.push(Code::Terminate);
    code
}

fn compile_all<'m>(commands: &'m [Command], code: &mut Vec<Code<'m>>) {
    for command in commands {
        let first = code.len();
        code.push(Code::Command(command));
        match command {
            Command::If(alternatives) | Command::Do(alternatives) => {
                let is_if = matches!(command, Command::If(_));
                let (mut guards, mut jumps) = (Vec::new(), Vec::new());
                for (guard, body) in alternatives {
                    guards.push((guard, code.len()));
                    compile_all(body, code);
                    jumps.push(code.len());
                    code.push(Code::Jump(first));
                }
                if is_if {
                    code.push(Code::Trap);
                    let after = code.len();
                    jumps.into_iter().for_each(|jump| code[jump] = Code::Jump(after));
                }
                let otherwise = if is_if { None } else { Some(code.len()) };
                code[first] = Code::Guards { guards, otherwise };
            }
            Command::Poll(alternatives) => {
                let (mut polls, mut jumps) = (Vec::new(), Vec::new());
                for (communication, condition, body) in alternatives {
                    polls.push((communication, condition.as_ref(), code.len()));
                    compile_all(body, code);
                    jumps.push(code.len());
                    code.push(Code::Jump(0));
                }
                let after = code.len();
                jumps.into_iter().for_each(|jump| code[jump] = Code::Jump(after));
                code[first] = Code::Poll(polls);
            }
            _ => {}
        }
    }
}

struct Machine<'m> {
    model: &'m Model,
    code: Vec<Vec<Code<'m>>>,
}

/// A communication that a process offers, its condition, and its target.
type Offer<'m> = (&'m Communication, Option<&'m Expr>, usize);

impl<'m> Machine<'m> {
    fn steps(&self, state: &State) -> Vec<Evaluated<State>> {
        let mut steps = Vec::new();
        for process in 0..state.len() {
            self.steps_of(process, state, &mut steps);
        }
        steps
    }

    fn steps_of(&self, process: usize, state: &State, steps: &mut Vec<Evaluated<State>>) {
        let local = &state[process];
        let me = self.model.processes[process].me;
        let at = |counter: usize| {
            let mut next = state.clone();
            next[process].counter = self.follow(process, counter);
            Ok(next)
        };
        match &self.code[process][local.counter] {
            Code::Terminate => {}
            Code::Trap => unreachable!("no process comes here"),
            Code::Jump(target) => steps.push(at(*target)),
            Code::Command(Command::Skip) => steps.push(at(local.counter + 1)),
            Code::Command(Command::Communicate(_)) | Code::Poll(_) => self.communicate(process, state, steps),
            Code::Command(command) => {
                let mut next = state.clone();
                let done = perform(command, &mut next[process].vars, me);
                next[process].counter = self.follow(process, local.counter + 1);
                steps.push(done.map(|()| next));
            }
            Code::Guards { guards, otherwise } => {
                let holds = |guard: &Expr| eval(guard, &local.vars, me).ok() == Some(Value::Boolean(true));
                let open: Vec<_> = guards.iter().filter(|(guard, _)| holds(guard)).collect();
                steps.extend(open.iter().map(|(_, body)| at(*body)));
                match (open.is_empty(), otherwise) {
                    (true, Some(after)) => steps.push(at(*after)),
                    (true, None) => steps.push(Err(Fault)),
                    // The tool evaluates the guards again.
                    (false, _) if !holds(guards[guards.len() - 1].0) => steps.push(Ok(state.clone())),
                    (false, _) => {}
                }
            }
        }
    }

    fn offers(&self, process: usize, counter: usize) -> Vec<Offer<'m>> {
        match &self.code[process][counter] {
            Code::Command(Command::Communicate(one)) => vec![(one, None, counter + 1)],
            Code::Poll(alternatives) => alternatives.clone(),
            _ => Vec::new(),
        }
    }

    fn communicate(&self, process: usize, state: &State, steps: &mut Vec<Evaluated<State>>) {
        let me = self.model.processes[process].me;
        for (sent, condition, body) in self.offers(process, state[process].counter) {
            let Data::Sent(data) = &sent.data else { continue };
            if !holds(condition, &state[process].vars, me) {
                continue;
            }
            for partner in (0..state.len()).filter(|partner| *partner != process) {
                for (received, condition, goes_on) in self.offers(partner, state[partner].counter) {
                    let its = self.model.processes[partner].me;
                    let sends = matches!(received.data, Data::Sent(_));
                    if sends || (received.channel, received.signal) != (sent.channel, sent.signal) {
                        continue;
                    }
                    // Only now that there is a partner is the message evaluated.
                    let message = data.as_ref().map(|data| eval(data, &state[process].vars, me)).transpose();
                    let Ok(message) = message.and_then(|message| checked(message, sent.signal)) else {
                        steps.push(Err(Fault));
                        continue;
                    };
                    let mut next = state.clone();
                    let stored = match (&received.data, &message) {
                        (Data::Sent(_), _) => unreachable!("left out above"),
                        (Data::Matched, Some(message)) if *message != Value::Number(its) => continue,
                        (Data::Matched, _) | (Data::Received(None), _) | (_, None) => Ok(()),
                        (Data::Received(Some(place)), Some(message)) => {
                            store(place, message.clone(), &mut next[partner].vars, its)
                        }
                    };
                    if stored.is_err() {
                        steps.push(Err(Fault));
                    } else if holds(condition, &next[partner].vars, its) {
                        next[process].counter = self.follow(process, body);
                        next[partner].counter = goes_on;
                        steps.push(Ok(next));
                    }
                }
            }
        }
    }

    fn follow(&self, process: usize, mut counter: usize) -> usize {
        loop {
            counter = match &self.code[process][counter] {
                Code::Jump(target) => *target,
                Code::Command(Command::Skip) => counter + 1,
                _ => return counter,
            };
        }
    }
}

fn holds(condition: Option<&Expr>, vars: &[Value], me: i64) -> bool {
    condition.is_none_or(|condition| eval(condition, vars, me).ok() == Some(Value::Boolean(true)))
}

/// A message must fit its signal.
fn checked(message: Option<Value>, signal: Option<Ty>) -> Evaluated<Option<Value>> {
    match (&message, signal) {
        (Some(Value::Number(number)), Some(Ty::Digit)) if !DIGITS.contains(number) => Err(Fault),
        _ => Ok(message),
    }
}

fn perform(command: &Command, vars: &mut [Value], me: i64) -> Evaluated<()> {
    let items = |vars: &mut [Value], list: usize| match &mut vars[list] {
        Value::List(items) => std::mem::take(items),
        _ => unreachable!("a list"),
    };
    match command {
        Command::Assign(place, value) => {
            let value = eval(value, vars, me)?;
            store(place, value, vars, me)?;
        }
        Command::Empty(list) => vars[*list] = Value::List(Vec::new()),
        Command::Remove(list) => {
            let mut rest = items(vars, *list);
            if rest.is_empty() {
                return Err(Fault);
            }
            rest.remove(0);
            vars[*list] = Value::List(rest);
        }
        Command::Append(list, value) | Command::Prepend(list, value) => {
            let value = eval(value, vars, me)?;
            let mut all = items(vars, *list);
            let fits = !matches!(value, Value::Number(number) if !DIGITS.contains(&number));
            if all.len() == CAPACITY || !fits {
                return Err(Fault);
            }
            let position = if matches!(command, Command::Append(..)) { all.len() } else { 0 };
            all.insert(position, value);
            vars[*list] = Value::List(all);
        }
        _ => unreachable!("a command that concerns one process"),
    }
    Ok(())
}

fn store(place: &Place, value: Value, vars: &mut [Value], me: i64) -> Evaluated<()> {
    if matches!(value, Value::Number(number) if !DIGITS.contains(&number)) {
        return Err(Fault);
    }
    match place {
        Place::Whole(var) => vars[*var] = value,
        Place::Element(var, index) => {
            let index = index_of(index, vars, me)?;
            part(&mut vars[*var], index, value);
        }
        Place::Field(var, field) => part(&mut vars[*var], *field, value),
    }
    Ok(())
}

fn part(whole: &mut Value, index: usize, value: Value) {
    let Value::Parts(parts) = whole else { unreachable!("something with parts") };
    parts[index] = value;
}

fn index_of(index: &Expr, vars: &[Value], me: i64) -> Evaluated<usize> {
    match eval(index, vars, me)? {
        Value::Number(index @ 0..=1) => Ok(index as usize),
        _ => Err(Fault),
    }
}

fn eval(expr: &Expr, vars: &[Value], me: i64) -> Evaluated<Value> {
    Ok(match expr {
        Expr::Number(number) => Value::Number(*number),
        Expr::Boolean(value) => Value::Boolean(*value),
        Expr::Me => Value::Number(me),
        Expr::Load(Place::Whole(var)) => vars[*var].clone(),
        Expr::Load(Place::Element(var, index)) => {
            let index = index_of(index, vars, me)?;
            parts(&vars[*var])[index].clone()
        }
        Expr::Load(Place::Field(var, field)) => parts(&vars[*var])[*field].clone(),
        Expr::Len(list) => Value::Number(parts(&vars[*list]).len() as i64),
        Expr::Head(list) => parts(&vars[*list]).first().cloned().ok_or(Fault)?,
        Expr::Not(operand) => Value::Boolean(!truth(&eval(operand, vars, me)?)),
        Expr::Binary(op, operands) => return binary(*op, &operands.0, &operands.1, vars, me),
    })
}

fn parts(value: &Value) -> &[Value] {
    match value {
        Value::List(parts) | Value::Parts(parts) => parts,
        Value::Number(_) | Value::Boolean(_) => &[],
    }
}

fn truth(value: &Value) -> bool {
    *value == Value::Boolean(true)
}

fn binary(op: Op, left: &Expr, right: &Expr, vars: &[Value], me: i64) -> Evaluated<Value> {
    let left = eval(left, vars, me)?;
    match (op, truth(&left)) {
        (Op::And, false) => return Ok(Value::Boolean(false)),
        (Op::Or, true) => return Ok(Value::Boolean(true)),
        _ => {}
    }
    let right = eval(right, vars, me)?;
    let numbers = match (&left, &right) {
        (Value::Number(left), Value::Number(right)) => (*left, *right),
        _ => (0, 0),
    };
    Ok(match op {
        Op::And | Op::Or => Value::Boolean(truth(&right)),
        Op::Equal => Value::Boolean(left == right),
        Op::Unequal => Value::Boolean(left != right),
        Op::Less => Value::Boolean(numbers.0 < numbers.1),
        Op::Add => Value::Number(numbers.0 + numbers.1),
        Op::Subtract => Value::Number(numbers.0 - numbers.1),
        Op::Multiply => Value::Number(numbers.0 * numbers.1),
        Op::Divide => Value::Number(numbers.0.checked_div(numbers.1).ok_or(Fault)?),
        Op::Modulo => Value::Number(numbers.0.checked_rem(numbers.1).ok_or(Fault)?),
    })
}
