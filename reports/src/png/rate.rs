//! `rate.png`: operations per second by outcome.

use super::frame::{self, Span};
use super::{Area, FAINT, FONT, INK, Key, LINE, fault_keys, picture, rgb};
use crate::model::{Outcome, Story, rates};
use crate::palette;
use crate::svg::charts::bins;
use anyhow::Result;
use plotters::prelude::*;
use std::path::Path;

/// Writes the picture.
pub fn write(story: &Story<'_>, path: &Path) -> Result<()> {
    let outcomes = Outcome::ALL.into_iter().take(3);
    let mut keys: Vec<_> = outcomes
        .map(|o| (Key::Box(palette::outcome(o), 1.0), o.name().to_owned()))
        .collect();
    keys.extend(fault_keys(story));
    picture(path, story, "operations per second", &keys, |area| plot(area, story))
}

fn plot(area: &Area<'_>, story: &Story<'_>) -> Result<()> {
    let rates = rates(story, bins(story));
    let highest = rates.iter().map(|r| r.iter().sum::<f64>()).fold(0.0, f64::max).max(0.1);
    let end = frame::end(story);
    let mut chart = ChartBuilder::on(area)
        .margin_top(frame::LABELS + 4)
        .margin_left(16)
        .margin_right(20)
        .x_label_area_size(44)
        .y_label_area_size(68)
        .build_cartesian_2d(0.0..end, 0.0..highest * 1.05)?;
    let (xs, ys) = chart.plotting_area().get_pixel_range();
    let base = area.get_base_pixel();
    let span = Span {
        left: xs.start - base.0,
        right: xs.end - base.0,
        top: ys.start - base.1,
        bottom: ys.end - base.1,
        end: story.end,
    };
    frame::bands(area, story, span)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(LINE)
        .axis_style(FAINT)
        .x_labels(14)
        .x_desc("time since the run began")
        .y_desc("operations per second, by the time of the answer")
        .x_label_formatter(&|x| frame::time_label(*x, end))
        .y_label_formatter(&|y| format!("{y}/s"))
        .label_style((FONT, 13).into_font().color(&INK))
        .axis_desc_style((FONT, 14).into_font().color(&FAINT))
        .draw()?;
    let width = end / rates.len() as f64;
    for outcome in Outcome::ALL.into_iter().take(3) {
        let color = rgb(palette::outcome(outcome));
        let part = outcome as usize;
        let bars = rates.iter().enumerate().filter(|(_, r)| r[part] > 0.0).map(|(i, r)| {
            let below: f64 = r[..part].iter().sum();
            let x = i as f64 * width;
            Rectangle::new([(x, below), (x + width * 0.92, below + r[part])], color.filled())
        });
        chart.draw_series(bars)?;
    }
    Ok(())
}
