//! The features of a program. Each seed allows a random subset (swarm testing), so that small programs
//! contain unusual combinations instead of a little of everything.

use crate::rng::Rng;

macro_rules! features {
    ($($name:ident $percent:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Feature { $($name,)* }

        impl Feature {
            /// Every feature with the percentage of seeds that allow it.
            pub const ALL: &'static [(Feature, usize)] = &[$((Feature::$name, $percent),)*];
        }
    };
}

features! {
    // Data.
    Arrays 35, Records 25, Unsigned 25, WideIntegers 35, Pids 15, Mtypes 30, NamedMtypes 15,
    FieldValues 60, RecordParameters 60, RecordMessages 50, LocalRecords 40, Visibility 15, Hidden 10, Locals 60, Scopes 35, Macros 25, Characters 10,
    // Processes.
    Init 35, Instances 30, Run 45, NestedRun 40, Parameters 60, Deterministic 10, Provided 8, Priority 5,
    Pid 30, ProcessCount 20, Last 8, Enabled 6, PcValue 10, RemoteLabels 12, RemoteVariables 12,
    // Control.
    Loops 60, Break 60, Goto 30, For 30, ForArray 35, ForChannel 15, Select 25, Timeout 30, Unless 35,
    Atomic 45, DStep 40, Inline 30, Return 30, Labels 20,
    // Channels.
    Buffered 50, Rendezvous 40, Sorted 45, Random 45, Peek 45, Poll 35, Eval 45, Fullness 35,
    ChannelArrays 20, ChannelMessages 20, ChannelParameters 50, ChannelAssignment 25, LocalChannels 20, Exclusive 10,
    // The rest.
    Asserts 60, Prints 25, Operators 50, Conditionals 25, Claims 2, OutOfBounds 3,
}

/// A set of features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeatureSet(u128);

impl Feature {
    /// The feature with this name, in any case.
    pub fn named(name: &str) -> Option<Feature> {
        let mut features = Feature::ALL.iter().map(|&(feature, _)| feature);
        features.find(|feature| format!("{feature:?}").eq_ignore_ascii_case(name))
    }
}

impl FeatureSet {
    /// The features that one seed allows.
    pub fn swarm(rng: &mut Rng) -> Self {
        let mut set = Self::default();
        for &(feature, percent) in Feature::ALL {
            if rng.below(100) < percent {
                set.insert(feature);
            }
        }
        // SPIN rejects these next to a rendezvous.
        if set.contains(Feature::Enabled) || set.contains(Feature::Priority) {
            set.remove(Feature::Rendezvous);
        }
        set
    }

    pub fn contains(self, feature: Feature) -> bool {
        self.0 >> feature as u32 & 1 == 1
    }

    pub fn insert(&mut self, feature: Feature) {
        self.0 |= 1 << feature as u32;
    }

    pub fn remove(&mut self, feature: Feature) {
        self.0 &= !(1 << feature as u32);
    }

    pub fn iter(self) -> impl Iterator<Item = Feature> {
        Feature::ALL.iter().map(|&(feature, _)| feature).filter(move |&feature| self.contains(feature))
    }
}
