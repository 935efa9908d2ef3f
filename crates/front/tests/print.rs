//! A printed Promela model parses to the original model.

use entail_front::promela::{self, lower, print};
use entail_front::source::Sources;
use entail_ir::System;
use entail_testkit::promela::generate;
use std::fs;
use std::path::{Path, PathBuf};

/// The number of random models.
const MODELS: u64 = 1_500;

/// A model without the positions of its statements.
fn system(text: &str) -> Result<(String, System), String> {
    let (mut sources, mut problems) = (Sources::default(), Vec::new());
    let read = promela::read_text("model.pml", text, &mut sources, &mut problems);
    let program = read.ok_or_else(|| format!("{problems:?}"))?;
    let lowered = lower::lower(&program, &sources, &mut problems).ok_or_else(|| format!("{problems:?}"))?;
    let mut system = lowered.system;
    for statement in &mut system.statements {
        (statement.line, statement.column) = (0, 0);
        statement.text.clear();
    }
    Ok((print::program(&program), system))
}

/// Whether the text is a model.
fn check(name: &str, text: &str) -> bool {
    let Ok((printed, before)) = system(text) else { return false };
    let (again, after) = system(&printed).unwrap_or_else(|problems| panic!("{name}: {problems}\n{printed}"));
    assert_eq!(again, printed, "{name}");
    // A `select` from an inline begins with a sum, so that it expands to the same loop.
    let same = if printed.contains(" + 0 .. ") {
        before.process_types == after.process_types && before.edges.len() == after.edges.len()
    } else {
        before == after
    };
    assert!(same, "{name} is another model when it is printed:\n{text}\n{printed}");
    true
}

fn models_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { models_in(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|ending| ending == "pml"))
        .collect()
}

#[test]
fn our_models_are_printed_as_they_are() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let models: Vec<_> = ["tests/models", "examples"].iter().flat_map(|it| models_in(&root.join(it))).collect();
    let printed = models.iter().filter(|path| {
        let text = fs::read_to_string(path).unwrap();
        check(&path.display().to_string(), &text)
    });
    assert!(printed.count() > 50);
}

#[test]
fn random_models_are_printed_as_they_are() {
    let models = (0..MODELS).map(|seed| (seed, generate(seed).to_string()));
    let printed = models.filter(|(seed, text)| check(&format!("seed {seed}"), text)).count();
    assert!(printed as u64 > MODELS / 2, "{printed}");
}
