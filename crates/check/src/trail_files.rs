//! The names of trail files: one file for each run.

use crate::observer::Observer;
use crate::output::{Content, Outputs, is_null};
use crate::provenance::{Provenance, Shown, file_name};
use crate::trail::Trail;
use entail_front::SAFETY;
use std::cell::RefCell;
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// The file extension of trails.
const ENDING: &str = ".trail";
/// The maximum length of a property's name in a file name.
const LONGEST: usize = 40;

/// The trail files of one check.
pub(crate) struct TrailFiles {
    /// The file for safety, or for the only property.
    base: PathBuf,
    /// Whether the check has only one property.
    alone: bool,
    /// The first files of properties; all are distinct.
    given: RefCell<HashSet<PathBuf>>,
    written: RefCell<HashSet<PathBuf>>,
}

impl TrailFiles {
    pub fn new(base: PathBuf, alone: bool) -> TrailFiles {
        TrailFiles { base, alone, given: RefCell::default(), written: RefCell::default() }
    }

    /// The file for the first run of a property; another one each time.
    pub fn first(&self, property: &str) -> PathBuf {
        if self.alone || property == SAFETY || is_null(&self.base) {
            return self.base.clone();
        }
        let name = letters(property);
        let again = (2..).map(|number: u32| format!("{name}-{number}"));
        let mut files = std::iter::once(name.clone()).chain(again).map(|name| with_part(&self.base, &name));
        let mut given = self.given.borrow_mut();
        files.find(|file| given.insert(file.clone())).unwrap_or_else(|| self.base.clone())
    }

    /// Writes a trail, and returns its file; failure is a warning.
    pub fn write(&self, path: PathBuf, text: &str, outputs: &Outputs, observer: &dyn Observer) -> Option<PathBuf> {
        match outputs.write(&path, Content::Trail, text.as_bytes()) {
            Ok(()) => {
                self.written.borrow_mut().insert(path.clone());
                Some(path)
            }
            Err(problem) => {
                outputs.failed(problem, observer);
                None
            }
        }
    }

    /// Removes trails that an earlier check with the same options wrote for a property that holds now. Other files
    /// remain.
    pub fn remove_stale(&self, now: &Provenance, observer: &dyn Observer) {
        let Some(Shown { name: property, .. }) = &now.property else { return };
        let named = with_part(&self.base, &letters(property));
        for first in [&self.base, &named] {
            for number in 1.. {
                let path = numbered(first, number);
                let Some(known) = provenance(&path) else { break };
                let is_of = known.property.as_ref().is_some_and(|shown| shown.name == *property);
                let same_options = known.reading == now.reading && known.checks == now.checks;
                let is_stale = is_of && known.model == now.model && same_options;
                if !is_stale || self.written.borrow().contains(&path) {
                    break;
                }
                if fs::remove_file(&path).is_ok() {
                    let path = path.display();
                    observer.note(format!("removed {path}, an earlier run that broke `{property}`"));
                }
            }
        }
    }
}

/// The provenance of a file, if entail wrote it as a trail.
pub fn provenance(path: &Path) -> Option<Provenance> {
    let is_file = fs::symlink_metadata(path).is_ok_and(|known| known.is_file());
    let file = is_file.then(|| File::open(path).ok()).flatten()?;
    Trail::read(BufReader::new(file)).ok()?.provenance
}

/// The default trail file of a model.
pub fn default_trail(model: &Path) -> PathBuf {
    let mut name = OsString::from(model);
    name.push(ENDING);
    PathBuf::from(name)
}

/// The trail file of one of several properties.
pub fn trail_of(model: &Path, property: &str) -> PathBuf {
    with_part(&default_trail(model), &letters(property))
}

/// The existing trail files of a model.
pub fn trails_of(model: &Path) -> Vec<PathBuf> {
    let folder = model.parent().filter(|folder| !folder.as_os_str().is_empty());
    let first = file_name(model) + ".";
    let entries = fs::read_dir(folder.unwrap_or(Path::new("."))).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.starts_with(&first) && name.ends_with(ENDING)).collect();
    names.sort();
    names.into_iter().map(|name| model.with_file_name(name)).collect()
}

/// The file for the run of this number, if the file for the first one is `first`.
pub(crate) fn numbered(first: &Path, number: usize) -> PathBuf {
    if number == 1 || is_null(first) { first.to_owned() } else { with_part(first, &number.to_string()) }
}

/// Inserts `.part` before the file extension.
fn with_part(base: &Path, part: &str) -> PathBuf {
    let name = base.file_name().unwrap_or_default();
    let (mut whole, ending) = match name.to_str().and_then(|name| name.strip_suffix(ENDING)) {
        Some(stem) => (OsString::from(stem), ENDING),
        None => (name.to_owned(), ""),
    };
    whole.push(format!(".{part}{ending}"));
    base.with_file_name(whole)
}

/// The name of a property as a part of a file name.
fn letters(property: &str) -> String {
    let letters = property.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '_' });
    letters.take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn names_say_which_property_and_which_run() {
        let names = |base: &str, alone| {
            let files = TrailFiles::new(base.into(), alone);
            let first = ["safety", "[] p", "<> p", "f"].map(|property| files.first(property));
            first.map(|first| [1, 2].map(|number| numbered(&first, number).display().to_string()).join(" "))
        };
        let expected = [
            "a/m.pml.trail a/m.pml.2.trail",
            "a/m.pml.___p.trail a/m.pml.___p.2.trail",
            "a/m.pml.___p-2.trail a/m.pml.___p-2.2.trail",
            "a/m.pml.f.trail a/m.pml.f.2.trail",
        ];
        assert_eq!(names("a/m.pml.trail", false), expected);
        assert_eq!(names("T", false), ["T T.2", "T.___p T.___p.2", "T.___p-2 T.___p-2.2", "T.f T.f.2"]);
        assert_eq!(names("T", true), ["T T.2"; 4]);
        // The null device has no numbered variants.
        assert_eq!(names("/dev/null", false), ["/dev/null /dev/null"; 4]);
    }
}
