//! Sets of objects, as intervals.

use super::{Object, Span};
use std::collections::BTreeMap;

/// Longer lists are stored as intervals. In shorter ones, objects stay as they are.
const MANY: usize = 64;

/// Removes duplicates, and joins adjacent objects: an array whose elements are all accessed is one object.
pub(super) fn tidy(objects: &mut Vec<Object>) {
    objects.sort_unstable();
    objects.dedup();
    if objects.len() > MANY {
        let all: Objects = objects.drain(..).collect();
        *objects = all.iter().collect();
        objects.sort_unstable();
    }
}

/// A set of objects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Objects {
    /// By kind: disjoint intervals of elements, in order.
    kinds: BTreeMap<Object, Vec<Span>>,
}

impl FromIterator<Object> for Objects {
    fn from_iter<I: IntoIterator<Item = Object>>(all: I) -> Objects {
        let mut kinds: BTreeMap<Object, Vec<Span>> = BTreeMap::new();
        for object in all {
            let (kind, span) = object.split();
            kinds.entry(kind).or_default().push(span);
        }
        kinds.values_mut().for_each(join);
        Objects { kinds }
    }
}

impl Objects {
    /// Whether one of them overlaps with this one.
    pub fn meets(&self, object: Object) -> bool {
        let (kind, span) = object.split();
        if kind == Object::Everything {
            return !self.kinds.is_empty();
        }
        self.kinds.contains_key(&Object::Everything)
            || self.kinds.get(&kind).is_some_and(|spans| meets(spans, span))
    }

    fn iter(&self) -> impl Iterator<Item = Object> {
        self.kinds.iter().flat_map(|(kind, spans)| spans.iter().map(|span| kind.with(*span)))
    }
}

/// Sorts spans, and joins adjacent ones.
pub(crate) fn join(spans: &mut Vec<Span>) {
    spans.sort_unstable();
    spans.dedup_by(|next, last| {
        let is_beside = next.from <= last.to;
        if is_beside {
            last.to = last.to.max(next.to);
        }
        is_beside
    });
}

/// Whether one of these spans, which are joined, overlaps with another one.
pub(crate) fn meets(spans: &[Span], span: Span) -> bool {
    let at = spans.partition_point(|one| one.to <= span.from);
    spans.get(at).is_some_and(|one| one.meets(span))
}

impl Object {
    /// Its kind, and its elements.
    pub(crate) fn split(self) -> (Object, Span) {
        const ANY: Span = Span { from: 0, to: 0 };
        match self {
            Object::Globals(span) => (Object::Globals(ANY), span),
            Object::Locals(of, span) => (Object::Locals(of, ANY), span),
            Object::Channels(span, part) => (Object::Channels(ANY, part), span),
            Object::Location(_)
            | Object::Births
            | Object::Deaths
            | Object::Priorities
            | Object::Last
            | Object::Everything => (self, Span::one(0)),
        }
    }

    /// These elements of its kind.
    fn with(self, span: Span) -> Object {
        match self {
            Object::Globals(_) => Object::Globals(span),
            Object::Locals(of, _) => Object::Locals(of, span),
            Object::Channels(_, part) => Object::Channels(span, part),
            Object::Location(_)
            | Object::Births
            | Object::Deaths
            | Object::Priorities
            | Object::Last
            | Object::Everything => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_that_is_named_by_its_elements_is_one_object() {
        let element = |at| Object::Globals(Span::one(at));
        let mut elements: Vec<Object> = (0..1000).rev().map(element).chain([Object::Births]).collect();
        tidy(&mut elements);
        assert_eq!(elements, [Object::Globals(Span { from: 0, to: 1000 }), Object::Births]);
        let mut few = vec![element(1), element(0), element(1)];
        tidy(&mut few);
        assert_eq!(few, [element(0), element(1)], "short lists stay unchanged");
    }

    #[test]
    fn a_set_meets_what_one_of_its_objects_meets() {
        let span = |from, to| Object::Globals(Span { from, to });
        let list = [span(2, 4), span(4, 6), span(9, 10), span(3, 5), Object::Deaths];
        let set: Objects = list.into_iter().collect();
        for from in 0..12 {
            for to in from + 1..13 {
                let meets = list.iter().any(|one| one.meets(span(from, to)));
                assert_eq!(set.meets(span(from, to)), meets, "{from}..{to}");
            }
        }
        assert!(set.meets(Object::Deaths) && set.meets(Object::Everything) && !set.meets(Object::Births));
        assert!(!Objects::default().meets(Object::Everything));
    }
}
