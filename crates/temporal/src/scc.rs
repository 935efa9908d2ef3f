//! The strongly connected components of an automaton.

use crate::automaton::{Automaton, Edge, Marks, State};

/// A strongly connected component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scc(u32);

/// All strongly connected components, in reverse topological order.
#[derive(Clone, Debug)]
pub struct Sccs {
    /// By state. No edge leads from a component to one with a greater number.
    of: Vec<Scc>,
    kinds: Vec<Kind>,
}

/// The kind of a component, by the runs that stay in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A single state without a self-loop.
    Transient,
    /// No such run is accepted.
    Rejecting,
    /// Some such runs are accepted, others are not.
    Mixed,
    /// Every such run is accepted.
    Accepting,
}

impl Kind {
    pub fn can_accept(self) -> bool {
        match self {
            Kind::Transient | Kind::Rejecting => false,
            Kind::Mixed | Kind::Accepting => true,
        }
    }
}

impl Sccs {
    pub fn of(automaton: &Automaton) -> Sccs {
        let (of, count) = tarjan(automaton, |_| true);
        let mut components = Sccs { of, kinds: Vec::new() };
        components.kinds = components.classify(automaton, count);
        components
    }

    pub fn component(&self, state: State) -> Scc {
        self.of[state.index()]
    }

    /// The kind of a state's component.
    pub fn kind(&self, state: State) -> Kind {
        self.kinds[self.component(state).0 as usize]
    }

    /// Whether an edge stays in its component.
    pub fn stays(&self, source: State, edge: &Edge) -> bool {
        self.component(source) == self.component(edge.target)
    }

    pub fn any_accepting(&self) -> bool {
        self.kinds.iter().any(|kind| kind.can_accept())
    }

    fn classify(&self, automaton: &Automaton, count: u32) -> Vec<Kind> {
        let all = Marks::all(automaton.sets);
        let mut seen: Vec<Option<Marks>> = vec![None; count as usize];
        for state in automaton.states() {
            for edge in automaton.leaving(state).iter().filter(|edge| self.stays(state, edge)) {
                let marks = &mut seen[self.component(state).0 as usize];
                *marks = Some(marks.unwrap_or(Marks::NONE).with(edge.marks));
            }
        }
        let escaping = self.with_cycles_that_miss_a_set(automaton, count);
        let kind = |(marks, escapes): (&Option<Marks>, &bool)| match marks {
            None => Kind::Transient,
            Some(marks) if !marks.contains(all) => Kind::Rejecting,
            Some(_) if *escapes => Kind::Mixed,
            Some(_) => Kind::Accepting,
        };
        seen.iter().zip(&escaping).map(kind).collect()
    }

    fn with_cycles_that_miss_a_set(&self, automaton: &Automaton, count: u32) -> Vec<bool> {
        let mut escaping = vec![false; count as usize];
        for set in Marks::all(automaton.sets).iter() {
            let misses = |edge: &Edge| edge.marks.0 >> set & 1 == 0;
            let (inner, _) = tarjan(automaton, misses);
            for state in automaton.states() {
                let loops = |edge: &Edge| misses(edge) && inner[edge.target.index()] == inner[state.index()];
                if automaton.leaving(state).iter().any(loops) {
                    escaping[self.component(state).0 as usize] = true;
                }
            }
        }
        escaping
    }
}

/// Tarjan: Depth-first search and linear graph algorithms, 1972, without recursion. The component of each state, and
/// the number of components, with respect to the edges that `follows` selects.
fn tarjan(automaton: &Automaton, follows: impl Fn(&Edge) -> bool) -> (Vec<Scc>, u32) {
    const NONE: Scc = Scc(u32::MAX);
    let count = automaton.len();
    let mut components = vec![NONE; count];
    let mut found = 0;
    let mut entered: Vec<Option<u32>> = vec![None; count];
    let mut lowest = vec![0; count];
    let mut clock = 0;
    let mut open = Vec::new();
    for root in automaton.states() {
        if entered[root.index()].is_some() {
            continue;
        }
        let mut path = vec![(root, 0)];
        while let Some((state, at)) = path.last_mut() {
            let here = state.index();
            if *at == 0 && entered[here].is_none() {
                entered[here] = Some(clock);
                lowest[here] = clock;
                clock += 1;
                open.push(*state);
            }
            let leaving = automaton.leaving(*state);
            if let Some(edge) = leaving.get(*at) {
                *at += 1;
                if !follows(edge) {
                    continue;
                }
                let there = edge.target.index();
                match entered[there] {
                    None => path.push((edge.target, 0)),
                    Some(time) if components[there] == NONE => lowest[here] = lowest[here].min(time),
                    Some(_) => {}
                }
                continue;
            }
            if entered[here] == Some(lowest[here]) {
                while let Some(member) = open.pop() {
                    components[member.index()] = Scc(found);
                    if member.index() == here {
                        break;
                    }
                }
                found += 1;
            }
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                lowest[parent.index()] = lowest[parent.index()].min(lowest[here]);
            }
        }
    }
    (components, found)
}
