//! How the states of one outline are packed, and which outlines there are.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use entail_disk::{Reader, Saved, Writer, damaged};
use entail_ir::interpret::{Codes, Layout, Number, ProcessVector, Words};
use entail_ir::{Interpreter, Range, Ranges};
use entail_model::{Part, Room, State, StateBuf};
use entail_store::{Field, Packing};

use crate::log::{self, Log};

const WORD: usize = 8;
const WORD_BITS: u32 = u64::BITS;
/// In the first word of a packed state that is transient and not short.
const RAW: u64 = 1 << 63;

/// How the states of one outline are packed.
pub(crate) struct Form {
    number: u32,
    outline: ProcessVector,
    short: Option<Packing>,
    /// The values that have a code in it; nothing if it became known later.
    coded: Vec<Range>,
    /// The short packing, if that is one word or two.
    codes: Option<Arc<Codes>>,
    long: Packing,
    /// The parts of states that are packed short, and long.
    short_parts: Vec<Part>,
    long_parts: Vec<Part>,
    short_len: usize,
    /// Above its codes, a state of one word or two has the process that alone may move, if there is room for that.
    exclusive_at: u32,
    /// What was seen of its states, apart from those that were packed short.
    log: Mutex<Log>,
    /// How often a state was packed long, of any form.
    longs: Arc<AtomicU64>,
}

impl Form {
    pub fn outline(&self) -> &ProcessVector {
        &self.outline
    }

    pub fn processes(&self) -> usize {
        self.outline.types.len()
    }

    /// The words of a state, if they are few, and how its successors are packed.
    #[inline]
    pub fn coded(&self, packed: &State) -> Option<(Words, &Codes)> {
        let codes = self.codes.as_ref().filter(|_| packed.len() == self.short_len)?;
        let high = if self.short_len == WORD { 0 } else { last_word(packed) };
        Some(([word(packed), high], codes))
    }

    /// Short states with this last word, or a greater one, are transient.
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
            // Nearly always it has that length already.
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
            let mut log = self.log();
            log.longs += 1;
            log.note(state);
        }
        let start = packed.len();
        packed.extend_from_slice(&u64::from(self.number).to_le_bytes());
        let fits = self.long.pack(state, packed);
        debug_assert!(fits, "a state outside the ranges of its system: {state:?}");
        let len = (packed.len() - start).max(self.short_len + WORD);
        packed.resize(start + len, 0);
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It is only passed through, so that it should be fast rather than small.
    fn pack_raw(&self, state: &State, packed: &mut StateBuf) {
        packed.extend_from_slice(&(u64::from(self.number) | RAW).to_le_bytes());
        packed.extend_from_slice(state);
        if WORD + state.len() == self.short_len {
            packed.push(0);
        }
    }

    /// The parts of a packed state that is not transient.
    pub fn parts(&self, packed: &State, parts: &mut Vec<Part>) {
        let own = if packed.len() == self.short_len { &self.short_parts } else { &self.long_parts };
        let first = parts.len();
        parts.extend_from_slice(own);
        // Behind them there are only zeros.
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
                state.extend_from_slice(&packed[WORD..][..self.outline.len as usize]);
            }
            Some(_) | None => self.long.unpack(&packed[WORD..], state),
        }
    }
}

/// The outlines of a system.
pub(crate) struct Forms<'s> {
    interpreter: &'s Interpreter<'s>,
    ranges: Ranges,
    /// Those that are known from the beginning.
    first: Vec<Form>,
    first_by_types: HashMap<Vec<u32>, usize>,
    /// Where the outline's number is in a short state.
    number_at: u32,
    number_mask: u64,
    short_bits: u32,
    short_len: usize,
    exclusive_at: u32,
    /// For others who want to add something to a short state.
    spare: u32,
    later: RwLock<Later>,
    longs: Arc<AtomicU64>,
    /// When to look next whether states would now be packed better.
    next_look: AtomicU64,
    outgrown: AtomicBool,
}

/// The outlines that became known during the search.
#[derive(Default)]
struct Later {
    forms: Vec<Arc<Form>>,
    by_types: HashMap<Vec<u32>, usize>,
}

/// A form, wherever it is kept.
pub(crate) enum FormRef<'a> {
    First(&'a Form),
    Later(Arc<Form>),
}

impl Deref for FormRef<'_> {
    type Target = Form;

    #[inline]
    fn deref(&self) -> &Form {
        match self {
            FormRef::First(form) => form,
            FormRef::Later(form) => form,
        }
    }
}

/// More outlines than this are not given a short form.
const MOST_SHORT: usize = 128;
/// Of so many states that are packed long all are noted, and later one in so many.
const ALL_NOTED: u64 = 1 << 14;
const SOME_NOTED: u64 = 16;
/// After how many steps it is first asked whether states are packed well.
const FIRST_LOOK: u64 = 1 << 13;

impl<'s> Forms<'s> {
    /// By what was seen of some outlines; `complete` if that is all there is. In short states so many bits are `spare`.
    pub fn new(
        interpreter: &'s Interpreter<'s>,
        ranges: Ranges,
        mut logs: Vec<Log>,
        complete: bool,
        spare: u32,
    ) -> Self {
        logs.sort_by(|one, other| {
            other.states.cmp(&one.states).then_with(|| one.outline.types.cmp(&other.outline.types))
        });
        let draft = Draft::new(logs.iter().take(MOST_SHORT), complete, spare);
        Forms::drafted(interpreter, ranges, logs, draft)
    }

    fn drafted(interpreter: &'s Interpreter<'s>, ranges: Ranges, logs: Vec<Log>, draft: Draft) -> Self {
        let spare = draft.spare;
        let mut forms = Forms {
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
            .zip(logs.iter().zip(&draft.ranges))
            .map(|(number, (log, ranges))| forms.fields(number, draft.number_bits, log, ranges))
            .collect();
        // One bit is left to the store, which marks the keys of long states with it.
        let last_word = 8 * forms.short_len as u32 - WORD_BITS;
        let most_bits = last_word + WORD_BITS - 1 - spare;
        forms.short_bits =
            fields.iter().map(|fields| width(fields)).filter(|&bits| bits <= most_bits).max().unwrap_or(1);
        forms.exclusive_at = forms.short_bits.saturating_sub(last_word);
        for (number, ((log, fields), ranges)) in logs.into_iter().zip(fields).zip(draft.ranges).enumerate() {
            let fits = width(&fields) <= most_bits;
            let short = fits.then(|| Packing::new(&log.known.template, &fields));
            let short_parts = if fits { parts(&log.outline, 0, &fields) } else { Vec::new() };
            let coded = fits && forms.short_len <= 2 * WORD && !straddles(&fields);
            let codes = coded.then(|| {
                let mut codes = codes(&log.known.template, &fields, forms.short_len > WORD);
                let exclusive_at = last_word + forms.exclusive_at;
                codes.push_exclusive(exclusive_at, log.exclusive, interpreter.layout(), &log.outline);
                Arc::new(codes)
            });
            forms.first_by_types.insert(log.outline.types.clone(), number);
            let form = forms.form(number as u32, log, short, codes);
            forms.first.push(Form { coded: ranges, short_parts, ..form });
        }
        forms
    }

    /// Packs states by all that has been seen by now.
    pub fn adapted(self) -> Self {
        let Forms { interpreter, ranges, first, later, next_look, spare, .. } = self;
        let later = later.into_inner().unwrap_or_else(PoisonError::into_inner).forms;
        let later = later.into_iter().filter_map(Arc::into_inner);
        let into_log = |form: Form| form.log.into_inner().unwrap_or_else(PoisonError::into_inner);
        let logs = first.into_iter().chain(later).map(into_log).filter(|log| log.states > 0);
        let mut logs: Vec<_> = logs.collect();
        logs.iter_mut().for_each(|log| log.longs = 0);
        Forms { next_look, ..Forms::new(interpreter, ranges, logs, false, spare) }
    }

    /// Writes down how states are packed, and all that has been seen by now.
    pub fn save(&self, to: &mut Writer) -> io::Result<()> {
        let later = self.later.read().unwrap_or_else(PoisonError::into_inner);
        self.number_mask.count_ones().save(to)?;
        self.spare.save(to)?;
        self.short_len.save(to)?;
        self.first.len().save(to)?;
        for form in &self.first {
            form.log().save(to)?;
            form.coded.iter().try_for_each(|range| log::save_range(*range, to))?;
        }
        later.forms.len().save(to)?;
        later.forms.iter().try_for_each(|form| form.log().save(to))?;
        self.longs.load(Ordering::Relaxed).save(to)?;
        self.next_look.load(Ordering::Relaxed).save(to)
    }

    /// Packs states as others did.
    pub fn restored(self, from: &mut Reader) -> io::Result<Self> {
        let Forms { interpreter, ranges, .. } = self;
        let (number_bits, spare, short_len) = (u32::load(from)?, u32::load(from)?, usize::load(from)?);
        let count = from.count(1, size_of::<Form>())?;
        let is_sound = count <= MOST_SHORT && number_bits <= MOST_SHORT.ilog2() && spare == self.spare;
        if !is_sound || !short_len.is_multiple_of(WORD) || short_len == 0 {
            return Err(damaged("states are packed in a way that there is not"));
        }
        let (mut logs, mut coded) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let log = Log::load(interpreter, &ranges, from)?;
            let ranges = log.known.numbers.iter().map(|_| log::load_range(from));
            coded.push(ranges.collect::<io::Result<Vec<Range>>>()?);
            logs.push(log);
        }
        let forms =
            Forms::drafted(interpreter, ranges, logs, Draft { ranges: coded, number_bits, spare, short_len });
        for _ in 0..from.count(1, size_of::<Form>())? {
            let log = Log::load(interpreter, &forms.ranges, from)?;
            let mut later = forms.later.write().unwrap_or_else(PoisonError::into_inner);
            forms.add_later(&mut later, log);
        }
        forms.longs.store(u64::load(from)?, Ordering::Relaxed);
        forms.next_look.store(u64::load(from)?, Ordering::Relaxed);
        Ok(forms)
    }

    pub fn are_outgrown(&self) -> bool {
        self.outgrown.load(Ordering::Relaxed)
    }

    /// Whether a search that has taken so many steps had better begin again with [`Forms::adapted`]: because many
    /// states are packed long that would then be packed short.
    pub fn outgrow(&self, steps: u64) -> bool {
        let longs = self.longs.load(Ordering::Relaxed);
        if steps < self.next_look.load(Ordering::Relaxed) || longs < steps / 16 {
            return self.are_outgrown();
        }
        self.next_look.store(2 * steps, Ordering::Relaxed);
        let later = self.later.read().unwrap_or_else(PoisonError::into_inner);
        let forms = self.first.iter().chain(later.forms.iter().map(Arc::as_ref));
        let mut logs: Vec<_> = forms.map(Form::log).filter(|log| log.states > 0).collect();
        logs.sort_by_key(|log| Reverse(log.states));
        let draft = Draft::new(logs.iter().map(|log| &**log).take(MOST_SHORT), false, self.spare);
        let noted: u64 = logs.iter().map(|log| log.longs).sum();
        let saved = logs.iter().zip(&draft.ranges).filter(|(_, ranges)| draft.fits(ranges));
        let saved: u64 = saved.map(|(log, _)| log.longs).sum();
        // One word more for all is worth it only if most need it.
        let pays = draft.short_len <= self.short_len || longs > steps / 2;
        let gains = pays && saved > noted / 2;
        self.outgrown.store(gains, Ordering::Relaxed);
        gains
    }

    /// The outline that most states are likely to have, if these are packed into one word or two.
    pub fn commonest(&self) -> Option<(&ProcessVector, &Arc<Codes>)> {
        let form = self.first.first()?;
        Some((&form.outline, form.codes.as_ref()?))
    }

    /// The same, if they are so many.
    #[inline]
    pub fn first_coded(&self, words: usize) -> Option<(&Form, &Codes)> {
        let form = self.first.first().filter(|_| words * WORD == self.short_len)?;
        Some((form, form.codes.as_ref()?))
    }

    /// Whether a short state is of the commonest outline.
    #[inline]
    pub fn is_first(&self, words: Words) -> bool {
        words[0] >> self.number_at & self.number_mask == 0
    }

    pub fn bits(&self) -> u32 {
        self.short_bits
    }

    /// Above all that short states have.
    pub fn room(&self) -> Room {
        let codes = self.first.iter().filter_map(|form| form.codes.as_ref());
        let exclusive = codes.map(|codes| codes.exclusive_bits()).max().unwrap_or(0);
        Room { len: self.short_len, from: self.exclusive_at + exclusive }
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

    /// The form of a packed state.
    #[inline]
    pub fn of(&self, packed: &State) -> FormRef<'_> {
        let first = word(packed);
        if packed.len() == self.short_len {
            return FormRef::First(&self.first[(first >> self.number_at & self.number_mask) as usize]);
        }
        let number = (first & !RAW) as usize;
        match self.first.get(number) {
            Some(form) => FormRef::First(form),
            None => {
                let later = self.later.read().unwrap_or_else(PoisonError::into_inner);
                FormRef::Later(Arc::clone(&later.forms[number - self.first.len()]))
            }
        }
    }

    /// The form of a state of the interpreter, if need be a new one.
    pub fn form_of(&self, state: &State) -> FormRef<'_> {
        let types = self.layout().types_of(state);
        if let Some(&number) = self.first_by_types.get(&types) {
            return FormRef::First(&self.first[number]);
        }
        let find = |later: &Later| Some(FormRef::Later(Arc::clone(&later.forms[*later.by_types.get(&types)?])));
        let known = find(&self.later.read().unwrap_or_else(PoisonError::into_inner));
        known.unwrap_or_else(|| {
            let mut later = self.later.write().unwrap_or_else(PoisonError::into_inner);
            // Somebody else may have been faster.
            find(&later).unwrap_or_else(|| {
                let outline = self.layout().process_vector(self.interpreter.system(), state);
                let log = Log::new(self.interpreter, &self.ranges, outline);
                FormRef::Later(self.add_later(&mut later, log))
            })
        })
    }

    fn add_later(&self, later: &mut Later, log: Log) -> Arc<Form> {
        let number = later.forms.len();
        later.by_types.insert(log.outline.types.clone(), number);
        let form = Arc::new(self.form((self.first.len() + number) as u32, log, None, None));
        later.forms.push(Arc::clone(&form));
        form
    }

    fn form(&self, number: u32, log: Log, short: Option<Packing>, codes: Option<Arc<Codes>>) -> Form {
        let fields: Vec<Field> = log.known.numbers.iter().map(|number| field(number, number.range)).collect();
        Form {
            number,
            outline: log.outline.clone(),
            short,
            coded: Vec::new(),
            codes,
            long: Packing::new(&log.known.template, &fields),
            short_parts: Vec::new(),
            long_parts: parts(&log.outline, WORD_BITS, &fields),
            short_len: self.short_len,
            exclusive_at: self.exclusive_at,
            log: Mutex::new(log),
            longs: Arc::clone(&self.longs),
        }
    }

    /// The fields of short states of an outline.
    fn fields(&self, number: u32, number_bits: u32, log: &Log, ranges: &[Range]) -> Vec<Field> {
        let count_at = self.layout().process_count as u32;
        let (numbers, template) = (&log.known.numbers, &log.known.template);
        let mut fields: Vec<Field> =
            numbers.iter().zip(ranges).map(|(known, &range)| field(known, range)).collect();
        // Where the number of processes stands in a state, the outline's number is packed.
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

/// How short states are to be packed.
struct Draft {
    /// Of each outline and number, the values that are to have a code.
    ranges: Vec<Vec<Range>>,
    number_bits: u32,
    spare: u32,
    short_len: usize,
}

impl Draft {
    /// The commonest outline comes first: short states are as long as that one needs.
    fn new<'l>(logs: impl Iterator<Item = &'l Log> + Clone, complete: bool, spare: u32) -> Draft {
        let number_bits = usize::BITS - logs.clone().count().saturating_sub(1).leading_zeros();
        let others = number_bits + spare + 1;
        let room = logs.clone().next().map_or(WORD_BITS, |log| log.room(others, spare));
        let ranges = logs.map(|log| log.coded(others, spare, complete)).collect();
        Draft { ranges, number_bits, spare, short_len: (room / 8) as usize }
    }

    /// Whether states with these numbers fit.
    fn fits(&self, ranges: &[Range]) -> bool {
        ((log::bits_of(ranges) + self.number_bits + self.spare) as usize) < 8 * self.short_len
    }
}

/// The parts of a state whose fields are packed from some bit on: what comes before the first channel or process, and each
/// of these.
fn parts(outline: &ProcessVector, from: u32, fields: &[Field]) -> Vec<Part> {
    let channels = outline.channel_starts.iter().zip(&outline.channel_types).map(|(at, of)| (*at, 2 * of + 1));
    let processes = outline.starts.iter().zip(&outline.types).map(|(at, of)| (*at, 2 * of + 2));
    let mut begins: Vec<_> = channels.chain(processes).collect();
    // Of those that begin at the same place, all but the last are channels without bytes.
    begins.sort_by_key(|&(at, kind)| (at, kind.is_multiple_of(2)));
    let number = |field: &Field| begins.partition_point(|(at, _)| *at <= field.offset);
    let kind = |number: usize| if number == 0 { 0 } else { begins[number - 1].1 };
    let mut end = from;
    let mut parts = Vec::new();
    for part in fields.chunk_by(|one, next| number(one) == number(next)) {
        let bits = width(part);
        end += bits;
        if bits > 0 {
            parts.push(Part { end, kind: kind(number(&part[0])) });
        }
    }
    parts
}

fn width(fields: &[Field]) -> u32 {
    fields.iter().map(|field| u32::from(field.bits)).sum()
}

/// Where in its word each field begins.
fn places(fields: &[Field]) -> impl Iterator<Item = (u32, &Field)> {
    fields.iter().scan(0, |at, field| {
        let begin = *at % WORD_BITS;
        *at += u32::from(field.bits);
        Some((begin, field))
    })
}

/// Whether a field begins in one word and ends in the next.
fn straddles(fields: &[Field]) -> bool {
    places(fields).any(|(at, field)| at + u32::from(field.bits) > WORD_BITS)
}

/// Widens fields, from the one at `first` on, so that none is in both of two words; if that is possible.
fn align(fields: &mut [Field], first: usize) {
    let across = places(fields).position(|(at, field)| at + u32::from(field.bits) > WORD_BITS);
    let Some(across) = across.filter(|&across| across > first) else { return };
    let fits = |gap: &u32| width(fields) + gap < 2 * WORD_BITS;
    // In a long state, it may be only the second word that one begins in.
    let Some(gap) = WORD_BITS.checked_sub(width(&fields[..across])).filter(fits) else { return };
    let mut left = gap as u8;
    for field in fields[first..across].iter_mut().rev() {
        let more = (8 * field.bytes - field.bits).min(left);
        field.bits += more;
        left -= more;
    }
}

/// As many bits as it takes to tell the values of a range apart.
fn field(number: &Number, Range { low, high }: Range) -> Field {
    let wide = u32::MAX >> (32 - 8 * u32::from(number.bytes));
    let bits = log::bits(low, high).min(8 * u32::from(number.bytes)) as u8;
    Field { offset: number.at, bytes: number.bytes, low: low as u32 & wide, bits }
}

/// The fields of a state, one after the other in one word or two.
fn codes(template: &State, fields: &[Field], wide: bool) -> Codes {
    let mut codes = Codes::new(template, wide);
    fields.iter().for_each(|field| codes.push(field.offset, field.bytes, field.low, field.bits));
    codes
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

#[cfg(test)]
mod tests {
    use super::*;

    fn aligned(bits: &[u8]) -> Vec<u8> {
        let field = |bits: &u8| Field { offset: 0, bytes: 1, low: 0, bits: *bits };
        let mut fields: Vec<_> = bits.iter().map(field).collect();
        align(&mut fields, 1);
        fields.iter().map(|field| field.bits).collect()
    }

    #[test]
    fn fields_are_widened_up_to_the_end_of_the_first_word_and_no_farther() {
        assert_eq!(aligned(&[7; 12]), [7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 7, 7]);
        // The first one that is in two words is in the second and the third.
        let across = [[8; 8].as_slice(), &[7; 12]].concat();
        assert_eq!(aligned(&across), across);
    }

    /// Globals, a channel of type 4, a process of type 1, another one that is always the same, a third one with a
    /// rendezvous in front of its own channel.
    #[test]
    fn states_are_cut_where_processes_and_channels_begin() {
        let outline = ProcessVector {
            types: vec![1, 1, 0],
            starts: vec![6, 9, 12],
            channel_types: vec![4, 3, 4],
            channel_starts: vec![3, 15, 15],
            len: 18,
        };
        let field = |offset, bits| Field { offset, bytes: 1, low: 0, bits };
        let fields = [
            field(1, 2),
            field(2, 3),
            field(3, 1),
            field(5, 8),
            field(7, 4),
            field(10, 0),
            field(13, 5),
            field(15, 2),
            field(17, 1),
        ];
        let part = |end, kind| Part { end, kind };
        let expected = [part(15, 0), part(24, 9), part(28, 4), part(33, 2), part(36, 9)];
        assert_eq!(parts(&outline, 10, &fields), expected);
    }
}
