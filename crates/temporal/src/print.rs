//! Formulas in SPIN's syntax.

use crate::formula::{Formula, Formulas, Node};

/// Shared subformulas are printed each time, so the text may be exponentially longer than the formula.
const MAX_CHARS: usize = 100_000;

enum Piece<'a> {
    Text(&'a str),
    Formula(Formula),
    /// In parentheses, unless they are unnecessary.
    Operand(Formula),
}

impl Formulas {
    /// The formula as text; `names` are those of its propositions. A very long text is truncated.
    pub fn print(&self, formula: Formula, names: &[String]) -> String {
        let mut text = String::new();
        let mut waiting = vec![Piece::Formula(formula)];
        while let Some(piece) = waiting.pop() {
            if text.len() > MAX_CHARS {
                text.push('…');
                break;
            }
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Operand(operand) if self.is_compound(operand) => {
                    waiting.extend([Piece::Text(")"), Piece::Formula(operand), Piece::Text("(")]);
                }
                Piece::Formula(formula) | Piece::Operand(formula) => {
                    let pieces = self.pieces(formula, names);
                    waiting.extend(pieces.into_iter().rev());
                }
            }
        }
        text
    }

    fn pieces<'a>(&self, formula: Formula, names: &'a [String]) -> Vec<Piece<'a>> {
        use Piece::{Operand, Text};
        match *self.node(formula) {
            Node::True => vec![Text("true")],
            Node::False => vec![Text("false")],
            Node::Literal { proposition, positive } => {
                let name = names.get(usize::from(proposition.0)).map_or("?", String::as_str);
                let sign = if positive { "" } else { "!" };
                if is_simple(name) {
                    vec![Text(sign), Text(name)]
                } else {
                    vec![Text(sign), Text("("), Text(name), Text(")")]
                }
            }
            Node::And(ref operands) => between(operands, " && "),
            Node::Or(ref operands) => between(operands, " || "),
            Node::Next(operand) => vec![Text("X "), Operand(operand)],
            Node::Until(Formula::TRUE, right) => vec![Text("<> "), Operand(right)],
            Node::Release(Formula::FALSE, right) => vec![Text("[] "), Operand(right)],
            Node::Until(left, right) => vec![Operand(left), Text(" U "), Operand(right)],
            Node::Release(left, right) => vec![Operand(left), Text(" V "), Operand(right)],
        }
    }

    fn is_compound(&self, formula: Formula) -> bool {
        match self.node(formula) {
            Node::True | Node::False | Node::Literal { .. } | Node::Next(_) => false,
            Node::And(_) | Node::Or(_) => true,
            Node::Until(left, _) => *left != Formula::TRUE,
            Node::Release(left, _) => *left != Formula::FALSE,
        }
    }
}

fn between<'a>(operands: &[Formula], operator: &'static str) -> Vec<Piece<'a>> {
    let pieces = operands.iter().flat_map(|&operand| [Piece::Text(operator), Piece::Operand(operand)]);
    pieces.skip(1).collect()
}

/// Whether a proposition needs no parentheses: a name, or an expression in parentheses.
pub(crate) fn is_simple(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::Proposition;

    #[test]
    fn operators_are_those_of_spin() {
        let mut formulas = Formulas::default();
        let (a, b) = (formulas.proposition(Proposition(0)), formulas.proposition(Proposition(1)));
        let names = ["a".to_owned(), "x == 1".to_owned()];
        let until = formulas.until(a, b);
        let eventually = formulas.eventually(until);
        let formula = formulas.always(eventually);
        assert_eq!(formulas.print(formula, &names), "[] <> (a U (x == 1))");
        let not = formulas.not(formula);
        assert_eq!(formulas.print(not, &names), "<> [] (!a V !(x == 1))");
        let next = formulas.next(until);
        let both = formulas.and([a, next]);
        assert_eq!(formulas.print(both, &names), "a && X (a U (x == 1))");
    }

    #[test]
    fn a_text_that_is_too_long_is_cut() {
        let mut formulas = Formulas::default();
        let mut formula = formulas.proposition(Proposition(0));
        for _ in 0..100 {
            let next = formulas.next(formula);
            formula = formulas.until(formula, next);
        }
        let text = formulas.print(formula, &["a".to_owned()]);
        assert!(text.ends_with('…') && text.len() < 2 * MAX_CHARS);
    }
}
