//! The failures: since when, until when, how often, and by which versions.

use super::{FailureSighting, NightLine, Nights, RecurringFailure};
use crate::html::{cause, titled};
use crate::night::{CellOutcome, spark};
use crate::{lists, text};
use maud::{Markup, html};

/// Reports of a failure that are linked.
const REPORTS: usize = 12;

/// Versions or commits that are named.
const NAMED: usize = 4;

pub fn section(nights: &Nights) -> Markup {
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

fn picture(nights: &Nights, failure: &RecurringFailure) -> Markup {
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
    spark::draw(&failure.rate(), failure.nights.iter().zip(&nights.nights).map(place))
}
