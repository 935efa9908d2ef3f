//! Truncated, mangled and oversized models: the front end must terminate quickly on any text.

use entail_front::diagnostic::Diagnostic;
use entail_front::source::Sources;
use entail_front::{ModelSource, Options};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// A front end, as `load_text` of its module.
pub type FrontEnd = fn(&str, &str, &Options, &mut Sources, &mut Vec<Diagnostic>) -> Option<ModelSource>;

/// The problems of a text, or a note that it is a model.
pub fn read(front_end: FrontEnd, text: &str) -> Result<(), Vec<Diagnostic>> {
    read_with(front_end, text, &[])
}

pub fn read_with(front_end: FrontEnd, text: &str, defines: &[&str]) -> Result<(), Vec<Diagnostic>> {
    let defines = defines.iter().map(|&define| define.to_owned()).collect();
    let options = Options { defines, ..Options::default() };
    let (mut sources, mut problems) = (Sources::default(), Vec::new());
    let model = front_end("model", text, &options, &mut sources, &mut problems);
    assert_eq!(model.is_none(), problems.iter().any(Diagnostic::is_error), "{text:.300}\n{problems:?}");
    if model.is_some() { Ok(()) } else { Err(problems) }
}

/// Every model in these folders, with its name.
pub fn models(folders: &[&str]) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut models = Vec::new();
    for folder in folders {
        for entry in fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            models.push((path.display().to_string(), fs::read_to_string(path).unwrap()));
        }
    }
    assert!(models.len() >= 15, "only {} models found", models.len());
    models
}

/// A model that is cut off at any position is rejected.
pub fn cut_off(front_end: FrontEnd, folders: &[&str]) {
    for (name, text) in models(folders) {
        let whole = text.trim_end().len();
        assert_eq!(read(front_end, &text), Ok(()), "{name}");
        for end in (0..whole).filter(|&end| text.is_char_boundary(end)) {
            assert!(read(front_end, &text[..end]).is_err(), "{name} up to byte {end}");
        }
    }
}

/// The front end accepts or rejects a model in which any word is missing, doubled or replaced.
pub fn mangle(front_end: FrontEnd, folders: &[&str]) {
    for (_, text) in models(folders) {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut start = 0;
        while let Some(first) = text[start..].chars().next() {
            let rest = &text[start..];
            let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            let end = start + if word > 0 { word } else { first.len_utf8() };
            let piece = &text[start..end];
            if !piece.trim().is_empty() {
                let (before, after) = (&text[..start], &text[end..]);
                read(front_end, &format!("{before}{after}")).ok();
                read(front_end, &format!("{before}{piece} {piece}{after}")).ok();
                read(front_end, &format!("{before};{after}")).ok();
            }
            start = end;
        }
    }
}

/// An oversized text is rejected with this message; an empty message means that it is accepted.
pub fn excess(front_end: FrontEnd, cases: &[(String, &str)]) {
    for (text, expected) in cases {
        let started = Instant::now();
        match read(front_end, text) {
            Ok(()) => assert!(expected.is_empty(), "no problem with {text:.300}"),
            Err(problems) => {
                let found = problems.iter().any(|problem| problem.message.contains(expected));
                assert!(found && !expected.is_empty(), "{text:.300}: {:?}", problems.first());
                assert!(problems.len() <= 101);
            }
        }
        // A few seconds even on a slow machine; without limits it would take hours.
        assert!(started.elapsed() < Duration::from_secs(600), "{:?} for {text:.300}", started.elapsed());
    }
}

/// With these values for constants, a text is a model, or is rejected with this message.
pub fn defines(front_end: FrontEnd, text: &str, cases: &[(&[&str], &str)]) {
    for (defines, expected) in cases {
        match read_with(front_end, text, defines) {
            Ok(()) => assert!(expected.is_empty(), "no problem with {defines:?}"),
            Err(problems) => {
                let message = &problems[0].message;
                assert!(!expected.is_empty() && message.starts_with(expected), "{defines:?}: {message}");
            }
        }
    }
}
