//! Threads: locations, transformations and actions.

use super::Parser;
use crate::bir::ast::{
    Action, ActionKind, Active, Alternative, Expr, Jump, Location, Monitor, Thread, Transformation, Variables,
};
use crate::bir::token::Kind;
use crate::diagnostic::Diagnostic;
use crate::kit::{Parsed, Stop};
use crate::source::Span;

impl<'t> Parser<'t, '_> {
    /// `main thread` is Bogor's notation for an active thread.
    pub(super) fn is_main_thread(&self) -> bool {
        self.kind() == Kind::Name && self.text(self.span()) == "main" && self.second() == Kind::Thread
    }

    /// `active [n] thread T(int i) { … }`
    pub(super) fn thread(&mut self) -> Parsed<Thread<'t>> {
        let start = self.span();
        let active = self.active()?;
        self.expect(Kind::Thread)?;
        let name = self.name("the name of the thread")?;
        let params = self.params()?;
        let head = self.since(start);
        if self.expect(Kind::OpenBrace).is_err() && self.kind() != Kind::Loc {
            return Err(Stop);
        }
        let locals = self.locals();
        if self.kind() != Kind::Loc {
            return self.no_location();
        }
        let mut locations = Vec::new();
        while self.kind() == Kind::Loc {
            match self.location() {
                Ok(location) => locations.push(location),
                Err(Stop) => self.skip_to(|kind| kind == Kind::CloseBrace || kind.begins_part()),
            }
        }
        self.expect(Kind::CloseBrace)?;
        // A mention in a comment counts too. This is harmless: the thread then only stores more.
        let asks_notified = self.text(self.since(start)).contains("wasNotified");
        Ok(Thread { name, head, active, params, locals, locations, asks_notified })
    }

    fn active(&mut self) -> Parsed<Option<Active<'t>>> {
        let span = self.span();
        if self.is_main_thread() {
            self.skip();
        } else if !self.eat(Kind::Active) {
            return Ok(None);
        }
        let mut count = None;
        if self.eat(Kind::OpenBracket) {
            count = Some(self.expr()?);
            self.expect(Kind::CloseBracket)?;
        }
        Ok(Some(Active { span: self.since(span), count }))
    }

    fn params(&mut self) -> Parsed<Vec<Variables<'t>>> {
        self.expect(Kind::Open)?;
        let mut params = Vec::new();
        while self.kind() != Kind::Close {
            if !params.is_empty() {
                self.expect(Kind::Comma)?;
            }
            let ty = self.ty()?;
            let name = self.name("the name of a parameter")?;
            params.push(Variables { ty, names: vec![(name, None)] });
        }
        self.skip();
        Ok(params)
    }

    fn locals(&mut self) -> Vec<Variables<'t>> {
        let mut locals = Vec::new();
        while self.begins_local() {
            match self.variables() {
                Ok(variables) => locals.push(variables),
                Err(Stop) => self.recover(),
            }
        }
        locals
    }

    /// Whether a declaration of a local variable begins here, as opposed to a statement.
    fn begins_local(&self) -> bool {
        match self.kind() {
            Kind::Int => true,
            Kind::Name => !self.refused_here() && !matches!(self.second(), Kind::Assign | Kind::Open | Kind::Dot),
            _ => self.begins_type() && self.second() != Kind::Open,
        }
    }

    /// Whether the next word is a statement that this subset lacks. The caller, which expects a location, reports it.
    fn refused_here(&self) -> bool {
        matches!(self.text(self.span()), "while" | "atomic" | "try" | "throw" | "invoke" | "catch")
    }

    /// Reports that the body of a thread does not begin with a location, once for the whole body.
    fn no_location<T>(&mut self) -> Parsed<T> {
        if self.refuse_missing().is_ok() {
            let hint = "the body of a thread consists of locations: `loc name: when … do { … } goto …;`";
            self.report::<T>(self.wrong("`loc`").hint(hint)).ok();
        }
        let mut depth = 1_usize;
        while depth > 0 && !self.at_end() && !self.kind().begins_part() {
            if self.kind() == Kind::OpenBrace {
                depth += 1;
            } else if self.kind() == Kind::CloseBrace {
                depth -= 1;
            }
            self.skip();
        }
        Err(Stop)
    }

    /// `loc name: live { x } when … do { … } goto …; …`
    fn location(&mut self) -> Parsed<Location<'t>> {
        self.skip();
        let name = self.name("the name of a location")?;
        self.live()?;
        self.expect(Kind::Colon)?;
        self.live()?;
        let mut transformations = Vec::new();
        while matches!(self.kind(), Kind::When | Kind::Do) {
            match self.transformation() {
                Ok(transformation) => transformations.push(transformation),
                Err(Stop) => self.skip_transformation(),
            }
        }
        if self.kind() == Kind::CloseBrace || self.kind().begins_part() {
            return Ok(Location { name, transformations });
        }
        self.refuse_missing()?;
        let hint = "a transformation is `when guard do { actions } goto location;`";
        self.report(self.wrong("`when`, `do`, `loc` or `}`").hint(hint))
    }

    /// The live variables of a location. They are ignored.
    fn live(&mut self) -> Parsed<()> {
        if !self.eat(Kind::Live) {
            return Ok(());
        }
        self.expect(Kind::OpenBrace)?;
        while self.kind() == Kind::Name || self.kind() == Kind::Comma {
            self.skip();
        }
        self.expect(Kind::CloseBrace)?;
        Ok(())
    }

    fn transformation(&mut self) -> Parsed<Transformation<'t>> {
        let start = self.span();
        let guard = if self.eat(Kind::When) { Some(self.expr()?) } else { None };
        self.expect(Kind::Do)?;
        if !self.eat(Kind::Visible) {
            self.eat(Kind::Invisible);
        }
        self.expect(Kind::OpenBrace)?;
        let actions = self.actions()?;
        let inside = if matches!(self.kind(), Kind::Goto | Kind::Return) {
            let jump = self.jump()?;
            self.eat(Kind::Semicolon);
            Some(jump)
        } else {
            None
        };
        if self.kind() != Kind::CloseBrace {
            return self.report(self.wrong(if inside.is_some() { "`}`" } else { "an action or `}`" }));
        }
        self.skip();
        let exits = matches!(actions.last(), Some(Action { kind: ActionKind::Exit, .. }));
        let jump = match inside {
            Some(jump) => jump,
            None if exits && self.kind() != Kind::Return => {
                if self.kind() == Kind::Goto {
                    let problem = Diagnostic::error(self.span(), "a jump after `exit`, which ends the thread");
                    return self.report(problem.hint("leave out one of them"));
                }
                Jump::Return
            }
            None if !matches!(self.kind(), Kind::Goto | Kind::Return) => {
                return self.report(self.wrong("`goto` or `return`").hint("every transformation ends with a jump"));
            }
            None => {
                let jump = self.jump()?;
                let span = self.since(start);
                // If another transformation begins here, only the `;` is missing.
                if self.expect(Kind::Semicolon).is_err() && !matches!(self.kind(), Kind::When | Kind::Do) {
                    return Err(Stop);
                }
                return Ok(Transformation { span, guard, actions, jump });
            }
        };
        let span = self.since(start);
        self.eat(Kind::Semicolon);
        Ok(Transformation { span, guard, actions, jump })
    }

    fn jump(&mut self) -> Parsed<Jump<'t>> {
        if self.eat(Kind::Return) {
            if self.kind() != Kind::Semicolon && self.kind() != Kind::CloseBrace {
                return self.report(self.wrong("`;`").hint("a thread returns nothing"));
            }
            return Ok(Jump::Return);
        }
        self.expect(Kind::Goto)?;
        self.name("the name of a location").map(Jump::Goto)
    }

    /// Error recovery: skips to the next transformation.
    fn skip_transformation(&mut self) {
        let mut depth = 0_usize;
        while !self.at_end() && !self.kind().begins_part() {
            let kind = self.kind();
            if depth == 0 && (kind == Kind::When || (kind == Kind::CloseBrace && !self.closes_block())) {
                return;
            }
            self.skip();
            if kind == Kind::OpenBrace {
                depth += 1;
            } else if kind == Kind::CloseBrace {
                depth = depth.saturating_sub(1);
            } else if kind == Kind::Semicolon && depth == 0 && self.kind() == Kind::Do {
                return;
            }
        }
    }

    /// Whether the `}` here closes a block of actions rather than a thread: a jump follows.
    fn closes_block(&self) -> bool {
        matches!(self.second(), Kind::Goto | Kind::Return)
    }

    /// A sequence of actions. After an error it continues with the next one.
    fn actions(&mut self) -> Parsed<Vec<Action<'t>>> {
        let mut actions = Vec::new();
        let mut failed = false;
        while !self.at_end() && !self.kind().begins_part() && !self.ends_actions() {
            let action =
                if self.begins_action() { self.nested(Self::action) } else { self.report(self.wrong("an action")) };
            match action {
                Ok(action) => actions.push(action),
                Err(Stop) => {
                    failed = true;
                    self.recover();
                }
            }
        }
        // After an error, continue only if no new part begins here.
        if failed && (self.at_end() || self.kind().begins_part()) { Err(Stop) } else { Ok(actions) }
    }

    fn ends_actions(&self) -> bool {
        matches!(
            self.kind(),
            Kind::CloseBrace | Kind::Goto | Kind::Return | Kind::Else | Kind::EndWord | Kind::When | Kind::Do
        )
    }

    fn begins_action(&self) -> bool {
        matches!(
            self.kind(),
            Kind::Name
                | Kind::Assert
                | Kind::Assume
                | Kind::SkipWord
                | Kind::Start
                | Kind::Exit
                | Kind::Lock
                | Kind::Unlock
                | Kind::Wait
                | Kind::Notify
                | Kind::NotifyAll
                | Kind::If
                | Kind::Choose
        )
    }

    fn action(&mut self) -> Parsed<Action<'t>> {
        let start = self.span();
        let kind = match self.kind() {
            Kind::If => return self.conditional(),
            Kind::Choose => return self.choice(),
            Kind::Assert => self.behind_token(Self::expr).map(ActionKind::Assert)?,
            Kind::Assume => self.behind_token(Self::expr).map(ActionKind::Assume)?,
            Kind::SkipWord => self.behind_token(|_| Ok(ActionKind::Skip))?,
            Kind::Exit => self.behind_token(|_| Ok(ActionKind::Exit))?,
            Kind::Start => self.start_action(None)?,
            Kind::Lock => self.monitor(Monitor::Lock)?,
            Kind::Unlock => self.monitor(Monitor::Unlock)?,
            Kind::Wait => self.monitor(Monitor::Wait)?,
            Kind::Notify => self.monitor(Monitor::Notify)?,
            Kind::NotifyAll => self.monitor(Monitor::NotifyAll)?,
            _ => self.assignment()?,
        };
        let span = self.since(start);
        self.expect(Kind::Semicolon)?;
        Ok(Action { kind, span })
    }

    fn assignment(&mut self) -> Parsed<ActionKind<'t>> {
        self.refuse_missing_action()?;
        let target = self.nested(Self::operand)?;
        if self.kind() == Kind::Equals {
            return self.report(self.wrong("`:=`").hint("to assign, write `:=`"));
        }
        self.expect(Kind::Assign)?;
        if self.kind() == Kind::Start {
            return self.start_action(Some(target));
        }
        let value = self.expr()?;
        Ok(ActionKind::Assign { target, value })
    }

    fn start_action(&mut self, target: Option<Expr<'t>>) -> Parsed<ActionKind<'t>> {
        self.skip();
        let thread = self.name("the name of a thread")?;
        let args = self.arguments()?;
        Ok(ActionKind::Start { target, thread, args })
    }

    fn monitor(&mut self, monitor: Monitor) -> Parsed<ActionKind<'t>> {
        self.skip();
        let parenthesised = self.eat(Kind::Open);
        let lock = self.expr()?;
        if parenthesised {
            self.expect(Kind::Close)?;
        }
        Ok(ActionKind::Monitor(monitor, lock))
    }

    /// `if c do … else do … end`
    fn conditional(&mut self) -> Parsed<Action<'t>> {
        let start = self.skip();
        let condition = self.expr()?;
        let span = self.since(start);
        self.expect(Kind::Do)?;
        let yes = self.actions()?;
        let mut no = Vec::new();
        if self.eat(Kind::Else) {
            self.expect(Kind::Do)?;
            no = self.actions()?;
        }
        self.end_of(start, "`else` or `end`")?;
        Ok(Action { kind: ActionKind::If { condition, yes, no }, span })
    }

    /// `choose when a do … do … else do … end`
    fn choice(&mut self) -> Parsed<Action<'t>> {
        let start = self.skip();
        let mut alternatives = Vec::new();
        while matches!(self.kind(), Kind::When | Kind::Do) {
            let head = self.span();
            let guard = if self.eat(Kind::When) { Some(self.expr()?) } else { None };
            alternatives.push(self.alternative(head, guard)?);
        }
        if alternatives.is_empty() {
            return self.unexpected("`when` or `do`");
        }
        let otherwise = if self.kind() == Kind::Else {
            let head = self.skip();
            Some(self.alternative(head, None)?)
        } else {
            None
        };
        self.end_of(start, "`when`, `do`, `else` or `end`")?;
        Ok(Action { kind: ActionKind::Choose { alternatives, otherwise }, span: start })
    }

    fn alternative(&mut self, head: Span, guard: Option<Expr<'t>>) -> Parsed<Alternative<'t>> {
        self.expect(Kind::Do)?;
        let head = self.since(head);
        let actions = self.actions()?;
        Ok(Alternative { head, guard, actions })
    }

    fn end_of(&mut self, start: Span, wanted: &str) -> Parsed<()> {
        if self.kind() != Kind::EndWord {
            let problem = self.wrong(&format!("an action, {wanted}"));
            return self.report(problem.related(start, "this is still open"));
        }
        self.skip();
        self.eat(Kind::Semicolon);
        Ok(())
    }
}
