//! The tokens of ESML.

use crate::kit::tokens;
use logos::{FilterResult, Lexer};

tokens! {
    #[logos(skip r"[ \t\r\n\f]+")]
    pub enum TokenKind {
        #[token("(*", comment)]
        Comment "a comment",
        #[regex("%|==|!=|<>|&&|/|[|]+", foreign)]
        Foreign "a comment",
        #[regex("[A-Za-z_][A-Za-z0-9_]*")]
        Name "a name",
        #[regex("[0-9]+")]
        Number "a number",
        #[regex(r#""[^"\n]*""#)]
        #[regex(r"'[^'\n]*'")]
        Text "a text in quotes",
    }
    Model "MODEL" Process "PROCESS" Begin "BEGIN" EndWord "END" Const "CONST" Type "TYPE" Var "VAR" In "IN" Out "OUT"
    List "LIST" Array "ARRAY" Of "OF" If "IF" Do "DO" Poll "POLL" Skip "SKIP" Trace "TRACE" Empty "EMPTY"
    Remove "REMOVE" Append "APPEND" Prepend "PREPEND" Len "LEN" Head "HEAD" True "TRUE" False "FALSE" Div "DIV"
    Mod "MOD" Or "OR" Assert "ASSERT"
    Semicolon ";" Comma "," Colon ":" Becomes ":=" Equal "=" Unequal "#" Less "<" LessEqual "<=" Greater ">"
    GreaterEqual ">=" Plus "+" Minus "-" Star "*" And "&" Not "~" Open "(" Close ")" OpenBracket "["
    CloseBracket "]" OpenBrace "{" CloseBrace "}" Dot "." DotDot ".." Bang "!" Hook "?" Arrow "->" Box "[]"
    Implies "=>"
}

/// Skips a comment; they nest.
fn comment(lexer: &mut Lexer<'_, TokenKind>) -> FilterResult<(), Option<&'static str>> {
    let (rest, mut depth, mut at) = (lexer.remainder().as_bytes(), 1, 0);
    while at + 1 < rest.len() {
        let step = match &rest[at..at + 2] {
            b"(*" => 1,
            b"*)" => -1,
            _ => 0,
        };
        depth += step;
        at += if step == 0 { 1 } else { 2 };
        if depth == 0 {
            lexer.bump(at);
            return FilterResult::Skip;
        }
    }
    lexer.bump(rest.len());
    FilterResult::Error(Some("this comment is not closed"))
}

/// Operators of other languages, and their equivalents in ESML.
fn foreign(lexer: &mut Lexer<'_, TokenKind>) -> Result<(), Option<&'static str>> {
    Err(Some(match lexer.slice() {
        "%" => "`%` has no meaning here; the remainder is `MOD`",
        "/" => "`/` has no meaning here; division is `DIV`",
        "==" => "`==` has no meaning here; to compare, write `=`",
        "!=" | "<>" => "unequal is written `#`",
        "&&" => "`&&` has no meaning here; write `&`",
        _ => "`|` has no meaning here; write `OR`",
    }))
}
