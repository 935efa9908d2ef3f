//! Checks a model against its properties.

pub mod coverage;
pub mod machine;
pub mod neglect;
pub mod picture;
pub mod property;
pub mod run;
pub mod units;
pub mod violation;
