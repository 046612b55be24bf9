//! The page: one file, complete without a network and without JavaScript.

use super::{Night, failures, matrix, trends};
use crate::{html, text};

const STYLES: [&str; 2] = [html::PAGE_STYLE, include_str!("../../assets/night.css")];

/// The whole page.
pub fn page(night: &Night) -> String {
    let title = format!("{} {}", text::clip(&night.campaign, 60), text::clip(&night.name, 60));
    let body = format!(
        "<main>\n{}{}{}\n{}\n{}{}</main>",
        head(night),
        matrix::section(night),
        failures::sections(night),
        trends::section(night),
        remarks(night),
        settings(night),
    );
    let document = html::Document {
        title: &title,
        styles: &STYLES,
        class: "night",
        body: &body,
        ..html::Document::default()
    };
    document.page()
}

/// What came of the night, in words.
fn head(night: &Night) -> String {
    let (class, word) = match night.code {
        0 => ("expected", "AS EXPECTED"),
        1 => ("new", "NEW ANOMALY"),
        2 => ("unknown", "UNKNOWN"),
        _ => ("failed", "HARNESS FAILED"),
    };
    let (first, rest) = night
        .conclusion
        .split_first()
        .map_or(("", &[][..]), |(f, r)| (f.as_str(), r));
    let rest = match rest.is_empty() {
        true => String::new(),
        false => format!("<ul class=\"conclusion\">{}</ul>\n", html::items(rest, 600)),
    };
    let shard = night
        .shard
        .as_ref()
        .map(|shard| format!(" · part {}", text::html(shard, 20)));
    format!(
        "<header id=\"first\" class=\"night-{class}\"><div class=\"verdict\"><h1>{word}</h1><div>\
         <p class=\"sentence\">{}</p><p class=\"facts\"><b>{}</b> · night {} · begun {}{} · {} · exit code {}</p></div></div>\n{rest}</header>\n",
        text::html(first, 600),
        text::html(&night.campaign, 60),
        text::html(&night.name, 60),
        text::html(&night.begun, 40),
        shard.unwrap_or_default(),
        night.counts(),
        night.code,
    )
}

fn remarks(night: &Night) -> String {
    let lines = html::items(&night.remarks, 600);
    match lines.is_empty() {
        true => lines,
        false => format!("<section id=\"remarks\">\n<h2>Remarks</h2>\n<ul>{lines}</ul></section>\n"),
    }
}

fn settings(night: &Night) -> String {
    let settings = night.settings.iter();
    let rows = settings.map(|(name, value)| (name.as_str(), value.as_str()));
    html::settings("Settings", rows)
}
