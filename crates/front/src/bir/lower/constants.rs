//! Constants, and their values from the command line.

use super::Lowering;
use super::scope::{Constant, Declared, Symbol};
use super::types::Type;
use crate::bir::ast::{Constants, Member, Model};
use crate::diagnostic::Diagnostic;
use crate::kit::Problems;
use crate::suggest::did_you_mean;
use std::collections::HashMap;

/// Values that replace those in the model, by group and name.
pub type Given<'t> = HashMap<(&'t str, &'t str), Constant<'t>>;

/// The constants that `NAME=VALUE` and `GROUP.NAME=VALUE` override.
pub fn given<'t>(model: &Model<'t>, defines: &[String], problems: &mut Problems<'_>) -> Given<'t> {
    let mut known = Vec::new();
    for member in &model.members {
        if let Member::Constants(constants) = member {
            known.extend(constants.values.iter().map(|(name, _)| (constants.name.text, name.text)));
        }
    }
    let mut given = Given::new();
    for define in defines {
        match one(define, &known) {
            Ok((name, constant)) => {
                given.insert(name, constant);
            }
            Err(problem) => problems.report(problem),
        }
    }
    given
}

fn one<'t>(define: &str, known: &[(&'t str, &'t str)]) -> Result<((&'t str, &'t str), Constant<'t>), Diagnostic> {
    let Some((name, value)) = define.split_once('=') else {
        let problem = Diagnostic::general(format!("the constant `{define}` is given no value"));
        return Err(problem.hint(format!("write `{define}=1`")));
    };
    let (name, value) = (name.trim(), value.trim());
    let constant = match value {
        "true" | "false" => Constant { ty: Type::Boolean, value: i32::from(value == "true") },
        _ => match value.parse() {
            Ok(value) => Constant { ty: Type::INT, value },
            Err(_) => {
                let problem =
                    Diagnostic::general(format!("`{value}` cannot be the value of the constant `{name}`"));
                return Err(problem.hint("give a number of 32 bits, `true` or `false`"));
            }
        },
    };
    let meant = |(group, member): &&(&str, &str)| match name.split_once('.') {
        Some((own, rest)) => *group == own && *member == rest,
        None => *member == name,
    };
    let mut found = known.iter().filter(meant);
    match (found.next(), found.next()) {
        (Some(one), None) => Ok((*one, constant)),
        (Some(one), Some(other)) => {
            let problem = Diagnostic::general(format!("more than one constant has the name `{name}`"));
            Err(problem.hint(format!("write `{}.{}` or `{}.{}`", one.0, one.1, other.0, other.1)))
        }
        (None, _) => {
            let problem = Diagnostic::general(format!("the model has no constant `{name}`"));
            let whole: Vec<String> = known.iter().map(|(group, member)| format!("{group}.{member}")).collect();
            let names = known.iter().map(|(_, member)| *member).chain(whole.iter().map(String::as_str));
            Err(problem.or_similar(did_you_mean(name, names)))
        }
    }
}

impl<'t> Lowering<'_, 't, '_> {
    /// A constant may refer to earlier constants, including those of its own group.
    pub(super) fn constants(&mut self, constants: &Constants<'t>, given: &Given<'t>) {
        let group = constants.name;
        if let Some(first) = self.scope.symbols.get(group.text) {
            return self.problems.twice(group.text, group.span, first.at);
        }
        self.scope.declare(group, Symbol::Constants(HashMap::new()), &mut self.problems);
        for (name, expr) in &constants.values {
            let written = self.reader(None).value(expr);
            let mut constant = written.expr.constant().map(|value| Constant { ty: written.ty.clone(), value });
            if constant.is_none() && !written.ty.is_unknown() {
                self.problems.error(expr.span, format!("the value of `{}` must be a constant", name.text));
            }
            if let Some(value) = given.get(&(group.text, name.text)) {
                if value.ty.mixes_with(&written.ty) {
                    constant = Some(value.clone());
                } else {
                    let (given, wanted) = (value.ty.describe(), written.ty.describe());
                    let message = format!("the constant `{}` is {wanted}, but it is given {given}", name.text);
                    self.problems.report(Diagnostic::general(message));
                }
            }
            let what = constant.unwrap_or(Constant { ty: Type::Unknown, value: 0 });
            let Some(Symbol::Constants(known)) = self.scope.symbols.get_mut(group.text).map(|one| &mut one.what)
            else {
                return;
            };
            match known.get(name.text) {
                Some(first) => self.problems.twice(name.text, name.span, first.at),
                None => {
                    known.insert(name.text, Declared { what, at: name.span });
                }
            }
        }
    }
}
