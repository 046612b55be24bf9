//! The figures inside the page. They are drawn from classes only; the style sheet gives the colours.

use super::figure::{Figure, Mark, Row};
use super::pool::MeasuredComparison;
use super::words::number;
use crate::svg::Svg;
use crate::svg::marks::PIXEL;
use crate::text;
use maud::Markup;

const WIDTH: f64 = 1320.0;
const LEFT: f64 = 250.0;
const RIGHT: f64 = 30.0;
const ROW: f64 = 17.0;
/// Room between subjects.
const GAP: f64 = 8.0;

/// Draws a figure, by its place among them.
pub fn picture(measured: &MeasuredComparison<'_>, number: usize, figure: &Figure) -> Markup {
    let mut svg = Svg::new(WIDTH);
    let comparison = measured.comparison;
    let faults = comparison.faults.len();
    let subjects = comparison.subjects.len();
    let bottom = subjects as f64 * (faults as f64 * ROW + GAP);
    axis(&mut svg, figure, bottom);
    for row in &figure.rows {
        let top = row.subject as f64 * (faults as f64 * ROW + GAP);
        let y = top + row.faults as f64 * ROW + ROW / 2.0;
        if row.faults == 0 {
            let label = text::clip(&comparison.subjects[row.subject].label, 26);
            svg.text("lane", (0.0, y + 4.0), &label);
            svg.line("row", (0.0, top - GAP / 2.0), (WIDTH - RIGHT, top - GAP / 2.0));
        }
        let under = text::clip(&comparison.faults[row.faults], 18);
        svg.text("axis end", (LEFT - 10.0, y + 4.0), &under);
        marks(&mut svg, figure, row, y);
    }
    svg.finish(&format!("figure-{number}"), bottom + 22.0, &figure.title)
}

fn x(figure: &Figure, value: f64) -> f64 {
    LEFT + (WIDTH - LEFT - RIGHT) * figure.place(value)
}

fn axis(svg: &mut Svg, figure: &Figure, bottom: f64) {
    for value in figure.labels() {
        let at = x(figure, value);
        svg.line("grid", (at, 0.0), (at, bottom));
        let unit = if figure.unit == "ms" { " ms" } else { "" };
        svg.text("axis mid", (at, bottom + 13.0), &format!("{}{unit}", short(value)));
    }
}

fn marks(svg: &mut Svg, figure: &Figure, row: &Row, y: f64) {
    if row.marks.is_empty() {
        svg.text("axis", (LEFT + 6.0, y + 4.0), row.without);
    }
    // On a bar its own colour would not show.
    let on_bar = row.marks.iter().any(|mark| matches!(mark, Mark::Bar(_)));
    let bar = row.faults % 8;
    let colour = if on_bar { "ink".to_string() } else { format!("k{bar}") };
    for mark in &row.marks {
        match *mark {
            Mark::Bar(value) => {
                let width = (x(figure, value) - LEFT).max(PIXEL);
                svg.rect(&format!("bar k{bar}"), (LEFT, y - 5.0, width, 10.0), &number(value));
            }
            Mark::Range(low, high) => svg.line("between", (x(figure, low), y), (x(figure, high), y)),
            Mark::Dot(value) => svg.disc(&format!("dot {colour}"), (x(figure, value), y), 4.0),
            Mark::Ring(value) => svg.disc(&format!("ring {colour}"), (x(figure, value), y), 4.0),
            Mark::Tick(value) => {
                let at = x(figure, value);
                svg.line(&format!("tick {colour}"), (at, y - 6.0), (at, y + 6.0));
            }
        }
    }
}

/// A round number of an axis, without the zeros behind it.
pub fn short(value: f64) -> String {
    let rounded = (value * 1e6).round() / 1e6;
    rounded.to_string()
}
