//! Tests that the commands in the documents print what the documents show.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const ENTAIL: &str = env!("CARGO_BIN_EXE_entail");

/// The commands of a guide run in order, in a folder with the examples and a model with errors.
#[test]
fn the_commands_of_the_guides_print_what_they_show() {
    let folder = tempfile::tempdir().unwrap();
    let cases = trycmd::TestCases::new();
    for (guide, examples, ending) in [
        ("check", "examples", "pml"),
        ("fairness", "examples", "pml"),
        ("graphs", "examples", "pml"),
        ("runs", "examples", "pml"),
        ("slicing", "examples", "pml"),
        ("simulate", "examples", "pml"),
        ("esml", "examples/esml", "esml"),
        ("bir", "examples/bir", "bir"),
        ("new-language", "tests/models/same", "esml"),
    ] {
        let copy = folder.path().join(guide).with_extension("md");
        fs::copy(root().join("docs").join(guide).with_extension("md"), &copy).unwrap();
        let models = folder.path().join(guide).with_extension("in");
        fs::create_dir(&models).unwrap();
        for example in fs::read_dir(root().join(examples)).unwrap() {
            let example = example.unwrap().path();
            if example.extension().is_some_and(|found| found == ending) {
                fs::copy(&example, models.join(example.file_name().unwrap())).unwrap();
            }
        }
        cases.case(&copy);
    }
    let models = folder.path().join("check.in");
    let peterson = fs::read_to_string(models.join("peterson.pml")).unwrap();
    let (_, peterson) = peterson.split_once("*/\n").expect("it begins with a comment");
    let typo = peterson.replacen("turn = _pid", "trun = _pid", 1).replacen("!wants[1 - _pid]", "!wants", 1);
    fs::write(models.join("typo.pml"), typo).unwrap();
}

#[test]
fn the_first_page_shows_an_example_and_an_answer() {
    let page = fs::read_to_string(root().join("README.md")).unwrap();
    let counter = fs::read_to_string(root().join("examples/counter.pml")).unwrap();
    let (_, model) = page.split_once("```promela\n").expect("there is a model");
    let (model, _) = model.split_once("```").expect("the model ends");
    assert!(counter.ends_with(model), "examples/counter.pml differs from README.md");

    let output = Command::new(ENTAIL)
        .args(["check", "--trail", "/dev/null", "peterson-wrong.pml"])
        .current_dir(root().join("examples"))
        .output();
    let answer = String::from_utf8(output.unwrap().stdout).unwrap();
    let (_, shown) = page.split_once("```\npeterson-wrong.pml: ").expect("there is an answer");
    let (shown, _) = shown.split_once("  ...").expect("the answer is cut");
    assert!(
        answer.starts_with(&format!("peterson-wrong.pml: {shown}")),
        "README.md shows something else:\n{answer}"
    );
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
