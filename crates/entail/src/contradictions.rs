//! Options of `entail check` that do not go together. None of them is ignored without a word.

use crate::args::{CheckArgs, Reduction, Search, Store};
use entail_temporal::Fairness;

/// Why the options contradict each other, and what to leave out.
pub fn find(args: &CheckArgs) -> Option<String> {
    let CheckArgs { how, what, log, .. } = args;
    for (file, option) in [(&args.trail, "--trail"), (&args.evidence, "--evidence")] {
        if file.is_some() && args.models.len() > 1 {
            return Some(format!("`{option}` names one file, but there are several models"));
        }
    }
    let reduction = match how.reduce {
        Reduction::IfWorthIt | Reduction::None => None,
        Reduction::Stubborn => Some("por"),
        Reduction::Ample => Some("ample"),
    };
    if let Some(reduction) = reduction.filter(|_| how.no_opt) {
        return Some(format!(
            "`--no-opt` explores the model exactly as written, without reduction; leave out `--reduce {reduction}` or `--no-opt`"
        ));
    }
    if how.store == Store::Cache && how.search == Some(Search::BreadthFirst) {
        let reason = "`--store cache` forgets states, and only the path of a depth-first search keeps it from exploring a cycle endlessly";
        return Some(format!("{reason}; leave out `--search`"));
    }
    if let Some((option, stores)) = of_another_store(args) {
        return Some(format!("`{option}` is an option of {stores}, and the store is another one; leave it out"));
    }
    if how.threads > 1 && how.runs == 1 {
        return Some("more than one thread is not available yet, except for several `--runs`".to_owned());
    }
    if how.runs > 1 && how.store.is_lossless() {
        let reason = "`--runs` repeats a search that may lose states, and this one does not";
        return Some(format!("{reason}; add `--store compact` or `--store bitstate`"));
    }
    if how.search() == Search::Nested && what.fair != Fairness::None {
        let reason = "`--search nested` cannot tell fair runs from others";
        return Some(format!("{reason}; leave out `--search`, and runs are searched by components"));
    }
    if how.slice && !what.fair.is_realizable() {
        let reason = "a slice need not keep all steps by which a process moves again and again";
        return Some(format!("{reason}; leave out `--slice`"));
    }
    if how.slice && what.fair == Fairness::Component {
        let reason = "the states of a slice lie in other components than those of the model";
        return Some(format!("{reason}; leave out `--slice`"));
    }
    if !log.log.is_empty() && how.runs > 1 {
        return Some("a log is of one search, but `--runs` asks for several".to_owned());
    }
    if args.every.is_some() && args.checkpoint.is_none() && args.resume.is_none() {
        return Some(
            "`--every` says how often a search is kept; add `--checkpoint FILE`, or leave it out".to_owned(),
        );
    }
    let fixed = args.sweep.as_ref().map(|sweep| &sweep.name);
    let defined = |define: &String| fixed.is_some_and(|name| define.split('=').next() == Some(name));
    if let Some(define) = args.reading.defines.iter().find(|define| defined(define)) {
        return Some(format!("`-D {define}` and `--for` give values to the same name; leave out one of them"));
    }
    None
}

/// An option that the store has no use for, and the stores that have.
fn of_another_store(args: &CheckArgs) -> Option<(&'static str, &'static str)> {
    let (store, cache) = (args.how.store, args.how.cache);
    let is_hashed = matches!(store, Store::Compact | Store::Bitstate);
    let hashed = "`--store compact` and `--store bitstate`";
    let cached = "`--store cache`";
    [
        (args.how.hash_bits.is_some() && !is_hashed, ("--hash-bits", hashed)),
        (args.how.array.is_some() && store != Store::Bitstate, ("--array", "`--store bitstate`")),
        (cache.slots.is_some() && store != Store::Cache, ("--cache-slots", cached)),
        (cache.probes.is_some() && store != Store::Cache, ("--cache-probes", cached)),
        (cache.collisions.is_some() && store != Store::Cache, ("--cache-collisions", cached)),
    ]
    .into_iter()
    .find_map(|(is_useless, option)| is_useless.then_some(option))
}
