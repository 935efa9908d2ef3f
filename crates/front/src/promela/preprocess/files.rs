//! Opening and closing files.

use super::directive::Header;
use super::text::Text;
use super::{COMMAND_LINE, MAX_INCLUDE_DEPTH, MAX_TEXT_BYTES, MIN_FILE_COST, OpenFile, Preprocessor, lex::Reader};
use crate::diagnostic::Diagnostic;
use crate::legible::shown;
use crate::source::{self, FileId, Foreign, Span};
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The files read so far.
#[derive(Default)]
pub struct Library {
    by_path: HashMap<PathBuf, FileId>,
    texts: HashMap<FileId, Rc<Text>>,
    /// Files with `#pragma once`.
    pub once: HashSet<FileId>,
    bytes: usize,
    /// The nesting limit was exceeded, so no more files are included: a file that includes itself twice would
    /// otherwise be read 2^64 times.
    closed: bool,
}

impl Preprocessor<'_> {
    pub fn load(&mut self, path: &Path) -> Result<FileId, Diagnostic> {
        let identity = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if let Some(&file) = self.library.by_path.get(&identity) {
            return Ok(file);
        }
        let file = self.add(&shown(path), source::read(path)?)?;
        self.sources.paths.push(path.to_owned());
        self.library.by_path.insert(identity, file);
        Ok(file)
    }

    pub fn add(&mut self, name: &str, bytes: Vec<u8>) -> Result<FileId, Diagnostic> {
        let text = source::decode(name, bytes)?;
        let file = self.sources.add(name, text.text);
        if let Some(Foreign { byte, at }) = text.foreign {
            let span = Span { file, start: at.start as u32, end: at.end as u32 };
            let message = format!("byte 0x{byte:02x} is not UTF-8; such bytes are read as Latin-1");
            let hint = format!("convert the file: `iconv -f latin1 -t utf-8 {name}`");
            self.report(Diagnostic::warning(span, message).hint(hint));
        }
        let text = self.sources.file(file).text.clone();
        self.library.texts.insert(file, Rc::new(Text::new(text)));
        Ok(file)
    }

    pub fn enter_file(&mut self, file: FileId, directory: PathBuf) {
        let text = self.library.texts[&file].clone();
        self.library.bytes += text.joined.len().max(MIN_FILE_COST);
        if self.library.bytes > MAX_TEXT_BYTES {
            let problem = format!("the files of this model add up to more than {} MiB", MAX_TEXT_BYTES >> 20);
            return self.give_up(Diagnostic::general(problem).hint("is a file included over and over?"));
        }
        self.open.push(OpenFile { reader: Reader::new(file, text), directory, conditionals: Vec::new() });
    }

    /// Reads `-D` definitions like a file of `#define`s, so that errors have a position. The first definition
    /// of a fixed macro counts, so fixed macros come first.
    pub fn enter_command_line(&mut self) {
        let mut text = String::new();
        for define in &self.options.fixed {
            let name = define.split('=').next().unwrap_or_default();
            self.fixed.insert(self.words.intern(name), false);
        }
        for define in self.options.fixed.iter().chain(&self.options.defines) {
            let default = if define.is_empty() { "" } else { "1" };
            let (name, value) = define.split_once('=').unwrap_or((define, default));
            let line = format!("#define {name} {value}").replace('\n', " ");
            // A backslash at the end would join the line with the next definition.
            text.push_str(line.trim_end_matches(|end: char| end == '\\' || end.is_whitespace()));
            text.push('\n');
        }
        if text.is_empty() {
            return;
        }
        match self.add(COMMAND_LINE, text.into_bytes()) {
            Ok(file) => self.enter_file(file, PathBuf::new()),
            Err(problem) => self.report(problem),
        }
    }

    pub fn leave_file(&mut self) {
        let Some(file) = self.open.pop() else { return };
        if let Some(comment) = file.reader.open_comment {
            self.report(Diagnostic::error(comment, "this comment is not closed").hint("close it with `*/`"));
        }
        for conditional in file.conditionals.iter().rev() {
            self.report(conditional.unclosed());
        }
    }

    pub fn include(&mut self, header: &Header) {
        if self.library.closed {
            return;
        }
        let (system, at) = (header.system, header.span);
        let path = self.find(&header.name, system);
        let is_foreign = self.is_foreign(&path);
        if is_foreign && !self.options.allow_include {
            let problem = format!("`{}` is outside of the model's directory", path.display());
            let hint = "name its directory with `-I`, or allow such files with `--allow-include`";
            return self.report(Diagnostic::error(at, problem).hint(hint));
        }
        let file = match self.load(&path) {
            Ok(file) => file,
            Err(problem) => {
                let searched = self.include_places(system).iter().map(|dir| show(dir)).collect::<Vec<_>>();
                let hint = problem.hint.unwrap_or_else(|| format!("looked in {}", searched.join(", ")).into());
                return self.report(Diagnostic::error(at, problem.message).hint(hint));
            }
        };
        if is_foreign {
            self.sources.hide(file);
        }
        if self.library.once.contains(&file) {
            return;
        }
        if self.open.len() >= MAX_INCLUDE_DEPTH {
            self.library.closed = true;
            return self.report(self.too_deep(file, at));
        }
        self.enter_file(file, path.parent().unwrap_or(Path::new("")).to_owned());
    }

    fn find(&self, name: &str, system: bool) -> PathBuf {
        let candidates = self.include_places(system).into_iter().map(|dir| dir.join(name)).collect::<Vec<_>>();
        let found = candidates.iter().find(|path| path.is_file());
        found.or_else(|| candidates.iter().find(|path| path.exists())).cloned().unwrap_or_else(|| name.into())
    }

    /// `"name"` is first looked for in the directory of the including file.
    fn include_places(&self, system: bool) -> Vec<&Path> {
        let beside = self.open.last().map(|file| file.directory.as_path());
        let given = self.options.include_dirs.iter().map(PathBuf::as_path);
        if system { given.chain(beside).collect() } else { beside.into_iter().chain(given).collect() }
    }

    /// Whether a file is outside the model's directory, the given directories and their subdirectories, after
    /// following links. A missing file is not foreign.
    fn is_foreign(&self, path: &Path) -> bool {
        let Ok(real) = path.canonicalize() else { return false };
        let allowed = std::iter::once(&self.home).chain(&self.options.include_dirs);
        !allowed.filter_map(|dir| canonical(dir).ok()).any(|dir| real.starts_with(dir))
    }

    fn too_deep(&self, file: FileId, at: Span) -> Diagnostic {
        let chain: Vec<FileId> = self.open.iter().map(|open| open.reader.file).collect();
        let Some(last) = chain.iter().rposition(|&open| open == file) else {
            return Diagnostic::error(at, format!("includes are nested more than {MAX_INCLUDE_DEPTH} deep"));
        };
        let cycle: Vec<String> = chain[last..]
            .iter()
            .chain([&file])
            .map(|&file| format!("`{}`", self.sources.file(file).name))
            .collect();
        Diagnostic::error(at, format!("{} includes itself without end: {}", cycle[0], cycle.join(" → ")))
            .hint("remove this line, or write `#pragma once` at the top of the file")
    }

    /// The line of the beginning of `span`, counted from 1.
    pub fn line(&self, span: Span) -> usize {
        self.library.texts[&span.file].line(span.start)
    }
}

fn canonical(directory: &Path) -> io::Result<PathBuf> {
    let here = directory.as_os_str().is_empty();
    if here { Path::new(".").canonicalize() } else { directory.canonicalize() }
}

fn show(directory: &Path) -> String {
    let here = directory.as_os_str().is_empty();
    if here { "the current directory".to_owned() } else { format!("`{}`", directory.display()) }
}
