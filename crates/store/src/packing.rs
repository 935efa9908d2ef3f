//! Bit packing: states with the minimal number of bits for each field.
//!
//! A field with a code of `bits` bits has the values from `low` on; `low` has code 0. States are packed eight bytes at
//! a time: `low` is subtracted from all fields in them at once, and one instruction then gathers the bits of the codes,
//! on machines that have one (`pext`, and `pdep` for the inverse).

/// A field of a state, and the range of its values that have a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    pub offset: u32,
    /// The length in a state, little-endian: 1, 2 or 4 bytes.
    pub bytes: u8,
    /// The value with code 0. The values wrap around.
    pub low: u32,
    /// The bits of a code; at most eight times `bytes`.
    pub bits: u8,
}

/// Packs states that differ from a template only in some fields.
#[derive(Clone, Debug)]
pub struct Packing {
    /// Padded, so that chunks may be written beyond the end of the state.
    template: Vec<u8>,
    len: usize,
    chunks: Vec<Chunk>,
    bits: u32,
    machine: Machine,
}

/// Eight bytes of a state, and the fields in them.
#[derive(Clone, Copy, Debug, Default)]
struct Chunk {
    offset: usize,
    /// The offset to read at so as not to read beyond the end, and by how many bits it is too early.
    read_at: usize,
    early: u32,
    /// The bits of the codes.
    codes: u64,
    /// The number of these bits.
    count: u32,
    /// The other bits of the fields.
    outside: u64,
    /// The highest bit of each field, and of each byte outside all fields.
    tops: u64,
    /// The value with code 0 of each field; the template's byte outside all fields.
    low: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Machine {
    #[cfg(target_arch = "x86_64")]
    Bmi2,
    Portable,
}

const CHUNK: usize = 8;
/// Templates are copied in pieces of this size.
const PIECE: usize = 32;

impl Packing {
    /// `fields` must be in order and must not overlap.
    pub fn new(template: &[u8], fields: &[Field]) -> Packing {
        let mut chunks = Vec::new();
        let mut rest = fields;
        while let Some(first) = rest.first() {
            let end = first.offset as usize + CHUNK;
            let within = |field: &&Field| field.offset as usize + usize::from(field.bytes) <= end;
            let (these, others) = rest.split_at(rest.iter().take_while(within).count());
            chunks.push(Chunk::new(first.offset as usize, template, these));
            rest = others;
        }
        let bits = fields.iter().map(|field| u32::from(field.bits)).sum();
        let len = template.len();
        // Chunks may reach beyond the end of the state.
        let mut template = template.to_vec();
        template.resize((len + CHUNK).next_multiple_of(PIECE), 0);
        Packing { template, len, chunks, bits, machine: Machine::this() }
    }

    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Appends the packed state in whole words and returns true, or appends nothing and returns false if a value has no
    /// code.
    ///
    /// Bytes outside all fields must equal those of the template.
    #[inline]
    pub fn pack(&self, state: &[u8], packed: &mut Vec<u8>) -> bool {
        match self.machine {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the machine was chosen by the processor's features.
            Machine::Bmi2 => unsafe { self.pack_bmi2(state, packed) },
            Machine::Portable => self.pack_with(state, packed, extract),
        }
    }

    /// Replaces `state` by the unpacked state.
    #[inline]
    pub fn unpack(&self, packed: &[u8], state: &mut Vec<u8>) {
        match self.machine {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the machine was chosen by the processor's features.
            Machine::Bmi2 => unsafe { self.unpack_bmi2(packed, state) },
            Machine::Portable => self.unpack_portable(packed, state),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "bmi2")]
    fn pack_bmi2(&self, state: &[u8], packed: &mut Vec<u8>) -> bool {
        self.pack_with(state, packed, |bits, mask| std::arch::x86_64::_pext_u64(bits, mask))
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "bmi2")]
    fn unpack_bmi2(&self, packed: &[u8], state: &mut Vec<u8>) {
        self.unpack_with(packed, state, |bits, mask| std::arch::x86_64::_pdep_u64(bits, mask));
    }

    #[inline(always)]
    fn pack_with(&self, state: &[u8], packed: &mut Vec<u8>, extract: impl Fn(u64, u64) -> u64) -> bool {
        let start = packed.len();
        let mut small = [0; CHUNK];
        let state = match state.len() {
            CHUNK.. => state,
            len => {
                small[..len].copy_from_slice(state);
                &small
            }
        };
        let (mut word, mut filled, mut outside) = (0, 0, 0);
        for chunk in &self.chunks {
            let bytes = state[chunk.read_at..].first_chunk().expect("a state as long as the template");
            let codes = chunk.codes_of(u64::from_le_bytes(*bytes));
            outside |= codes & chunk.outside;
            let bits = extract(codes, chunk.codes);
            word |= bits << filled;
            filled += chunk.count;
            if filled >= u64::BITS {
                packed.extend_from_slice(&word.to_le_bytes());
                filled -= u64::BITS;
                word = bits.checked_shr(chunk.count - filled).unwrap_or(0);
            }
        }
        if filled > 0 {
            packed.extend_from_slice(&word.to_le_bytes());
        }
        if outside != 0 {
            packed.truncate(start);
        }
        outside == 0
    }

    #[cold]
    fn unpack_portable(&self, packed: &[u8], state: &mut Vec<u8>) {
        self.unpack_with(packed, state, deposit);
    }

    #[inline(always)]
    fn unpack_with(&self, packed: &[u8], state: &mut Vec<u8>, deposit: impl Fn(u64, u64) -> u64) {
        if let (true, Some(word)) = (self.bits <= u64::BITS, packed.first_chunk()) {
            return self.unpack_word(u64::from_le_bytes(*word), state, deposit);
        }
        state.clear();
        state.extend_from_slice(&self.template);
        let mut words =
            packed.chunks_exact(CHUNK).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap_or_default()));
        let (mut word, mut left) = (0, 0);
        for chunk in &self.chunks {
            let mut bits = word;
            if left < chunk.count {
                let next = words.next().unwrap_or(0);
                bits |= next << left;
                let used = chunk.count - left;
                word = next.checked_shr(used).unwrap_or(0);
                left = u64::BITS - used;
            } else {
                word = word.checked_shr(chunk.count).unwrap_or(0);
                left -= chunk.count;
            }
            chunk.write(deposit(bits, chunk.codes), state);
        }
        state.truncate(self.len);
    }

    /// The common case: a small state that is packed into one word.
    #[inline(always)]
    fn unpack_word(&self, word: u64, state: &mut Vec<u8>, deposit: impl Fn(u64, u64) -> u64) {
        state.clear();
        state.reserve(self.template.len());
        let start = state.as_mut_ptr();
        // SAFETY: there is room for the template, which has whole pieces, and every chunk is inside the template.
        unsafe {
            for (i, piece) in self.template.as_chunks::<PIECE>().0.iter().enumerate() {
                start.add(i * PIECE).cast::<[u8; PIECE]>().write(*piece);
            }
            let mut read = 0;
            for chunk in &self.chunks {
                // A shift by 64 can only be of no bits.
                let codes = deposit(word.wrapping_shr(read), chunk.codes);
                read += chunk.count;
                let bytes = add(codes, chunk.low, chunk.tops).to_le_bytes();
                start.add(chunk.offset).cast::<[u8; CHUNK]>().write(bytes);
            }
            state.set_len(self.len);
        }
    }
}

impl Chunk {
    /// The codes of the fields that lie in this chunk, given the bytes at its read offset; `None` if a value has no
    /// code.
    #[inline(always)]
    fn codes_of(&self, bytes: u64) -> u64 {
        subtract(bytes >> self.early, self.low, self.tops)
    }

    /// Writes the fields with these codes. The next chunk overwrites the bytes written behind them.
    #[inline(always)]
    fn write(&self, codes: u64, state: &mut [u8]) {
        let bytes = add(codes, self.low, self.tops).to_le_bytes();
        state[self.offset..self.offset + CHUNK].copy_from_slice(&bytes);
    }

    fn new(offset: usize, template: &[u8], fields: &[Field]) -> Chunk {
        let mut bytes = [0; CHUNK];
        bytes.iter_mut().zip(&template[offset..]).for_each(|(byte, of)| *byte = *of);
        let read_at = offset.min(template.len().saturating_sub(CHUNK));
        let mut chunk = Chunk {
            offset,
            read_at,
            early: 8 * (offset - read_at) as u32,
            tops: 0x8080_8080_8080_8080,
            low: u64::from_le_bytes(bytes),
            ..Chunk::default()
        };
        for field in fields {
            let at = 8 * (field.offset - offset as u32);
            let width = 8 * u32::from(field.bytes);
            let all = ones(width) << at;
            let codes = ones(u32::from(field.bits)) << at;
            chunk.codes |= codes;
            chunk.outside |= all & !codes;
            chunk.count += u32::from(field.bits);
            chunk.tops = chunk.tops & !all | 1 << (at + width - 1);
            chunk.low = chunk.low & !all | u64::from(field.low) << at & all;
        }
        chunk
    }
}

impl Machine {
    fn this() -> Machine {
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("bmi2") {
            return Machine::Bmi2;
        }
        Machine::Portable
    }
}

fn ones(count: u32) -> u64 {
    u64::MAX.checked_shr(u64::BITS - count).unwrap_or(0)
}

/// Subtracts field by field; `tops` has the highest bit of each.
#[inline(always)]
fn subtract(from: u64, what: u64, tops: u64) -> u64 {
    ((from | tops) - (what & !tops)) ^ ((from ^ !what) & tops)
}

/// Adds field by field; `tops` has the highest bit of each.
#[inline(always)]
fn add(one: u64, other: u64, tops: u64) -> u64 {
    ((one & !tops) + (other & !tops)) ^ ((one ^ other) & tops)
}

/// Gathers the bits under `mask`.
fn extract(bits: u64, mut mask: u64) -> u64 {
    let (mut drawn, mut at) = (0, 0);
    while mask != 0 {
        let start = mask.trailing_zeros();
        let run = (mask >> start).trailing_ones();
        drawn |= (bits >> start & ones(run)) << at;
        at += run;
        mask &= !(ones(run) << start);
    }
    drawn
}

/// Scatters the lowest bits to the positions in `mask`.
fn deposit(bits: u64, mut mask: u64) -> u64 {
    let (mut spread, mut at) = (0, 0);
    while mask != 0 {
        let start = mask.trailing_zeros();
        let run = (mask >> start).trailing_ones();
        spread |= (bits >> at & ones(run)) << start;
        at += run;
        mask &= !(ones(run) << start);
    }
    spread
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A template, fields in it, and values of the fields that all have a code.
    fn arrangement() -> impl Strategy<Value = (Vec<u8>, Vec<Field>, Vec<u32>)> {
        let field = (0u32..3, prop::sample::select(vec![1u8, 2, 4]), any::<u32>(), 0u8..=32, any::<u32>());
        (prop::collection::vec(field, 0..40), prop::collection::vec(any::<u8>(), 0..12)).prop_map(
            |(fields, end)| {
                let (mut template, mut placed, mut values) = (Vec::new(), Vec::new(), Vec::new());
                for (gap, bytes, low, bits, code) in fields {
                    template.resize(template.len() + gap as usize, gap as u8);
                    let wide = ones(8 * u32::from(bytes)) as u32;
                    let field =
                        Field { offset: template.len() as u32, bytes, low: low & wide, bits: bits.min(8 * bytes) };
                    template.resize(template.len() + usize::from(bytes), 0xee);
                    values.push(field.low.wrapping_add(code & ones(u32::from(field.bits)) as u32) & wide);
                    placed.push(field);
                }
                template.extend(end);
                (template, placed, values)
            },
        )
    }

    fn with(template: &[u8], fields: &[Field], values: &[u32]) -> Vec<u8> {
        let mut state = template.to_vec();
        for (field, value) in fields.iter().zip(values) {
            let (at, bytes) = (field.offset as usize, usize::from(field.bytes));
            state[at..at + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
        }
        state
    }

    /// A reference implementation, bit by bit.
    fn naive(fields: &[Field], values: &[u32]) -> Vec<u8> {
        let bits: Vec<bool> = fields
            .iter()
            .zip(values)
            .flat_map(|(field, value)| {
                let code = value.wrapping_sub(field.low);
                (0..field.bits).map(move |bit| code >> bit & 1 == 1)
            })
            .collect();
        let mut packed = vec![0; bits.len().div_ceil(64) * 8];
        for (at, bit) in bits.into_iter().enumerate() {
            packed[at / 8] |= u8::from(bit) << (at % 8);
        }
        packed
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 20 } else { 5_000 }))]

        #[test]
        fn codes_stand_one_after_the_other((template, fields, values) in arrangement()) {
            let mut packing = Packing::new(&template, &fields);
            let state = with(&template, &fields, &values);
            for machine in [Machine::this(), Machine::Portable] {
                packing.machine = machine;
                let mut packed = vec![7];
                prop_assert!(packing.pack(&state, &mut packed));
                prop_assert_eq!(&packed[1..], naive(&fields, &values));
                let mut again = vec![1, 2, 3];
                packing.unpack(&packed[1..], &mut again);
                prop_assert_eq!(&again, &state);
            }
        }

        #[test]
        fn a_value_without_a_code_is_refused((template, fields, values) in arrangement(), which: prop::sample::Index, by: u32) {
            prop_assume!(!fields.is_empty());
            let which = which.index(fields.len());
            let field = fields[which];
            let wide = ones(8 * u32::from(field.bytes)) as u32;
            let mut values = values;
            values[which] = by & wide;
            let has_code = u64::from(values[which].wrapping_sub(field.low) & wide) >> field.bits == 0;
            let state = with(&template, &fields, &values);
            let mut packing = Packing::new(&template, &fields);
            for machine in [Machine::this(), Machine::Portable] {
                packing.machine = machine;
                let mut packed = vec![7];
                prop_assert_eq!(packing.pack(&state, &mut packed), has_code);
                prop_assert_eq!(packed.len() > 1, has_code && packing.bits() > 0);
            }
        }
    }
}
