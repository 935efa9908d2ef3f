//! Formulas of linear temporal logic, with hash-consing.
//!
//! They are in negation normal form from the start: constructors push negations down to the propositions, and express
//! other operators by those of [`Node`]. A formula is made after its operands and has a greater number, so a pass over
//! its parts in the order of numbers visits operands first and needs no recursion.

use crate::limits::Limit;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The width of the masks of propositions in cubes.
pub const MAX_PROPOSITIONS: usize = 64;
/// The maximal height of a formula to translate.
pub const MAX_HEIGHT: u32 = 1000;

/// The maximal number of distinct subformulas of a formula to translate: the translation compares each with each.
pub const MAX_PARTS: usize = 1500;

/// The index of a formula in the [`Formulas`] that created it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Formula(u32);

/// An atomic proposition: a number below [`MAX_PROPOSITIONS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Proposition(pub u8);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    True,
    False,
    Literal {
        proposition: Proposition,
        positive: bool,
    },
    /// At least two operands, in order, none of them a conjunction.
    And(Arc<[Formula]>),
    /// At least two operands, in order, none of them a disjunction.
    Or(Arc<[Formula]>),
    Next(Formula),
    Until(Formula, Formula),
    /// `(a, b)`: `b` holds up to and including the position where `a` holds, or always.
    Release(Formula, Formula),
}

/// Syntactic properties of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    /// A word satisfies it if some suffix of the word does.
    pub eventual: bool,
    /// If a word satisfies it, all its suffixes do.
    pub universal: bool,
    pub has_next: bool,
    pub has_until: bool,
    pub height: u32,
}

#[derive(Clone, Debug)]
pub struct Formulas {
    nodes: Vec<Node>,
    facts: Vec<Facts>,
    index: HashMap<Node, Formula>,
    pub(crate) implications: HashMap<(Formula, Formula), bool>,
}

impl Formula {
    pub const TRUE: Formula = Formula(0);
    pub const FALSE: Formula = Formula(1);
}

impl Default for Formulas {
    fn default() -> Formulas {
        let (nodes, facts) = (Vec::new(), Vec::new());
        let mut formulas = Formulas { nodes, facts, index: HashMap::new(), implications: HashMap::new() };
        formulas.make(Node::True);
        formulas.make(Node::False);
        formulas
    }
}

impl Formulas {
    pub fn node(&self, formula: Formula) -> &Node {
        &self.nodes[formula.0 as usize]
    }

    pub fn proposition(&mut self, proposition: Proposition) -> Formula {
        self.literal(proposition, true)
    }

    pub fn literal(&mut self, proposition: Proposition, positive: bool) -> Formula {
        debug_assert!(usize::from(proposition.0) < MAX_PROPOSITIONS);
        self.make(Node::Literal { proposition, positive })
    }

    pub fn and(&mut self, operands: impl IntoIterator<Item = Formula>) -> Formula {
        let mut flat = Vec::new();
        for operand in operands {
            match self.node(operand) {
                Node::And(inner) => flat.extend_from_slice(inner),
                _ => flat.push(operand),
            }
        }
        self.join(flat, Formula::TRUE, Formula::FALSE, Node::And)
    }

    pub fn or(&mut self, operands: impl IntoIterator<Item = Formula>) -> Formula {
        let mut flat = Vec::new();
        for operand in operands {
            match self.node(operand) {
                Node::Or(inner) => flat.extend_from_slice(inner),
                _ => flat.push(operand),
            }
        }
        self.join(flat, Formula::FALSE, Formula::TRUE, Node::Or)
    }

    fn join(
        &mut self,
        mut operands: Vec<Formula>,
        neutral: Formula,
        absorbing: Formula,
        node: fn(Arc<[Formula]>) -> Node,
    ) -> Formula {
        operands.sort_unstable();
        operands.dedup();
        operands.retain(|&operand| operand != neutral);
        if operands.contains(&absorbing) || self.has_opposites(&operands) {
            return absorbing;
        }
        match operands[..] {
            [] => neutral,
            [single] => single,
            _ => self.make(node(operands.into())),
        }
    }

    fn has_opposites(&self, operands: &[Formula]) -> bool {
        let mut seen = [0_u64; 2];
        for &operand in operands {
            if let Node::Literal { proposition, positive } = self.node(operand) {
                seen[usize::from(*positive)] |= 1 << proposition.0;
            }
        }
        seen[0] & seen[1] != 0
    }

    pub fn next(&mut self, operand: Formula) -> Formula {
        match operand {
            Formula::TRUE | Formula::FALSE => operand,
            _ => self.make(Node::Next(operand)),
        }
    }

    pub fn until(&mut self, left: Formula, right: Formula) -> Formula {
        match (left, right) {
            (_, Formula::TRUE | Formula::FALSE) | (Formula::FALSE, _) => right,
            _ if left == right => right,
            _ => self.make(Node::Until(left, right)),
        }
    }

    pub fn release(&mut self, left: Formula, right: Formula) -> Formula {
        match (left, right) {
            (_, Formula::TRUE | Formula::FALSE) | (Formula::TRUE, _) => right,
            _ if left == right => right,
            _ => self.make(Node::Release(left, right)),
        }
    }

    pub fn weak_until(&mut self, left: Formula, right: Formula) -> Formula {
        let either = self.or([left, right]);
        self.release(right, either)
    }

    pub fn eventually(&mut self, operand: Formula) -> Formula {
        self.until(Formula::TRUE, operand)
    }

    pub fn always(&mut self, operand: Formula) -> Formula {
        self.release(Formula::FALSE, operand)
    }

    pub fn implies(&mut self, left: Formula, right: Formula) -> Formula {
        let not_left = self.not(left);
        self.or([not_left, right])
    }

    pub fn equivalent(&mut self, left: Formula, right: Formula) -> Formula {
        let forth = self.implies(left, right);
        let back = self.implies(right, left);
        self.and([forth, back])
    }

    pub fn not(&mut self, formula: Formula) -> Formula {
        let mut negations: HashMap<Formula, Formula> = HashMap::new();
        for part in self.parts(formula) {
            let negation = match self.node(part).clone() {
                Node::True => Formula::FALSE,
                Node::False => Formula::TRUE,
                Node::Literal { proposition, positive } => self.literal(proposition, !positive),
                Node::And(operands) => self.or(operands.iter().map(|operand| negations[operand])),
                Node::Or(operands) => self.and(operands.iter().map(|operand| negations[operand])),
                Node::Next(operand) => self.next(negations[&operand]),
                Node::Until(left, right) => self.release(negations[&left], negations[&right]),
                Node::Release(left, right) => self.until(negations[&left], negations[&right]),
            };
            negations.insert(part, negation);
        }
        negations[&formula]
    }

    /// The formula and all of its subformulas, operands first.
    pub fn parts(&self, formula: Formula) -> Vec<Formula> {
        let mut seen = HashSet::from([formula]);
        let mut waiting = vec![formula];
        while let Some(part) = waiting.pop() {
            waiting.extend(self.operands(part).iter().copied().filter(|&operand| seen.insert(operand)));
        }
        let mut parts: Vec<Formula> = seen.into_iter().collect();
        parts.sort_unstable();
        parts
    }

    pub fn operands(&self, formula: Formula) -> Vec<Formula> {
        match self.node(formula) {
            Node::True | Node::False | Node::Literal { .. } => Vec::new(),
            Node::And(operands) | Node::Or(operands) => operands.to_vec(),
            Node::Next(operand) => vec![*operand],
            Node::Until(left, right) | Node::Release(left, right) => vec![*left, *right],
        }
    }

    /// Whether it contains `X`.
    pub fn has_next(&self, formula: Formula) -> bool {
        self.facts(formula).has_next
    }

    /// The height of the formula.
    pub fn height(&self, formula: Formula) -> u32 {
        self.facts(formula).height
    }

    /// The limit that the formula exceeds, if there is one.
    pub(crate) fn excess(&self, formula: Formula) -> Option<Limit> {
        if self.height(formula) > MAX_HEIGHT {
            Some(Limit::Height(MAX_HEIGHT))
        } else if self.parts(formula).len() > MAX_PARTS {
            Some(Limit::Parts(MAX_PARTS))
        } else {
            None
        }
    }

    /// The propositions in the formula, as a mask.
    pub fn propositions(&self, formula: Formula) -> u64 {
        let mask = |part: Formula| match self.node(part) {
            Node::Literal { proposition, .. } => 1 << proposition.0,
            _ => 0,
        };
        self.parts(formula).into_iter().fold(0, |all, part| all | mask(part))
    }

    pub(crate) fn facts(&self, formula: Formula) -> Facts {
        self.facts[formula.0 as usize]
    }

    /// Whether adding or removing a prefix of a word never changes the truth value.
    pub(crate) fn is_suspendable(&self, formula: Formula) -> bool {
        let Facts { eventual, universal, .. } = self.facts(formula);
        eventual && universal
    }

    fn make(&mut self, node: Node) -> Formula {
        if let Some(&known) = self.index.get(&node) {
            return known;
        }
        let formula = Formula(self.nodes.len() as u32);
        self.facts.push(self.facts_of(&node));
        self.index.insert(node.clone(), formula);
        self.nodes.push(node);
        formula
    }

    /// After Etessami, Holzmann: Optimizing Büchi automata, CONCUR 2000.
    fn facts_of(&self, node: &Node) -> Facts {
        let all = |operands: &[Formula]| {
            operands.iter().map(|&operand| self.facts(operand)).reduce(|one, other| Facts {
                eventual: one.eventual && other.eventual,
                universal: one.universal && other.universal,
                has_next: one.has_next || other.has_next,
                has_until: one.has_until || other.has_until,
                height: one.height.max(other.height),
            })
        };
        let constant = Facts { eventual: true, universal: true, has_next: false, has_until: false, height: 0 };
        let over = |operands: &[Formula]| {
            let facts = all(operands).unwrap_or(constant);
            Facts { height: facts.height + 1, ..facts }
        };
        match node {
            Node::True | Node::False => constant,
            Node::Literal { .. } => Facts { eventual: false, universal: false, ..constant },
            Node::And(operands) | Node::Or(operands) => over(operands),
            Node::Next(operand) => Facts { has_next: true, ..over(&[*operand]) },
            Node::Until(left, right) => {
                let eventual = *left == Formula::TRUE || self.facts(*right).eventual;
                Facts { eventual, has_until: true, ..over(&[*left, *right]) }
            }
            Node::Release(left, right) => {
                let universal = *left == Formula::FALSE || self.facts(*right).universal;
                Facts { universal, ..over(&[*left, *right]) }
            }
        }
    }
}
