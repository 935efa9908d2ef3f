//! A search of a small graph, told event by event: not the one that checks models, but the one in textbooks.

use super::explore::{End, Space};
use crate::args::Order;
use std::collections::VecDeque;

/// Something that happens in a search. States and arrows are numbers in the space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A new state is put on the stack, or at the end of the queue.
    Push {
        state: usize,
    },
    /// It is taken from the front of the queue, to be expanded.
    Take {
        state: usize,
    },
    Try {
        arrow: usize,
    },
    /// The state is known.
    Match {
        state: usize,
        closes_cycle: bool,
    },
    /// All is done in the state; it leaves the stack.
    Pop {
        state: usize,
    },
    /// A step went wrong, and the search is over.
    Wrong {
        arrow: usize,
    },
    /// The run may not end in this state, and the search is over.
    Stuck {
        state: usize,
    },
}

/// All that happens, up to the first error.
pub fn search(space: &Space, order: Order) -> Vec<Event> {
    let mut leaving = vec![VecDeque::new(); space.states.len()];
    space.arrows.iter().enumerate().for_each(|(number, arrow)| leaving[arrow.from].push_back(number));
    let mut search = Search { space, leaving, known: vec![false; space.states.len()], events: Vec::new() };
    // An error is where it ends.
    let _ = match order {
        Order::DepthFirst => search.depth_first(),
        Order::BreadthFirst => search.breadth_first(),
    };
    search.events
}

struct Search<'s> {
    space: &'s Space,
    /// By state: the arrows that have not been tried.
    leaving: Vec<VecDeque<usize>>,
    known: Vec<bool>,
    events: Vec<Event>,
}

/// There is no need to go on.
struct Over;

impl Search<'_> {
    fn depth_first(&mut self) -> Result<(), Over> {
        let mut stack = vec![0];
        self.push(0)?;
        let mut is_on_stack = vec![false; self.known.len()];
        is_on_stack[0] = true;
        while let Some(&state) = stack.last() {
            let Some(arrow) = self.leaving[state].pop_front() else {
                self.events.push(Event::Pop { state });
                is_on_stack[state] = false;
                stack.pop();
                continue;
            };
            let Some(next) = self.follow(arrow)? else { continue };
            if self.known[next] {
                self.events.push(Event::Match { state: next, closes_cycle: is_on_stack[next] });
            } else {
                stack.push(next);
                is_on_stack[next] = true;
                self.push(next)?;
            }
        }
        Ok(())
    }

    fn breadth_first(&mut self) -> Result<(), Over> {
        let mut queue = VecDeque::from([0]);
        self.push(0)?;
        while let Some(state) = queue.pop_front() {
            self.events.push(Event::Take { state });
            while let Some(arrow) = self.leaving[state].pop_front() {
                let Some(next) = self.follow(arrow)? else { continue };
                if self.known[next] {
                    self.events.push(Event::Match { state: next, closes_cycle: false });
                } else {
                    queue.push_back(next);
                    self.push(next)?;
                }
            }
        }
        Ok(())
    }

    fn push(&mut self, state: usize) -> Result<(), Over> {
        self.known[state] = true;
        self.events.push(Event::Push { state });
        match self.space.states[state].end {
            End::Invalid(_) => {
                self.events.push(Event::Stuck { state });
                Err(Over)
            }
            End::Not | End::Valid | End::Cut => Ok(()),
        }
    }

    /// Where an arrow leads, if anywhere.
    fn follow(&mut self, arrow: usize) -> Result<Option<usize>, Over> {
        self.events.push(Event::Try { arrow });
        if self.space.arrows[arrow].wrong.is_some() {
            self.events.push(Event::Wrong { arrow });
            return Err(Over);
        }
        Ok(self.space.arrows[arrow].to)
    }
}
