//! Latencies and rate over time.

use super::scale::{LogScale, TimeScale, decimals, nice_step};
use super::{Svg, WIDTH, marks};
use crate::model::{DrawnOperation, OpStats, OperationOutcome, RunModel, rates, stats_by_part};
use crate::text;
use maud::Markup;
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write;
use zooquake_checkers::analysis::Latency;

const LEFT: f64 = 64.0;
const HEIGHT: f64 = 210.0;
/// How close two points may be before they are drawn as one.
const CELL: f64 = 2.5;

/// Names of clients' operations, which give each its colour by its place, at most eight.
pub fn series<'a>(ops: &[DrawnOperation<'a>]) -> Vec<&'a str> {
    let names: BTreeSet<&str> = ops.iter().filter(|op| !op.control).map(|op| op.f).collect();
    names.into_iter().take(8).collect()
}

/// Draws the grid of a chart with faults; returns where the plot begins and ends.
fn frame(svg: &mut Svg, model: &RunModel<'_>) -> (TimeScale, f64, f64) {
    let scale = TimeScale::whole(model, LEFT);
    let top = marks::bands(svg, model, &scale, HEIGHT);
    scale.draw(svg, top, top + HEIGHT);
    (scale, top, top + HEIGHT)
}

fn log_grid(svg: &mut Svg, log: &LogScale) {
    for power in log.powers() {
        let y = log.at(power);
        svg.line("grid", (LEFT, y), (WIDTH - 8.0, y));
        svg.text("axis end", (LEFT - 6.0, y + 4.0), &short(power));
    }
}

/// `10 ms` rather than `10.0 ms`.
pub fn short(ns: u64) -> String {
    text::duration(ns).replace(".00 ", " ").replace(".0 ", " ")
}

/// Latency of every operation over time: dots for `ok`, crosses for `fail`, rings for `info`.
pub fn latency(model: &RunModel<'_>) -> Markup {
    let mut svg = Svg::new(WIDTH);
    let (scale, top, bottom) = frame(&mut svg, model);
    let measured = || model.ops.iter().filter(|op| !op.control);
    let log = LogScale::over(measured().filter_map(DrawnOperation::latency), bottom - 4.0, top + 4.0);
    log_grid(&mut svg, &log);
    for (color, name) in series(&model.ops).iter().enumerate() {
        for outcome in [OperationOutcome::Ok, OperationOutcome::Info, OperationOutcome::Fail] {
            let ops = measured().filter(|op| op.f == *name && op.outcome == outcome);
            let points = ops.filter_map(|op| Some((scale.x(op.start), log.at(op.latency()?))));
            let d = points_path(points, outcome);
            let class = format!(
                "s{color} {}",
                if outcome == OperationOutcome::Ok {
                    "dots"
                } else {
                    "strokes"
                }
            );
            svg.path(&class, &d);
        }
    }
    svg.finish(
        "latency",
        bottom + 18.0,
        "Latency of operations over time, on a logarithmic scale",
    )
}

/// The shares of the operations of a part of the run that a quantile is of, the class of its line, and its name.
pub const QUANTILES: [(f64, &str, &str); 3] = [
    (0.5, "median", "p50"),
    (0.95, "high", "p95"),
    (1.0, "longest", "longest"),
];
/// How many parts of the run quantiles are of.
const PARTS: usize = 30;

/// Quantiles of the latencies of operations that were answered `ok`, by operation and by when they were sent.
pub fn quantiles(model: &RunModel<'_>) -> Markup {
    let mut svg = Svg::new(WIDTH);
    let (scale, top, bottom) = frame(&mut svg, model);
    let series = series(&model.ops);
    let parts: Vec<Vec<OpStats>> = series.iter().map(|f| stats_by_part(model, f, PARTS)).collect();
    let all = parts.iter().flatten().flat_map(|stats| &stats.latencies);
    let log = LogScale::over(all.copied(), bottom - 4.0, top + 4.0);
    log_grid(&mut svg, &log);
    let width = (scale.right - scale.left) / PARTS as f64;
    for (colour, parts) in parts.iter().enumerate() {
        for (share, class, _) in QUANTILES {
            let mut d = String::new();
            let mut goes_on = false;
            for (part, stats) in parts.iter().enumerate() {
                let height = stats.quantile(share).map(|ns| log.at(ns));
                if let Some(y) = height {
                    let _ = match goes_on {
                        true => write!(d, "V{y:.1}h{width:.1}"),
                        false => write!(d, "M{:.1} {y:.1}h{width:.1}", scale.left + part as f64 * width),
                    };
                }
                goes_on = height.is_some();
            }
            svg.path(&format!("s{colour} quantile {class}"), &d);
        }
    }
    svg.finish(
        "quantiles",
        bottom + 18.0,
        "Quantiles of the latencies of operations over time, on a logarithmic scale",
    )
}

fn points_path(points: impl Iterator<Item = (f64, f64)>, outcome: OperationOutcome) -> String {
    let mut d = String::new();
    let mut seen = HashSet::new();
    for (x, y) in points {
        let cell = ((x / CELL) as i32, (y / CELL) as i32);
        if seen.insert(cell) {
            let (x, y) = (
                f64::from(cell.0) * CELL + CELL / 2.0,
                f64::from(cell.1) * CELL + CELL / 2.0,
            );
            let _ = match outcome {
                OperationOutcome::Fail => write!(d, "M{} {}l5 5m0-5l-5 5", x - 2.5, y - 2.5),
                OperationOutcome::Info => write!(d, "M{} {y}a3 3 0 1 1 6 0a3 3 0 1 1-6 0", x - 3.0),
                _ => write!(d, "M{x} {y}h0"),
            };
        }
    }
    d
}

/// Operations per second by outcome, as steps on top of each other.
pub fn rate(model: &RunModel<'_>) -> Markup {
    let mut svg = Svg::new(WIDTH);
    let (scale, top, bottom) = frame(&mut svg, model);
    let bins = bins(model);
    let rates = rates(model, bins);
    let highest = rates.iter().map(|r| r.iter().sum::<f64>()).fold(0.0, f64::max).max(0.1);
    let step = nice_step(highest, 4.0);
    let roof = (highest / step).ceil() * step;
    let y = |v: f64| bottom - (bottom - top - 6.0) * v / roof;
    for n in 0..=(roof / step) as usize {
        let v = n as f64 * step;
        svg.line("grid", (LEFT, y(v)), (WIDTH - 8.0, y(v)));
        svg.text(
            "axis end",
            (LEFT - 6.0, y(v) + 4.0),
            &format!("{v:.0$}/s", decimals(step)),
        );
    }
    let width = (scale.right - scale.left) / bins as f64;
    for (outcome, class) in [(0, "r-ok"), (1, "r-fail"), (2, "r-info")] {
        let mut d = String::new();
        for (i, bin) in rates.iter().enumerate().filter(|(_, bin)| bin[outcome] > 0.0) {
            let below: f64 = bin[..outcome].iter().sum();
            let (x, low) = (scale.left + i as f64 * width, y(below));
            let high = y(below + bin[outcome]).min(low - marks::PIXEL);
            let _ = write!(d, "M{x:.1} {high:.1}h{:.1}V{:.1}h{:.1}z", width - 0.5, low, 0.5 - width);
        }
        svg.path(class, &d);
    }
    svg.finish("rate", bottom + 18.0, "Operations per second by outcome over time")
}

/// Parts of the run over which a rate is taken: half a second each, but at least 10 and at most 240 parts.
pub fn bins(model: &RunModel<'_>) -> usize {
    (model.end / 500_000_000).clamp(10, 240) as usize
}

/// How long what clients wait for took; what was under a fault is a cross.
pub fn latencies(model: &RunModel<'_>, heading: &str, latencies: &[Latency<'_>]) -> Markup {
    let mut svg = Svg::new(WIDTH);
    let (scale, top, bottom) = frame(&mut svg, model);
    let log = LogScale::over(latencies.iter().map(|l| l.ns), bottom - 4.0, top + 4.0);
    log_grid(&mut svg, &log);
    let points = |faulty| {
        let some = latencies.iter().filter(move |l| l.faulty == faulty);
        some.map(|l| (scale.x(model.analysis.time(l.from)), log.at(l.ns)))
    };
    svg.path("s1 dots", &points_path(points(false), OperationOutcome::Ok));
    svg.path("s5 strokes", &points_path(points(true), OperationOutcome::Fail));
    svg.finish(
        "wait",
        bottom + 18.0,
        &format!("{heading}: times over the run, on a logarithmic scale"),
    )
}

/// Draws a sorted list of latencies on an axis that several histograms share.
pub fn histogram(latencies: &[u64], log: &LogScale, name: &str) -> Markup {
    const BINS: usize = 40;
    const WIDTH: f64 = 240.0;
    const HEIGHT: f64 = 30.0;
    let mut counts = [0usize; BINS];
    for ns in latencies {
        counts[((log.at(*ns) * BINS as f64) as usize).min(BINS - 1)] += 1;
    }
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let width = WIDTH / BINS as f64;
    let mut svg = Svg::new(WIDTH);
    for (i, n) in counts.iter().enumerate().filter(|(_, n)| **n > 0) {
        let height = (HEIGHT * *n as f64 / most as f64).max(1.5);
        svg.rect("histbar", (i as f64 * width, HEIGHT - height, width - 0.8, height), "");
    }
    svg.line("row", (0.0, HEIGHT), (WIDTH, HEIGHT));
    let apart = ((log.high - log.low) / 4.0).ceil().max(1.0) as usize;
    for power in log.powers().step_by(apart) {
        let x = log.at(power) * WIDTH;
        svg.line("row", (x, HEIGHT), (x, HEIGHT + 3.0));
        let class = match x {
            ..10.0 => "axis",
            x if x > WIDTH - 10.0 => "axis end",
            _ => "axis mid",
        };
        svg.text(class, (x, HEIGHT + 13.0), &short(power));
    }
    let label = format!("Histogram of latencies of {}", text::clip(name, 40));
    svg.finish("", HEIGHT + 15.0, &label)
}
