//! The C preprocessor that Promela models are written for, built in.
//!
//! SPIN hands a model to `gcc -E` and reads what comes back. This gives the same tokens without gcc, and keeps
//! what gcc loses: where each of them stands in the file the person wrote. Macro expansion follows gcc where the
//! C standard leaves a choice.
//!
//! Tokens are pulled: `expand` asks for the next one, from the macro being read or else from the `lex::Reader`
//! of the innermost file, on the way to which `directive` does what lines with `#` say; `emit` turns the rest
//! into Promela's tokens. Whatever the text, time and memory stay bounded by the limits below.

mod call;
mod condition;
mod directive;
mod emit;
mod expand;
mod files;
mod lex;
mod macros;
mod text;

#[cfg(test)]
mod tests;

use super::token::Token;
use crate::diagnostic::Diagnostic;
use crate::legible::shown;
use crate::source::{FileId, Sources, Span};
use crate::suggest::did_you_mean;
use directive::Conditional;
use expand::Expansion;
use files::Library;
use lex::{PpToken, Reader, Words};
use macros::Macros;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// All files together, a file counting as often as it is included, and never as less than [`MIN_FILE_COST`].
const MAX_TEXT_BYTES: usize = 64 << 20;
const MIN_FILE_COST: usize = 4 << 10;
const MAX_INCLUDE_DEPTH: usize = 64;
/// Tokens handed to the parser.
const MAX_TOKENS: usize = 2_000_000;
/// Tokens (long ones count as several) and bytes of new text, made on the way there: in definitions, arguments and
/// expansions.
const MAX_WORK: usize = 8_000_000;
/// Macro calls inside arguments of macro calls, and operators inside operators in `#if`: bounds the stack.
const MAX_NESTING: usize = 256;
const MAX_PROBLEMS: usize = 100;
/// The name of `-D` options in messages.
const COMMAND_LINE: &str = "<command line>";

#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The text of the model, if it is not the one in its file.
    pub text: Option<String>,
    /// As given to `-D`: `NAME`, `NAME=VALUE` or `NAME(ARGS)=VALUE`.
    pub defines: Vec<String>,
    /// `NAME=VALUE`: no `#define` or `#undef` changes these macros, and something must use them.
    pub fixed: Vec<String>,
    pub include_dirs: Vec<PathBuf>,
    /// Whether files outside of the model's directory and of `include_dirs` may be included.
    pub allow_include: bool,
}

/// The tokens of the model in the file `path`.
pub fn preprocess(
    path: &Path,
    options: &Options,
    sources: &mut Sources,
    problems: &mut Vec<Diagnostic>,
) -> Vec<Token> {
    preprocess_with(path, &[], options, sources, problems).0
}

/// The tokens of the model in the file `path`, and of formulas about it, in which its macros mean what they mean at its
/// end. Each formula comes with a name for messages.
pub fn preprocess_with(
    path: &Path,
    formulas: &[(String, String)],
    options: &Options,
    sources: &mut Sources,
    problems: &mut Vec<Diagnostic>,
) -> (Vec<Token>, Vec<Vec<Token>>) {
    let mut preprocessor = Preprocessor::new(options, sources, problems);
    let file = match &options.text {
        Some(text) => preprocessor.add(&shown(path), text.as_bytes().to_vec()),
        None => preprocessor.load(path),
    };
    match file {
        Ok(file) => {
            let tokens = preprocessor.read_model(file, path.parent().unwrap_or(Path::new("")).to_owned());
            let formulas =
                formulas.iter().map(|(name, text)| match preprocessor.add(name, text.as_bytes().to_vec()) {
                    Ok(file) => {
                        preprocessor.enter_file(file, PathBuf::new());
                        preprocessor.read()
                    }
                    Err(problem) => {
                        preprocessor.report(problem);
                        Vec::new()
                    }
                });
            let formulas = formulas.collect();
            preprocessor.report_unused();
            (tokens, formulas)
        }
        Err(problem) => {
            preprocessor.report(problem);
            (Vec::new(), Vec::new())
        }
    }
}

/// The tokens of a model that stands in no file; it includes relative to the current directory.
pub fn preprocess_text(
    name: &str,
    text: &str,
    options: &Options,
    sources: &mut Sources,
    problems: &mut Vec<Diagnostic>,
) -> Vec<Token> {
    let mut preprocessor = Preprocessor::new(options, sources, problems);
    match preprocessor.add(name, text.as_bytes().to_vec()) {
        Ok(file) => preprocessor.read_model(file, PathBuf::new()),
        Err(problem) => {
            preprocessor.report(problem);
            Vec::new()
        }
    }
}

struct Preprocessor<'a> {
    options: &'a Options,
    sources: &'a mut Sources,
    problems: &'a mut Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
    words: Words,
    library: Library,
    /// Where the model is.
    home: PathBuf,
    /// The files being read, each included by the one before.
    open: Vec<OpenFile>,
    macros: Macros,
    /// The names of fixed macros, and whether something has used them.
    fixed: HashMap<Arc<str>, bool>,
    /// The macros being read, each named in the one before.
    expansions: Vec<Expansion>,
    /// Depth of argument expansion.
    nesting: usize,
    /// The arguments of a macro are being read: they must end in the file in which they begin.
    in_arguments: bool,
    /// A line break stood between the last token handed out and where we are.
    broken: bool,
    work: usize,
    /// A limit was exceeded: there are no more tokens.
    exhausted: bool,
    output: Vec<Token>,
}

struct OpenFile {
    reader: Reader,
    /// Where its own includes are looked for.
    directory: PathBuf,
    /// The `#if`s it is in.
    conditionals: Vec<Conditional>,
}

impl<'a> Preprocessor<'a> {
    fn new(options: &'a Options, sources: &'a mut Sources, problems: &'a mut Vec<Diagnostic>) -> Self {
        Self {
            options,
            sources,
            problems,
            errors: 0,
            warnings: 0,
            words: Words::default(),
            library: Library::default(),
            home: PathBuf::new(),
            open: Vec::new(),
            macros: macros::built_in(),
            fixed: HashMap::new(),
            expansions: Vec::new(),
            nesting: 0,
            in_arguments: false,
            broken: false,
            work: 0,
            exhausted: false,
            output: Vec::new(),
        }
    }

    fn read_model(&mut self, file: FileId, directory: PathBuf) -> Vec<Token> {
        self.home.clone_from(&directory);
        self.enter_file(file, directory);
        self.enter_command_line();
        self.read()
    }

    /// A value for a name that nothing uses would change nothing.
    fn report_unused(&mut self) {
        let unused = self.fixed.iter().filter(|(_, used)| !**used);
        let problems: Vec<Diagnostic> = unused
            .map(|(name, _)| {
                let others = self.macros.keys().filter(|other| *other != name).map(|other| &**other);
                let problem = Diagnostic::general(format!("nothing in the model uses a macro `{name}`"));
                match did_you_mean(name, others) {
                    Some(similar) => problem.hint(format!("did you mean `{similar}`?")),
                    None => {
                        problem.hint(format!("`--for` needs a name that the model uses, as in `#define {name} 4`"))
                    }
                }
            })
            .collect();
        problems.into_iter().for_each(|problem| self.report(problem));
    }

    /// All tokens of the open files.
    fn read(&mut self) -> Vec<Token> {
        while let Some(token) = self.next_expanded() {
            self.emit(token);
        }
        std::mem::take(&mut self.output)
    }

    /// The next token of the innermost file that no directive and no false condition swallows.
    fn next_from_files(&mut self) -> Option<PpToken> {
        while !self.exhausted {
            let file = self.open.last_mut()?;
            match file.reader.next(&mut self.words) {
                Some((hash, true)) if hash.is("#") => self.directive(hash.span),
                Some(_) if file.is_skipping() => {}
                Some((token, _)) => return Some(token),
                None if self.in_arguments => return None,
                None => self.leave_file(),
            }
        }
        None
    }

    /// Notes a problem. Too many errors end the model, too many warnings are not all told.
    fn report(&mut self, mut problem: Diagnostic) {
        let count = if problem.is_error() { &mut self.errors } else { &mut self.warnings };
        *count += 1;
        if self.exhausted || *count > MAX_PROBLEMS && !problem.is_error() {
            return;
        }
        if *count > MAX_PROBLEMS {
            self.exhausted = true;
            problem = Diagnostic::general(format!("more than {MAX_PROBLEMS} errors: given up"))
                .hint("the first ones often cause the others");
        }
        // They quote the model, where a word may be millions of letters long.
        shorten(&mut problem.message);
        problem.hint = problem.hint.map(|hint| {
            let mut hint = String::from(hint);
            shorten(&mut hint);
            hint.into()
        });
        self.problems.push(problem);
    }

    /// Accounts for `amount` of work; false when there has been too much of it.
    fn afford(&mut self, amount: usize, at: Span) -> bool {
        self.work = self.work.saturating_add(amount);
        if self.work > MAX_WORK {
            self.give_up(
                Diagnostic::error(at, format!("the macros of this model make more than {MAX_WORK} tokens"))
                    .label("given up here")
                    .hint("look for macros that use other macros more than once, again and again"),
            );
        }
        !self.exhausted
    }

    /// Reports a last problem and ends the model here.
    fn give_up(&mut self, problem: Diagnostic) {
        self.report(problem);
        self.exhausted = true;
    }
}

fn shorten(text: &mut String) {
    const ENOUGH: usize = 500;
    if let Some((end, _)) = text.char_indices().nth(ENOUGH) {
        text.truncate(end);
        text.push('…');
    }
}

/// The cost of tokens: long ones take time whenever they are looked up.
fn cost(tokens: &[PpToken]) -> usize {
    tokens.iter().map(|token| 1 + token.text.len() / 64).sum()
}

/// How long the text of tokens is, blanks included.
fn length(tokens: &[PpToken]) -> usize {
    tokens.iter().map(|token| 1 + token.text.len()).sum()
}
