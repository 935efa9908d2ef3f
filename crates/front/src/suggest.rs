//! Suggestions for unknown names.

use crate::diagnostic::Diagnostic;

/// Longer names are not compared: the time grows with the product of the lengths.
const LONGEST: usize = 64;

/// The number of problems with suggestions: each is compared with all names.
const MOST_ADVISED: usize = 200;

/// Whether a further problem should get a suggestion.
pub fn is_worth_it(problems: &[Diagnostic]) -> bool {
    problems.len() < MOST_ADVISED
}

/// The name in `known` that is most similar to `name`, if one is similar at all. `name` itself is no suggestion.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters_of = |word: &str| word.chars().take(LONGEST + 1).flat_map(char::to_lowercase).collect::<Vec<_>>();
    let others = known.into_iter().filter(|&candidate| candidate != name);
    let name = letters_of(name);
    let tolerated = name.len().div_ceil(3).min(3);
    let close = others.filter_map(|candidate| {
        let letters = letters_of(candidate);
        let comparable =
            name.len().max(letters.len()) <= LONGEST && name.len().abs_diff(letters.len()) <= tolerated;
        let distance = if comparable { distance(&name, &letters) } else { usize::MAX };
        // A name without a letter in common is not similar.
        (distance <= tolerated && distance < letters.len()).then_some((distance, candidate))
    });
    // Of several equally close names, always choose the same, regardless of their order.
    close.min().map(|(_, candidate)| candidate)
}

/// The number of letters to insert, delete, replace or swap with their neighbour to make `b` from `a`.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before_last = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_only_what_is_close() {
        let known = ["proctype", "printf", "run", "atomic", "N", "count"];
        for (name, expected) in [
            ("proctpye", Some("proctype")),
            ("proctyp", Some("proctype")),
            ("Printf", Some("printf")),
            ("PRINTF", Some("printf")),
            ("rnu", Some("run")),
            ("cuont", Some("count")),
            ("n", Some("N")),
            ("x", None),
            ("xyz", None),
            ("", None),
            ("atomically", None),
            ("run", None),
            ("ünïcode", None),
        ] {
            assert_eq!(did_you_mean(name, known), expected, "{name}");
        }
    }

    #[test]
    fn the_closest_name_wins() {
        assert_eq!(did_you_mean("counter", ["count", "counters", "encounter"]), Some("counters"));
        assert_eq!(did_you_mean("x1", ["x3", "x2"]), Some("x2"));
    }

    #[test]
    fn an_endless_name_is_compared_with_nothing() {
        let endless = "a".repeat(1_000_000);
        assert_eq!(did_you_mean(&endless, [&*endless]), None);
    }
}
