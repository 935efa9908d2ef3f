//! Runs of ESML and BIR models: every view says of them what it says of Promela models.

use super::{ENTAIL, elements, ends, lane, root, row, said};
use entail_testkit::files::models_in;
use roxmltree::{Document, Node};
use serde_json::{Map, Value};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A model with an error, in a folder with its trail.
struct Violated {
    folder: TempDir,
    name: String,
    source: String,
    /// What was said of the counterexample when it was found.
    found: Value,
    /// The run, for programs.
    run: Value,
}

impl Violated {
    fn new(model: &Path) -> Violated {
        let folder = TempDir::new().unwrap();
        let name = model.file_name().unwrap().to_str().unwrap().to_owned();
        let source = fs::read_to_string(model).unwrap();
        fs::write(folder.path().join(&name), &source).unwrap();
        let mut violated = Violated { folder, name, source, found: Value::Null, run: Value::Null };
        let checked = violated.entail(&["check", "--format", "json"]);
        assert_eq!(checked.status.code(), Some(1), "{}", violated.name);
        let checked: Value = serde_json::from_slice(&checked.stdout).unwrap();
        violated.found = checked["properties"][0]["counterexample"].clone();
        violated.run = serde_json::from_str(&violated.view("json")).unwrap();
        violated
    }

    /// The command, with the model as its last argument.
    fn entail(&self, args: &[&str]) -> Output {
        Command::new(ENTAIL).args(args).arg(&self.name).current_dir(self.folder.path()).output().unwrap()
    }

    /// The counterexample in one of the ways to see it.
    fn view(&self, view: &str) -> String {
        // Wide enough that nothing is cut.
        let shown = self.entail(&["replay", "--as", view, "--width", "60000"]);
        assert_eq!((shown.status.code(), text(&shown.stderr)), (Some(0), String::new()), "{} {view}", self.name);
        text(&shown.stdout)
    }

    fn steps(&self) -> &[Value] {
        self.run["steps"].as_array().unwrap()
    }

    /// The statements of processes with their positions, step by step; the sender precedes the receiver.
    fn acts(&self) -> Vec<Vec<Act<'_>>> {
        let halves = self.steps().iter().map(|step| [&step["action"], &step["partner"]]);
        halves.map(|both| both.into_iter().filter_map(Value::as_object).map(Act::of).collect()).collect()
    }
}

struct Act<'r> {
    /// With its number.
    process: String,
    statement: &'r str,
    line: usize,
    column: usize,
}

impl Act<'_> {
    fn of(act: &Map<String, Value>) -> Act<'_> {
        let number = |key: &str| act[key].as_u64().unwrap() as usize;
        Act {
            process: format!("{}({})", act["name"].as_str().unwrap(), number("process")),
            statement: act["statement"].as_str().unwrap(),
            line: number("line"),
            column: number("column"),
        }
    }
}

/// All models of other languages that say of themselves that they are violated.
fn violated() -> Vec<Violated> {
    let folders = ["examples/esml", "examples/bir", "tests/models", "crates/entail/tests/cli/languages.in"];
    let models = folders.iter().flat_map(|folder| models_in(&root().join(folder)));
    let is_foreign = |model: &PathBuf| model.extension().is_some_and(|ending| ending == "esml" || ending == "bir");
    let is_violated = |model: &PathBuf| fs::read_to_string(model).unwrap().contains("expect: safety violated");
    let models: Vec<PathBuf> = models.filter(is_foreign).filter(is_violated).collect();
    assert!(models.len() > 30, "only {} models found", models.len());
    models.iter().map(|model| Violated::new(model)).collect()
}

/// One pass over the models for all of this: to check every one of them anew for each question would take long.
#[test]
fn counterexamples_are_the_same_in_every_view() {
    let (mut in_graph, mut arrows) = (0, 0);
    for model in violated() {
        ends_where_it_goes_wrong(&model);
        in_graph += usize::from(is_in_the_graph(&model));
        statements_stand_where_they_are_said_to(&model);
        texts_name_processes_lines_and_values(&model);
        arrows += picture_has_rows_and_straight_arrows(&model);
        page_has_all_moments(&model);
    }
    assert!(in_graph > 30 && arrows > 10, "{in_graph} graphs, {arrows} arrows");
}

fn ends_where_it_goes_wrong(model: &Violated) {
    let Violated { name, found, run, .. } = model;
    assert_eq!(run["steps"].as_array().unwrap().len(), found["steps"], "{name}");
    for key in ["kind", "message", "file", "line", "column"] {
        assert_eq!(run["error"][key], found[key], "{name}: {key}");
    }
    let last = model.steps().last().map_or(&Value::Null, |step| &step["error"]);
    match run["ending"].as_str().unwrap() {
        "error" => assert_eq!(last, &run["error"], "{name}"),
        "invalid_end" => assert!(last.is_null(), "{name}"),
        ending => panic!("{name}: {ending}"),
    }
}

/// Whether the graph of the model is small enough to be asked: there, too, the last step or state is wrong.
fn is_in_the_graph(model: &Violated) -> bool {
    let graph = model.entail(&["graph", "--format", "json", "--limit", "3000"]);
    if !graph.status.success() {
        assert!(text(&graph.stderr).contains("too many to draw"), "{}", model.name);
        return false;
    }
    let graph: Value = serde_json::from_slice(&graph.stdout).unwrap();
    let (states, edges) = (graph["states"].as_array().unwrap(), graph["edges"].as_array().unwrap());
    let error = &model.run["error"]["message"];
    let steps = model.steps();
    let state_before = |count: usize| match steps.len() - count {
        0 => &model.run["start"]["values"],
        after => &steps[after - 1]["state"]["values"],
    };
    let is_known = if model.run["ending"] == "error" {
        edges.iter().filter(|edge| edge["error"] == *error).any(|edge| {
            let from = &states[edge["from"].as_u64().unwrap() as usize];
            // An atomic sequence is one edge.
            let told = edge["steps"].as_array().unwrap();
            let is_same = |(step, told): (&Value, &Value)| {
                ["process", "name", "file", "line", "statement"].iter().all(|key| step["action"][key] == told[key])
            };
            let same_steps = steps.iter().rev().zip(told.iter().rev()).all(is_same);
            same_steps && values(from) == *state_before(told.len())
        })
    } else {
        states.iter().any(|state| state["error"] == *error && values(state) == *state_before(0))
    };
    assert!(is_known, "{}: {}\nin\n{graph}", model.name, model.run);
    true
}

/// Of a state of a graph, as a run has them: where processes are is a value, too.
fn values(state: &Value) -> Value {
    let mut values = state["values"].as_object().unwrap().clone();
    for process in state["processes"].as_array().unwrap() {
        let title = format!("{}({})", process["name"].as_str().unwrap(), process["process"]);
        values.insert(title, format!("at {}", process["location"]).into());
    }
    values.into()
}

fn statements_stand_where_they_are_said_to(model: &Violated) {
    let tight = |text: &str| text.split_whitespace().collect::<String>();
    for act in model.acts().iter().flatten() {
        let rest: Vec<&str> = model.source.lines().skip(act.line - 1).collect();
        let there: String = rest.join("\n").chars().skip(act.column - 1).collect();
        let Act { statement, line, column, .. } = act;
        let written = written_of(statement);
        assert!(tight(&there).starts_with(&tight(written)), "{}:{line}:{column}: {statement}", model.name);
    }
}

/// What of a statement stands in the source: not which alternative is chosen, who is woken, nor that a wait is over, nor where a round begins again.
fn written_of(statement: &str) -> &str {
    let chosen = statement.split_once(" [").filter(|_| statement.ends_with(']'));
    let statement = chosen.map_or(statement, |(written, _)| written);
    let written = statement.split_once(": ").map_or(statement, |(written, _)| written);
    if written.starts_with("goto line ") { "" } else { written.strip_suffix(" ends").unwrap_or(written) }
}

fn texts_name_processes_lines_and_values(model: &Violated) {
    let Violated { name, run, .. } = model;
    let (steps, table, chart) = (model.view("steps"), model.view("table"), model.view("chart"));
    let error = run["error"]["message"].as_str().unwrap();
    assert!([&steps, &table, &chart].iter().all(|text| text.contains(error)), "{name}:\n{steps}{table}{chart}");
    let titles: Vec<&str> = cells(table.lines().nth(2).unwrap());
    for (step, acts) in model.steps().iter().zip(model.acts()) {
        let number = step["number"].as_u64().unwrap();
        let told = lines_of(&steps, number);
        for Act { process, statement, line, .. } in &acts {
            for expected in [process, &format!("{name}:{line}"), *statement] {
                assert!(told[0].contains(expected), "{name}: {expected} expected:\n{steps}");
            }
            let column = titles.iter().position(|title| title == process).unwrap();
            let cell = cells(lines_of(&table, number)[0])[column];
            assert!(is_cut(statement, cell), "{name}: {statement} expected:\n{table}");
        }
        // A model that cannot even start has no processes.
        if let Some(Act { statement, .. }) = acts.first() {
            let row = lines_of(&chart, number)[0];
            let is_arrow = row.contains(['▶', '◀']);
            assert_eq!(is_arrow, acts.len() == 2, "{name}: {row}");
            let mut lanes = row.split(['│', '┬', '┴']).map(str::trim);
            assert!(is_arrow || lanes.any(|lane| is_cut(statement, lane)), "{name}: {statement} expected:\n{row}");
        }
        for change in step["changes"].as_array().unwrap() {
            let [what, before, after] = ["name", "before", "after"].map(|key| change[key].as_str().unwrap());
            let is_told = !what.ends_with(')') && !before.is_empty() && !after.is_empty();
            let expected = format!("{what}: {before} → {after}");
            assert_eq!(told.join("\n").contains(&expected), is_told, "{name}: {expected} expected:\n{steps}");
        }
        let printed = step["output"].as_str().map(|output| format!("prints {output:?}"));
        assert!(printed.is_none_or(|printed| told.join("\n").contains(&printed)), "{name}:\n{steps}");
    }
    let printed: String = model.steps().iter().filter_map(|step| step["output"].as_str()).collect();
    assert_eq!(model.view("output").trim_end_matches('\n'), printed.trim_end_matches('\n'), "{name}");
}

/// The line with the number of a step, and those after it that have none.
fn lines_of(text: &str, step: u64) -> Vec<&str> {
    let number =
        |line: &str| line.split([' ', '✗']).find(|word| !word.is_empty()).and_then(|word| word.parse::<u64>().ok());
    let mut lines = text.lines().skip_while(|line| number(line) != Some(step));
    let first = lines.next().unwrap_or_else(|| panic!("step {step} expected:\n{text}"));
    [first]
        .into_iter()
        .chain(lines.take_while(|line| line.starts_with("     ") && number(line).is_none()))
        .collect()
}

/// What stands in a row of a table.
fn cells(row: &str) -> Vec<&str> {
    row.split('│').skip(1).map(str::trim).collect()
}

/// Whether a text is shown, as much of it as there is room for.
fn is_cut(text: &str, shown: &str) -> bool {
    text == shown
        || shown.strip_suffix('…').is_some_and(|beginning| !beginning.is_empty() && text.starts_with(beginning))
}

/// Returns how many arrows there are.
fn picture_has_rows_and_straight_arrows(model: &Violated) -> usize {
    let name = &model.name;
    let picture = model.view("svg");
    let document = Document::parse(&picture).unwrap_or_else(|error| panic!("{name}: {error}"));
    let message = model.run["error"]["message"].as_str().unwrap();
    let closing = said(&picture);
    assert!(closing.contains(message), "{name}: {message} expected:\n{closing}");
    let rows = elements(&document, "g.row").len() + elements(&document, "g.row wrong").len();
    assert_eq!(rows, model.steps().len(), "{name}");
    let hands = elements(&document, "line.hand");
    let acts = model.acts();
    for (step, acts) in acts.iter().enumerate() {
        let number = step.to_string();
        let is_row = |node: &Node| node.has_tag_name("g") && node.attribute("data-step") == Some(&number);
        let row_of = document.descendants().find(is_row).unwrap();
        let title =
            row_of.children().find(|node| node.has_tag_name("title")).and_then(|title| title.text()).unwrap();
        for Act { process, statement, line, .. } in acts {
            for expected in [process, &format!("{name}:{line}"), *statement] {
                assert!(title.contains(expected), "{name}: {expected} expected:\n{title}");
            }
        }
        let hand = hands.iter().find(|hand| hand.attribute("data-step") == Some(&number));
        if let [sender, receiver] = &acts[..] {
            let y = row(&document, &number);
            let straight = (lane(&document, &sender.process), y, lane(&document, &receiver.process), y);
            assert_eq!(hand.map(|hand| ends(*hand)), Some(straight), "{name}: step {}", step + 1);
        } else {
            assert!(hand.is_none(), "{name}: step {}", step + 1);
        }
    }
    hands.len()
}

fn page_has_all_moments(model: &Violated) {
    let name = &model.name;
    let page = model.view("html");
    let (_, data) = page.split_once("id=\"data\">").unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    let starts = !model.run["start"]["processes"].as_array().unwrap().is_empty();
    assert!(!starts || data["files"][0]["text"] == model.source, "{name}");
    let moments = data["moments"].as_array().unwrap();
    assert_eq!(moments.len(), model.steps().len() + 1, "{name}");
    let names = data["names"].as_array().unwrap();
    // What a page tells are differences; in the end there is what there is in the last state.
    let mut values = Map::new();
    for moment in moments {
        for change in moment["values"].as_array().unwrap() {
            let variable = names[change[0].as_u64().unwrap() as usize].as_str().unwrap();
            values.insert(variable.to_owned(), change[1].clone());
        }
    }
    let last = model.steps().last().map_or(&model.run["start"], |step| &step["state"]);
    let mut expected = last["values"].as_object().unwrap().clone();
    expected.retain(|name, _| !name.ends_with(')'));
    assert_eq!(values, expected, "{name}");
    for (moment, acts) in moments[1..].iter().zip(model.acts()) {
        let told = [&moment["step"]["act"], &moment["step"]["partner"]];
        for (act, told) in acts.iter().zip(told) {
            let told = (&told["who"], &told["statement"], &told["line"]);
            assert_eq!(told, (&act.process.as_str().into(), &act.statement.into(), &act.line.into()), "{name}");
        }
    }
}

#[test]
fn a_simulated_run_is_seen_as_its_trail_is() {
    for (model, seed) in [("desk.esml", "1"), ("lamp.bir", "1"), ("lamp.bir", "4")] {
        let folder = TempDir::new().unwrap();
        fs::copy(here().join(model), folder.path().join(model)).unwrap();
        let run = |args: &[&str]| Command::new(ENTAIL).args(args).current_dir(folder.path()).output().unwrap();
        for view in ["steps", "output", "table", "chart", "svg", "html", "json"] {
            let simulated = run(&["simulate", model, "--seed", seed, "--as", view, "--trail", "its.trail"]);
            let fails = seed == "4" || model == "desk.esml";
            assert_eq!(simulated.status.code(), Some(i32::from(fails)), "{model} {view}");
            let replayed = run(&["replay", model, "its.trail", "--as", view]);
            let (from, to) =
                (format!("{model}, run at random with seed {seed}"), format!("its.trail, replayed on {model}"));
            let (json_from, json_to) = (format!("\"seed\": {seed}"), "\"trail\": \"its.trail\"");
            let simulated = text(&simulated.stdout).replace(&from, &to).replace(&json_from, json_to);
            assert_eq!(simulated, text(&replayed.stdout), "{model} {view}");
        }
    }
}

#[test]
fn sessions_know_processes_places_and_values() {
    for (model, typed, code, expected) in [
        (
            "desk.esml",
            "1\n1\n1\n/ last\nu\ns\nb 3\nh\n",
            0,
            &[
                "0> 1\n    1  Clerk(0)       desk.esml:13     TRUE\n",
                "2> 1\n    3  Clerk(0) → Book(1) desk.esml:14     there!write(n)  →  there?write(last)  desk.esml:24\n",
                "3> / last\n    Book(1):last = 0\n",
                "value out of range in `n := n + 1`\n12> s\n    Book(1):last = 1\n12> b 3\n",
                "9> h\n    1  Clerk(0)",
            ][..],
        ),
        (
            "lamp.bir",
            "1\n1\n1\n1\ns\n",
            1,
            &[
                "Switch(1) starts, Switch(2) starts\n\n    1  Switch(2)      lamp.bir:22 ",
                "    3  Switch(1)      lamp.bir:22      do { lamp := wanted; done := done + 1; } return\n         \
                 lamp: OFF → ON, done: 1 → 2\n",
                "assertion violated: lamp == Light.OFF\n4> s\n    lamp = ON\n    done = 2\n",
            ],
        ),
    ] {
        let mut command = Command::new(ENTAIL);
        command.args(["simulate", "-i", "--seed", "1", model]).current_dir(here()).stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
        let ended = child.wait_with_output().unwrap();
        let said = text(&ended.stdout);
        assert_eq!((ended.status.code(), text(&ended.stderr)), (Some(code), String::new()), "{said}");
        for expected in expected {
            assert!(said.contains(expected), "{expected} expected:\n{said}");
        }
    }
}

/// A run of a model of this folder, in one of the ways to see it.
pub fn view_of(model: &str, trail: &str, view: &str) -> String {
    let shown =
        Command::new(ENTAIL).args(["replay", model, trail, "--as", view]).current_dir(here()).output().unwrap();
    assert!(shown.status.success(), "{model} {view}");
    text(&shown.stdout)
}

fn here() -> PathBuf {
    root().join("crates/entail/tests/cli/languages.in")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}
