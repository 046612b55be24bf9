//! The time axis and the faults, which all pictures share.

use super::{Area, FAINT, FONT, INK, LINE, rgb, seconds, text_width, write_text};
use crate::model::{Band, RunModel};
use anyhow::Result;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use zooquake_history::FaultKind;

/// Room above a plot for the labels of faults.
pub const LABELS: i32 = 34;
/// The most faults that get a label.
const LABELLED: usize = 200;

/// Where time lies in a plot: from second 0 at `left` to the end at `right`.
#[derive(Clone, Copy)]
pub struct TimeAxis {
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

impl TimeAxis {
    /// The column of a moment.
    pub fn x(&self, ns: u64) -> i32 {
        let share = ns.min(self.end) as f64 / self.end as f64;
        self.left + (f64::from(self.right - self.left) * share) as i32
    }
}

/// A plot over the time of the run, with its axes and faults drawn; `what` names what `y` is.
pub fn over_time<'a, Y>(
    area: &Area<'a>,
    model: &RunModel<'_>,
    y: Y,
    what: &str,
    label: &dyn Fn(&f64) -> String,
) -> Result<Plot<'a, Y::CoordDescType>>
where
    Y: AsRangedCoord<Value = f64>,
    Y::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    let end = seconds(model.end);
    let mut chart = ChartBuilder::on(area)
        .margin_top(LABELS + 4)
        .margin_left(16)
        .margin_right(20)
        .x_label_area_size(44)
        .y_label_area_size(68)
        .build_cartesian_2d(0.0..end, y)?;
    let (xs, ys) = chart.plotting_area().get_pixel_range();
    let base = area.get_base_pixel();
    let span = TimeAxis {
        left: xs.start - base.0,
        right: xs.end - base.0,
        top: ys.start - base.1,
        bottom: ys.end - base.1,
        end: model.end,
    };
    bands(area, model, span)?;
    let x = |x: &f64| time_label(*x, end);
    axes(&mut chart, 14, ("time since the run began", &x), (what, label))?;
    Ok(chart)
}

/// A plot whose horizontal axis is linear.
pub type Plot<'a, Y> = ChartContext<'a, BitMapBackend<'a>, Cartesian2d<RangedCoordf64, Y>>;

/// What an axis is called, and how its values are written.
pub type Axis<'a> = (&'a str, &'a dyn Fn(&f64) -> String);

/// Draws lines and labels of a plot; `labels` is how many the horizontal axis has at most.
pub fn axes<Y>(chart: &mut Plot<'_, Y>, labels: usize, x: Axis<'_>, y: Axis<'_>) -> Result<()>
where
    Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(LINE)
        .axis_style(FAINT)
        .x_labels(labels)
        .x_desc(x.0)
        .y_desc(y.0)
        .x_label_formatter(x.1)
        .y_label_formatter(y.1)
        .label_style((FONT, 13).into_font().color(&INK))
        .axis_desc_style((FONT, 14).into_font().color(&FAINT))
        .draw()?;
    Ok(())
}

/// Draws every fault over the plot, and a label above it.
pub fn bands(area: &Area<'_>, model: &RunModel<'_>, span: TimeAxis) -> Result<()> {
    let mut rows = [i32::MIN; 2];
    for band in model.bands.iter().take(LABELLED) {
        let x1 = span.x(band.from);
        stretch(area, band, span)?;
        let label = band.label();
        let x = x1.min(span.right - text_width(&label, 12));
        if let Some(row) = rows.iter().position(|end| *end <= x) {
            let y = span.top - 19 - 14 * row as i32;
            write_text(area, &label, (x, y), 12, INK)?;
            rows[row] = x + text_width(&label, 12) + 8;
        }
    }
    Ok(())
}

/// Draws one fault: paler from its strike until its effect was verified, where a tick stands, and from its healing
/// until that was seen.
fn stretch(area: &Area<'_>, band: &Band, span: TimeAxis) -> Result<()> {
    let color = rgb(FaultKind::by_name(&band.fault).colour);
    let (x1, top) = (span.x(band.from), span.top);
    let x2 = span.x(band.until.unwrap_or(u64::MAX)).max(x1 + 2);
    let sure = span.x(band.sure()).min(x2);
    let ended = span.x(band.ended()).clamp(sure, x2);
    for (left, right, opacity, strip) in [(x1, sure, 0.07, 0.4), (sure, ended, 0.17, 1.0), (ended, x2, 0.07, 0.4)] {
        // A rectangle has both its edges.
        if right > left {
            let (plot, above) = ((right - 1, span.bottom), (right - 1, top));
            area.draw(&Rectangle::new([(left, top), plot], color.mix(opacity).filled()))?;
            area.draw(&Rectangle::new([(left, top - 4), above], color.mix(strip).filled()))?;
        }
    }
    if band.verified.is_some() && sure > x1 {
        area.draw(&PathElement::new(vec![(sure, top - 8), (sure, top + 4)], color))?;
    }
    Ok(())
}

/// Draws the beginning of each phase, with its name, below the axis.
pub fn phases(area: &Area<'_>, model: &RunModel<'_>, span: TimeAxis, y: i32) -> Result<()> {
    let mut free = i32::MIN;
    for phase in &model.phases {
        let words = format!("→ {}", phase.name);
        let x = span.x(phase.from);
        if x >= free && x + text_width(&words, 12) < span.right + 20 {
            write_text(area, &words, (x, y), 12, FAINT)?;
            free = x + text_width(&words, 12) + 8;
        }
    }
    Ok(())
}

/// A label of the time axis; `range` is how many seconds the axis has.
pub fn time_label(value: f64, range: f64) -> String {
    let digits = match range {
        ..0.1 => 3,
        ..2.0 => 2,
        ..20.0 => 1,
        _ => 0,
    };
    format!("{value:.digits$} s")
}
