//! Names of option values: the same on the command line, in JSON and in messages.

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::Serializer;

/// An option with named values.
pub trait Named: Copy + PartialEq + 'static {
    /// All values, each with its name.
    const NAMES: &'static [(&'static str, Self)];

    /// The name of this value.
    fn name(self) -> &'static str {
        let known = Self::NAMES.iter().find(|(_, value)| *value == self);
        known.map_or("", |(name, _)| name)
    }

    /// The value of this name. An error lists the known names.
    fn named(name: &str) -> Result<Self, String> {
        let known = Self::NAMES.iter().find(|(known, _)| *known == name);
        known.map(|(_, value)| *value).ok_or_else(|| {
            let names: Vec<_> = Self::NAMES.iter().map(|(name, _)| *name).collect();
            format!("expected one of: {}", names.join(", "))
        })
    }
}

/// For serde: serialises a value by its name.
pub(crate) fn serialize<T: Named, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(value.name())
}

/// For serde: deserialises a value from its name.
pub(crate) fn deserialize<'de, T: Named, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    T::named(&String::deserialize(from)?).map_err(D::Error::custom)
}

/// For serde: the same for optional values.
pub(crate) mod optional {
    use super::{Deserialize, Deserializer, Error, Named, Serializer};

    /// A value by its name.
    pub fn serialize<T: Named, S: Serializer>(value: &Option<T>, to: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => to.serialize_some(value.name()),
            None => to.serialize_none(),
        }
    }

    /// The value of a name.
    pub fn deserialize<'de, T: Named, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
        let name = Option::<String>::deserialize(from)?;
        name.map(|name| T::named(&name)).transpose().map_err(D::Error::custom)
    }
}

/// Names the variants of an enum of another crate.
macro_rules! named_foreign {
    ($type:ident { $($name:literal => $variant:ident),+ $(,)? }) => {
        impl $crate::names::Named for $type {
            const NAMES: &'static [(&'static str, $type)] = &[$(($name, $type::$variant)),+];
        }
    };
}

/// Names the variants of an enum, also for serde.
macro_rules! named {
    ($type:ident { $($body:tt)+ }) => {
        $crate::names::named_foreign!($type { $($body)+ });

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                $crate::names::serialize(self, to)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<$type, D::Error> {
                $crate::names::deserialize(from)
            }
        }
    };
}

pub(crate) use {named, named_foreign};
