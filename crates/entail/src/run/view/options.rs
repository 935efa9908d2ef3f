//! Which parts of a run a view shows.

use super::View;
use crate::run::{Taken, TraceStep};
use clap::Args;
use std::io::stdout;
use terminal_size::{Width, terminal_size_of};

#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "View")]
pub struct ViewArgs {
    /// How to show the run [default: steps; for a simulation, output]
    #[arg(long = "as", value_name = "VIEW", value_enum)]
    pub view: Option<View>,
    /// Variables in the table, by name or prefix [default: all globals if they fit, otherwise those that change]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Variables and processes to omit from the table, by name or prefix
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub without_columns: Vec<String>,
    /// Hide steps whose statement contains this text; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub hide: Vec<String>,
    /// Show only steps that send or receive a message, or start or end a process
    #[arg(long)]
    pub only_messages: bool,
    /// Width in columns [default: the terminal's width, or 80]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(i64::from(NARROWEST)..))]
    pub width: Option<u16>,
}

/// The least useful width.
const NARROWEST: u16 = 20;
/// The width without a terminal.
const USUAL_WIDTH: u16 = 80;

impl ViewArgs {
    /// Whether a step is shown.
    pub fn wants(&self, taken: &Taken) -> bool {
        let is_local = taken.messages.is_empty() && !taken.told.starts_or_ends() && taken.told.violation.is_none();
        !(self.hides(&taken.told) || self.only_messages && is_local)
    }

    /// Whether `--hide` applies to a step. Errors are never hidden.
    pub fn hides(&self, told: &TraceStep) -> bool {
        let TraceStep { explained: Some(explained), violation: None, .. } = told else { return false };
        let partner = explained.partner.map(|(_, _, statement)| statement);
        let mut texts = std::iter::once(&*explained.statement).chain(partner).map(|statement| &statement.text);
        texts.any(|text| self.hide.iter().any(|hidden| text.contains(hidden)))
    }

    pub fn width(&self) -> usize {
        let terminal = || terminal_size_of(stdout()).map(|(Width(columns), _)| columns);
        usize::from(self.width.or_else(terminal).unwrap_or(USUAL_WIDTH).max(NARROWEST))
    }
}
