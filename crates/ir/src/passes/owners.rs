//! Globals that only one process accesses, and edges that only concern one process.

use std::collections::HashSet;

use crate::footprint::{FootprintAnalysis, Object, Objects, Part, Span, watched};
use crate::{EdgeId, Expr, Footprints, LocationId, ProcessTypeId, System};

/// The readers and writers of all objects.
pub(super) struct Owners {
    footprints: Footprints,
    /// Per process type: the objects that its processes access.
    touched: Vec<Objects>,
    /// The objects that others than the process itself read: those of properties, and locals that other processes
    /// read.
    watched: Objects,
    observed: ObservedLocations,
    /// Per process type: the rendezvous whose absence its processes depend on.
    missed: Vec<Objects>,
    /// Per process type: at most one process of it exists.
    alone: Vec<bool>,
}

/// The locations that some expression refers to.
pub(crate) struct ObservedLocations {
    all: bool,
    places: HashSet<(ProcessTypeId, LocationId)>,
}

impl Owners {
    /// `None` if the analysis would take too long.
    pub fn new(system: &System) -> Option<Owners> {
        let analysis = FootprintAnalysis::tolerant(system)?;
        let footprints = Footprints::by(&analysis);
        let types = system.process_types.len();
        let (mut touched, mut missed) = (vec![Vec::new(); types], vec![Vec::new(); types]);
        let mut watched = watched(system);
        for (of, id) in edges(system) {
            let footprint = footprints.of(id);
            let looks = footprint.waits.iter().chain(&footprint.reads).copied();
            // A footprint does not contain the locals of its own process.
            let is_missed = |object: &Object| {
                matches!(object, Object::Channels(_, Part::Coming(_) | Part::Going(_)) | Object::Everything)
            };
            missed[of.index()].extend(footprint.reads.iter().copied().filter(is_missed));
            watched.extend(looks.clone().filter(|object| matches!(object, Object::Locals(..))));
            touched[of.index()].extend(looks.chain(footprint.writes.iter().copied()));
        }
        let sets = |lists: Vec<Vec<Object>>| lists.into_iter().map(Objects::from_iter).collect();
        Some(Owners {
            footprints: footprints.without_constants(),
            touched: sets(touched),
            watched: watched.into_iter().collect(),
            observed: ObservedLocations::new(system),
            missed: sets(missed),
            alone: alone(system),
        })
    }

    /// Whether only the process of this type, of which there is one, accesses these bytes of the globals.
    pub fn owns(&self, of: ProcessTypeId, span: Span) -> bool {
        let object = Object::Globals(span);
        let only_it = |(by, touched): (usize, &Objects)| touched.meets(object) == (by == of.index());
        self.alone[of.index()] && self.touched.iter().enumerate().all(only_it) && !self.is_watched(object)
    }

    /// Whether only the process itself reads these bytes of its locals.
    pub fn hides(&self, of: ProcessTypeId, span: Span) -> bool {
        !self.is_watched(Object::Locals(of, span))
    }

    fn is_watched(&self, object: Object) -> bool {
        self.watched.meets(object)
    }

    pub fn is_observed(&self, of: ProcessTypeId, location: LocationId) -> bool {
        self.observed.contains(of, location)
    }

    /// Whether the edge is unobservable for other processes.
    pub fn is_unobservable(&self, of: ProcessTypeId, id: EdgeId) -> bool {
        self.footprints.of(id).writes.iter().all(|object| match *object {
            Object::Globals(span) => self.owns(of, span),
            Object::Locals(by, span) => by == of && self.hides(of, span),
            Object::Location(_) => true,
            Object::Channels(..)
            | Object::Births
            | Object::Deaths
            | Object::Priorities
            | Object::Last
            | Object::Everything => false,
        })
    }

    /// Whether the edge is independent of all other processes and invisible to properties.
    pub fn is_local(&self, of: ProcessTypeId, id: EdgeId) -> bool {
        let footprint = self.footprints.of(id);
        let objects = footprint.waits.iter().chain(&footprint.reads).chain(&footprint.writes);
        objects.into_iter().all(|object| match *object {
            Object::Globals(span) => self.owns(of, span),
            Object::Locals(by, span) => by == of && self.hides(of, span),
            // An expression that refers to a location names it.
            Object::Location(_) => true,
            // Partners that the process meets after the edge could not meet it before; but another process may depend
            // on its absence.
            Object::Channels(_, Part::Coming(_) | Part::Going(_)) => {
                let misses = |(by, missed): (usize, &Objects)| {
                    missed.meets(*object) && !(by == of.index() && self.alone[of.index()])
                };
                !self.missed.iter().enumerate().any(misses)
            }
            Object::Channels(_, Part::Front | Part::Back | Part::More | Part::Less)
            | Object::Births
            | Object::Deaths
            | Object::Priorities
            | Object::Last
            | Object::Everything => false,
        })
    }
}

impl ObservedLocations {
    pub fn contains(&self, of: ProcessTypeId, location: LocationId) -> bool {
        self.all || self.places.contains(&(of, location))
    }

    pub fn new(system: &System) -> ObservedLocations {
        let (mut all, mut asked) = (false, HashSet::new());
        let (mut progress, mut accept) = (false, false);
        system.each_expr(&mut |expr| match expr {
            Expr::At(_, location) => {
                asked.insert(*location);
            }
            Expr::LocationOf(_) | Expr::Enabled(_) => all = true,
            Expr::NonProgress => progress = true,
            Expr::Accepting => accept = true,
            _ => {}
        });
        let mut places = HashSet::new();
        for (of, process) in (0..).map(ProcessTypeId).zip(&system.process_types) {
            for (id, location) in (0..).map(LocationId).zip(&process.locations) {
                if asked.contains(&id) || progress && location.progress || accept && location.accept {
                    places.insert((of, id));
                }
            }
        }
        ObservedLocations { all, places }
    }
}

/// Every edge, with its process type.
pub(super) fn edges(system: &System) -> impl Iterator<Item = (ProcessTypeId, EdgeId)> {
    let types = (0..).map(ProcessTypeId).zip(&system.process_types);
    types.flat_map(|(of, process)| {
        process.locations.iter().flat_map(move |location| location.edges().map(move |id| (of, id)))
    })
}

/// Per process type: whether at most one process of it exists.
pub fn alone(system: &System) -> Vec<bool> {
    let types = system.process_types.len();
    let mut starts = vec![0_usize; types];
    system.start.iter().for_each(|start| starts[start.process_type.index()] += 1);
    // The types that start it, and whether they may do so repeatedly.
    let mut starters = vec![Vec::new(); types];
    for (of, process) in (0..).map(ProcessTypeId).zip(&system.process_types) {
        for (from, location) in (0..).map(LocationId).zip(&process.locations) {
            for edge in system.edges_of(location) {
                edge.action.each_run(&mut |run| {
                    let again = edge.target.is_some_and(|target| system.reachable(of, target).contains(&from));
                    starters[run.process_type.index()].push((of, again || run_in_circles(&edge.action)));
                });
            }
        }
    }
    let mut alone: Vec<bool> = starts.iter().map(|count| *count <= 1).collect();
    loop {
        let next: Vec<bool> = (0..types)
            .map(|of| {
                let once = starters[of].iter().all(|(by, again)| !again && alone[by.index()]);
                alone[of] && starts[of] + starters[of].len() <= 1 && once
            })
            .collect();
        if next == alone {
            return alone;
        }
        alone = next;
    }
}

/// A block may execute a node more than once.
fn run_in_circles(action: &crate::Action) -> bool {
    matches!(action, crate::Action::Deterministic(_))
}
