//! Reasons and notes, the plan, and what the checkers counted.

use super::{provenance, table, titled};
use crate::model::RunModel;
use crate::text;
use maud::{Markup, html};
use serde_json::Value;
use std::collections::BTreeMap;

/// The most of the plan that is shown, in characters.
const PLAN: usize = 60_000;

/// The three sections.
pub fn section(model: &RunModel<'_>) -> Markup {
    let plan = serde_json::to_string_pretty(&model.record.plan).unwrap_or_else(|e| e.to_string());
    let shown: String = plan.chars().take(PLAN).collect();
    let looked_at = html! { (values(&model.results.checkers)) (values(&model.results.stats)) };
    let details = html! {
        (provenance::list(model))
        details {
            summary { "All that decided the run, as JSON" }
            pre { (text::visible(&shown)) }
            @if plan.len() > PLAN { p { "Cut; all of it is in plan.json." } }
        }
    };
    html! {
        (titled("reasons", "Reasons and notes", reasons(model))) "\n"
        (titled("stats", "What the checkers looked at", looked_at)) "\n"
        (titled("plan", "Plan", details))
    }
}

fn reasons(model: &RunModel<'_>) -> Markup {
    let timing = &model.record.plan.cluster.timing;
    let session = model.results.reasons.iter().map(|reason| text::clip(reason, 600));
    let damage = model.record.damage.iter();
    let damage = damage.map(|damage| format!("damage: {}", text::clip(damage, 600)));
    let not_judged = model.results.not_judged.iter().map(|check| {
        let (name, why) = (text::clip(&check.check, 60), text::clip(&check.why, 600));
        format!("not judged: {name}: {why}")
    });
    html! {
        ul.facts {
            @for item in session.chain(not_judged).chain(damage).take(200) { li { (item) } }
            li {
                "timing: tickTime " (timing.tick_ms) " ms, initLimit " (timing.init_limit) ", syncLimit "
                (timing.sync_limit) ", session timeout " (timing.session_ms) " ms"
            }
        }
    }
}

fn values(map: &BTreeMap<String, Value>) -> Markup {
    if map.is_empty() {
        return Markup::default();
    }
    let rows = map.iter().take(200).map(|(name, value)| {
        [
            text::clip(name, 60),
            text::visible(&text::value(&value.clone().into(), 400)),
        ]
    });
    table("values", ["name", "value"], rows)
}
