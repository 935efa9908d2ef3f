//! Generates a program from a seed.

mod channels;
mod compound;
mod expr;
mod globals;
mod processes;
mod scope;
mod simple;

use self::processes::Plan;
use self::scope::{Channel, Leaf, Records, Scope, Signature, is_index, leaves};
use super::ast::*;
use super::features::{Feature, FeatureSet};
use super::flaw;
use crate::rng::Rng;

/// The percentage of programs with an intentional defect.
const FLAWED_PERCENT: usize = 3;

/// The program of a seed; it is deterministic.
pub fn generate(seed: u64) -> Program {
    generate_with(seed, &[])
}

/// The program of a seed without its `ltl`, and its numeric variables for other formulas; `None` if it has an
/// intentional defect or no numeric variables.
pub fn generate_subject(seed: u64) -> Option<(Program, Vec<String>)> {
    let mut program = generate(seed);
    program.units.retain(|unit| !matches!(unit, Unit::Always { .. }));
    let numbers = program.numbers();
    (program.flaw.is_none() && !numbers.is_empty()).then_some((program, numbers))
}

/// The same, where all seeds may use these features.
pub fn generate_with(seed: u64, features: &[Feature]) -> Program {
    let mut rng = Rng::new(seed);
    let mut allowed = FeatureSet::swarm(&mut rng);
    features.iter().for_each(|&feature| allowed.insert(feature));
    let careful = rng.below(100) < 80;
    let mut generator = Generator {
        rng,
        allowed,
        used: FeatureSet::default(),
        careful,
        units: Vec::new(),
        scope: Scope::default(),
        records: Vec::new(),
        mtypes: Vec::new(),
        macros: Vec::new(),
        inlines: Vec::new(),
        signatures: Vec::new(),
        plans: Vec::new(),
        here: Context::default(),
        body: Body::default(),
        fuel: 0,
        fresh: 0,
        compare: Compare::Everything,
    };
    generator.globals();
    generator.plan();
    generator.inlines();
    generator.processes();
    generator.claim();
    let mut program =
        Program { units: generator.units, compare: generator.compare, features: generator.used, flaw: None };
    if generator.rng.below(100) < FLAWED_PERCENT {
        flaw::inject(&mut program, &mut generator.rng);
    }
    program
}

/// The state of the generator. `scope` contains the visible names, `here` the context of the current statement.
struct Generator {
    rng: Rng,
    allowed: FeatureSet,
    used: FeatureSet,
    /// Most seeds avoid deadlocks and failing assertions; the other seeds produce errors.
    careful: bool,
    units: Vec<Unit>,
    scope: Scope,
    records: Records,
    mtypes: Vec<(Option<String>, Vec<String>)>,
    /// Names with the number of their parameters.
    macros: Vec<(String, usize)>,
    inlines: Vec<Inline>,
    signatures: Vec<Signature>,
    plans: Vec<Plan>,
    here: Context,
    body: Body,
    /// The remaining number of statements for the current body.
    fuel: usize,
    fresh: usize,
    compare: Compare,
}

/// The first parameter is read, a second one is assigned to.
struct Inline {
    name: String,
    params: usize,
    returns: bool,
    /// The context it may be called in: it was generated for this one.
    region: Region,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Region {
    #[default]
    Plain,
    Atomic,
    /// Only the first statement may block: otherwise SPIN ends its search.
    DStep,
}

#[derive(Clone, Copy, Debug, Default)]
struct Context {
    region: Region,
    in_loop: bool,
    in_inline: bool,
    /// Inside a `D_proctype`, where a choice is an error.
    deterministic: bool,
    /// No channel may be mentioned: SPIN rejects `else` next to one if there are `xr` or `xs` declarations.
    no_channels: bool,
    depth: usize,
    /// The index of the plan whose body this is.
    process: usize,
}

/// Requirements of the statements of a process body.
#[derive(Default)]
struct Body {
    prologue: Vec<Stmt>,
    jumps_back: bool,
    jumps_out: bool,
}

impl Generator {
    fn percent(&mut self, percent: usize) -> bool {
        self.rng.below(100) < percent
    }

    /// A number from `low` up to, but not including, `high`.
    fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.rng.below(high - low)
    }

    /// Whether to use a feature here: in `percent` of the cases where it is allowed.
    fn with(&mut self, feature: Feature, percent: usize) -> bool {
        let yes = self.allowed.contains(feature) && self.percent(percent);
        if yes {
            self.used.insert(feature);
        }
        yes
    }

    fn pick<T: Clone>(&mut self, items: &[T]) -> Option<T> {
        if items.is_empty() { None } else { Some(items[self.rng.below(items.len())].clone()) }
    }

    /// One of the entries, with probabilities proportional to their weights.
    fn weighted<T: Copy>(&mut self, entries: &[(usize, T)]) -> T {
        let total = entries.iter().map(|(weight, _)| weight).sum();
        let mut left = self.rng.below(total);
        for &(weight, item) in entries {
            if left < weight {
                return item;
            }
            left -= weight;
        }
        unreachable!("the weights add up to the total")
    }

    fn fresh(&mut self, stem: &str) -> String {
        self.fresh += 1;
        format!("{stem}{}", self.fresh)
    }

    /// Calls `make` in a changed context with the current names, and removes the names that it declares.
    fn nested<T>(&mut self, change: impl FnOnce(&mut Context), make: impl FnOnce(&mut Self) -> T) -> T {
        let (scope, here) = (self.scope.clone(), self.here);
        change(&mut self.here);
        self.here.depth += 1;
        let made = make(self);
        self.scope = scope;
        self.here = here;
        made
    }

    /// A scalar place that satisfies `wanted`, with some of its indices made dynamic.
    fn place(&mut self, wanted: impl Fn(&scope::Variable, &Type) -> bool) -> Option<(Place, Type)> {
        let candidates: Vec<Leaf> = self
            .scope
            .variables
            .iter()
            .flat_map(|variable| {
                let scalars = leaves(variable, &self.records);
                scalars.into_iter().filter(|leaf| wanted(variable, &leaf.ty)).collect::<Vec<_>>()
            })
            .collect();
        let mut leaf = self.pick(&candidates)?;
        let mut lengths = leaf.lengths.into_iter();
        let mut part = Some(&mut leaf.place);
        while let Some(place) = part {
            if place.index.is_some() {
                let length = lengths.next().expect("one length per index");
                if self.percent(50) {
                    place.index = Some(Box::new(self.index(length)));
                }
            }
            part = place.field.as_deref_mut();
        }
        Some((leaf.place, leaf.ty))
    }

    /// An index expression that stays within an array.
    fn index(&mut self, length: usize) -> Expr {
        let scalars: Vec<String> = self
            .scope
            .variables
            .iter()
            .filter(|v| v.array.is_none() && v.access != scope::Access::WriteOnly && is_index(&v.ty))
            .map(|v| v.name.clone())
            .collect();
        match self.pick(&scalars) {
            Some(name) => Expr::binary(Binary::Rem, Expr::read(name), Expr::Number(length as i32)),
            None => Expr::Number(self.rng.below(length) as i32),
        }
    }

    /// A channel that satisfies `wanted`, as a place.
    fn channel(&mut self, wanted: impl Fn(&Signature) -> bool) -> Option<(Place, Signature)> {
        if self.here.no_channels {
            return None;
        }
        let matching: Vec<Channel> =
            self.scope.channels.iter().filter(|c| wanted(&self.signatures[c.signature])).cloned().collect();
        let channel = self.pick(&matching)?;
        let index = channel.array.map(|length| Box::new(self.index(length)));
        let signature = self.signatures[channel.signature].clone();
        Some((Place { name: channel.name, index, field: None }, signature))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_gives_the_same_program() {
        for seed in 0..200 {
            assert_eq!(generate(seed), generate(seed));
        }
    }

    #[test]
    fn seeds_give_different_programs() {
        let texts: std::collections::HashSet<String> = (0..200).map(|seed| generate(seed).to_string()).collect();
        assert_eq!(texts.len(), 200);
    }

    #[test]
    fn every_feature_occurs() {
        let mut missing: Vec<Feature> = Feature::ALL.iter().map(|&(feature, _)| feature).collect();
        for seed in 0..2000 {
            let features = generate(seed).features;
            missing.retain(|&feature| !features.contains(feature));
        }
        assert_eq!(missing, []);
    }

    #[test]
    fn a_few_programs_are_flawed() {
        let flawed = (0..2000).filter(|&seed| generate(seed).flaw.is_some()).count();
        assert!((30..90).contains(&flawed), "{flawed}");
    }
}
