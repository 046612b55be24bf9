//! `ensemble-epoch-regression`: one server's own epoch goes back, across its restarts. A server that keeps its data
//! never does that; one that has lost them does.
//!
//! A server's own epoch (`currentEpoch`) is in the first vote of each look, with which it proposes itself, and in the
//! epoch that it came to lead. The epoch of its last zxid is another thing: it may go back when an entry that was never
//! committed is cut off. So an answer to a client counts only from a zxid on that belongs to a transaction, which was
//! committed then, and a new leader's `epoch << 32` does not.

use super::{EnsembleElections, Suspicion};
use crate::text::seconds;
use std::collections::HashSet;
use zooquake_history::evidence::ServerSample;
use zooquake_history::server_log::ServerLog;

/// The low half of a zxid counts the transactions of its epoch.
const COUNTER: i64 = 0xffff_ffff;

/// Looks for epochs that went back. Returns how many epochs it compared.
pub fn check(ensemble: &EnsembleElections<'_>, found: &mut Vec<Suspicion>) -> usize {
    let mut looked_at = 0;
    let mut known: HashSet<&str> = HashSet::new();
    for log in ensemble.logs {
        let own = own(log);
        looked_at += own.len();
        let logged = logged(ensemble, log, &own);
        if !logged.is_empty() {
            known.insert(&log.server);
        }
        found.extend(logged);
    }
    for (server, samples) in ensemble.by_server() {
        looked_at += samples.len();
        if !known.contains(server) {
            found.extend(answered(server, &samples));
        }
    }
    looked_at
}

/// A server's own epochs in the order of its log: when, which, and how it is known.
fn own(log: &ServerLog) -> Vec<(i64, i64, &'static str)> {
    let mut all = Vec::new();
    for (_, look) in log.looks() {
        let first = look.casts().next();
        all.extend(first.map(|cast| (cast.ms, cast.vote.epoch, "proposed itself with")));
        let led = look.established.as_ref();
        all.extend(led.map(|led| (led.ms, led.epoch, "was established as leader in")));
    }
    all
}

fn logged(ensemble: &EnsembleElections<'_>, log: &ServerLog, own: &[(i64, i64, &str)]) -> Vec<Suspicion> {
    let mut found = Vec::new();
    let mut highest: Option<(i64, i64, &str)> = None;
    for &(ms, epoch, how) in own {
        if let Some((then, higher, what)) = highest.filter(|(_, highest, _)| epoch < *highest) {
            let clock = ensemble.clock;
            let span = clock.run_ns(then).zip(clock.run_ns(ms));
            let why = format!(
                "{} {what} epoch {higher} at {}, and {how} epoch {epoch} at {} (its log).",
                log.server,
                clock.at(then),
                clock.at(ms)
            );
            found.push(suspicion(span, why));
        }
        if highest.is_none_or(|(_, highest, _)| epoch != highest) {
            highest = Some((ms, epoch, how));
        }
    }
    found
}

fn answered(server: &str, samples: &[&ServerSample]) -> Vec<Suspicion> {
    let mut found = Vec::new();
    let mut committed: Option<&ServerSample> = None;
    for sample in samples.iter().filter(|sample| sample.mode != "silent") {
        if let Some(before) = committed.filter(|before| sample.epoch < before.epoch) {
            let why = format!(
                "{server} served as {} with a transaction of epoch {} (zxid 0x{:x}) at {}, and as {} with zxid 0x{:x} of epoch \
                 {} at {}.",
                before.mode,
                before.epoch,
                before.zxid,
                seconds(before.time),
                sample.mode,
                sample.zxid,
                sample.epoch,
                seconds(sample.time)
            );
            found.push(suspicion(Some((before.time, sample.time)), why));
            committed = None;
        }
        if sample.zxid & COUNTER != 0 && committed.is_none_or(|before| before.epoch < sample.epoch) {
            committed = Some(sample);
        }
    }
    found
}

fn suspicion(span: Option<(u64, u64)>, why: String) -> Suspicion {
    Suspicion {
        kind: "ensemble-epoch-regression",
        property: "a server's epoch never goes back",
        span,
        why,
    }
}
