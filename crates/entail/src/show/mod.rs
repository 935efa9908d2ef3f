//! `entail show`: the parts of a model.

mod automata;
mod claim;
mod dependencies;
mod symbols;

use crate::args::{ShowArgs, ShowFormat, What};
use crate::console::{Console, Failure, Status};
use crate::picture;
use crate::reading::read_or_fail;
use entail_check::config::{Asked, passes_without};
use entail_check::load;
use entail_engine::{Jit, Tuning};
use entail_ir::passes::optimised;
use entail_ir::{Interpreter, System};
use std::io::Write as _;

pub fn show(args: &ShowArgs, console: &mut Console) -> Result<Status, Failure> {
    if args.what != What::Claim && (args.property.is_some() || args.asked.asked() != Asked::default()) {
        return Err(Failure::new("only `show claim` takes a property"));
    }
    let asked = load::asked(&args.asked.asked()).map_err(Failure::new)?;
    let model = read_or_fail(&args.model, &args.reading.reading(), &asked, console)?;
    if !args.optimised && !args.passes.without.is_empty() {
        return Err(Failure::new("`--without` needs `--optimised`"));
    }
    let system = if args.optimised {
        &optimised(&model.system, passes_without(&args.passes.without))
    } else {
        &model.system
    };
    let text = match (args.what, args.format) {
        (What::Automata, ShowFormat::Text) => automata::text(system),
        (What::Automata, ShowFormat::Dot) => picture::dot(&automata::picture(system)),
        (What::Automata, ShowFormat::Svg) => {
            picture::svg(&automata::picture(system), args.layout).map_err(Failure::new)?
        }
        (What::Automata, ShowFormat::Json) => automata::json(system),
        (What::Claim, _) => claim::show(&model, &asked, args)?,
        (What::Symbols, ShowFormat::Text) => symbols::text(system),
        (What::Symbols, ShowFormat::Json) => symbols::json(system),
        (What::Dependencies, ShowFormat::Text) => dependencies::text(system),
        (What::Dependencies, ShowFormat::Json) => dependencies::json(system),
        (What::Code, ShowFormat::Text) => code(system, model.listing.as_deref())?,
        (What::Ir, ShowFormat::Text) => entail_ir::text::print(system),
        (What::Symbols | What::Dependencies, ShowFormat::Dot | ShowFormat::Svg)
        | (What::Code | What::Ir, ShowFormat::Dot | ShowFormat::Svg | ShowFormat::Json) => {
            return Err(Failure::new("this output has no such format; try `--format text`"));
        }
    };
    let out = if args.format == ShowFormat::Text { &mut console.out } else { console.out.verbatim() };
    out.write_all(text.as_bytes())?;
    Ok(Status::Fine)
}

/// The code of the language's own tools, where they have one, and the machine code.
fn code(system: &System, listing: Option<&str>) -> Result<String, Failure> {
    let interpreter = Interpreter::new(system);
    let jit = Jit::compile(&interpreter, Tuning::default())
        .map_err(|reason| Failure::new(format!("there is no machine code: {reason}")))?;
    let native = jit.listing();
    Ok(listing.map_or_else(|| native.clone(), |listing| format!("{listing}\n{native}")))
}
