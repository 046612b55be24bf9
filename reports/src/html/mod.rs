//! The page of a run: one file, complete without a network and, but for zooming, without JavaScript.

mod anomalies;
mod commands;
mod data;
mod document;
mod elections;
mod faults;
mod first;
mod live;
pub mod measurement;
mod numbers;
mod pack;
mod plan;
mod run;
mod scenes;
mod ticket;
mod windows;

pub use document::{Document, items, settings};
pub use live::waiting;

use crate::model::RunModel;
use crate::{palette, text};
use anyhow::Result;
use std::path::Path;

/// What all pages look like.
pub const PAGE_STYLE: &str = include_str!("../../assets/page.css");

/// What their pictures look like.
pub const PICTURE_STYLE: &str = include_str!("../../assets/picture.css");
const FIRST_STYLE: &str = include_str!("../../assets/first.css");

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
    crate::publish(path, page(model))?;
    Ok(())
}

/// The page; of a run that goes on, one that grows.
pub fn page(model: &RunModel<'_>) -> String {
    let name = model.record.plan.workload.name();
    let state = match &model.extras.ongoing {
        Some(_) => "running".to_owned(),
        None => model.results.verdict.to_string(),
    };
    let title = format!("{state}: {}", text::clip(&name, 80));
    let live: &[&str] = if model.extras.ongoing.is_some() {
        &[LIVE_SCRIPT]
    } else {
        &[]
    };
    let sections = [
        first::section(model),
        scenes::section(model),
        run::section(model),
        anomalies::section(model),
        windows::section(model),
        elections::section(model),
        numbers::section(model),
        plan::section(model),
    ];
    Document {
        title: &title,
        styles: &[PAGE_STYLE, &palette::fault_styles(), PICTURE_STYLE, FIRST_STYLE],
        class: &format!("is-{state}"),
        body: &format!("{}\n{}", palette::hatches(), sections.join("\n")),
        data: &text::script_json(&data::of(model)),
        scripts: &[&SCRIPTS, live].concat(),
        grows: model.extras.ongoing.is_some(),
    }
    .page()
}

/// A section with a heading; the heading and the body are HTML.
pub fn titled(id: &str, heading: &str, body: &str) -> String {
    format!("<section id=\"{id}\">\n<h2>{heading}</h2>\n{body}</section>")
}

/// A table; cells are HTML.
pub fn table<const N: usize>(class: &str, heads: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut out = format!("<table class=\"{class}\"><thead><tr>");
    heads
        .iter()
        .for_each(|h| out.push_str(&format!("<th scope=\"col\">{h}</th>")));
    out.push_str("</tr></thead><tbody>");
    for row in rows {
        out.push_str("<tr>");
        row.iter().for_each(|cell| out.push_str(&format!("<td>{cell}</td>")));
        out.push_str("</tr>\n");
    }
    out + "</tbody></table>\n"
}
