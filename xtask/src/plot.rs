//! Plots as SVG: points joined by lines, over logarithmic or linear axes.

use std::fmt::Write as _;

pub struct Series {
    pub name: &'static str,
    /// On logarithmic axes, all numbers are positive.
    pub points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
/// Margins for labels: left and right, above and below.
const SIDE: f64 = 90.0;
const EDGE: f64 = 50.0;

/// Dark enough on white, light enough on black, and distinguishable with colour blindness.
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

/// The scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    Logarithmic,
    Linear,
}

pub fn log_log(x_label: &str, y_label: &str, series: &[Series]) -> String {
    draw((x_label, Scale::Logarithmic), (y_label, Scale::Logarithmic), series)
}

/// With a label and a scale for each axis.
pub fn draw((x_label, x_scale): (&str, Scale), (y_label, y_scale): (&str, Scale), series: &[Series]) -> String {
    let points = || series.iter().flat_map(|series| &series.points);
    let x = Axis::of(x_scale, points().map(|point| point.0), SIDE, WIDTH - SIDE);
    let y = Axis::of(y_scale, points().map(|point| point.1), HEIGHT - EDGE, EDGE);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"13\" fill=\"#888\">\n"
    );
    let (left, right, top, bottom) = (SIDE, WIDTH - SIDE, EDGE, HEIGHT - EDGE);
    for (value, name) in x.ticks() {
        let at = x.place(value);
        grid(&mut svg, (at, top), (at, bottom));
        label(&mut svg, (at, bottom + 18.0), "middle", &name);
    }
    for value in y.steps() {
        let at = y.place(value);
        grid(&mut svg, (left, at), (right, at));
        label(&mut svg, (left - 14.0, at + 4.0), "end", &value.to_string());
    }
    label(&mut svg, (WIDTH / 2.0, HEIGHT - 10.0), "middle", x_label);
    label(&mut svg, (left, top - 20.0), "start", y_label);
    for (Series { name, points }, colour) in series.iter().zip(COLOURS.iter().cycle()) {
        let places: Vec<(f64, f64)> = points.iter().map(|point| (x.place(point.0), y.place(point.1))).collect();
        let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(svg, "<g fill=\"{colour}\" stroke=\"none\">");
        let path = path.join(" ");
        let _ = writeln!(svg, "<polyline points=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>");
        for (x, y) in &places {
            let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>");
        }
        if let Some((x, y)) = places.last() {
            label(&mut svg, (x + 10.0, y + 4.0), "start", name);
        }
        svg += "</g>\n";
    }
    svg + "</svg>\n"
}

/// The range of an axis: from `low` to `high`, which are logarithms on a logarithmic scale.
struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

impl Axis {
    fn of(scale: Scale, values: impl Iterator<Item = f64>, start: f64, end: f64) -> Self {
        let (low, high) = values
            .map(|value| scale.spread(value))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        match scale {
            Scale::Logarithmic => Self::logarithmic(low, high, start, end),
            Scale::Linear => Self::linear(low, high, start, end),
        }
    }

    /// From the power of ten below the smallest value to the one above the largest. A value slightly outside
    /// of a power of ten is drawn at it, to avoid an almost empty decade.
    fn logarithmic(low: f64, high: f64, start: f64, end: f64) -> Self {
        const LITTLE: f64 = 0.05;
        // Without points, the axis shows 1 to 10.
        let low = if low.is_finite() { (low + LITTLE).floor() } else { 0.0 };
        let high = (high - LITTLE).ceil().max(low + 1.0);
        Self { scale: Scale::Logarithmic, low, high, start, end }
    }

    /// From a round number to another.
    fn linear(low: f64, high: f64, start: f64, end: f64) -> Self {
        let (low, high) = if low.is_finite() { (low, high.max(low + 1e-9)) } else { (0.0, 1.0) };
        let step = round_step(low, high);
        let (low, high) = ((low / step).floor() * step, (high / step).ceil() * step);
        Self { scale: Scale::Linear, low, high, start, end }
    }

    fn place(&self, value: f64) -> f64 {
        self.start + (self.scale.spread(value) - self.low) / (self.high - self.low) * (self.end - self.start)
    }

    /// The labels of a horizontal axis.
    fn ticks(&self) -> Vec<(f64, String)> {
        match self.scale {
            Scale::Logarithmic => {
                self.powers().map(|power| (10f64.powi(power), format!("10{}", superscript(power)))).collect()
            }
            Scale::Linear => self.steps().into_iter().map(|value| (value, value.to_string())).collect(),
        }
    }

    fn powers(&self) -> impl Iterator<Item = i32> {
        self.low as i32..=self.high as i32
    }

    /// Round numbers.
    fn steps(&self) -> Vec<f64> {
        match self.scale {
            Scale::Logarithmic => {
                // Powers of ten, and 2 and 5 times these.
                let factors = [1.0, 2.0, 5.0];
                let steps = self.powers().flat_map(|power| factors.map(|factor| factor * 10f64.powi(power)));
                steps.take_while(|step| step.log10() <= self.high).collect()
            }
            Scale::Linear => {
                let step = round_step(self.low, self.high);
                let count = ((self.high - self.low) / step).round() as u32;
                // Rounds numbers that have no exact binary representation.
                let exact = |value: f64| (value * 1e9).round() / 1e9;
                (0..=count).map(|number| exact(self.low + f64::from(number) * step)).collect()
            }
        }
    }
}

impl Scale {
    fn spread(self, value: f64) -> f64 {
        match self {
            Scale::Logarithmic => value.log10(),
            Scale::Linear => value,
        }
    }
}

/// A round step that divides the range into a few parts.
fn round_step(low: f64, high: f64) -> f64 {
    let power = 10f64.powf((high - low).log10().floor());
    let steps = [0.1, 0.2, 0.5, 1.0].map(|factor| factor * power);
    steps.into_iter().find(|step| (high - low) / step <= 10.0).unwrap_or(power)
}

fn grid(svg: &mut String, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
    let _ = writeln!(
        svg,
        "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"#888\" stroke-opacity=\"0.4\"/>"
    );
}

fn label(svg: &mut String, (x, y): (f64, f64), anchor: &str, text: &str) {
    let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>");
}

fn superscript(power: i32) -> String {
    let raise = |digit| match digit {
        '-' => '⁻',
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        other => other,
    };
    power.to_string().chars().map(raise).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_factors_are_equal_distances() {
        let axis = Axis::of(Scale::Logarithmic, [200.0, 50_000.0].into_iter(), 0.0, 300.0);
        assert_eq!([100.0, 1000.0, 100_000.0].map(|value| axis.place(value)), [0.0, 100.0, 300.0]);
        assert_eq!(axis.powers().collect::<Vec<_>>(), [2, 3, 4, 5]);
    }

    #[test]
    fn a_little_beyond_a_power_of_ten_is_no_reason_for_another() {
        let axis = Axis::of(Scale::Logarithmic, [95.0, 1010.0].into_iter(), 0.0, 1.0);
        assert_eq!(axis.steps(), [100.0, 200.0, 500.0, 1000.0]);
    }

    #[test]
    fn a_linear_axis_goes_from_a_round_number_to_another() {
        let axis = Axis::of(Scale::Linear, [41.0, 129.0].into_iter(), 0.0, 100.0);
        assert_eq!(axis.steps(), [40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 100.0, 110.0, 120.0, 130.0]);
        assert_eq!([40.0, 85.0, 130.0].map(|value| axis.place(value)), [0.0, 50.0, 100.0]);
        let axis = Axis::of(Scale::Linear, [0.0, 0.28].into_iter(), 0.0, 1.0);
        assert_eq!(axis.ticks()[3], (0.15, "0.15".into()));
        assert_eq!(Axis::of(Scale::Linear, [].into_iter(), 0.0, 1.0).steps().len(), 11);
    }

    #[test]
    fn every_point_is_drawn_and_every_series_named() {
        let series = [
            Series { name: "first", points: vec![(1e5, 100.0), (1e6, 120.0)] },
            Series { name: "second", points: vec![(1e5, 30.0)] },
        ];
        let svg = log_log("states", "cost", &series);
        assert_eq!((svg.matches("<circle").count(), svg.matches("<polyline").count()), (3, 2));
        assert!(["first", "second", "states", "cost", "10⁵"].iter().all(|text| svg.contains(&format!(">{text}<"))));
        assert!(!svg.contains("NaN") && !log_log("x", "y", &[]).contains("NaN"));
    }
}
