//! The margin of a table or a chart: step number, error mark and cycle bracket.

use crate::run::{Run, Taken};

pub struct Margin {
    digits: usize,
    cycle: Option<(usize, usize)>,
}

impl Margin {
    /// The margin for a run and its visible steps.
    pub fn of(run: &Run, shown: &[usize]) -> Margin {
        let last = run.steps.last().map_or(0, |taken| taken.told.number);
        let mut round = shown.iter().filter(|step| run.cycle_start.is_some_and(|start| **step >= start));
        let first = round.next();
        let cycle = first.map(|first| (*first, *round.next_back().unwrap_or(first)));
        Margin { digits: last.to_string().len().max(3), cycle }
    }

    pub fn width(&self) -> usize {
        self.blank().chars().count()
    }

    pub fn blank(&self) -> String {
        let bracket = if self.cycle.is_some() { "  " } else { "" };
        format!("{bracket}{:1$} ", "", self.digits + 1)
    }

    /// The margin of a step.
    pub fn line(&self, step: usize, taken: &Taken) -> String {
        let bracket = match self.cycle {
            None => "",
            Some((first, last)) if step == first && step == last => "[ ",
            Some((first, _)) if step == first => "╭ ",
            Some((_, last)) if step == last => "╰ ",
            Some((first, last)) if (first..last).contains(&step) => "│ ",
            Some(_) => "  ",
        };
        let mark = if taken.told.violation.is_some() { '✗' } else { ' ' };
        format!("{bracket}{:>1$}{mark} ", taken.told.number, self.digits)
    }
}
