//! `two-ensemble-leaders`: two servers established as leader in one epoch.
//!
//! To win an election is not to lead: two servers may win and propose the same epoch, and the one whom no quorum
//! acknowledges leads nothing. A server leads that logged `Have quorum of supporters`, or that answered its clients as
//! leader.

use super::{Ensemble, Suspicion};
use crate::evidence::ServerSample;
use crate::run::seconds;
use std::collections::{BTreeMap, BTreeSet};

/// That a server led in an epoch, by one kind of evidence.
struct Claim<'a> {
    server: &'a str,
    /// Nanoseconds since the run began, if that is known.
    at: Option<u64>,
    words: String,
}

/// Looks for epochs with two leaders. Returns how many epochs had any.
pub fn check(ensemble: &Ensemble<'_>, found: &mut Vec<Suspicion>) -> usize {
    let claims = claims(ensemble);
    for (epoch, claims) in &claims {
        let mut servers = BTreeSet::new();
        let firsts: Vec<&Claim<'_>> = claims.iter().filter(|claim| servers.insert(claim.server)).collect();
        if firsts.len() < 2 {
            continue;
        }
        let words: Vec<&str> = firsts.iter().map(|claim| claim.words.as_str()).collect();
        let times: Option<Vec<u64>> = firsts.iter().map(|claim| claim.at).collect();
        found.push(Suspicion {
            kind: "two-ensemble-leaders",
            property: "one leader in each epoch of the ensemble",
            span: times.and_then(|times| Some((*times.iter().min()?, *times.iter().max()?))),
            why: format!(
                "{} servers were established as leader in epoch {epoch}: {}.",
                firsts.len(),
                words.join("; ")
            ),
        });
    }
    claims.len()
}

/// Who led in which epoch, from the logs first.
fn claims<'a>(ensemble: &Ensemble<'a>) -> BTreeMap<i64, Vec<Claim<'a>>> {
    let mut claims: BTreeMap<i64, Vec<Claim<'_>>> = BTreeMap::new();
    let mut logged: BTreeMap<&str, BTreeSet<i64>> = BTreeMap::new();
    for log in ensemble.logs {
        for led in log.looks().filter_map(|(_, look)| look.established.as_ref()) {
            logged.entry(&log.server).or_default().insert(led.epoch);
            let sids: Vec<String> = led.sids.iter().map(i64::to_string).collect();
            claims.entry(led.epoch).or_default().push(Claim {
                server: &log.server,
                at: ensemble.clock.run_ns(led.ms),
                words: format!(
                    "{} at {}, acknowledged by the servers {} (its log)",
                    log.server,
                    ensemble.clock.at(led.ms),
                    sids.join(", ")
                ),
            });
        }
    }
    for (server, samples) in ensemble.by_server() {
        let logged = logged.get(server);
        for (at, sample) in samples.iter().enumerate().filter(|(_, sample)| sample.mode == "leader") {
            if leads(sample, samples.get(at + 1).copied(), logged) {
                claims.entry(sample.epoch).or_default().push(Claim {
                    server,
                    at: Some(sample.time),
                    words: format!("{server} at {}, when it answered as leader", seconds(sample.time)),
                });
            }
        }
    }
    claims
}

/// Whether an answer as leader proves that the server led in the epoch of its zxid.
///
/// For a moment a new leader answers already and still has its last zxid of an earlier epoch, so the answer must not be
/// followed by one of a higher epoch, unless the log names this very epoch.
fn leads(sample: &ServerSample, next: Option<&ServerSample>, logged: Option<&BTreeSet<i64>>) -> bool {
    let epoch = sample.epoch;
    if logged.is_some_and(|logged| logged.contains(&epoch)) {
        return true;
    }
    match next {
        Some(next) if next.mode != "silent" && next.epoch == epoch => true,
        Some(next) if next.mode == "leader" => false,
        _ => logged.is_none_or(|logged| logged.range(epoch..).next().is_none()),
    }
}
