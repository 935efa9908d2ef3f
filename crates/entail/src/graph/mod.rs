//! `entail graph`: the reachable states as a graph or a tree, and the events of a search.

mod atomic_paths;
mod draw;
mod explore;
mod frames;
mod json;
mod label;
mod search;
mod tree;

use crate::args::{GraphArgs, GraphFormat};
use crate::console::{Console, Failure, Status};
use crate::picture;
use crate::reading::read_or_fail;
use entail_ir::Interpreter;
use explore::{Explored, Size, explore};
use label::Wording;
use std::io::Write as _;

pub fn graph(args: &GraphArgs, console: &mut Console) -> Result<Status, Failure> {
    let model = read_or_fail(&args.model, &args.reading.reading(), &[], console)?;
    let interpreter = Interpreter::new(&model.system);
    let limit = args.limit as usize;
    let (explored, what) = match args.tree {
        Some(depth) => (tree::unfold(&interpreter, depth, limit)?, "tree"),
        None => (explore(&interpreter, limit)?, "graph"),
    };
    let space = match explored {
        Explored::Whole(space) => space,
        Explored::Larger(size) => {
            let (name, words) = (args.model.display(), size.words());
            let ask = match size {
                Size::Exactly(count) => format!("`--limit {count}`"),
                Size::MoreThan(_) => "`--limit`".to_owned(),
            };
            return Err(Failure::new(format!(
                "the {what} of {name} has {words} states, too many to draw; to draw them anyway, use {ask}"
            )));
        }
    };
    let wording = Wording::new(&interpreter, &space, args).map_err(Failure::new)?;
    let title = args.model.display().to_string();
    let text = match (args.search, args.format()) {
        (None, GraphFormat::Dot) => picture::dot(&draw::picture(&space, &wording)),
        (None, GraphFormat::Svg) => {
            picture::svg(&draw::picture(&space, &wording), args.layout).map_err(Failure::new)?
        }
        (None, GraphFormat::Json) => json::document(&space, &wording, &title),
        (Some(order), GraphFormat::Text) => frames::text(&space, order, &wording),
        (Some(order), GraphFormat::Html) => frames::html(&space, order, &wording, &title),
        (None, GraphFormat::Text | GraphFormat::Html) => {
            return Err(Failure::new("a graph has this format only with `--search`; try `--format dot`"));
        }
        (Some(_), GraphFormat::Dot | GraphFormat::Svg | GraphFormat::Json) => {
            return Err(Failure::new("a search is shown as text or HTML; try `--format html`"));
        }
    };
    let out = if args.format() == GraphFormat::Text { &mut console.out } else { console.out.verbatim() };
    out.write_all(text.as_bytes())?;
    Ok(Status::Fine)
}
