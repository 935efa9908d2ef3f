//! The tokens of BIR.

use crate::kit::tokens;
use logos::Skip;

tokens! {
    /// The keywords of this subset. Keywords that only full BIR has are ordinary names here; the parser
    /// recognises them where they usually occur.
    #[logos(skip(r"[ \t\r\n\x0b\x0c]+"))]
    #[logos(skip(r"//[^\n]*", allow_greedy = true))]
    pub enum Kind {
        #[token("/*", comment)]
        Comment "a comment",
        #[regex("[A-Za-z_$][A-Za-z0-9_$]*")]
        Name "a name",
        #[regex("[0-9][0-9A-Za-z_]*")]
        Number "a number",
        #[regex(r#""([^"\\\n]|\\[^\n])*"?"#)]
        Text "a string",
        #[regex("'[A-Za-z_]+")]
        TypeVariable "a type variable",
    }
    System "system" Const "const" TypeAlias "typealias" Enum "enum" Record "record" Active "active" Thread "thread"
    Invariant "invariant" Loc "loc" Live "live" When "when" Do "do" Visible "visible" Invisible "invisible"
    Goto "goto" Return "return" Assert "assert" Assume "assume" SkipWord "skip" Start "start" Exit "exit"
    Lock "lock" Unlock "unlock" Wait "wait" Notify "notify" NotifyAll "notifyAll" If "if" Choose "choose"
    Else "else" EndWord "end" Boolean "boolean" Int "int" Wrap "wrap" Tid "tid" True "true" False "false"
    OpenBrace "{" CloseBrace "}" Open "(" Close ")" OpenBracket "[" CloseBracket "]" Comma "," Semicolon ";"
    Assign ":=" Colon ":" Question "?" Dot "." Equals "=" Or "||" And "&&" BitOr "|" BitXor "^" BitAnd "&" Eq "=="
    Ne "!=" Lt "<" Le "<=" Gt ">" Ge ">=" Shl "<<" Shr ">>" ShrUnsigned ">>>" Plus "+" Minus "-" Times "*"
    Divide "/" Remainder "%" Not "!" Complement "~"
}

/// The message for a comment that extends to the end of the file.
pub const OPEN_COMMENT: &str = "this comment is not closed";

fn comment(lexer: &mut logos::Lexer<Kind>) -> Result<Skip, Option<&'static str>> {
    let rest = lexer.remainder();
    match rest.find("*/") {
        Some(end) => {
            lexer.bump(end + 2);
            Ok(Skip)
        }
        None => {
            lexer.bump(rest.len());
            Err(Some(OPEN_COMMENT))
        }
    }
}

impl Kind {
    /// Whether it certainly begins a member of a system, or a location: parsing can resume there.
    pub fn begins_part(self) -> bool {
        matches!(
            self,
            Kind::Const
                | Kind::TypeAlias
                | Kind::Enum
                | Kind::Record
                | Kind::Active
                | Kind::Thread
                | Kind::Invariant
                | Kind::Loc
        )
    }
}
