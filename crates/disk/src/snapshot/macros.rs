//! Snapshots of structs and enums.

/// Implements [`Snapshot`](crate::Snapshot) for a struct or an enum, field by field.
///
/// Fields after `..` are not saved and get their default values. A loaded value that fails the check after `if` is reported as
/// damaged. The variants of an enum have numbers, so that their order may change.
///
/// ```
/// # use entail_disk::{Snapshot, snapshot};
/// struct Edge { source: u32, target: u32 }
/// struct Graph<N> { nodes: Vec<N>, edges: Vec<Edge>, visited: Vec<bool> }
/// enum Verdict { Holds, Violated(Vec<u32>) }
///
/// snapshot!(Edge { source, target } if |edge| edge.source != edge.target, "an edge is a loop");
/// snapshot!(impl[N: Snapshot] Graph<N> { nodes, edges, .. visited });
/// snapshot!(enum Verdict { 0 => Holds, 1 => Violated(run) });
/// ```
#[macro_export]
macro_rules! snapshot {
    ($name:ident { $($fields:tt)* } $($check:tt)*) => {
        $crate::snapshot!(impl[] $name { $($fields)* } $($check)*);
    };
    (impl[$($generics:tt)*] $name:ident $(<$($argument:ident),*>)? {
        $($field:ident),* $(, .. $($default:ident),*)? $(,)?
    } $(if |$value:ident| $check:expr, $damage:literal)?) => {
        impl<$($generics)*> $crate::Snapshot for $name $(<$($argument),*>)? {
            fn save(&self, to: &mut $crate::Writer) -> std::io::Result<()> {
                let $name { $($field,)* $($($default: _,)*)? } = self;
                $($crate::Snapshot::save($field, to)?;)*
                Ok(())
            }

            fn load(from: &mut $crate::Reader) -> std::io::Result<Self> {
                let loaded = $name {
                    $($field: $crate::Snapshot::load(from)?,)*
                    $($($default: Default::default(),)*)?
                };
                $({
                    let $value = &loaded;
                    if !$check {
                        return Err($crate::damaged($damage));
                    }
                })?
                Ok(loaded)
            }
        }
    };
    (enum $name:ident { $($tag:literal => $variant:ident $(($($part:ident),*))? $({ $($field:ident),* })?),* $(,)? }) => {
        impl $crate::Snapshot for $name {
            fn save(&self, to: &mut $crate::Writer) -> std::io::Result<()> {
                match self {
                    $($name::$variant $(($($part),*))? $({ $($field),* })? => {
                        $crate::Snapshot::save(&($tag as u8), to)?;
                        $($($crate::Snapshot::save($part, to)?;)*)?
                        $($($crate::Snapshot::save($field, to)?;)*)?
                    })*
                }
                Ok(())
            }

            fn load(from: &mut $crate::Reader) -> std::io::Result<Self> {
                Ok(match <u8 as $crate::Snapshot>::load(from)? {
                    $($tag => {
                        $($(let $part = $crate::Snapshot::load(from)?;)*)?
                        $($(let $field = $crate::Snapshot::load(from)?;)*)?
                        $name::$variant $(($($part),*))? $({ $($field),* })?
                    })*
                    other => {
                        let name = stringify!($name);
                        return Err($crate::damaged(format!("there is no variant {other} of `{name}`")));
                    }
                })
            }
        }
    };
    ($name:ident($($part:ident),*)) => {
        impl $crate::Snapshot for $name {
            fn save(&self, to: &mut $crate::Writer) -> std::io::Result<()> {
                let $name($($part),*) = self;
                $($crate::Snapshot::save($part, to)?;)*
                Ok(())
            }

            fn load(from: &mut $crate::Reader) -> std::io::Result<Self> {
                $(let $part = $crate::Snapshot::load(from)?;)*
                Ok($name($($part),*))
            }
        }
    };
}

/// Implements [`Restore`](crate::Restore) for a struct of which some fields are saved; the others stay as they were constructed.
#[macro_export]
macro_rules! restore {
    ($name:ident { $($field:ident),* $(,)? }) => {
        impl $crate::Restore for $name {
            fn save(&self, to: &mut $crate::Writer) -> std::io::Result<()> {
                $($crate::Snapshot::save(&self.$field, to)?;)*
                Ok(())
            }

            fn restore(&mut self, from: &mut $crate::Reader) -> std::io::Result<()> {
                $(self.$field = $crate::Snapshot::load(from)?;)*
                Ok(())
            }
        }
    };
}
