//! The page: one file, complete without a network and, but for zooming, without JavaScript.

mod anomalies;
mod data;
mod elections;
mod first;
mod leaderless;
pub mod measurement;
mod numbers;
mod pack;
mod plan;
mod run;
mod scenes;
mod windows;

use crate::model::Story;
use crate::{svg, text};
use anyhow::Result;
use std::path::Path;

const STYLES: [&str; 3] = [
    include_str!("../../assets/page.css"),
    include_str!("../../assets/picture.css"),
    include_str!("../../assets/first.css"),
];

/// The scripts, parts of one function: each declares what the later ones use.
const SCRIPTS: [&str; 8] = [
    include_str!("../../assets/timeline/data.js"),
    include_str!("../../assets/timeline/view.js"),
    include_str!("../../assets/timeline/draw.js"),
    include_str!("../../assets/timeline/pointer.js"),
    include_str!("../../assets/timeline/filters.js"),
    include_str!("../../assets/timeline/anomalies.js"),
    include_str!("../../assets/timeline/navigator.js"),
    include_str!("../../assets/timeline/start.js"),
];

/// Writes the page.
pub fn write(story: &Story<'_>, path: &Path) -> Result<()> {
    std::fs::write(path, page(story))?;
    Ok(())
}

fn page(story: &Story<'_>) -> String {
    let name = story.record.plan.workload.name();
    let title = format!("{}: {} – zooquake", story.results.verdict, text::clip(&name, 80));
    let data = text::script_json(&data::of(story));
    let nonce = nonce(&data);
    let sections = [
        first::section(story),
        scenes::section(story),
        run::section(story),
        anomalies::section(story),
        windows::section(story),
        elections::section(story),
        numbers::section(story),
        plan::section(story),
    ];
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; form-action 'none'; \
         style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n\
         <style nonce=\"{nonce}\">\n{}</style>\n</head>\n<body class=\"is-{}\">\n{}\n{}\n\
         <script type=\"application/json\" id=\"data\">{data}</script>\n\
         <script nonce=\"{nonce}\">(() => {{\n\"use strict\";\n{}}})();</script>\n</body>\n</html>\n",
        text::escape(&title),
        STYLES.concat(),
        story.results.verdict,
        svg::HATCHES,
        sections.join("\n"),
        SCRIPTS.concat(),
    )
}

/// What marks the page's own styles and scripts (FNV-1a of its data): the same data gives the same page, yet nobody who
/// writes a value into a history can guess it beforehand.
pub fn nonce(data: &str) -> String {
    let hash = data.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| {
        (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3)
    });
    format!("{hash:016x}")
}

/// A section with a heading.
fn titled(id: &str, heading: &str, body: &str) -> String {
    format!("<section id=\"{id}\">\n<h2>{heading}</h2>\n{body}</section>")
}

/// A table; cells are HTML.
fn table<const N: usize>(class: &str, heads: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
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
