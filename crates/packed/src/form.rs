//! How the states of one outline are packed, and which outlines there are.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, PoisonError, RwLock};

use entail_ir::interpret::{Codes, Layout, Number, Outline, Variation};
use entail_ir::{Interpreter, Range, Ranges};
use entail_model::{State, StateBuf};
use entail_store::{Field, Packing};

use crate::scout::Seen;

const WORD: usize = 8;
const WORD_BITS: u32 = u64::BITS;
/// In the first word of a packed state that is transient.
const TRANSIENT: u64 = 1 << 63;

/// How the states of one outline are packed.
pub(crate) struct Form {
    number: u32,
    outline: Outline,
    short: Option<Packing>,
    /// The short packing, if that is one word.
    codes: Option<Arc<Codes>>,
    long: Packing,
    short_len: usize,
}

impl Form {
    pub fn outline(&self) -> &Outline {
        &self.outline
    }

    pub fn processes(&self) -> usize {
        self.outline.types.len()
    }

    /// The state as one word, if it is one, and how its successors are packed into one.
    #[inline]
    pub fn coded(&self, packed: &State) -> Option<(u64, &Codes)> {
        let codes = self.codes.as_ref().filter(|_| packed.len() == WORD)?;
        Some((word(packed), codes))
    }

    pub fn pack(&self, state: &State, packed: &mut StateBuf) {
        let start = packed.len();
        if let Some(short) = &self.short
            && state[0] == 0
            && short.pack(state, packed)
        {
            // Nearly always it has that length already.
            if packed.len() < start + self.short_len {
                packed.resize(start + self.short_len, 0);
            }
            return;
        }
        if state[0] == 0 {
            self.pack_long(state, packed);
        } else {
            self.pack_transient(state, packed);
        }
    }

    fn pack_long(&self, state: &State, packed: &mut StateBuf) {
        let start = packed.len();
        packed.extend_from_slice(&u64::from(self.number).to_le_bytes());
        let fits = self.long.pack(state, packed);
        debug_assert!(fits, "a state outside the ranges of its system: {state:?}");
        let len = (packed.len() - start).max(self.short_len + WORD);
        packed.resize(start + len, 0);
    }

    /// It is only passed through, so that it should be fast rather than small.
    fn pack_transient(&self, state: &State, packed: &mut StateBuf) {
        packed.extend_from_slice(&(u64::from(self.number) | TRANSIENT).to_le_bytes());
        packed.extend_from_slice(state);
        if WORD + state.len() == self.short_len {
            packed.push(0);
        }
    }

    #[inline]
    pub fn unpack(&self, packed: &State, state: &mut StateBuf) {
        match &self.short {
            Some(short) if packed.len() == self.short_len => short.unpack(packed, state),
            Some(_) | None if word(packed) & TRANSIENT != 0 => {
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
    later: RwLock<Later>,
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

impl<'s> Forms<'s> {
    /// `seen` has the commonest outline first.
    pub fn new(interpreter: &'s Interpreter<'s>, ranges: Ranges, mut seen: Vec<Seen>) -> Self {
        seen.truncate(MOST_SHORT);
        let number_bits = usize::BITS - seen.len().saturating_sub(1).leading_zeros();
        let mut forms = Forms {
            interpreter,
            ranges,
            first: Vec::new(),
            first_by_types: HashMap::new(),
            number_at: if interpreter.system().uses_last { u8::BITS } else { 0 },
            number_mask: (1 << number_bits) - 1,
            short_bits: 1,
            short_len: WORD,
            later: RwLock::default(),
        };
        let fields: Vec<_> =
            (0..).zip(&seen).map(|(number, seen)| forms.fields(number, number_bits, seen)).collect();
        let widths: Vec<u32> =
            fields.iter().map(|fields| fields.iter().map(|field| u32::from(field.bits)).sum()).collect();
        forms.short_len = widths.first().map_or(1, |bits| (bits + 1).div_ceil(WORD_BITS)) as usize * WORD;
        for ((seen, fields), bits) in seen.into_iter().zip(fields).zip(widths) {
            // One bit is left to the store, which marks the keys of long states with it.
            let fits = (bits as usize) < 8 * forms.short_len;
            let template = forms.variation(&seen.outline).template;
            let short = fits.then(|| Packing::new(&template, &fields));
            let codes = (fits && forms.short_len == WORD).then(|| Arc::new(codes(template.len(), &fields)));
            if fits {
                forms.short_bits = forms.short_bits.max(bits);
            }
            let number = forms.first.len();
            forms.first_by_types.insert(seen.outline.types.clone(), number);
            let form = forms.form(number as u32, seen.outline, short, codes);
            forms.first.push(form);
        }
        forms
    }

    /// The outline that most states are likely to have, if these are packed into one word.
    pub fn commonest(&self) -> Option<(&Outline, &Arc<Codes>)> {
        let form = self.first.first()?;
        Some((&form.outline, form.codes.as_ref()?))
    }

    pub fn bits(&self) -> u32 {
        self.short_bits
    }

    pub fn processes(&self, state: &State) -> usize {
        usize::from(state[self.layout().process_count])
    }

    pub fn is_transient(&self, packed: &State) -> bool {
        packed.len() != self.short_len && word(packed) & TRANSIENT != 0
    }

    /// The form of a packed state.
    #[inline]
    pub fn of(&self, packed: &State) -> FormRef<'_> {
        let first = word(packed);
        if packed.len() == self.short_len {
            return FormRef::First(&self.first[(first >> self.number_at & self.number_mask) as usize]);
        }
        let number = (first & !TRANSIENT) as usize;
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
                let outline = self.layout().outline(self.interpreter.system(), state);
                let number = later.forms.len();
                let form = Arc::new(self.form((self.first.len() + number) as u32, outline, None, None));
                later.forms.push(Arc::clone(&form));
                later.by_types.insert(types.clone(), number);
                FormRef::Later(form)
            })
        })
    }

    fn form(&self, number: u32, outline: Outline, short: Option<Packing>, codes: Option<Arc<Codes>>) -> Form {
        let Variation { numbers, template } = self.variation(&outline);
        let fields: Vec<Field> = numbers.iter().map(|number| field(number, number.range)).collect();
        Form { number, outline, short, codes, long: Packing::new(&template, &fields), short_len: self.short_len }
    }

    /// The fields of short states of an outline.
    fn fields(&self, number: u32, number_bits: u32, seen: &Seen) -> Vec<Field> {
        let count_at = self.layout().process_count as u32;
        let Variation { numbers, template } = self.variation(&seen.outline);
        let mut fields: Vec<Field> = numbers
            .iter()
            .zip(&seen.ranges)
            // What stands before the outline's number must be equally wide everywhere.
            .map(|(known, &range)| field(known, if known.at < count_at { known.range } else { range }))
            .collect();
        // Where the number of processes stands in a state, the outline's number is packed.
        let low = u32::from(template[count_at as usize]).wrapping_sub(number) & 0xff;
        let place = fields.partition_point(|field| field.offset < count_at);
        fields.insert(place, Field { offset: count_at, bytes: 1, low, bits: number_bits as u8 });
        fields
    }

    fn variation(&self, outline: &Outline) -> Variation {
        Variation::new(self.interpreter.system(), self.layout(), &self.ranges, outline)
    }

    fn layout(&self) -> &'s Layout {
        self.interpreter.layout()
    }
}

/// As many bits as it takes to tell the values of a range apart.
fn field(number: &Number, Range { low, high }: Range) -> Field {
    let wide = u32::MAX >> (32 - 8 * u32::from(number.bytes));
    let bits = u32::BITS - (high.wrapping_sub(low) as u32).leading_zeros();
    let bits = bits.min(8 * u32::from(number.bytes)) as u8;
    Field { offset: number.at, bytes: number.bytes, low: low as u32 & wide, bits }
}

/// The fields of a state, one after the other in one word.
fn codes(len: usize, fields: &[Field]) -> Codes {
    let mut codes = Codes::new(len);
    fields.iter().for_each(|field| codes.push(field.offset, field.bytes, field.low, field.bits));
    codes
}

fn word(packed: &State) -> u64 {
    packed.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}
