//! Dictionaries without reserved room: slow, but they use no more memory than their values need.

use std::collections::BTreeMap;
use std::io;

use crate::dictionary::Dictionary;
use entail_disk::{Reader, Snapshot, Writer};
use entail_model::Full;

#[derive(Debug, Default)]
pub(super) struct Overflow {
    ids: BTreeMap<u64, u32>,
    /// By id, from 1.
    values: Vec<u64>,
}

/// An estimate of the bytes of a value.
const VALUE_BYTES: usize = 32;

impl Snapshot for Overflow {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.values.save(to)
    }

    fn load(from: &mut Reader) -> io::Result<Overflow> {
        let mut overflow = Overflow::default();
        Vec::<u64>::load(from)?.into_iter().for_each(|value| _ = overflow.id(value));
        Ok(overflow)
    }
}

impl Overflow {
    /// The id of a value, which is added if it is new.
    pub fn id(&mut self, value: u64) -> u32 {
        let next = self.next_id();
        *self.ids.entry(value).or_insert_with(|| {
            self.values.push(value);
            next
        })
    }

    pub fn value(&self, id: u32) -> u64 {
        self.values[id as usize - 1]
    }

    /// Greater than every id so far.
    pub fn next_id(&self) -> u32 {
        self.values.len() as u32 + 1
    }

    pub fn bytes(&self) -> u64 {
        (self.values.len() * VALUE_BYTES) as u64
    }

    /// A dictionary with the same ids, within `limit` bytes.
    pub fn settled(&self, limit: u64) -> Result<Dictionary, Full> {
        let mut dictionary = Dictionary::default();
        dictionary.reserve(self.values.len(), limit)?;
        // The dictionary assigns ids in the order of insertion.
        self.values.iter().for_each(|&value| _ = dictionary.id(value));
        Ok(dictionary)
    }
}
