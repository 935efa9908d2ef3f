//! Shrinks a program that has a property to one where no smaller program has it.
//!
//! The possible cuts of a program are numbered by one traversal of its tree; making cut number `n` is the
//! same traversal, stopped there. So every kind of cut is defined once, and cuts need not be collected.

use super::ast::*;

/// All programs that differ by one cut, larger cuts first.
pub fn shrink(program: &Program) -> impl Iterator<Item = Program> + '_ {
    let length = program.to_string().len();
    (0..).map_while(|number| cut(program, number)).filter(move |smaller| smaller.to_string().len() < length)
}

/// A program that is `interesting`, and minimal with respect to single cuts.
pub fn minimise(program: Program, mut interesting: impl FnMut(&Program) -> bool) -> Program {
    let mut best = program;
    let mut length = best.to_string().len();
    loop {
        let before = length;
        let mut number = 0;
        // After a success the same number denotes the next cut: the earlier ones have been tried.
        while let Some(candidate) = cut(&best, number) {
            let shorter = candidate.to_string().len();
            if shorter < length && interesting(&candidate) {
                (best, length) = (candidate, shorter);
            } else {
                number += 1;
            }
        }
        if length == before {
            return best;
        }
    }
}

fn cut(program: &Program, number: usize) -> Option<Program> {
    let mut program = program.clone();
    Shrinker { left: number }.units(&mut program.units).then_some(program)
}

/// Counts down to the cut to make. Its methods return whether it has been made.
struct Shrinker {
    left: usize,
}

impl Shrinker {
    fn here(&mut self) -> bool {
        let here = self.left == 0;
        self.left = self.left.saturating_sub(1);
        here
    }

    /// Removes halves, quarters, … and single items of a list that must keep `least` of them.
    fn list<T>(&mut self, items: &mut Vec<T>, least: usize) -> bool {
        let mut size = items.len().div_ceil(2);
        while size > 0 {
            for start in (0..items.len()).step_by(size) {
                let end = (start + size).min(items.len());
                if items.len() - (end - start) >= least && self.here() {
                    items.drain(start..end);
                    return true;
                }
            }
            size = if size == 1 { 0 } else { size.div_ceil(2) };
        }
        false
    }

    fn option<T>(&mut self, option: &mut Option<T>) -> bool {
        option.is_some() && self.here() && option.take().is_some()
    }

    fn units(&mut self, units: &mut Vec<Unit>) -> bool {
        self.list(units, 1) || units.iter_mut().any(|unit| self.unit(unit))
    }

    fn unit(&mut self, unit: &mut Unit) -> bool {
        match unit {
            Unit::Define { body, .. } => self.expr(body),
            Unit::Mtype { names, .. } => self.list(names, 1),
            Unit::Typedef { fields, .. } => self.list(fields, 1) || fields.iter_mut().any(|field| self.decl(field)),
            Unit::Global(decl) => self.decl(decl),
            Unit::Inline { body, .. } => self.block(body),
            Unit::Process(process) => self.process(process),
            Unit::Always { formula, .. } => self.expr(formula),
        }
    }

    fn process(&mut self, process: &mut Process) -> bool {
        if let ProcessKind::Proctype { active: Some(count), .. } = &mut process.kind
            && *count > 1
            && self.here()
        {
            *count -= 1;
            return true;
        }
        self.option(&mut process.priority)
            || self.option(&mut process.provided)
            || self.block(&mut process.body)
            || process.provided.as_mut().is_some_and(|condition| self.expr(condition))
            || self.list(&mut process.params, 0)
    }

    fn decl(&mut self, decl: &mut Decl) -> bool {
        let constant = matches!(decl.init, Some(Init::Value(_) | Init::List(_)));
        if self.option(&mut decl.visibility) || constant && self.option(&mut decl.init) {
            return true;
        }
        match &mut decl.init {
            Some(Init::Value(value)) => self.expr(value),
            Some(Init::List(values)) => values.iter_mut().any(|value| self.expr(value)),
            Some(Init::Channel { fields, .. }) => self.list(fields, 1),
            None => self.option(&mut decl.array),
        }
    }

    fn block(&mut self, block: &mut Block) -> bool {
        if self.list(block, 1) {
            return true;
        }
        for at in 0..block.len() {
            for inner in 0..insides(&mut block[at]).len() {
                if self.here() {
                    let hoisted = std::mem::take(insides(&mut block[at])[inner]);
                    block.splice(at..=at, hoisted);
                    return true;
                }
            }
        }
        block.iter_mut().any(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &mut Stmt) -> bool {
        let skip = Stmt::Guard(Expr::word("skip"));
        if *stmt != skip && self.here() {
            *stmt = skip;
            return true;
        }
        match stmt {
            Stmt::Declare(decl) => self.decl(decl),
            Stmt::Labelled(_, inner) => {
                if self.here() {
                    *stmt = std::mem::replace(inner, Stmt::Else);
                    return true;
                }
                self.stmt(inner)
            }
            Stmt::Assign(place, value) => self.expr(value) || self.place(place),
            Stmt::Bump(place, _) => self.place(place),
            Stmt::Guard(value) | Stmt::Assert(value) | Stmt::Return(value) | Stmt::PrintM(value) => {
                self.expr(value)
            }
            Stmt::Choice(options) | Stmt::Loop(options) => {
                self.list(options, 1) || options.iter_mut().any(|option| self.block(option))
            }
            Stmt::For { over: Span::Range(from, to), body, .. } => {
                self.block(body) || self.expr(from) || self.expr(to)
            }
            Stmt::For { over: Span::Elements(_), body, .. } | Stmt::Group(_, body) => self.block(body),
            Stmt::Select { from, to, .. } => self.expr(from) || self.expr(to),
            Stmt::Unless(body, escape) => self.block(body) || self.block(escape),
            Stmt::Send { channel, sorted, args } => {
                if *sorted && self.here() {
                    *sorted = false;
                    return true;
                }
                args.iter_mut().any(|arg| self.expr(arg)) || self.place(channel)
            }
            Stmt::Receive { channel, mode, args } => {
                if *mode != Receive::First && self.here() {
                    *mode = Receive::First;
                    return true;
                }
                args.iter_mut().any(|arg| self.pattern(arg)) || self.place(channel)
            }
            Stmt::Print(values) => self.list(values, 0) || values.iter_mut().any(|value| self.expr(value)),
            Stmt::Call { args, .. } => args.iter_mut().any(|arg| self.expr(arg)),
            Stmt::SetPriority(pid, priority) => self.expr(pid) || self.expr(priority),
            Stmt::Exclusive(..) | Stmt::Else | Stmt::Goto(_) | Stmt::Break => false,
        }
    }

    fn pattern(&mut self, pattern: &mut Pattern) -> bool {
        if *pattern != Pattern::Ignore && self.here() {
            *pattern = Pattern::Ignore;
            return true;
        }
        match pattern {
            Pattern::Store(place) => self.place(place),
            Pattern::Constant(value) | Pattern::Eval(value) => self.expr(value),
            Pattern::Ignore => false,
        }
    }

    fn place(&mut self, place: &mut Place) -> bool {
        place.index.as_mut().is_some_and(|index| self.expr(index))
            || place.field.as_mut().is_some_and(|field| self.place(field))
    }

    fn expr(&mut self, expr: &mut Expr) -> bool {
        for number in [0, 1] {
            if !matches!(expr, Expr::Number(_)) && self.here() {
                *expr = Expr::Number(number);
                return true;
            }
        }
        for operand in 0..operands(expr).len() {
            if self.here() {
                *expr = std::mem::replace(operands(expr)[operand], Expr::Number(0));
                return true;
            }
        }
        match expr {
            Expr::Read(place) | Expr::Ask(_, place) => self.place(place),
            Expr::Apply(_, args) | Expr::Run { args, .. } => args.iter_mut().any(|arg| self.expr(arg)),
            Expr::Poll { args, channel, .. } => args.iter_mut().any(|arg| self.pattern(arg)) || self.place(channel),
            Expr::AtLabel { pid, .. } | Expr::Remote { pid, .. } => self.option(pid),
            Expr::Unary(..) | Expr::Binary(..) | Expr::Conditional(..) => {
                operands(expr).into_iter().any(|operand| self.expr(operand))
            }
            Expr::Number(_) | Expr::Character(_) | Expr::Word(_) => false,
        }
    }
}

/// The blocks that could replace a statement.
fn insides(stmt: &mut Stmt) -> Vec<&mut Block> {
    match stmt {
        Stmt::Choice(options) | Stmt::Loop(options) => options.iter_mut().collect(),
        Stmt::For { body, .. } | Stmt::Group(_, body) => vec![body],
        Stmt::Unless(body, escape) => vec![body, escape],
        Stmt::Labelled(_, inner) => insides(inner),
        Stmt::Declare(_)
        | Stmt::Exclusive(..)
        | Stmt::Assign(..)
        | Stmt::Bump(..)
        | Stmt::Guard(_)
        | Stmt::Else
        | Stmt::Select { .. }
        | Stmt::Goto(_)
        | Stmt::Break
        | Stmt::Send { .. }
        | Stmt::Receive { .. }
        | Stmt::Print(_)
        | Stmt::PrintM(_)
        | Stmt::Assert(_)
        | Stmt::Call { .. }
        | Stmt::Return(_)
        | Stmt::SetPriority(..) => Vec::new(),
    }
}

fn operands(expr: &mut Expr) -> Vec<&mut Expr> {
    match expr {
        Expr::Unary(_, operand) => vec![operand],
        Expr::Binary(_, left, right) => vec![left, right],
        Expr::Conditional(test, yes, no) => vec![test, yes, no],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::generate;
    use super::*;

    #[test]
    fn cuts_are_smaller() {
        let program = generate(3);
        let length = program.to_string().len();
        assert!(shrink(&program).count() > 20);
        assert!(shrink(&program).all(|smaller| smaller.to_string().len() < length));
    }

    #[test]
    fn minimising_reaches_a_fixpoint() {
        for seed in 0..20 {
            let interesting = |program: &Program| program.to_string().contains("proctype A");
            let smallest = minimise(generate(seed), interesting);
            assert!(shrink(&smallest).all(|smaller| !interesting(&smaller)), "{smallest}");
            assert!(smallest.to_string().lines().count() <= 3, "{smallest}");
        }
    }
}
