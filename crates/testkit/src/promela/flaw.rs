//! Programs with intentional defects: acceptance is compared like everything else.

use super::ast::*;
use crate::rng::Rng;

macro_rules! flaws {
    ($($name:ident,)*) => {
        /// The defect of a program. SPIN tolerates some of these; then the counts are compared.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Flaw { $($name,)* }

        impl Flaw {
            pub const ALL: &'static [Flaw] = &[$(Flaw::$name,)*];
        }
    };
}

flaws! {
UndeclaredVariable, UndeclaredChannel, UndeclaredType, UndeclaredProcess, UndeclaredInline, UndeclaredField,
MissingLabel, DuplicateLabel, MisplacedBreak, TooManyArguments, TooFewArguments,     DuplicateGlobal, DuplicateLocal, LocalHidesGlobal, DuplicateProcess, DuplicateElse, ReadOfUnderscore,
AssignmentToPid, IndexOfScalar, MissingIndex, RunInDStep, TwoRuns, RunInInitialiser, SendOnInteger,
ArithmeticOnChannel, RecordAsValue, DuplicateMtypeName, DuplicateTypedef, EmptyArray, UnknownRemoteLabel,
JumpIntoDStep, WideUnsigned, InitialisedParameter, NegatedFullness, RemoteOfUndeclared,     AssignmentToConstant, HiddenLocal, DStepGotoOut, MisplacedElse, ReceiveIntoConstantIndex, SameVariableTwice,
LabelStartsBlock, }

/// Introduces a defect into a program, in the body of one of its processes or next to it.
pub fn inject(program: &mut Program, rng: &mut Rng) {
    let flaw = *rng.pick(Flaw::ALL);
    program.flaw = Some(flaw);
    let (mut before, stmts, after) = damage(flaw);
    let at = program.units.iter().position(|u| matches!(u, Unit::Process(_))).expect("a program has a process");
    if let Unit::Process(process) = &mut program.units[at] {
        let start = process.body.iter().position(|s| !matches!(s, Stmt::Declare(_))).unwrap_or(0);
        process.body.splice(start..start, stmts);
        if flaw == Flaw::InitialisedParameter {
            let init = Some(Init::Value(Expr::Number(1)));
            process.params.push(Decl { init, ..Decl::plain(Type::Byte, "p9") });
        }
    }
    program.units.extend(after);
    before.append(&mut program.units);
    program.units = before;
}

/// The text before the program, in a process, and after the program.
fn damage(flaw: Flaw) -> (Vec<Unit>, Block, Vec<Unit>) {
    let byte = |name: &str| Decl::plain(Type::Byte, name);
    let global = |decl: Decl| Unit::Global(decl);
    let place = |name: &str| Place::named(name);
    let number = Expr::Number;
    let set = |name: &str| Stmt::Assign(place(name), number(1));
    let skip = || Stmt::Guard(Expr::word("skip"));
    let run = |name: &str, args: Vec<Expr>| Expr::Run { process: name.into(), args, priority: None };
    let channel = |fields: Vec<Type>| {
        global(Decl { init: Some(Init::Channel { capacity: 1, fields }), ..Decl::plain(Type::Chan, "fq") })
    };
    let send = |name: &str, args: Vec<Expr>| Stmt::Send { channel: place(name), sorted: false, args };
    let label = |name: &str, stmt: Stmt| Stmt::Labelled(name.into(), Box::new(stmt));
    let process = |kind, name: &str, params: Vec<Decl>, body: Block| {
        Unit::Process(Process { kind, name: name.into(), params, priority: None, provided: None, body })
    };
    let proctype = ProcessKind::Proctype { active: None, deterministic: false };
    let victim = || process(proctype, "Victim", vec![byte("vp")], vec![skip()]);
    let typedef = || Unit::Typedef { name: "Fr".into(), fields: vec![byte("fa")] };
    let record = || global(Decl::plain(Type::Record("Fr".into()), "fr"));
    let element = |name: &str, index: i32| Place { index: Some(Box::new(number(index))), ..place(name) };
    let field = |name: &str, field: &str| Place { field: Some(Box::new(place(field))), ..place(name) };
    match flaw {
        Flaw::UndeclaredVariable => (vec![], vec![set("nowhere")], vec![]),
        Flaw::UndeclaredChannel => (vec![], vec![send("nowhere", vec![number(1)])], vec![]),
        Flaw::UndeclaredType => {
            (vec![], vec![Stmt::Declare(Decl::plain(Type::Record("Nowhere".into()), "fv"))], vec![])
        }
        Flaw::UndeclaredProcess => (vec![], vec![Stmt::Guard(run("Nobody", vec![]))], vec![]),
        Flaw::UndeclaredInline => {
            (vec![], vec![Stmt::Call { result: None, name: "nothing".into(), args: vec![] }], vec![])
        }
        Flaw::UndeclaredField => {
            (vec![typedef(), record()], vec![Stmt::Assign(field("fr", "nowhere"), number(1))], vec![])
        }
        Flaw::MissingLabel => (vec![], vec![Stmt::Goto("nowhere".into())], vec![]),
        Flaw::DuplicateLabel => (vec![], vec![label("twice", skip()), label("twice", skip())], vec![]),
        Flaw::MisplacedBreak => (vec![], vec![Stmt::Break], vec![]),
        Flaw::TooManyArguments => {
            (vec![victim()], vec![Stmt::Guard(run("Victim", vec![number(1), number(2)]))], vec![])
        }
        Flaw::TooFewArguments => (vec![victim()], vec![Stmt::Guard(run("Victim", vec![]))], vec![]),
        Flaw::DuplicateGlobal => (vec![global(byte("fg")), global(byte("fg"))], vec![], vec![]),
        Flaw::DuplicateLocal => (vec![], vec![Stmt::Declare(byte("fl")), Stmt::Declare(byte("fl"))], vec![]),
        Flaw::LocalHidesGlobal => (vec![global(byte("fg"))], vec![Stmt::Declare(byte("fg")), set("fg")], vec![]),
        Flaw::DuplicateProcess => (vec![victim(), victim()], vec![], vec![]),
        Flaw::DuplicateElse => (vec![], vec![Stmt::Choice(vec![vec![Stmt::Else], vec![Stmt::Else]])], vec![]),
        Flaw::ReadOfUnderscore => {
            (vec![global(byte("fg"))], vec![Stmt::Assign(place("fg"), Expr::word("_"))], vec![])
        }
        Flaw::AssignmentToPid => (vec![], vec![set("_pid")], vec![]),
        Flaw::IndexOfScalar => (vec![global(byte("fg"))], vec![Stmt::Assign(element("fg", 1), number(1))], vec![]),
        Flaw::MissingIndex => (vec![global(Decl { array: Some(2), ..byte("fg") })], vec![set("fg")], vec![]),
        Flaw::RunInDStep => {
            let run = Stmt::Guard(run("Victim", vec![number(1)]));
            (vec![victim()], vec![Stmt::Group(Group::DStep, vec![skip(), run])], vec![])
        }
        Flaw::TwoRuns => {
            let once = || run("Victim", vec![number(1)]);
            (vec![victim()], vec![Stmt::Guard(Expr::binary(Binary::Add, once(), once()))], vec![])
        }
        Flaw::RunInInitialiser => {
            let init = Some(Init::Value(run("Victim", vec![number(1)])));
            (vec![victim()], vec![Stmt::Declare(Decl { init, ..byte("fl") })], vec![])
        }
        Flaw::SendOnInteger => (vec![global(byte("fg"))], vec![send("fg", vec![number(1)])], vec![]),
        Flaw::ArithmeticOnChannel => (vec![channel(vec![Type::Byte])], vec![Stmt::Bump(place("fq"), "++")], vec![]),
        Flaw::RecordAsValue => (
            vec![typedef(), record(), global(byte("fg"))],
            vec![Stmt::Assign(place("fg"), Expr::read("fr"))],
            vec![],
        ),
        Flaw::DuplicateMtypeName => {
            let names = || vec!["same".to_string(), "same".to_string()];
            (vec![Unit::Mtype { subtype: None, names: names() }], vec![], vec![])
        }
        Flaw::DuplicateTypedef => (vec![typedef(), typedef()], vec![], vec![]),
        Flaw::EmptyArray => (vec![global(Decl { array: Some(0), ..byte("fg") })], vec![], vec![]),
        Flaw::UnknownRemoteLabel => {
            let look = Expr::AtLabel { process: "Victim".into(), pid: None, label: "nowhere".into() };
            (vec![victim()], vec![Stmt::Assert(Expr::Unary(Unary::Not, Box::new(look)))], vec![])
        }
        Flaw::JumpIntoDStep => {
            let inside = vec![skip(), label("inside", skip())];
            (vec![], vec![Stmt::Goto("inside".into()), Stmt::Group(Group::DStep, inside)], vec![])
        }
        Flaw::WideUnsigned => (vec![global(Decl::plain(Type::Unsigned(64), "fg"))], vec![], vec![]),
        Flaw::InitialisedParameter => (vec![], vec![], vec![]),
        Flaw::NegatedFullness => {
            let full = Expr::Unary(Unary::Not, Box::new(Expr::Ask("full", place("fq"))));
            (vec![channel(vec![Type::Byte])], vec![Stmt::Guard(full)], vec![])
        }
        Flaw::RemoteOfUndeclared => {
            let look = Expr::AtLabel { process: "Nobody".into(), pid: None, label: "nowhere".into() };
            (vec![], vec![Stmt::Assert(look)], vec![])
        }
        Flaw::AssignmentToConstant => {
            let names = vec!["fixed".to_string()];
            (vec![Unit::Mtype { subtype: None, names }], vec![set("fixed")], vec![])
        }
        Flaw::HiddenLocal => {
            (vec![], vec![Stmt::Declare(Decl { visibility: Some("hidden"), ..byte("fl") }), set("fl")], vec![])
        }
        Flaw::DStepGotoOut => {
            let body = vec![skip(), Stmt::Goto("beyond".into())];
            (vec![], vec![Stmt::Group(Group::DStep, body), skip(), label("beyond", skip())], vec![])
        }
        Flaw::MisplacedElse => (vec![], vec![Stmt::Else], vec![]),
        Flaw::ReceiveIntoConstantIndex => {
            let args = vec![Pattern::Store(element("fg", 1))];
            let receive = Stmt::Receive { channel: place("fq"), mode: Receive::First, args };
            (vec![channel(vec![Type::Byte]), global(byte("fg"))], vec![receive], vec![])
        }
        Flaw::LabelStartsBlock => (vec![], vec![Stmt::Group(Group::Plain, vec![label("first", skip())])], vec![]),
        Flaw::SameVariableTwice => {
            let args = vec![Pattern::Store(place("fg")), Pattern::Store(place("fg"))];
            let receive = Stmt::Receive { channel: place("fq"), mode: Receive::First, args };
            (vec![channel(vec![Type::Byte, Type::Byte]), global(byte("fg"))], vec![receive], vec![])
        }
    }
}
