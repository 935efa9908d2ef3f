//! Finds words and phrases that have a better term in the field.

mod rust;

use crate::{Outcome, Result, root};
use clap::Args;
use rust::Rust;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct Options {
    /// The list of words
    #[arg(long, value_name = "FILE", default_value = "xtask/words.txt")]
    list: PathBuf,
}

/// Prints each occurrence with its replacement.
pub fn run(options: &Options) -> Result<Outcome> {
    let root = root();
    let rules = parse(&fs::read_to_string(root.join(&options.list))?)?;
    let mut files = Vec::new();
    for place in
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs", "crates", "xtask", "fuzz"]
    {
        collect(&root.join(place), &mut files)?;
    }
    files.sort();
    let mut found = 0;
    for file in &files {
        let path = file.strip_prefix(&root)?.to_string_lossy().into_owned();
        for Occurrence { line, rule } in check(&rules, &path, &fs::read_to_string(file)?) {
            println!("{path}:{line}: `{}`: use {}", rule.words, rule.instead);
            found += 1;
        }
    }
    println!("{} rules, {} files, {found} occurrences", rules.len(), files.len());
    Ok(if found == 0 { Outcome::Agreement } else { Outcome::Difference })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// In Rust code.
    Name,
    /// In documents, comments, and string literals outside tests.
    Phrase,
}

#[derive(Clone, Debug)]
struct Rule {
    kind: Kind,
    words: String,
    instead: String,
    /// Where the rule applies; everywhere if empty.
    paths: Vec<String>,
}

#[derive(Debug)]
struct Occurrence<'r> {
    line: usize,
    rule: &'r Rule,
}

fn parse(list: &str) -> Result<Vec<Rule>> {
    let (mut rules, mut paths) = (Vec::new(), Vec::new());
    for (number, line) in (1..).zip(list.lines()).filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let kind = match word {
            "in" => {
                paths = rest.split_whitespace().map(str::to_owned).collect();
                continue;
            }
            "name" => Kind::Name,
            "phrase" => Kind::Phrase,
            _ => return Err(format!("line {number} of the list: `in`, `name` or `phrase` expected").into()),
        };
        let Some((words, instead)) = rest.split_once(" -> ") else {
            return Err(format!("line {number} of the list: `->` expected").into());
        };
        rules.push(Rule { kind, words: words.into(), instead: instead.into(), paths: paths.clone() });
    }
    Ok(rules)
}

impl Rule {
    fn applies_to(&self, path: &str) -> bool {
        let within = |prefix: &String| {
            path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.paths.is_empty() || self.paths.iter().any(within)
    }
}

fn check<'r>(rules: &'r [Rule], path: &str, text: &str) -> Vec<Occurrence<'r>> {
    let (code, prose) = if path.ends_with(".rs") {
        let is_test = path.ends_with("tests.rs") || path.split('/').any(|folder| folder == "tests");
        let Rust { code, comments, strings } = rust::split(text, is_test);
        (code, vec![comments, strings])
    } else {
        (Text::default(), vec![document(text)])
    };
    let mut found = Vec::new();
    for rule in rules.iter().filter(|rule| rule.applies_to(path)) {
        let lines = match rule.kind {
            Kind::Name => code.find(&rule.words),
            Kind::Phrase => prose.iter().flat_map(|text| text.find(&rule.words.to_lowercase())).collect(),
        };
        found.extend(lines.into_iter().map(|line| Occurrence { line, rule }));
    }
    found.sort_by_key(|occurrence| occurrence.line);
    found
}

/// Text with a single space wherever there was any, and the line of every byte.
#[derive(Default)]
struct Text {
    text: String,
    lines: Vec<usize>,
}

impl Text {
    fn push(&mut self, line: usize, text: &str) {
        for word in text.split_whitespace() {
            self.text.push_str(word);
            self.text.push(' ');
            self.lines.resize(self.text.len(), line);
        }
    }

    /// Separates paragraphs: no phrase continues across them.
    fn end_paragraph(&mut self, line: usize) {
        self.push(line, "¶");
    }

    /// The lines that contain these words, as whole words.
    fn find(&self, words: &str) -> Vec<usize> {
        let is_part = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        let bytes = self.text.as_bytes();
        let starts = self.text.match_indices(words).map(|(start, _)| start);
        let whole = starts.filter(|&start| {
            !is_part(start.checked_sub(1).and_then(|before| bytes.get(before)))
                && !is_part(bytes.get(start + words.len()))
        });
        whole.map(|start| self.lines[start]).collect()
    }
}

/// The prose of a document, without examples and generated tables.
fn document(text: &str) -> Text {
    let mut prose = Text::default();
    let (mut in_fence, mut generated) = (false, false);
    for (number, line) in (1..).zip(text.lines()) {
        in_fence ^= line.trim_start().starts_with("```");
        generated = (generated || line.starts_with("<!-- begin")) && !line.starts_with("<!-- end");
        if line.is_empty() {
            prose.end_paragraph(number);
        } else if !in_fence && !generated {
            prose.push(number, &without_code(line).to_lowercase());
        }
    }
    prose
}

/// A line without code in backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join(" ` ")
}

fn collect(place: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if place.is_dir() {
        for entry in fs::read_dir(place)? {
            let path = entry?.path();
            if !path.ends_with("target") {
                collect(&path, files)?;
            }
        }
    } else if place.extension().is_some_and(|ending| ending == "rs" || ending == "md") {
        files.push(place.to_path_buf());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "# A comment.\n\nin\nname Gizmo -> Widget\nname struct Thing -> Item\n\nin docs crates/a\nphrase odd words -> good ones\n";

    fn lines(path: &str, text: &str) -> Vec<(usize, String)> {
        let rules = parse(LIST).unwrap();
        check(&rules, path, text).into_iter().map(|found| (found.line, found.rule.instead.clone())).collect()
    }

    #[test]
    fn names_are_found_as_whole_words_in_code() {
        let code =
            "struct Gizmo;\nfn gizmo() {}\nstruct Gizmos;\nfn f(g: &Gizmo) {}\n// A Gizmo.\npub struct Thing {\n";
        let found = lines("crates/b/src/lib.rs", code);
        assert_eq!(found, [(1, "Widget".into()), (4, "Widget".into()), (6, "Item".into())]);
    }

    #[test]
    fn phrases_are_found_in_prose_also_across_lines() {
        let found =
            lines("docs/guide.md", "Some text.\n\nThere are Odd\nwords here, and oddwords.\n\nodd\n\nwords\n");
        assert_eq!(found, [(3, "good ones".into())]);
        let comment = "/// These odd\n/// words.\nfn f() {} // odd words\nlet odd = words;\n";
        assert_eq!(lines("crates/a/src/lib.rs", comment).len(), 2);
    }

    #[test]
    fn examples_and_tables_of_commands_are_not_prose() {
        let page = "```console\nodd words\n```\n`odd words`\n<!-- begin table -->\n\n| odd words |\n\n<!-- end table -->\n";
        assert!(lines("docs/guide.md", page).is_empty());
    }

    #[test]
    fn phrases_are_found_in_string_literals() {
        let path = "crates/a/src/lib.rs";
        assert_eq!(lines(path, "f();\ng(\"Odd words\");\n"), [(2, "good ones".into())]);
        let continued = "let s = \"odd \\\n    words\";\nlet r = r#\"\"\nodd words\"#;\n";
        assert_eq!(lines(path, continued), [(1, "good ones".into()), (4, "good ones".into())]);
        assert_eq!(lines(path, r#"print("a\nodd words \" odd words");"#).len(), 2);
        assert!(lines(path, "f(\"odd\", \"words\"); f(\"`odd words`\");").is_empty());
    }

    #[test]
    fn literals_do_not_begin_comments_nor_the_reverse() {
        let path = "crates/a/src/lib.rs";
        let literals = "f('\"', '\\'', '\\\\', \"//\"); let odd: &'a words;\nf::<'a>(odd, words, '\\u{22}');\n";
        assert!(lines(path, literals).is_empty());
        assert_eq!(lines(path, "f('\"'); // odd words\nlet x: &'a str = \"odd words\";\n").len(), 2);
        assert_eq!(
            lines(path, "// don't\nf(\"odd words\"); // a \" quote\n/* odd words\n*/ g(\"odd words\")").len(),
            3
        );
        assert_eq!(lines("crates/b.rs", "f(\"http://x\"); Gizmo // Gizmo").len(), 1);
    }

    #[test]
    fn literals_of_tests_are_free() {
        let string = "f(\"odd words\");\n";
        assert!(lines("crates/a/tests/cli.rs", string).is_empty());
        assert!(lines("crates/a/src/tests.rs", string).is_empty());
        assert_eq!(lines("crates/a/tests/cli.rs", "// odd words").len(), 1);
        let module =
            format!("#[cfg(test)]\nmod tests {{\n    {string}}}\n{string}#[cfg(test)]\nmod more;\n{string}");
        assert_eq!(lines("crates/a/src/lib.rs", &module).iter().map(|found| found.0).collect::<Vec<_>>(), [5, 8]);
    }

    #[test]
    fn a_rule_applies_below_its_paths_only() {
        assert!(lines("README.md", "odd words").is_empty());
        assert!(lines("crates/ab/src/lib.rs", "// odd words").is_empty());
        assert_eq!(lines("docs/a.md", "odd words").len(), 1);
    }

    #[test]
    fn a_list_with_a_mistake_is_refused() {
        assert!(parse("word x -> y").is_err() && parse("name x").is_err());
    }
}
