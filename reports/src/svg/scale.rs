//! Axes: from values to places in a picture.

use super::{Svg, WIDTH, text_width};
use crate::model::RunModel;

/// A time axis: linear, but for spans that are left out of it.
#[derive(Debug, Clone)]
pub struct TimeScale {
    /// Time at the left end, in nanoseconds.
    pub from: u64,
    /// Time at the right end.
    pub until: u64,
    /// Left end in the picture.
    pub left: f64,
    /// Right end in the picture.
    pub right: f64,
    /// Spans inside that are left out, each a break in the axis: apart from each other, ascending.
    pub breaks: Vec<(u64, u64)>,
}

/// How wide a break is.
const BREAK: f64 = 34.0;
/// The least distance between the labels of an axis.
const APART: f64 = 44.0;

impl TimeScale {
    /// The axis of a whole run in a picture that begins with labels of this width.
    pub fn whole(model: &RunModel<'_>, left: f64) -> Self {
        Self {
            from: 0,
            until: model.end,
            left,
            right: WIDTH - 8.0,
            breaks: Vec::new(),
        }
    }

    /// How many nanoseconds are not left out.
    pub fn shown(&self) -> u64 {
        let out: u64 = self.breaks.iter().map(|(from, until)| until - from).sum();
        (self.until.max(self.from) - self.from).saturating_sub(out)
    }

    /// Where a moment is, kept inside the axis.
    pub fn x(&self, time: u64) -> f64 {
        let time = time.clamp(self.from, self.until.max(self.from));
        let (mut before, mut x) = (time - self.from, self.left);
        for &(from, until) in self.breaks.iter().filter(|(from, _)| *from < time) {
            let inside = until.min(time) - from;
            before -= inside;
            x += BREAK * (inside as f64 / (until - from) as f64);
        }
        let room = self.right - self.left - BREAK * self.breaks.len() as f64;
        x + room * (before as f64 / self.shown().max(1) as f64)
    }

    /// Whether a span is to be seen.
    pub fn shows(&self, from: u64, until: Option<u64>) -> bool {
        from <= self.until && until.is_none_or(|u| u >= self.from)
    }

    /// Draws the axis with its grid.
    pub fn draw(&self, svg: &mut Svg, top: f64, bottom: f64) {
        let step = nice_step(self.shown() as f64 / 1e9, 10.0);
        let decimals = decimals(step);
        let mut free = f64::MIN;
        for (from, until) in self.stretches() {
            let first = (from as f64 / 1e9 / step).ceil();
            // Counted, because near the largest times a step may be lost in rounding.
            for n in 0..24 {
                let t = (first + f64::from(n)) * step;
                if t * 1e9 > until as f64 {
                    break;
                }
                let x = self.x((t * 1e9) as u64);
                svg.line("grid", (x, top), (x, bottom));
                if x >= free {
                    let label = format!("{t:.decimals$} s");
                    let middle = x.min(self.right + 8.0 - text_width(&label) / 2.0);
                    svg.text("axis mid", (middle, bottom + 13.0), &label);
                    free = x + APART;
                }
            }
        }
    }

    /// Draws over all rows where time is left out.
    pub fn draw_breaks(&self, svg: &mut Svg, top: f64, bottom: f64) {
        for &(from, until) in &self.breaks {
            let (x1, x2) = (self.x(from), self.x(until));
            let out = format!("{:.1} s", (until - from) as f64 / 1e9);
            let words = format!("{out} in which nothing happens are left out");
            svg.rect("break", (x1, top, x2 - x1, bottom - top), &words);
            let mut edges = String::new();
            for x in [x1, x2] {
                let zigzag = "l3 4l-6 8l3 4".repeat(((bottom - top) / 16.0) as usize);
                edges += &format!("M{x:.1} {top:.1}{zigzag}");
            }
            svg.path("breakedge", &edges);
            let middle = f64::midpoint(x1, x2);
            svg.text("gaptext mid", (middle, top + 11.0), &out);
        }
    }

    /// The spans between the breaks.
    fn stretches(&self) -> impl Iterator<Item = (u64, u64)> {
        let begins = std::iter::once(self.from).chain(self.breaks.iter().map(|(_, until)| *until));
        let ends = self.breaks.iter().map(|(from, _)| *from).chain([self.until]);
        begins.zip(ends)
    }
}

/// A round step that divides a range into about `parts`.
pub fn nice_step(range: f64, parts: f64) -> f64 {
    let raw = (range / parts).max(1e-9);
    let power = 10f64.powf(raw.log10().floor());
    [1.0, 2.0, 5.0].into_iter().find(|f| f * power >= raw).unwrap_or(10.0) * power
}

/// Digits after the point that a step needs.
pub fn decimals(step: f64) -> usize {
    (-(step * 1.000_001).log10().floor()).clamp(0.0, 9.0) as usize
}

/// A logarithmic axis for durations, from the bottom up.
#[derive(Debug, Clone, Copy)]
pub struct LogScale {
    /// Exponent (of ten, of nanoseconds) at the low end.
    pub low: f64,
    /// Exponent at the high end.
    pub high: f64,
    /// Place of the low end.
    pub start: f64,
    /// Place of the high end.
    pub stop: f64,
}

impl LogScale {
    /// An axis of whole powers of ten that holds all the values but those below a microsecond, which are at its end: in
    /// virtual time much takes none.
    pub fn over(values: impl Iterator<Item = u64>, start: f64, stop: f64) -> Self {
        let (low, high) = values.fold((u64::MAX, 1_000), |(l, h), v| (l.min(v.max(1_000)), h.max(v)));
        let low = (low.min(high) as f64).log10().floor();
        let high = (high as f64).log10().ceil().max(low + 1.0);
        Self { low, high, start, stop }
    }

    /// Where a duration is.
    pub fn at(&self, ns: u64) -> f64 {
        let share = ((ns.max(1) as f64).log10() - self.low) / (self.high - self.low);
        self.start + (self.stop - self.start) * share.clamp(0.0, 1.0)
    }

    /// The powers of ten on it, in nanoseconds.
    pub fn powers(&self) -> impl Iterator<Item = u64> {
        (self.low as u32..=self.high as u32).filter_map(|e| 10u64.checked_pow(e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        assert_eq!(nice_step(60.0, 10.0), 10.0);
        assert_eq!(nice_step(4.2, 10.0), 0.5);
        assert_eq!(decimals(0.5), 1);
        assert_eq!(decimals(10.0), 0);
    }

    #[test]
    fn an_axis_of_nothing_has_a_width() {
        let log = LogScale::over(std::iter::empty(), 0.0, 1.0);
        assert!(log.high > log.low && log.at(0).is_finite());
        let time = TimeScale {
            from: 5,
            until: 5,
            left: 0.0,
            right: 10.0,
            breaks: Vec::new(),
        };
        assert!(time.x(5).is_finite() && time.x(u64::MAX).is_finite());
    }

    #[test]
    fn what_an_axis_leaves_out_has_the_width_of_a_break() {
        let time = TimeScale {
            from: 10,
            until: 1_110,
            left: 0.0,
            right: 200.0 + BREAK,
            breaks: vec![(60, 1_060)],
        };
        assert_eq!(time.shown(), 100);
        assert_eq!(
            [10, 60, 1_060, 1_110].map(|at| time.x(at)),
            [0.0, 100.0, 100.0 + BREAK, 200.0 + BREAK]
        );
        assert_eq!(time.x(560), 100.0 + BREAK / 2.0);
    }
}
