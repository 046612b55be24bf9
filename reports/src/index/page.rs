//! The page: what came of the runs in a line, the means to filter, and the table.

use super::{Listed, row};
use crate::{html, text};
use std::collections::BTreeSet;

const STYLES: [&str; 2] = [html::PAGE_STYLE, include_str!("../../assets/index.css")];
const SCRIPTS: [&str; 1] = [include_str!("../../assets/index.js")];

/// The heads of the columns, each with whether larger values come first when it is sorted by.
const HEADS: [(&str, bool); 9] = [
    ("begun (UTC)", true),
    ("variant", false),
    ("faults", false),
    ("seed", false),
    ("verdict", false),
    ("anomalies", true),
    ("windows that count", false),
    ("length", true),
    ("run", false),
];

/// The whole page.
pub fn page(folder: &str, runs: &[Listed]) -> String {
    let title = format!("Index of {}/", text::clip(folder, 80));
    let body = format!(
        "<main>\n<h1>{}</h1>\n<p class=\"sums\">{}</p>\n{}{}</main>",
        text::escape(&title),
        sums(runs),
        filters(runs),
        table(runs)
    );
    let document = html::Document {
        title: &title,
        styles: &STYLES,
        class: "index",
        body: &body,
        data: "",
        scripts: &SCRIPTS,
    };
    document.page()
}

/// `41 runs: 24 valid, 15 invalid (2 with new anomalies), 1 unknown, 1 not checked`.
fn sums(runs: &[Listed]) -> String {
    let parts: Vec<String> = ["valid", "invalid", "unknown", "not checked"]
        .into_iter()
        .filter_map(|verdict| {
            let of = || runs.iter().filter(|run| run.verdict() == verdict);
            let new = of().filter(|run| run.news().next().is_some()).count();
            let new = match new {
                0 => String::new(),
                n => format!(" ({} with new anomalies)", text::grouped(n)),
            };
            (of().count() > 0).then(|| format!("{} {verdict}{new}", text::grouped(of().count())))
        })
        .collect();
    match parts.is_empty() {
        true => "No runs.".into(),
        false => format!("{}: {}.", text::count(runs.len(), "run"), parts.join(", ")),
    }
}

/// What narrows the list; only where there is a script to do so.
fn filters(runs: &[Listed]) -> String {
    let plans = || runs.iter().filter_map(|run| run.plan.as_ref());
    let variants: BTreeSet<String> = plans().map(|plan| plan.workload.name()).collect();
    let faults: BTreeSet<String> = runs.iter().flat_map(row::faults).collect();
    let verdicts: BTreeSet<String> = runs.iter().map(Listed::verdict).collect();
    format!(
        "<form class=\"js tools\" role=\"search\"><label>find <input type=\"search\" id=\"find\" \
         placeholder=\"seed, anomaly, name …\"></label>{}{}{}<label><input type=\"checkbox\" id=\"new\"> new anomalies only</label>\
         <output id=\"count\"></output></form>\n",
        select("verdict", &verdicts),
        select("variant", &variants),
        select("fault", &faults),
    )
}

fn select(name: &str, values: &BTreeSet<String>) -> String {
    let options = values.iter().take(500).map(|value| {
        let value = text::html(value, 80);
        format!("<option value=\"{value}\">{value}</option>")
    });
    format!(
        "<label>{name} <select id=\"{name}\"><option value=\"\">all</option>{}</select></label>",
        options.collect::<String>()
    )
}

fn table(runs: &[Listed]) -> String {
    let heads = HEADS.iter().enumerate().map(|(i, (head, down))| {
        // The list comes sorted by its first column.
        let sorted = if i == 0 { " aria-sort=\"descending\"" } else { "" };
        let down = if *down { " data-down" } else { "" };
        format!("<th scope=\"col\"{sorted}{down}>{head}</th>")
    });
    format!(
        "<div class=\"wide\"><table class=\"runs\"><thead><tr>{}</tr></thead><tbody>\n{}</tbody></table></div>\n",
        heads.collect::<String>(),
        runs.iter().map(row::row).collect::<String>()
    )
}
