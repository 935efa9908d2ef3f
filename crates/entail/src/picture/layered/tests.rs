use super::*;
use crate::picture::{Stroke, Tone};
use proptest::prelude::*;

fn graph(nodes: usize, edges: &[(usize, usize)], label: &str) -> Part {
    let mut part = Part::default();
    for number in 0..nodes {
        part.node(format!("s{number}"), &format!("{number}\n{label}"), Shape::Box, Tone::Plain);
    }
    for (from, to) in edges {
        part.edge(*from, *to, label, Stroke::Plain);
    }
    part
}

fn overlap(one: &Frame, other: &Frame) -> bool {
    let apart = |one: f64, other: f64, sizes: f64| (one - other).abs() >= sizes / 2.0 - 0.01;
    !apart(one.at.x, other.at.x, one.width + other.width) && !apart(one.at.y, other.at.y, one.height + other.height)
}

fn is_inside(placed: &Placed, point: Point) -> bool {
    (-0.01..=placed.width + 0.01).contains(&point.x) && (-0.01..=placed.height + 0.01).contains(&point.y)
}

/// Whether a point is on the border of a frame.
fn touches(frame: &Frame, point: Point) -> bool {
    let (x, y) = ((point.x - frame.at.x).abs(), (point.y - frame.at.y).abs());
    (y - frame.height / 2.0).abs() < 0.01 && x <= frame.width / 2.0 + 0.01 || (x - frame.width / 2.0).abs() < 0.01
}

proptest! {
    #[test]
    fn whatever_the_graph_nothing_overlaps_and_every_edge_connects(
        nodes in 1usize..25,
        edges in proptest::collection::vec((0usize..25, 0usize..25), 0..60),
        label in "[a-z ]{0,20}",
    ) {
        let edges: Vec<_> = edges.into_iter().map(|(from, to)| (from % nodes, to % nodes)).collect();
        let part = graph(nodes, &edges, &label);
        let placed = lay_out(&part);
        for (index, one) in placed.nodes.iter().enumerate() {
            prop_assert!(is_inside(&placed, one.at));
            for other in &placed.nodes[..index] {
                prop_assert!(!overlap(one, other), "{one:?} {other:?}");
            }
        }
        prop_assert_eq!(placed.routes.len(), edges.len());
        for (route, (from, to)) in placed.routes.iter().zip(&edges) {
            prop_assert!(touches(&placed.nodes[*from], route.points[0]));
            prop_assert!(touches(&placed.nodes[*to], route.points[route.points.len() - 1]));
            prop_assert!(route.points.iter().all(|point| is_inside(&placed, *point)));
        }
        prop_assert_eq!(placed, lay_out(&part));
    }

    #[test]
    fn labels_lie_over_no_node(
        edges in proptest::collection::vec((0usize..12, 0usize..12), 0..30),
    ) {
        let label = "x = x + 1";
        let placed = lay_out(&graph(12, &edges, label));
        for route in &placed.routes {
            let at = Point { x: route.label.x + width(label) / 2.0, y: route.label.y };
            let text = Frame { at, width: width(label), height: 12.0 };
            prop_assert!(placed.nodes.iter().all(|node| !overlap(node, &text)), "{text:?}");
        }
    }
}

#[test]
fn a_chain_is_a_straight_line() {
    let placed = lay_out(&graph(4, &[(0, 1), (1, 2), (2, 3)], "a"));
    assert!(placed.nodes.iter().all(|node| (node.at.x - placed.nodes[0].at.x).abs() < 0.5), "{placed:?}");
    assert!(placed.nodes.is_sorted_by(|one, other| one.at.y < other.at.y));
}

#[test]
fn a_tree_has_no_crossings() {
    let edges: Vec<_> = (1..31).map(|child| ((child - 1) / 2, child)).collect();
    let part = graph(31, &edges, "");
    let mut rows = Rows::of(&part, &ranks(&part));
    rows.untangle();
    assert_eq!(rows.crossings(), 0);
}

#[test]
fn crossings_that_need_not_be_are_undone() {
    let crossings = |nodes, edges: &[(usize, usize)]| {
        let part = graph(nodes, edges, "");
        let mut rows = Rows::of(&part, &ranks(&part));
        rows.untangle();
        rows.crossings()
    };
    assert_eq!(crossings(4, &[(0, 3), (1, 2)]), 0);
    // A cycle through n nodes in each of two rows has n - 1 crossings.
    assert_eq!(crossings(4, &[(0, 2), (0, 3), (1, 2), (1, 3)]), 1);
    assert_eq!(crossings(6, &[(0, 3), (0, 4), (1, 3), (1, 5), (2, 4), (2, 5)]), 2);
}

#[test]
fn nothing_is_laid_out_as_nothing() {
    let placed = lay_out(&Part::default());
    assert_eq!((placed.nodes.len(), placed.routes.len()), (0, 0));
}

#[test]
fn large_graphs_take_little_time() {
    let edges: Vec<_> = (0..3000).map(|edge| (edge, edge * 7 % 3000)).collect();
    assert_eq!(lay_out(&graph(3000, &edges, "")).routes.len(), 3000);
}
