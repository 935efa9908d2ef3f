//! Text that is made to be obeyed: by a terminal, a browser or a program that draws graphs. It reaches none of them.

use super::ENTAIL;
use super::browser::visit;
use roxmltree::Document;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// What a page does if it takes a string for a script.
const RUN: &str = "document.documentElement.dataset.evil=1";

/// More than 200 strings. Behind whatever is hostile stands the word EVIL.
fn strings() -> Vec<String> {
    let control = (1..32).chain(127..160).filter(|&code| code != 10).filter_map(char::from_u32);
    let marks = "\u{61c}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\
        \u{2069}\u{feff}\u{fff9}\u{fffa}\u{fffb}\u{e0001}\u{e0041}";
    let mut strings: Vec<String> = control.chain(marks.chars()).map(|c| format!("{c}EVIL")).collect();
    strings.extend("ABCDEFGHIJKLMPSTXZ@`abcdefghilmnpqrstux~".chars().map(|end| format!("\u{1b}[1{end}EVIL")));
    strings.extend("JKmnh".chars().map(|end| format!("\u{9b}2{end}EVIL")));
    for mode in ["1049h", "1000h", "1003h", "2004h", "25l", "7l", "5h", "47h"] {
        strings.push(format!("\u{1b}[?{mode}EVIL"));
    }
    for short in ["c", "7", "8", "D", "E", "M", "H", "N", "O", "Z", "=", ">", "#8", "(0", ")0", "%G"] {
        strings.push(format!("\u{1b}{short}EVIL"));
    }
    for number in [0, 1, 2, 4, 7, 8, 9, 10, 11, 12, 50, 52, 104, 110, 133, 633, 777, 1337] {
        strings.push(format!("\u{1b}]{number};EVIL\u{7}"));
        strings.push(format!("\u{1b}]{number};EVIL\u{1b}\\"));
        strings.push(format!("\u{9d}{number};EVIL\u{9c}"));
    }
    for begin in ["P", "_", "^", "X", "Ptmux;\u{1b}\u{1b}]0;", "P+q", "P$q", "k"] {
        strings.push(format!("\u{1b}{begin}EVIL\u{1b}\\"));
    }
    strings.push("\u{8}\u{8}\u{8}\u{8}\u{8}EVIL".into());
    strings.push("\rm.pml: safety holds EVIL".into());
    for web in [
        "<script>RUN</script>",
        "</script><script>RUN</script>",
        "</SCRIPT ><script>RUN</script >",
        "<img src=x onerror=RUN>",
        "\"><img src=x onerror=RUN>",
        "'><svg onload=RUN>",
        "</svg><svg onload=RUN>",
        "</text></svg><script>RUN</script>",
        "</title><script>RUN</script>",
        "</style><script>RUN</script>",
        "</pre></code><script>RUN</script>",
        "</textarea><script>RUN</script>",
        "--><script>RUN</script>",
        "<!--<script>RUN",
        "]]><script>RUN</script>",
        "<![CDATA[<script>RUN</script>]]>",
        "<iframe srcdoc='<script>parent.RUN</script>'></iframe>",
        "<a href='javascript:RUN'>EVIL</a>",
        "<body onload=RUN>",
        "<input autofocus onfocus=RUN>",
        "<details open ontoggle=RUN>",
        "<style>*{background:url(javascript:RUN)}</style>",
        "<object data='javascript:RUN'></object>",
        "<meta http-equiv=refresh content='0;url=javascript:RUN'>",
        "&lt;script&gt;RUN&lt;/script&gt;",
        "&#60;script&#62;RUN&#60;/script&#62;",
        "\\u003cscript\\u003eRUN\\u003c/script\\u003e",
        "${RUN}`+RUN+`",
        "'+RUN+'",
        "\"+(RUN)+\"",
        "\\\"+(RUN)+\\\"",
        "*/RUN//",
        "<?xml-stylesheet href='javascript:RUN'?>",
        "<!DOCTYPE x [<!ENTITY e 'EVIL'>]>&e;",
        "\"]; evil [URL=\"javascript:RUN\"",
        "\\N\\G\\E\\T\\H\\L",
        "<<b>EVIL</b>>",
        "%n%s%d EVIL",
    ] {
        strings.push(web.replace("RUN", RUN));
    }
    strings
}

/// The folder of a model that says all of it, its trail and other files with the strings in them.
fn folder(strings: &[String]) -> TempDir {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let comment = |text: &str| format!("/* {} */", text.replace("*/", "* /"));
    let literal = |text: &str| {
        let text = text.replace('%', "%%").replace('\\', "\\\\").replace('"', "\\\"");
        format!("printf(\"{text}\\n\")")
    };
    let mut model = String::from("byte x; ltl named { [] (x < 9) }\nactive proctype P() {\n");
    for text in strings {
        model += &format!("{}; {}\n", literal(text), comment(text));
    }
    model += "printf(\"%c]0;EVIL%c%c[2J\", 27, 7, 27);\n";
    let all: String = strings.iter().map(|text| comment(text)).collect::<Vec<_>>().join(" ");
    model += &format!("x = 1; assert(x == 0) {all}\n}}\n");
    write("m.pml", &model);
    // A few at a time: the number of reported problems is limited.
    for (index, some) in strings.chunks(40).enumerate() {
        let wrong: String = some
            .iter()
            .map(|text| {
                format!("unknown = 1; {}\n{};\n#error {}\n", comment(text), literal(text), text.replace('\\', ""))
            })
            .collect();
        write(&format!("wrong{index}.pml"), &format!("active proctype P() {{\n{wrong}}}\n"));
        let words: String = some.iter().map(|text| format!("#define A {text}\nx {text} y\n")).collect();
        write(&format!("words{index}.pml"), &words);
        write(&format!("words{index}.esml"), &format!("MODEL {words} (* {words} *)"));
        write(&format!("words{index}.bir"), &format!("system {words} // {words}"));
        write(&format!("words{index}.hoa"), &format!("HOA: v1\nname: \"{words}\"\n{words}"));
        write(&format!("words{index}.trail"), &words);
    }
    for text in strings {
        write(&name_of(text), "active proctype P() { assert(false) }\n");
    }
    let status = Command::new(ENTAIL).args(["check", "m.pml"]).current_dir(folder.path()).output().unwrap().status;
    assert_eq!(status.code(), Some(1));
    folder
}

/// A file name with a string in it.
fn name_of(text: &str) -> String {
    format!("n{}.pml", text.replace('/', "|").chars().take(80).collect::<String>())
}

/// Text for people, then formats that define what characters mean.
fn commands(strings: &[String], folder: &Path) -> (Vec<Vec<String>>, Vec<Vec<String>>) {
    let words = |command: &str| command.split(' ').map(str::to_owned).collect::<Vec<String>>();
    let text = [
        "check m.pml",
        "check m.pml --format spin",
        "check m.pml --all-errors",
        "check m.pml --log search",
        "check m.pml --slice",
        "check m.pml --for M=1..2",
        "replay m.pml",
        "replay m.pml --property named",
        "replay m.pml --as table",
        "replay m.pml --as chart",
        "simulate m.pml --seed 1 --as steps",
        "simulate m.pml --seed 1 --as table",
        "simulate m.pml --seed 1 --as chart",
        "simulate m.pml --seed 1 --interactive --plain",
        "show automata m.pml",
        "show symbols m.pml",
        "show dependencies m.pml",
        "show code m.pml",
        "show ir m.pml",
        "graph m.pml --search bfs",
        "slice m.pml",
    ];
    let formats = [
        "check m.pml --format json",
        "replay m.pml --as json",
        "replay m.pml --as svg",
        "replay m.pml --as html",
        "replay m.pml --as output",
        "simulate m.pml --seed 1 --as json",
        "simulate m.pml --seed 1",
        "show automata m.pml --format dot",
        "show automata m.pml --format svg",
        "show automata m.pml --format json",
        "show symbols m.pml --format json",
        "graph m.pml",
        "graph m.pml --format svg",
        "graph m.pml --format json",
        "graph m.pml --search bfs --format html",
        "slice m.pml --format json",
        "slice m.pml --format promela",
    ];
    let mut text: Vec<Vec<String>> = text.into_iter().map(words).collect();
    let formats = formats.into_iter().map(words).collect();
    let mut wrong: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    wrong.retain(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("wo")));
    for path in &wrong {
        let name = path.file_name().unwrap().to_str().unwrap();
        text.push(words(&match name.rsplit_once('.').unwrap().1 {
            "trail" => format!("replay m.pml {name}"),
            "hoa" => format!("ltl --hoa {name}"),
            _ => format!("check {name}"),
        }));
    }
    let with = |option: &str, before: &str| {
        let given = strings.iter().flat_map(|text| [option.to_owned(), format!("{before}{text}")]);
        given.collect::<Vec<String>>()
    };
    text.push([words("check"), strings.iter().map(|text| name_of(text)).collect()].concat());
    text.push([words("check"), strings.iter().map(|text| format!("missing {}", name_of(text))).collect()].concat());
    text.push([words("check m.pml"), with("-D", "A=")].concat());
    text.push([words("check m.pml"), with("-D", "A(")].concat());
    for text_of in strings {
        let formula = format!("x == 1 {text_of}");
        text.push(vec!["ltl".into(), formula.clone()]);
    }
    for some in strings.chunks(100) {
        for option in ["--ltl", "--ctl", "--property", "-F", "-N", "--trail", "-I"] {
            let given = some.iter().flat_map(|text| [option.to_owned(), format!("x == 1 {text}")]);
            text.push([words("check m.pml"), given.collect()].concat());
        }
    }
    (text, formats)
}

fn run(words: &[String], folder: &Path) -> Output {
    Command::new(ENTAIL).args(words).current_dir(folder).output().unwrap()
}

/// What a terminal obeys, beyond lines, tabs and colours.
fn is_hostile(c: char) -> bool {
    let harmless = matches!(c, '\n' | '\t');
    let marks =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && !harmless) || marks
}

#[test]
fn text_for_people_is_legible_wherever_it_goes() {
    let strings = strings();
    assert!(strings.len() >= 200, "{}", strings.len());
    let folder = folder(&strings);
    let (text, formats) = commands(&strings, folder.path());
    for words in &text {
        let Output { stdout, stderr, status } = run(words, folder.path());
        assert!(status.code().is_some_and(|code| code <= 3), "{words:?}: {status}");
        for shown in [stdout, stderr] {
            let shown = String::from_utf8(shown).unwrap();
            if let Some(at) = shown.find(is_hostile) {
                panic!("{words:?}: {:?}", shown[at..].chars().take(60).collect::<String>());
            }
        }
    }
    for words in &formats {
        let Output { stdout, stderr, status } = run(words, folder.path());
        assert!(status.code().is_some_and(|code| code <= 1), "{words:?}: {}", String::from_utf8_lossy(&stderr));
        let stdout = String::from_utf8(stdout).unwrap();
        if words.iter().any(|word| word == "json") {
            serde_json::from_str::<serde_json::Value>(&stdout).unwrap();
        } else if words.iter().any(|word| word == "svg") {
            assert_harmless(&stdout, words);
        } else if words.iter().any(|word| word == "dot") || words == &["graph", "m.pml"] {
            assert!(!stdout.contains(is_hostile), "{words:?}");
        } else if words.iter().any(|word| word == "output") {
            // What the model prints is its own.
            assert!(strings.iter().all(|text| stdout.contains(text.as_str())), "{stdout:?}");
        }
    }
}

/// There is nothing in a picture that does something.
fn assert_harmless(picture: &str, words: &[String]) {
    // Graphviz names the document type.
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let document =
        Document::parse_with_options(picture, options).unwrap_or_else(|error| panic!("{words:?}: {error}"));
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        let name = node.tag_name().name();
        assert!(!["script", "foreignObject", "image", "a", "iframe", "use"].contains(&name), "{words:?}: <{name}>");
        assert!(node.attributes().all(|attribute| !attribute.name().starts_with("on")), "{words:?}: {name}");
    }
}

#[test]
fn graphviz_draws_text_as_text() {
    if Command::new("dot").arg("-V").output().is_err() {
        eprintln!("skipped: there is no Graphviz");
        return;
    }
    let folder = folder(&strings());
    for words in ["show automata m.pml --format dot", "graph m.pml"] {
        let graph = run(&words.split(' ').map(str::to_owned).collect::<Vec<_>>(), folder.path()).stdout;
        fs::write(folder.path().join("graph.dot"), graph).unwrap();
        let drawn = Command::new("dot").args(["-Tsvg", "graph.dot"]).current_dir(folder.path()).output().unwrap();
        assert!(drawn.status.success(), "{words}: {}", String::from_utf8_lossy(&drawn.stderr));
        let picture = String::from_utf8(drawn.stdout).unwrap();
        let picture = picture.lines().filter(|line| !line.contains("DOCTYPE") && !line.contains(".dtd"));
        assert_harmless(&picture.collect::<Vec<_>>().join("\n"), &[words.to_owned()]);
    }
}

#[test]
fn no_page_runs_what_a_model_says() {
    let folder = folder(&strings());
    for words in ["replay m.pml --as html", "graph m.pml --search dfs --format html"] {
        let page = run(&words.split(' ').map(str::to_owned).collect::<Vec<_>>(), folder.path()).stdout;
        let page = String::from_utf8(page).unwrap();
        let through = "for (let at = 0; at <= Number(slider.max); at++) slide(at);\n\
            document.querySelectorAll('[title],a,button,summary').forEach(click);\n\
            setTimeout(() => report(`evil: ${document.documentElement.dataset.evil ?? 'no'}`), 500);";
        let Some(seen) = visit(&page, "", through) else { return };
        assert_eq!(seen, "evil: no", "{words}");
    }
}

/// A terminal that notes every byte that it is sent.
struct Terminal {
    server: String,
}

impl Terminal {
    fn new(name: &str, folder: &Path) -> Option<Terminal> {
        if Command::new("tmux").arg("-V").output().is_err() {
            eprintln!("skipped: there is no tmux");
            return None;
        }
        let terminal = Terminal { server: format!("entail-hostile-{name}-{}", std::process::id()) };
        let shell = "env PS1='ready$ ' LC_ALL=C.UTF-8 sh";
        let folder = folder.to_str().unwrap();
        terminal.tmux(&[
            "-u",
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            "150",
            "-y",
            "40",
            "-c",
            folder,
            shell,
        ]);
        terminal.tmux(&["pipe-pane", "-o", &format!("cat > {folder}/sent")]);
        Some(terminal)
    }

    fn tmux(&self, args: &[&str]) -> String {
        let output = Command::new("tmux").args(["-L", &self.server]).args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn press(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat());
    }

    fn wait_for(&self, what: &str, is_so: impl Fn() -> bool) {
        let began = Instant::now();
        while !is_so() {
            assert!(began.elapsed() < Duration::from_secs(60), "{what}:\n{}", self.tmux(&["capture-pane", "-p"]));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// What was sent, once nothing more comes.
    fn sent(&self, folder: &Path) -> String {
        let mut length = None;
        loop {
            std::thread::sleep(Duration::from_millis(200));
            let sent = fs::read(folder.join("sent")).unwrap_or_default();
            if length == Some(sent.len()) {
                return String::from_utf8_lossy(&sent).into_owned();
            }
            length = Some(sent.len());
        }
    }

    fn assert_untouched(&self) {
        let state =
            self.tmux(&["display-message", "-p", "#{pane_title} #{window_name} #{alternate_on} #{mouse_any_flag}"]);
        assert!(!state.contains("EVIL") && state.trim().ends_with("0 0"), "{state}");
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = Command::new("tmux").args(["-L", &self.server, "kill-server"]).output();
    }
}

#[test]
fn no_string_is_obeyed_by_a_terminal() {
    let strings = strings();
    let folder = folder(&strings);
    let (text, formats) = commands(&strings, folder.path());
    let Some(terminal) = Terminal::new("views", folder.path()) else { return };
    let quoted = |words: &Vec<String>| -> String {
        words.iter().map(|word| format!(" '{}'", word.replace('\'', "'\\''"))).collect()
    };
    let lines = text.iter().chain(&formats).map(|words| format!("{ENTAIL}{} </dev/null\n", quoted(words)));
    fs::write(folder.path().join("run.sh"), lines.collect::<String>() + "touch finished\n").unwrap();
    terminal.press(&["sh run.sh", "Enter"]);
    terminal.wait_for("the views do not end", || folder.path().join("finished").exists());
    let sent = terminal.sent(folder.path());
    assert!(sent.len() > 100_000, "{}", sent.len());
    terminal.assert_untouched();
    // Colours and the line of progress are entail's own.
    let mut rest = sent.as_str();
    while let Some(at) = rest.find(|c| is_hostile(c) && c != '\r') {
        let (before, found) = rest.split_at(at);
        let own = found
            .strip_prefix("\u{1b}[")
            .map(|found| found.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';'));
        let is_own = own.is_some_and(|own| own.starts_with(['m', 'K']) && !own[1..].starts_with("EVIL"));
        assert!(is_own, "{:?} behind {:?}", start_of(found), start_of(&before[before.len().saturating_sub(200)..]));
        rest = &found[2..];
    }
    let mut returns = sent.match_indices('\r').map(|(at, _)| &sent[at + 1..]);
    let is_own = |behind: &str| {
        behind.starts_with(['\n', '\r', '\u{1b}']) || behind.starts_with(|c: char| c.is_ascii_digit())
    };
    if let Some(behind) = returns.find(|behind| !behind.is_empty() && !is_own(behind)) {
        panic!("a return before {:?}", start_of(behind));
    }
}

fn start_of(text: &str) -> String {
    text.chars().take(80).collect()
}

#[test]
fn no_string_is_obeyed_in_an_interactive_simulation() {
    let strings = strings();
    let folder = folder(&strings);
    let Some(terminal) = Terminal::new("screen", folder.path()) else { return };
    terminal.press(&[&format!("{ENTAIL} simulate -i --seed 1 m.pml"), "Enter"]);
    let shows = |text: &str| terminal.tmux(&["capture-pane", "-p"]).contains(text);
    terminal.wait_for("the simulation does not begin", || shows("step 0"));
    for step in 1..=strings.len() {
        terminal.press(&["1"]);
        if step % 20 == 0 {
            terminal.wait_for("no step", || shows(&format!("step {step}")));
        }
    }
    terminal.press(&["u"]);
    terminal.wait_for("no error", || shows("assertion violated"));
    terminal.press(&["q"]);
    terminal.wait_for("no prompt", || shows("ready$"));
    let sent = terminal.sent(folder.path());
    terminal.assert_untouched();
    let is_allowed = |c: char| matches!(c, '\r' | '\u{1b}' | '\u{8}');
    if let Some(at) = sent.find(|c| is_hostile(c) && !is_allowed(c)) {
        panic!("{:?}", start_of(&sent[at..]));
    }
    for (at, _) in sent.match_indices('\u{1b}') {
        let behind = &sent[at + 1..];
        assert!(behind.starts_with(['[', '(', '=', '>']), "{:?}", start_of(behind));
    }
    let obeyed = strings.iter().find(|text| text.contains(is_hostile) && sent.contains(text.as_str()));
    assert_eq!(obeyed, None);
}
