//! Names of values: the same on the command line, in JSON, in languages and in messages.

/// A type with named values.
pub trait Named: Copy + PartialEq + 'static {
    /// All values, each with its name.
    const NAMES: &'static [(&'static str, Self)];

    /// The name of this value.
    fn name(self) -> &'static str {
        let known = Self::NAMES.iter().find(|(_, value)| *value == self);
        known.map_or("", |(name, _)| name)
    }

    /// The value of this name.
    fn find(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    /// The value of this name. An error lists the known names.
    fn named(name: &str) -> Result<Self, String> {
        Self::find(name).ok_or_else(|| format!("expected one of: {}", Self::names().join(", ")))
    }

    /// All names.
    fn names() -> Vec<&'static str> {
        Self::NAMES.iter().map(|(name, _)| *name).collect()
    }
}

/// Names the variants of an enum.
#[macro_export]
macro_rules! named {
    ($type:ident { $($name:literal => $variant:ident),+ $(,)? }) => {
        impl $crate::Named for $type {
            const NAMES: &'static [(&'static str, $type)] = &[$(($name, $type::$variant)),+];
        }
    };
}
