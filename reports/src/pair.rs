//! Two runs side by side: what differs in their plans, verdicts, faults and times.

use crate::html::{self, Document, titled};
use crate::model::{OpStats, RunModel, op_stats};
use crate::svg::{legend, overview};
use crate::{Extras, palette, text};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use zooquake_checkers::results::WindowResult;
use zooquake_checkers::{Record, Results};

/// How many rows a table has at most.
const ROWS: usize = 500;

/// One of the two.
pub type Side<'a> = (&'a Record, &'a Results, &'a Extras);

/// The page of two runs.
pub fn page(sides: [Side<'_>; 2]) -> String {
    let both = sides.map(|(record, results, extras)| RunModel::new(record, results, extras));
    let sections = [
        head(&both),
        titled("plans", "Plans", &plans(&both)),
        titled("anomalies", "Anomalies", &anomalies(&both)),
        titled("windows", "Fault windows", &windows(&both)),
        titled("numbers", "Operations", &operations(&both)),
        picture(&both[0], "A"),
        picture(&both[1], "B"),
    ];
    let body = format!("{}\n<main>{}</main>", palette::hatches(), sections.join("\n"));
    Document {
        title: &format!("{} and {}", verdict(&both[0]), verdict(&both[1])),
        styles: &[
            html::PAGE_STYLE,
            &palette::fault_styles(),
            html::PICTURE_STYLE,
            include_str!("../assets/pair.css"),
        ],
        class: "pair",
        body: &body,
        ..Document::default()
    }
    .page()
}

fn verdict(model: &RunModel<'_>) -> String {
    model.results.verdict.to_string()
}

fn head(both: &[RunModel<'_>; 2]) -> String {
    let [a, b] = both;
    let says = match a.results.verdict == b.results.verdict {
        true => format!("Both are {}", verdict(a)),
        false => format!("A is {}, B is {}", verdict(a), verdict(b)),
    };
    let side = |name: &str, model: &RunModel<'_>| {
        let facts = [
            text::html(&model.record.plan.workload.name(), 80),
            format!("seed {}", model.record.plan.seed),
            text::duration(model.end),
        ];
        format!(
            "<div class=\"side\"><b class=\"letter\">{name}</b><div><p><b class=\"is {v}\">{v}</b> {}</p><p class=\"facts\">{}</p></div></div>",
            facts.join(" · "),
            text::html(&model.extras.run_name, 120),
            v = verdict(model),
        )
    };
    format!(
        "<header id=\"first\"><h1>{says}</h1>\n<div class=\"sides\">{}{}</div></header>",
        side("A", a),
        side("B", b)
    )
}

/// The settings of a plan, by their places in it; those that a table of their own shows are left out.
fn settings(place: &str, value: &Value, into: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields
                .iter()
                .filter(|(name, _)| !matches!(name.as_str(), "windows" | "scenes"))
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

fn plans(both: &[RunModel<'_>; 2]) -> String {
    let all = both.each_ref().map(|model| {
        let mut all = BTreeMap::new();
        // A plan that was read can be written.
        settings(
            "",
            &serde_json::to_value(&model.record.plan).unwrap_or_default(),
            &mut all,
        );
        all
    });
    let names: BTreeSet<&String> = all.iter().flat_map(BTreeMap::keys).collect();
    let mut rows = names
        .into_iter()
        .filter(|name| all[0].get(*name) != all[1].get(*name))
        .peekable();
    if rows.peek().is_none() {
        return "<p>They are the same but for their faults.</p>\n".into();
    }
    let cell = |of: &BTreeMap<String, String>, name: &String| {
        of.get(name).map_or("–".into(), |value| text::html(value, 300))
    };
    let row = |name: &String| [text::html(name, 80), cell(&all[0], name), cell(&all[1], name)];
    html::table("settings", ["setting", "A", "B"], rows.take(ROWS).map(row))
}

fn anomalies(both: &[RunModel<'_>; 2]) -> String {
    let mut kinds: BTreeMap<(bool, &str, &str), [usize; 2]> = BTreeMap::new();
    for (side, model) in both.iter().enumerate() {
        for anomaly in &model.results.anomalies {
            let kind = (anomaly.advisory, anomaly.kind.as_str(), anomaly.property.as_str());
            kinds.entry(kind).or_default()[side] += 1;
        }
    }
    if kinds.is_empty() {
        return "<p>None in either.</p>\n".into();
    }
    let row = |(&(advisory, kind, property), counts): (&(bool, &str, &str), &[usize; 2])| {
        let note = if advisory { " <small>advisory</small>" } else { "" };
        let [a, b] = counts.map(text::grouped);
        let only = match counts {
            [_, 0] => "only in A",
            [0, _] => "only in B",
            _ => "",
        };
        [
            format!("{}{note}", text::html(kind, 60)),
            text::html(property, 80),
            a,
            b,
            only.into(),
        ]
    };
    html::table(
        "kinds",
        ["anomaly", "breaks", "A", "B", ""],
        kinds.iter().take(ROWS).map(row),
    )
}

/// What a window did, in one cell.
fn window(window: Option<&&WindowResult>) -> String {
    let Some(window) = window else { return "–".into() };
    let Some(from) = window.from else {
        return "never began".into();
    };
    let until = window.until.map_or("never healed".into(), text::moment);
    let counts = if window.counts {
        "<b class=\"yes\">✓</b>"
    } else {
        "<b class=\"no\">✗</b>"
    };
    format!(
        "{counts} {}, {} – {until}",
        text::html(&window.target, 60),
        text::moment(from)
    )
}

fn windows(both: &[RunModel<'_>; 2]) -> String {
    let all = both.each_ref().map(|model| {
        let windows = model.results.windows.iter().map(|window| (window.id, window));
        windows.collect::<BTreeMap<_, _>>()
    });
    let ids: BTreeSet<usize> = all.iter().flat_map(|of| of.keys().copied()).collect();
    if ids.is_empty() {
        return "<p>None were planned.</p>\n".into();
    }
    let kinds = |id: usize| {
        let kinds: BTreeSet<&str> = all.iter().filter_map(|of| Some(of.get(&id)?.fault.as_str())).collect();
        let key = |kind: &&str| {
            format!(
                "<i class=\"key fault {}\"></i>{}",
                palette::fault_class(kind),
                text::html(kind, 40)
            )
        };
        kinds.iter().map(key).collect::<Vec<_>>().join(", ")
    };
    let row = |&id: &usize| {
        [
            id.to_string(),
            kinds(id),
            window(all[0].get(&id)),
            window(all[1].get(&id)),
        ]
    };
    let counted = both.each_ref().map(|model| {
        let windows = &model.results.windows;
        format!(
            "{} of {}",
            windows.iter().filter(|window| window.counts).count(),
            windows.len()
        )
    });
    format!(
        "<p>Counted: {} in A, {} in B.</p>\n{}",
        counted[0],
        counted[1],
        html::table("windows", ["no.", "fault", "A", "B"], ids.iter().take(ROWS).map(row))
    )
}

fn operations(both: &[RunModel<'_>; 2]) -> String {
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
            text::html(f, 40),
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
    html::table("numbers", heads, rows)
}

fn picture(model: &RunModel<'_>, name: &str) -> String {
    let drawn = overview::draw(model, &format!("overview-{name}")) + &legend::overview(model);
    titled(&format!("run-{name}"), &format!("The whole run {name}"), &drawn)
}
