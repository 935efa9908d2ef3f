//! Generated parts of a page, between two invisible comments.

use crate::Result;
use std::path::Path;

/// Replaces one part of a page.
pub fn write(file: &Path, part: &str, content: &str) -> Result<()> {
    let named = |problem: String| format!("{}: {problem}", file.display());
    let text = std::fs::read_to_string(file).map_err(|problem| named(problem.to_string()))?;
    Ok(std::fs::write(file, replace(&text, part, content).map_err(named)?)?)
}

fn replace(text: &str, part: &str, content: &str) -> std::result::Result<String, String> {
    let (begin, end) = (format!("<!-- begin {part} -->"), format!("<!-- end {part} -->"));
    let (before, rest) = text.split_once(&begin).ok_or_else(|| format!("there is no `{begin}`"))?;
    let (_, after) = rest.split_once(&end).ok_or_else(|| format!("no `{end}` after `{begin}`"))?;
    Ok(format!("{before}{begin}\n\n{}\n\n{end}{after}", content.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str =
        "Title\n<!-- begin speed -->\nold\n<!-- end speed -->\nText\n<!-- begin size -->\n<!-- end size -->\n";

    #[test]
    fn only_the_named_part_is_replaced() {
        let expected = "Title\n<!-- begin speed -->\n\nnew\n\n<!-- end speed -->\nText\n\
                        <!-- begin size -->\n<!-- end size -->\n";
        assert_eq!(replace(PAGE, "speed", "new\n").unwrap(), expected);
    }

    #[test]
    fn replacing_twice_is_replacing_once() {
        let once = replace(PAGE, "size", "new").unwrap();
        assert_eq!(replace(&once, "size", "new").unwrap(), once);
    }

    #[test]
    fn a_page_without_the_part_is_left_alone() {
        assert!(replace(PAGE, "weight", "new").is_err());
        assert!(replace("<!-- end speed -->", "speed", "new").is_err());
        assert!(replace("<!-- end speed --><!-- begin speed -->", "speed", "new").is_err());
    }
}
