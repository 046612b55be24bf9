//! Measurements: how what a recipe costs grows with the number of its clients, as a chart and as a page.

use crate::html::{FIRST_STYLE, PAGE_STYLE, PICTURE_STYLE, titled};
use crate::png;
use crate::text::visible;
use anyhow::{Context, Result};
use maud::{DOCTYPE, Markup, PreEscaped, html};
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
    let (chart, html) = (file("png"), file("html"));
    png::measurement::write(measurement, &chart).with_context(|| format!("cannot write {}", chart.display()))?;
    crate::publish(&html, page(measurement)).with_context(|| format!("cannot write {}", html.display()))?;
    Ok(vec![chart, html])
}

/// A value as tables write it: whole, or with one decimal.
pub fn written(value: f64) -> String {
    if value.fract() == 0.0 || value >= 100.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    }
}

/// What a browser may load for the page. The chart is a file beside it.
const POLICY: &str = "default-src 'none'; img-src 'self' file:; style-src 'unsafe-inline'";

/// The page: the chart beside it, which is a file of the same folder, and the numbers.
fn page(measurement: &Measurement) -> String {
    let title = visible(&measurement.title);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " – zooquake" }
                style { "\n" (PreEscaped([PAGE_STYLE, PICTURE_STYLE, FIRST_STYLE].concat())) }
            }
            "\n"
            body {
                h1 { (title) }
                p { (visible(&measurement.subtitle)) }
                p { img src={ (visible(&measurement.name)) ".png" } alt=(title) width="1200" height="700"; }
                @for words in &measurement.words { p { (visible(words)) } }
                (titled("numbers", "Numbers", numbers(measurement)))
            }
        }
        "\n"
    }
    .into_string()
}

fn numbers(measurement: &Measurement) -> Markup {
    html! {
        table.numbers {
            thead {
                tr {
                    th {}
                    th { (visible(&measurement.axis)) }
                    @for quantity in &measurement.quantities { th { (visible(quantity)) } }
                }
            }
            tbody {
                @for series in &measurement.series {
                    @for point in &series.points {
                        tr {
                            td { (visible(&series.name)) }
                            td { (point.size) }
                            @for value in &point.values { td { (written(*value)) } }
                        }
                        "\n"
                    }
                }
            }
        }
        "\n"
    }
}
