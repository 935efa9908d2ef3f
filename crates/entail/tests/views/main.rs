//! Pictures and pages of runs: what is in them.

mod browser;
mod hostile;
mod languages;
mod trails;

use roxmltree::{Document, Node};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const ENTAIL: &str = env!("CARGO_BIN_EXE_entail");

#[test]
fn messages_from_hand_to_hand_are_straight_arrows() {
    let picture = picture("shop", &[]);
    let document = Document::parse(&picture).unwrap();
    let hands = elements(&document, "line.hand");
    assert_eq!(hands.len(), 2);
    let (customer, shop) = (lane(&document, "customer(0)"), lane(&document, "shop(1)"));
    for hand in hands {
        let y = row(&document, hand.attribute("data-step").unwrap());
        assert_eq!(ends(hand), (customer, y, shop, y));
    }
}

#[test]
fn messages_through_channels_go_from_the_row_of_the_send_to_that_of_the_receive() {
    let picture = picture("shop", &[]);
    let document = Document::parse(&picture).unwrap();
    let letters = elements(&document, "line.letter");
    assert_eq!(letters.len(), 2);
    for (letter, packer) in letters.into_iter().zip(["packer(3)", "packer(2)"]) {
        let at = |end| row(&document, letter.attribute(end).unwrap());
        let (sent, received) = (at("data-sent"), at("data-received"));
        assert!(sent < received);
        assert_eq!(ends(letter), (lane(&document, packer), sent, lane(&document, "customer(0)"), received));
    }
}

#[test]
fn a_message_that_is_never_received_ends_in_a_stub() {
    let picture = picture("odd", &[]);
    let document = Document::parse(&picture).unwrap();
    let received: Vec<_> =
        elements(&document, "line.letter").iter().map(|letter| letter.attribute("data-received")).collect();
    assert_eq!(received, [Some("4"), Some("4")]);
    let [lost] = elements(&document, "line.letter lost")[..] else { panic!("there is one") };
    assert_eq!(lost.attribute("data-received"), None);
    assert_eq!(elements(&document, "circle.open").len(), 1);
    assert_eq!(ends(lost).0, lane(&document, "speaker(0)"));
}

#[test]
fn a_message_that_is_left_out_at_one_end_has_a_stub_there() {
    let picture = picture("shop", &["--hide", "post?first"]);
    let document = Document::parse(&picture).unwrap();
    assert_eq!(elements(&document, "g.row").len() + elements(&document, "g.row wrong").len(), 8);
    let letters = elements(&document, "line.letter");
    assert_eq!(letters.len(), 2);
    assert_eq!(ends(letters[0]).0, lane(&document, "packer(3)"));
}

#[test]
fn what_is_repeated_and_what_goes_wrong_is_marked() {
    let rally = picture("rally", &[]);
    let rally = Document::parse(&rally).unwrap();
    assert_eq!(elements(&rally, "path.round").len(), 1);
    assert!(elements(&rally, "g.row wrong").is_empty());
    let shop = picture("shop", &[]);
    let shop = Document::parse(&shop).unwrap();
    assert!(elements(&shop, "path.round").is_empty());
    let [wrong] = elements(&shop, "g.row wrong")[..] else { panic!("there is one") };
    assert_eq!(wrong.attribute("data-step"), Some("8"));
    let said: Vec<_> = elements(&shop, "text.closing wrong").iter().filter_map(Node::text).collect();
    assert_eq!(said, ["step 9: assertion violated: first < second", "The run ends here, in an error."]);
}

#[test]
fn processes_begin_where_they_are_started_and_end_where_they_end() {
    let shop = picture("shop", &[]);
    let shop = Document::parse(&shop).unwrap();
    let lives = elements(&shop, "line.life");
    let begins = |name| {
        let x = lane(&shop, name);
        lives.iter().map(|life| ends(*life)).find(|life| life.0 == x).unwrap().1
    };
    assert_eq!(begins("packer(2)"), row(&shop, "1"));
    assert_eq!(begins("packer(3)"), row(&shop, "3"));
    assert!(begins("customer(0)") < row(&shop, "0"));
    let odd = picture("odd", &[]);
    let odd = Document::parse(&odd).unwrap();
    let [end] = elements(&odd, "line.end")[..] else { panic!("the hearer ends") };
    assert_eq!(ends(end).1, row(&odd, "6"));
}

#[test]
fn any_statement_can_be_in_a_picture() {
    let picture = picture("odd", &[]);
    let document = Document::parse(&picture).unwrap();
    let local = elements(&document, "text.local");
    let text = local.iter().find_map(|node| node.text()).unwrap();
    assert!(text.starts_with("printf(\"<b>Größe & 漢字</b>"), "{text}");
    let titles: String =
        document.descendants().filter(|node| node.has_tag_name("title")).filter_map(|t| t.text()).collect();
    assert!(titles.contains("</script>"), "the whole statement is in the tooltip");
}

#[test]
fn runs_without_steps_and_models_that_cannot_start_have_pictures_and_pages() {
    for (model, error) in
        [("unstarted", "step 1: the model cannot start: division by zero"), ("shop", "without an error")]
    {
        for view in ["svg", "html"] {
            let replayed = replay(model, "unstarted", &["--as", view]);
            let text = String::from_utf8(replayed.stdout).unwrap();
            assert!(replayed.status.success(), "{model} as {view}");
            assert!(said(&text).contains(error), "{model} as {view}:\n{text}");
        }
    }
}

#[test]
fn as_far_as_a_trail_fits_there_is_a_picture_and_a_page() {
    for view in ["svg", "html"] {
        let replayed = replay("shop", "half", &["--as", view]);
        assert_eq!(replayed.status.code(), Some(2));
        let misfit = "half.trail does not fit this model at step 4: customer(0) cannot do `order!2`";
        assert!(String::from_utf8_lossy(&replayed.stderr).contains(misfit));
        let text = String::from_utf8(replayed.stdout).unwrap();
        assert!(said(&text).contains(misfit) && text.contains("order!1"), "{text}");
    }
}

#[test]
fn as_many_processes_as_there_may_be_are_shown_on_any_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("many.pml");
    fs::write(&model, "byte x; active [255] proctype p() { x++; assert(x < 4) }").unwrap();
    let checked = entail(&[Path::new("check"), Path::new("--search"), Path::new("dfs"), &model]);
    assert_eq!(checked.status.code(), Some(1));
    for view in ["table", "chart", "svg", "html"] {
        for width in ["20", "80", "65535"] {
            let args = [Path::new("replay"), &model, Path::new("--as"), Path::new(view), Path::new("--width")];
            let shown = entail(&[&args[..], &[Path::new(width)]].concat());
            let text = String::from_utf8(shown.stdout).unwrap();
            assert!(shown.status.success() && text.contains("assertion"), "{view} {width}");
            let is_text = matches!(view, "table" | "chart");
            let fits = |line: &str| line.chars().count() <= width.parse().unwrap();
            assert!(!is_text || text.lines().all(fits), "{view} is wider than {width}:\n{text}");
        }
    }
}

#[test]
fn long_runs_are_pages_up_to_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("long.pml");
    for (rounds, fits) in [(5_000, true), (15_000, false)] {
        let text = format!("int i; init {{ do :: i < {rounds} -> i++ :: else -> break od; assert(false) }}");
        fs::write(&model, text).unwrap();
        let checked = entail(&[Path::new("check"), &model]);
        assert_eq!(checked.status.code(), Some(1));
        let page = entail(&[Path::new("replay"), &model, Path::new("--as"), Path::new("html")]);
        let said = String::from_utf8_lossy(&page.stderr);
        assert_eq!(page.status.success(), fits, "{said}");
        assert_eq!(said.contains("shows 20000 at most"), !fits, "{said}");
    }
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let mut command = Command::new(ENTAIL);
    command.args(["replay", "shop.pml", "shop.trail", "--as", "html"]).current_dir(models());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &output.stderr[..]), (Some(0), &b""[..]));
}

#[test]
fn the_picture_in_the_guide_is_what_is_drawn() {
    let kept = fs::read_to_string(root().join("docs/pictures/shop.svg")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::copy(root().join("examples/shop.pml"), folder.path().join("shop.pml")).unwrap();
    let run = |args: &[&str]| Command::new(ENTAIL).args(args).current_dir(folder.path()).output().unwrap();
    run(&["check", "shop.pml"]);
    let drawn = String::from_utf8(run(&["replay", "shop.pml", "--as", "svg"]).stdout).unwrap();
    assert_eq!(drawn, kept, "to accept it: entail replay shop.pml --as svg > docs/pictures/shop.svg");
}

fn picture(model: &str, options: &[&str]) -> String {
    let drawn = replay(model, model, &[&["--as", "svg"], options].concat());
    assert!(drawn.status.success(), "{}", String::from_utf8_lossy(&drawn.stderr));
    String::from_utf8(drawn.stdout).unwrap()
}

fn replay(model: &str, trail: &str, options: &[&str]) -> Output {
    let mut command = Command::new(ENTAIL);
    command.arg("replay").args([format!("{model}.pml"), format!("{trail}.trail")]).args(options);
    command.current_dir(models()).output().unwrap()
}

fn entail(args: &[&Path]) -> Output {
    Command::new(ENTAIL).args(args).output().unwrap()
}

fn models() -> PathBuf {
    root().join("crates/entail/tests/cli/runs.in")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What has this name and exactly this class, as in `line.hand`.
fn elements<'a>(document: &'a Document, kind: &str) -> Vec<Node<'a, 'a>> {
    let (name, class) = kind.split_once('.').unwrap();
    document
        .descendants()
        .filter(|node| node.has_tag_name(name) && node.attribute("class") == Some(class))
        .collect()
}

/// What a picture says in the end, which may take it several lines; or all that is in a page.
fn said(text: &str) -> String {
    let Some(document) = Document::parse(text).ok().filter(|_| text.starts_with("<svg")) else {
        return text.to_owned();
    };
    let is_closing = |node: &Node| node.attribute("class").is_some_and(|class| class.starts_with("closing"));
    let lines: Vec<_> = document.descendants().filter(is_closing).filter_map(|node| node.text()).collect();
    lines.join(" ")
}

/// From where to where a line goes.
fn ends(line: Node) -> (u32, u32, u32, u32) {
    let number = |name| line.attribute(name).unwrap().parse().unwrap();
    (number("x1"), number("y1"), number("x2"), number("y2"))
}

/// Where the line of a process is.
fn lane(document: &Document, name: &str) -> u32 {
    let title = document.descendants().find(|node| {
        let is_process = node.parent().is_some_and(|parent| parent.attribute("class") == Some("process"));
        is_process && node.has_tag_name("text") && node.text() == Some(name)
    });
    title.unwrap().attribute("x").unwrap().parse().unwrap()
}

/// At what height a step is.
fn row(document: &Document, step: &str) -> u32 {
    let is_row = |node: &Node| node.has_tag_name("g") && node.attribute("data-step") == Some(step);
    let row = document.descendants().find(is_row).unwrap();
    let band = row.children().find(|node| node.attribute("class") == Some("band")).unwrap();
    let number = |name| band.attribute(name).unwrap().parse::<u32>().unwrap();
    number("y") + number("height") / 2
}
