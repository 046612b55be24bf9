//! Samples of the servers' states that are missing at the beginning or at the end of a run.
//!
//! Every server is asked 250 ms after all have answered, from before the first event until after the last one, and one
//! that does not answer is recorded as silent after two seconds. So a sample of each server lies near both ends. The
//! longest time between two samples of one server shows how slow this run was, where it was slower.

use super::{SAMPLED, needed_by};
use crate::analysis::RecordView;
use crate::text::{few, seconds};
use std::collections::BTreeMap;
use std::time::Duration;
use zooquake_history::ServerSample;
use zooquake_history::plan::record_files::SERVERS;

/// The longest time between two samples of one server in a run that nothing slows down: until its silence is recorded,
/// and until all are asked again, with a margin.
const LONGEST_GAP: Duration = Duration::from_millis(2_500);

/// From when to when a server was sampled, in nanoseconds since the run began.
#[derive(Debug, Clone, Copy)]
struct SampledSpan {
    first: u64,
    last: u64,
    longest_gap: u64,
}

/// A reason for each end of the run at which samples are missing, where the plan names their file.
pub fn reasons(record: &RecordView<'_>) -> Vec<String> {
    let samples = record.servers.filter(|_| record.plan.names(SERVERS));
    let events = &record.history.events;
    let end = events.iter().position(|event| event.entered() == Some("done"));
    let last = end.and_then(|done| events[..done].last());
    let (Some(samples), Some(first), Some(last)) = (samples, events.first(), last) else {
        return Vec::new();
    };
    let (began, ended) = (first.time, last.time);
    let (mut late, mut early) = (Vec::new(), Vec::new());
    for (server, span) in spans(samples) {
        let allowed = span.longest_gap.max(LONGEST_GAP.as_nanos() as u64);
        if span.first > began.saturating_add(allowed) {
            late.push(format!("{server} is sampled from {} on", seconds(span.first)));
        }
        if span.last.saturating_add(allowed) < ended {
            early.push(format!("{server} is sampled until {}", seconds(span.last)));
        }
    }
    let reason = |end: &str, servers: &[String], run: String| {
        let needed = needed_by(SAMPLED, servers.len().max(2));
        let lacks = format!(
            "{SERVERS} lacks samples at its {end} ({}, and the run {run})",
            few(servers)
        );
        (!servers.is_empty()).then(|| format!("{lacks}: {needed}"))
    };
    let beginning = reason("beginning", &late, format!("began at {}", seconds(began)));
    let end = reason("end", &early, format!("went on until {}", seconds(ended)));
    beginning.into_iter().chain(end).collect()
}

/// By server, from when to when it was sampled.
fn spans(samples: &[ServerSample]) -> BTreeMap<&str, SampledSpan> {
    let mut spans: BTreeMap<&str, SampledSpan> = BTreeMap::new();
    for &ServerSample { time, ref server, .. } in samples {
        let new = SampledSpan {
            first: time,
            last: time,
            longest_gap: 0,
        };
        let span = spans.entry(server).or_insert(new);
        span.longest_gap = span.longest_gap.max(time.saturating_sub(span.last));
        span.first = span.first.min(time);
        span.last = span.last.max(time);
    }
    spans
}
