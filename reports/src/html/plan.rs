//! Reasons and notes, what the checkers counted, and the plan, with what recorded the run and what checked its record.

use super::{table, titled};
use crate::model::RunModel;
use crate::text;
use maud::{Markup, html};
use serde_json::Value;
use std::collections::BTreeMap;
use zooquake_history::Provenance;

/// The most of the plan that is shown, in characters.
const PLAN: usize = 60_000;

/// The three sections.
pub fn section(model: &RunModel<'_>) -> Markup {
    let plan = serde_json::to_string_pretty(&model.record.plan).unwrap_or_else(|e| e.to_string());
    let shown: String = plan.chars().take(PLAN).collect();
    let looked_at = html! {
        details {
            summary { "How much each check looked at, and all figures of the results" }
            (values(&model.results.checkers))
            (values(&model.results.stats))
        }
    };
    let details = html! {
        (provenance(model))
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

/// What recorded the run and what checked its record, with what the run took place on; nothing where neither is given.
fn provenance(model: &RunModel<'_>) -> Markup {
    let recorded = model.record.provenance.as_ref();
    let checker = Some(model.extras.checked_by.as_str()).filter(|checker| !checker.is_empty());
    let checked = checker.map(|checker| format!("checked by zooquake {checker}"));
    let items: Vec<String> = recorded.into_iter().flat_map(origin).chain(checked).collect();
    if items.is_empty() {
        return Markup::default();
    }
    html! {
        ul.facts { @for item in items { li { (text::clip(&item, 200)) } } }
    }
}

/// What a record has of its origin, in words.
fn origin(provenance: &Provenance) -> Vec<String> {
    let recorder = provenance.recorder();
    let zookeeper = Some(provenance.zookeeper().join(", ")).filter(|versions| !versions.is_empty());
    let text = |name| provenance.text(name).map(str::to_owned);
    let all = [
        ("recorded by zooquake ", recorder),
        ("backend: ", text(Provenance::ON)),
        ("engine: ", text(Provenance::ENGINE)),
        ("ZooKeeper, as its servers reported: ", zookeeper),
        ("image of the recipe's clients: ", text(Provenance::RECIPE)),
    ];
    all.into_iter()
        .filter_map(|(what, value)| Some(format!("{what}{}", value?)))
        .collect()
}
