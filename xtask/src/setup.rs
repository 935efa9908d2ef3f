//! Models that are expensive to read, slice, translate, prepare for a search, or report on: with `--time 2s`,
//! each must have an answer within three seconds.

use crate::entail::Entail;
use crate::{Outcome, Result};
use std::path::Path;
use std::time::Instant;

#[derive(clap::Args)]
pub struct Options {
    /// The time limit of a check
    #[arg(long, default_value = "2s")]
    time: String,
    /// The time within which there must be an answer, in seconds
    #[arg(long, default_value_t = 3.0)]
    within: f64,
    /// Only models whose name contains this
    #[arg(long, default_value = "")]
    only: String,
}

pub fn run(options: &Options, binary: Option<&Path>) -> Result<Outcome> {
    let entail = Entail::find(binary)?;
    let folder = tempfile::tempdir()?;
    let mut outcome = Outcome::Agreement;
    println!("model,verdict,states,seconds,peak_mib");
    let of_safety = |(name, text)| (name, text, vec!["--property".to_owned(), "safety".to_owned()]);
    let all = models().into_iter().map(of_safety).chain(texts());
    for (name, text, words) in all.filter(|(name, ..)| name.contains(&options.only)) {
        let path = folder.path().join(format!("{name}.pml"));
        std::fs::write(&path, text)?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let began = Instant::now();
        let property = entail.limited(&path, &[&["--time", &options.time], &words[..]].concat())?;
        let seconds = began.elapsed().as_secs_f64();
        let verdict = property["verdict"].as_str().unwrap_or("?");
        let peak = property["memory"]["peak_bytes"].as_u64().unwrap_or(0) >> 20;
        println!("{name},{verdict},{},{seconds:.2},{peak}", property["states"]["stored"]);
        if seconds > options.within {
            outcome = Outcome::Difference;
        }
    }
    Ok(outcome)
}

/// Repeats a piece of text, which may depend on the index.
fn repeated(count: usize, piece: impl Fn(usize) -> String) -> String {
    (0..count).map(piece).collect()
}

/// Models that are large in one respect each.
fn models() -> Vec<(&'static str, String)> {
    let loops = |processes: usize, body: String| {
        format!("byte x, y;\nactive [{processes}] proctype P() {{ byte l; do {body} od }}\n")
    };
    let sequence = |count| repeated(count, |i| format!("x = x + {}; l = y; ", i % 7));
    let choice = |count| repeated(count, |i| format!(":: x == {0} -> y = {0}\n", i % 256));
    vec![
        ("records", RECORDS.to_owned()),
        ("arrays", ARRAYS.to_owned()),
        ("nested_records", NESTED_RECORDS.to_owned()),
        ("atomic", loops(2, format!(":: atomic {{ {} }}", sequence(1_000)))),
        ("long_atomic", loops(2, format!(":: atomic {{ {} }}", sequence(10_000)))),
        ("atomic_choices", {
            let choices = repeated(1_000, |i| format!("if :: x == {} -> y++ :: else -> x++ fi; ", i % 250));
            loops(2, format!(":: atomic {{ {choices} }}"))
        }),
        ("sequence", loops(2, format!(":: {}", sequence(1_000)))),
        ("long_sequence", loops(2, format!(":: {}", sequence(15_000)))),
        ("choice", loops(3, choice(1_500))),
        ("wide_choice", loops(3, choice(12_000))),
        ("processes", "byte x[250];\nactive [250] proctype P() { byte i; do :: x[_pid]++ :: i++ od }\n".to_owned()),
        ("types", {
            let one =
                |i| format!("byte g{i};\nactive proctype P{i}() {{ do :: g{i}++ :: g{i} > 3 -> g{i} = 0 od }}\n");
            repeated(250, one)
        }),
        ("channels", CHANNELS.to_owned()),
        ("rendezvous", {
            let sends = repeated(300, |i| format!(":: c!{}\n", i % 256));
            let receives = repeated(300, |i| format!(":: c?{}\n", i % 256));
            format!(
                "chan c = [0] of {{ byte }};\nactive [4] proctype S() {{ do {sends} od }}\nactive [4] proctype R() {{ do {receives} od }}\n"
            )
        }),
        ("inlines", {
            let calls = |name: &str, count| repeated(count, |_| format!("{name}(); "));
            let (a, b, c) = (calls("a", 10), calls("b", 10), calls("c", 20));
            format!(
                "byte x;\ninline a() {{ x = x + 1; x = x + 2 }}\ninline b() {{ {a} }}\ninline c() {{ {b} }}\nactive [2] proctype P() {{ do :: {c} od }}\n"
            )
        }),
        ("starts", {
            let runs = repeated(250, |i| format!("run P({i}, c[{}]); ", i % 100));
            format!("{STARTED}init {{ atomic {{ {runs} }} }}\n")
        }),
        ("messages", MESSAGES.to_owned()),
        ("variables", {
            let variables = repeated(6_000, |i| format!("byte v{i};\n"));
            let steps = repeated(600, |i| format!(":: v{}++ ", 10 * i));
            format!("{variables}active [2] proctype P() {{ do {steps} od }}\n")
        }),
        ("copies", {
            let variables = repeated(3_000, |i| format!("int v{i};\n"));
            let steps = repeated(2_999, |i| format!("v{} = v{}; ", 2_999 - i, 2_998 - i));
            format!("{variables}active [2] proctype P() {{ do :: v0++; {steps} od }}\n")
        }),
        ("long_steps", LONG_STEPS.to_owned()),
    ]
}

/// Texts that are expensive before the setup of a search, or after the search, with the options for it.
fn texts() -> Vec<(&'static str, String, Vec<String>)> {
    let words = |options: &[&str]| options.iter().map(ToString::to_string).collect::<Vec<_>>();
    let jumps = repeated(50_000, |i| format!("L{i}: goto L{};\n", i + 1));
    let jumps = format!("byte x;\nactive proctype P() {{\n{jumps}L50000: x = 1 }}\n");
    let labels = repeated(30_000, |i| format!("L{i}: x = {};\n", i % 250));
    let labels = format!("byte x, y;\nactive proctype P() {{\n{labels}y = 1 }}\nltl p {{ [] (y < 2) }}\n");
    let variables = repeated(4_000, |i| format!("byte v{i};\n"));
    let steps = repeated(15_000, |i| format!("v{} = v{}; ", (i + 1) % 4_000, i % 4_000));
    let copies =
        format!("{variables}byte x;\nactive proctype P() {{ do :: x++; {steps} od }}\nltl p {{ [] (x < 255) }}\n");
    let until: Vec<String> = (0..60).map(|i| format!("(x == {i})")).collect();
    let until = until.join(" U ");
    let small = "byte x;\nactive proctype P() { do :: x = 1 - x od }\n".to_owned();
    let long_run = "int x;\nactive [3] proctype P() { do :: x < 100000 -> x++ :: else -> assert(false) od }\n";
    vec![
        ("jumps", jumps.clone(), words(&["--property", "safety"])),
        ("sliced_jumps", jumps, words(&["--property", "safety", "--slice"])),
        ("sliced_labels", labels, words(&["--property", "p", "--slice"])),
        ("sliced_copies", copies, words(&["--property", "p", "--slice"])),
        ("until", small, words(&["--ltl", &until, "--property", &until])),
        ("long_run", long_run.to_owned(), words(&["--property", "safety", "--search", "dfs", "--minimise"])),
    ]
}

const RECORDS: &str = "typedef M { byte a, b, c, d, e, f }
M s[255], r[255];
chan ch = [0] of { byte, M };
byte n;
proctype A() { byte i; do :: atomic { for (i : 1 .. n) { if :: s[i].a == r[i].a -> goto out fi } } od; out: skip }
proctype E() { M m; atomic { ch!1,m } }
init { run A(); run E() }
";
const ARRAYS: &str = "int a[8000], b[8000];
active [2] proctype P() { int i; do :: a[i % 8000] = b[i % 8000] + 1; i++ od }
";
const NESTED_RECORDS: &str = "typedef A { byte x[30] }
typedef B { A a[30] }
B b[40];
active [3] proctype P() { byte i; do :: b[i % 40].a[i % 30].x[i % 30]++ :: i++ od }
";
const CHANNELS: &str = "chan c[200] = [2] of { byte, byte };
active [4] proctype P() { byte i, a, b; do :: c[i]!i,1; i = (i + 1) % 200 :: c[i]?a,b od }
";
const STARTED: &str = "chan c[100] = [1] of { byte };
byte x;
proctype P(byte i; chan q) { do :: q!i; x++ :: q?_ od }
";
const MESSAGES: &str = "typedef M { int a[200] }
chan c[5] = [10] of { M };
active [3] proctype P() { M m; do :: c[_pid]!m :: c[_pid]?m :: m.a[3]++ od }
";
const LONG_STEPS: &str = "int x;
byte y;
active [2] proctype P() { do :: d_step { x = 0; do :: x < 5000000 -> x++ :: else -> break od }; y++ od }
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_twenty_models() {
        let models = models();
        assert_eq!(models.len(), 20);
        for (name, text) in models {
            assert!(text.contains("proctype"), "{name}");
        }
    }

    #[test]
    fn no_two_have_the_same_name() {
        let names = models().into_iter().map(|(name, _)| name).chain(texts().into_iter().map(|(name, ..)| name));
        let mut names: Vec<_> = names.collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
