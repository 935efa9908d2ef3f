//! Statement coverage: the parts of a model that a search reached.

use entail_disk::{Reader, Restore, Snapshot, Writer, damaged};
use entail_ir::interpret::Step;
use entail_ir::{Action, BlockNode, EdgeId, LocationId, ProcessTypeId, Statement, StatementId, System};
use std::collections::{HashMap, HashSet};
use std::io;

/// The edges that were taken.
pub(crate) struct Coverage {
    fired: Vec<bool>,
}

/// The unreached statements of a process type.
#[derive(Clone, Debug)]
pub struct ProcessCoverage {
    /// The name of the process type.
    pub name: String,
    /// The number of locations, without the end location.
    pub locations: usize,
    /// The statements whose locations no process reached.
    pub unreached: Vec<UnreachedStatement>,
}

/// A statement whose location no process reached.
#[derive(Clone, Debug)]
pub struct UnreachedStatement {
    /// The number of its location.
    pub location: u16,
    /// The file.
    pub file: String,
    /// The line.
    pub line: u32,
    /// The text of the statement.
    pub text: String,
    /// Whether the list already contains it at another location.
    pub is_repeated: bool,
}

impl ProcessCoverage {
    /// Each statement once, with the first of its locations.
    pub fn each_once(&self) -> impl Iterator<Item = &UnreachedStatement> {
        self.unreached.iter().filter(|statement| !statement.is_repeated)
    }
}

/// A statement whose location no process reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Unreached {
    process_type: ProcessTypeId,
    location: LocationId,
    statement: StatementId,
}

impl Restore for Coverage {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.fired.save(to)
    }

    fn restore(&mut self, from: &mut Reader) -> io::Result<()> {
        let fired: Vec<bool> = Snapshot::load(from)?;
        if fired.len() != self.fired.len() {
            return Err(damaged("the model had other steps"));
        }
        self.fired = fired;
        Ok(())
    }
}

impl Coverage {
    pub fn new(system: &System) -> Coverage {
        Coverage { fired: vec![false; system.edges.len()] }
    }

    #[inline]
    pub fn mark(&mut self, step: Step) {
        self.mark_edge(step.edge());
        if let Some((_, edge)) = step.partner() {
            self.mark_edge(edge);
        }
    }

    fn mark_edge(&mut self, edge: EdgeId) {
        // The step of a model that cannot start has no edge.
        if let Some(fired) = self.fired.get_mut(edge.index()) {
            *fired = true;
        }
    }

    /// The unreached statements of each process type.
    pub fn by_process(&self, system: &System) -> Vec<ProcessCoverage> {
        let (unreached, mut seen) = (self.unreached(system), HashSet::new());
        let types = system.process_types.iter().enumerate();
        let covered = types.map(|(index, process_type)| {
            let here = unreached.iter().filter(|item| item.process_type.index() == index);
            let here = here.map(|item| {
                let Statement { file, line, text, .. } = system.statement(item.statement).clone();
                let is_repeated = !seen.insert(item.statement);
                UnreachedStatement { location: item.location.0, file, line, text, is_repeated }
            });
            ProcessCoverage {
                name: process_type.name.clone(),
                locations: process_type.locations.len().saturating_sub(1),
                unreached: here.collect(),
            }
        });
        covered.collect()
    }

    /// The unreached statements by process type and location.
    fn unreached(&self, system: &System) -> Vec<Unreached> {
        let types = || (0..system.process_types.len()).map(|index| ProcessTypeId(index as u16));
        let reached: Vec<_> = types().map(|id| self.reached_in(id, system)).collect();
        // Process types may share statements; one process type that reached them is enough.
        let at = |id: ProcessTypeId| reached[id.index()].iter().flat_map(move |&at| statements_at(id, at, system));
        let mut considered: HashSet<StatementId> = types().flat_map(at).collect();
        // Statements merged into an action that was taken.
        let fired = system.edges.iter().zip(&self.fired).filter(|(_, fired)| **fired);
        considered.extend(fired.flat_map(|(edge, _)| passed(&edge.action)));
        types().flat_map(|id| unreached_in(id, &reached[id.index()], &considered, system)).collect()
    }

    /// The locations that processes of this type reached.
    fn reached_in(&self, id: ProcessTypeId, system: &System) -> HashSet<LocationId> {
        let process_type = system.process_type(id);
        let mut reached = HashSet::new();
        if self.has_started(id, system) {
            reached.insert(process_type.entry);
        }
        for location in &process_type.locations {
            for edge in location.edges() {
                if self.fired[edge.index()] {
                    reached.extend(system.edge(edge).target);
                }
            }
        }
        reached
    }

    /// Whether a process of this type was started.
    fn has_started(&self, id: ProcessTypeId, system: &System) -> bool {
        let runs = |edge: usize| self.fired[edge] && starts(&system.edges[edge].action, id);
        system.start.iter().any(|start| start.process_type == id) || (0..system.edges.len()).any(runs)
    }
}

fn unreached_in(
    id: ProcessTypeId,
    reached: &HashSet<LocationId>,
    considered: &HashSet<StatementId>,
    system: &System,
) -> Vec<Unreached> {
    let mut unreached = Vec::new();
    for location in stations(id, system).into_iter().filter(|location| !reached.contains(location)) {
        for statement in statements_at(id, location, system) {
            if !considered.contains(&statement) && !only_leads_on(system.statement(statement)) {
                unreached.push(Unreached { process_type: id, location, statement });
            }
        }
    }
    unreached
}

/// The locations that edges lead to. SPIN has others, such as those of the first statements of alternatives: no edge
/// leads there, and their statements occur elsewhere, too.
fn stations(id: ProcessTypeId, system: &System) -> Vec<LocationId> {
    let process_type = system.process_type(id);
    let all = || (0..process_type.locations.len()).map(|number| LocationId(number as u16));
    let edges = |at: LocationId| system.edges_of(&process_type.locations[at.index()]);
    let mut entered: HashSet<LocationId> = all().flat_map(edges).filter_map(|edge| edge.target).collect();
    entered.insert(process_type.entry);
    let mut places: HashMap<StatementId, u32> = HashMap::new();
    for statement in all().flat_map(|at| statements_at(id, at, system)) {
        *places.entry(statement).or_default() += 1;
    }
    let has_its_own = |at: LocationId| statements_at(id, at, system).any(|statement| places[&statement] == 1);
    all().filter(|&at| entered.contains(&at) || has_its_own(at)).collect()
}

fn statements_at(id: ProcessTypeId, at: LocationId, system: &System) -> impl Iterator<Item = StatementId> {
    let location = &system.process_type(id).locations[at.index()];
    system.edges_of(location).iter().map(|edge| edge.statement)
}

/// The statements of an action that always executes all of them.
fn passed(action: &Action) -> Vec<StatementId> {
    let Action::Deterministic(block) = action else { return Vec::new() };
    let statement = |node: &BlockNode| match node {
        BlockNode::Do { statement, .. } => Some(*statement),
        BlockNode::Choose { .. } | BlockNode::Jump(_) => None,
    };
    block.nodes.iter().map(statement).collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// Whether the statement is only a jump; `pan` does not list those either.
fn only_leads_on(statement: &Statement) -> bool {
    statement.text == "break" || statement.text == "(join)" || statement.text.starts_with("goto ")
}

fn starts(action: &Action, id: ProcessTypeId) -> bool {
    let mut starts = false;
    action.each_run(&mut |run| starts |= run.process_type == id);
    starts
}
