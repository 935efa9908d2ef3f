//! `entail show`: what a model consists of.

mod automata;
mod dependencies;
mod symbols;

use crate::args::{ShowArgs, ShowFormat, What};
use crate::console::{Console, Failure, Status};
use crate::load;
use entail_front::ModelSource;
use entail_ir::passes::optimised;
use entail_ir::{Interpreter, System};
use entail_jit::Jit;

pub fn show(args: &ShowArgs, console: &mut Console) -> Result<Status, Failure> {
    let ModelSource { system, listing, .. } = load::read_or_fail(&args.model, &args.reading, &[], console)?;
    if !args.optimised && !args.passes.without.is_empty() {
        return Err(Failure::new("`--without` says something about `--optimised` only"));
    }
    let system = if args.optimised { optimised(&system, args.passes.selected()) } else { system };
    let text = match (args.what, args.format) {
        (What::Automata, ShowFormat::Text) => automata::text(&system),
        (What::Automata, ShowFormat::Dot) => automata::dot(&system),
        (What::Automata, ShowFormat::Json) => automata::json(&system),
        (What::Symbols, ShowFormat::Text) => symbols::text(&system),
        (What::Symbols, ShowFormat::Json) => symbols::json(&system),
        (What::Dependencies, ShowFormat::Text) => dependencies::text(&system),
        (What::Dependencies, ShowFormat::Json) => dependencies::json(&system),
        (What::Code, ShowFormat::Text) => code(&system, listing)?,
        (What::Ir, ShowFormat::Text) => entail_ir::text::print(&system),
        (What::Symbols | What::Dependencies, ShowFormat::Dot)
        | (What::Code | What::Ir, ShowFormat::Dot | ShowFormat::Json) => {
            return Err(Failure::new("there is no such format for this; try `--format text`"));
        }
    };
    console.out.write_all(text.as_bytes())?;
    Ok(Status::Fine)
}

/// What the language's own tools would run, where they have such a thing, and what the machine does.
fn code(system: &System, listing: Option<String>) -> Result<String, Failure> {
    let interpreter = Interpreter::new(system);
    let jit =
        Jit::compile(&interpreter).map_err(|reason| Failure::new(format!("there is no machine code: {reason}")))?;
    let native = jit.listing();
    Ok(listing.map_or_else(|| native.clone(), |listing| format!("{listing}\n{native}")))
}
