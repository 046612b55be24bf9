//! `two-ensemble-leaders`: two servers established as leader in one epoch.
//!
//! To win an election is not to lead: two servers may win and propose the same epoch, and the one whom no quorum
//! acknowledges leads nothing. A server led in an epoch if it logged `Have quorum of supporters` of it, or if it
//! answered its clients as leader with a zxid of that epoch and its next answer has a higher zxid of the same.
//!
//! One answer alone proves no more than that the server leads: a new leader answers already while it has its last zxid
//! of an earlier epoch. But it takes no transaction of that epoch any more.

use super::{EnsembleElections, Suspicion};
use crate::text::seconds;
use std::collections::{BTreeMap, BTreeSet};
use zooquake_history::evidence::ServerSample;

/// That a server led in an epoch, by one kind of evidence.
struct LeadershipClaim<'a> {
    server: &'a str,
    /// Nanoseconds since the run began, if that is known.
    at: Option<u64>,
    words: String,
}

/// Looks for epochs with two leaders. Returns how many epochs had any.
pub fn check(ensemble: &EnsembleElections<'_>, found: &mut Vec<Suspicion>) -> usize {
    let claims = claims(ensemble);
    for (epoch, claims) in &claims {
        let mut servers = BTreeSet::new();
        let firsts: Vec<&LeadershipClaim<'_>> = claims.iter().filter(|claim| servers.insert(claim.server)).collect();
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
fn claims<'a>(ensemble: &EnsembleElections<'a>) -> BTreeMap<i64, Vec<LeadershipClaim<'a>>> {
    let mut claims: BTreeMap<i64, Vec<LeadershipClaim<'_>>> = BTreeMap::new();
    for log in ensemble.logs {
        for led in log.looks().filter_map(|(_, look)| look.established.as_ref()) {
            let sids: Vec<String> = led.sids.iter().map(i64::to_string).collect();
            claims.entry(led.epoch).or_default().push(LeadershipClaim {
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
        let answers: Vec<&ServerSample> = samples.into_iter().filter(|sample| sample.mode != "silent").collect();
        for pair in answers.windows(2).filter(|pair| leads(pair[0], pair[1])) {
            let (sample, next) = (pair[0], pair[1]);
            claims.entry(sample.epoch).or_default().push(LeadershipClaim {
                server,
                at: Some(sample.time),
                words: format!(
                    "{server} at {}, when it answered as leader with zxid 0x{:x}, and at {} with 0x{:x}",
                    seconds(sample.time),
                    sample.zxid,
                    seconds(next.time),
                    next.zxid
                ),
            });
        }
    }
    claims
}

/// Whether an answer and the next one of the same server prove that it led in the epoch of its zxid.
fn leads(sample: &ServerSample, next: &ServerSample) -> bool {
    let of_epoch = |sample: &ServerSample| sample.zxid >> 32 == sample.epoch;
    sample.mode == "leader"
        && of_epoch(sample)
        && of_epoch(next)
        && next.epoch == sample.epoch
        && next.zxid > sample.zxid
}
