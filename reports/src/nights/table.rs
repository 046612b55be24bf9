//! The nights themselves, the newest first.

use super::{NightLine, Nights};
use crate::html::titled;
use crate::{lists, text};
use maud::{Markup, html};

const HEADS: [&str; 9] = [
    "night",
    "begun (UTC)",
    "campaign",
    "part",
    "cells",
    "runs took",
    "zooquake",
    "ZooKeeper",
    "commit",
];

pub fn section(nights: &Nights) -> Markup {
    let body = html! {
        div.wide {
            table.trends {
                thead { tr { @for head in HEADS { th scope="col" { (head) } } } }
                tbody { "\n" @for night in nights.nights.iter().rev() { (row(night)) "\n" } }
            }
        }
    };
    titled("nights", &format!("Nights ({})", nights.nights.len()), body)
}

fn row(night: &NightLine) -> Markup {
    let name = text::clip(&night.name, 60);
    html! {
        tr {
            td {
                @match &night.page {
                    Some(page) => a href=(text::visible(page)) { (name) },
                    None => (name),
                }
            }
            td { (text::clip(&night.begun, 40)) }
            td { (text::clip(&night.campaign, 60)) }
            td { (night.shard.as_deref().map_or_else(String::new, |shard| text::clip(shard, 20))) }
            td { (cells(night)) }
            td { (text::duration((night.seconds.max(0.0) * 1e9) as u64)) }
            td { (text::clip(&night.zooquake, 60)) }
            td { (text::clip(&night.zookeeper, 60)) }
            td { (night.checkout.as_deref().map_or_else(String::new, |commit| text::clip(commit, 12))) }
        }
    }
}

/// `1 × new anomaly, 18 × as expected; not ended`.
fn cells(night: &NightLine) -> String {
    let counts = night.outcomes.iter();
    let counts = counts.map(|(outcome, count)| format!("{count} × {}", outcome.words()));
    lists::joined(counts, ", ") + if night.closed { "" } else { "; not ended" }
}
