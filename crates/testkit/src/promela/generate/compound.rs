//! Compound statements.

use super::scope::Access;
use super::*;

impl Generator {
    /// The first statement of an option or of an escape.
    fn opening(&mut self) -> Stmt {
        let quiet = self.here.region == Region::DStep || self.here.deterministic;
        if !quiet
            && !self.here.no_channels
            && self.percent(40)
            && let Some(stmt) = self.communication()
        {
            return stmt;
        }
        if !quiet && self.with(Feature::Timeout, 8) {
            return Stmt::Guard(Expr::word("timeout"));
        }
        if !quiet
            && self.percent(15)
            && let Some([only]) = self.assign().as_deref()
        {
            return only.clone();
        }
        Stmt::Guard(self.guard())
    }

    fn option(&mut self, more: usize) -> Block {
        let mut option = vec![self.opening()];
        if self.percent(more) {
            option.extend(self.nested(|here| here.no_channels = false, Self::small_block));
        }
        option
    }

    /// One to three alternatives, and whether `else` is one more.
    fn options(&mut self, with_else: bool) -> Vec<Block> {
        let count = if self.here.deterministic { 1 } else { self.between(1, 4) };
        let mute = with_else && self.allowed.contains(Feature::Exclusive);
        let no_channels = self.here.no_channels;
        self.here.no_channels |= mute;
        let mut options: Vec<Block> = (0..count).map(|_| self.option(60)).collect();
        self.here.no_channels = no_channels;
        if with_else {
            options.push(vec![Stmt::Else]);
        }
        options
    }

    pub(super) fn choice(&mut self) -> Option<Block> {
        if self.here.depth > 3 {
            return None;
        }
        let must = self.here.region == Region::DStep || self.here.deterministic;
        let with_else = must || self.percent(if self.careful { 92 } else { 35 });
        let mut options = self.nested(|_| {}, |this| this.options(with_else));
        if with_else && !must && self.percent(30) {
            // `else` need not be last.
            let last = options.len() - 1;
            options.swap(0, last);
        }
        Some(vec![Stmt::Choice(options)])
    }

    pub(super) fn repeat(&mut self) -> Option<Block> {
        if self.here.depth > 2 {
            return None;
        }
        match self.here.region {
            Region::Plain if !self.here.deterministic => Some(self.endless()),
            Region::Plain => None,
            Region::Atomic | Region::DStep => self.counted(),
        }
    }

    fn endless(&mut self) -> Block {
        let mut options = self.nested(|here| here.in_loop = true, |this| this.options(false));
        match self.rng.below(4) {
            0 => options.push(vec![Stmt::Guard(self.condition(1)), Stmt::Break]),
            1 if !self.allowed.contains(Feature::Exclusive) => options.push(vec![Stmt::Else, Stmt::Break]),
            2 => options.push(vec![Stmt::Break]),
            _ => {}
        }
        let stmt = Stmt::Loop(options);
        if self.here.in_inline || !self.careful || self.percent(30) {
            return vec![stmt];
        }
        self.used.insert(Feature::Labels);
        let stem = *self.rng.pick(&["end", "end", "accept", "progress"]);
        vec![Stmt::Labelled(self.fresh(stem), Box::new(stmt))]
    }

    /// A loop that always terminates, for contexts where no other process can move meanwhile.
    fn counted(&mut self) -> Option<Block> {
        let counter = self.counter()?;
        let place = Place::named(&counter);
        let test = Expr::binary(Binary::Lt, Expr::Read(place.clone()), Expr::Number(2));
        let body = self.nested(|here| here.in_loop = false, Self::small_block);
        let step = [vec![Stmt::Guard(test)], body, vec![Stmt::Bump(place.clone(), "++")]].concat();
        let reset = Stmt::Assign(place, Expr::Number(0));
        Some(vec![reset, Stmt::Loop(vec![step, vec![Stmt::Else, Stmt::Break]])])
    }

    /// A variable that only its loop may write.
    fn counter(&mut self) -> Option<String> {
        if self.here.in_inline || self.here.depth > 3 {
            return None;
        }
        let name = self.fresh("i");
        self.body.prologue.push(Stmt::Declare(Decl::plain(Type::Byte, &name)));
        Some(name)
    }

    fn loop_body(&mut self, counter: &str) -> Block {
        self.nested(
            |here| here.in_loop = true,
            |this| {
                this.scope.declare(counter, Type::Byte, None, Access::ReadOnly);
                this.small_block()
            },
        )
    }

    pub(super) fn for_range(&mut self) -> Option<Block> {
        let counter = self.counter()?;
        let from = self.rng.below(2) as i32;
        let body = self.loop_body(&counter);
        let over = Span::Range(Expr::Number(from), Expr::Number(from + 1));
        Some(vec![Stmt::For { index: Place::named(counter), over, body }])
    }

    pub(super) fn for_array(&mut self) -> Option<Block> {
        let arrays: Vec<_> = self.scope.variables.iter().filter(|v| v.array.is_some()).cloned().collect();
        let array = self.pick(&arrays)?;
        let counter = self.counter()?;
        let mut body = self.loop_body(&counter);
        if super::scope::is_integer(&array.ty) && array.access == Access::ReadWrite {
            let element =
                Place { name: array.name.clone(), index: Some(Box::new(Expr::read(&counter))), field: None };
            let value = self.bounded(&array.ty);
            body.push(Stmt::Assign(element, value));
        }
        let over = Span::Elements(Place::named(array.name));
        Some(vec![Stmt::For { index: Place::named(counter), over, body }])
    }

    pub(super) fn select(&mut self) -> Option<Block> {
        if self.here.deterministic || self.here.region == Region::DStep {
            return None;
        }
        let (index, ty) = self.writable()?;
        if index.field.is_some() || index.index.is_some() || matches!(ty, Type::Bit | Type::Bool) {
            return None;
        }
        let from = self.rng.below(2) as i32;
        let to = if self.macros.is_empty() {
            Expr::Number(from + 1)
        } else {
            Expr::binary(Binary::Add, Expr::word("LIMIT"), Expr::Number(1))
        };
        Some(vec![Stmt::Select { index, from: Expr::Number(from), to }])
    }

    pub(super) fn unless(&mut self) -> Option<Block> {
        if self.here.region == Region::DStep || self.here.deterministic || self.here.depth > 2 {
            return None;
        }
        let body = self.nested(|_| {}, Self::small_block);
        let escape = self.nested(|_| {}, |this| this.option(50));
        Some(vec![Stmt::Unless(body, escape)])
    }

    pub(super) fn atomic(&mut self) -> Option<Block> {
        if self.here.region != Region::Plain {
            return None;
        }
        let body = self.nested(
            |here| (here.region, here.in_loop) = (Region::Atomic, false),
            |this| {
                let mut body = Vec::new();
                if this.percent(40) {
                    let opening = this.opening();
                    body.extend(this.blocking(opening));
                }
                body.extend(this.small_block());
                body
            },
        );
        Some(vec![Stmt::Group(Group::Atomic, body)])
    }

    pub(super) fn d_step(&mut self) -> Option<Block> {
        if self.here.region == Region::DStep || self.here.in_inline {
            return None;
        }
        let body = self.nested(
            |here| (here.region, here.in_loop) = (Region::DStep, false),
            |this| {
                // Only the first statement may block.
                let mut body = Vec::new();
                if this.percent(30) && !this.careful {
                    body.push(Stmt::Guard(this.guard()));
                } else if this.allowed.contains(Feature::Rendezvous) {
                    // SPIN allows some statements to begin a `d_step` in the middle of a rendezvous of other
                    // processes.
                    body.push(Stmt::Guard(Expr::Number(1)));
                }
                body.extend(this.small_block());
                body
            },
        );
        Some(vec![Stmt::Group(Group::DStep, body)])
    }

    pub(super) fn group(&mut self) -> Option<Block> {
        if self.here.in_inline {
            return None;
        }
        let body = self.nested(
            |_| {},
            |this| {
                let ty = this.integer_type();
                let init = Some(Init::Value(this.bounded(&ty)));
                // Adjacent blocks may reuse the name; nested blocks may not.
                let name = format!("w{}", this.here.depth);
                if this.scope.variables.iter().any(|v| v.name == name) {
                    return this.small_block();
                }
                this.scope.declare(&name, ty.clone(), None, Access::ReadWrite);
                let mut body = vec![Stmt::Declare(Decl { init, ..Decl::plain(ty, name) })];
                body.extend(this.small_block());
                body
            },
        );
        Some(vec![Stmt::Group(Group::Plain, body)])
    }

    /// Exits a loop. Not inside a `d_step`, where SPIN's C code sometimes lacks the label to jump to.
    pub(super) fn leave_loop(&mut self) -> Option<Block> {
        if !self.here.in_loop || self.here.deterministic || self.here.region == Region::DStep {
            return None;
        }
        self.conditionally(Stmt::Break)
    }

    /// Jumps back only where no process is started again and no atomic sequence becomes infinite.
    pub(super) fn goto(&mut self) -> Option<Block> {
        if self.here.in_inline || self.here.region == Region::DStep {
            return None;
        }
        let back = self.here.region == Region::Plain && self.plans[self.here.process].runs.is_empty();
        let label = if back && self.percent(60) {
            self.body.jumps_back = true;
            "again"
        } else {
            self.body.jumps_out = true;
            "out"
        };
        self.conditionally(Stmt::Goto(label.into()))
    }

    fn conditionally(&mut self, stmt: Stmt) -> Option<Block> {
        let no_channels = self.here.no_channels;
        self.here.no_channels = true;
        let test = Stmt::Guard(self.condition(1));
        self.here.no_channels = no_channels;
        Some(vec![Stmt::Choice(vec![vec![test, stmt], vec![Stmt::Else]])])
    }
}
