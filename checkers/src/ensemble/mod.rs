//! ZooKeeper's own leader elections (FastLeaderElection), vote by vote, from the servers' logs and from their answers
//! to status commands. They are judged in every run of every family: `docs/ensemble.md` defines what is read, and what
//! proves nothing.

mod diverging_logs;
mod elections;
mod epoch_regression;
mod lesser_vote;
pub(crate) mod scenes;
mod two_leaders;

use crate::AnomalySpan;
use crate::analysis::{Analysis, InjectedFault, RecordView};
use crate::findings::{Finding, Findings};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use zooquake_history::plan::record_files;
use zooquake_history::{Event, Node, ServerLog, ServerSample};

pub use elections::{Account, Ballot, Election, VoteCast, accounts, elections};

/// The checkers that run for every family: those of elections, and the one of transaction logs.
pub const CHECKERS: &[&str] = &[
    "two-ensemble-leaders",
    "ensemble-epoch-regression",
    LESSER_VOTE_WON,
    DIVERGING_LOGS,
];

/// The checker of the transaction logs, which has no other source.
pub(crate) const DIVERGING_LOGS: &str = "diverging-logs";

/// The checker of votes, which has no other source than the servers' logs.
pub(crate) const LESSER_VOTE_WON: &str = "lesser-vote-won";

/// All that an ensemble left behind of its elections.
#[derive(Debug, Clone, Copy)]
pub struct EnsembleElections<'a> {
    /// The logs of its servers, one for each server that has one.
    pub logs: &'a [ServerLog],
    /// The status answers of its servers, those of each server in the order of time.
    pub samples: &'a [ServerSample],
    /// What the wall clock of the logs showed in the run.
    pub clock: &'a WallClock,
}

/// An anomaly of the ensemble. It rests on logs and answers, not on events of the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suspicion {
    /// The anomaly's name, such as `lesser-vote-won`.
    pub kind: &'static str,
    /// The property it concerns.
    pub property: &'static str,
    /// From when to when it happened, in nanoseconds since the run began, if that is known.
    pub span: Option<(u64, u64)>,
    /// What happened, in words.
    pub why: String,
}

impl<'a> EnsembleElections<'a> {
    fn by_server(&self) -> BTreeMap<&'a str, Vec<&'a ServerSample>> {
        let mut all: BTreeMap<&str, Vec<&ServerSample>> = BTreeMap::new();
        for sample in self.samples {
            all.entry(&sample.server).or_default().push(sample);
        }
        all
    }

    /// Judges the ensemble: what was found, and how many things each of the first [`CHECKERS`]
    /// looked at.
    pub fn judge(&self) -> (Vec<Suspicion>, [usize; 3]) {
        let mut found = Vec::new();
        let looked_at =
            [two_leaders::check, epoch_regression::check, lesser_vote::check].map(|check| check(self, &mut found));
        (found, looked_at)
    }
}

/// The versions of ZooKeeper that the servers reported, each once.
pub fn versions(servers: Option<&[ServerSample]>) -> BTreeSet<&str> {
    let samples = servers.into_iter().flatten().map(|sample| sample.version.as_str());
    samples.filter(|version| !version.is_empty()).collect()
}

/// The elections of a run for its statistics; `None` of a history alone.
pub fn stats(run: &Analysis<'_>) -> Option<Value> {
    let RecordView { logs, servers, .. } = run.record;
    let ensemble = EnsembleElections {
        logs: logs?,
        samples: servers.unwrap_or_default(),
        clock: &WallClock::from_events(run.events),
    };
    Some(json!(accounts(&ensemble)))
}

/// Judges the servers' transaction logs. A record of an older version does not have what was read of each.
fn transaction_logs(run: &Analysis<'_>, out: &mut Findings) {
    let (Some(txns), Some(logs)) = (run.record.txnlog, run.record.server_txnlogs) else {
        return;
    };
    let mut found = Vec::new();
    out.ran(DIVERGING_LOGS, diverging_logs::check(txns, logs, &mut found));
    add(run, found, out);
}

fn add(run: &Analysis<'_>, found: Vec<Suspicion>, out: &mut Findings) {
    for suspicion in found {
        let span = suspicion
            .span
            .map_or(AnomalySpan::Any, |(from, until)| AnomalySpan::Between(from, until));
        let found = Finding::new(suspicion.kind, suspicion.property, Vec::new(), suspicion.why);
        out.add_in(run, found, span);
    }
}

/// Judges the ensemble of a run, whatever the family. Of a history alone there is nothing to judge.
pub fn check(run: &Analysis<'_>, out: &mut Findings) {
    transaction_logs(run, out);
    let RecordView { logs, servers, .. } = run.record;
    if logs.is_none() && servers.is_none() {
        return;
    }
    // What a server logs while its engine is lost has no reader.
    let lost = run.injected.values().any(InjectedFault::is_engine_loss);
    let logs = logs.filter(|_| !lost).unwrap_or_default();
    let clock = WallClock::from_events(run.events);
    let ensemble = EnsembleElections {
        logs,
        samples: servers.unwrap_or_default(),
        clock: &clock,
    };
    let (found, looked_at) = ensemble.judge();
    add(run, found, out);
    for (checker, looked_at) in CHECKERS.iter().zip(looked_at) {
        out.ran(checker, looked_at);
    }
    for log in logs {
        if let Some(why) = log.cuts.first() {
            out.reasons.push(format!(
                "note: the log of {} is cut off ({why}); elections with its vote were not judged",
                log.server
            ));
        }
    }
    if lost {
        out.reasons.push(
            "note: a Docker engine was lost, and what servers logged meanwhile is missing; elections were not judged by their \
             votes"
                .to_string(),
        );
        return;
    }
    let plan = &run.record.plan;
    if !plan.on.is_real() {
        out.reasons
            .push("note: simulated servers write no logs; elections were not judged by their votes".to_string());
        return;
    }
    let known: HashSet<Node> = logs.iter().map(|log| log.server.as_str().into()).collect();
    for server in plan.cluster.voters() {
        let missed = run.record.lacks(&record_files::log_of(None, &server));
        if !known.contains(&server) && !missed {
            out.reasons.push(format!(
                "note: the log of {server} is missing; elections with its vote were not judged"
            ));
        }
    }
}

/// What the wall clock showed at some moments of the run, to get from the wall clock of the servers' logs to the time
/// of the run; empty if it was not read.
///
/// All containers of a run share the clock of their host, and so does the orchestrator; the history counts on another,
/// the monotonic one. Events `clock` of the process `run` contain what the wall clock showed when they were recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WallClock {
    /// Microseconds since 1970, and nanoseconds since the run began: in order, and of one microsecond the first
    /// reading.
    readings: Vec<(i64, i64)>,
}

impl WallClock {
    /// The readings in a history.
    pub fn from_events(events: &[Event]) -> Self {
        let reading = |event: &Event| {
            let reads = event.f == "clock" && event.is_of("run");
            Some((event.unix_us().filter(|_| reads)?, i64::try_from(event.time).ok()?))
        };
        let mut readings: Vec<(i64, i64)> = events.iter().filter_map(reading).collect();
        readings.sort_unstable();
        readings.dedup_by_key(|&mut (unix_us, _)| unix_us);
        Self { readings }
    }

    /// The time in the run, in milliseconds, of milliseconds since 1970; below zero before it began. It goes by the
    /// nearest reading, because a wall clock may be set. `None` without a reading.
    pub fn run_ms(&self, unix_ms: i64) -> Option<i64> {
        let unix_us = unix_ms.checked_mul(1000)?;
        let next = self.readings.partition_point(|&(at, _)| at < unix_us);
        let around = &self.readings[next.saturating_sub(1)..self.readings.len().min(next + 1)];
        let nearest = around.iter().min_by_key(|&&(at, ns)| (at.abs_diff(unix_us), ns))?;
        let since_us = unix_us.checked_sub(nearest.0)?;
        Some(nearest.1.checked_div(1000)?.checked_add(since_us)?.div_euclid(1000))
    }

    /// The time in the run, in nanoseconds, of milliseconds since 1970; what came before the run is its beginning.
    pub fn run_ns(&self, unix_ms: i64) -> Option<u64> {
        u64::try_from(self.run_ms(unix_ms)?.max(0)).ok()?.checked_mul(1_000_000)
    }

    /// A moment for a text: seconds of the run, or of the day as the logs have it.
    pub fn at(&self, unix_ms: i64) -> String {
        match self.run_ms(unix_ms) {
            Some(ms) => {
                let sign = if ms < 0 { "-" } else { "" };
                format!("{sign}{}.{:03} s", ms.abs() / 1000, ms.abs() % 1000)
            }
            None => {
                let day = unix_ms.rem_euclid(86_400_000);
                let (hour, minute, ms) = (day / 3_600_000, day / 60_000 % 60, day % 60_000);
                format!("{hour:02}:{minute:02}:{:02}.{:03}", ms / 1000, ms % 1000)
            }
        }
    }
}
