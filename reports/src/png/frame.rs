//! The time axis and the faults, which all pictures share.

use super::{Area, FAINT, FONT, INK, printable, rgb, seconds, text_width};
use crate::model::Story;
use crate::palette;
use anyhow::Result;
use plotters::prelude::*;

/// Room above a plot for the labels of faults.
pub const LABELS: i32 = 34;
/// The most faults that get a label.
const LABELLED: usize = 200;

/// Where time lies in a plot: from second 0 at `left` to the end at `right`.
#[derive(Clone, Copy)]
pub struct Span {
    /// Pixel of the run's beginning.
    pub left: i32,
    /// Pixel of its end.
    pub right: i32,
    /// Pixel of the plot's upper edge.
    pub top: i32,
    /// Pixel of its lower edge.
    pub bottom: i32,
    /// Nanoseconds of the run.
    pub end: u64,
}

impl Span {
    /// The column of a moment.
    pub fn x(&self, ns: u64) -> i32 {
        let share = ns.min(self.end) as f64 / self.end as f64;
        self.left + (f64::from(self.right - self.left) * share) as i32
    }
}

/// Draws every fault over the plot, and a label above it.
pub fn bands(area: &Area<'_>, story: &Story<'_>, span: Span) -> Result<()> {
    let mut rows = [i32::MIN; 2];
    for band in story.bands.iter().take(LABELLED) {
        let (x1, x2) = (
            span.x(band.from),
            span.x(band.until.unwrap_or(u64::MAX)).max(span.x(band.from) + 2),
        );
        let color = rgb(palette::fault(&band.fault));
        area.draw(&Rectangle::new(
            [(x1, span.top), (x2, span.bottom)],
            color.mix(0.15).filled(),
        ))?;
        area.draw(&Rectangle::new([(x1, span.top - 4), (x2, span.top)], color.filled()))?;
        let label = printable(&band.label());
        let x = x1.min(span.right - text_width(&label, 12));
        if let Some(row) = rows.iter().position(|end| *end <= x) {
            let y = span.top - 19 - 14 * row as i32;
            area.draw(&Text::new(label.clone(), (x, y), (FONT, 12).into_font().color(&INK)))?;
            rows[row] = x + text_width(&label, 12) + 8;
        }
    }
    Ok(())
}

/// Says when each phase began, below the axis.
pub fn phases(area: &Area<'_>, story: &Story<'_>, span: Span, y: i32) -> Result<()> {
    let mut free = i32::MIN;
    for phase in &story.phases {
        let words = printable(&format!("→ {}", phase.name));
        let x = span.x(phase.from);
        if x >= free && x + text_width(&words, 12) < span.right + 20 {
            area.draw(&Text::new(words.clone(), (x, y), (FONT, 12).into_font().color(&FAINT)))?;
            free = x + text_width(&words, 12) + 8;
        }
    }
    Ok(())
}

/// The end of the time axis in seconds.
pub fn end(story: &Story<'_>) -> f64 {
    seconds(story.end)
}

/// A label of the time axis; `range` is how many seconds the axis has.
pub fn time_label(value: f64, range: f64) -> String {
    let digits = if range < 0.1 {
        3
    } else if range < 5.0 {
        1
    } else {
        0
    };
    format!("{value:.digits$} s")
}
