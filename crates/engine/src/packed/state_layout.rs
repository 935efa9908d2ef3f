//! State layouts: how the states of one process vector are packed.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use entail_disk::{Reader, Snapshot, Writer, damaged};
use entail_ir::interpret::{Codes, Layout, ProcessVector, Words};
use entail_ir::{Interpreter, Range, Ranges};
use entail_model::{Part, State, StateBuf, UnusedBits};
use entail_store::{Field, Packing};

use crate::packed::fields::{align, codes, field, parts, straddles, width};
use crate::packed::observed::{self, Observed};

const WORD: usize = 8;
const WORD_BITS: u32 = u64::BITS;
/// Marks a packed state that is transient and not short, in its first word.
const RAW: u64 = 1 << 63;

/// How the states of one process vector are packed.
pub(crate) struct StateLayout {
    number: u32,
    vector: ProcessVector,
    short: Option<Packing>,
    /// The ranges of values with a code; empty for a layout added during the search.
    coded: Vec<Range>,
    /// The short packing, if it takes one word or two.
    codes: Option<Arc<Codes>>,
    long: Packing,
    /// The components of states that are packed short, and long.
    short_parts: Vec<Part>,
    long_parts: Vec<Part>,
    short_len: usize,
    /// The offset of the process with exclusive control, above the codes of a state of one word or two, if there is
    /// room for it.
    exclusive_at: u32,
    /// Observed values of states that were not packed short.
    observed: Mutex<Observed>,
    /// The number of states packed long, in all layouts.
    longs: Arc<AtomicU64>,
}

impl StateLayout {
    pub fn vector(&self) -> &ProcessVector {
        &self.vector
    }

    pub fn processes(&self) -> usize {
        self.vector.types.len()
    }

    /// The words of a state, if they are one or two, and the packing of its successors.
    #[inline]
    pub fn coded(&self, packed: &State) -> Option<(Words, &Codes)> {
        let codes = self.codes.as_ref().filter(|_| packed.len() == self.short_len)?;
        let high = if self.short_len == WORD { 0 } else { last_word(packed) };
        Some(([word(packed), high], codes))
    }

    /// A short state whose last word is at least this is transient.
    #[inline]
    pub fn transient(&self) -> u64 {
        1 << self.exclusive_at
    }

    pub fn pack(&self, state: &State, packed: &mut StateBuf) {
        let start = packed.len();
        if state[0] != 0 {
            match self.codes.as_ref().and_then(|codes| codes.pack(state)) {
                Some(words) => packed.extend_from_slice(&bytes(words)[..self.short_len]),
                None => self.pack_raw(state, packed),
            }
        } else if self.short.as_ref().is_some_and(|short| short.pack(state, packed)) {
            // Almost always it has that length already.
            if packed.len() < start + self.short_len {
                packed.resize(start + self.short_len, 0);
            }
        } else {
            self.pack_long(state, packed);
        }
    }

    fn pack_long(&self, state: &State, packed: &mut StateBuf) {
        let longs = self.longs.fetch_add(1, Ordering::Relaxed);
        if longs < ALL_NOTED || longs.is_multiple_of(SOME_NOTED) {
            let mut observed = self.observed();
            observed.longs += 1;
            observed.note(state);
        }
        let start = packed.len();
        packed.extend_from_slice(&u64::from(self.number).to_le_bytes());
        let fits = self.long.pack(state, packed);
        debug_assert!(fits, "a state outside the ranges of its system: {state:?}");
        let len = (packed.len() - start).max(self.short_len + WORD);
        packed.resize(start + len, 0);
    }

    fn observed(&self) -> MutexGuard<'_, Observed> {
        self.observed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A transient state is not stored, so speed matters more than size.
    fn pack_raw(&self, state: &State, packed: &mut StateBuf) {
        packed.extend_from_slice(&(u64::from(self.number) | RAW).to_le_bytes());
        packed.extend_from_slice(state);
        if WORD + state.len() == self.short_len {
            packed.push(0);
        }
    }

    /// The components of a packed state that is not transient.
    pub fn parts(&self, packed: &State, parts: &mut Vec<Part>) {
        let own = if packed.len() == self.short_len { &self.short_parts } else { &self.long_parts };
        let first = parts.len();
        parts.extend_from_slice(own);
        // All bits behind them are zero.
        if let Some(last) = parts[first..].last_mut() {
            last.end = 8 * packed.len() as u32;
        }
    }

    /// The same for the words of a short state.
    #[inline]
    pub fn unpack_words(&self, words: Words, state: &mut StateBuf) {
        self.unpack(&bytes(words)[..self.short_len], state);
    }

    #[inline]
    pub fn unpack(&self, packed: &State, state: &mut StateBuf) {
        match &self.short {
            Some(short) if packed.len() == self.short_len => {
                short.unpack(packed, state);
                if last_word(packed) >= self.transient()
                    && let Some((words, codes)) = self.coded(packed)
                {
                    codes.unpack_exclusive(words, state);
                }
            }
            Some(_) | None if word(packed) & RAW != 0 => {
                state.clear();
                state.extend_from_slice(&packed[WORD..][..self.vector.len as usize]);
            }
            Some(_) | None => self.long.unpack(&packed[WORD..], state),
        }
    }
}

/// The state layouts of a system.
pub(crate) struct StateLayouts<'s> {
    interpreter: &'s Interpreter<'s>,
    ranges: Ranges,
    /// The layouts known from the beginning.
    first: Vec<StateLayout>,
    first_by_types: HashMap<Vec<u32>, usize>,
    /// The offset of the process vector's number in a short state.
    number_at: u32,
    number_mask: u64,
    short_bits: u32,
    short_len: usize,
    exclusive_at: u32,
    /// Unused bits of a short state, for the state of an automaton.
    spare: u32,
    later: RwLock<Later>,
    longs: Arc<AtomicU64>,
    /// The number of steps at which to check next whether another packing would be better.
    next_look: AtomicU64,
    outgrown: AtomicBool,
}

/// The layouts added during the search.
#[derive(Default)]
struct Later {
    layouts: Vec<Arc<StateLayout>>,
    by_types: HashMap<Vec<u32>, usize>,
}

/// A layout, known from the beginning or added later.
pub(crate) enum LayoutRef<'a> {
    First(&'a StateLayout),
    Later(Arc<StateLayout>),
}

impl Deref for LayoutRef<'_> {
    type Target = StateLayout;

    #[inline]
    fn deref(&self) -> &StateLayout {
        match self {
            LayoutRef::First(layout) => layout,
            LayoutRef::Later(layout) => layout,
        }
    }
}

/// The maximal number of process vectors with a short layout.
const MOST_SHORT: usize = 128;
/// The first states that are packed long are all observed, later ones only periodically.
const ALL_NOTED: u64 = 1 << 14;
const SOME_NOTED: u64 = 16;
/// The number of steps before the first check of the packing.
const FIRST_LOOK: u64 = 1 << 13;

impl<'s> StateLayouts<'s> {
    /// Layouts from a sample of the state space, which may be `complete`. Short states have `spare` unused bits.
    pub fn new(
        interpreter: &'s Interpreter<'s>,
        ranges: Ranges,
        mut observed: Vec<Observed>,
        complete: bool,
        spare: u32,
    ) -> Self {
        observed.sort_by(|one, other| {
            other.states.cmp(&one.states).then_with(|| one.vector.types.cmp(&other.vector.types))
        });
        let draft = Draft::new(observed.iter().take(MOST_SHORT), complete, spare);
        StateLayouts::drafted(interpreter, ranges, observed, draft)
    }

    fn drafted(interpreter: &'s Interpreter<'s>, ranges: Ranges, observed: Vec<Observed>, draft: Draft) -> Self {
        let spare = draft.spare;
        let mut layouts = StateLayouts {
            interpreter,
            ranges,
            first: Vec::new(),
            first_by_types: HashMap::new(),
            number_at: if interpreter.system().uses_last { u8::BITS } else { 0 },
            number_mask: (1 << draft.number_bits) - 1,
            short_bits: 0,
            short_len: draft.short_len,
            exclusive_at: 0,
            spare,
            later: RwLock::default(),
            longs: Arc::default(),
            next_look: AtomicU64::new(FIRST_LOOK),
            outgrown: AtomicBool::new(false),
        };
        let fields: Vec<_> = (0..)
            .zip(observed.iter().zip(&draft.ranges))
            .map(|(number, (observed, ranges))| layouts.fields(number, draft.number_bits, observed, ranges))
            .collect();
        // One bit is reserved for the store, which marks the keys of long states with it.
        let last_word = 8 * layouts.short_len as u32 - WORD_BITS;
        let most_bits = last_word + WORD_BITS - 1 - spare;
        layouts.short_bits =
            fields.iter().map(|fields| width(fields)).filter(|&bits| bits <= most_bits).max().unwrap_or(1);
        layouts.exclusive_at = layouts.short_bits.saturating_sub(last_word);
        for (number, ((observed, fields), ranges)) in observed.into_iter().zip(fields).zip(draft.ranges).enumerate()
        {
            let fits = width(&fields) <= most_bits;
            let short = fits.then(|| Packing::new(&observed.known.template, &fields));
            let short_parts = if fits { parts(&observed.vector, 0, &fields) } else { Vec::new() };
            let coded = fits && layouts.short_len <= 2 * WORD && !straddles(&fields);
            let codes = coded.then(|| {
                let mut codes = codes(&observed.known.template, &fields, layouts.short_len > WORD);
                let exclusive_at = last_word + layouts.exclusive_at;
                codes.push_exclusive(exclusive_at, observed.exclusive, interpreter.layout(), &observed.vector);
                Arc::new(codes)
            });
            layouts.first_by_types.insert(observed.vector.types.clone(), number);
            let layout = layouts.new_layout(number as u32, observed, short, codes);
            layouts.first.push(StateLayout { coded: ranges, short_parts, ..layout });
        }
        layouts
    }

    /// Layouts for all values observed so far.
    pub fn adapted(self) -> Self {
        let StateLayouts { interpreter, ranges, first, later, next_look, spare, .. } = self;
        let later = later.into_inner().unwrap_or_else(PoisonError::into_inner).layouts;
        let later = later.into_iter().filter_map(Arc::into_inner);
        let into_observed =
            |layout: StateLayout| layout.observed.into_inner().unwrap_or_else(PoisonError::into_inner);
        let observed = first.into_iter().chain(later).map(into_observed).filter(|observed| observed.states > 0);
        let mut observed: Vec<_> = observed.collect();
        observed.iter_mut().for_each(|observed| observed.longs = 0);
        StateLayouts { next_look, ..StateLayouts::new(interpreter, ranges, observed, false, spare) }
    }

    /// Saves the layouts and all observations.
    pub fn save(&self, to: &mut Writer) -> io::Result<()> {
        let later = self.later.read().unwrap_or_else(PoisonError::into_inner);
        self.number_mask.count_ones().save(to)?;
        self.spare.save(to)?;
        self.short_len.save(to)?;
        self.first.len().save(to)?;
        for layout in &self.first {
            layout.observed().save(to)?;
            layout.coded.iter().try_for_each(|range| range.save(to))?;
        }
        later.layouts.len().save(to)?;
        later.layouts.iter().try_for_each(|layout| layout.observed().save(to))?;
        self.longs.load(Ordering::Relaxed).save(to)?;
        self.next_look.load(Ordering::Relaxed).save(to)
    }

    /// Restores layouts from a snapshot.
    pub fn restored(self, from: &mut Reader) -> io::Result<Self> {
        let StateLayouts { interpreter, ranges, .. } = self;
        let (number_bits, spare, short_len) = (u32::load(from)?, u32::load(from)?, usize::load(from)?);
        let count = from.count(1, size_of::<StateLayout>())?;
        let is_sound = count <= MOST_SHORT && number_bits <= MOST_SHORT.ilog2() && spare == self.spare;
        if !is_sound || !short_len.is_multiple_of(WORD) || short_len == 0 {
            return Err(damaged("an impossible layout of states"));
        }
        let (mut samples, mut coded) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let observed = Observed::load(interpreter, &ranges, from)?;
            let ranges = observed.known.numbers.iter().map(|_| Range::load(from));
            coded.push(ranges.collect::<io::Result<Vec<Range>>>()?);
            samples.push(observed);
        }
        let layouts = StateLayouts::drafted(
            interpreter,
            ranges,
            samples,
            Draft { ranges: coded, number_bits, spare, short_len },
        );
        for _ in 0..from.count(1, size_of::<StateLayout>())? {
            let observed = Observed::load(interpreter, &layouts.ranges, from)?;
            let mut later = layouts.later.write().unwrap_or_else(PoisonError::into_inner);
            layouts.add_later(&mut later, observed);
        }
        layouts.longs.store(u64::load(from)?, Ordering::Relaxed);
        layouts.next_look.store(u64::load(from)?, Ordering::Relaxed);
        Ok(layouts)
    }

    pub fn are_outgrown(&self) -> bool {
        self.outgrown.load(Ordering::Relaxed)
    }

    /// Whether a search that has taken so many steps should restart with [`StateLayouts::adapted`], because many states
    /// that are packed long would then be packed short.
    pub fn outgrow(&self, steps: u64) -> bool {
        let longs = self.longs.load(Ordering::Relaxed);
        if steps < self.next_look.load(Ordering::Relaxed) || longs < steps / 16 {
            return self.are_outgrown();
        }
        self.next_look.store(2 * steps, Ordering::Relaxed);
        let later = self.later.read().unwrap_or_else(PoisonError::into_inner);
        let layouts = self.first.iter().chain(later.layouts.iter().map(Arc::as_ref));
        let mut observed: Vec<_> =
            layouts.map(StateLayout::observed).filter(|observed| observed.states > 0).collect();
        observed.sort_by_key(|observed| Reverse(observed.states));
        let draft = Draft::new(observed.iter().map(|observed| &**observed).take(MOST_SHORT), false, self.spare);
        let noted: u64 = observed.iter().map(|observed| observed.longs).sum();
        let saved = observed.iter().zip(&draft.ranges).filter(|(_, ranges)| draft.fits(ranges));
        let saved: u64 = saved.map(|(observed, _)| observed.longs).sum();
        // Another word for all states is worth it only if most need it.
        let pays = draft.short_len <= self.short_len || longs > steps / 2;
        let gains = pays && saved > noted / 2;
        self.outgrown.store(gains, Ordering::Relaxed);
        gains
    }

    /// The process vector that is likely the most common one, if its states are packed into one word or two.
    pub fn commonest(&self) -> Option<(&ProcessVector, &Arc<Codes>)> {
        let layout = self.first.first()?;
        Some((&layout.vector, layout.codes.as_ref()?))
    }

    /// The same, if the states have `words` words.
    #[inline]
    pub fn first_coded(&self, words: usize) -> Option<(&StateLayout, &Codes)> {
        let layout = self.first.first().filter(|_| words * WORD == self.short_len)?;
        Some((layout, layout.codes.as_ref()?))
    }

    /// Whether a short state is of the commonest process vector.
    #[inline]
    pub fn is_first(&self, words: Words) -> bool {
        words[0] >> self.number_at & self.number_mask == 0
    }

    pub fn bits(&self) -> u32 {
        self.short_bits
    }

    /// The bits above all those of short states.
    pub fn unused_bits(&self) -> UnusedBits {
        let codes = self.first.iter().filter_map(|layout| layout.codes.as_ref());
        let exclusive = codes.map(|codes| codes.exclusive_bits()).max().unwrap_or(0);
        UnusedBits { len: self.short_len, from: self.exclusive_at + exclusive }
    }

    pub fn processes(&self, state: &State) -> usize {
        usize::from(state[self.layout().process_count])
    }

    pub fn is_transient(&self, packed: &State) -> bool {
        if packed.len() == self.short_len {
            last_word(packed) >> self.exclusive_at != 0
        } else {
            word(packed) & RAW != 0
        }
    }

    /// The layout of a packed state.
    #[inline]
    pub fn of(&self, packed: &State) -> LayoutRef<'_> {
        let first = word(packed);
        if packed.len() == self.short_len {
            return LayoutRef::First(&self.first[(first >> self.number_at & self.number_mask) as usize]);
        }
        let number = (first & !RAW) as usize;
        match self.first.get(number) {
            Some(layout) => LayoutRef::First(layout),
            None => {
                let later = self.later.read().unwrap_or_else(PoisonError::into_inner);
                LayoutRef::Later(Arc::clone(&later.layouts[number - self.first.len()]))
            }
        }
    }

    /// The layout of an unpacked state, which is added if it is new.
    pub fn layout_of(&self, state: &State) -> LayoutRef<'_> {
        let types = self.layout().types_of(state);
        if let Some(&number) = self.first_by_types.get(&types) {
            return LayoutRef::First(&self.first[number]);
        }
        let find = |later: &Later| Some(LayoutRef::Later(Arc::clone(&later.layouts[*later.by_types.get(&types)?])));
        let known = find(&self.later.read().unwrap_or_else(PoisonError::into_inner));
        known.unwrap_or_else(|| {
            let mut later = self.later.write().unwrap_or_else(PoisonError::into_inner);
            // Another thread may have added it.
            find(&later).unwrap_or_else(|| {
                let vector = self.layout().process_vector(self.interpreter.system(), state);
                let observed = Observed::new(self.interpreter, &self.ranges, vector);
                LayoutRef::Later(self.add_later(&mut later, observed))
            })
        })
    }

    fn add_later(&self, later: &mut Later, observed: Observed) -> Arc<StateLayout> {
        let number = later.layouts.len();
        later.by_types.insert(observed.vector.types.clone(), number);
        let layout = Arc::new(self.new_layout((self.first.len() + number) as u32, observed, None, None));
        later.layouts.push(Arc::clone(&layout));
        layout
    }

    fn new_layout(
        &self,
        number: u32,
        observed: Observed,
        short: Option<Packing>,
        codes: Option<Arc<Codes>>,
    ) -> StateLayout {
        let fields: Vec<Field> = observed.known.numbers.iter().map(|number| field(number, number.range)).collect();
        StateLayout {
            number,
            vector: observed.vector.clone(),
            short,
            coded: Vec::new(),
            codes,
            long: Packing::new(&observed.known.template, &fields),
            short_parts: Vec::new(),
            long_parts: parts(&observed.vector, WORD_BITS, &fields),
            short_len: self.short_len,
            exclusive_at: self.exclusive_at,
            observed: Mutex::new(observed),
            longs: Arc::clone(&self.longs),
        }
    }

    /// The fields of short states of a process vector.
    fn fields(&self, number: u32, number_bits: u32, observed: &Observed, ranges: &[Range]) -> Vec<Field> {
        let count_at = self.layout().process_count as u32;
        let (numbers, template) = (&observed.known.numbers, &observed.known.template);
        let mut fields: Vec<Field> =
            numbers.iter().zip(ranges).map(|(known, &range)| field(known, range)).collect();
        // The process vector's number is packed in the field of the number of processes.
        let low = u32::from(template[count_at as usize]).wrapping_sub(number) & 0xff;
        let place = fields.partition_point(|field| field.offset < count_at);
        fields.insert(place, Field { offset: count_at, bytes: 1, low, bits: number_bits as u8 });
        if self.short_len == 2 * WORD {
            align(&mut fields, place + 1);
        }
        fields
    }

    fn layout(&self) -> &'s Layout {
        self.interpreter.layout()
    }
}

/// The design of short states.
struct Draft {
    /// For each process vector and number, the values that get a code.
    ranges: Vec<Vec<Range>>,
    number_bits: u32,
    spare: u32,
    short_len: usize,
}

impl Draft {
    /// The most common process vector comes first: its states determine the length of short states.
    fn new<'l>(observed: impl Iterator<Item = &'l Observed> + Clone, complete: bool, spare: u32) -> Draft {
        let number_bits = usize::BITS - observed.clone().count().saturating_sub(1).leading_zeros();
        let others = number_bits + spare + 1;
        let room = observed.clone().next().map_or(WORD_BITS, |observed| observed.room(others, spare));
        let ranges = observed.map(|observed| observed.coded(others, spare, complete)).collect();
        Draft { ranges, number_bits, spare, short_len: (room / 8) as usize }
    }

    /// Whether states with these ranges fit.
    fn fits(&self, ranges: &[Range]) -> bool {
        ((observed::bits_of(ranges) + self.number_bits + self.spare) as usize) < 8 * self.short_len
    }
}

fn bytes([low, high]: Words) -> [u8; 2 * WORD] {
    (u128::from(high) << WORD_BITS | u128::from(low)).to_le_bytes()
}

fn last_word(packed: &State) -> u64 {
    packed.last_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

fn word(packed: &State) -> u64 {
    packed.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}
