//! Control flow: turns nested statements into a graph of numbered elements.
//!
//! The graph and its numbering are SPIN's, because they are observable: the control locations determine the
//! number of states, `pc_value()` returns their numbers, and trails refer to statements by number. An element
//! is a statement, or one of the joints that SPIN inserts between statements: the point where the branches of
//! an `if` join, or the exit of a loop.

use crate::diagnostic::Diagnostic;
use crate::promela::ast::{
    Branch, Decl, Declarator, Expr, ExprKind, Ident, Initialiser, Part, Step, Stmt, StmtKind, Structure, Type,
    VarRef,
};
use crate::source::Span;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::scope::{Given, ScopeId, Scopes};

mod loops;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ElementId(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SequenceId(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopId(u32);

#[derive(Clone, Debug)]
pub struct Element {
    /// Its number within the process type; locations have the same numbers.
    pub number: u32,
    /// Its number within the whole model, as trails use it.
    pub id: u32,
    pub kind: Kind,
    pub next: Option<ElementId>,
    /// The branches of an `if` or `do`, or the body and the escape of an `unless`.
    pub branches: Vec<SequenceId>,
    /// Escapes that may interrupt it, innermost last.
    pub escapes: Vec<SequenceId>,
    /// Inside `atomic` or `d_step`, and not its last element.
    pub atomic: bool,
    /// The last element of an `atomic` or `d_step`.
    pub last_atomic: bool,
    /// Inside `d_step`.
    pub deterministic: bool,
    pub span: Span,
    pub scope: ScopeId,
    /// Names declared later than this are not visible to it.
    pub order: u32,
}

#[derive(Clone, Debug)]
pub enum Kind {
    Simple(Rc<Stmt>),
    /// A declaration of a record in the middle of a body: a step without effect.
    Nothing,
    Else,
    Goto(Jump),
    /// The point where the branches of an `if` or an `unless` join, or a loop repeats.
    Joint,
    /// The exit of a loop.
    Exit,
    If,
    Do,
    Unless,
    Atomic(SequenceId),
    DStep(SequenceId),
    Block(SequenceId),
    End,
}

#[derive(Clone, Debug)]
pub enum Jump {
    Label(Ident),
    Break(LoopId),
}

#[derive(Clone, Debug, Default)]
pub struct Sequence {
    pub first: Option<ElementId>,
    pub last: Option<ElementId>,
    /// The last element of the text; joints may follow it.
    pub extent: Option<ElementId>,
}

#[derive(Clone, Debug)]
pub struct LabelDef {
    pub name: Ident,
    pub element: ElementId,
    pub scope: ScopeId,
}

/// The labels of a body, in the order of the text.
#[derive(Debug, Default)]
pub struct Labels {
    all: Vec<LabelDef>,
    by_name: HashMap<Arc<str>, Vec<usize>>,
    /// The index of the first label of each labelled element.
    by_element: HashMap<ElementId, usize>,
}

impl Labels {
    fn add(&mut self, label: LabelDef) {
        let number = self.all.len();
        self.by_name.entry(label.name.name.clone()).or_default().push(number);
        self.by_element.entry(label.element).or_insert(number);
        self.all.push(label);
    }

    pub fn iter(&self) -> impl Iterator<Item = &LabelDef> {
        self.all.iter()
    }

    /// The labels with this name.
    pub fn named(&self, name: &str) -> impl DoubleEndedIterator<Item = &LabelDef> {
        self.by_name.get(name).into_iter().flatten().map(|number| &self.all[*number])
    }

    /// The first label of an element.
    pub fn at(&self, element: ElementId) -> Option<&LabelDef> {
        self.by_element.get(&element).map(|number| &self.all[*number])
    }
}

/// The control flow of one process type, claim or trace.
#[derive(Debug, Default)]
pub struct Flow {
    pub elements: Vec<Element>,
    pub sequences: Vec<Sequence>,
    pub labels: Labels,
    /// Per loop: its exit.
    exits: Vec<Option<ElementId>>,
    pub body: Option<SequenceId>,
    /// The target of each jump; complete when the whole body has been built.
    pub jumps: HashMap<ElementId, ElementId>,
    /// Channels with `xr` or `xs`, and their positions: the front end only checks that they are channels.
    pub exclusive: Vec<(VarRef, ScopeId, u32)>,
    next_number: u32,
}

/// A statement whose parts have been built, but which has no elements of its own yet. SPIN numbers the parts
/// of a statement before the statement itself.
enum Prepared {
    Simple(Kind, Span),
    If(Vec<SequenceId>, Span),
    Do(Vec<SequenceId>, LoopId, Span),
    Wrapped(Wrapper, SequenceId, Span),
    Unless(SequenceId, SequenceId, Span),
    Labelled(Ident, Box<Prepared>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wrapper {
    Atomic,
    DStep,
    Block,
}

/// The context of a sequence. If a label at its beginning is not allowed, it contains the hint.
enum Place {
    Branch,
    Wrapped(Wrapper),
    Unless,
    Escape,
    /// A sequence that begins with a generated element.
    Own,
}

/// Builds the graph of one body.
pub struct Builder<'a> {
    pub flow: Flow,
    scopes: &'a mut Scopes,
    problems: &'a mut Vec<Diagnostic>,
    /// All bodies of a model share it.
    next_id: &'a mut u32,
    open: Vec<SequenceId>,
    loops: Vec<LoopId>,
    scope: ScopeId,
    /// Whether the beginning of a body is being read: declarations there take effect when the process starts;
    /// later ones are assignments.
    initial: bool,
    in_claim: bool,
    /// The number of inline calls around the current statement.
    inlines: u32,
}

impl Flow {
    pub(super) fn exit(&self, id: LoopId) -> Option<ElementId> {
        self.exits[id.0 as usize]
    }

    /// Gives a label before a jump a location of its own, as SPIN does for labels that other processes refer
    /// to: a jump has no location.
    pub fn separate_label(&mut self, name: &str, next_id: &mut u32) {
        let Some(label) = self.labels.named(name).next_back() else { return };
        let labelled = label.element;
        if !matches!(self[labelled].kind, Kind::Goto(_)) {
            return;
        }
        let jump = Element {
            number: self.next_number,
            id: *next_id,
            atomic: false,
            last_atomic: false,
            escapes: Vec::new(),
            ..self[labelled].clone()
        };
        self.next_number += 1;
        *next_id += 1;
        self.elements.push(jump);
        let jump = ElementId(self.elements.len() as u32 - 1);
        let span = self[labelled].span;
        self[labelled].kind = Kind::Simple(Rc::new(Stmt::skip(span)));
        self[labelled].next = Some(jump);
    }

    /// One more than the highest number.
    pub fn numbers(&self) -> u32 {
        self.next_number
    }
}

impl<'a> Builder<'a> {
    pub fn new(
        scopes: &'a mut Scopes,
        scope: ScopeId,
        in_claim: bool,
        next_id: &'a mut u32,
        problems: &'a mut Vec<Diagnostic>,
    ) -> Self {
        let flow = Flow { next_number: 1, ..Flow::default() };
        Builder {
            flow,
            scopes,
            problems,
            next_id,
            open: Vec::new(),
            loops: Vec::new(),
            scope,
            initial: true,
            in_claim,
            inlines: 0,
        }
    }

    /// Builds the body of a process type, which ends at `end`.
    pub fn body(mut self, steps: &[Step], end: Span) -> Flow {
        let outer = self.enter();
        self.open();
        self.initial = true;
        self.steps(steps);
        self.add(Prepared::Simple(Kind::End, end));
        let body = self.close_unchecked();
        self.flow.body = Some(body);
        self.scope = outer;
        self.flow
    }

    fn enter(&mut self) -> ScopeId {
        let inner = self.scopes.child(self.scope);
        std::mem::replace(&mut self.scope, inner)
    }

    fn open(&mut self) {
        self.flow.sequences.push(Sequence::default());
        self.open.push(SequenceId(self.flow.sequences.len() as u32 - 1));
        self.initial = false;
    }

    fn close_unchecked(&mut self) -> SequenceId {
        let id = self.open.pop().expect("sequences are opened and closed in pairs");
        let sequence = &mut self.flow.sequences[id.0 as usize];
        sequence.extent = sequence.last;
        id
    }

    fn close(&mut self, place: &Place) -> SequenceId {
        let id = self.close_unchecked();
        if let Some(first) = self.flow.sequences[id.0 as usize].first
            && let Some(label) = self.flow.labels.at(first)
        {
            self.problems.extend(misplaced(label, place));
        }
        id
    }

    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Decl(decl) => self.declare(decl),
                Step::Exclusive(exclusive) => {
                    let order = self.scopes.now();
                    let claims = exclusive.channels.iter().map(|channel| (channel.clone(), self.scope, order));
                    self.flow.exclusive.extend(claims);
                }
                Step::Stmt(stmt) => {
                    let prepared = self.prepare(stmt);
                    self.initial = false;
                    self.add(prepared);
                }
            }
        }
    }

    /// A sequence in braces, which has a scope of its own.
    fn braces(&mut self, steps: &[Step], place: &Place) -> SequenceId {
        let outer = self.enter();
        self.open();
        self.steps(steps);
        let sequence = self.close(place);
        self.scope = outer;
        sequence
    }

    /// Declares variables. After the beginning of a body, assignments initialise them; but their channels are
    /// created when the process starts.
    fn declare(&mut self, decl: &Decl) {
        for var in &decl.vars {
            let given = match &var.init {
                Some(Initialiser::Channel(init)) => {
                    if !self.initial {
                        let message = "this channel is made when the process starts, and only once";
                        self.problems.push(Diagnostic::warning(init.span, message));
                    }
                    Given::AtStart
                }
                Some(Initialiser::Expr(_) | Initialiser::List(..)) | None if self.initial => Given::AtStart,
                Some(Initialiser::Expr(_) | Initialiser::List(..)) | None => Given::ByStatement,
            };
            self.scopes.declare(self.scope, decl, var, given, self.problems);
            if given == Given::ByStatement {
                let kind = self.late_initialisation(decl, var);
                self.add(Prepared::Simple(kind, var.name.span));
            }
        }
    }

    fn late_initialisation(&mut self, decl: &Decl, var: &Declarator) -> Kind {
        if matches!(decl.ty, Type::Record(_)) {
            return Kind::Nothing;
        }
        let span = var.name.span;
        let value = match &var.init {
            None => Expr::constant(0, span),
            Some(Initialiser::Expr(value)) => value.clone(),
            Some(Initialiser::List(_, span)) => {
                let message = "a list of initial values is possible only before the first statement";
                let hint = "assign the elements one by one, or declare it at the beginning of the proctype";
                self.problems.push(Diagnostic::error(*span, message).hint(hint));
                return Kind::Nothing;
            }
            Some(Initialiser::Channel(_)) => unreachable!("channels are made when the process starts"),
        };
        // SPIN resets only the first element of an array.
        let index = var.array.as_ref().map(|_| Box::new(Expr::constant(0, span)));
        let target = VarRef { parts: vec![Part { name: var.name.clone(), index }], span };
        Kind::Simple(Rc::new(Stmt { kind: StmtKind::Assign(target, value), span }))
    }

    fn prepare(&mut self, stmt: &Stmt) -> Prepared {
        let span = stmt.span;
        match stmt.kind.structure() {
            Structure::Labelled(label, inner) => {
                let inner = self.prepare(inner);
                Prepared::Labelled(label.clone(), Box::new(inner))
            }
            Structure::If(branches) => {
                let branches = branches.iter().map(|branch| self.branch(branch)).collect();
                Prepared::If(branches, span)
            }
            Structure::Do(branches) => {
                let id = self.enter_loop();
                let branches = branches.iter().map(|branch| self.branch(branch)).collect();
                self.loops.pop();
                Prepared::Do(branches, id, span)
            }
            Structure::Atomic(steps) => {
                let sequence = self.braces(steps, &Place::Wrapped(Wrapper::Atomic));
                self.flow.make_atomic(sequence, false);
                Prepared::Wrapped(Wrapper::Atomic, sequence, span)
            }
            Structure::DStep(steps) => {
                let first_id = *self.next_id;
                let sequence = self.braces(steps, &Place::Wrapped(Wrapper::DStep));
                self.check_jumps(first_id);
                self.flow.make_atomic(sequence, true);
                Prepared::Wrapped(Wrapper::DStep, sequence, span)
            }
            Structure::Block(steps) => {
                let sequence = self.braces(steps, &Place::Wrapped(Wrapper::Block));
                Prepared::Wrapped(Wrapper::Block, sequence, span)
            }
            Structure::Inlined(_, body) => {
                self.inlines += 1;
                let sequence = self.braces(body, &Place::Wrapped(Wrapper::Block));
                self.inlines -= 1;
                Prepared::Wrapped(Wrapper::Block, sequence, span)
            }
            Structure::Unless(body, escape) => {
                let body = self.prepare(body);
                let escape = self.prepare(escape);
                self.unless(body, escape, span)
            }
            Structure::Break => match self.loops.last() {
                Some(&id) => Prepared::Simple(Kind::Goto(Jump::Break(id)), span),
                None => {
                    self.problems.push(
                        Diagnostic::error(span, "`break` outside of a loop")
                            .hint("`break` leaves the innermost `do` or `for`; use `goto` elsewhere"),
                    );
                    Prepared::Simple(Kind::Nothing, span)
                }
            },
            Structure::Goto(label) => Prepared::Simple(Kind::Goto(Jump::Label(label.clone())), span),
            Structure::For(_) | Structure::Simple => match &stmt.kind {
                StmtKind::ForRange { var, from, to, body } => self.for_range(var, from, to, body, span),
                StmtKind::ForIn { var, over, body } => self.for_in(var, over, body, span),
                StmtKind::Select { var, from, to } => self.select(var, from, to, span),
                StmtKind::Else => Prepared::Simple(Kind::Else, span),
                _ => Prepared::Simple(Kind::Simple(Rc::new(stmt.clone())), span),
            },
        }
    }

    fn branch(&mut self, branch: &Branch) -> SequenceId {
        self.open();
        self.steps(&branch.body);
        let sequence = self.close(&Place::Branch);
        if !self.in_claim {
            self.flow.drop_redundant_skips(sequence);
        }
        sequence
    }

    fn unless(&mut self, body: Prepared, escape: Prepared, span: Span) -> Prepared {
        let escape = match escape {
            Prepared::Wrapped(Wrapper::Block, sequence, _) => sequence,
            other => self.alone(other, &Place::Escape),
        };
        match body {
            Prepared::Wrapped(Wrapper::Block, sequence, _) => Prepared::Unless(sequence, escape, span),
            Prepared::Labelled(label, inner) => match *inner {
                Prepared::Wrapped(wrapper, sequence, _) => {
                    let inner = self.alone(Prepared::Unless(sequence, escape, span), &Place::Own);
                    Prepared::Labelled(label, Box::new(Prepared::Wrapped(wrapper, inner, span)))
                }
                other => {
                    let body = self.alone(Prepared::Labelled(label, Box::new(other)), &Place::Unless);
                    Prepared::Unless(body, escape, span)
                }
            },
            other => {
                let body = self.alone(other, &Place::Unless);
                Prepared::Unless(body, escape, span)
            }
        }
    }

    /// A sequence of one statement.
    fn alone(&mut self, statement: Prepared, place: &Place) -> SequenceId {
        self.open();
        self.add(statement);
        self.close(place)
    }

    /// Creates the elements of a statement, and appends them to the open sequence.
    fn add(&mut self, prepared: Prepared) {
        let mut labels = Vec::new();
        let mut prepared = prepared;
        while let Prepared::Labelled(label, inner) = prepared {
            labels.push(label);
            prepared = *inner;
        }
        let labelled = match prepared {
            Prepared::Simple(kind, span) => {
                let element = self.element(kind, span);
                self.before_labelled_jump(element, &mut labels);
                self.append(element);
                element
            }
            Prepared::If(branches, span) => self.add_choice(Kind::If, branches, None, span),
            Prepared::Do(branches, id, span) => self.add_choice(Kind::Do, branches, Some(id), span),
            Prepared::Wrapped(wrapper, sequence, span) => {
                let kind = match wrapper {
                    Wrapper::Atomic => Kind::Atomic(sequence),
                    Wrapper::DStep => Kind::DStep(sequence),
                    Wrapper::Block => Kind::Block(sequence),
                };
                let element = self.element(kind, span);
                self.append(element);
                element
            }
            Prepared::Unless(body, escape, span) => self.add_unless(body, escape, span),
            Prepared::Labelled(..) => unreachable!("labels were taken off above"),
        };
        for label in labels.into_iter().rev() {
            self.label(label, labelled);
        }
    }

    /// A jump has no location of its own, so a special label before it needs a `skip`. Of several labels,
    /// only the outermost one moves there, special or not.
    fn before_labelled_jump(&mut self, element: ElementId, labels: &mut Vec<Ident>) {
        let is_jump = matches!(self.flow[element].kind, Kind::Goto(_));
        if is_jump && labels.iter().any(|label| is_special(&label.name)) {
            let span = self.flow[element].span;
            let skip = self.element(Kind::Simple(Rc::new(Stmt::skip(span))), span);
            self.append(skip);
            self.label(labels.remove(0), skip);
        }
    }

    fn add_choice(&mut self, kind: Kind, branches: Vec<SequenceId>, id: Option<LoopId>, span: Span) -> ElementId {
        let choice = self.element(kind, span);
        let joint = self.element(Kind::Joint, span);
        let branches = self.else_last(branches);
        for &branch in &branches {
            self.append_to(branch, joint);
        }
        self.flow[choice].branches = branches;
        match id {
            None => {
                self.append(choice);
                self.append(joint);
            }
            Some(id) => {
                self.append(joint);
                let exit = self.element(Kind::Exit, span);
                self.flow.exits[id.0 as usize] = Some(exit);
                self.append(choice);
                self.append(exit);
            }
        }
        choice
    }

    /// SPIN tries `else` last, regardless of its position.
    fn else_last(&mut self, mut branches: Vec<SequenceId>) -> Vec<SequenceId> {
        let begins_with_else = |flow: &Flow, branch: &SequenceId| {
            let first = flow.sequences[branch.0 as usize].first;
            first.is_some_and(|first| matches!(flow[first].kind, Kind::Else))
        };
        let elses: Vec<_> =
            branches.iter().copied().filter(|branch| begins_with_else(&self.flow, branch)).collect();
        if let [_, second, ..] = elses[..] {
            let span = self.flow[self.flow.sequences[second.0 as usize].first.expect("it begins with else")].span;
            self.problems.push(Diagnostic::error(span, "a second `else` in the same choice"));
        }
        branches.retain(|branch| !elses.contains(branch));
        branches.extend(elses);
        branches
    }

    fn add_unless(&mut self, body: SequenceId, escape: SequenceId, span: Span) -> ElementId {
        let unless = self.element(Kind::Unless, span);
        let joint = self.element(Kind::Joint, span);
        self.append_to(body, joint);
        self.append_to(escape, joint);
        self.flow[unless].branches = vec![body, escape];
        self.flow.attach_escape(body, escape);
        self.append(unless);
        self.append(joint);
        unless
    }

    fn element(&mut self, kind: Kind, span: Span) -> ElementId {
        let number = self.flow.next_number;
        self.flow.next_number += 1;
        let id = *self.next_id;
        *self.next_id += 1;
        let order = self.scopes.now();
        self.flow.elements.push(Element {
            number,
            id,
            kind,
            next: None,
            branches: Vec::new(),
            escapes: Vec::new(),
            atomic: false,
            last_atomic: false,
            deterministic: false,
            span,
            scope: self.scope,
            order,
        });
        ElementId(self.flow.elements.len() as u32 - 1)
    }

    fn append(&mut self, element: ElementId) {
        let sequence = *self.open.last().expect("a statement is in a sequence");
        self.append_to(sequence, element);
    }

    fn append_to(&mut self, sequence: SequenceId, element: ElementId) {
        let last = self.flow.sequences[sequence.0 as usize].last;
        match last {
            Some(last) => self.flow[last].next = Some(element),
            None => self.flow.sequences[sequence.0 as usize].first = Some(element),
        }
        self.flow.sequences[sequence.0 as usize].last = Some(element);
    }

    fn label(&mut self, name: Ident, element: ElementId) {
        let scope = self.scope;
        let earlier = self.flow.labels.named(&name.name).find(|label| label.scope == scope);
        if let Some(earlier) = earlier {
            self.problems.push(
                Diagnostic::error(name.span, format!("label `{}` is defined twice", name.name))
                    .related(earlier.name.span, "first defined here"),
            );
        }
        self.flow.labels.add(LabelDef { name, element, scope });
    }

    /// Reports jumps out of a deterministic sequence. `first_id` is the first element in it.
    fn check_jumps(&mut self, first_id: u32) {
        let mut problems = Vec::new();
        for (index, element) in self.flow.elements.iter().enumerate().filter(|(_, element)| element.id >= first_id)
        {
            let Kind::Goto(_) = &element.kind else { continue };
            let inside = self.flow.target(ElementId(index as u32), self.scopes);
            if inside.is_none_or(|target| self.flow[target].id < first_id) {
                problems.push(
                    Diagnostic::error(element.span, "a jump out of a `d_step`")
                        .hint("a `d_step` is left only at its end; use `atomic` to leave earlier"),
                );
            }
        }
        self.problems.append(&mut problems);
    }
}

fn misplaced(label: &LabelDef, place: &Place) -> Option<Diagnostic> {
    let name = &label.name.name;
    let hint = match place {
        Place::Branch => {
            let text = format!("label `{name}` on the first statement of a branch is no location of its own");
            return Some(Diagnostic::warning(label.name.span, text).hint("label the `if` or `do` instead"));
        }
        Place::Wrapped(Wrapper::Atomic) => format!("write `{name}: atomic {{ … }}`"),
        Place::Wrapped(Wrapper::DStep) => format!("write `{name}: d_step {{ … }}`"),
        Place::Wrapped(Wrapper::Block) => format!("write `{name}: {{ … }}`"),
        Place::Unless => format!("write `{name}: {{ … unless … }}`"),
        Place::Escape => "the guard of an escape is not a unique location".to_string(),
        Place::Own => return None,
    };
    let message = format!("label `{name}` is not allowed at the beginning of this sequence");
    Some(Diagnostic::error(label.name.span, message).hint(hint))
}

fn is_special(label: &str) -> bool {
    ["accept", "end", "progress"].iter().any(|prefix| label.starts_with(prefix))
}

fn simple(kind: StmtKind, span: Span) -> Prepared {
    Prepared::Simple(Kind::Simple(Rc::new(Stmt { kind, span })), span)
}

fn load(var: &VarRef, span: Span) -> Expr {
    Expr { kind: ExprKind::Var(var.clone()), span }
}
