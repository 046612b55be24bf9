//! The index of a folder of runs: one static page that lists them, newest first, with links to their reports.

use crate::html::{Document, PAGE_STYLE};
use crate::text;
use anyhow::{Context, Result};
use maud::{Markup, html};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use zooquake_checkers::{Anomaly, Results, Verdict};
use zooquake_history::Plan;

const STYLES: [&str; 2] = [PAGE_STYLE, include_str!("../assets/index.css")];
const SCRIPTS: [&str; 1] = [include_str!("../assets/index.js")];
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
/// Kinds of anomaly that are named; the others are counted.
const KINDS: usize = 6;

/// A run of the folder. Its files that are missing or cannot be read are named in [`RunEntry::trouble`].
#[derive(Debug, Clone, Default)]
pub struct RunEntry {
    /// The name of its folder, which begins with the time at which it was made.
    pub name: String,
    /// Its plan; `None` if that cannot be read.
    pub plan: Option<Plan>,
    /// Its results; none if it was never checked.
    pub results: Option<Results>,
    /// Whether its folder has a report.
    pub report: bool,
    /// What of it is missing or cannot be read, in words.
    pub trouble: Vec<String>,
}

impl RunEntry {
    /// When it was begun, as `2026-11-20 21:24:45` (UTC), if its name begins with it.
    pub fn begun(&self) -> Option<String> {
        let stamp = self.name.get(..15)?.as_bytes();
        let digits = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
        if stamp[8] != b'T' || !digits(&stamp[..8]) || !digits(&stamp[9..]) {
            return None;
        }
        let part = |from: usize, until: usize| &self.name[from..until];
        Some(format!(
            "{}-{}-{} {}:{}:{}",
            part(0, 4),
            part(4, 6),
            part(6, 8),
            part(9, 11),
            part(11, 13),
            part(13, 15)
        ))
    }

    /// Its verdict in one word; `not checked` if there is none.
    pub fn verdict(&self) -> String {
        let told = self.results.as_ref().map(|results| results.verdict.to_string());
        told.unwrap_or_else(|| "not checked".into())
    }

    /// Anomalies that are news: neither advisory nor accepted.
    pub fn news(&self) -> impl Iterator<Item = &Anomaly> {
        let all = self.results.iter().flat_map(|results| &results.anomalies);
        all.filter(|anomaly| !anomaly.advisory && !anomaly.accepted)
    }
}

/// Writes the page to the path; runs are listed newest first, however they are given. It links to `NAME/report.html`.
///
/// # Errors
/// If it cannot be written.
pub fn write(folder: &str, mut runs: Vec<RunEntry>, path: &Path) -> Result<()> {
    runs.sort_by(|a, b| b.begun().cmp(&a.begun()).then_with(|| b.name.cmp(&a.name)));
    crate::publish(path, page(folder, &runs)).with_context(|| format!("cannot write {}", path.display()))
}

/// The whole page: what came of the runs in a line, the means to filter, and the table.
fn page(folder: &str, runs: &[RunEntry]) -> String {
    let title = format!("Index of {}/", text::clip(folder, 80));
    let body = html! {
        main {
            h1 { (title) }
            p.sums { (sums(runs)) }
            (filters(runs))
            (table(runs))
        }
    };
    Document {
        title: &title,
        styles: &STYLES,
        class: "index",
        body,
        scripts: &SCRIPTS,
        ..Document::default()
    }
    .page()
}

/// `41 runs: 24 valid, 15 invalid (2 with new anomalies), 1 unknown, 1 not checked`.
fn sums(runs: &[RunEntry]) -> String {
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
fn filters(runs: &[RunEntry]) -> Markup {
    let plans = runs.iter().filter_map(|run| run.plan.as_ref());
    let variants: BTreeSet<String> = plans.map(|plan| plan.workload.name()).collect();
    let faults: BTreeSet<String> = runs.iter().flat_map(faults).collect();
    let verdicts: BTreeSet<String> = runs.iter().map(RunEntry::verdict).collect();
    html! {
        form.js.tools role="search" {
            label { "find " input #find type="search" placeholder="seed, anomaly, name …"; }
            (select("verdict", &verdicts))
            (select("variant", &variants))
            (select("fault", &faults))
            label { input #new type="checkbox"; " new anomalies only" }
            output #count {}
        }
    }
}

fn select(name: &str, values: &BTreeSet<String>) -> Markup {
    html! {
        label {
            (name) " "
            select id=(name) {
                option value="" { "all" }
                @for value in values.iter().take(500).map(|value| text::clip(value, 80)) {
                    option value=(value) { (value) }
                }
            }
        }
    }
}

fn table(runs: &[RunEntry]) -> Markup {
    html! {
        div.wide {
            table.runs {
                thead {
                    tr {
                        @for (i, (head, down)) in HEADS.iter().enumerate() {
                            // The list comes sorted by its first column.
                            th scope="col" aria-sort=[(i == 0).then_some("descending")] data-down[*down] { (head) }
                        }
                    }
                }
                tbody { "\n" @for run in runs { (row(run)) "\n" } }
            }
        }
    }
}

/// The kinds of fault that were asked for; `none` if the plan has none.
fn faults(run: &RunEntry) -> Vec<String> {
    match &run.plan {
        Some(plan) if plan.faults.is_empty() => vec!["none".into()],
        Some(plan) => plan.faults.iter().map(|fault| text::clip(fault, 40)).collect(),
        None => Vec::new(),
    }
}

/// The row; `data-value` is what a cell is sorted by where its text would not do.
fn row(run: &RunEntry) -> Markup {
    let plan = run.plan.as_ref();
    let variant = plan
        .map(|plan| text::clip(&plan.workload.name(), 80))
        .unwrap_or_default();
    let faults = faults(run);
    let windows = run.results.as_ref().map_or(&[][..], |results| &results.windows);
    let counting = windows.iter().filter(|window| window.counts).count();
    let seed = plan.map(|plan| plan.seed.to_string()).unwrap_or_default();
    let length = plan.map_or(0, |plan| plan.time_ms);
    let new = run.news().count();
    // What is new weighs more than any number of what is known.
    let weight = new * 1_000_000 + anomalies(run).len();
    html! {
        tr data-verdict=(run.verdict()) data-variant=(variant) data-faults=(text::clip(&faults.join(" "), 400)) data-new=(new) {
            td { (report(run, &run.begun().unwrap_or_default())) }
            td { b { (variant) } @if is_simulated(run) { " " small { "simulated" } } }
            td { (text::clip(&faults.join(", "), 200)) }
            td.n data-value=(seed) { (seed) }
            td data-value=(rank(run)) { (verdict(run)) }
            td data-value=(weight) { (kinds(run)) }
            td.n data-value=(counting) { @if run.results.is_some() { (counting) " of " (windows.len()) } }
            td.n data-value=(length) {
                @if plan.is_some() { (text::millis(length)) }
            }
            td { (link(run)) }
        }
    }
}

fn anomalies(run: &RunEntry) -> &[Anomaly] {
    run.results.as_ref().map_or(&[], |results| &results.anomalies)
}

/// The worse, the smaller.
fn rank(run: &RunEntry) -> usize {
    let order = ["invalid", "unknown", "not checked", "valid"];
    order
        .iter()
        .position(|verdict| *verdict == run.verdict())
        .unwrap_or(order.len())
}

fn verdict(run: &RunEntry) -> Markup {
    let (class, sign) = match run.verdict().as_str() {
        "valid" => ("valid", "✓"),
        "invalid" => ("invalid", "✗"),
        "unknown" => ("unknown", "?"),
        _ => ("unchecked", "–"),
    };
    html! { span class={ "v-" (class) } { (sign) " " (run.verdict()) } }
}

/// Anomalies by kind and by what they mean for the verdict, the news first.
fn kinds(run: &RunEntry) -> Markup {
    let mut kinds: BTreeMap<(bool, bool, &str), usize> = BTreeMap::new();
    for anomaly in anomalies(run) {
        *kinds
            .entry((anomaly.advisory, anomaly.accepted, &anomaly.kind))
            .or_default() += 1;
    }
    html! {
        @for ((advisory, accepted, kind), n) in kinds.iter().take(KINDS) {
            @let (class, note) = match (advisory, accepted) {
                (true, _) => ("advisory", "advisory"),
                (false, true) => ("violation known", "known"),
                (false, false) => ("violation", "new"),
            };
            span class={ "badge " (class) } { (text::clip(kind, 60)) " × " (n) " " i { (note) } } " "
        }
        @if kinds.len() > KINDS { "and " (text::count(kinds.len() - KINDS, "more kind")) }
        @if let Some(words) = headline(run) { small.headline { (words) } }
        @if let Some(reason) = reason(run) { small { (reason) } }
    }
}

/// What broke, in a sentence: of what is new, else of what is known.
fn headline(run: &RunEntry) -> Option<String> {
    let known = || anomalies(run).iter().find(|anomaly| !anomaly.advisory);
    let first = run.news().next().or_else(known)?;
    Some(text::clip(text::first_sentence(&first.why), 240))
}

fn is_simulated(run: &RunEntry) -> bool {
    run.plan.as_ref().is_some_and(|plan| !plan.on.is_real())
}

/// Why an unknown verdict is none, in short.
fn reason(run: &RunEntry) -> Option<String> {
    let unknown = run.results.iter().filter(|results| results.verdict == Verdict::Unknown);
    let mut reasons = unknown.flat_map(|results| &results.reasons);
    let first = reasons.find(|reason| !reason.starts_with("note: "))?;
    Some(text::clip(first, 160))
}

/// Words that lead to the report, if there is one.
fn report(run: &RunEntry, words: &str) -> Markup {
    html! {
        @if run.report {
            a href={ (address(&run.name)) "/report.html" } { (words) }
        } @else {
            (words)
        }
    }
}

/// The run's name, which leads to its report, and what is wrong with it.
fn link(run: &RunEntry) -> Markup {
    html! {
        (report(run, &text::clip(&run.name, 120)))
        @for words in run.trouble.iter().take(4) { br; small { (text::clip(words, 300)) } }
    }
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
