//! Measurements: how what a recipe costs grows with the number of its clients, as a chart and as a page.

use crate::{html, png};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// A measurement of several things.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measurement {
    /// What its files are called, `herd`.
    pub name: String,
    /// Heading of its page and charts.
    pub title: String,
    /// One line on where and how it was measured.
    pub subtitle: String,
    /// What was counted and how, a paragraph each.
    pub words: Vec<String>,
    /// What the horizontal axis counts, `candidates`.
    pub axis: String,
    /// What was measured; a chart shows the first four.
    pub quantities: Vec<String>,
    /// The things that were measured.
    pub series: Vec<Series>,
}

/// One thing that was measured.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    /// Its name, `election/ticket`.
    pub name: String,
    /// What was measured, by ascending size.
    pub points: Vec<Point>,
}

/// What was measured at one size.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Point {
    /// Place on the horizontal axis, in the unit of [`Measurement::axis`].
    pub size: u32,
    /// A value for each quantity of the measurement.
    pub values: Vec<f64>,
}

/// Writes `<name>.png` and `<name>.html` into the folder `dir`, which must exist, and returns the files written.
///
/// # Errors
/// If a file cannot be written.
pub fn write_all(measurement: &Measurement, dir: &Path) -> Result<Vec<PathBuf>> {
    let file = |ending: &str| dir.join(format!("{}.{ending}", measurement.name));
    let (chart, page) = (file("png"), file("html"));
    png::chart::write(measurement, &chart).with_context(|| format!("cannot write {}", chart.display()))?;
    crate::publish(&page, html::measurement::page(measurement))
        .with_context(|| format!("cannot write {}", page.display()))?;
    Ok(vec![chart, page])
}

/// A value as tables write it: whole, or with one decimal.
pub fn written(value: f64) -> String {
    if value.fract() == 0.0 || value >= 100.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    }
}
