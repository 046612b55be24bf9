//! What took part in a run, in a line.

use super::messages;
use crate::model::RunModel;
use crate::text;
use maud::{Markup, html};
use std::collections::BTreeSet;
use zooquake_history::plan::On;

/// That no ZooKeeper took part, if none did.
pub fn simulated(model: &RunModel<'_>) -> Markup {
    match model.record.plan.on {
        On::Docker => Markup::default(),
        On::Network => html! {
            p.note.simulated { b { "The network was simulated" } ", in virtual time. No ZooKeeper took part." }
        },
        On::Sim => html! {
            p.note.simulated {
                b { "The ensemble was simulated" } ": a model of ZooKeeper in virtual time. No ZooKeeper took part; "
                code { "replay --on docker" } " runs the plan on a real ensemble."
            }
        },
    }
}

/// `523 operations and 26 control requests`: the timeline shows both.
pub fn operations(model: &RunModel<'_>) -> String {
    let control = model.ops.iter().filter(|op| op.control).count();
    let operations = text::count(model.ops.len() - control, "operation");
    match control {
        0 => operations,
        some => format!("{operations} and {}", text::count(some, "control request")),
    }
}

/// `3 servers and 1 observer of ZooKeeper 3.8.0`: the versions are those that the servers report.
pub fn ensemble(model: &RunModel<'_>) -> String {
    let cluster = &model.record.plan.cluster;
    let observers = text::if_any(cluster.observers, |some| {
        format!(" and {}", text::count(some, "observer"))
    });
    if let Some(nodes) = messages::nodes(model) {
        return text::count(nodes, "node");
    }
    if !model.record.plan.on.is_real() {
        return text::count(cluster.servers, "simulated server") + &observers;
    }
    let samples = model.record.servers.iter().flatten();
    let versions = samples.map(|sample| sample.version.as_str());
    let versions: BTreeSet<&str> = versions.filter(|version| !version.is_empty()).collect();
    let versions: Vec<&str> = versions.into_iter().take(4).collect();
    let of = match versions.as_slice() {
        [] => String::new(),
        versions => format!(" of ZooKeeper {}", text::clip(&versions.join(" and "), 60)),
    };
    format!("{}{observers}{of}", text::count(cluster.servers, "server"))
}
