//! The page: one file, complete without a network and without JavaScript. It has the failures, since when, until when,
//! how often and by which versions, and the nights themselves, the newest first.

use super::{FailureSighting, NightLine, Nights, RecurringFailure};
use crate::html::{Document, cause, titled};
use crate::night::CellOutcome;
use crate::night::page::{STYLES, spark};
use crate::{lists, text};
use maud::{Markup, html};

/// Reports of a failure that are linked.
const REPORTS: usize = 12;
/// Versions or commits that are named.
const NAMED: usize = 4;
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

/// The whole page.
pub fn page(nights: &Nights) -> String {
    let title = match nights.name.is_empty() {
        true => "Nights".to_string(),
        false => format!("Nights of {}/", text::clip(&nights.name, 80)),
    };
    let body = html! {
        main {
            h1 { (title) }
            p.facts { (sums(nights)) }
            (failures(nights)) "\n"
            (table(nights))
        }
    };
    Document {
        title: &title,
        styles: &STYLES,
        class: "night",
        body,
        ..Document::default()
    }
    .page()
}

/// `12 nights from 2026-11-16 to 2026-11-27; 3 failures, 1 of them in the last night`.
fn sums(nights: &Nights) -> String {
    let Some((first, last)) = nights.nights.first().zip(nights.nights.last()) else {
        return "No nights.".to_string();
    };
    let newest = nights.nights.len() - 1;
    let now = nights
        .failures
        .iter()
        .filter(|failure| failure.last() == Some(newest))
        .count();
    format!(
        "{} from {} to {}; {}, {now} of them in the last night.",
        text::count(nights.nights.len(), "night"),
        text::clip(&first.date, 20),
        text::clip(&last.date, 20),
        text::count(nights.failures.len(), "failure")
    )
}

/// The failures, what was seen last first.
fn failures(nights: &Nights) -> Markup {
    let body = html! {
        @if nights.failures.is_empty() {
            p { "No night found an anomaly that was not known." }
        } @else {
            p {
                "What was seen last comes first. In a picture each night has a place, the newest at the right: a bar up showed the failure, a dot "
                "ran the same variant under the same faults without it, a gap did not."
            }
        }
        @for one in &nights.failures { (failure(nights, one)) "\n" }
    };
    titled("failures", &format!("Failures ({})", nights.failures.len()), body)
}

fn failure(nights: &Nights, failure: &RecurringFailure) -> Markup {
    let seen: Vec<(&NightLine, &FailureSighting)> = failure
        .sightings()
        .filter_map(|(at, sighting)| Some((nights.nights.get(at)?, sighting)))
        .collect();
    html! {
        article.failure {
            h3 {
                span.badge.violation { (text::clip(&failure.anomaly, 60)) } " breaks “"
                (text::clip(&failure.property, 80)) "” · " (text::clip(&failure.variant, 80)) " under "
                (text::clip(&failure.faults, 80))
            }
            (sightings_spark(nights, failure))
            table {
                tbody {
                    (row("first seen", &sighting(seen.first())))
                    (row("last seen", &sighting(seen.last())))
                    (row("rate", &failure.rate()))
                    (row("zooquake", &named(seen.iter().map(|(night, _)| night.zooquake.as_str()))))
                    (row("ZooKeeper", &named(seen.iter().map(|(night, _)| night.zookeeper.as_str()))))
                    (row("commits", &named(seen.iter().filter_map(|(night, _)| night.checkout.as_deref()))))
                    (row("such runs took", &took(&seen)))
                }
            }
            p { (text::clip(&failure.why, 2000)) }
            @if let Some(cause) = cause(&failure.cause, failure.cause_proven) { (cause) }
            (reports(&seen))
            pre { (text::visible(&failure.again)) }
        }
    }
}

fn row(name: &str, value: &str) -> Markup {
    html! { tr { th scope="row" { (name) } td { (value) } } "\n" }
}

/// `2026-11-20, in the night 2026-11-20-2`.
fn sighting(seen: Option<&(&NightLine, &FailureSighting)>) -> String {
    seen.map_or_else(String::new, |(night, _)| {
        format!(
            "{}, in the night {}",
            text::clip(&night.begun, 40),
            text::clip(&night.name, 60)
        )
    })
}

/// Different values in the order in which they came.
fn named<'a>(values: impl Iterator<Item = &'a str>) -> String {
    let all = lists::distinct(values, usize::MAX).into_iter();
    let all: Vec<String> = all.map(|value| text::clip(value, 60)).collect();
    match all.as_slice() {
        [] => "not on record".to_string(),
        all if all.len() <= NAMED => all.join(", "),
        [first, .., last] => format!("{first} to {last}, {} in all", all.len()),
        [one] => one.clone(),
    }
}

/// The mean of the runs that showed it.
fn took(seen: &[(&NightLine, &FailureSighting)]) -> String {
    let runs: usize = seen.iter().map(|(_, sighting)| sighting.shown).sum();
    let seconds: f64 = seen.iter().map(|(_, sighting)| sighting.seconds).sum();
    format!("{:.1} s in the mean", seconds / runs.max(1) as f64)
}

fn reports(seen: &[(&NightLine, &FailureSighting)]) -> Markup {
    let linked = seen
        .iter()
        .rev()
        .filter_map(|(night, sighting)| Some((night, sighting, sighting.report.as_ref()?)));
    let linked: Vec<_> = linked.take(REPORTS).collect();
    html! {
        @if !linked.is_empty() {
            p.facts {
                "Reports: "
                @for (at, (night, sighting, report)) in linked.iter().enumerate() {
                    @if at > 0 { ", " }
                    a href=(text::visible(report)) {
                        (text::clip(&night.name, 60))
                        @if let Some(seed) = sighting.seeds.first() { ", seed " (seed) }
                    }
                }
            }
        }
    }
}

fn sightings_spark(nights: &Nights, failure: &RecurringFailure) -> Markup {
    let place = |(sighting, night): (&Option<FailureSighting>, &NightLine)| {
        let FailureSighting { shown, judged, .. } = sighting.as_ref()?;
        let outcome = if *shown == 0 {
            CellOutcome::Expected
        } else {
            CellOutcome::New
        };
        let title = html! { (text::clip(&night.name, 60)) ": " (shown) " of " (text::count(*judged, "run")) };
        Some((outcome, title))
    };
    spark(&failure.rate(), failure.nights.iter().zip(&nights.nights).map(place))
}

/// The nights, the newest first.
fn table(nights: &Nights) -> Markup {
    let body = html! {
        div.wide {
            table.trends {
                thead { tr { @for head in HEADS { th scope="col" { (head) } } } }
                tbody { "\n" @for night in nights.nights.iter().rev() { (night_row(night)) "\n" } }
            }
        }
    };
    titled("nights", &format!("Nights ({})", nights.nights.len()), body)
}

fn night_row(night: &NightLine) -> Markup {
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
