//! Compares the provenance of a trail with the replayed model.

use crate::console::Console;
use entail_check::config::Reading;
use entail_check::provenance::{Provenance, ReadAs, Shown, file_name};
use entail_check::trail::Trail;
use entail_front::{ModelSource, SAFETY};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// A trail with its provenance; SPIN's `pan` writes none.
pub struct Source<'a> {
    path: &'a Path,
    known: Option<&'a Provenance>,
}

impl<'a> Source<'a> {
    pub fn of(path: &'a Path, trail: &'a Trail) -> Source<'a> {
        Source { path, known: trail.provenance.as_ref() }
    }

    /// The options for reading the model: those of the trail, unless others are given, which causes a warning.
    pub fn completed(&self, args: &Reading, console: &Console) -> Reading {
        let Some(known) = self.known else { return args.clone() };
        let all = known.reading.complete(args);
        let (then, now) = (known.reading.words(), ReadAs::by(&all).words());
        let path = self.path.display();
        if then != now {
            let then = if then.is_empty() { "no such options".to_owned() } else { format!("`{then}`") };
            console
                .complain(&format!("warning: {path} was made with {then}, but the model is read with `{now}`\n"));
        } else if now != ReadAs::by(args).words() {
            console.complain(&format!("note: the model is read with `{now}`, as when {path} was made\n"));
        }
        all
    }

    /// The property that the trail was written for.
    pub fn property(&self) -> Option<&'a Shown> {
        self.known?.property.as_ref()
    }

    /// The name of that property, if the model still has it. Warns if the property has changed.
    pub fn known_property(&self, shown: &Shown, model: &ModelSource, console: &Console) -> Option<String> {
        let (name, path) = (&shown.name, self.path.display());
        if name == SAFETY {
            return Some(name.clone());
        }
        let Some(property) = model.properties.iter().find(|property| property.name == *name) else {
            console.complain(&format!("warning: {path} was written for `{name}`, which the model no longer has\n"));
            return None;
        };
        if property.text != shown.text {
            let (then, now) = (&shown.text, &property.text);
            console
                .complain(&format!("warning: when {path} was written, `{name}` was `{then}`; now it is `{now}`\n"));
        }
        Some(name.clone())
    }

    pub fn is_slice(&self) -> bool {
        self.known.is_some_and(|known| known.slice)
    }

    /// Warns if the trail was written for another model.
    pub fn compare(&self, path: &Path, model: &ModelSource, console: &Console) {
        let changed = match self.known {
            Some(known) if known.model != file_name(path) => {
                let (trail, other, model) = (self.path.display(), &known.model, path.display());
                return console.complain(&format!("warning: {trail} was written for {other}, not for {model}\n"));
            }
            Some(known) => !known.fits(model),
            None => is_newer(path, self.path),
        };
        if changed {
            let (model, trail) = (path.display(), self.path.display());
            console.complain(&format!(
                "warning: {model} was changed after {trail} was written: they may no longer match\n"
            ));
        }
    }
}

/// Whether a file was changed after another one, with a tolerance for copying both.
fn is_newer(file: &Path, than: &Path) -> bool {
    const SOON: Duration = Duration::from_secs(60);
    let changed = |path: &Path| fs::metadata(path).and_then(|known| known.modified()).ok();
    let since = changed(file).zip(changed(than)).and_then(|(one, other)| one.duration_since(other).ok());
    since.is_some_and(|since| since > SOON)
}
