//! The page: one file, complete without a network and without JavaScript.

use super::{Nights, failures, table};
use crate::html::Document;
use crate::night::page::STYLES;
use crate::text;
use maud::html;

/// The whole page.
pub fn page(nights: &Nights) -> String {
    let title = match nights.name.is_empty() {
        true => "Nights".to_string(),
        false => format!("Nights of {}/", text::clip(&nights.name, 80)),
    };
    let body = html! {
        main {
            h1 { (title) }
            p.facts { (sums(nights)) }
            (failures::section(nights)) "\n"
            (table::section(nights))
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

/// `12 nights from 2026-11-16 to 2026-11-27; 3 failures, 1 of them in the last night`.
fn sums(nights: &Nights) -> String {
    let Some((first, last)) = nights.nights.first().zip(nights.nights.last()) else {
        return "No nights.".to_string();
    };
    let newest = nights.nights.len() - 1;
    let now = nights
        .failures
        .iter()
        .filter(|failure| failure.last() == Some(newest))
        .count();
    format!(
        "{} from {} to {}; {}, {now} of them in the last night.",
        text::count(nights.nights.len(), "night"),
        text::clip(&first.date, 20),
        text::clip(&last.date, 20),
        text::count(nights.failures.len(), "failure")
    )
}
