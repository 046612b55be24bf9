//! The hosts of a run over several: what stood on each, and what was measured of the way there.

use crate::model::RunModel;
use crate::{lists, text};
use maud::{Markup, html};
use zooquake_history::Value;

/// Nothing for a run that stood on one.
pub fn list(model: &RunModel<'_>) -> Markup {
    let planned = &model.record.plan.cluster;
    if planned.hosts.is_empty() {
        return Markup::default();
    }
    let mut events = model.record.history.events.iter();
    let measured = events.find(|event| event.f == "hosts" && event.is_of("run"));
    let measured = |name: &str| {
        let all = measured?.value.as_array()?;
        all.iter().find(|host| host["host"].as_str() == Some(name))
    };
    let items = planned
        .host_names()
        .into_iter()
        .zip(&planned.hosts)
        .map(|(name, host)| {
            let found = measured(&name);
            let facts = found.and_then(round_trips).into_iter().chain(found.and_then(clock));
            let nodes = text::clip(&host.nodes.join(", "), 300);
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
