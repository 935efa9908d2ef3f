//! What belongs to one process alone, though it may stand among the globals.

use std::collections::HashSet;

use crate::footprint::{FootprintAnalysis, Object, Objects, Part, Span, watched};
use crate::{EdgeId, Expr, Footprints, LocationId, ProcessTypeId, System};

/// Who looks at what, and who changes it.
pub(super) struct Owners {
    footprints: Footprints,
    /// Per process type: what its processes look at or change.
    touched: Vec<Objects>,
    /// What is looked at by others than its process: what properties look at, and locals that processes do.
    watched: Objects,
    observed: ObservedLocations,
    /// Per process type: meetings to which it matters to its processes that nobody comes.
    missed: Vec<Objects>,
    /// Per process type: there is never more than one of it.
    alone: Vec<bool>,
}

/// The locations about which somebody asks whether a process is there.
pub(crate) struct ObservedLocations {
    all: bool,
    places: HashSet<(ProcessTypeId, LocationId)>,
}

impl Owners {
    /// Unless it would take too long to find out.
    pub fn new(system: &System) -> Option<Owners> {
        let analysis = FootprintAnalysis::tolerant(system)?;
        let footprints = Footprints::by(&analysis);
        let types = system.process_types.len();
        let (mut touched, mut missed) = (vec![Vec::new(); types], vec![Vec::new(); types]);
        let mut watched = watched(system);
        for (of, id) in edges(system) {
            let footprint = footprints.of(id);
            let looks = footprint.waits.iter().chain(&footprint.reads).copied();
            // Its own locals a footprint does not mention.
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

    /// Whether these bytes of the globals matter to the one process of this type, and to nobody else.
    pub fn owns(&self, of: ProcessTypeId, span: Span) -> bool {
        let object = Object::Globals(span);
        let only_it = |(by, touched): (usize, &Objects)| touched.meets(object) == (by == of.index());
        self.alone[of.index()] && self.touched.iter().enumerate().all(only_it) && !self.is_watched(object)
    }

    /// Whether these bytes of its locals matter to nobody but a process of this type itself.
    pub fn hides(&self, of: ProcessTypeId, span: Span) -> bool {
        !self.is_watched(Object::Locals(of, span))
    }

    fn is_watched(&self, object: Object) -> bool {
        self.watched.meets(object)
    }

    pub fn is_observed(&self, of: ProcessTypeId, location: LocationId) -> bool {
        self.observed.contains(of, location)
    }

    /// Whether nothing changes for anybody else when a process of this type does what the edge says.
    pub fn is_unnoticed(&self, of: ProcessTypeId, id: EdgeId) -> bool {
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

    /// Whether it makes no difference to anybody else, nor to what is asked of the system, when a process of this type does
    /// what the edge says.
    pub fn is_private(&self, of: ProcessTypeId, id: EdgeId) -> bool {
        let footprint = self.footprints.of(id);
        let objects = footprint.waits.iter().chain(&footprint.reads).chain(&footprint.writes);
        objects.into_iter().all(|object| match *object {
            Object::Globals(span) => self.owns(of, span),
            Object::Locals(by, span) => by == of && self.hides(of, span),
            // Whoever asks where a process is names the place.
            Object::Location(_) => true,
            // Whom the process waits for behind the edge could not have met it before; unless somebody can do something else
            // because nobody is there yet.
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

/// Every edge, with the type of its processes.
pub(super) fn edges(system: &System) -> impl Iterator<Item = (ProcessTypeId, EdgeId)> {
    let types = (0..).map(ProcessTypeId).zip(&system.process_types);
    types.flat_map(|(of, process)| {
        process.locations.iter().flat_map(move |location| location.edges().map(move |id| (of, id)))
    })
}

/// Per process type: whether there is never more than one process of it.
pub fn alone(system: &System) -> Vec<bool> {
    let types = system.process_types.len();
    let mut starts = vec![0_usize; types];
    system.start.iter().for_each(|start| starts[start.process_type.index()] += 1);
    // Who starts it: the type of the starter, and whether that may do so again.
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

/// A block may go through the same node more than once.
fn run_in_circles(action: &crate::Action) -> bool {
    matches!(action, crate::Action::Deterministic(_))
}
