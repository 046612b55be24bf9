//! The picture: a pair of figures for each situation.

use super::{DecisionComparison, chart};
use crate::png::figures::{self, FigureSheet};
use anyhow::Result;
use std::path::Path;

/// Writes the picture.
///
/// # Errors
/// If it cannot be drawn or written.
pub fn write(comparison: &DecisionComparison, path: &Path) -> Result<()> {
    let figures = chart::all(comparison);
    let sizes = comparison.sizes();
    let bars = comparison.acceptors.len() * comparison.protocols.len();
    let sheet = FigureSheet {
        title: &comparison.title(),
        subtitle: &comparison.setting(),
        labels: comparison.labels(&sizes, |protocol| &protocol.name),
        figures: figures.iter().flatten().collect(),
        height: 80 + 15 * bars as u32,
    };
    figures::write(&sheet, figures.len() as u32, path)
}
