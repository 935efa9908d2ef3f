//! A built-in C preprocessor for Promela models.
//!
//! SPIN passes a model to `gcc -E` and reads the result. This preprocessor gives the same tokens without gcc,
//! and keeps their positions in the files that the user wrote. Macro expansion follows gcc where the C
//! standard leaves a choice.
//!
//! Tokens are pulled: `expand` requests the next one from the current macro, or else from the `lex::Reader`
//! of the innermost file, and `directive` executes directives on the way; `emit` converts the result to
//! Promela's tokens. The limits below bound time and memory for any text.

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
pub use crate::Options;
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

/// Limit on the text of all files. A file counts as often as it is included, and as at least [`MIN_FILE_COST`].
const MAX_TEXT_BYTES: usize = 64 << 20;
const MIN_FILE_COST: usize = 4 << 10;
const MAX_INCLUDE_DEPTH: usize = 64;
/// Limit on the tokens for the parser.
const MAX_TOKENS: usize = 2_000_000;
/// Limit on intermediate tokens (long ones count as several) and bytes of new text, in definitions, arguments
/// and expansions.
const MAX_WORK: usize = 8_000_000;
/// Limit on nested macro calls in arguments, and on nested operators in `#if`. It bounds the stack.
const MAX_NESTING: usize = 256;
const MAX_PROBLEMS: usize = 100;
/// The file name of `-D` options in messages.
const COMMAND_LINE: &str = "<command line>";

/// The tokens of the model in the file `path`.
pub fn preprocess(
    path: &Path,
    options: &Options,
    sources: &mut Sources,
    problems: &mut Vec<Diagnostic>,
) -> Vec<Token> {
    preprocess_with(path, &[], options, sources, problems).0
}

/// The tokens of the model in the file `path`, and of formulas about it, where macros have their meaning at
/// the end of the model. Each formula has a name for messages.
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

/// The tokens of a model without a file. It includes files relative to the current directory.
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
    /// The directory of the model.
    home: PathBuf,
    /// The files being read, each included by the one before it.
    open: Vec<OpenFile>,
    macros: Macros,
    /// The names of fixed macros, and whether they have been used.
    fixed: HashMap<Arc<str>, bool>,
    /// The macros being expanded, each named in the one before it.
    expansions: Vec<Expansion>,
    /// The depth of argument expansion.
    nesting: usize,
    /// The arguments of a macro are being read: they must end in the file where they begin.
    in_arguments: bool,
    /// A line break follows the last token.
    broken: bool,
    work: usize,
    /// A limit was exceeded: there are no more tokens.
    exhausted: bool,
    output: Vec<Token>,
}

struct OpenFile {
    reader: Reader,
    /// The directory where its own includes are looked for.
    directory: PathBuf,
    /// The `#if`s that are open.
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

    /// Reports values for names that are not used: they would have no effect.
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

    /// The next token of the innermost file. Executes directives, and skips groups with false conditions.
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

    /// Records a problem. Too many errors stop reading; warnings beyond the limit are discarded.
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
        // Messages quote the model, where a word may be millions of letters long.
        shorten(&mut problem.message);
        problem.hint = problem.hint.map(|hint| {
            let mut hint = String::from(hint);
            shorten(&mut hint);
            hint.into()
        });
        self.problems.push(problem);
    }

    /// Accounts for `amount` of work. Returns false if the limit is exceeded.
    fn afford(&mut self, amount: usize, at: Span) -> bool {
        self.work = self.work.saturating_add(amount);
        if self.work > MAX_WORK {
            self.give_up(
                Diagnostic::error(at, format!("the macros of this model make more than {MAX_WORK} tokens"))
                    .label("given up here")
                    .hint("look for macros that use other macros repeatedly, in several levels"),
            );
        }
        !self.exhausted
    }

    /// Reports a last problem, and stops reading.
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

/// The cost of tokens: looking up a long one takes time proportional to its length.
fn cost(tokens: &[PpToken]) -> usize {
    tokens.iter().map(|token| 1 + token.text.len() / 64).sum()
}

/// The length of the text of tokens, with blanks.
fn length(tokens: &[PpToken]) -> usize {
    tokens.iter().map(|token| 1 + token.text.len()).sum()
}
