//! Global declarations: types, variables, channels, macros, inlines.

use super::scope::{Access, Field, Variable};
use super::*;

impl Generator {
    pub(super) fn globals(&mut self) {
        self.mtypes();
        self.records();
        for name in ["x", "y", "z"] {
            if name == "x" || self.percent(60) {
                let ty = self.integer_type();
                let decl = self.variable(ty, name);
                self.global(decl);
            }
        }
        if self.allowed.contains(Feature::Records) {
            self.used.insert(Feature::Records);
            for (name, ty) in [("r", "Rec"), ("m", "Msg"), ("bx", "Box")] {
                let mut decl = Decl::plain(Type::Record(ty.into()), name);
                // A loop over a channel needs a message variable that is no array element.
                decl.array = (name != "m" && self.with(Feature::Arrays, 30)).then_some(2);
                self.global(decl);
            }
        }
        for (subtype, _) in self.mtypes.clone() {
            let name = if subtype.is_some() { "kind" } else { "mt" };
            let mut decl = Decl::plain(Type::Mtype(subtype.clone()), name);
            decl.init = self.percent(50).then(|| Init::Value(self.mtype_constant(&subtype)));
            self.global(decl);
        }
        if self.with(Feature::Hidden, 100) {
            self.units
                .push(Unit::Global(Decl { visibility: Some("hidden"), ..Decl::plain(Type::Byte, "scratch") }));
            self.scope.declare("scratch", Type::Byte, None, Access::WriteOnly);
        }
        self.macros();
        self.channels();
    }

    fn mtypes(&mut self) {
        if self.with(Feature::Mtypes, 100) {
            self.mtypes.push((None, vec!["one".into(), "two".into(), "three".into()]));
            if self.with(Feature::NamedMtypes, 100) {
                self.mtypes.push((Some("colour".into()), vec!["red".into(), "green".into()]));
            }
        }
        for (subtype, names) in &self.mtypes {
            self.units.push(Unit::Mtype { subtype: subtype.clone(), names: names.clone() });
        }
    }

    fn records(&mut self) {
        if !self.allowed.contains(Feature::Records) {
            return;
        }
        let fields = |this: &mut Self, names: &[&str]| -> Vec<Decl> {
            names
                .iter()
                .map(|&name| {
                    let ty = this.integer_type();
                    let array = (ty != Type::Unsigned(2) && this.with(Feature::Arrays, 30)).then_some(2);
                    Decl { array, ..this.field(ty, name) }
                })
                .collect()
        };
        let inner = fields(self, &["lo", "hi"]);
        let mut outer = fields(self, &["at"]);
        outer.push(Decl {
            array: self.with(Feature::Arrays, 30).then_some(2),
            ..Decl::plain(Type::Record("Sub".into()), "sub")
        });
        // Messages and parameters are small; `unsigned` cannot be sent, and a parameter may contain no array.
        let message = vec![self.field(Type::Byte, "tag"), self.field(Type::Bit, "flag")];
        let nested = Decl::plain(Type::Record("Msg".into()), "msg");
        let parcel = vec![self.field(Type::Byte, "n"), nested, self.field(Type::Short, "last")];
        for (name, fields) in [("Sub", inner), ("Rec", outer), ("Msg", message), ("Box", parcel)] {
            let known = fields.iter().map(|f| Variable {
                name: f.name.clone(),
                ty: f.ty.clone(),
                array: f.array,
                access: Access::ReadWrite,
            });
            self.records.push((name.into(), known.collect()));
            self.units.push(Unit::Typedef { name: name.into(), fields });
        }
    }

    /// A field of a record, perhaps with an initial value.
    fn field(&mut self, ty: Type, name: &str) -> Decl {
        let init = self.with(Feature::FieldValues, 50).then(|| Init::Value(self.positive()));
        Decl { init, ..Decl::plain(ty, name) }
    }

    fn global(&mut self, mut decl: Decl) {
        if self.with(Feature::Visibility, 50) {
            decl.visibility = Some(if self.percent(70) { "show" } else { "local" });
        }
        self.scope.declare(&decl.name, decl.ty.clone(), decl.array, Access::ReadWrite);
        self.units.push(Unit::Global(decl));
    }

    pub(super) fn integer_type(&mut self) -> Type {
        if self.with(Feature::Unsigned, 30) {
            return Type::Unsigned(2);
        }
        if self.with(Feature::WideIntegers, 40) {
            return self.pick(&[Type::Short, Type::Int]).expect("two types");
        }
        if self.with(Feature::Pids, 20) {
            return Type::Pid;
        }
        self.pick(&[Type::Bit, Type::Bool, Type::Byte, Type::Byte]).expect("four types")
    }

    /// A variable declaration, perhaps of an array, perhaps initialised. It is not added to the scope.
    pub(super) fn variable(&mut self, ty: Type, name: &str) -> Decl {
        let mut decl = Decl::plain(ty, name);
        // Bit fields have no addresses: SPIN's C code cannot hold an array of unsigned ones.
        if !matches!(decl.ty, Type::Unsigned(_)) && self.with(Feature::Arrays, 35) {
            decl.array = Some(self.between(2, 4));
        }
        decl.init = match decl.array {
            _ if self.percent(50) => None,
            Some(length) if self.percent(50) => Some(Init::List((0..length).map(|_| self.positive()).collect())),
            _ => Some(Init::Value(self.number())),
        };
        decl
    }

    /// List initialisers and active counts take constants, not expressions: a minus sign is an expression.
    fn positive(&mut self) -> Expr {
        Expr::Number(self.rng.below(3) as i32)
    }

    fn macros(&mut self) {
        if !self.allowed.contains(Feature::Macros) {
            return;
        }
        let limit = self.positive();
        let low = Expr::binary(Binary::BitAnd, Expr::read("a"), Expr::Number(3));
        let sum = Expr::binary(Binary::Add, Expr::read("a"), Expr::read("b"));
        for (name, params, body) in [("LIMIT", "", limit), ("LOW", "a", low), ("SUM", "ab", sum)] {
            let params: Vec<String> = params.chars().map(String::from).collect();
            self.macros.push((name.into(), params.len()));
            self.units.push(Unit::Define { name: name.into(), params, body });
        }
    }

    fn channels(&mut self) {
        let mut kinds = Vec::new();
        if self.with(Feature::Buffered, 100) {
            kinds.push(("q", self.between(1, 3)));
        }
        if self.with(Feature::Rendezvous, 100) {
            kinds.push(("rv", 0));
        }
        for (name, capacity) in kinds {
            let fields = self.fields(&Type::Byte);
            let array = self.with(Feature::ChannelArrays, 50).then_some(2);
            self.global_channel(name, array, Signature { capacity, fields });
        }
        if self.allowed.contains(Feature::Records) && self.with(Feature::ForChannel, 100) {
            self.global_channel("rq", None, Signature { capacity: 2, fields: vec![Field::Record("Msg".into())] });
        }
        if self.allowed.contains(Feature::Records) && self.with(Feature::RecordMessages, 100) {
            let least = usize::from(!self.allowed.contains(Feature::Rendezvous));
            let capacity = self.between(least, 3);
            let fields = vec![Field::Record("Box".into()), Field::Integer(Type::Byte)];
            self.global_channel("bq", None, Signature { capacity, fields });
        }
        if !self.signatures.is_empty() && self.with(Feature::ChannelMessages, 100) {
            let carried = Field::Channel(self.rng.below(self.signatures.len()));
            let capacity = self.rng.below(2);
            let capacity = if self.allowed.contains(Feature::Rendezvous) { capacity } else { 1 };
            self.global_channel("cq", None, Signature { capacity, fields: vec![carried] });
        }
    }

    /// One to three message fields, the first of a type with room for small numbers.
    fn fields(&mut self, first: &Type) -> Vec<Field> {
        let mut fields = vec![Field::Integer(first.clone())];
        while fields.len() < 3 && self.percent(35) {
            let field = match self.pick(&self.mtypes.clone()) {
                Some((subtype, _)) if self.percent(50) => Field::Mtype(subtype),
                _ => match self.integer_type() {
                    Type::Unsigned(_) => Field::Integer(Type::Bit),
                    ty => Field::Integer(ty),
                },
            };
            fields.push(field);
        }
        let swapped = self.rng.below(fields.len());
        fields.swap(0, swapped);
        fields
    }

    fn global_channel(&mut self, name: &str, array: Option<usize>, signature: Signature) {
        let decl = self.channel_decl(name, array, &signature);
        self.signatures.push(signature);
        self.scope.channels.push(Channel {
            name: name.into(),
            array,
            signature: self.signatures.len() - 1,
            declared: true,
        });
        self.units.push(Unit::Global(decl));
    }

    pub(super) fn channel_decl(&self, name: &str, array: Option<usize>, signature: &Signature) -> Decl {
        let fields = signature.fields.iter().map(Field::ty).collect();
        let init = Some(Init::Channel { capacity: signature.capacity, fields });
        Decl { array, init, ..Decl::plain(Type::Chan, name) }
    }

    /// Inlines refer to the globals and to their parameters, independently of the calling process.
    pub(super) fn inlines(&mut self) {
        for (feature, returns) in [(Feature::Inline, false), (Feature::Return, true)] {
            if !self.with(feature, 100) {
                continue;
            }
            let name = if returns { "answer" } else { "act" };
            let params: Vec<String> =
                ["given", "target"].iter().take(if returns { 1 } else { 2 }).map(|p| p.to_string()).collect();
            let region = if self.percent(50) { Region::DStep } else { Region::Atomic };
            let body = self.nested(
                |here| *here = Context { in_inline: true, region, ..Context::default() },
                |this| {
                    this.scope.declare("given", Type::Byte, None, Access::ReadOnly);
                    this.fuel = 2;
                    let mut body = this.block();
                    let value = this.value(2);
                    body.push(if returns {
                        Stmt::Return(Expr::binary(Binary::BitAnd, value, Expr::Number(1)))
                    } else {
                        Stmt::Assign(Place::named("target"), Expr::binary(Binary::Rem, value, Expr::Number(3)))
                    });
                    body
                },
            );
            self.inlines.push(Inline { name: name.into(), params: params.len(), returns, region });
            self.units.push(Unit::Inline { name: name.into(), params, body });
        }
    }

    /// A claim that the comparison ignores: both tools must still parse it.
    pub(super) fn claim(&mut self) {
        if self.with(Feature::Claims, 100) {
            let place = self.readable().expect("`x` is always there");
            let formula = Expr::binary(Binary::Ge, Expr::Read(place), Expr::Number(0));
            self.units.push(Unit::Always { name: "nonnegative".into(), formula });
        }
    }
}
