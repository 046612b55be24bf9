//! The failures: since when, until when, how often, and by which versions.

use super::{FailureSighting, NightLine, Nights, RecurringFailure};
use crate::html::cause;
use crate::text;
use maud::{Markup, html};
use std::collections::BTreeSet;

/// The width of a night in the picture.
const STEP: usize = 14;

/// Reports of a failure that are linked.
const REPORTS: usize = 12;

/// Versions or commits that are named.
const NAMED: usize = 4;

pub fn section(nights: &Nights) -> Markup {
    html! {
        section #failures {
            h2 { "Failures (" (nights.failures.len()) ")" }
            @if nights.failures.is_empty() {
                p { "No night found an anomaly that was not known." }
            } @else {
                p {
                    "What was seen last comes first. In a picture each night has a place, the newest at the right: a bar up showed the failure, a dot "
                    "ran the same variant under the same faults without it, a gap did not."
                }
            }
            @for one in &nights.failures { (failure(nights, one)) "\n" }
        }
    }
}

fn failure(nights: &Nights, failure: &RecurringFailure) -> Markup {
    let seen: Vec<(&NightLine, &FailureSighting)> = failure
        .sightings()
        .filter_map(|(at, sighting)| Some((nights.nights.get(at)?, sighting)))
        .collect();
    html! {
        article.failure {
            h3 {
                span.badge.violation { (text::clip(&failure.anomaly, 60)) } " breaks "
                (text::clip(&failure.property, 80)) " · " (text::clip(&failure.variant, 80)) " under "
                (text::clip(&failure.faults, 80))
            }
            (picture(nights, failure))
            table {
                tbody {
                    (line("first seen", &sighting(seen.first())))
                    (line("last seen", &sighting(seen.last())))
                    (line("rate", &failure.rate()))
                    (line("zooquake", &named(seen.iter().map(|(night, _)| night.zooquake.as_str()))))
                    (line("ZooKeeper", &named(seen.iter().map(|(night, _)| night.zookeeper.as_str()))))
                    (line("commits", &named(seen.iter().filter_map(|(night, _)| night.checkout.as_deref()))))
                    (line("such runs took", &took(&seen)))
                }
            }
            p { (text::clip(&failure.why, 2000)) }
            @if let Some(cause) = cause(&failure.cause, failure.cause_proven) { (cause) }
            (reports(&seen))
            pre { (text::visible(&failure.again)) }
        }
    }
}

fn line(name: &str, value: &str) -> Markup {
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
    let mut present = BTreeSet::new();
    let all: Vec<String> = values
        .filter(|value| present.insert(*value))
        .map(|value| text::clip(value, 60))
        .collect();
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

fn picture(nights: &Nights, failure: &RecurringFailure) -> Markup {
    let width = STEP * failure.nights.len();
    let places = failure.nights.iter().zip(&nights.nights).enumerate();
    html! {
        svg.spark role="img" aria-label=(failure.rate()) width=(width) height="22" viewBox={ "0 0 " (width) " 22" } {
            path.base d={ "M0 19.5H" (width) } {}
            @for (n, (sighting, night)) in places {
                @if let Some(sighting) = sighting { (mark(n * STEP + STEP / 2, sighting, night)) }
            }
        }
    }
}

fn mark(x: usize, sighting: &FailureSighting, night: &NightLine) -> Markup {
    let title = html! {
        title { (text::clip(&night.name, 60)) ": " (sighting.shown) " of " (text::count(sighting.judged, "run")) }
    };
    match sighting.shown {
        0 => html! { circle.m-expected cx=(x) cy="15" r="2.5" { (title) } },
        _ => html! { path.m-new d={ "M" (x) " 2V19" } { (title) } },
    }
}
