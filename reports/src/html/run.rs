//! The whole run: the timeline that zooms or, where there is no JavaScript and on paper, the overview; and the hosts
//! and containers that it stood on.

use super::first_screen;
use crate::model::RunModel;
use crate::svg::{legend, overview};
use crate::{lists, text};
use maud::{Markup, html};
use zooquake_history::{Host, Value, node};

pub fn section(model: &RunModel<'_>) -> Markup {
    let body = html! {
        (cut_off(model))
        @if !first_screen::shows_run(model) { (picture(model)) }
        (hosts(model))
        (confinement(model))
    };
    match body.0.is_empty() {
        true => body,
        false => super::titled("run", "The whole run", body),
    }
}

/// The timeline or, without JavaScript and on paper, the overview, and what their marks mean.
pub fn picture(model: &RunModel<'_>) -> Markup {
    html! {
        div.no-js { (overview::draw(model, "overview")) }
        (timeline())
        (legend::overview(model))
        noscript {
            p.note { "The timeline that zooms needs JavaScript; everything else on this page does not." }
        }
    }
}

/// That the history ends early, if it does and the run is over.
fn cut_off(model: &RunModel<'_>) -> Markup {
    let last = model.phases.last().map(|phase| text::visible(&phase.name));
    match last.as_deref().unwrap_or_default() {
        _ if model.extras.progress.is_some() => Markup::default(),
        "done" => Markup::default(),
        "" => html! { p.note { "The history contains no phases." } },
        last => html! { p.note { "The history ends in phase “" (last) "”: the run was cut off." } },
    }
}

/// What the run's containers could do; nothing for a history without the event.
fn confinement(model: &RunModel<'_>) -> Markup {
    if !model.record.plan.on.is_real() {
        return Markup::default();
    }
    let mut events = model.record.history.events.iter();
    let Some(event) = events.find(|event| event.f == "confinement" && event.is_of("run")) else {
        return Markup::default();
    };
    let confinement = &event.value;
    let limits = [
        ("internal_network", "a network without a way out"),
        ("no_new_privileges", "no new privileges"),
    ];
    let limits = limits.into_iter().filter(|(name, _)| confinement[*name] == true);
    let security = match names(&confinement["security"]) {
        none if none.is_empty() => "the engine confines system calls no further".to_string(),
        options => format!("security options of the engine: {options}"),
    };
    let facts = limits.map(|(_, words)| words.to_string()).chain([security]);
    let roles = confinement["containers"].as_array().into_iter().flatten().map(|one| {
        let capabilities = Some(names(&one["capabilities"])).filter(|names| !names.is_empty());
        let limit = |name: &str| {
            one[name]
                .as_u64()
                .map_or("any number".to_string(), |most| most.to_string())
        };
        format!(
            "{} as {}: capabilities {}, MiB of memory {}, processes {}",
            one["role"].as_str().unwrap_or("containers"),
            one["user"]
                .as_str()
                .map_or("the user of the image".to_string(), |user| format!("user {user}")),
            capabilities.unwrap_or_else(|| "none".to_string()),
            limit("memory_mib"),
            limit("pids"),
        )
    });
    let items = std::iter::once(lists::joined(facts, "; ")).chain(roles);
    html! {
        details {
            summary { "What the containers could do" }
            ul.facts { @for item in items { li { (text::clip(&item, 300)) } } }
        }
    }
}

/// Texts of a list, with commas.
fn names(list: &Value) -> String {
    lists::joined(list.as_array().into_iter().flatten().filter_map(Value::as_str), ", ")
}

/// The timeline, empty: the script draws it.
fn timeline() -> Markup {
    html! {
        div #timeline .js {
            div.tools role="toolbar" aria-label="Timeline" {
                (button("in", "+", "zoom in (+)"))
                (button("out", "−", "zoom out (−)"))
                (button("left", "←", "earlier (←)"))
                (button("right", "→", "later (→)"))
                (button("all", "whole run", "the whole run (0)"))
                output #range {}
                span #filters {}
            }
            div #chosen .tools hidden {
                b #chosen-name {} " "
                span { "only the steps that prove it" }
                label { input #around type="checkbox"; " and what happened around them" }
                (button("previous", "previous", "the anomaly before (p)"))
                (button("next", "next", "the next anomaly (n)"))
                (button("all", "back to the whole run", "back to the whole run (Escape)"))
            }
            div.stage {
                canvas #navigator aria-hidden="true" {}
                canvas #canvas tabindex="0" role="application" aria-label="Timeline of all operations"
                    aria-describedby="hint range" {}
                div #tip role="status" {}
            }
            div #proof {}
            p #hint .hint {
                "Drag to move; shift and drag, or drag in the strip, to zoom into a part; Ctrl and wheel, or wheel \
                 after a click, or two fingers, to zoom; keys ← → + − 0, n and p for anomalies. Point at a bar to see \
                 its operation."
            }
        }
    }
}

/// A button that moves the timeline.
fn button(motion: &str, words: &str, label: &str) -> Markup {
    html! { button type="button" data-do=(motion) aria-label=(label) title=(label) { (words) } }
}

/// The hosts of a run over several: what stood on each, and what was measured of the way there. Nothing for a run that
/// stood on one.
fn hosts(model: &RunModel<'_>) -> Markup {
    let planned = &model.record.plan.cluster;
    if planned.hosts.is_empty() {
        return Markup::default();
    }
    let mut events = model.record.history.events.iter();
    let measured = events.find(|event| event.f == "hosts" && event.is_of("run"));
    let measured = |name: &Host| {
        let all = measured?.value.as_array()?;
        all.iter()
            .find(|host| host["host"].as_str().is_some_and(|other| *name == *other))
    };
    let items = planned.named_hosts().map(|(name, host)| {
        let found = measured(&name);
        let facts = found.and_then(round_trips).into_iter().chain(found.and_then(clock));
        let nodes = text::clip(&node::join(&host.nodes, ", "), 300);
        format!(
            "{name}, {}: {nodes}. {}",
            text::clip(&host.address, 80),
            lists::joined(facts, " ")
        )
    });
    html! {
        h3 #hosts { "Hosts" }
        p.note {
            "The recorder alone stamps events, and no two clocks are compared; a round trip widens the intervals of the operations of \
             that host's clients."
        }
        ul.facts { @for item in items.take(64) { li { (text::clip(&item, 500)) } } }
    }
}

fn round_trips(host: &Value) -> Option<String> {
    let trips = &host["round_trips"];
    let ms = |name: &str| Some(trips[name].as_u64()? as f64 / 1_000.0);
    let over = text::clip(host["over"].as_str().unwrap_or_default(), 40);
    Some(format!(
        "Round trip over {over}: median {:.1} ms, at most {:.1} ms of {}.",
        ms("median_us")?,
        ms("worst_us")?,
        trips["count"].as_u64()?
    ))
}

fn clock(host: &Value) -> Option<String> {
    let clock = &host["clock"];
    let (ahead, within) = (clock["ahead_ms"].as_i64()?, clock["within_ms"].as_u64()?);
    let way = if ahead < 0 { "behind" } else { "ahead of" };
    Some(format!(
        "Its clock is {} ms {way} the recorder's, to {within} ms: so are the times in the logs of its servers.",
        ahead.unsigned_abs()
    ))
}
