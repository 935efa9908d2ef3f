//! Source files, and positions in them.

use crate::diagnostic::Diagnostic;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Larger files are rejected.
pub const MAX_FILE_BYTES: usize = 8 << 20;

/// After so many bytes of a line, columns count bytes.
const MAX_COLUMN: usize = 1 << 16;

/// Every file that was read, and pseudo-files for other text (`-D NAME=VALUE`).
#[derive(Debug, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
    /// The paths of the model and of included files.
    pub paths: Vec<PathBuf>,
}

#[derive(Debug)]
pub struct SourceFile {
    /// The name as the user gave it, or as `#include` found it.
    pub name: String,
    pub text: Arc<str>,
    /// Whether messages quote no lines of it, because the user has not written it.
    pub hidden: bool,
    /// Byte offsets at which lines begin.
    lines: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// A range of bytes in a file: `start..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
}

/// A position: lines and columns from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

impl Sources {
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> FileId {
        let text = text.into();
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at as u32 + 1)).collect();
        self.files.push(SourceFile { name: name.into(), text, hidden: false, lines });
        FileId(self.files.len() as u32 - 1)
    }

    /// Excludes the lines of a file from messages.
    pub fn hide(&mut self, id: FileId) {
        self.files[id.0 as usize].hidden = true;
    }

    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// The first file of this name.
    pub fn named(&self, name: &str) -> Option<&SourceFile> {
        self.files.iter().find(|file| file.name == name)
    }

    pub fn text(&self, span: Span) -> &str {
        &self.file(span.file).text[span.start as usize..span.end as usize]
    }

    /// The text of a span on one line.
    pub fn line(&self, span: Span) -> String {
        self.text(span).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub fn place(&self, span: Span) -> Place {
        let file = self.file(span.file);
        let line = file.lines.partition_point(|&start| start <= span.start) - 1;
        let before = &file.text[file.lines[line] as usize..span.start as usize];
        // Counting the characters of a line of megabytes for every statement would take minutes.
        let column = if before.len() > MAX_COLUMN { before.len() } else { before.chars().count() };
        Place { file: file.name.clone(), line: line as u32 + 1, column: column as u32 + 1 }
    }
}

impl Span {
    /// From the beginning of `self` to the end of `last`, if both are in one file; else `self`. A macro or an include
    /// can make a construct span two files.
    pub fn to(self, last: Span) -> Span {
        if self.file == last.file && last.end >= self.start { Span { end: last.end, ..self } } else { self }
    }
}

/// The bytes of a file; if there are too many, one more than is allowed.
pub fn read(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    let name = path.display();
    read_bytes(path).map_err(|problem| {
        let reason = match problem.kind() {
            io::ErrorKind::NotFound => "no such file".to_owned(),
            io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
            _ => problem.to_string(),
        };
        Diagnostic::general(format!("cannot read `{name}`: {reason}"))
    })
}

fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let metadata = std::fs::metadata(path)?;
    if metadata.is_dir() {
        return Err(io::Error::other("it is a directory"));
    }
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A text that may contain bytes that are not UTF-8.
pub struct Decoded {
    pub text: String,
    pub foreign: Option<Foreign>,
}

/// The first byte that is not UTF-8, and the position of the character that it was read as.
pub struct Foreign {
    pub byte: u8,
    pub at: Range<usize>,
}

/// Decodes a text, if the bytes are one. Bytes that are not UTF-8 are read as Windows-1252, a superset of Latin-1
/// with quotation marks and dashes.
pub fn decode(name: &str, bytes: Vec<u8>) -> Result<Decoded, Diagnostic> {
    check_text(name, &bytes)?;
    let mut foreign = None;
    let text = String::from_utf8(bytes).unwrap_or_else(|error| {
        let mut text = String::new();
        for chunk in error.as_bytes().utf8_chunks() {
            text.push_str(chunk.valid());
            for &byte in chunk.invalid() {
                let start = text.len();
                text.push(match byte {
                    0x80..=0x9f => WINDOWS_1252[usize::from(byte - 0x80)],
                    _ => char::from(byte),
                });
                foreign.get_or_insert(Foreign { byte, at: start..text.len() });
            }
        }
        text
    });
    Ok(Decoded { text, foreign })
}

/// The characters 0x80 to 0x9f of Windows-1252; five do not exist.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{fffd}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{fffd}', 'Ž', '\u{fffd}',
    '\u{fffd}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{fffd}', 'ž', 'Ÿ',
];

/// Decodes a text in UTF-8.
pub fn text_of(name: &str, bytes: Vec<u8>) -> Result<String, Diagnostic> {
    check_text(name, &bytes)?;
    String::from_utf8(bytes).map_err(|error| {
        let (at, bytes) = (error.utf8_error().valid_up_to(), error.as_bytes());
        let problem = format!(
            "`{name}` is not UTF-8 text: byte 0x{:02x} at offset {at}, line {}",
            bytes[at],
            line_of(bytes, at)
        );
        Diagnostic::general(problem)
            .hint(format!("if it is Latin-1, convert it: `iconv -f latin1 -t utf-8 {name}`"))
    })
}

fn check_text(name: &str, bytes: &[u8]) -> Result<(), Diagnostic> {
    if bytes.len() > MAX_FILE_BYTES {
        let problem = format!("`{name}` is larger than {} MiB", MAX_FILE_BYTES >> 20);
        return Err(Diagnostic::general(problem).hint("is it really a model?"));
    }
    if let Some(at) = bytes.iter().position(|&byte| byte == 0) {
        let problem = format!("`{name}` is a binary file: a zero byte at offset {at}, line {}", line_of(bytes, at));
        return Err(Diagnostic::general(problem).hint("a model is a text file"));
    }
    Ok(())
}

fn line_of(bytes: &[u8], at: usize) -> usize {
    bytes[..at].iter().filter(|&&byte| byte == b'\n').count() + 1
}
