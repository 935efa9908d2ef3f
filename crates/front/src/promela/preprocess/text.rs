//! A file's text with its continued lines joined, and the mapping to positions in the original text.

use std::ops::Range;
use std::sync::Arc;

pub struct Text {
    written: Arc<str>,
    /// `written` without its continuations (backslash, perhaps blanks, line break).
    pub joined: Arc<str>,
    cuts: Vec<Cut>,
    /// Offsets in `written` of the beginnings of lines.
    lines: Vec<u32>,
}

/// Before offset `at` of the joined text, `removed` bytes were removed.
struct Cut {
    at: u32,
    removed: u32,
}

impl Text {
    pub fn new(written: Arc<str>) -> Self {
        let (joined, cuts) = join(&written);
        let lines = std::iter::once(0).chain(written.match_indices('\n').map(|(at, _)| at as u32 + 1)).collect();
        Self { joined: if cuts.is_empty() { written.clone() } else { joined.into() }, written, cuts, lines }
    }

    /// The range in the original text of a range of the joined one.
    pub fn as_written(&self, joined: Range<usize>) -> (u32, u32) {
        let start = self.offset(joined.start as u32);
        // A continuation directly after the last byte does not belong to the range.
        let end = if joined.is_empty() { start } else { self.offset(joined.end as u32 - 1) + 1 };
        (start, end)
    }

    /// Whether a line ends between two positions of the original text.
    pub fn breaks_between(&self, start: u32, end: u32) -> bool {
        self.written[start as usize..end as usize].contains('\n')
    }

    /// The line of a position in the original text, counted from 1.
    pub fn line(&self, at: u32) -> usize {
        self.lines.partition_point(|&start| start <= at)
    }

    fn offset(&self, at: u32) -> u32 {
        match self.cuts.partition_point(|cut| cut.at <= at) {
            0 => at,
            after => at + self.cuts[after - 1].removed,
        }
    }
}

fn join(written: &str) -> (String, Vec<Cut>) {
    let (mut joined, mut cuts) = (String::new(), Vec::new());
    let mut copied = 0;
    for (at, _) in written.match_indices('\\') {
        if let Some(length) = continuation(&written[at..]) {
            joined.push_str(&written[copied..at]);
            copied = at + length;
            cuts.push(Cut { at: joined.len() as u32, removed: (copied - joined.len()) as u32 });
        }
    }
    joined.push_str(&written[copied..]);
    (joined, cuts)
}

/// The length of the continuation at the beginning of `text`. Like gcc, this allows blanks before the line break,
/// which are invisible, and treats the end of the file as one.
fn continuation(text: &str) -> Option<usize> {
    let rest = text[1..].trim_start_matches([' ', '\t', '\r', '\x0b', '\x0c']);
    let length = text.len() - rest.len();
    match rest.as_bytes().first() {
        None => Some(length),
        Some(b'\n') => Some(length + 1),
        Some(_) => None,
    }
}
