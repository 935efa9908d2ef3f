//! Statements and patterns over channels.

use super::scope::{Access, Field, Variable, holds, is_integer};
use super::*;

impl Generator {
    /// A send or receive that may block.
    pub(super) fn communication(&mut self) -> Option<Stmt> {
        if self.percent(50) { self.send(|_| true) } else { self.receive(|_| true) }
    }

    fn send(&mut self, wanted: impl Fn(&Signature) -> bool) -> Option<Stmt> {
        let (channel, signature) = self.channel(wanted)?;
        self.send_on(channel, &signature)
    }

    fn send_on(&mut self, channel: Place, signature: &Signature) -> Option<Stmt> {
        let args = signature.fields.iter().map(|field| self.message(field)).collect::<Option<_>>()?;
        let sorted = signature.buffered() && self.with(Feature::Sorted, 35);
        Some(Stmt::Send { channel, sorted, args })
    }

    fn message(&mut self, field: &Field) -> Option<Expr> {
        match field {
            Field::Integer(ty) => Some(self.bounded(ty)),
            Field::Mtype(subtype) => Some(self.mtype_constant(subtype)),
            Field::Channel(signature) => {
                let same: Vec<Channel> =
                    self.scope.channels.iter().filter(|c| c.signature == *signature).cloned().collect();
                let channel = self.pick(&same)?;
                let index = channel.array.map(|length| Box::new(self.index(length)));
                Some(Expr::Read(Place { name: channel.name, index, field: None }))
            }
            Field::Record(record) => self.record(record).map(Expr::Read),
        }
    }

    fn receive(&mut self, wanted: impl Fn(&Signature) -> bool) -> Option<Stmt> {
        let (channel, signature) = self.channel(wanted)?;
        self.receive_on(channel, &signature)
    }

    fn receive_on(&mut self, channel: Place, signature: &Signature) -> Option<Stmt> {
        let args = self.patterns(&channel, signature)?;
        let random = signature.buffered() && self.with(Feature::Random, 35);
        let peek = signature.buffered() && self.with(Feature::Peek, 30);
        let mode = match (random, peek) {
            (false, false) => Receive::First,
            (true, false) => Receive::Any,
            (false, true) => Receive::PeekFirst,
            (true, true) => Receive::PeekAny,
        };
        Some(Stmt::Receive { channel, mode, args })
    }

    /// One pattern per field. No variable occurs twice, which SPIN rejects; and none that an index in the
    /// same statement depends on: SPIN's verifier undoes the step with the new index, and crashes later.
    pub(super) fn patterns(&mut self, channel: &Place, signature: &Signature) -> Option<Vec<Pattern>> {
        let mut taken: Vec<String> = Vec::new();
        names_in_indices(channel, &mut taken);
        taken.push(channel.name.clone());
        let mut patterns = Vec::new();
        for field in &signature.fields {
            let pattern = match field {
                Field::Integer(ty) => match self.rng.below(10) {
                    0..=4 => {
                        let lone = signature.fields.len() == 1;
                        self.wide_enough(ty, lone).map_or(Pattern::Ignore, Pattern::Store)
                    }
                    5 => Pattern::Ignore,
                    6 | 7 if self.with(Feature::Eval, 100) => Pattern::Eval(self.lasting(&mut taken)),
                    _ => Pattern::Constant(self.number()),
                },
                Field::Mtype(subtype) if self.percent(50) => Pattern::Constant(self.mtype_constant(subtype)),
                Field::Mtype(subtype) => self
                    .place(|v, ty| v.access == Access::ReadWrite && *ty == Type::Mtype(subtype.clone()))
                    .map_or(Pattern::Ignore, |(place, _)| Pattern::Store(place)),
                Field::Channel(_) => Pattern::Ignore,
                Field::Record(record) => Pattern::Store(self.record(record)?),
            };
            patterns.push(match pattern {
                Pattern::Store(place) => {
                    let mut names = vec![place.name.clone()];
                    names_in_indices(&place, &mut names);
                    if names.iter().any(|name| taken.contains(name)) {
                        Pattern::Ignore
                    } else {
                        taken.append(&mut names);
                        Pattern::Store(place)
                    }
                }
                other => other,
            });
        }
        Some(patterns)
    }

    /// A value that the statement itself does not change: SPIN evaluates it again to undo the statement.
    fn lasting(&mut self, taken: &mut Vec<String>) -> Expr {
        match self.readable().filter(|place| place.index.is_none() && !taken.contains(&place.name)) {
            Some(place) => {
                taken.push(place.name.clone());
                Expr::Read(place)
            }
            None => Expr::Number(self.rng.below(3) as i32),
        }
    }

    /// A variable of the state that holds every value of the field. SPIN undoes a receive by sending the
    /// variable's value again: truncated bits are lost, and the states found later are wrong.
    fn wide_enough(&mut self, field: &Type, lone: bool) -> Option<Place> {
        let field = if lone && matches!(field, Type::Bit | Type::Bool) { Type::Byte } else { field.clone() };
        self.place(|v, ty| v.access == Access::ReadWrite && is_integer(ty) && holds(ty, &field))
            .map(|(place, _)| place)
    }

    /// A whole record: a variable, or an element of an array.
    pub(super) fn record(&mut self, record: &str) -> Option<Place> {
        let is_one = |v: &&Variable| v.ty == Type::Record(record.into());
        let known: Vec<Variable> = self.scope.variables.iter().filter(is_one).cloned().collect();
        let Variable { name, array, .. } = self.pick(&known)?;
        let index = array.map(|length| Box::new(self.index(length)));
        Some(Place { name, index, field: None })
    }

    /// A communication inside a `d_step`, after a test that ensures that it does not block.
    pub(super) fn guarded_communication(&mut self) -> Option<Block> {
        let (stmt, test) = if self.percent(50) {
            let stmt = self.send(Signature::buffered)?;
            let Stmt::Send { channel, .. } = &stmt else { unreachable!("a send was asked for") };
            let test = Expr::Ask("nfull", channel.clone());
            (stmt, test)
        } else {
            let stmt = self.receive(Signature::buffered)?;
            let Stmt::Receive { channel, mode, args } = &stmt else { unreachable!("a receive was asked for") };
            let anywhere = matches!(mode, Receive::Any | Receive::PeekAny);
            let test = Expr::Poll { channel: channel.clone(), anywhere, args: args.clone() };
            (stmt, test)
        };
        self.used.insert(Feature::Fullness);
        Some(vec![Stmt::Choice(vec![vec![Stmt::Guard(test), stmt], vec![Stmt::Else]])])
    }

    /// A channel variable receives a channel, by assignment or in a message, and is used at once: later, it
    /// might not be set.
    pub(super) fn borrowed_channel(&mut self) -> Option<Block> {
        if self.here.in_inline || self.here.region == Region::DStep {
            return None;
        }
        let name = self.fresh("c");
        let (signature, first) = if self.with(Feature::ChannelAssignment, 50) {
            let (channel, signature) = self.channel(|_| true)?;
            (signature, Stmt::Assign(Place::named(&name), Expr::Read(channel)))
        } else {
            let (carrier, carries) = self.channel(|s| matches!(s.fields[..], [Field::Channel(_)]))?;
            let [Field::Channel(signature)] = carries.fields[..] else { unreachable!("asked for such a carrier") };
            self.used.insert(Feature::ChannelMessages);
            let args = vec![Pattern::Store(Place::named(&name))];
            (self.signatures[signature].clone(), Stmt::Receive { channel: carrier, mode: Receive::First, args })
        };
        let borrowed = Place::named(&name);
        let second = if self.percent(50) {
            self.send_on(borrowed, &signature)?
        } else {
            self.receive_on(borrowed, &signature)?
        };
        self.body.prologue.push(Stmt::Declare(Decl::plain(Type::Chan, name)));
        let mut block = vec![first];
        block.extend(self.blocking(second));
        Some(block)
    }

    pub(super) fn for_channel(&mut self) -> Option<Block> {
        if self.here.region == Region::DStep || self.here.no_channels {
            return None;
        }
        // The loop's own test is next to an `else`.
        if self.allowed.contains(Feature::Exclusive) {
            return None;
        }
        let fits = |channel: &&Channel| {
            let signature = &self.signatures[channel.signature];
            channel.declared && signature.buffered() && signature.fields == [Field::Record("Msg".into())]
        };
        let names: Vec<String> = self.scope.channels.iter().filter(fits).map(|c| c.name.clone()).collect();
        let channel = Place::named(self.pick(&names)?);
        self.used.insert(Feature::ForChannel);
        let index = self.record("Msg").filter(|place| place.index.is_none())?;
        let body = self.nested(|here| here.region = Region::DStep, Self::small_block);
        Some(vec![Stmt::For { index, over: Span::Elements(channel), body }])
    }
}

fn names_in_indices(place: &Place, names: &mut Vec<String>) {
    if let Some(index) = &place.index {
        names_in(index, names);
    }
    if let Some(field) = &place.field {
        names_in_indices(field, names);
    }
}

fn names_in(index: &Expr, names: &mut Vec<String>) {
    match index {
        Expr::Read(place) => names.push(place.name.clone()),
        Expr::Binary(_, left, right) => {
            names_in(left, names);
            names_in(right, names);
        }
        _ => {}
    }
}
