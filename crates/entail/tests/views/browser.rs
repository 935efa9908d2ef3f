//! What pages do in a browser, where one is installed.

use super::{ENTAIL, languages, replay, root};
use serde_json::Value;
use std::fs;
use std::process::Command;
use tempfile::TempDir;

/// What tests do in a page, as a person would; `report` puts what is seen where a test finds it.
const HANDS: &str = r"
    const press = key => document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    const click = element => element.dispatchEvent(new MouseEvent('click', { bubbles: true }));
    const text = selector => document.querySelector(selector)?.textContent.trim() ?? 'nothing';
    const slider = document.querySelector('input[type=range]');
    function slide(to) {
        slider.value = to;
        slider.dispatchEvent(new Event('input', { bubbles: true }));
    }
    function report(seen) {
        const report = document.createElement('pre');
        report.id = 'seen';
        report.textContent = seen;
        document.body.append(report);
    }";

/// What is seen of a run: the step that the slider, the steps, the chart and the source are at, and what is said about it.
const VISIT: &str = r#"
    const seen = [];
    function look(what) {
        seen.push([what, slider.value, text('#steps .current'), text('#chart .current .number'),
            text('#source .acted .number'), text('#state .changed'), text('#now')].join(' | '));
    }
    look('opened');
    press('End'); look('End');
    press('ArrowLeft'); look('ArrowLeft');
    press('Home'); look('Home');
    press('ArrowRight'); look('ArrowRight');
    slide(7); look('slider');
    click(document.querySelector('#chart .row[data-step="4"] .band')); look('chart');
    click(document.querySelector('#steps .step[data-moment="2"]')); look('step');
    click(document.getElementById('forth')); look('forth');
    report([document.title, ...seen].join('\n'));"#;

#[test]
fn slider_chart_source_and_state_of_a_run_go_together() {
    let Some(seen) = visit(&page_of("shop"), "#step=6", VISIT) else { return };
    let expected = "\
shop.trail, replayed on shop.pml
opened | 6 | 6customer(0)  post?first | 6 | 15 | post#2 [2]#2 | customer(0) post?first shop.pml:15
End | 9 | 9customer(0)  assert(first < second) | 9 | 17 | nothing | customer(0) assert(first < second) \
shop.pml:17step 9: assertion violated: first < secondThe run ends here, in an error.
ArrowLeft | 8 | 8customer(0)  post?second | 8 | 16 | post#2 [1]#2 | customer(0) post?second shop.pml:16
Home | 0 | the start | nothing | nothing | nothing | The start.
ArrowRight | 1 | 1customer(0)  order!1 → shop(1)  order?number | 1 | 13 | number01 | customer(0) order!1 shop.pml:13 \
→ shop(1) order?number shop.pml:25
slider | 7 | 7packer(2)  post!number | 7 | 31 | post#2#2 [1] | packer(2) post!number shop.pml:31
chart | 5 | 5packer(3)  post!number | 5 | 31 | post#2#2 [2] | packer(3) post!number shop.pml:31
step | 2 | 2shop(1)  run packer(number) | 2 | 25 | number1 | shop(1) run packer(number) shop.pml:25
forth | 3 | 3customer(0)  order!2 → shop(1)  order?number | 3 | 14 | number12 | customer(0) order!2 shop.pml:14 \
→ shop(1) order?number shop.pml:25";
    assert_eq!(seen, expected);
}

#[test]
fn so_they_do_in_other_languages() {
    let page = languages::view_of("desk.esml", "desk.trail", "html");
    let Some(seen) = visit(&page, "#step=3", VISIT) else { return };
    let handed = "Clerk(0) there!write(n) desk.esml:14 → Book(1) there?write(last) desk.esml:24";
    for expected in [
        &*format!(
            "opened | 3 | 3Clerk(0)  there!write(n) → Book(1)  there?write(last) | 3 | 14 | nothing | {handed}\n"
        ),
        "End | 12 | 12Clerk(0)  n := n + 1 | 12 | 16 | nothing | Clerk(0) n := n + 1 desk.esml:16step 12: value out of \
         range in `n := n + 1`",
        "chart | 5 | 5Book(1)  back!done → Clerk(0)  back?done | 5 | 15 | nothing | ",
        "step | 2 | 2Book(1)  TRUE | 2 | 23 | nothing | ",
    ] {
        assert!(seen.contains(expected), "{expected} expected:\n{seen}");
    }
}

#[test]
fn no_model_can_be_taken_for_a_script() {
    let Some(seen) = visit(&page_of("odd"), "#step=1", VISIT) else { return };
    assert!(seen.starts_with("odd.trail, replayed on odd.pml\n"), "{seen}");
    assert!(seen.contains("opened | 1 | 1speaker(0)  printf(\"<b>Größe & 漢字"), "{seen}");
}

/// All that is seen of a search, wherever the slider is, and once more after the keys.
const WATCH: &str = r"
    const numbers = selector => [...document.querySelectorAll(selector)].map(node => Number(node.id.slice(1)));
    const look = () => ({
        at: Number(slider.value), number: text('#number'), event: text('#event'), text: text('#text'),
        waits: text('#waits').split(' ').filter(word => word).map(Number),
        waiting: numbers('.node.waits'), known: numbers('.node.known:not(#start)'),
        all: numbers('.node:not(#start)'), current: numbers('.node.current'), failed: numbers('.node.failed'),
        tried: document.querySelectorAll('.edge.tried').length, now: document.querySelectorAll('.edge.now').length,
    });
    const seen = [look()];
    for (let at = 1; at <= Number(slider.max); at++) { slide(at); seen.push(look()); }
    press('ArrowLeft'); const back = look();
    press('ArrowRight'); const forth = look();
    report(JSON.stringify({ seen, back, forth }));";

/// What holds of every search, whatever it tells and in how many frames.
#[test]
fn slider_picture_and_text_of_a_search_go_together() {
    for (model, order, error) in [
        ("graph.in/race.pml", "dfs", Some("assertion violated: n == 1")),
        ("languages.in/desk.esml", "bfs", Some("value out of range in `n := n + 1`")),
        // These go on until there is nothing left.
        ("languages.in/workers.esml", "dfs", None),
        ("languages.in/workers.esml", "bfs", None),
    ] {
        let page = Command::new(ENTAIL)
            .args(["graph", "--search", order, "--format", "html"])
            .arg(root().join("crates/entail/tests/cli").join(model))
            .output()
            .unwrap();
        assert!(page.status.success(), "{model}");
        let Some(seen) = visit(&String::from_utf8(page.stdout).unwrap(), "", WATCH) else { return };
        let watched: Value = serde_json::from_str(&seen).unwrap();
        let frames = watched["seen"].as_array().unwrap();
        assert!(frames.len() > 10, "{model} {order}: {seen}");
        let numbers = |frame: &Value, what: &str| -> Vec<u64> {
            frame[what].as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
        };
        for (at, frame) in frames.iter().enumerate() {
            let what = format!("{model} {order} at {at}: {frame}");
            assert_eq!(frame["at"], at, "{what}");
            assert_eq!(frame["number"], format!("{} of {}", at + 1, frames.len()), "{what}");
            assert!(frame["event"] != "" && frame["text"] != "", "{what}");
            // What the text says to wait is marked in the picture, and is known.
            let (known, waits) = (numbers(frame, "known"), sorted(numbers(frame, "waits")));
            assert_eq!(waits, sorted(numbers(frame, "waiting")), "{what}");
            assert!(waits.iter().all(|state| known.contains(state)), "{what}");
            // There is one state that it is about.
            let here = [numbers(frame, "current"), numbers(frame, "failed")].concat();
            assert!(here.len() == 1 && known.contains(&here[0]), "{what}");
            assert_eq!(frame["text"].as_str() == error, !numbers(frame, "failed").is_empty(), "{what}");
        }
        for (before, after) in frames.iter().zip(&frames[1..]) {
            let what = format!("{model} {order}: {before} {after}");
            let grows = |what: &str| numbers(before, what).iter().all(|state| numbers(after, what).contains(state));
            assert!(grows("known") && before["tried"].as_u64() <= after["tried"].as_u64(), "{what}");
            // A stack changes at its end; a queue loses what is in front, and gets new ones behind the others.
            let (waited, waits) = (numbers(before, "waits"), numbers(after, "waits"));
            let is_in_order = match order {
                "dfs" => waited.starts_with(&waits) || waits.starts_with(&waited),
                _ => (0..=waited.len()).any(|taken| waits.starts_with(&waited[taken..])),
            };
            assert!(is_in_order, "{what}");
        }
        let (first, last) = (&frames[0], frames.last().unwrap());
        assert_eq!((numbers(first, "known"), first["tried"].as_u64()), (vec![0], Some(0)), "{model} {order}");
        assert!(numbers(last, "known").len() > 3 && last["tried"].as_u64() > Some(3), "{model} {order}: {last}");
        assert!(frames.iter().any(|frame| frame["now"] == 1), "{model} {order}");
        match error {
            Some(error) => assert!(frames.iter().any(|frame| frame["text"] == error), "{model} {order}: {seen}"),
            None => {
                assert!(numbers(last, "waits").is_empty(), "{model} {order}: {last}");
                assert_eq!(numbers(last, "known"), numbers(last, "all"), "{model} {order}");
            }
        }
        assert_eq!(watched["back"], frames[frames.len() - 2], "{model} {order}");
        assert_eq!(watched["forth"], *last, "{model} {order}");
    }
}

fn sorted(mut numbers: Vec<u64>) -> Vec<u64> {
    numbers.sort_unstable();
    numbers
}

fn page_of(model: &str) -> String {
    String::from_utf8(replay(model, model, &["--as", "html"]).stdout).unwrap()
}

/// What a script reports that is run in a page, which is opened at some place; `None` if there is no browser.
pub fn visit(page: &str, place: &str, script: &str) -> Option<String> {
    if Command::new("chromium").arg("--version").output().is_err() {
        eprintln!("skipped: there is no chromium");
        return None;
    }
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("page.html");
    let visited = page.replace("</body>", &format!("<script>{{{HANDS}{script}}}</script></body>"));
    assert_ne!(page, visited, "no page:\n{page}");
    fs::write(&path, visited).unwrap();
    let profile = format!("--user-data-dir={}", folder.path().join("profile").display());
    let address = format!("file://{}{place}", path.display());
    let mut browser = Command::new("chromium");
    browser.args(["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=10000", "--dump-dom"]);
    let dumped = browser.args([&profile, &address]).output().unwrap();
    let dom = String::from_utf8(dumped.stdout).unwrap();
    let (_, seen) = dom.split_once("<pre id=\"seen\">").unwrap_or_else(|| panic!("the script failed:\n{dom}"));
    let (seen, _) = seen.split_once("</pre>").unwrap();
    Some(seen.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
}
