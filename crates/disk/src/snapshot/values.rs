//! Snapshots of numbers, texts and collections.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, Hash};
use std::io;
use std::time::Duration;

use super::{Reader, Snapshot, Writer, damaged};

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Snapshot for $number {
            #[inline]
            fn save(&self, to: &mut Writer) -> io::Result<()> {
                to.put(&self.to_le_bytes())
            }

            #[inline]
            fn load(from: &mut Reader) -> io::Result<Self> {
                let mut bytes = [0; size_of::<$number>()];
                from.take(&mut bytes)?;
                Ok(<$number>::from_le_bytes(bytes))
            }
        }
    )*};
}

numbers!(u8, u16, u32, u64, u128, i32, f64);

impl Snapshot for usize {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        (*self as u64).save(to)
    }

    fn load(from: &mut Reader) -> io::Result<usize> {
        usize::try_from(u64::load(from)?).map_err(|_| damaged("a number is too large for this machine"))
    }
}

impl Snapshot for bool {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        u8::from(*self).save(to)
    }

    fn load(from: &mut Reader) -> io::Result<bool> {
        match u8::load(from)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(damaged("something is neither so nor otherwise")),
        }
    }
}

impl Snapshot for () {
    fn save(&self, _: &mut Writer) -> io::Result<()> {
        Ok(())
    }

    fn load(_: &mut Reader) -> io::Result<()> {
        Ok(())
    }
}

impl Snapshot for Duration {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        (self.as_nanos() as u64).save(to)
    }

    fn load(from: &mut Reader) -> io::Result<Duration> {
        Ok(Duration::from_nanos(u64::load(from)?))
    }
}

impl Snapshot for String {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.len().save(to)?;
        to.put(self.as_bytes())
    }

    fn load(from: &mut Reader) -> io::Result<String> {
        let mut bytes = vec![0; from.count(1, 1)?];
        from.take(&mut bytes)?;
        String::from_utf8(bytes).map_err(|_| damaged("a text is not in UTF-8"))
    }
}

impl<T: Snapshot> Snapshot for Option<T> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.is_some().save(to)?;
        self.iter().try_for_each(|value| value.save(to))
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        if bool::load(from)? { T::load(from).map(Some) } else { Ok(None) }
    }
}

/// Writes the number of values, and the values.
fn save_all<'v, T: Snapshot + 'v>(values: impl ExactSizeIterator<Item = &'v T>, to: &mut Writer) -> io::Result<()> {
    values.len().save(to)?;
    values.into_iter().try_for_each(|value| value.save(to))
}

/// The same for pairs.
fn save_pairs<'v, K: Snapshot + 'v, V: Snapshot + 'v>(
    mut pairs: impl ExactSizeIterator<Item = (&'v K, &'v V)>,
    to: &mut Writer,
) -> io::Result<()> {
    pairs.len().save(to)?;
    pairs.try_for_each(|(key, value)| key.save(to).and_then(|()| value.save(to)))
}

fn load_all<T: Snapshot, C: FromIterator<T>>(from: &mut Reader) -> io::Result<C> {
    (0..counted::<T>(from)?).map(|_| T::load(from)).collect()
}

/// The length of a sequence. Every value takes at least one byte, unless its type has size zero.
fn counted<T: Snapshot>(from: &mut Reader) -> io::Result<usize> {
    let kept = size_of::<T>();
    from.count(kept.min(1), kept)
}

impl<T: Snapshot> Snapshot for Vec<T> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        save_all(self.iter(), to)
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        let count = counted::<T>(from)?;
        // `collect` may allocate more.
        let mut values = Vec::with_capacity(count);
        for _ in 0..count {
            values.push(T::load(from)?);
        }
        Ok(values)
    }
}

impl<T: Snapshot> Snapshot for Box<[T]> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        save_all(self.iter(), to)
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        Vec::load(from).map(Vec::into_boxed_slice)
    }
}

macro_rules! collections {
    ($(impl[$($bounds:tt)*] $collection:ty, of $value:ty, by $save:ident;)*) => {$(
        impl<$($bounds)*> Snapshot for $collection {
            fn save(&self, to: &mut Writer) -> io::Result<()> {
                $save(self.iter(), to)
            }

            fn load(from: &mut Reader) -> io::Result<Self> {
                load_all::<$value, _>(from)
            }
        }
    )*};
}

collections! {
    impl[T: Snapshot] VecDeque<T>, of T, by save_all;
    impl[T: Snapshot + Ord] BTreeSet<T>, of T, by save_all;
    impl[T: Snapshot + Eq + Hash, H: BuildHasher + Default] HashSet<T, H>, of T, by save_all;
    impl[K: Snapshot + Ord, V: Snapshot] BTreeMap<K, V>, of (K, V), by save_pairs;
    impl[K: Snapshot + Eq + Hash, V: Snapshot, H: BuildHasher + Default] HashMap<K, V, H>, of (K, V), by save_pairs;
}

impl<T: Snapshot + Copy + Default, const N: usize> Snapshot for [T; N] {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.iter().try_for_each(|value| value.save(to))
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        let mut values = [T::default(); N];
        for value in &mut values {
            *value = T::load(from)?;
        }
        Ok(values)
    }
}

impl<A: Snapshot, B: Snapshot> Snapshot for (A, B) {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.0.save(to)?;
        self.1.save(to)
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        Ok((A::load(from)?, B::load(from)?))
    }
}
