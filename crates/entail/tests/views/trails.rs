//! Trails that are damaged, cut short, or belong to something else, in every view; and readers that leave.

use super::{ENTAIL, root, said};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

const VIEWS: [&str; 7] = ["steps", "output", "table", "chart", "svg", "html", "json"];

/// Models with a trail each, in every language.
const MODELS: [(&str, &str); 3] = [
    ("runs.in/shop.pml", "runs.in/shop.trail"),
    ("languages.in/desk.esml", "languages.in/desk.trail"),
    ("languages.in/lamp.bir", "languages.in/lamp.trail"),
];

/// A folder with a model and a trail, which are called so whatever they are.
struct Case {
    folder: TempDir,
    model: String,
    whole: String,
}

impl Case {
    fn new((model, trail): (&str, &str)) -> Case {
        let folder = TempDir::new().unwrap();
        let ending = Path::new(model).extension().unwrap().to_str().unwrap();
        let case = Case { folder, model: format!("model.{ending}"), whole: kept(trail) };
        case.put(&case.model, &kept(model));
        case.put("trail", &case.whole);
        case
    }

    fn put(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    fn run(&self, args: &[&str]) -> (Option<i32>, String, String) {
        ended(Command::new(ENTAIL).args(args).current_dir(self.folder.path()).output().unwrap())
    }

    fn replay(&self, view: &str) -> (Option<i32>, String, String) {
        self.run(&["replay", &self.model, "trail", "--as", view, "--width", "1000"])
    }
}

fn kept(name: &str) -> String {
    fs::read_to_string(root().join("crates/entail/tests/cli").join(name)).unwrap()
}

fn ended(output: Output) -> (Option<i32>, String, String) {
    let [out, errors] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (output.status.code(), out, errors)
}

#[test]
fn of_a_trail_that_is_cut_short_there_is_what_is_left() {
    for model in MODELS {
        let case = Case::new(model);
        let lines: Vec<&str> = case.whole.lines().collect();
        case.put("trail", &lines[..2].join("\n"));
        for view in VIEWS {
            let (code, told, errors) = case.replay(view);
            assert_eq!((code, &*errors), (Some(0), ""), "{} {view}", case.model);
            let end = match view {
                "output" => "",
                "json" => "\"ending\": \"open\"",
                _ => "The run ends here, without an error.",
            };
            assert!(said(&told).contains(end), "{} {view}: {end} expected:\n{told}", case.model);
        }
        // In the middle of a line, and of a rendezvous.
        case.put("trail", case.whole.trim_end().rsplit_once(':').unwrap().0);
        let (code, told, errors) = case.replay("steps");
        let place = format!("trail is not a trail: line {}", lines.len());
        assert_eq!((code, &*told), (Some(2), ""), "{}", case.model);
        assert!(errors.contains(&place), "{place} expected: {errors}");
    }
    let case = Case::new(MODELS[1]);
    case.put("trail", &case.whole.lines().take(3).collect::<Vec<_>>().join("\n"));
    let (code, _, errors) = case.replay("steps");
    let half = "error: trail does not fit this model at step 3: Clerk(0) cannot do `there!write(n)` (model.esml:14) there\n";
    assert_eq!((code, &*errors), (Some(2), half));
}

#[test]
fn damaged_trails_are_refused_in_every_view() {
    for model in MODELS {
        let case = Case::new(model);
        let (before, last) = case.whole.trim_end().rsplit_once('\n').unwrap();
        let (step, _) = last.split_once(':').unwrap();
        for (line, why) in [
            ("last".to_owned(), format!("trail is not a trail: line {step}")),
            (
                format!("{step}:99:0"),
                format!("trail does not fit this model at step {step}: there is no process 99"),
            ),
            (
                format!("{step}:0:4000"),
                format!("trail does not fit this model at step {step}: there is no statement 4000"),
            ),
        ] {
            case.put("trail", &format!("{before}\n{line}\n"));
            for view in VIEWS {
                let (code, _, errors) = case.replay(view);
                assert_eq!(code, Some(2), "{} {view}", case.model);
                assert!(errors.contains(&why) && errors.lines().count() == 1, "{why} expected: {errors}");
            }
            for how in
                [&["simulate", "--seed", "1", "--along", "trail"][..], &["simulate", "-i", "--along", "trail"]]
            {
                let (code, _, errors) = case.run(&[how, &[&case.model]].concat());
                assert_eq!(code, Some(2), "{} {how:?}", case.model);
                assert!(errors.contains(&why), "{how:?}: {why} expected: {errors}");
            }
        }
    }
}

#[test]
fn trails_of_other_models_are_refused_in_every_view() {
    for (model, foreign) in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)] {
        let case = Case::new((MODELS[model].0, MODELS[foreign].1));
        for view in VIEWS {
            let (code, _, errors) = case.replay(view);
            assert_eq!(code, Some(2), "{} {view}", case.model);
            assert!(errors.starts_with("error: trail does not fit this model at step "), "{errors}");
        }
    }
}

/// The first message is that the model was changed after its trail was written; the second is the first step that
/// differs.
#[test]
fn an_older_trail_is_followed_as_far_as_it_fits() {
    for (model, was, is, misfit, before) in [
        (
            0,
            "order!2;",
            "second == 7;",
            "at step 4: customer(0) cannot do `second == 7` (model.pml:14) there",
            "order!1",
        ),
        (
            1,
            "back?done;",
            "back?write(n);",
            "at step 6: Book(1) cannot do `back!done` (model.esml:26) there",
            "TRACE(",
        ),
        (2, "go:", "go: when done == 1", "at step 2: Switch(2) cannot do `when done == 1 do {", "start Switch("),
    ] {
        let case = Case::new(MODELS[model]);
        let path = |name: &str| case.folder.path().join(name);
        case.put(&case.model, &fs::read_to_string(path(&case.model)).unwrap().replace(was, is));
        let earlier = SystemTime::now() - Duration::from_secs(3600);
        fs::File::options().append(true).open(path("trail")).unwrap().set_modified(earlier).unwrap();
        let warning =
            format!("warning: {} was changed after trail was written: they may no longer match\n", case.model);
        let error = format!("{warning}error: trail does not fit this model {misfit}");
        for view in VIEWS {
            let (code, told, errors) = case.replay(view);
            assert_eq!(code, Some(2), "{} {view}", case.model);
            assert!(errors.starts_with(&error), "{} {view}: {error} expected: {errors}", case.model);
            let is_seen = !matches!(view, "output" | "json");
            assert_eq!(told.contains(before), is_seen, "{} {view}: {before} expected:\n{told}", case.model);
        }
        for how in [&["simulate", "--seed", "1", "--along", "trail"][..], &["simulate", "-i", "--along", "trail"]] {
            let (code, _, errors) = case.run(&[how, &[&case.model]].concat());
            assert_eq!(code, Some(2), "{} {how:?}", case.model);
            assert!(errors.starts_with(&error), "{how:?}: {error} expected: {errors}");
        }
    }
}

/// As with `| head -1`, and even earlier.
#[test]
fn nobody_minds_a_reader_who_leaves() {
    let case = Case::new(MODELS[0]);
    // More than fits into a pipe at once.
    case.put("long.pml", "int i; init { do :: i < 3000 -> i++ :: else -> break od; assert(false) }");
    assert_eq!(case.run(&["check", "long.pml"]).0, Some(1));
    let replays = VIEWS.map(|view| vec!["replay", "long.pml", "--as", view]);
    let others = [
        &["graph", "model.pml"][..],
        &["graph", "model.pml", "--format", "json"],
        &["graph", "model.pml", "--search", "dfs"],
        &["graph", "model.pml", "--search", "bfs", "--format", "html"],
        &["show", "automata", "model.pml"],
        &["show", "symbols", "model.pml"],
        &["simulate", "-i", "--seed", "1", "model.pml"],
    ];
    for args in replays.into_iter().chain(others.map(<[&str]>::to_vec)) {
        for lines in [0, 1] {
            let mut command = Command::new(ENTAIL);
            command.args(&args).current_dir(case.folder.path()).stdin(Stdio::null());
            let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let out = BufReader::new(child.stdout.take().unwrap());
            assert!(out.lines().take(lines).all(|line| line.is_ok()));
            let (code, _, errors) = ended(child.wait_with_output().unwrap());
            assert_eq!((code, &*errors), (Some(0), ""), "{args:?}, left after {lines} lines");
        }
    }
}
