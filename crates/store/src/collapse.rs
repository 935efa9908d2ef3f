//! Collapse compression: states are split into components, each stored once.
//!
//! After Holzmann: State compression in SPIN, SPIN Workshop 1997. A state becomes a vector of indices of its components:
//!
//! ```text
//! shape:     the length of the state, and where it is split; states with different processes have different shapes
//! tables:    components of the same kind and size by index, such as those of all processes of one type
//! vectors:   │ the shape's index │ the index of each component in its table │ …
//! ```
//!
//! Indices have a variable length, with seven bits in each byte. A visited state is a marked vector.

use std::alloc::{Layout, handle_alloc_error};
use std::collections::BTreeMap;
use std::io;
use std::ops::{DerefMut, Range};

use entail_disk::{Reader, Restore, Snapshot, Writer, snapshot};
use entail_model::{Full, Growth, Guarantee, Key, Keys, Opened, Part, State, StateBuf, Store, Visit};

use crate::byte_interner::{self, ByteInterner, OVERFLOW_BYTES, Place, words_for};
use crate::counter::Counter;
use crate::sync::Mutex;

/// A set of states that stores equal components, such as processes, once. `C` splits a state.
#[derive(Debug)]
pub struct CollapseSet<C> {
    cut: C,
    parts: Mutex<Parts>,
    vectors: ByteInterner,
    visited: Counter,
}

/// All components.
#[derive(Debug, Default)]
struct Parts {
    shapes: Vec<Shape>,
    /// The shape of the last state.
    last: u32,
    shape_of: BTreeMap<Vec<Part>, u32>,
    tables: Vec<Table>,
    /// By kind and number of bits.
    table_of: BTreeMap<(u32, u32), u32>,
    /// The bytes in use, and their limit.
    bytes: u64,
    limit: u64,
    /// The number of states for whose components each table has room.
    room: usize,
    /// Buffers.
    cuts: Vec<Part>,
    piece: Vec<u8>,
    vector: Vec<u8>,
}

/// How a state is split.
#[derive(Debug)]
struct Shape {
    cuts: Vec<Part>,
    /// For each component, the bit before which it ends, and its table.
    parts: Vec<(u32, u32)>,
}

/// Components of the same kind and size.
#[derive(Debug)]
struct Table {
    pieces: ByteInterner,
    /// The number of words of each component. Places are multiples of it.
    stride: u32,
    /// The maximal number of these components in a state.
    times: usize,
}

snapshot!(Shape { cuts, parts });
snapshot!(Table { pieces, stride, times });

snapshot!(Parts { shapes, last, shape_of, tables, table_of, bytes, limit, room, .. cuts, piece, vector });

/// The function that splits states is not part of the snapshot.
impl<C> Restore for CollapseSet<C> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.parts().save(to)?;
        self.vectors.save(to)?;
        self.visited.save(to)
    }

    fn restore(&mut self, from: &mut Reader) -> io::Result<()> {
        self.parts = Mutex::new(Snapshot::load(from)?);
        self.vectors = Snapshot::load(from)?;
        self.visited = Snapshot::load(from)?;
        Ok(())
    }
}

/// The kind of the bits after the last component that the model lists.
const REST: u32 = u32::MAX;
/// An estimate of the bytes of a component in a shape and in its index.
const SHAPE_BYTES: u64 = 48;

impl<C: Fn(&State, &mut Vec<Part>) + Sync> CollapseSet<C> {
    /// `cut` appends the components of a state, as [`Model::parts`](entail_model::Model::parts) does.
    pub fn new(cut: C) -> Self {
        CollapseSet { cut, parts: Mutex::default(), vectors: ByteInterner::default(), visited: Counter::default() }
    }
}

impl<C> CollapseSet<C> {
    fn parts(&self) -> impl DerefMut<Target = Parts> {
        self.parts.lock().expect("no thread panics while it holds the lock")
    }
}

impl<C: Fn(&State, &mut Vec<Part>) + Sync> Keys for CollapseSet<C> {
    type Key = Key;

    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        let parts = self.parts.get_mut().expect("no thread panics while it holds the lock");
        // If a table cannot grow, new components overflow. Most components of a state are already stored.
        let spare = count as u64 * parts.most_bytes();
        parts.reserve(count, limit.saturating_sub(self.vectors.bytes() + spare))?;
        self.vectors.reserve(count, limit.saturating_sub(parts.bytes + spare))?;
        parts.limit = limit.saturating_sub(self.vectors.bytes() + spare);
        Ok(())
    }

    fn key(&self, state: &State, _: &Opened) -> Key {
        let mut parts = self.parts();
        let parts = &mut *parts;
        let mut cuts = std::mem::take(&mut parts.cuts);
        cuts.clear();
        (self.cut)(state, &mut cuts);
        parts.write(state, &mut cuts);
        parts.cuts = cuts;
        Key(self.vectors.intern(&parts.vector).into())
    }

    fn open(&self, Key(place): Key, state: &mut StateBuf, _: &mut Opened) {
        let mut parts = self.parts();
        let mut vector = std::mem::take(&mut parts.vector);
        vector.clear();
        self.vectors.read(place as Place, &mut vector);
        parts.read(&vector, state);
        parts.vector = vector;
    }

    fn prefetch(&self, Key(place): Key) {
        self.vectors.prefetch(place as Place);
    }

    fn len(&self) -> u64 {
        self.visited.sum()
    }

    fn bytes(&self) -> u64 {
        self.vectors.bytes() + self.parts().bytes
    }

    fn growth(&self) -> Option<Growth> {
        Some(self.vectors.growth())
    }
}

impl<C: Fn(&State, &mut Vec<Part>) + Sync> Store for CollapseSet<C> {
    fn insert(&self, Key(place): Key) -> Visit {
        let visit = self.vectors.mark(place as Place);
        if visit == Visit::New {
            self.visited.add_one();
        }
        visit
    }

    fn insert_alone(&mut self, Key(place): Key) -> Visit {
        let visit = self.vectors.mark_alone(place as Place);
        if visit == Visit::New {
            self.visited.add_alone(1);
        }
        visit
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::Exact
    }
}

impl Parts {
    /// Writes the vector of a state with these components.
    fn write(&mut self, state: &State, cuts: &mut Vec<Part>) {
        let end = 8 * state.len() as u32;
        if cuts.last().is_none_or(|last| last.end < end) {
            cuts.push(Part { end, kind: REST });
        }
        debug_assert!(
            cuts.is_sorted_by(|one, next| one.end < next.end) && cuts.last().is_none_or(|last| last.end == end)
        );
        let shape = self.shape(cuts);
        let Parts { shapes, tables, bytes, limit, piece, vector, .. } = self;
        vector.clear();
        push_number(shape, vector);
        let mut begin = 0;
        for &(end, table) in &shapes[shape as usize].parts {
            copy_bits(state, begin..end, piece);
            let table = &mut tables[table as usize];
            push_number(table.number(piece, bytes, *limit), vector);
            begin = end;
        }
    }

    /// Writes the state of a vector.
    fn read(&mut self, mut vector: &[u8], state: &mut StateBuf) {
        let Parts { shapes, tables, piece, .. } = self;
        let shape = &shapes[take_number(&mut vector) as usize];
        state.clear();
        state.resize(shape.len(), 0);
        let mut begin = 0;
        for &(end, table) in &shape.parts {
            tables[table as usize].read(take_number(&mut vector), piece);
            put_bits(piece, begin, state);
            begin = end;
        }
    }

    fn shape(&mut self, cuts: &[Part]) -> u32 {
        // The shape is almost always that of the last state.
        if self.shapes.get(self.last as usize).is_none_or(|shape| shape.cuts != cuts) {
            self.last = self.shape_of.get(cuts).copied().unwrap_or_else(|| self.new_shape(cuts));
        }
        self.last
    }

    fn new_shape(&mut self, cuts: &[Part]) -> u32 {
        let begins = std::iter::once(0).chain(cuts.iter().map(|part| part.end));
        let parts = begins.zip(cuts).map(|(begin, part)| (part.end, self.table(part.kind, part.end - begin)));
        let shape = Shape { cuts: cuts.to_vec(), parts: parts.collect() };
        let mut tables: Vec<_> = shape.parts.iter().map(|(_, table)| *table as usize).collect();
        tables.sort_unstable();
        for same in tables.chunk_by(|one, other| one == other) {
            self.bytes += self.tables[same[0]].admit(same.len(), self.room);
        }
        self.bytes += shape.parts.len() as u64 * SHAPE_BYTES;
        self.shapes.push(shape);
        let number = self.shapes.len() as u32 - 1;
        self.shape_of.insert(cuts.to_vec(), number);
        number
    }

    fn table(&mut self, kind: u32, bits: u32) -> u32 {
        *self.table_of.entry((kind, bits)).or_insert_with(|| {
            let stride = words_for(bits.div_ceil(8) as usize) as u32;
            self.tables.push(Table { pieces: ByteInterner::of_words(stride), stride, times: 0 });
            self.bytes += (2 * size_of::<Table>()) as u64;
            self.tables.len() as u32 - 1
        })
    }

    /// Makes room in the index of each table for the components of `count` more states, within `limit` bytes. The
    /// components themselves are allocated when they occur, because most are already stored.
    fn reserve(&mut self, count: usize, limit: u64) -> Result<(), Full> {
        self.room = count;
        for table in &mut self.tables {
            let others = self.bytes - table.pieces.bytes();
            table.pieces.reserve_index(count.saturating_mul(table.times), limit.saturating_sub(others))?;
            self.bytes = others + table.pieces.bytes();
        }
        if self.bytes > limit { Err(Full) } else { Ok(()) }
    }

    /// The bytes of a state with a component that overflows.
    fn most_bytes(&self) -> u64 {
        (OVERFLOW_BYTES + self.shapes.iter().map(Shape::len).max().unwrap_or(0)) as u64
    }
}

impl Shape {
    /// The length of the state, in bytes.
    fn len(&self) -> usize {
        self.parts.last().map_or(0, |(end, _)| *end as usize / 8)
    }
}

impl Table {
    /// Makes room for states with up to `times` of these components. Returns the number of bytes that takes.
    fn admit(&mut self, times: usize, room: usize) -> u64 {
        if times <= self.times {
            return 0;
        }
        self.times = times;
        let before = self.pieces.bytes();
        if self.pieces.reserve_index(room.saturating_mul(times), u64::MAX).is_err() {
            // This aborts, as a `Vec` does: the request is far smaller than earlier ones.
            handle_alloc_error(Layout::new::<Table>());
        }
        self.pieces.bytes() - before
    }

    /// The index of a component, which is added if it is new.
    fn number(&mut self, piece: &[u8], bytes: &mut u64, limit: u64) -> u32 {
        let known = self.pieces.known(piece);
        let place = known.unwrap_or_else(|| {
            let others = *bytes - self.pieces.bytes();
            // Without room, the component overflows.
            let _ = self.pieces.reserve_words(1, limit.saturating_sub(others));
            let place = self.pieces.intern(piece);
            *bytes = others + self.pieces.bytes();
            place
        });
        byte_interner::number(place, self.stride)
    }

    fn read(&self, number: u32, piece: &mut Vec<u8>) {
        piece.clear();
        self.pieces.read(byte_interner::place(number, self.stride), piece);
    }
}

/// Appends a number, seven bits in each byte; the last byte is less than 128.
fn push_number(mut number: u32, vector: &mut Vec<u8>) {
    while number >= 0x80 {
        vector.push(number as u8 | 0x80);
        number >>= 7;
    }
    vector.push(number as u8);
}

/// Removes the first number and returns it.
fn take_number(vector: &mut &[u8]) -> u32 {
    let mut number = 0;
    for shift in (0..).step_by(7) {
        let Some((&byte, rest)) = vector.split_first() else { break };
        *vector = rest;
        number |= u32::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    number
}

/// Copies a range of bits of a state to the beginning of `piece`.
fn copy_bits(state: &State, bits: Range<u32>, piece: &mut Vec<u8>) {
    let (first, shift) = (bits.start as usize / 8, bits.start % 8);
    let len = (bits.end - bits.start).div_ceil(8) as usize;
    let bytes = state[first..bits.end.div_ceil(8) as usize].iter().chain([&0]);
    piece.clear();
    piece.extend(
        bytes.clone().zip(bytes.skip(1)).map(|(low, high)| (u16::from_le_bytes([*low, *high]) >> shift) as u8),
    );
    piece.truncate(len);
    let above = 8 * len as u32 - (bits.end - bits.start);
    if let Some(last) = piece.last_mut() {
        *last &= 0xff >> above;
    }
}

/// Writes bits into a state, from bit `begin` on. These bits must be zero.
fn put_bits(piece: &[u8], begin: u32, state: &mut State) {
    let (first, shift) = (begin as usize / 8, begin % 8);
    for (at, &byte) in (first..).zip(piece) {
        let [low, high] = (u16::from(byte) << shift).to_le_bytes();
        state[at] |= low;
        if high != 0 {
            state[at + 1] |= high;
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use entail_testkit::rng::Rng;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bits_are_put_back_where_they_were(seed: u64, bytes in 1usize..40) {
            let mut rng = Rng::new(seed);
            let state: Vec<u8> = (0..bytes).map(|_| rng.bits() as u8).collect();
            let (mut copy, mut piece, mut begin) = (vec![0; bytes], Vec::new(), 0);
            while begin < 8 * bytes as u32 {
                let end = (begin + 1 + rng.below(70) as u32).min(8 * bytes as u32);
                copy_bits(&state, begin..end, &mut piece);
                prop_assert_eq!(piece.len(), (end - begin).div_ceil(8) as usize);
                put_bits(&piece, begin, &mut copy);
                begin = end;
            }
            prop_assert_eq!(copy, state);
        }

        #[test]
        fn numbers_are_read_as_they_were_written(numbers: Vec<u32>, shift in 0..32) {
            let numbers: Vec<u32> = numbers.into_iter().map(|number| number >> shift).collect();
            let mut vector = Vec::new();
            numbers.iter().for_each(|number| push_number(*number, &mut vector));
            let mut rest = &vector[..];
            let read: Vec<u32> = numbers.iter().map(|_| take_number(&mut rest)).collect();
            prop_assert_eq!(read, numbers);
            prop_assert!(rest.is_empty());
        }
    }

    /// Globals of 5 bits, and three processes of 13 bits, all of one kind.
    fn cut(_: &State, parts: &mut Vec<Part>) {
        parts.push(Part { end: 5, kind: 0 });
        parts.extend([18, 31, 44].map(|end| Part { end, kind: 1 }));
    }

    fn state(globals: u64, processes: [u64; 3]) -> [u8; 8] {
        let [first, second, third] = processes;
        (globals | first << 5 | second << 18 | third << 31).to_le_bytes()
    }

    #[test]
    fn states_that_differ_in_one_process_share_all_other_parts() {
        let mut store = CollapseSet::new(cut);
        store.reserve(100, u64::MAX).unwrap();
        for place in 0..100 {
            let key = store.key(&state(3, [place, 7, 9]), &Opened::default());
            assert_eq!(store.insert_alone(key), Visit::New);
        }
        let written = |store: &CollapseSet<_>| -> Vec<u64> {
            store.parts().tables.iter().map(|table| table.pieces.written()).collect()
        };
        // One for the globals, a hundred for the processes, one for the bits after them.
        assert_eq!(written(&store), [1, 100, 1]);
        // Processes of the same type share theirs.
        store.reserve(100, u64::MAX).unwrap();
        for place in 0..100 {
            let key = store.key(&state(3, [50, place, 60]), &Opened::default());
            assert_eq!(store.insert(key), Visit::New);
        }
        assert_eq!(written(&store), [1, 100, 1]);
        assert_eq!(store.len(), 200);
        let mut opened = Vec::new();
        let key = store.key(&state(3, [50, 99, 60]), &Opened::default());
        store.open(key, &mut opened, &mut Opened::default());
        assert_eq!(opened, state(3, [50, 99, 60]));
        assert_eq!(store.insert(key), Visit::Seen);
    }
}
