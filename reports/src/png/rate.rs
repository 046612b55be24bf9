//! `rate.png`: operations per second by outcome.

use super::{Area, Key, fault_keys, frame, picture, rgb, seconds};
use crate::model::{OperationOutcome, RunModel, rates};
use crate::palette;
use crate::svg::charts::bins;
use anyhow::Result;
use plotters::prelude::*;
use std::path::Path;

/// Writes the picture.
pub fn write(model: &RunModel<'_>, path: &Path) -> Result<()> {
    let outcomes = OperationOutcome::ALL.into_iter().take(3);
    let mut keys: Vec<_> = outcomes
        .map(|o| (Key::Box(palette::outcome(o), 1.0), o.name().to_owned()))
        .collect();
    keys.extend(fault_keys(model));
    picture(path, model, "operations per second", &keys, |area| plot(area, model))
}

fn plot(area: &Area<'_>, model: &RunModel<'_>) -> Result<()> {
    let rates = rates(model, bins(model));
    let highest = rates.iter().map(|r| r.iter().sum::<f64>()).fold(0.0, f64::max).max(0.1);
    let end = seconds(model.end);
    let what = "operations per second, by the time of the answer";
    let mut chart = frame::over_time(area, model, 0.0..highest * 1.05, what, &|y| format!("{y}/s"))?;
    let width = end / rates.len() as f64;
    for outcome in OperationOutcome::ALL.into_iter().take(3) {
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
