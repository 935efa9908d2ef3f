//! The syntax tree of a generated program: just enough structure to print and to shrink it.
//!
//! The tree can express invalid programs, because comparing which programs are rejected is half of the purpose.

pub type Block = Vec<Stmt>;

/// The degree to which two checkers should agree on a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// Verdict and every count.
    Everything,
    /// Only whether there is an error: SPIN's search is cut short or undefined after an error.
    VerdictOnly,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub units: Vec<Unit>,
    pub compare: Compare,
    /// The features that occur in the program, not merely those that were allowed.
    pub features: super::FeatureSet,
    /// The intentional defect, if there is one.
    pub flaw: Option<super::Flaw>,
}

impl Program {
    /// The names of numeric global variables.
    pub fn numbers(&self) -> Vec<String> {
        self.units.iter().filter_map(Unit::number).collect()
    }

    /// Whether an inline receives from a channel whose index contains a parameter. If the argument is also the target of
    /// the message, SPIN's verifier evaluates the index again after the receive (`received-from.pml`).
    pub fn may_receive_into_an_index(&self) -> bool {
        self.units.iter().any(|unit| match unit {
            Unit::Inline { params, body, .. } => body.iter().any(|statement| statement.receives_by(params)),
            Unit::Define { .. }
            | Unit::Mtype { .. }
            | Unit::Typedef { .. }
            | Unit::Global(_)
            | Unit::Process(_)
            | Unit::Always { .. } => false,
        })
    }

    /// Whether an escape that may begin with a send surrounds another escape: if no process receives, SPIN's
    /// verifier ignores the inner one (`escape-forgotten.pml`).
    pub fn loses_escapes(&self) -> bool {
        self.units.iter().any(|unit| match unit {
            Unit::Process(Process { body, .. }) | Unit::Inline { body, .. } => body.iter().any(Stmt::loses_escapes),
            Unit::Define { .. }
            | Unit::Mtype { .. }
            | Unit::Typedef { .. }
            | Unit::Global(_)
            | Unit::Always { .. } => false,
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    Define { name: String, params: Vec<String>, body: Expr },
    Mtype { subtype: Option<String>, names: Vec<String> },
    Typedef { name: String, fields: Vec<Decl> },
    Global(Decl),
    Inline { name: String, params: Vec<String>, body: Block },
    Process(Process),
    Always { name: String, formula: Expr },
}

impl Unit {
    fn number(&self) -> Option<String> {
        let Unit::Global(declared) = self else { return None };
        let is_number = match declared.ty {
            Type::Bit | Type::Bool | Type::Byte | Type::Short | Type::Int | Type::Unsigned(_) => true,
            Type::Pid | Type::Mtype(_) | Type::Chan | Type::Record(_) => false,
        };
        (is_number && declared.array.is_none() && declared.visibility.is_none()).then(|| declared.name.clone())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    Bit,
    Bool,
    Byte,
    Pid,
    Short,
    Int,
    Unsigned(u8),
    Mtype(Option<String>),
    Chan,
    Record(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decl {
    /// `hidden`, `show` or `local`.
    pub visibility: Option<&'static str>,
    pub ty: Type,
    pub name: String,
    pub array: Option<usize>,
    pub init: Option<Init>,
}

impl Decl {
    pub fn plain(ty: Type, name: impl Into<String>) -> Self {
        Self { visibility: None, ty, name: name.into(), array: None, init: None }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Init {
    Value(Expr),
    List(Vec<Expr>),
    Channel { capacity: usize, fields: Vec<Type> },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub kind: ProcessKind,
    pub name: String,
    pub params: Vec<Decl>,
    pub priority: Option<u8>,
    pub provided: Option<Expr>,
    pub body: Block,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessKind {
    Init,
    Proctype { active: Option<usize>, deterministic: bool },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub name: String,
    pub index: Option<Box<Expr>>,
    pub field: Option<Box<Place>>,
}

impl Place {
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), index: None, field: None }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stmt {
    Declare(Decl),
    /// `xr` or `xs`.
    Exclusive(&'static str, Place),
    Labelled(String, Box<Stmt>),
    Assign(Place, Expr),
    /// `++` or `--`.
    Bump(Place, &'static str),
    Guard(Expr),
    Else,
    Choice(Vec<Block>),
    Loop(Vec<Block>),
    For {
        index: Place,
        over: Span,
        body: Block,
    },
    Select {
        index: Place,
        from: Expr,
        to: Expr,
    },
    Goto(String),
    Break,
    Group(Group, Block),
    Unless(Block, Block),
    Send {
        channel: Place,
        sorted: bool,
        args: Vec<Expr>,
    },
    Receive {
        channel: Place,
        mode: Receive,
        args: Vec<Pattern>,
    },
    Print(Vec<Expr>),
    PrintM(Expr),
    Assert(Expr),
    Call {
        result: Option<Place>,
        name: String,
        args: Vec<Expr>,
    },
    Return(Expr),
    SetPriority(Expr, Expr),
}

impl Stmt {
    /// The blocks it consists of.
    fn blocks(&self) -> Vec<&Block> {
        match self {
            Stmt::Choice(options) | Stmt::Loop(options) => options.iter().collect(),
            Stmt::For { body, .. } | Stmt::Group(_, body) => vec![body],
            Stmt::Unless(body, escape) => vec![body, escape],
            Stmt::Labelled(_, inner) => inner.blocks(),
            _ => Vec::new(),
        }
    }

    fn any(&self, wanted: &impl Fn(&Stmt) -> bool) -> bool {
        wanted(self) || self.blocks().into_iter().flatten().any(|inner| inner.any(wanted))
    }

    fn may_begin_with_send(&self) -> bool {
        match self {
            Stmt::Send { .. } | Stmt::Call { .. } => true,
            Stmt::Labelled(_, inner) => inner.may_begin_with_send(),
            other => other.blocks().into_iter().any(|block| block.first().is_some_and(Stmt::may_begin_with_send)),
        }
    }

    /// Whether a receive has one of these words in the index of its channel.
    fn receives_by(&self, words: &[String]) -> bool {
        self.any(&|statement| {
            let Stmt::Receive { channel: Place { index: Some(index), .. }, .. } = statement else { return false };
            let index = index.to_string();
            let mut within = index.split(|c: char| !c.is_alphanumeric() && c != '_');
            within.any(|word| words.iter().any(|known| known == word))
        })
    }

    fn loses_escapes(&self) -> bool {
        self.any(&|statement| {
            let Stmt::Unless(body, escape) = statement else { return false };
            escape.first().is_some_and(Stmt::may_begin_with_send)
                && body
                    .iter()
                    .any(|inner| inner.any(&|inner| matches!(inner, Stmt::Unless(..) | Stmt::Call { .. })))
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Span {
    Range(Expr, Expr),
    /// An array or a channel.
    Elements(Place),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    Plain,
    Atomic,
    DStep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receive {
    First,
    Any,
    PeekFirst,
    PeekAny,
}

/// One field of a receive statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    Store(Place),
    Constant(Expr),
    Eval(Expr),
    Ignore,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    Number(i32),
    Character(char),
    /// A predefined or symbolic name: `true`, `timeout`, `_pid`, an mtype constant, a macro without arguments.
    Word(String),
    Read(Place),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `len`, `full`, `empty`, `nfull`, `nempty`.
    Ask(&'static str, Place),
    /// `enabled`, `pc_value`, `get_priority`, or a macro.
    Apply(String, Vec<Expr>),
    Poll {
        channel: Place,
        anywhere: bool,
        args: Vec<Pattern>,
    },
    Run {
        process: String,
        args: Vec<Expr>,
        priority: Option<u8>,
    },
    AtLabel {
        process: String,
        pid: Option<Box<Expr>>,
        label: String,
    },
    Remote {
        process: String,
        pid: Option<Box<Expr>>,
        variable: Place,
    },
}

impl Expr {
    pub fn word(word: impl Into<String>) -> Self {
        Self::Word(word.into())
    }

    pub fn read(name: impl Into<String>) -> Self {
        Self::Read(Place::named(name))
    }

    pub fn binary(op: Binary, left: Expr, right: Expr) -> Self {
        Self::Binary(op, Box::new(left), Box::new(right))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    Not,
    Minus,
    Complement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Shl,
    Shr,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

impl Binary {
    /// Its symbol and its precedence.
    pub fn notation(self) -> (&'static str, u8) {
        match self {
            Self::Or => ("||", 1),
            Self::And => ("&&", 2),
            Self::BitOr => ("|", 3),
            Self::BitXor => ("^", 4),
            Self::BitAnd => ("&", 5),
            Self::Eq => ("==", 6),
            Self::Ne => ("!=", 6),
            Self::Lt => ("<", 7),
            Self::Le => ("<=", 7),
            Self::Gt => (">", 7),
            Self::Ge => (">=", 7),
            Self::Shl => ("<<", 8),
            Self::Shr => (">>", 8),
            Self::Add => ("+", 9),
            Self::Sub => ("-", 9),
            Self::Mul => ("*", 10),
            Self::Div => ("/", 10),
            Self::Rem => ("%", 10),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_may_contain_the_target_of_a_receive() {
        let receive = |word| Stmt::Receive {
            channel: Place { index: Some(Box::new(Expr::word(word))), ..Place::named("q") },
            mode: Receive::First,
            args: Vec::new(),
        };
        let params = ["given".to_owned()];
        assert!(Stmt::Choice(vec![vec![receive("given")]]).receives_by(&params));
        assert!(!receive("givens").receives_by(&params));
        let plain = Stmt::Receive { channel: Place::named("given"), mode: Receive::First, args: Vec::new() };
        assert!(!plain.receives_by(&params));
    }

    #[test]
    fn an_escape_is_lost_inside_one_that_sends() {
        let send = || Stmt::Send { channel: Place::named("r"), sorted: false, args: Vec::new() };
        let unless = |body, escape| Stmt::Unless(vec![body], vec![escape]);
        let inner = || unless(Stmt::Else, send());
        assert!(unless(inner(), send()).loses_escapes());
        assert!(unless(inner(), Stmt::Labelled("l".into(), Box::new(send()))).loses_escapes());
        assert!(Stmt::Group(Group::Atomic, vec![unless(inner(), send())]).loses_escapes());
        assert!(!unless(inner(), Stmt::Break).loses_escapes());
        assert!(!unless(Stmt::Else, send()).loses_escapes());
    }
}
