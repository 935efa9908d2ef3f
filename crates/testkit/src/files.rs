//! Finds the model files below a folder.

use std::path::{Path, PathBuf};

/// All models in a folder and its subfolders, in every language, in a fixed order.
pub fn models_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut entries: Vec<_> = entries.map(|entry| entry.expect("the folder can be read").path()).collect();
    entries.sort();
    let is_model = |path: &PathBuf| {
        path.extension().is_some_and(|end| ["pml", "pm", "esml", "bir"].iter().any(|known| end == *known))
    };
    let (folders, mut models): (Vec<_>, Vec<_>) = entries.into_iter().partition(|path| path.is_dir());
    models.retain(is_model);
    models.extend(folders.iter().flat_map(|folder| models_in(folder)));
    models
}
