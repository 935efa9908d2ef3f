//! The files a model is made of, and places in them.

use std::sync::Arc;

/// Every file that was read, plus pseudo-files for text that stands nowhere (`-D NAME=VALUE`).
#[derive(Debug, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

#[derive(Debug)]
pub struct SourceFile {
    /// The name as the person gave it, or as `#include` found it.
    pub name: String,
    pub text: Arc<str>,
    /// Byte offsets at which lines begin.
    lines: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// A piece of a file: the bytes `start..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
}

/// A place as people count: lines and columns from 1, columns in characters.
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
        self.files.push(SourceFile { name: name.into(), text, lines });
        FileId(self.files.len() as u32 - 1)
    }

    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    pub fn text(&self, span: Span) -> &str {
        &self.file(span.file).text[span.start as usize..span.end as usize]
    }

    pub fn place(&self, span: Span) -> Place {
        let file = self.file(span.file);
        let line = file.lines.partition_point(|&start| start <= span.start) - 1;
        let before = &file.text[file.lines[line] as usize..span.start as usize];
        Place { file: file.name.clone(), line: line as u32 + 1, column: before.chars().count() as u32 + 1 }
    }
}

impl Span {
    /// From the beginning of `self` to the end of `last`, where both stand in one file; else just `self`
    /// (a macro or an include can make a construct begin in one file and end in another).
    pub fn to(self, last: Span) -> Span {
        if self.file == last.file && last.end >= self.start { Span { end: last.end, ..self } } else { self }
    }
}
