//! The events of a search: the same search as in `entail check`, on the unoptimised model.

use super::explore::StateGraph;
use crate::args::Order;
use entail_check::config::Search;
use entail_check::{Listener, trace_search};
use entail_ir::Interpreter;
use entail_ir::interpret::Step;
use entail_model::{self as model, EventTarget, StateName};
use std::collections::HashMap;

/// A search event. States and edges are indices in the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A new state is pushed onto the stack, or appended to the queue.
    Push {
        state: usize,
    },
    /// A state is taken from the queue and expanded.
    Take {
        state: usize,
    },
    Try {
        arrow: usize,
    },
    /// The state was visited before.
    Match {
        state: usize,
        closes_cycle: bool,
    },
    /// The state is popped from the stack.
    Pop {
        state: usize,
    },
    /// A fault ends the search.
    Wrong {
        arrow: usize,
    },
    /// An invalid end state ends the search.
    Stuck {
        state: usize,
    },
}

/// All events up to the first error.
pub fn search(interpreter: &Interpreter, space: &StateGraph, order: Order) -> Vec<Event> {
    let search = match order {
        Order::DepthFirst => Search::DepthFirst,
        Order::BreadthFirst => Search::BreadthFirst,
    };
    let mut heard = Heard::of(space);
    trace_search(interpreter, search, &mut heard);
    heard.events
}

/// Translates search events to indices of the graph.
struct Heard<'s> {
    space: &'s StateGraph,
    /// The outgoing edges of each state.
    leaving: Vec<Vec<usize>>,
    states: HashMap<StateName, usize>,
    /// The steps since the last stable state, and their edge once it is unique.
    way: Vec<Step>,
    arrow: Option<usize>,
    events: Vec<Event>,
}

impl Heard<'_> {
    fn of(space: &StateGraph) -> Heard<'_> {
        let mut leaving = vec![Vec::new(); space.states.len()];
        space.arrows.iter().enumerate().for_each(|(number, arrow)| leaving[arrow.from].push(number));
        let (states, events) = (HashMap::new(), Vec::new());
        Heard { space, leaving, states, way: Vec::new(), arrow: None, events }
    }

    /// The index of a state; the first one is the initial state.
    fn number(&mut self, state: StateName) -> usize {
        *self.states.entry(state).or_insert(0)
    }

    fn at(&mut self, state: StateName, event: impl FnOnce(usize) -> Event) {
        let state = self.number(state);
        self.events.push(event(state));
    }

    /// The first outgoing edge that begins with the steps taken.
    fn arrow(&self, from: usize, is_it: impl Fn(&super::explore::Arrow) -> bool) -> Option<usize> {
        self.leaving[from].iter().copied().find(|&number| {
            let arrow = &self.space.arrows[number];
            arrow.steps.starts_with(&self.way) && is_it(arrow)
        })
    }

    fn try_arrow(&mut self, arrow: Option<usize>) {
        self.arrow = arrow;
        self.events.extend(arrow.map(|arrow| Event::Try { arrow }));
    }
}

impl Listener for Heard<'_> {
    fn happened(&mut self, event: model::Event<Step>) {
        match event {
            model::Event::Begun => *self = Heard::of(self.space),
            model::Event::Pushed { state } => self.at(state, |state| Event::Push { state }),
            model::Event::Taken { state } => self.at(state, |state| Event::Take { state }),
            model::Event::Popped { state } => self.at(state, |state| Event::Pop { state }),
            model::Event::Known { state, closes_cycle } => {
                self.at(state, |state| Event::Match { state, closes_cycle });
            }
            model::Event::Tried { from, passed, step, to } => {
                let from = self.number(from);
                self.way.truncate(passed);
                self.way.extend(step);
                let count = self.way.len();
                let arrow = match to {
                    EventTarget::Transient => None,
                    EventTarget::Nowhere | EventTarget::Stable(_) => {
                        self.arrow(from, |arrow| arrow.steps.len() == count)
                    }
                };
                self.try_arrow(arrow);
                if let (EventTarget::Stable(state), Some(arrow)) = (to, arrow) {
                    self.states.extend(self.space.arrows[arrow].to.map(|number| (state, number)));
                }
            }
            model::Event::Wrong { state, fault } => {
                let state = self.number(state);
                if fault.is_some() && self.arrow.is_none() {
                    self.try_arrow(self.arrow(state, |arrow| arrow.violation.is_some()));
                }
                let wrong = self.arrow.filter(|_| fault.is_some()).map(|arrow| Event::Wrong { arrow });
                self.events.push(wrong.unwrap_or(Event::Stuck { state }));
            }
            // New states are reported as pushed; and the search is for safety only.
            model::Event::New { .. } | model::Event::Inside { .. } | model::Event::Accepted { .. } => {}
        }
    }
}
