//! Reads a model, or fails.

use crate::console::{Console, Failure};
use entail_check::Input;
use entail_check::config::Reading;
use entail_check::load::{self, aim};
use entail_front::promela::slice::{Aim, Sliced};
use entail_front::{Asked, ModelSource, Property};
use std::path::Path;

/// Problems go to stderr.
pub fn read_or_fail(
    path: &Path,
    reading: &Reading,
    asked: &[Asked],
    console: &Console,
) -> Result<ModelSource, Failure> {
    load::read(&Input::file(path), reading, asked, |_| false, &console.stderr).model.ok_or(Failure(None))
}

/// The slice of the model for some properties.
pub fn read_slice_or_fail(
    path: &Path,
    reading: &Reading,
    asked: &[Asked],
    aims: &[Aim],
    console: &Console,
) -> Result<(ModelSource, Sliced), Failure> {
    load::read_slice(&Input::file(path), reading, asked, aims, &console.stderr).ok_or(Failure(None))
}

/// The slice of the model for a property, or for safety.
pub fn cut(
    path: &Path,
    reading: &Reading,
    asked: &[Asked],
    property: Option<&Property>,
    console: &Console,
) -> Result<ModelSource, Failure> {
    read_slice_or_fail(path, reading, asked, &[aim(property)], console).map(|(model, _)| model)
}
