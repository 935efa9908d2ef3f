//! Fits columns of text into a width.

use entail_front::legible::is_hostile;
use std::ops::Range;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns that fit side by side, with their widths.
#[derive(Debug, PartialEq, Eq)]
pub struct Block {
    pub columns: Range<usize>,
    pub widths: Vec<usize>,
}

/// Splits columns of these widths into as few blocks as possible. A block takes at most `room`, and wider columns get at
/// least `least`.
pub fn fit(wanted: &[usize], least: usize, room: usize) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut begin = 0;
    while begin < wanted.len() {
        let mut taken = 0;
        let fitting = wanted[begin..].iter().take_while(|wanted| {
            taken += least.min(**wanted);
            taken <= room
        });
        // A block has at least one column.
        let columns = begin..begin + fitting.count().max(1);
        begin = columns.end;
        blocks.push(Block { widths: shrunk(&wanted[columns.clone()], room), columns });
    }
    blocks
}

/// Shrinks the widest columns first.
fn shrunk(wanted: &[usize], room: usize) -> Vec<usize> {
    let up_to = |most: usize| wanted.iter().map(move |wanted| (*wanted).min(most));
    let most = (1..=room).rev().find(|most| up_to(*most).sum::<usize>() <= room).unwrap_or(1);
    up_to(most).collect()
}

/// The width of a text on a terminal.
pub fn width(text: &str) -> usize {
    printable(text).width()
}

/// The text, truncated to a width.
pub fn cut(text: &str, room: usize) -> String {
    let text = printable(text);
    if text.width() <= room {
        return text;
    }
    let mut taken = 0;
    let fitting = text.chars().take_while(|c| {
        taken += c.width().unwrap_or(0);
        taken < room
    });
    let mut cut: String = fitting.collect();
    if room > 0 {
        cut.push('…');
    }
    cut
}

/// The text, truncated or padded to exactly this width.
pub fn padded(text: &str, room: usize) -> String {
    let text = cut(text, room);
    let missing = room.saturating_sub(text.width());
    text + &" ".repeat(missing)
}

/// The text in lines, broken between words where possible.
pub fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in printable(text).split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= room => *line = format!("{line} {word}"),
            Some(_) | None => lines.extend(pieces(word, room)),
        }
    }
    lines
}

/// Splits a word that may be longer than a line.
fn pieces(word: &str, room: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut taken = 0;
    for c in word.chars() {
        let more = c.width().unwrap_or(0);
        if taken + more > room {
            pieces.push(String::new());
            taken = 0;
        }
        taken += more;
        pieces.last_mut().expect("there is one").push(c);
    }
    pieces
}

/// Removes control characters, which a model may contain.
fn printable(text: &str) -> String {
    text.chars().map(|c| if is_hostile(c) { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_fit_are_as_wide_as_they_want_to_be() {
        assert_eq!(fit(&[5, 9, 3], 4, 17), [Block { columns: 0..3, widths: vec![5, 9, 3] }]);
    }

    #[test]
    fn the_widest_columns_give_way_first() {
        assert_eq!(fit(&[5, 90, 3], 4, 17), [Block { columns: 0..3, widths: vec![5, 9, 3] }]);
    }

    #[test]
    fn columns_for_which_there_is_no_room_come_in_another_block() {
        let blocks = [Block { columns: 0..2, widths: vec![5, 5] }, Block { columns: 2..3, widths: vec![8] }];
        assert_eq!(fit(&[8, 8, 8], 5, 10), blocks);
        assert_eq!(fit(&[8], 5, 3), [Block { columns: 0..1, widths: vec![3] }]);
        assert_eq!(fit(&[], 5, 3), []);
    }

    #[test]
    fn text_is_cut_by_what_it_takes_on_a_terminal() {
        assert_eq!(cut("counter", 7), "counter");
        assert_eq!(cut("counter", 6), "count…");
        assert_eq!(cut("計数器", 5), "計数…");
        assert_eq!(padded("計数器", 4), "計… ");
        assert_eq!(cut("x", 0), "");
        assert_eq!(cut("\u{1b}[31m", 9), "\u{fffd}[31m");
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrapped("a run ends here", 8), ["a run", "ends", "here"]);
        assert_eq!(wrapped("an unbreakable word", 6), ["an", "unbrea", "kable", "word"]);
        assert_eq!(wrapped("計数器", 4), ["計数", "器"]);
    }
}
