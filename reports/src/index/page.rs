//! The page: what came of the runs in a line, the means to filter, and the table.

use super::Listed;
use crate::{html, text};
use std::collections::{BTreeMap, BTreeSet};
use zooquake_checkers::Verdict;

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
        scripts: &SCRIPTS,
        ..html::Document::default()
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
            let new = text::if_any(new, |n| format!(" ({} with new anomalies)", text::grouped(n)));
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
    let faults: BTreeSet<String> = runs.iter().flat_map(faults).collect();
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
        runs.iter().map(row).collect::<String>()
    )
}

/// Kinds of anomaly that are named; the others are counted.
const KINDS: usize = 6;

/// The kinds of fault that were asked for; `none` if the plan has none.
pub fn faults(run: &Listed) -> Vec<String> {
    match &run.plan {
        Some(plan) if plan.faults.is_empty() => vec!["none".into()],
        Some(plan) => plan.faults.iter().map(|fault| text::clip(fault, 40)).collect(),
        None => Vec::new(),
    }
}

/// The row; `data-value` is what a cell is sorted by where its text would not do.
pub fn row(run: &Listed) -> String {
    let plan = run.plan.as_ref();
    let variant = plan
        .map(|plan| text::html(&plan.workload.name(), 80))
        .unwrap_or_default();
    let faults = faults(run);
    let (counting, windows) = run.results.as_ref().map_or((0, 0), |results| {
        let counting = results.windows.iter().filter(|window| window.counts).count();
        (counting, results.windows.len())
    });
    let share = match &run.results {
        Some(_) => format!("{counting} of {windows}"),
        None => String::new(),
    };
    let length = plan.map_or(0, |plan| plan.time_ms);
    let new = run.news().count();
    format!(
        "<tr data-verdict=\"{verdict}\" data-variant=\"{variant}\" data-faults=\"{}\" data-new=\"{new}\">\
         <td>{}</td><td><b>{variant}</b></td><td>{}</td><td class=\"n\" data-value=\"{seed}\">{seed}</td>\
         <td data-value=\"{}\">{}</td><td data-value=\"{}\">{}</td><td class=\"n\" data-value=\"{counting}\">{share}</td>\
         <td class=\"n\" data-value=\"{length}\">{}</td><td>{}</td></tr>\n",
        text::html(&faults.join(" "), 400),
        run.begun().unwrap_or_default(),
        text::html(&faults.join(", "), 200),
        rank(run),
        verdict(run),
        // What is new weighs more than any number of what is known.
        new * 1_000_000 + anomalies(run).len(),
        kinds(run),
        plan.map(|_| text::duration(length.saturating_mul(1_000_000)))
            .unwrap_or_default(),
        link(run),
        verdict = run.verdict(),
        seed = plan.map(|plan| plan.seed.to_string()).unwrap_or_default(),
    )
}

fn anomalies(run: &Listed) -> &[zooquake_checkers::Anomaly] {
    run.results.as_ref().map_or(&[], |results| &results.anomalies)
}

/// The worse, the smaller.
fn rank(run: &Listed) -> usize {
    let order = ["invalid", "unknown", "not checked", "valid"];
    order
        .iter()
        .position(|verdict| *verdict == run.verdict())
        .unwrap_or(order.len())
}

fn verdict(run: &Listed) -> String {
    let (class, sign) = match run.verdict().as_str() {
        "valid" => ("valid", "✓"),
        "invalid" => ("invalid", "✗"),
        "unknown" => ("unknown", "?"),
        _ => ("unchecked", "–"),
    };
    format!("<span class=\"v-{class}\">{sign} {}</span>", run.verdict())
}

/// Anomalies by kind and by what they mean for the verdict, the news first.
fn kinds(run: &Listed) -> String {
    let mut kinds: BTreeMap<(bool, bool, &str), usize> = BTreeMap::new();
    for anomaly in anomalies(run) {
        *kinds
            .entry((anomaly.advisory, anomaly.accepted, &anomaly.kind))
            .or_default() += 1;
    }
    let shown = kinds.iter().take(KINDS).map(|((advisory, accepted, kind), n)| {
        let (class, note) = match (advisory, accepted) {
            (true, _) => ("advisory", " <i>advisory</i>"),
            (false, true) => ("violation known", " <i>known</i>"),
            (false, false) => ("violation", " <i>new</i>"),
        };
        format!(
            "<span class=\"badge {class}\">{} × {n}{note}</span> ",
            text::html(kind, 60)
        )
    });
    let more = text::if_any(kinds.len().saturating_sub(KINDS), |n| {
        format!("and {}", text::count(n, "more kind"))
    });
    shown.collect::<String>() + &more + &reason(run)
}

/// Why an unknown verdict is none, in short.
fn reason(run: &Listed) -> String {
    let unknown = run.results.iter().filter(|results| results.verdict == Verdict::Unknown);
    let first = unknown
        .flat_map(|results| &results.reasons)
        .find(|reason| !reason.starts_with("note: "));
    first
        .map(|reason| format!("<small>{}</small>", text::html(reason, 160)))
        .unwrap_or_default()
}

/// The way to the report, and what is wrong with the run.
fn link(run: &Listed) -> String {
    let name = text::html(&run.name, 120);
    let name = match run.report {
        true => format!("<a href=\"{}/report.html\">{name}</a>", address(&run.name)),
        false => name,
    };
    let trouble = run
        .trouble
        .iter()
        .take(4)
        .map(|words| format!("<br><small>{}</small>", text::html(words, 300)));
    name + &trouble.collect::<String>()
}

/// A file's name as part of an address.
fn address(name: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'~');
    let mut out = String::from("./");
    for b in name.bytes() {
        match plain(b) {
            true => out.push(char::from(b)),
            false => out.push_str(&format!("%{b:02X}")),
        }
    }
    out
}
