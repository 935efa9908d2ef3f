//! The tokens of BIR.

use crate::kit;
use logos::{Logos, Skip};

/// The keywords of this subset. Keywords that only full BIR has are ordinary names here; the parser
/// recognises them where they usually occur.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(error = Option<&'static str>)]
#[logos(skip(r"[ \t\r\n\x0b\x0c]+"))]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
pub enum Kind {
    #[token("/*", comment)]
    Comment,
    #[regex("[A-Za-z_$][A-Za-z0-9_$]*")]
    Name,
    #[regex("[0-9][0-9A-Za-z_]*")]
    Number,
    #[regex(r#""([^"\\\n]|\\[^\n])*"?"#)]
    Text,
    #[regex("'[A-Za-z_]+")]
    TypeVariable,
    #[token("system")]
    System,
    #[token("const")]
    Const,
    #[token("typealias")]
    TypeAlias,
    #[token("enum")]
    Enum,
    #[token("record")]
    Record,
    #[token("active")]
    Active,
    #[token("thread")]
    Thread,
    #[token("invariant")]
    Invariant,
    #[token("loc")]
    Loc,
    #[token("live")]
    Live,
    #[token("when")]
    When,
    #[token("do")]
    Do,
    #[token("visible")]
    Visible,
    #[token("invisible")]
    Invisible,
    #[token("goto")]
    Goto,
    #[token("return")]
    Return,
    #[token("assert")]
    Assert,
    #[token("assume")]
    Assume,
    #[token("skip")]
    SkipWord,
    #[token("start")]
    Start,
    #[token("exit")]
    Exit,
    #[token("lock")]
    Lock,
    #[token("unlock")]
    Unlock,
    #[token("wait")]
    Wait,
    #[token("notify")]
    Notify,
    #[token("notifyAll")]
    NotifyAll,
    #[token("if")]
    If,
    #[token("choose")]
    Choose,
    #[token("else")]
    Else,
    #[token("end")]
    EndWord,
    #[token("boolean")]
    Boolean,
    #[token("int")]
    Int,
    #[token("wrap")]
    Wrap,
    #[token("tid")]
    Tid,
    #[token("true")]
    True,
    #[token("false")]
    False,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    #[token("(")]
    Open,
    #[token(")")]
    Close,
    #[token("[")]
    OpenBracket,
    #[token("]")]
    CloseBracket,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token(":=")]
    Assign,
    #[token(":")]
    Colon,
    #[token("?")]
    Question,
    #[token(".")]
    Dot,
    #[token("=")]
    Equals,
    #[token("||")]
    Or,
    #[token("&&")]
    And,
    #[token("|")]
    BitOr,
    #[token("^")]
    BitXor,
    #[token("&")]
    BitAnd,
    #[token("==")]
    Eq,
    #[token("!=")]
    Ne,
    #[token("<")]
    Lt,
    #[token("<=")]
    Le,
    #[token(">")]
    Gt,
    #[token(">=")]
    Ge,
    #[token("<<")]
    Shl,
    #[token(">>")]
    Shr,
    #[token(">>>")]
    ShrUnsigned,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Times,
    #[token("/")]
    Divide,
    #[token("%")]
    Remainder,
    #[token("!")]
    Not,
    #[token("~")]
    Complement,
    End,
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

impl kit::Kind for Kind {
    const END: Self = Kind::End;

    fn describe(self) -> String {
        let written = match self {
            Kind::Name => return "a name".to_owned(),
            Kind::Number => return "a number".to_owned(),
            Kind::Text => return "a string".to_owned(),
            Kind::TypeVariable => return "a type variable".to_owned(),
            Kind::Comment => return "a comment".to_owned(),
            Kind::End => return "the end of the file".to_owned(),
            Kind::System => "system",
            Kind::Const => "const",
            Kind::TypeAlias => "typealias",
            Kind::Enum => "enum",
            Kind::Record => "record",
            Kind::Active => "active",
            Kind::Thread => "thread",
            Kind::Invariant => "invariant",
            Kind::Loc => "loc",
            Kind::Live => "live",
            Kind::When => "when",
            Kind::Do => "do",
            Kind::Visible => "visible",
            Kind::Invisible => "invisible",
            Kind::Goto => "goto",
            Kind::Return => "return",
            Kind::Assert => "assert",
            Kind::Assume => "assume",
            Kind::SkipWord => "skip",
            Kind::Start => "start",
            Kind::Exit => "exit",
            Kind::Lock => "lock",
            Kind::Unlock => "unlock",
            Kind::Wait => "wait",
            Kind::Notify => "notify",
            Kind::NotifyAll => "notifyAll",
            Kind::If => "if",
            Kind::Choose => "choose",
            Kind::Else => "else",
            Kind::EndWord => "end",
            Kind::Boolean => "boolean",
            Kind::Int => "int",
            Kind::Wrap => "wrap",
            Kind::Tid => "tid",
            Kind::True => "true",
            Kind::False => "false",
            Kind::OpenBrace => "{",
            Kind::CloseBrace => "}",
            Kind::Open => "(",
            Kind::Close => ")",
            Kind::OpenBracket => "[",
            Kind::CloseBracket => "]",
            Kind::Comma => ",",
            Kind::Semicolon => ";",
            Kind::Assign => ":=",
            Kind::Colon => ":",
            Kind::Question => "?",
            Kind::Dot => ".",
            Kind::Equals => "=",
            Kind::Or => "||",
            Kind::And => "&&",
            Kind::BitOr => "|",
            Kind::BitXor => "^",
            Kind::BitAnd => "&",
            Kind::Eq => "==",
            Kind::Ne => "!=",
            Kind::Lt => "<",
            Kind::Le => "<=",
            Kind::Gt => ">",
            Kind::Ge => ">=",
            Kind::Shl => "<<",
            Kind::Shr => ">>",
            Kind::ShrUnsigned => ">>>",
            Kind::Plus => "+",
            Kind::Minus => "-",
            Kind::Times => "*",
            Kind::Divide => "/",
            Kind::Remainder => "%",
            Kind::Not => "!",
            Kind::Complement => "~",
        };
        format!("`{written}`")
    }
}

impl Kind {
    /// Whether it is a keyword, which cannot be a name.
    pub fn is_word(self) -> bool {
        let written = kit::Kind::describe(self);
        written.as_bytes().get(1).is_some_and(u8::is_ascii_alphabetic) && written.starts_with('`')
    }

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
