//! `latency.png`: how long each operation took, over time; `rate.png`: operations per second by outcome.

use super::{Area, Key, KeyWithWords, fault_keys, frame, picture, rgb, seconds};
use crate::model::{DrawnOperation, OperationOutcome, RunModel, rates};
use crate::svg::charts::{bins, series, short};
use crate::{palette, text};
use anyhow::Result;
use plotters::prelude::*;
use std::collections::HashSet;
use std::path::Path;

/// Writes the picture of latencies.
pub fn write_latency(model: &RunModel<'_>, path: &Path) -> Result<()> {
    let names = series(&model.ops);
    let key = |(i, name): (usize, &&str)| (Key::Mark('•', palette::SERIES[i]), text::clip(name, 16));
    let mut keys: Vec<KeyWithWords> = names.iter().enumerate().take(5).map(key).collect();
    let outcomes = [('•', "ok"), ('×', "fail"), ('○', "info")];
    keys.extend(outcomes.map(|(mark, words)| (Key::Mark(mark, (90, 90, 90)), words.to_owned())));
    keys.extend(fault_keys(model));
    picture(path, model, "latency of operations over time", &keys, |area| {
        plot_latency(area, model, &names)
    })
}

fn plot_latency(area: &Area<'_>, model: &RunModel<'_>, names: &[&str]) -> Result<()> {
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

/// Writes the picture of rates.
pub fn write_rate(model: &RunModel<'_>, path: &Path) -> Result<()> {
    let outcomes = OperationOutcome::ALL.into_iter().take(3);
    let mut keys: Vec<_> = outcomes
        .map(|o| (Key::Box(palette::outcome(o), 1.0), o.name().to_owned()))
        .collect();
    keys.extend(fault_keys(model));
    picture(path, model, "operations per second", &keys, |area| {
        plot_rate(area, model)
    })
}

fn plot_rate(area: &Area<'_>, model: &RunModel<'_>) -> Result<()> {
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
