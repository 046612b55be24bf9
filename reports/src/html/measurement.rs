//! The page of a measurement: the chart beside it, and the numbers.

use super::{FIRST_STYLE, PAGE_STYLE, PICTURE_STYLE, titled};
use crate::measurement::{Measurement, written};
use crate::text::visible;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// What a browser may load for the page. The chart is a file beside it.
const POLICY: &str = "default-src 'none'; img-src 'self' file:; style-src 'unsafe-inline'";

/// The page; it shows the chart of the same folder.
pub fn page(measurement: &Measurement) -> String {
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
