//! `entail show`: what a model consists of.

mod automata;
mod symbols;

use crate::args::{ShowArgs, ShowFormat, What};
use crate::console::{Console, Failure, Status};
use crate::load;

pub fn show(args: &ShowArgs, console: &mut Console) -> Result<Status, Failure> {
    let system = load::read_or_fail(&args.model, &args.reading, console)?.system;
    let text = match (args.what, args.format) {
        (What::Automata, ShowFormat::Text) => automata::text(&system),
        (What::Automata, ShowFormat::Dot) => automata::dot(&system),
        (What::Automata, ShowFormat::Json) => automata::json(&system),
        (What::Symbols, ShowFormat::Text) => symbols::text(&system),
        (What::Symbols, ShowFormat::Json) => symbols::json(&system),
        (What::Code, ShowFormat::Text) => entail_ir::text::print(&system),
        (What::Symbols | What::Code, ShowFormat::Dot) | (What::Code, ShowFormat::Json) => {
            return Err(Failure::new("there is no such format for this; try `--format text`"));
        }
    };
    console.out.write_all(text.as_bytes())?;
    Ok(Status::Fine)
}
