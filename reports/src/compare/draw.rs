//! The figures inside the page. They are drawn from classes only; the style sheet gives the colours.

use super::figure::{Figure, FigureLabels, Mark, Row};
use super::words::number;
use crate::svg::Svg;
use crate::svg::marks::PIXEL;
use crate::text;
use maud::Markup;

/// The width of a figure and its margins, in its own units.
#[derive(Debug)]
pub struct FigureFrame {
    /// Its whole width.
    pub width: f64,
    /// Room for labels on the left.
    pub left: f64,
    /// Room on the right.
    pub right: f64,
}

/// The frame of a figure that has the width of a page.
pub const WIDE: FigureFrame = FigureFrame {
    width: 1320.0,
    left: 250.0,
    right: 30.0,
};

const ROW: f64 = 17.0;
/// Room between subjects.
const GAP: f64 = 8.0;

/// Draws a figure, by its place among those of its page.
pub fn picture(frame: &FigureFrame, labels: &FigureLabels<'_>, number: usize, figure: &Figure) -> Markup {
    let mut svg = Svg::new(frame.width);
    let faults = labels.faults.len();
    let bottom = labels.subjects.len() as f64 * (faults as f64 * ROW + GAP);
    axis(&mut svg, frame, figure, bottom);
    for row in &figure.rows {
        let top = row.subject as f64 * (faults as f64 * ROW + GAP);
        let y = top + row.faults as f64 * ROW + ROW / 2.0;
        if row.faults == 0 {
            svg.text("lane", (0.0, y + 4.0), &text::clip(labels.subjects[row.subject], 26));
            svg.line(
                "row",
                (0.0, top - GAP / 2.0),
                (frame.width - frame.right, top - GAP / 2.0),
            );
        }
        let under = text::clip(labels.faults[row.faults], 18);
        svg.text("axis end", (frame.left - 10.0, y + 4.0), &under);
        marks(&mut svg, frame, figure, (row, y));
    }
    svg.finish(&format!("figure-{number}"), bottom + 22.0, &figure.title)
}

impl FigureFrame {
    /// Where a value of a figure is.
    fn x(&self, figure: &Figure, value: f64) -> f64 {
        self.left + (self.width - self.left - self.right) * figure.place(value)
    }
}

fn axis(svg: &mut Svg, frame: &FigureFrame, figure: &Figure, bottom: f64) {
    for value in figure.labels() {
        let at = frame.x(figure, value);
        svg.line("grid", (at, 0.0), (at, bottom));
        let unit = if figure.unit == "ms" { " ms" } else { "" };
        svg.text("axis mid", (at, bottom + 13.0), &format!("{}{unit}", short(value)));
    }
}

fn marks(svg: &mut Svg, frame: &FigureFrame, figure: &Figure, (row, y): (&Row, f64)) {
    let left = frame.left;
    if row.marks.is_empty() {
        svg.text("axis", (left + 6.0, y + 4.0), row.without);
    }
    // On a bar its own colour would not show.
    let on_bar = row.marks.iter().any(|mark| matches!(mark, Mark::Bar(_)));
    let bar = row.faults % 8;
    let colour = if on_bar { "ink".to_string() } else { format!("k{bar}") };
    for mark in &row.marks {
        match *mark {
            Mark::Bar(value) => {
                let width = (frame.x(figure, value) - left).max(PIXEL);
                svg.rect(&format!("bar k{bar}"), (left, y - 5.0, width, 10.0), &number(value));
            }
            Mark::Range(low, high) => svg.line("between", (frame.x(figure, low), y), (frame.x(figure, high), y)),
            Mark::Dot(value) => svg.disc(&format!("dot {colour}"), (frame.x(figure, value), y), 4.0),
            Mark::Ring(value) => svg.disc(&format!("ring {colour}"), (frame.x(figure, value), y), 4.0),
            Mark::Tick(value) => {
                let at = frame.x(figure, value);
                svg.line(&format!("tick {colour}"), (at, y - 6.0), (at, y + 6.0));
            }
            Mark::Number(value) | Mark::Starred(value) => {
                let digits = mark.digits().unwrap_or_default();
                svg.text("axis", (frame.x(figure, value) + 6.0, y + 4.0), &digits);
            }
        }
    }
}

/// A round number of an axis, without the zeros behind it.
pub fn short(value: f64) -> String {
    let rounded = (value * 1e6).round() / 1e6;
    rounded.to_string()
}
