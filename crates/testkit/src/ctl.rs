//! CTL by its definition: the states of an explicit graph that satisfy a formula.

use std::collections::{BTreeSet, HashMap};

use entail_model::{Concurrent, Propositional, StateBuf};
use entail_temporal::Fairness;
use entail_temporal::ctl::{Ctl, Path, Quantifier};
use entail_temporal::formula::Proposition;

use crate::rng::Rng;

/// All stable states of a model, and the paths between them. The first state is initial.
#[derive(Debug, Default)]
pub struct Kripke {
    pub states: Vec<StateBuf>,
    pub places: Vec<Place>,
}

#[derive(Debug, Default)]
pub struct Place {
    /// The propositions, one bit each.
    pub holds: u64,
    pub ways: Vec<Way>,
    /// Whether a run can fault before it reaches another stable state.
    pub faults: bool,
    /// The processes that can move.
    pub enabled: BTreeSet<usize>,
    /// The number of processes.
    pub processes: usize,
}

/// A path to another stable state, or to the same one.
#[derive(Clone, Debug)]
pub struct Way {
    pub to: usize,
    /// The processes that move on it.
    pub movers: BTreeSet<usize>,
}

type States = BTreeSet<usize>;

/// The states where a formula is true. A fault leads to a state of which nothing is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truth {
    /// True whatever follows the faults.
    pub surely: States,
    /// True for some continuation of the faults.
    pub perhaps: States,
}

impl Truth {
    /// Whether it is true in a state, if that is known.
    pub fn at(&self, state: usize) -> Option<bool> {
        match (self.surely.contains(&state), self.perhaps.contains(&state)) {
            (true, _) => Some(true),
            (false, false) => Some(false),
            (false, true) => None,
        }
    }

    fn by(&self, other: &Truth, join: impl Fn(&States, &States) -> States) -> Truth {
        Truth { surely: join(&self.surely, &other.surely), perhaps: join(&self.perhaps, &other.perhaps) }
    }

    fn and(&self, other: &Truth) -> Truth {
        self.by(other, |one, other| one & other)
    }

    fn or(&self, other: &Truth) -> Truth {
        self.by(other, |one, other| one | other)
    }
}

impl Kripke {
    /// `None` if there are more than `most` states, or paths from a state, or if an evaluation faults.
    pub fn of<M: Propositional + Concurrent>(model: &M, most: usize) -> Option<Kripke> {
        let mut kripke = Kripke::default();
        let mut numbers = HashMap::new();
        model.initial_states(&mut |state| kripke.states.push(state.to_vec()));
        kripke.states.truncate(1);
        numbers.insert(kripke.states.first()?.clone(), 0);
        let mut next = 0;
        while let Some(state) = kripke.states.get(next).cloned() {
            let (mut ways, mut enabled, mut faults) = (Vec::new(), Vec::new(), false);
            model.enabled(&state, &mut enabled);
            // Each path: the state, the processes that have moved, and the transient states on it.
            let mut ahead = vec![(state.clone(), BTreeSet::new(), Vec::<StateBuf>::new())];
            while let Some((here, movers, passed)) = ahead.pop() {
                let mut steps = Vec::new();
                model.enabled(&here, &mut steps);
                for step in steps {
                    let (mut there, mut movers) = (here.clone(), movers.clone());
                    if model.fire(step, &mut there).is_broken() {
                        faults = true;
                        continue;
                    }
                    movers.insert(model.owner(step));
                    if !model.is_transient(&there) {
                        let count = numbers.len();
                        let to = *numbers.entry(there.clone()).or_insert(count);
                        if to == count {
                            kripke.states.push(there);
                        }
                        ways.push(Way { to, movers });
                    } else if !passed.contains(&there) {
                        let passed = passed.iter().cloned().chain([there.clone()]).collect();
                        ahead.push((there, movers, passed));
                    }
                }
                if numbers.len() > most || ways.len() > most || ahead.len() > most {
                    return None;
                }
            }
            if enabled.is_empty() {
                // Stutter extension: a state without successors is repeated forever.
                ways.push(Way { to: next, movers: BTreeSet::new() });
            }
            let valuation = model.valuation(&state, &mut M::Scratch::default());
            if valuation.fault.is_some() || ways.is_empty() && !faults {
                return None;
            }
            kripke.places.push(Place {
                holds: valuation.holds,
                ways,
                faults,
                enabled: enabled.into_iter().map(|step| model.owner(step)).collect(),
                processes: model.processes(&state),
            });
            next += 1;
        }
        Some(kripke)
    }

    /// Whether some run ends in a fault.
    pub fn has_faults(&self) -> bool {
        self.places.iter().any(|place| place.faults)
    }

    /// The states where a formula is true.
    pub fn holding(&self, formula: &Ctl, fairness: Fairness) -> Truth {
        let of = |formula: &Ctl| self.holding(formula, fairness);
        let no = |formula: &Ctl| self.not(&of(formula));
        let both = |states: States| Truth { surely: states.clone(), perhaps: states };
        let all = both(self.all());
        match formula {
            Ctl::Const(value) => both(self.all().into_iter().filter(|_| *value).collect()),
            Ctl::Proposition(proposition) => {
                let holds = |state: &usize| self.places[*state].holds >> proposition.0 & 1 == 1;
                both(self.all().into_iter().filter(holds).collect())
            }
            Ctl::Not(operand) => no(operand),
            Ctl::And(left, right) => of(left).and(&of(right)),
            Ctl::Or(left, right) => of(left).or(&of(right)),
            Ctl::Implies(left, right) => no(left).or(&of(right)),
            Ctl::Equivalent(left, right) => of(left).and(&of(right)).or(&no(left).and(&no(right))),
            Ctl::Runs(Quantifier::Some, path) => match &**path {
                Path::Next(operand) => self.before(&of(operand), fairness),
                Path::Always(operand) => self.always(&of(operand), fairness),
                Path::Eventually(operand) => self.until(&all, &of(operand), fairness),
                Path::Until(left, right) => self.until(&of(left), &of(right), fairness),
                Path::WeakUntil(left, right) => {
                    self.until(&of(left), &of(right), fairness).or(&self.always(&of(left), fairness))
                }
                Path::Release(left, right) => {
                    let (left, right) = (of(left), of(right));
                    self.until(&right, &left.and(&right), fairness).or(&self.always(&right, fairness))
                }
            },
            Ctl::Runs(Quantifier::All, path) => self.not(&match &**path {
                Path::Next(operand) => self.before(&no(operand), fairness),
                Path::Always(operand) => self.until(&all, &no(operand), fairness),
                Path::Eventually(operand) => self.always(&no(operand), fairness),
                Path::Until(left, right) => {
                    let (no_left, no_right) = (no(left), no(right));
                    let too_late = self.until(&no_right, &no_left.and(&no_right), fairness);
                    too_late.or(&self.always(&no_right, fairness))
                }
                Path::WeakUntil(left, right) => {
                    let (no_left, no_right) = (no(left), no(right));
                    self.until(&no_right, &no_left.and(&no_right), fairness)
                }
                Path::Release(left, right) => self.until(&no(left), &no(right), fairness),
            }),
        }
    }

    fn not(&self, truth: &Truth) -> Truth {
        Truth { surely: &self.all() - &truth.perhaps, perhaps: &self.all() - &truth.surely }
    }

    pub fn all(&self) -> States {
        (0..self.places.len()).collect()
    }

    fn leads_to(&self, state: usize, targets: &States) -> bool {
        self.places[state].ways.iter().any(|way| targets.contains(&way.to))
    }

    fn faulty(&self) -> States {
        self.all().into_iter().filter(|&state| self.places[state].faults).collect()
    }

    /// The states where a fair run begins, or a run that ends in a fault if that suffices.
    fn going_on(&self, fairness: Fairness) -> Truth {
        let fair = self.reaching(&self.all(), &self.fair_cycles(&self.all(), fairness));
        let perhaps = &fair | &self.reaching(&self.all(), &self.faulty());
        // A run that faults counts if it could have been continued fairly.
        let surely = if fairness.is_realizable() { perhaps.clone() } else { fair };
        Truth { surely, perhaps }
    }

    /// The states with a step to one of these, from which a fair run begins.
    fn before(&self, targets: &Truth, fairness: Fairness) -> Truth {
        let Truth { surely, perhaps } = targets.and(&self.going_on(fairness));
        let leading_to = |targets: &States| -> States {
            self.all().into_iter().filter(|&state| self.leads_to(state, targets)).collect()
        };
        Truth { surely: leading_to(&surely), perhaps: &leading_to(&perhaps) | &self.faulty() }
    }

    /// The states where a fair run through the first ones reaches one of the others.
    fn until(&self, first: &Truth, then: &Truth, fairness: Fairness) -> Truth {
        let then = then.and(&self.going_on(fairness));
        let faults = &first.perhaps & &self.faulty();
        Truth {
            surely: self.reaching(&first.surely, &then.surely),
            perhaps: self.reaching(&first.perhaps, &(&then.perhaps | &faults)),
        }
    }

    /// The states where a run through the first ones reaches one of the others.
    fn reaching(&self, first: &States, then: &States) -> States {
        let mut found = then.clone();
        loop {
            let more: Vec<_> =
                first.difference(&found).copied().filter(|&one| self.leads_to(one, &found)).collect();
            if more.is_empty() {
                return found;
            }
            found.extend(more);
        }
    }

    /// The states where a fair run begins that remains in these.
    fn always(&self, among: &Truth, fairness: Fairness) -> Truth {
        let faults = &among.perhaps & &self.faulty();
        let cycles = |among: &States| self.fair_cycles(among, fairness);
        Truth {
            surely: self.reaching(&among.surely, &cycles(&among.surely)),
            perhaps: self.reaching(&among.perhaps, &(&cycles(&among.perhaps) | &faults)),
        }
    }

    /// The states on fair cycles inside these.
    fn fair_cycles(&self, among: &States, fairness: Fairness) -> States {
        let fair = |components: Vec<States>| -> States {
            components.into_iter().filter(|part| self.is_fair(part, fairness)).flatten().collect()
        };
        match fairness {
            // If a cycle is fair, so is a larger one.
            Fairness::None | Fairness::Weak | Fairness::Impartial => fair(self.components(among)),
            // For each set of processes that are never enabled on the cycle, all others must move on it.
            Fairness::Strong => {
                let most = self.places.iter().map(|place| place.processes).max().unwrap_or(0);
                let disabled = |set: usize| {
                    let is_out = |process: &usize| set >> process & 1 == 1;
                    let without = |&state: &usize| !self.places[state].enabled.iter().any(is_out);
                    among.iter().copied().filter(without).collect::<States>()
                };
                (0..1 << most).flat_map(|set| fair(self.components(&disabled(set)))).collect()
            }
            Fairness::Component => {
                fair(self.components(&self.all()).into_iter().filter(|part| part.is_subset(among)).collect())
            }
        }
    }

    /// The strongly connected components of the subgraph of these states.
    pub fn components(&self, among: &States) -> Vec<States> {
        let mut backward = vec![Vec::new(); self.places.len()];
        for &state in among {
            let ways = self.places[state].ways.iter().filter(|way| among.contains(&way.to));
            ways.for_each(|way| backward[way.to].push(state));
        }
        let forward = |state: usize| {
            let ways = self.places[state].ways.iter().map(|way| way.to);
            ways.filter(|to| among.contains(to)).collect::<Vec<_>>()
        };
        let (mut components, mut left) = (Vec::new(), among.clone());
        while let Some(&state) = left.first() {
            let ahead = reach(state, forward);
            let component = &ahead & &reach(state, |state| backward[state].clone());
            left = &left - &component;
            components.push(component);
        }
        components
    }

    /// Whether a run that takes all steps among these states infinitely often is fair.
    pub fn is_fair(&self, round: &States, fairness: Fairness) -> bool {
        let places = || round.iter().map(|&state| &self.places[state]);
        let ways = places().flat_map(|place| &place.ways).filter(|way| round.contains(&way.to));
        let moves: Vec<_> = ways.map(|way| &way.movers).collect();
        let most = places().map(|place| place.processes).max().unwrap_or(0);
        !moves.is_empty()
            && (0..most).all(|process| {
                let treated = match fairness {
                    Fairness::None => true,
                    Fairness::Weak => places().any(|place| !place.enabled.contains(&process)),
                    Fairness::Strong | Fairness::Component => {
                        places().all(|place| !place.enabled.contains(&process))
                    }
                    Fairness::Impartial => places().any(|place| place.processes <= process),
                };
                treated || moves.iter().any(|movers| movers.contains(&process))
            })
    }
}

fn reach(from: usize, next: impl Fn(usize) -> Vec<usize>) -> States {
    let (mut known, mut waiting) = (States::from([from]), vec![from]);
    while let Some(state) = waiting.pop() {
        waiting.extend(next(state).into_iter().filter(|&state| known.insert(state)));
    }
    known
}

/// A random formula with this number of operators and propositions.
pub fn formula(rng: &mut Rng, operators: usize, propositions: u8) -> Ctl {
    if operators == 0 {
        return Ctl::Proposition(Proposition(rng.below(propositions.into()) as u8));
    }
    let left = rng.below(operators);
    let mut one = |operators| formula(rng, operators, propositions);
    let (left, right, only) = (one(left), one(operators - 1 - left), one(operators - 1));
    let path = match rng.below(12) {
        0 => return !only,
        1 => return Ctl::and(left, right),
        2 => return Ctl::or(left, right),
        3 => return Ctl::Implies(Box::new(left), Box::new(right)),
        4 => return Ctl::Equivalent(Box::new(left), Box::new(right)),
        5 => Path::Next(only),
        6 => Path::Always(only),
        7 | 8 => Path::Eventually(only),
        9 => Path::Until(left, right),
        10 => Path::WeakUntil(left, right),
        _ => Path::Release(left, right),
    };
    if rng.chance(0.5) { Ctl::all(path) } else { Ctl::some(path) }
}
