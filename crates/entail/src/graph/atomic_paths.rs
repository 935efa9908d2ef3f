//! Paths from a stable state to the next ones, through transient states.

use crate::console::Failure;
use entail_ir::Interpreter;
use entail_ir::interpret::{Explained, Step};
use entail_model::{Fault, Fired, Model, State, StateBuf};

/// Steps from a stable state to the next one, or to a fault.
pub struct AtomicPath {
    pub steps: Vec<Step>,
    pub fault: Option<Fault>,
    pub to: Option<StateBuf>,
}

/// The maximum total number of steps from one state to the next ones.
const MOST_STEPS: usize = 20_000;

/// A state on the path, with its unexplored steps.
struct Stop {
    state: StateBuf,
    left: std::vec::IntoIter<Step>,
}

impl Stop {
    fn at(interpreter: &Interpreter, state: StateBuf) -> Stop {
        let mut steps = Vec::new();
        interpreter.enabled(&state, &mut steps);
        Stop { state, left: steps.into_iter() }
    }
}

/// All such paths, in the order of steps. A path that returns to one of its own transient states ends there.
pub fn atomic_paths(interpreter: &Interpreter, from: &State) -> Result<Vec<AtomicPath>, Failure> {
    let mut ways = Vec::new();
    let mut path = vec![Stop::at(interpreter, from.to_vec())];
    // The steps between those states, and the fault of each.
    let mut taken: Vec<(Step, Option<Fault>)> = Vec::new();
    let mut count = 0;
    while let Some(stop) = path.last_mut() {
        let Some(step) = stop.left.next() else {
            path.pop();
            taken.pop();
            continue;
        };
        count += 1;
        if count > MOST_STEPS {
            return Err(Failure::new(format!(
                "an atomic sequence has more than {MOST_STEPS} steps, too many to draw"
            )));
        }
        let mut state = stop.state.clone();
        let fired = interpreter.fire(step, &mut state);
        taken.push((step, fired.fault()));
        let goes_on = !matches!(fired, Fired::Broken(_));
        if goes_on && interpreter.is_transient(&state) && !path[1..].iter().any(|stop| stop.state == state) {
            path.push(Stop::at(interpreter, state));
            continue;
        }
        let fault = taken.iter().find_map(|(_, fault)| *fault);
        let to = Some(state).filter(|state| goes_on && !interpreter.is_transient(state));
        if to.is_some() || fault.is_some() {
            ways.push(AtomicPath { steps: taken.iter().map(|(step, _)| *step).collect(), fault, to });
        }
        taken.pop();
    }
    Ok(ways)
}

/// Steps as text; empty if the model cannot start.
pub fn explained<'s>(interpreter: &Interpreter<'s>, from: &State, steps: &[Step]) -> Vec<Explained<'s>> {
    let mut state = from.to_vec();
    let mut told: Vec<Explained> = Vec::new();
    for &step in steps.iter().take_while(|_| !from.is_empty()) {
        let explained = interpreter.explain(step, &state);
        match told.last_mut().filter(|_| interpreter.system().joins_atomic) {
            Some(whole) => whole.join(&explained),
            None => told.push(explained),
        }
        if interpreter.fire(step, &mut state).is_broken() {
            break;
        }
    }
    told
}
