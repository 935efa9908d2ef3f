//! Dead variable reset.
//!
//! A cell of a process is *live* at a location if on some path from there it is read before it is written. Every edge
//! resets the cells that are live before it, or written by it, and dead after it. So states do not differ in dead
//! variables.

use super::cells::{Cells, Set};
use super::owners::Owners;
use crate::{EdgeId, Init, Location, ProcessType, ProcessTypeId, System};

pub(super) fn forget(system: &mut System) {
    let Some(owners) = Owners::new(system) else { return };
    for of in (0..system.process_types.len() as u16).map(ProcessTypeId) {
        let cells = Cells::of(system, &owners, of);
        if cells.all.is_empty() {
            continue;
        }
        let process = system.process_type(of);
        let alive = alive(system, process, &cells);
        for (id, forgotten) in forgotten(system, process, &cells, &alive) {
            system.edges[id.index()].forgets.extend(forgotten);
        }
        let entry = alive[system.process_type(of).entry.index()].clone();
        begin_blank(system, of, &cells, &entry);
    }
}

/// The live cells of each location.
fn alive(system: &System, process: &ProcessType, cells: &Cells) -> Vec<Set> {
    let mut always = cells.none();
    process.provided.iter().for_each(|condition| cells.look(condition, &mut always));
    let mut alive = vec![always; process.locations.len()];
    loop {
        let mut grown = false;
        for (at, location) in process.locations.iter().enumerate().rev() {
            for edge in system.edges_of(location).iter().filter(|edge| !edge.action.is_never_possible()) {
                let mut set = edge.target.map_or_else(|| cells.none(), |target| alive[target.index()].clone());
                cells.before(&edge.action, &mut set);
                grown |= alive[at].join(&set);
            }
        }
        if !grown {
            return alive;
        }
    }
}

/// The cells that each edge resets.
fn forgotten(
    system: &System,
    process: &ProcessType,
    cells: &Cells,
    alive: &[Set],
) -> Vec<(EdgeId, Vec<crate::Place>)> {
    let mut all = Vec::new();
    for (at, location) in process.locations.iter().enumerate() {
        for id in Location::edges(location) {
            let edge = system.edge(id);
            // A process may start with any values.
            let mut set = if at == process.entry.index() { cells.every() } else { alive[at].clone() };
            cells.change(&edge.action, &mut set);
            let behind = edge.target.map(|target| &alive[target.index()]);
            let numbered = (0..).zip(&cells.all).filter(|(number, cell)| {
                // The locals of a process that ends disappear.
                set.contains(*number) && behind.map_or(cell.is_global, |behind| !behind.contains(*number))
            });
            let places: Vec<_> = numbered.map(|(_, cell)| cell.place()).collect();
            if !places.is_empty() {
                all.push((id, places));
            }
        }
    }
    all
}

/// Cells that are dead at the entry of a process need no initial value.
fn begin_blank(system: &mut System, of: ProcessTypeId, cells: &Cells, entry: &Set) {
    let mut looked_at = cells.none();
    let process = system.process_type(of);
    let frames = system.process_types.iter().map(|process| &process.frame).chain([&system.globals]);
    for init in frames.flat_map(|frame| &frame.init) {
        if let Init::Value(_, value) = init {
            cells.look(value, &mut looked_at);
        }
    }
    let is_idle = |init: &Init, is_global: bool| match init {
        Init::Value(place, value) => {
            let number = (0..).zip(&cells.all).find(|(_, cell)| {
                cell.is_global == is_global && cell.offset == place.offset && place.indices.is_empty()
            });
            value.constant().is_some()
                && number.is_some_and(|(number, cell)| {
                    cell.scalar.blank() == 0 && !entry.contains(number) && !looked_at.contains(number)
                })
        }
        Init::Channel(..) => false,
    };
    let locals: Vec<_> = process.frame.init.iter().filter(|init| !is_idle(init, false)).cloned().collect();
    let globals: Vec<_> = system.globals.init.iter().filter(|init| !is_idle(init, true)).cloned().collect();
    system.process_types[of.index()].frame.init = locals;
    system.globals.init = globals;
}
