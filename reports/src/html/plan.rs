//! Reasons and notes, the plan, and what the checkers counted.

use super::{table, titled};
use crate::model::RunModel;
use crate::text;
use serde_json::Value;
use std::collections::BTreeMap;

/// The most of the plan that is shown, in characters.
const PLAN: usize = 60_000;

pub fn section(model: &RunModel<'_>) -> String {
    let mut out = vec![titled("reasons", "Reasons and notes", &reasons(model))];
    out.push(titled(
        "stats",
        "What the checkers looked at",
        &(values(&model.results.checkers) + &values(&model.results.stats)),
    ));
    let plan = serde_json::to_string_pretty(&model.record.plan).unwrap_or_else(|e| e.to_string());
    let cut = if plan.len() > PLAN {
        "<p>Cut; all of it is in plan.json.</p>"
    } else {
        ""
    };
    let plan: String = plan.chars().take(PLAN).collect();
    let body = format!(
        "<details><summary>All that decided the run, as JSON</summary><pre>{}</pre>{cut}</details>\n",
        text::escape(&plan)
    );
    out.push(titled("plan", "Plan", &body));
    out.join("\n")
}

fn reasons(model: &RunModel<'_>) -> String {
    let timing = &model.record.plan.cluster.timing;
    let session = model.results.reasons.iter().map(|r| text::html(r, 600));
    let damage = model.record.damage.iter();
    let damage = damage.map(|d| format!("damage: {}", text::html(d, 600)));
    let left = model.results.not_judged.iter();
    let left = left.map(|left| {
        format!(
            "not judged: {}: {}",
            text::html(&left.check, 60),
            text::html(&left.why, 600)
        )
    });
    let items = session
        .chain(left)
        .chain(damage)
        .take(200)
        .map(|r| format!("<li>{r}</li>"))
        .collect::<String>();
    format!(
        "<ul class=\"facts\">{items}<li>timing: tickTime {} ms, initLimit {}, syncLimit {}, session timeout {} ms</li></ul>\n",
        timing.tick_ms, timing.init_limit, timing.sync_limit, timing.session_ms
    )
}

fn values(map: &BTreeMap<String, Value>) -> String {
    if map.is_empty() {
        return String::new();
    }
    let rows = map
        .iter()
        .take(200)
        .map(|(k, v)| [text::html(k, 60), text::escape(&text::value(&v.clone().into(), 400))]);
    table("values", ["name", "value"], rows)
}
