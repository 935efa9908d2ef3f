//! Pictures of models: that they show what there is, and that others can read them.

use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const ENTAIL: &str = env!("CARGO_BIN_EXE_entail");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn entail(args: &[&str], model: &Path) -> Output {
    Command::new(ENTAIL).args(args).arg(model).output().unwrap()
}

fn text_of(args: &[&str], model: &Path) -> String {
    let output = entail(args, model);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?} {}: {complaints}", model.display());
    String::from_utf8(output.stdout).unwrap()
}

fn json_of(args: &[&str], model: &Path) -> Value {
    serde_json::from_str(&text_of(args, model)).unwrap()
}

/// Models of all languages, with all that can be wrong with some.
fn models() -> Vec<PathBuf> {
    let examples = ["counter", "peterson", "peterson-wrong", "philosophers", "hello", "leader", "dice"];
    let odd = ["light", "race", "stuck", "quotes", "nostart", "claims"];
    let examples = examples.map(|name| root().join("examples").join(name).with_extension("pml"));
    let odd = odd.map(|name| root().join("crates/entail/tests/cli/graph.in").join(name).with_extension("pml"));
    let others = [
        "tests/models/same/handshake.esml",
        "tests/models/same/handshake.bir",
        "tests/models/same/forgetful.esml",
        "tests/models/same/forgetful.bir",
        "crates/entail/tests/cli/languages.in/desk.esml",
        "crates/entail/tests/cli/languages.in/lamp.bir",
    ];
    examples.into_iter().chain(odd).chain(others.map(|model| root().join(model))).collect()
}

#[test]
fn a_graph_has_all_states_and_steps_of_the_search() {
    for model in models() {
        let graph = json_of(&["graph", "--format", "json"], &model);
        let checked = entail(
            &[
                "check",
                "--no-opt",
                "--reduce",
                "none",
                "--all-errors",
                "--property",
                "safety",
                "--format",
                "json",
                "--trail",
                "/dev/null",
            ],
            &model,
        );
        let checked: Value = serde_json::from_slice(&checked.stdout).unwrap();
        let searched = &checked["properties"][0];
        let (states, edges) = (graph["states"].as_array().unwrap(), graph["edges"].as_array().unwrap());
        assert_eq!(states.len(), searched["states"]["stored"], "{}", model.display());
        let arrived = edges.iter().filter(|edge| !edge["to"].is_null()).count();
        assert_eq!(arrived + 1, searched["states"]["transitions"], "{}", model.display());
        let wrong = states.iter().chain(edges).filter(|one| !one["error"].is_null()).count();
        assert_eq!(wrong, searched["errors"], "{}", model.display());
        if model.extension().is_none_or(|ending| ending != "pml") {
            // Their own tools count depth in another way.
            continue;
        }
        let depth = states.iter().filter_map(|state| state["depth"].as_u64()).max();
        assert_eq!(depth, searched["states"]["depth"].as_u64(), "{}", model.display());
    }
}

#[test]
fn an_svg_is_a_document_with_every_node_and_every_edge() {
    for model in models() {
        let graph = json_of(&["graph", "--format", "json"], &model);
        let drawn = text_of(&["graph", "--format", "svg", "--layout", "own"], &model);
        let drawn =
            roxmltree::Document::parse(&drawn).unwrap_or_else(|error| panic!("{}: {error}", model.display()));
        let of_class = |class: &str| {
            let has = |node: &roxmltree::Node| {
                node.attribute("class").is_some_and(|all| all.split(' ').any(|one| one == class))
            };
            drawn.descendants().filter(has).count()
        };
        let (states, edges) = (graph["states"].as_array().unwrap(), graph["edges"].as_array().unwrap());
        let nowhere = edges.iter().filter(|edge| edge["to"].is_null()).count();
        // The initial state is pointed to.
        assert_eq!(of_class("node"), states.len() + nowhere + 1, "{}", model.display());
        assert_eq!(of_class("edge"), edges.len() + 1, "{}", model.display());
    }
}

#[test]
fn pages_and_automata_are_documents_too() {
    for model in models() {
        let drawn = text_of(&["show", "automata", "--format", "svg", "--layout", "own"], &model);
        roxmltree::Document::parse(&drawn).unwrap_or_else(|error| panic!("{}: {error}", model.display()));
        let page = text_of(&["graph", "--search", "dfs", "--format", "html"], &model);
        let (_, script) = page.split_once("<script>").unwrap();
        // What a model says cannot end the script.
        assert_eq!(script.matches("</script>").count(), 1, "{}", model.display());
        let (_, frames) = script.split_once("const frames = ").unwrap();
        let (frames, _) = frames.split_once(";\n").unwrap();
        let frames: Value = serde_json::from_str(frames).unwrap();
        let lines = text_of(&["graph", "--search", "dfs"], &model);
        assert_eq!(frames.as_array().unwrap().len(), lines.lines().count(), "{}", model.display());
    }
}

#[test]
fn graphviz_accepts_what_is_written_for_it() {
    for model in models() {
        for args in [&["graph"][..], &["graph", "--tree", "3"], &["show", "automata", "--format", "dot"]] {
            let graph = text_of(args, &model);
            // Its reader alone: to lay out some of these would take it minutes.
            let command =
                Command::new("nop").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
            let Ok(mut dot) = command else {
                eprintln!("skipped: there is no Graphviz");
                return;
            };
            let mut to = dot.stdin.take().unwrap();
            let writer = std::thread::spawn(move || to.write_all(graph.as_bytes()));
            let output = dot.wait_with_output().unwrap();
            writer.join().unwrap().unwrap();
            let complaints = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && complaints.is_empty(), "{args:?} {}: {complaints}", model.display());
        }
    }
}

#[test]
fn a_breadth_first_search_meets_states_in_the_order_of_their_numbers() {
    for model in models() {
        let lines = text_of(&["graph", "--search", "bfs"], &model);
        let pushed = lines.lines().filter(|line| line.contains(" event=push "));
        let states: Vec<usize> = pushed
            .map(|line| {
                line.split("state=").nth(1).and_then(|rest| rest.split(' ').next()).unwrap().parse().unwrap()
            })
            .collect();
        assert!(states.iter().copied().eq(0..states.len()), "{}: {states:?}", model.display());
    }
}

#[test]
fn a_search_ends_at_an_error_exactly_where_there_is_one() {
    for model in models() {
        let wrong = json_of(&["graph", "--format", "json"], &model).to_string().contains("\"error\":\"");
        for order in ["bfs", "dfs"] {
            let lines = text_of(&["graph", "--search", order], &model);
            assert_eq!(lines.lines().last().unwrap().contains("event=error"), wrong, "{}", model.display());
        }
    }
}

#[test]
fn the_runs_of_a_tree_are_those_of_the_graph() {
    let model = root().join("crates/entail/tests/cli/graph.in/race.pml");
    let graph = json_of(&["graph", "--format", "json"], &model);
    let tree = json_of(&["graph", "--tree", "100", "--format", "json"], &model);
    let number = |node: &Value| tree["states"][node.as_u64().unwrap() as usize]["state"].clone();
    let steps = |edge: &Value| edge["steps"].to_string();
    let mut unfolded: Vec<String> = Vec::new();
    for edge in tree["edges"].as_array().unwrap() {
        unfolded.push(format!("{} {} {}", number(&edge["from"]), number(&edge["to"]), steps(edge)));
    }
    unfolded.sort();
    unfolded.dedup();
    let edges = graph["edges"].as_array().unwrap().iter();
    let mut drawn: Vec<_> = edges.map(|edge| format!("{} {} {}", edge["from"], edge["to"], steps(edge))).collect();
    drawn.sort();
    assert_eq!(unfolded, drawn);
}

#[test]
fn endless_models_are_counted_up_to_a_bound() {
    let output = entail(&["graph"], &root().join("crates/entail/tests/cli/graph.in/endless.pml"));
    assert_eq!(output.status.code(), Some(2));
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(complaint.contains("has more than 200 000 states"), "{complaint}");
}

#[test]
fn nobody_minds_a_reader_that_leaves() {
    let model = root().join("examples/philosophers.pml");
    let mut command = Command::new(ENTAIL);
    command.args(["graph", "--format", "svg", "--layout", "own"]).arg(model).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut complaints = String::new();
    child.stderr.take().unwrap().read_to_string(&mut complaints).unwrap();
    assert_eq!((child.wait().unwrap().code(), &*complaints), (Some(0), ""));
}

/// To accept new ones: `PICTURES=overwrite cargo test --test graph`.
#[test]
fn the_pictures_of_the_guide_are_what_is_drawn() {
    let own = ["--format", "svg", "--layout", "own"];
    for (name, args, model) in [
        ("graph-counter.svg", &["graph", "--values", "counter"][..], "counter.pml"),
        ("graph-tree.svg", &["graph", "--tree", "3", "--no-values"], "counter.pml"),
        ("automata-peterson.svg", &["show", "automata"], "peterson.pml"),
        ("claim-answer.svg", &["show", "claim", "--ltl", "[] (wants[0] -> <> (inside == 1))"], "peterson.pml"),
    ] {
        let drawn = text_of(&[args, &own].concat(), &root().join("examples").join(model));
        let path = root().join("docs/pictures").join(name);
        if std::env::var_os("PICTURES").is_some_and(|how| how == "overwrite") {
            fs::write(&path, &drawn).unwrap();
        }
        assert!(fs::read_to_string(&path).unwrap() == drawn, "{name} is drawn in another way");
    }
}
