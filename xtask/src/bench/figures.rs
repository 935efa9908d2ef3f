//! Measurements of a run, and their medians.

/// The measurements of a run of a tool on a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    pub states: u64,
    pub transitions: u64,
    /// Search time in seconds, by the tool's own clock.
    pub search: f64,
    /// Seconds from the model's text to the verdict. For SPIN, this includes generating and compiling the verifier.
    pub total: f64,
    pub peak_bytes: u64,
    pub bytes_per_state: f64,
    /// The engine that computed successors.
    pub backend: String,
}

impl Run {
    pub fn nanoseconds_per_transition(&self) -> Option<f64> {
        quotient(self.search * 1e9, self.transitions as f64)
    }

    /// The median of each measurement. Counts are the same in all runs.
    pub fn median(runs: &[Run]) -> Option<Run> {
        let of = |figure: fn(&Run) -> f64| median(runs.iter().map(figure).collect());
        Some(Run {
            search: of(|run| run.search)?,
            total: of(|run| run.total)?,
            peak_bytes: of(|run| run.peak_bytes as f64)? as u64,
            bytes_per_state: of(|run| run.bytes_per_state)?,
            ..runs.first()?.clone()
        })
    }
}

/// `None` if one of them is too small to be measured: the ratio would be meaningless.
pub fn quotient(dividend: f64, divisor: f64) -> Option<f64> {
    (dividend > 0.0 && divisor > 0.0).then(|| dividend / divisor)
}

/// The middle value, or the mean of the two middle ones.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    Some(if values.len() % 2 == 1 { upper } else { (values[middle - 1] + upper) / 2.0 })
}

/// For ratios: twice as fast in one case and half as fast in another means equally fast.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    let logarithms: f64 = values.iter().map(|value| value.ln()).sum();
    (!values.is_empty()).then(|| (logarithms / values.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(vec![9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 9.0, 2.0]), Some(3.0));
        assert_eq!(median(vec![]), None);
    }

    #[test]
    fn opposite_ratios_cancel_out() {
        assert_eq!(geometric_mean(&[0.5, 2.0]), Some(1.0));
        assert!(geometric_mean(&[1.0, 10.0, 100.0]).is_some_and(|mean| (mean - 10.0).abs() < 1e-9));
        assert_eq!(geometric_mean(&[]), None);
    }

    #[test]
    fn each_figure_has_its_own_median() {
        let run = |search, total| Run { states: 7, search, total, ..Run::default() };
        let middle = Run::median(&[run(1.0, 30.0), run(3.0, 10.0), run(2.0, 20.0)]);
        assert_eq!(middle, Some(run(2.0, 20.0)));
        assert_eq!(Run::median(&[]), None);
    }

    #[test]
    fn a_ratio_to_nothing_is_none() {
        assert_eq!((quotient(3.0, 2.0), quotient(0.0, 2.0), quotient(3.0, 0.0)), (Some(1.5), None, None));
    }
}
