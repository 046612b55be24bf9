//! The page: one file, complete without a network and without JavaScript.

use super::{Night, failures, matrix, trends};
use crate::html::{self, Document, PAGE_STYLE};
use crate::text;
use maud::{Markup, html};

/// The styles of pages of nights.
pub const STYLES: [&str; 2] = [PAGE_STYLE, include_str!("../../assets/night.css")];

/// The whole page.
pub fn page(night: &Night) -> String {
    let title = format!("{} {}", text::clip(&night.campaign, 60), text::clip(&night.name, 60));
    let body = html! {
        main {
            (head(night))
            (matrix::section(night))
            (failures::sections(night)) "\n"
            (trends::section(night)) "\n"
            (remarks(night))
            (html::settings("Settings", night.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()))))
        }
    };
    Document {
        title: &title,
        styles: &STYLES,
        class: "night",
        body,
        ..Document::default()
    }
    .page()
}

/// What came of the night, in words.
fn head(night: &Night) -> Markup {
    let (class, word) = match night.code {
        0 => ("expected", "AS EXPECTED"),
        1 => ("new", "NEW ANOMALY"),
        2 => ("unknown", "UNKNOWN"),
        _ => ("failed", "HARNESS FAILED"),
    };
    let (first, rest) = html::first_and_rest(&night.conclusion);
    html! {
        header #first class={ "night-" (class) } {
            div.verdict {
                h1 { (word) }
                div {
                    p.sentence { (text::clip(first, 600)) }
                    p.facts {
                        b { (text::clip(&night.campaign, 60)) } " · night " (text::clip(&night.name, 60)) " · begun "
                        (text::clip(&night.begun, 40))
                        @if let Some(shard) = &night.shard { " · part " (text::clip(shard, 20)) }
                        " · " (night.counts()) " · exit code " (night.code)
                    }
                }
            }
            @if !rest.is_empty() { ul.conclusion { (html::items(rest, 600)) } }
        }
    }
}

fn remarks(night: &Night) -> Markup {
    if night.remarks.is_empty() {
        return Markup::default();
    }
    html::titled(
        "remarks",
        "Remarks",
        html! { ul { (html::items(&night.remarks, 600)) } },
    )
}
