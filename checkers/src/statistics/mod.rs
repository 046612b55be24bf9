//! Counts and durations, taken from the history; of the ensemble's elections, from the servers' logs.

pub mod failover;
pub mod request_counts;

use crate::analysis::{Analysis, LatencyKind};
use crate::ensemble;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The statistics of a run, by name.
pub fn statistics(run: &Analysis<'_>) -> BTreeMap<String, Value> {
    let mut stats = BTreeMap::new();
    let mut put = |name: &str, value: Value| stats.insert(name.to_owned(), value);
    put("events", json!(run.events.len()));
    put("zookeeper", json!(ensemble::versions(run.record.servers)));
    put("ops", json!(outcomes(run)));
    put("errors", json!(errors(run)));
    let grants = run.grants.all.iter().filter(|grant| grant.read.is_some());
    put("grants", json!(grants.count()));
    put("windows", json!(run.windows.len()));
    put(
        "windows_counting",
        json!(run.windows.iter().filter(|window| window.counts).count()),
    );
    let hand_overs = run.latencies(LatencyKind::HandOver);
    put("hand_overs", json!(hand_overs.len()));
    put("acquires_per_second", json!(rate(run)));
    put("next_grant_after_window_ms", json!(next_grants(run)));
    let asked = request_counts::request_counts(run);
    put("zk_requests", json!(asked.map(|(requests, _)| requests)));
    put("watch_events", json!(asked.map(|(_, events)| events)));
    if let Some(elections) = ensemble::stats(run) {
        put("elections", elections);
    }
    stats.extend(percentiles("hand_over", hand_overs.iter().map(|latency| latency.ns)));
    stats
}

/// For each operation how often it ended how; `pending` if it did not.
fn outcomes<'a>(run: &Analysis<'a>) -> BTreeMap<&'a str, BTreeMap<&'static str, u64>> {
    let mut all: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
    for op in run.ops.work.iter().chain(&run.ops.control) {
        let outcome = op.outcome(run.events).name();
        *all.entry(op.f).or_default().entry(outcome).or_default() += 1;
    }
    all
}

/// How often each error came, by operation; numbers in its text are details.
fn errors(run: &Analysis<'_>) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for event in run.events {
        if let Some(error) = &event.error {
            *all.entry(format!("{}: {}", event.f, without_numbers(error)))
                .or_default() += 1;
        }
    }
    all
}

/// The text with every number as `…`.
fn without_numbers(text: &str) -> String {
    let mut kind = String::new();
    for character in text.chars() {
        match character {
            digit if !digit.is_ascii_digit() => kind.push(digit),
            _ if kind.ends_with('…') => {}
            _ => kind.push('…'),
        }
    }
    kind
}

/// Answered acquires in each second of the phase `ops`, rounded to thousandths; of the whole run without phases.
fn rate(run: &Analysis<'_>) -> Option<f64> {
    let (from, to) = run.ops_phase()?;
    let seconds = run.time(to).saturating_sub(run.time(from)) as f64 / 1e9;
    let read = run.grants.all.iter().filter_map(|grant| grant.read);
    let within = read.filter(|read| (from..=to).contains(read)).count();
    (seconds > 0.0).then(|| (within as f64 / seconds * 1000.0).round() / 1000.0)
}

/// For each window that ended, milliseconds from its end to the next grant; `null` if there was none.
fn next_grants(run: &Analysis<'_>) -> BTreeMap<String, Option<f64>> {
    let read = |grant: usize| Some(run.time(run.grants.all[grant].read?));
    let times: Vec<u64> = run.grants.read().into_iter().filter_map(read).collect();
    let next = |until: u64| {
        let next = times.get(times.partition_point(|&time| time < until))?;
        Some(milliseconds(next.saturating_sub(until)))
    };
    run.windows
        .iter()
        .filter_map(|window| Some((window.id.to_string(), next(window.until?))))
        .collect()
}

/// The median, the 95th percentile and the greatest of durations in nanoseconds, by name.
pub fn percentiles(name: &str, durations: impl Iterator<Item = u64>) -> [(String, Value); 3] {
    let mut sorted: Vec<u64> = durations.collect();
    sorted.sort_unstable();
    // The smallest value that at least `share` percent of them do not exceed.
    let at = |share: usize| {
        let rank = (sorted.len() * share).div_ceil(100);
        sorted.get(rank.checked_sub(1)?).copied().map(milliseconds)
    };
    [("p50", 50), ("p95", 95), ("max", 100)]
        .map(|(percentile, share)| (format!("{name}_{percentile}_ms"), json!(at(share))))
}

/// Nanoseconds as milliseconds, to thousandths.
pub fn milliseconds(ns: u64) -> f64 {
    (ns / 1000) as f64 / 1000.0
}
