//! What is shown of a run.

use super::View;
use crate::run::{Taken, TraceStep};
use clap::Args;
use std::io::stdout;
use terminal_size::{Width, terminal_size_of};

#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "What is shown")]
pub struct ViewArgs {
    /// How the run is shown [default: steps, and for a simulation what it prints]
    #[arg(long = "as", value_name = "VIEW", value_enum)]
    pub view: Option<View>,
    /// Variables in the table: each by its name, or all that begin with this [default: all globals if there is room for
    /// them, else those that change]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Variables and processes that the table goes without, named likewise
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub without_columns: Vec<String>,
    /// Leave out steps whose statement contains this; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub hide: Vec<String>,
    /// Leave out steps that move no message, and start or end no process
    #[arg(long)]
    pub only_messages: bool,
    /// How many columns of text there is room for [default: as many as the terminal has, or 80]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(i64::from(NARROWEST)..))]
    pub width: Option<u16>,
}

/// Nothing can be shown in less.
const NARROWEST: u16 = 20;
/// Where there is no terminal.
const USUAL_WIDTH: u16 = 80;

impl ViewArgs {
    /// Whether a step is shown.
    pub fn wants(&self, taken: &Taken) -> bool {
        let is_local = taken.passings.is_empty() && !taken.told.starts_or_ends() && taken.told.violation.is_none();
        !(self.hides(&taken.told) || self.only_messages && is_local)
    }

    /// Whether a step is left out because of its statement. What goes wrong never is.
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
