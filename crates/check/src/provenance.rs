//! The provenance in a trail: the model, the options for reading it, and the property.
//!
//! It is the last line of a trail, `# entail {…}`. SPIN and `pan` stop reading at the first line that is not made of three
//! numbers, so they follow such a trail as any other.

use crate::config::Reading;
use entail_front::{Asked, AskedKind, Granularity, Language, ModelSource, Property};
use entail_model::Named;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};

/// The mark before the JSON.
pub const MARK: &str = "# entail ";

/// The command that wrote a trail.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Provenance {
    /// The file name of the model.
    pub model: String,
    /// The [`ModelSource::fingerprint`], in hexadecimal digits: JSON has no numbers of 64 bits.
    pub fingerprint: String,
    /// The options for reading the model.
    #[serde(flatten)]
    pub reading: ReadAs,
    /// Whether the trail is a run of the slice for the property.
    pub slice: bool,
    /// The options that determine which runs violate the property, in command-line syntax.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub checks: String,
    /// The property; `None` for a simulation.
    pub property: Option<Shown>,
}

/// The options that determine the meaning of a model's text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReadAs {
    /// The values of `-D`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub defines: Vec<String>,
    /// The values of `--for`, one each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fixed: Vec<String>,
    /// The values of `-I`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub include_dirs: Vec<PathBuf>,
    /// The value of `--lang`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// The value of `--granularity`, unless it is the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub granularity: Option<String>,
}

/// The property of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Shown {
    /// The name.
    pub name: String,
    /// The formula, if it is one.
    pub text: String,
    /// The option, source and text, if the property was given on the command line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<(String, String, String)>,
}

impl Provenance {
    /// A run of a model, without a property.
    pub fn of(path: &Path, fingerprint: u64, reading: &Reading) -> Provenance {
        Provenance {
            model: file_name(path),
            fingerprint: digits(fingerprint),
            reading: ReadAs::by(reading),
            slice: false,
            checks: String::new(),
            property: None,
        }
    }

    /// Reads the last line of a trail, without its mark.
    pub fn parse(json: &[u8]) -> Result<Provenance, String> {
        serde_json::from_slice(json).map_err(|error| error.to_string())
    }

    /// Whether the trail was written for this model.
    pub fn fits(&self, model: &ModelSource) -> bool {
        self.fingerprint == digits(model.fingerprint)
    }
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let json = serde_json::to_string(self).map_err(|_| fmt::Error)?;
        writeln!(f, "{MARK}{json}")
    }
}

impl ReadAs {
    /// The options of a command.
    pub fn by(reading: &Reading) -> ReadAs {
        ReadAs {
            defines: reading.defines.clone(),
            fixed: reading.fixed.clone(),
            include_dirs: reading.include_dirs.clone(),
            language: reading.language.map(|language| language.name().to_owned()),
            granularity: (reading.granularity != Granularity::default())
                .then(|| reading.granularity.name().to_owned()),
        }
    }

    /// The given options, with these as defaults.
    pub fn complete(&self, reading: &Reading) -> Reading {
        let mut all = reading.clone();
        if reading.defines.is_empty() && reading.fixed.is_empty() {
            all.defines.clone_from(&self.defines);
            all.fixed.clone_from(&self.fixed);
        }
        if reading.include_dirs.is_empty() {
            all.include_dirs.clone_from(&self.include_dirs);
        }
        all.language = reading.language.or_else(|| Language::find(self.language.as_deref()?));
        if self.granularity.as_deref() == Some(Granularity::Statement.name()) {
            all.granularity = Granularity::Statement;
        }
        all
    }

    /// The options in command-line syntax; empty if there are none.
    pub fn words(&self) -> String {
        let defines = self.defines.iter().map(|define| format!("-D {define}"));
        let fixed = self.fixed.iter().map(|value| format!("--for {value}"));
        let folders = self.include_dirs.iter().map(|folder| format!("-I {}", folder.display()));
        let language = self.language.iter().map(|language| format!("--lang {language}"));
        let granularity = self.granularity.iter().map(|granularity| format!("--granularity {granularity}"));
        defines.chain(fixed).chain(folders).chain(language).chain(granularity).collect::<Vec<_>>().join(" ")
    }
}

impl Shown {
    /// A property, which may be one from the command line (`asked`).
    pub fn of(property: &Property, asked: &[Asked]) -> Shown {
        let asked = asked.iter().find(|asked| asked.name() == property.name);
        let asked = asked.map(|asked| (asked.kind.name().to_owned(), asked.source.clone(), asked.text.clone()));
        Shown { name: property.name.clone(), text: property.text.clone(), asked }
    }

    /// The property as it was given on the command line.
    pub fn asked(&self) -> Option<Asked> {
        let (kind, source, text) = self.asked.clone()?;
        Some(Asked { kind: AskedKind::find(&kind)?, source, text })
    }
}

/// The last component of a path.
pub fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn digits(fingerprint: u64) -> String {
    format!("{fingerprint:016x}")
}
