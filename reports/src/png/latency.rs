//! `latency.png`: how long each operation took, over time.

use super::{Area, Key, KeyWithWords, fault_keys, frame, picture, rgb, seconds};
use crate::model::{DrawnOperation, OperationOutcome, RunModel};
use crate::palette;
use crate::svg::charts::{series, short};
use crate::text;
use anyhow::Result;
use plotters::prelude::*;
use std::collections::HashSet;
use std::path::Path;

/// Writes the picture.
pub fn write(model: &RunModel<'_>, path: &Path) -> Result<()> {
    let names = series(&model.ops);
    let key = |(i, name): (usize, &&str)| (Key::Mark('•', palette::SERIES[i]), text::clip(name, 16));
    let mut keys: Vec<KeyWithWords> = names.iter().enumerate().take(5).map(key).collect();
    let outcomes = [('•', "ok"), ('×', "fail"), ('○', "info")];
    keys.extend(outcomes.map(|(mark, words)| (Key::Mark(mark, (90, 90, 90)), words.to_owned())));
    keys.extend(fault_keys(model));
    picture(path, model, "latency of operations over time", &keys, |area| {
        plot(area, model, &names)
    })
}

fn plot(area: &Area<'_>, model: &RunModel<'_>, names: &[&str]) -> Result<()> {
    let measured = || {
        model
            .ops
            .iter()
            .filter(|op| !op.control)
            .filter_map(DrawnOperation::latency)
    };
    let low = measured().min().unwrap_or(1_000_000).max(1_000);
    let high = measured().max().unwrap_or(1_000_000_000).max(low);
    let low = 10f64.powf((low as f64).log10().floor());
    let high = 10f64.powf((high as f64).log10().ceil().max(low.log10() + 1.0));
    let end = seconds(model.end);
    let mut chart = frame::over_time(area, model, (low..high).log_scale(), "latency", &|y| short(*y as u64))?;
    for (i, name) in names.iter().enumerate() {
        let color = rgb(palette::SERIES[i]);
        for outcome in [OperationOutcome::Ok, OperationOutcome::Info, OperationOutcome::Fail] {
            let shown = |op: &&DrawnOperation<'_>| !op.control && op.f == *name && op.outcome == outcome;
            let ops = model.ops.iter().filter(shown);
            let mut seen = HashSet::new();
            let points = ops.filter_map(|op| Some((seconds(op.start), op.latency()?.max(1_000) as f64)));
            // Points in one place would only cost time.
            let points = points.filter(|(x, y)| seen.insert(((x / end * 1100.0) as i32, (y.log10() * 150.0) as i32)));
            match outcome {
                OperationOutcome::Fail => {
                    chart.draw_series(points.map(|p| Cross::new(p, 4, color.stroke_width(2)).into_dyn()))?
                }
                OperationOutcome::Info => {
                    chart.draw_series(points.map(|p| Circle::new(p, 4, color.stroke_width(1)).into_dyn()))?
                }
                _ => chart.draw_series(points.map(|p| Circle::new(p, 2, color.filled()).into_dyn()))?,
            };
        }
    }
    Ok(())
}
