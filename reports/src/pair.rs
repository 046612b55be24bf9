//! Two runs side by side: what differs in their plans, verdicts, faults and times.

use crate::html::{Document, PAGE_STYLE, PICTURE_STYLE, counted, fault, mark, plain, table, titled};
use crate::model::{OpStats, RunModel, op_stats};
use crate::svg::{legend, overview};
use crate::{Extras, palette, text};
use maud::{Markup, html};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use zooquake_checkers::Results;
use zooquake_checkers::results::WindowResult;
use zooquake_history::Record;

/// How many rows a table has at most.
const ROWS: usize = 500;

/// One of the two.
pub type Side<'a> = (&'a Record, &'a Results, &'a Extras);

/// The page of two runs.
pub fn page(sides: [Side<'_>; 2]) -> String {
    let both = sides.map(|(record, results, extras)| RunModel::new(record, results, extras));
    let [a, b] = &both;
    let body = html! {
        (palette::hatches()) "\n"
        main {
            (head(&both)) "\n"
            (titled("plans", "Plans", plans(&both))) "\n"
            (titled("anomalies", "Anomalies", anomalies(&both))) "\n"
            (titled("windows", "Fault windows", windows(&both))) "\n"
            (titled("numbers", "Operations", operations(&both))) "\n"
            (picture(a, "A")) "\n"
            (picture(b, "B"))
        }
    };
    Document {
        title: &format!("{} and {}", a.results.verdict, b.results.verdict),
        styles: &[
            PAGE_STYLE,
            &palette::fault_styles(),
            PICTURE_STYLE,
            include_str!("../assets/pair.css"),
        ],
        class: "pair",
        body,
        ..Document::default()
    }
    .page()
}

fn head([a, b]: &[RunModel<'_>; 2]) -> Markup {
    let words = match (a.results.verdict, b.results.verdict) {
        (a, b) if a == b => format!("Both are {a}"),
        (a, b) => format!("A is {a}, B is {b}"),
    };
    html! {
        header #first {
            h1 { (words) }
            div.sides { (side("A", a)) (side("B", b)) }
        }
    }
}

fn side(name: &str, model: &RunModel<'_>) -> Markup {
    let verdict = model.results.verdict;
    html! {
        div.side {
            b.letter { (name) }
            div {
                p {
                    b class={ "is " (verdict) } { (verdict) } " "
                    (text::clip(&model.record.plan.workload.name(), 80)) " · seed " (model.record.plan.seed) " · "
                    (text::duration(model.end))
                }
                p.facts { (text::clip(&model.extras.run_name, 120)) }
            }
        }
    }
}

/// The settings of a plan, by their places in it. Those that a table of their own shows are left out, and the names of
/// the record's files, which follow from the others.
fn settings(place: &str, value: &Value, into: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields
                .iter()
                .filter(|(name, _)| !matches!(name.as_str(), "windows" | "scenes" | "record"))
            {
                let inner = if place.is_empty() {
                    name.clone()
                } else {
                    format!("{place}.{name}")
                };
                settings(&inner, value, into);
            }
        }
        Value::String(text) => drop(into.insert(place.to_owned(), text.clone())),
        other => drop(into.insert(place.to_owned(), other.to_string())),
    }
}

fn plans(both: &[RunModel<'_>; 2]) -> Markup {
    let all = both.each_ref().map(|model| {
        let mut all = BTreeMap::new();
        // A plan that was read can be written.
        let plan = serde_json::to_value(&model.record.plan).unwrap_or_default();
        settings("", &plan, &mut all);
        all
    });
    let names: BTreeSet<&String> = all.iter().flat_map(BTreeMap::keys).collect();
    let mut rows = names
        .into_iter()
        .filter(|name| all[0].get(*name) != all[1].get(*name))
        .peekable();
    if rows.peek().is_none() {
        return html! { p { "They are the same but for their faults." } };
    }
    let cell = |settings: &BTreeMap<String, String>, name: &String| {
        settings.get(name).map_or("–".into(), |value| text::clip(value, 300))
    };
    let row = |name: &String| [text::clip(name, 80), cell(&all[0], name), cell(&all[1], name)];
    table("settings", ["setting", "A", "B"], rows.take(ROWS).map(row))
}

fn anomalies(both: &[RunModel<'_>; 2]) -> Markup {
    let mut kinds: BTreeMap<(bool, &str, &str), [usize; 2]> = BTreeMap::new();
    for (side, model) in both.iter().enumerate() {
        for anomaly in &model.results.anomalies {
            let kind = (anomaly.advisory, anomaly.kind.as_str(), anomaly.property.as_str());
            kinds.entry(kind).or_default()[side] += 1;
        }
    }
    if kinds.is_empty() {
        return html! { p { "None in either." } };
    }
    let row = |(&(advisory, kind, property), counts): (&(bool, &str, &str), &[usize; 2])| {
        let [a, b] = counts.map(text::grouped);
        let only = match counts {
            [_, 0] => "only in A",
            [0, _] => "only in B",
            _ => "",
        };
        let kind = html! {
            (text::clip(kind, 60))
            @if advisory { " " small { "advisory" } }
        };
        [kind, plain(text::clip(property, 80)), plain(a), plain(b), plain(only)]
    };
    table(
        "kinds",
        ["anomaly", "breaks", "A", "B", ""],
        kinds.iter().take(ROWS).map(row),
    )
}

/// What a window did, in one cell.
fn window(window: Option<&&WindowResult>) -> Markup {
    let Some(window) = window else { return plain("–") };
    let Some(from) = window.from else {
        return plain("never began");
    };
    let until = window.until.map_or("never healed".into(), text::moment);
    html! {
        (mark(window.counts, ["", ""])) " " (text::clip(&window.target, 60)) ", " (text::moment(from)) " – " (until)
    }
}

fn windows(both: &[RunModel<'_>; 2]) -> Markup {
    let all = both.each_ref().map(|model| &model.results.windows);
    let all = all.map(|windows| {
        windows
            .iter()
            .map(|window| (window.id, window))
            .collect::<BTreeMap<_, _>>()
    });
    let ids: BTreeSet<usize> = all.iter().flat_map(|windows| windows.keys().copied()).collect();
    if ids.is_empty() {
        return html! { p { "None were planned." } };
    }
    let row = |&id: &usize| {
        let sides = [all[0].get(&id), all[1].get(&id)];
        let kinds: BTreeSet<&str> = sides.iter().flatten().map(|window| window.fault.as_str()).collect();
        let kinds = html! {
            @for (at, kind) in kinds.iter().enumerate() {
                @if at > 0 { ", " }
                (fault(kind))
            }
        };
        [plain(id), kinds, window(sides[0]), window(sides[1])]
    };
    html! {
        p { "Counted: " (counted(&both[0])) " in A, " (counted(&both[1])) " in B. Times are from the verification of the effect to the healing." }
        (table("windows", ["no.", "fault", "A", "B"], ids.iter().take(ROWS).map(row)))
    }
}

fn operations(both: &[RunModel<'_>; 2]) -> Markup {
    let stats = both.each_ref().map(|model| op_stats(&model.ops));
    let names: BTreeSet<&str> = stats.iter().flat_map(|of| of.keys().copied()).collect();
    let none = OpStats::default();
    let rows = names.into_iter().take(ROWS).map(|f| {
        let sides = [0, 1].map(|side| stats[side].get(f).unwrap_or(&none));
        let cell = |of: &dyn Fn(&OpStats) -> String| sides.map(of).join(" | ");
        let quantile = |q: f64| cell(&|of| of.quantile(q).map_or("–".into(), text::duration));
        let count = |outcome: usize| cell(&|of| text::grouped(of.counts[outcome]));
        let second = [0, 1].map(|side| format!("{:.1}", sides[side].counts[0] as f64 * 1e9 / both[side].end as f64));
        [
            text::clip(f, 40),
            count(0),
            count(1),
            count(2),
            count(3),
            second.join(" | "),
            quantile(0.5),
            quantile(0.95),
            quantile(1.0),
        ]
    });
    let heads = [
        "A | B",
        "ok",
        "fail",
        "info",
        "pending",
        "ok a second",
        "p50",
        "p95",
        "longest",
    ];
    table("numbers", heads, rows)
}

fn picture(model: &RunModel<'_>, name: &str) -> Markup {
    let body = html! { (overview::draw(model, &format!("overview-{name}"))) (legend::overview(model)) };
    titled(&format!("run-{name}"), &format!("The whole run {name}"), body)
}
