//! Models that are hard to get ready for a search: with `--time 2s`, each must have an answer within three seconds.

use crate::entail::Entail;
use crate::{Outcome, Result};
use std::path::Path;
use std::time::Instant;

#[derive(clap::Args)]
pub struct Options {
    /// The time that a check is given
    #[arg(long, default_value = "2s")]
    time: String,
    /// The seconds within which the answer must be there
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
    for (name, text) in models().into_iter().filter(|(name, _)| name.contains(&options.only)) {
        let path = folder.path().join(format!("{name}.pml"));
        std::fs::write(&path, text)?;
        let began = Instant::now();
        let property = entail.limited(&path, &["--time", &options.time, "--property", "safety"])?;
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

/// So many times a piece of text, which may depend on the number.
fn repeated(count: usize, piece: impl Fn(usize) -> String) -> String {
    (0..count).map(piece).collect()
}

/// Each with much of one thing.
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
}
