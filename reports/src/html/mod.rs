//! The page of a run: one file, complete without a network and, but for zooming, without JavaScript.

mod anomalies;
mod data;
mod document;
mod elections;
mod first_screen;
mod groups;
mod numbers;
mod plan;
mod run;
mod ticket;
mod tickets;
mod windows;

pub use anomalies::cause;
pub use document::{Document, first_and_rest, items, settings, unjudged_checks};
pub use first_screen::waiting;
pub use windows::{counted, fault};

use crate::model::RunModel;
use crate::{palette, text};
use anyhow::Result;
use maud::{Markup, Render, html};
use std::path::Path;

/// The colours of pages and pictures, light and dark.
pub const COLOUR_STYLE: &str = include_str!("../../assets/colours.css");
/// What all pages look like.
pub const PAGE_STYLE: &str = concat!(
    include_str!("../../assets/colours.css"),
    include_str!("../../assets/page.css")
);

/// What their pictures look like.
pub const PICTURE_STYLE: &str = include_str!("../../assets/picture.css");
/// The style of diagrams of messages.
pub const MESSAGES_STYLE: &str = include_str!("../../assets/messages.css");
/// What first screens look like.
pub const FIRST_STYLE: &str = include_str!("../../assets/first.css");

/// The script of pages that grow.
const LIVE_SCRIPT: &str = include_str!("../../assets/live.js");

/// The scripts, parts of one function: each declares what the later ones use.
const SCRIPTS: [&str; 10] = [
    include_str!("../../assets/timeline/data.js"),
    include_str!("../../assets/timeline/view.js"),
    include_str!("../../assets/timeline/draw.js"),
    include_str!("../../assets/timeline/pointer.js"),
    include_str!("../../assets/timeline/filters.js"),
    include_str!("../../assets/timeline/anomalies.js"),
    include_str!("../../assets/timeline/navigator.js"),
    include_str!("../../assets/timeline/link.js"),
    include_str!("../../assets/ticket.js"),
    include_str!("../../assets/timeline/start.js"),
];

/// Writes the page.
pub fn write(model: &RunModel<'_>, path: &Path) -> Result<()> {
    Ok(crate::publish(path, page(model))?)
}

/// The page; of a run that goes on, one that grows.
pub fn page(model: &RunModel<'_>) -> String {
    let (state, live): (String, &[&str]) = match model.extras.progress {
        Some(_) => ("running".to_owned(), &[LIVE_SCRIPT]),
        None => (model.results.verdict.to_string(), &[]),
    };
    let title = format!("{state}: {}", text::clip(&model.record.plan.workload.name(), 80));
    let sections = [
        first_screen::section(model),
        elections::scenes(model),
        run::section(model),
        anomalies::section(model),
        anomalies::meanings(model),
        windows::section(model),
        groups::section(model),
        elections::section(model),
        numbers::section(model),
        plan::section(model),
    ];
    Document {
        title: &title,
        styles: &[
            PAGE_STYLE,
            &palette::fault_styles(),
            PICTURE_STYLE,
            MESSAGES_STYLE,
            FIRST_STYLE,
        ],
        class: &format!("is-{state}"),
        body: html! {
            (palette::hatches())
            @for section in sections { "\n" (section) }
        },
        data: &text::script_json(&data::timeline(model)),
        scripts: &[&SCRIPTS, live].concat(),
        grows: model.extras.progress.is_some(),
    }
    .page()
}

/// A section with a heading.
pub fn titled(id: &str, heading: &str, body: Markup) -> Markup {
    html! {
        section id=(id) {
            h2 { (heading) }
            (body)
        }
    }
}

/// A table; cells are text or markup.
pub fn table<C: Render, const N: usize>(class: &str, heads: [&str; N], rows: impl Iterator<Item = [C; N]>) -> Markup {
    html! {
        table class=(class) {
            thead { tr { @for head in heads { th scope="col" { (head) } } } }
            tbody {
                @for row in rows {
                    tr { @for cell in row { td { (cell) } } }
                    "\n"
                }
            }
        }
        "\n"
    }
}

/// Markup of a text.
pub fn plain(text: impl Render) -> Markup {
    html! { (text) }
}

/// A tick or a cross, with words of the same meaning.
pub fn mark(yes: bool, words: [&str; 2]) -> Markup {
    match yes {
        true => html! { b.yes { "✓" (words[0]) } },
        false => html! { b.no { "✗" (words[1]) } },
    }
}
