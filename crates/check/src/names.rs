//! Options with a fixed set of values: each value has one name, on the command line and in JSON.

use entail_model::Named;
use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::Serializer;

/// Names the variants of an enum, and serialises them by these names.
macro_rules! option {
    ($type:ident { $($body:tt)+ }) => {
        entail_model::named!($type { $($body)+ });

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

pub(crate) use option;

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
