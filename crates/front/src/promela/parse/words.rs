//! The keywords of the language.

/// Keywords, which cannot be names. `in` is no keyword: it has a meaning only in the head of a `for`.
pub(super) fn is_keyword(word: &str) -> bool {
    is_type(word)
        || begins_unit(word)
        || is_visibility(word)
        || matches!(word, "assert" | "atomic" | "break" | "c_code" | "c_expr" | "d_step" | "do" | "else" | "empty")
        || matches!(word, "enabled" | "eval" | "false" | "fi" | "for" | "full" | "get_priority" | "goto" | "if")
        || matches!(word, "len" | "nempty" | "nfull" | "np_" | "od" | "of" | "pc_value" | "printf" | "printm")
        || matches!(word, "priority" | "provided" | "return" | "run" | "select" | "set_priority" | "skip")
        || matches!(word, "timeout" | "true" | "unless" | "xr" | "xs" | "c_decl")
}

/// Keywords that begin a unit and occur nowhere else: they end all open constructs.
pub(super) fn begins_unit(word: &str) -> bool {
    UNITS.contains(&word) || matches!(word, "c_state" | "c_track")
}

pub(super) const UNITS: [&str; 10] =
    ["active", "proctype", "D_proctype", "init", "never", "trace", "notrace", "ltl", "typedef", "inline"];

pub(super) const TYPES: [&str; 9] = ["bit", "bool", "byte", "pid", "short", "int", "unsigned", "chan", "mtype"];

pub(super) fn is_type(word: &str) -> bool {
    TYPES.contains(&word)
}

pub(super) fn is_visibility(word: &str) -> bool {
    matches!(word, "hidden" | "show" | "local")
}

/// Words that are operators in formulas, and names elsewhere.
pub(super) fn is_temporal(word: &str) -> bool {
    is_between(word) || matches!(word, "X" | "always" | "eventually" | "next")
}

/// The binary ones of these operators.
pub(super) fn is_between(word: &str) -> bool {
    matches!(word, "U" | "V" | "W" | "until" | "stronguntil" | "weakuntil" | "release" | "implies" | "equivalent")
}

/// Binary operators that cannot begin an expression.
pub(super) fn is_infix(text: &str) -> bool {
    matches!(text, "+" | "*" | "/" | "%" | "&" | "^" | "|" | "<" | ">" | "<=" | ">=" | "==" | "!=" | "<<" | ">>")
        || matches!(text, "&&" | "||" | "?" | "??" | "!!" | "," | "." | "=" | ".." | "@")
}
