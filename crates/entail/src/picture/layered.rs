//! Layered graph layout, from top to bottom, with few crossings and short edges.
//!
//! After Sugiyama, Tagawa, Toda: Methods for visual understanding of hierarchical system structures, 1981. Every second
//! row holds labels, so that labels do not overlap.

use super::{Edge, Part, Shape};

/// The layout of a part.
#[derive(Debug, PartialEq)]
pub struct Placed {
    pub width: f64,
    pub height: f64,
    pub nodes: Vec<Frame>,
    pub routes: Vec<Route>,
}

/// A rectangle around a centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    pub at: Point,
    pub width: f64,
    pub height: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

/// The route of an edge.
#[derive(Debug, PartialEq)]
pub struct Route {
    /// The points of the route, from row to row. A loop leaves the side of its node at the first point and returns at the
    /// second.
    pub points: Vec<Point>,
    pub is_loop: bool,
    /// The left end of the label, vertically centred.
    pub label: Point,
}

pub const LETTER: f64 = 7.25;
pub const LINE: f64 = 15.0;
/// The width of a loop.
pub const LOOP: f64 = 26.0;
const BETWEEN: f64 = 18.0;
const BETWEEN_ROWS: f64 = 20.0;
/// The radius of rounded corners, where no edge ends.
pub const CORNER: f64 = 7.0;
/// The maximum total number of rows that edges pass; beyond that, edges are straight lines.
const MOST_PASSED: usize = 40_000;
const SWEEPS: usize = 16;

pub fn lay_out(part: &Part) -> Placed {
    let ranks = ranks(part);
    let mut rows = Rows::of(part, &ranks);
    rows.untangle();
    rows.settle();
    rows.placed(part)
}

/// The width of a text in a monospaced font.
pub fn width(text: &str) -> f64 {
    let letters: usize = text
        .chars()
        .map(|letter| if letter < '\u{1100}' || ('\u{2000}'..'\u{2e80}').contains(&letter) { 1 } else { 2 })
        .sum();
    letters as f64 * LETTER
}

fn size(part: &Part, node: usize) -> (f64, f64) {
    let node = &part.nodes[node];
    let text = node.lines.iter().map(|line| width(line)).fold(0.0, f64::max);
    let height = node.lines.len() as f64 * LINE;
    match node.shape {
        Shape::Point => (8.0, 8.0),
        Shape::Box | Shape::Double | Shape::Dashed => (f64::max(text + 16.0, 30.0), f64::max(height + 10.0, 26.0)),
        Shape::Round | Shape::DoubleRound => {
            let across = f64::max(text + 16.0, 30.0);
            (across, f64::max(height + 12.0, 30.0))
        }
    }
}

/// The rank of each node: below its predecessors, except for back edges of cycles. If that makes edges long, as in graphs
/// with many cycles, nodes near the first node are ranked near the top.
fn ranks(part: &Part) -> Vec<usize> {
    let by_path = ranks_in(part, &order(part));
    let by_distance = ranks_in(part, &nearest_first(part));
    if length(part, &by_path) > 2 * length(part, &by_distance) { by_distance } else { by_path }
}

/// The total length of edges in ranks.
fn length(part: &Part, ranks: &[usize]) -> usize {
    part.edges.iter().map(|edge| ranks[edge.from].abs_diff(ranks[edge.to])).sum()
}

/// The ranks if edges lead down from earlier to later nodes of the order.
fn ranks_in(part: &Part, order: &[usize]) -> Vec<usize> {
    let mut place = vec![0; order.len()];
    order.iter().enumerate().for_each(|(index, &node)| place[node] = index);
    let mut ranks = vec![0; order.len()];
    let mut neighbours = vec![(Vec::new(), Vec::new()); order.len()];
    for Edge { from, to, .. } in part.edges.iter().filter(|edge| edge.from != edge.to) {
        let (upper, lower) = if place[*from] < place[*to] { (*from, *to) } else { (*to, *from) };
        neighbours[upper].1.push(lower);
        neighbours[lower].0.push(upper);
    }
    for &node in order {
        ranks[node] = neighbours[node].0.iter().map(|&upper| ranks[upper] + 1).max().unwrap_or(0);
    }
    // Nodes without predecessors move down to just above their successors.
    for (node, (above, below)) in neighbours.iter().enumerate() {
        if let (true, Some(nearest)) = (above.is_empty(), below.iter().map(|&lower| ranks[lower]).min()) {
            ranks[node] = nearest - 1;
        }
    }
    ranks
}

/// Nodes in breadth-first order; each search begins with the first unvisited node.
fn nearest_first(part: &Part) -> Vec<usize> {
    let leaving = leaving(part);
    let mut met = vec![false; part.nodes.len()];
    let mut order = Vec::new();
    for root in roots(part) {
        let mut next = order.len();
        order.extend((!std::mem::replace(&mut met[root], true)).then_some(root));
        while let Some(&node) = order.get(next) {
            next += 1;
            order.extend(leaving[node].iter().filter(|&&to| !std::mem::replace(&mut met[to], true)));
        }
    }
    order
}

/// The roots: nodes without predecessors first, then all others.
fn roots(part: &Part) -> impl Iterator<Item = usize> + use<> {
    let mut entered = vec![false; part.nodes.len()];
    part.edges.iter().filter(|edge| edge.from != edge.to).for_each(|edge| entered[edge.to] = true);
    let first: Vec<usize> = (0..entered.len()).filter(|&node| !entered[node]).collect();
    first.into_iter().chain(0..entered.len())
}

/// For each node, its self-loops.
fn loops(part: &Part) -> Vec<Vec<usize>> {
    let mut loops = vec![Vec::new(); part.nodes.len()];
    let all = part.edges.iter().enumerate().filter(|(_, edge)| edge.from == edge.to);
    all.for_each(|(number, edge)| loops[edge.from].push(number));
    loops
}

/// For each node, its successors.
fn leaving(part: &Part) -> Vec<Vec<usize>> {
    let mut leaving = vec![Vec::new(); part.nodes.len()];
    part.edges.iter().for_each(|edge| leaving[edge.from].push(edge.to));
    leaving
}

/// A topological order, except for back edges of cycles: the reverse postorder of a depth-first search.
fn order(part: &Part) -> Vec<usize> {
    let mut leaving = leaving(part);
    let mut met = vec![false; part.nodes.len()];
    let mut left = Vec::new();
    for root in roots(part) {
        let mut path = if std::mem::replace(&mut met[root], true) { vec![] } else { vec![root] };
        while let Some(&node) = path.last() {
            // In reverse, so that the first one ends up on the left.
            match leaving[node].pop() {
                Some(next) if !std::mem::replace(&mut met[next], true) => path.push(next),
                Some(_) => {}
                None => left.extend(path.pop()),
            }
        }
    }
    left.reverse();
    left
}

/// Nodes, and dummy nodes for edges and labels, row by row.
struct Rows {
    items: Vec<Item>,
    /// The items of each row, from left to right.
    rows: Vec<Vec<usize>>,
    /// For each edge, its dummy nodes from top to bottom.
    chains: Vec<Vec<usize>>,
    /// For each edge, whether it leads up and is not a loop.
    rises: Vec<bool>,
}

#[derive(Clone, Default)]
struct Item {
    x: f64,
    /// The extent to the left of the centre.
    left: f64,
    right: f64,
    height: f64,
    row: usize,
    /// The index in its row.
    place: usize,
    above: Vec<usize>,
    below: Vec<usize>,
    /// The weight for keeping its position: edges should be straight.
    weight: f64,
}

impl Rows {
    fn of(part: &Part, ranks: &[usize]) -> Rows {
        let mut rows = Rows { items: Vec::new(), rows: Vec::new(), chains: Vec::new(), rises: Vec::new() };
        for ((node, rank), loops) in ranks.iter().enumerate().zip(loops(part)) {
            let (width, height) = size(part, node);
            let labels = || loops.iter().map(|&edge| part.edges[edge].label.as_str());
            let right = width / 2.0 + labels().map(|label| LOOP + text_width(label)).fold(0.0, f64::max);
            // Loops are side by side.
            let height = f64::max(height, labels().map(slot).sum());
            rows.items.push(Item {
                left: width / 2.0,
                right,
                height,
                row: 2 * rank,
                weight: 1.0,
                ..Item::default()
            });
        }
        let passed: usize = part.edges.iter().map(|edge| ranks[edge.from].abs_diff(ranks[edge.to])).sum();
        for edge in &part.edges {
            let rises = ranks[edge.from] > ranks[edge.to];
            let (upper, lower) = if rises { (edge.to, edge.from) } else { (edge.from, edge.to) };
            let chain =
                if upper == lower { Vec::new() } else { rows.chain(edge, upper, lower, passed > MOST_PASSED) };
            rows.chains.push(chain);
            rows.rises.push(rises);
        }
        rows.rows = vec![Vec::new(); rows.items.iter().map(|item| item.row + 1).max().unwrap_or(0)];
        rows.fill(part);
        rows
    }

    /// The dummy nodes of an edge.
    fn chain(&mut self, edge: &Edge, upper: usize, lower: usize, is_direct: bool) -> Vec<usize> {
        let (first, last) = (self.items[upper].row + 1, self.items[lower].row - 1);
        let last = if is_direct { first } else { last };
        let labelled = first + (last - first) / 4 * 2;
        let mut chain = Vec::new();
        let mut before = upper;
        for row in first..=last {
            let mut item = Item { row, left: 2.0, right: 2.0, weight: 8.0, above: vec![before], ..Item::default() };
            if row == labelled && !edge.label.is_empty() {
                (item.right, item.height) = (text_width(&edge.label), text_height(&edge.label));
            }
            let number = self.items.len();
            self.items.push(item);
            self.items[before].below.push(number);
            chain.push(number);
            before = number;
        }
        if self.items[lower].row == last + 1 {
            self.items[before].below.push(lower);
            self.items[lower].above.push(before);
        }
        chain
    }

    /// Assigns items to rows, with trees from left to right.
    fn fill(&mut self, part: &Part) {
        let mut chains: Vec<Vec<usize>> = vec![Vec::new(); part.nodes.len()];
        for (number, edge) in part.edges.iter().enumerate() {
            chains[if self.rises[number] { edge.to } else { edge.from }].push(number);
        }
        for node in order(part) {
            self.rows[self.items[node].row].push(node);
            for &item in chains[node].iter().flat_map(|&chain| &self.chains[chain]) {
                self.rows[self.items[item].row].push(item);
            }
        }
        (0..self.rows.len()).for_each(|row| self.number(row));
    }

    fn number(&mut self, row: usize) {
        self.rows[row].iter().enumerate().for_each(|(place, &item)| self.items[item].place = place);
    }

    /// Orders the items of each row to reduce crossings: each item moves towards the median of its neighbours.
    fn untangle(&mut self) {
        let mut best = (self.crossings(), self.rows.clone());
        for sweep in 0..SWEEPS {
            let down = sweep % 2 == 0;
            for index in 0..self.rows.len() {
                let row = if down { index } else { self.rows.len() - 1 - index };
                let middle = |item: &usize| {
                    let item = &self.items[*item];
                    let others = if down { &item.above } else { &item.below };
                    mean(others.iter().map(|&other| self.items[other].place as f64)).unwrap_or(item.place as f64)
                };
                let mut keyed: Vec<(f64, usize)> =
                    self.rows[row].iter().map(|item| (middle(item), *item)).collect();
                keyed.sort_by(|one, other| one.0.total_cmp(&other.0));
                self.rows[row] = keyed.into_iter().map(|(_, item)| item).collect();
                self.number(row);
            }
            let crossings = self.crossings();
            if crossings < best.0 {
                best = (crossings, self.rows.clone());
            }
        }
        self.rows = best.1;
        (0..self.rows.len()).for_each(|row| self.number(row));
    }

    /// The number of crossings.
    fn crossings(&self) -> u64 {
        let mut crossings = 0;
        for (row, next) in self.rows.iter().zip(self.rows.iter().skip(1)) {
            // A Fenwick tree that counts the edges that end before a position.
            let mut ends = vec![0u64; next.len() + 1];
            let mut before = 0;
            for &item in row {
                let mut places: Vec<usize> =
                    self.items[item].below.iter().map(|&low| self.items[low].place).collect();
                places.sort_unstable();
                for &place in &places {
                    let mut at = place + 1;
                    let mut up_to = 0;
                    while at > 0 {
                        up_to += ends[at];
                        at &= at - 1;
                    }
                    crossings += before - up_to;
                }
                for place in places {
                    let mut at = place + 1;
                    while at < ends.len() {
                        ends[at] += 1;
                        at += at & at.wrapping_neg();
                    }
                    before += 1;
                }
            }
        }
        crossings
    }

    /// Moves items so that edges are short and straight, without overlaps.
    fn settle(&mut self) {
        for row in 0..self.rows.len() {
            self.settle_row(row, |_| Vec::new());
        }
        for sweep in 0..SWEEPS {
            for index in 0..self.rows.len() {
                match sweep % 4 {
                    0 => self.settle_row(index, |item| item.above.clone()),
                    2 => self.settle_row(self.rows.len() - 1 - index, |item| item.below.clone()),
                    1 => self.settle_row(index, |item| [&item.above[..], &item.below].concat()),
                    _ => {
                        self.settle_row(self.rows.len() - 1 - index, |item| [&item.above[..], &item.below].concat())
                    }
                }
            }
        }
        let least = self.items.iter().map(|item| item.x - item.left).fold(f64::INFINITY, f64::min);
        self.items.iter_mut().for_each(|item| item.x -= least);
    }

    fn settle_row(&mut self, row: usize, others: impl Fn(&Item) -> Vec<usize>) {
        let mut wanted = Vec::new();
        let mut offset = 0.0;
        let mut before: Option<&Item> = None;
        for item in self.rows[row].iter().map(|&item| &self.items[item]) {
            offset += before.map_or(0.0, |before| before.right + BETWEEN + item.left);
            before = Some(item);
            let at = mean(others(item).iter().map(|&other| self.items[other].x)).unwrap_or(item.x);
            wanted.push((at, item.weight, offset));
        }
        for (&item, x) in self.rows[row].iter().zip(spread(&wanted)) {
            self.items[item].x = x;
        }
    }

    fn placed(&self, part: &Part) -> Placed {
        let mut tops = vec![0.0];
        for row in &self.rows {
            let height = row.iter().map(|&item| self.items[item].height).fold(0.0, f64::max);
            tops.push(tops[tops.len() - 1] + height + BETWEEN_ROWS);
        }
        let middle = |row: usize| (tops[row] + tops[row + 1] - BETWEEN_ROWS) / 2.0;
        let point = |item: usize| Point { x: self.items[item].x, y: middle(self.items[item].row) };
        let frame = |node| {
            let (width, _) = size(part, node);
            Frame { at: point(node), width, height: self.items[node].height }
        };
        let nodes: Vec<Frame> = (0..part.nodes.len()).map(frame).collect();
        let loops = loops(part);
        let ports = Ports::new(part, self);
        let route = |(number, edge): (usize, &Edge)| {
            if edge.from == edge.to {
                let Frame { at, width, .. } = nodes[edge.from];
                let slots = loops[edge.from].iter().map(|&other| (other, slot(&part.edges[other].label)));
                let above: f64 = slots.clone().take_while(|(other, _)| *other < number).map(|(_, slot)| slot).sum();
                let all: f64 = slots.map(|(_, slot)| slot).sum();
                let y = at.y - all / 2.0 + above + slot(&edge.label) / 2.0;
                let x = at.x + width / 2.0;
                let points = vec![Point { x, y: y - 4.0 }, Point { x, y: y + 4.0 }];
                return Route { points, is_loop: true, label: Point { x: x + LOOP - 4.0, y } };
            }
            let chain = &self.chains[number];
            let (upper, lower) = if self.rises[number] { (edge.to, edge.from) } else { (edge.from, edge.to) };
            let (start, end) = ports.of(number, nodes[upper], nodes[lower]);
            // Straight between nodes.
            let passed = chain.iter().flat_map(|&item| {
                let Item { x, row, .. } = self.items[item];
                let ends = if row % 2 == 0 { [tops[row], tops[row + 1] - BETWEEN_ROWS] } else { [middle(row); 2] };
                ends.map(|y| Point { x, y })
            });
            let mut points: Vec<Point> = [start].into_iter().chain(passed).chain([end]).collect();
            points.dedup();
            let label =
                chain.iter().find(|&&item| self.items[item].height > 0.0).map_or(points[1], |&item| point(item));
            if self.rises[number] {
                points.reverse();
            }
            Route { points, is_loop: false, label: Point { x: label.x + 5.0, ..label } }
        };
        let routes = part.edges.iter().enumerate().map(route).collect();
        let width = self.items.iter().map(|item| item.x + item.right).fold(0.0, f64::max);
        Placed { width, height: tops[tops.len() - 1], nodes, routes }
    }
}

/// The ports of edges at their nodes: side by side, in the order of their other ends.
struct Ports {
    /// For each edge, its index among those at its upper end, and their number; likewise for its lower end.
    upper: Vec<(usize, usize)>,
    lower: Vec<(usize, usize)>,
}

impl Ports {
    fn new(part: &Part, rows: &Rows) -> Ports {
        let mut ends: Vec<[Vec<(f64, usize)>; 2]> = vec![Default::default(); part.nodes.len()];
        for (number, edge) in part.edges.iter().enumerate().filter(|(_, edge)| edge.from != edge.to) {
            let (upper, lower) = if rows.rises[number] { (edge.to, edge.from) } else { (edge.from, edge.to) };
            let x = |item: Option<&usize>| item.map_or(0.0, |&item| rows.items[item].x);
            ends[upper][0].push((x(rows.chains[number].first()), number));
            ends[lower][1].push((x(rows.chains[number].last()), number));
        }
        let mut ports = Ports { upper: vec![(0, 1); part.edges.len()], lower: vec![(0, 1); part.edges.len()] };
        for [below, above] in &mut ends {
            for (side, ports) in [(below, &mut ports.upper), (above, &mut ports.lower)] {
                side.sort_by(|one, other| one.0.total_cmp(&other.0));
                side.iter().enumerate().for_each(|(place, (_, edge))| ports[*edge] = (place, side.len()));
            }
        }
        ports
    }

    fn of(&self, edge: usize, upper: Frame, lower: Frame) -> (Point, Point) {
        let x = |frame: Frame, (place, all): (usize, usize)| {
            let room = f64::max(frame.width - 2.0 * CORNER, 0.0);
            let step = f64::min(room / all as f64, 14.0);
            frame.at.x + (place as f64 - (all - 1) as f64 / 2.0) * step
        };
        let start = Point { x: x(upper, self.upper[edge]), y: upper.at.y + upper.height / 2.0 };
        let end = Point { x: x(lower, self.lower[edge]), y: lower.at.y - lower.height / 2.0 };
        (start, end)
    }
}

fn text_width(label: &str) -> f64 {
    8.0 + label.lines().map(width).fold(0.0, f64::max)
}

/// The height of a loop at a node's side.
fn slot(label: &str) -> f64 {
    f64::max(LINE, text_height(label))
}

fn text_height(label: &str) -> f64 {
    label.lines().count() as f64 * LINE
}

fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = numbers.fold((0.0, 0.0), |(sum, count), number| (sum + number, count + 1.0));
    (count > 0.0).then(|| sum / count)
}

/// The positions nearest to the wanted ones (each with a weight) that keep the minimum distances (the offsets): isotonic
/// regression by pooling adjacent violators.
fn spread(wanted: &[(f64, f64, f64)]) -> Vec<f64> {
    // For each pool: the sum of weighted positions, the sum of weights, and the number of items.
    let mut pools: Vec<(f64, f64, usize)> = Vec::new();
    for (at, weight, offset) in wanted {
        let mut pool = ((at - offset) * weight, *weight, 1);
        while let Some(before) = pools.pop_if(|before| before.0 / before.1 > pool.0 / pool.1) {
            pool = (before.0 + pool.0, before.1 + pool.1, before.2 + pool.2);
        }
        pools.push(pool);
    }
    let means = pools.iter().flat_map(|&(sum, weight, count)| std::iter::repeat_n(sum / weight, count));
    means.zip(wanted).map(|(mean, (.., offset))| mean + offset).collect()
}

#[cfg(test)]
mod tests;
