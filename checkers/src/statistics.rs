//! Counts and durations, taken from the history; of the ensemble's elections, from the servers' logs.

use crate::analysis::{Analysis, Grant, InjectedFault, LatencyKind};
use crate::ensemble;
use crate::results::WindowResult;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use zooquake_history::EventType;
use zooquake_history::operation::Mode;
use zooquake_history::operation::control::f;

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
    let asked = request_counts(run);
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

/// How long nobody led after a fault had struck the leader; of a lock, how long until the next grant. Where others may
/// hold beside the one that was struck nothing is measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Failover<'a> {
    /// The number of the fault window in the plan.
    pub window: usize,
    /// The kind of its fault.
    pub fault: &'a str,
    /// Milliseconds until the next grant; `None` if there was none.
    pub ms: Option<f64>,
    /// The time until the next grant in session timeouts, to hundredths.
    pub session_timeouts: Option<f64>,
}

/// One for each window that struck a leader who did not lead on after it, in the order of the plan.
///
/// The time begins when the fault took effect, or, if that was later, with the last moment at which the leader
/// certainly led: the sending of the last request that it answered as leader. It ends with the next grant, of whichever
/// client. A window that the leader outlived is left out: nobody was missing.
pub fn failovers<'a>(run: &'a Analysis<'_>) -> Vec<Failover<'a>> {
    let read = run.grants.read();
    let session = run.record.plan.cluster.timing.session_ms as f64;
    let each = |window: &'a WindowResult| {
        let injected = run.injected.get(&i64::try_from(window.id).ok()?)?;
        let ms = until_next(run, &read, window, injected)?;
        Some(Failover {
            window: window.id,
            fault: &window.fault,
            ms,
            session_timeouts: ms
                .filter(|_| session > 0.0)
                .map(|ms| (ms / session * 100.0).round() / 100.0),
        })
    };
    run.windows.iter().filter_map(each).collect()
}

/// Milliseconds until the next grant, if there was one; `None` if the window struck no leader, or one that outlived it.
fn until_next(
    run: &Analysis<'_>,
    read: &[usize],
    window: &WindowResult,
    injected: &InjectedFault<'_>,
) -> Option<Option<f64>> {
    let grants = &run.grants.all;
    let on = injected.on?;
    // Whoever was granted last, if it was among those who were struck and its term had not ended.
    let struck = read.partition_point(|&grant| grants[grant].read < Some(on));
    let leader = &grants[*read[..struck].last()?];
    if !run.single() || leader.mode != Some(Mode::Exclusive) {
        return None;
    }
    let ended_before = leader.end.is_some_and(|end| end < injected.begin.unwrap_or(on));
    let hit = window.target.split(',').any(|node| node.trim() == leader.node);
    if ended_before || !hit {
        return None;
    }
    let next = read.get(struck).and_then(|&grant| grants[grant].read);
    let sure = run.time(last_sure(leader, next));
    if window.until.is_some_and(|until| sure >= until) {
        return None;
    }
    let from = sure.max(run.time(on));
    Some(next.map(|next| milliseconds(run.time(next).saturating_sub(from))))
}

/// The event before `next` up to which the leader certainly led.
fn last_sure(leader: &Grant<'_>, next: Option<usize>) -> usize {
    let before = |at: &usize| next.is_none_or(|next| *at < next);
    let answered = leader.answers.partition_point(|answer| before(&answer.sent));
    let answered = leader.answers[..answered].last().map(|answer| answer.sent);
    let resigned = leader.release.filter(|_| leader.released.is_some()).filter(before);
    answered.max(resigned).or(leader.read).unwrap_or_default()
}

/// Requests and watch events of all clients until each last answered a `quiesce`. `None` if one counted nothing, or if
/// a process ended before, which took its counts with it.
pub fn request_counts(run: &Analysis<'_>) -> Option<(u64, u64)> {
    let (mut requests, mut events) = (0, 0);
    let mut quiet: HashMap<&str, usize> = HashMap::new();
    for op in run.ops.control.iter().filter(|op| op.f == f::QUIESCE) {
        let answered = op.end.filter(|&end| run.events[end].kind == EventType::Ok);
        quiet.extend(answered.map(|end| (op.node, end)));
    }
    for client in &run.clients.names {
        let last = *quiet.get(client.as_str())?;
        if run.clients.exits_of(client).first().is_some_and(|&at| at < last) {
            return None;
        }
        let counts = run.events[last].counts()?;
        requests = u64::saturating_add(requests, counts.requests());
        events = u64::saturating_add(events, counts.events);
    }
    (!run.clients.names.is_empty()).then_some((requests, events))
}
