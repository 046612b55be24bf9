//! The chart of a measurement: a plot for each quantity, a line for each thing measured.

use super::{Area, HEIGHT, INK, Key, KeyWithWords, WIDTH, frame, rgb, sized, write_text};
use crate::measurement::{Measurement, Series, written};
use crate::palette;
use crate::svg::scale::nice_step;
use crate::text;
use anyhow::Result;
use plotters::prelude::*;
use std::path::Path;

/// Widths of the lines: where two lie on each other, the lower one still shows.
const WIDTHS: [u32; 4] = [8, 5, 3, 2];

/// Writes the picture.
pub fn write(measurement: &Measurement, path: &Path) -> Result<()> {
    let series = measurement.series.iter().enumerate();
    let keys = series.map(|(i, series)| (Key::Box(palette::series(i), 1.0), text::clip(&series.name, 30)));
    let keys: Vec<KeyWithWords> = keys.collect();
    let titles = (measurement.title.as_str(), measurement.subtitle.as_str());
    sized(path, (WIDTH, HEIGHT), titles, &keys, |area| {
        let parts = area.split_evenly((2, 2));
        for (number, quantity) in measurement.quantities.iter().enumerate().take(parts.len()) {
            plot(&parts[number], measurement, number, quantity)?;
        }
        Ok(())
    })
}

fn plot(area: &Area<'_>, measurement: &Measurement, number: usize, quantity: &str) -> Result<()> {
    let points = || measurement.series.iter().flat_map(|series| &series.points);
    let widest = points().map(|point| f64::from(point.size)).fold(1.0, f64::max);
    let values = points().filter_map(|point| point.values.get(number).copied());
    let highest = values.fold(1.0, f64::max);
    let step = nice_step(highest, 4.0);
    let top = (highest * 1.12 / step).ceil() * step;
    let mut chart = ChartBuilder::on(area)
        .margin_top(26)
        .margin_left(12)
        .margin_right(104)
        .x_label_area_size(40)
        .y_label_area_size(46)
        .build_cartesian_2d(0.0..widest * 1.01, 0.0..top)?;
    write_text(area, quantity, (24, 4), 15, INK)?;
    let plain = |value: &f64| written(*value);
    // As many labels as there are whole numbers.
    let labels = (widest as usize).clamp(2, 11);
    frame::axes(&mut chart, labels, (&measurement.axis, &plain), ("", &plain))?;
    for (i, series) in measurement.series.iter().enumerate() {
        let style = rgb(palette::series(i)).stroke_width(WIDTHS[i.min(WIDTHS.len() - 1)]);
        chart.draw_series(LineSeries::new(coordinates(series, number), style))?;
    }
    for (i, series) in measurement.series.iter().enumerate() {
        let radius = WIDTHS[i.min(WIDTHS.len() - 1)] / 2 + 3;
        let style = rgb(palette::series(i)).filled();
        chart.draw_series(coordinates(series, number).map(|at| Circle::new(at, radius, style)))?;
    }
    label_ends(area, &chart, measurement, number)
}

fn coordinates(series: &Series, number: usize) -> impl Iterator<Item = (f64, f64)> {
    let place = move |point: &crate::measurement::Point| Some((f64::from(point.size), *point.values.get(number)?));
    series.points.iter().filter_map(place)
}

/// Writes the last value of each line and its name beside its end, apart from each other.
fn label_ends<Y>(area: &Area<'_>, chart: &frame::Plot<'_, Y>, measurement: &Measurement, number: usize) -> Result<()>
where
    Y: Ranged<ValueType = f64>,
{
    let base = area.get_base_pixel();
    let mut labels: Vec<(i32, i32, String)> = Vec::new();
    for series in &measurement.series {
        let Some(end) = coordinates(series, number).last() else {
            continue;
        };
        let at = chart.backend_coord(&end);
        let name = series.name.rsplit('/').next().unwrap_or(&series.name);
        let words = format!("{} {}", written(end.1), text::clip(name, 14));
        labels.push((at.0 - base.0 + 12, at.1 - base.1 - 7, words));
    }
    // From the lowest up, each at least a line above the one before.
    labels.sort_by_key(|(_, y, _)| std::cmp::Reverse(*y));
    let mut free = i32::MAX;
    for (x, y, words) in labels {
        let y = y.min(free);
        write_text(area, &words, (x, y), 12, INK)?;
        free = y - 14;
    }
    Ok(())
}
