//! The definitions of the anomalies of two-phase commits, restated in the plainest way, and an exhaustive search for an
//! execution that explains a history. On purpose without anything of the checkers but the events.

use crate::liveness::node;
use std::collections::BTreeSet;
use zooquake_history::{Event, EventType, Record};

/// The names of the transactions in a history.
pub fn names(record: &Record) -> BTreeSet<&str> {
    record.history.events.iter().filter_map(|event| event.tx()).collect()
}

/// The event that completes the request at `at`.
pub fn completion(events: &[Event], at: usize) -> Option<usize> {
    (at + 1..events.len()).find(|&later| events[later].process == events[at].process)
}

/// Where an operation about a transaction was asked for.
pub fn requests(events: &[Event], f: &str, tx: &str) -> impl Iterator<Item = usize> {
    let asked = move |at: &usize| {
        let event = &events[*at];
        event.f == f && event.kind == EventType::Invoke && event.tx() == Some(tx)
    };
    (0..events.len()).filter(asked)
}

/// All answers `ok` of an operation about a transaction: the event, the client, and the decision or vote.
pub fn told<'a>(record: &'a Record, f: &str, tx: &str) -> Vec<(usize, &'a str, &'a str)> {
    let events = record.history.events.iter().enumerate();
    let ok = events.filter(|(_, event)| event.f == f && event.kind == EventType::Ok && event.tx() == Some(tx));
    ok.filter_map(|(at, event)| Some((at, node(event), event.decision().or(event.voted())?)))
        .collect()
}

/// How many events came before each reading that has the decision znode, and the decision in it.
fn written<'a>(record: &'a Record, tx: &str) -> Vec<(usize, &'a str)> {
    let path = format!("/app/{tx}/decision");
    let readings = record.tree.iter().flat_map(|tree| &tree.readings);
    readings
        .flat_map(|reading| reading.znodes.iter().map(|znode| (reading.end_index, znode)))
        .filter(|(_, znode)| znode.path == path)
        .map(|(end, znode)| (end, znode.data.as_str()))
        .collect()
}

/// The requests to vote: where, by whom, for what, and how each ended.
fn votes<'a>(record: &'a Record, tx: &str) -> Vec<(usize, &'a str, &'a str, Option<&'a Event>)> {
    let events = &record.history.events;
    let vote = |at: usize| {
        let end = completion(events, at).map(|end| &events[end]);
        Some((at, node(&events[at]), events[at].vote()?, end))
    };
    requests(events, "vote", tx).filter_map(vote).collect()
}

fn sites<'a>(record: &'a Record, tx: &str) -> BTreeSet<&'a str> {
    let events = record.history.events.iter();
    let begins = events.filter(|event| event.f == "begin" && event.tx() == Some(tx));
    let named = begins
        .filter_map(|event| event.value.get("sites")?.as_array())
        .flatten();
    let voting = votes(record, tx).into_iter().map(|(_, node, _, _)| node);
    named.filter_map(|site| site.as_str()).chain(voting).collect()
}

/// The first event that reports this decision.
fn first_report(record: &Record, tx: &str, decision: &str) -> Option<usize> {
    let sites = told(record, "decided", tx);
    let all = sites.into_iter().chain(told(record, "decide", tx));
    all.filter(|(_, _, word)| *word == decision).map(|(at, _, _)| at).min()
}

/// The first event, or else reading, that reports the transaction as committed.
fn first_commit(record: &Record, tx: &str) -> Option<usize> {
    first_report(record, tx, "commit").or_else(|| {
        written(record, tx)
            .into_iter()
            .find(|(_, word)| *word == "commit")
            .map(|(at, _)| at)
    })
}

/// Whether the transaction may be committed in some execution: tries every way in which the votes of unknown outcome
/// may have ended.
fn may_commit(record: &Record, tx: &str) -> bool {
    let Some(first) = first_commit(record, tx) else {
        return true;
    };
    let votes = votes(record, tx);
    let sites = sites(record, tx);
    (0..1u32 << votes.len()).any(|effects| {
        let effect = |at: usize| effects & (1 << at) != 0;
        let possible = votes
            .iter()
            .enumerate()
            .all(|(at, (_, _, _, end))| match end.map(|end| end.kind) {
                Some(EventType::Ok) => effect(at),
                Some(EventType::Fail) => !effect(at),
                _ => true,
            });
        let said = |at: usize| {
            let (_, _, wanted, end) = votes[at];
            end.and_then(|end| end.voted()).unwrap_or(wanted)
        };
        let no = (0..votes.len()).any(|at| votes[at].3.is_some_and(|end| end.voted() == Some("no")));
        let voted = |site: &&str| {
            (0..votes.len()).any(|at| effect(at) && votes[at].1 == *site && votes[at].0 < first && said(at) == "yes")
        };
        possible && !no && sites.iter().all(voted)
    })
}

/// Whether every request to begin the transaction certainly failed, and there was one.
fn never_begun(record: &Record, tx: &str) -> bool {
    let events = &record.history.events;
    let mut begins = requests(events, "begin", tx).peekable();
    let failed = |at: usize| completion(events, at).is_some_and(|end| events[end].kind == EventType::Fail);
    begins.peek().is_some() && begins.all(failed)
}

/// Whether some execution explains all reports of the transaction: all reports name one decision, and if it is commit,
/// every site voted yes in time.
pub fn explained(record: &Record, tx: &str) -> bool {
    ["commit", "abort"].iter().any(|decision| {
        let same = |f: &str| told(record, f, tx).iter().all(|(_, _, word)| word == decision);
        let stands = written(record, tx).iter().all(|(_, word)| word == decision);
        let possible = *decision == "abort" || (may_commit(record, tx) && !never_begun(record, tx));
        same("decided") && same("decide") && stands && possible
    })
}

pub fn split(record: &Record, tx: &str) -> bool {
    let all = told(record, "decided", tx);
    all.iter().any(|a| all.iter().any(|b| a.1 != b.1 && a.2 != b.2))
}

pub fn flip(record: &Record, tx: &str) -> bool {
    let (all, written) = (told(record, "decided", tx), written(record, tx));
    let site = all.iter().any(|a| all.iter().any(|b| a.1 == b.1 && a.2 != b.2));
    let znode = written.iter().any(|a| written.iter().any(|b| a.1 != b.1));
    // The decision that all sites reported no longer stands in the znode.
    let last = written.last();
    let both = !split(record, tx) && !all.is_empty() && last.is_some_and(|last| all.iter().all(|a| a.2 != last.1));
    site || znode || both
}

pub fn unjustified(record: &Record, tx: &str) -> bool {
    !may_commit(record, tx)
}

pub fn wrong(record: &Record, tx: &str) -> bool {
    if never_begun(record, tx) && first_commit(record, tx).is_some() {
        return true;
    }
    let (answers, all, written) = (
        told(record, "decide", tx),
        told(record, "decided", tx),
        written(record, tx),
    );
    let decision = match written.last() {
        Some((_, word)) => Some(*word),
        None if split(record, tx) || flip(record, tx) => None,
        None => all.first().map(|(_, _, word)| *word),
    };
    decision.is_some_and(|decision| answers.iter().any(|(_, _, word)| *word != decision))
}

pub fn needless(record: &Record, tx: &str) -> bool {
    let events = &record.history.events;
    let asked = |f: &str| requests(events, f, tx).next();
    let aborted = first_report(record, tx, "abort");
    let (Some(begin), Some(decide), Some(aborted)) = (asked("begin"), asked("decide"), aborted) else {
        return false;
    };
    let voted = told(record, "vote", tx);
    let session = 2_000_000_000;
    let no =
        votes(record, tx).iter().any(|(_, _, wanted, _)| *wanted == "no") || voted.iter().any(|vote| vote.2 == "no");
    let acknowledged = |site: &&str| {
        let mut votes = voted.iter().filter(|(_, node, word)| node == site && *word == "yes");
        votes.any(|(at, ..)| events[*at].time <= events[decide].time + session)
    };
    let listed = events[begin].value["sites"].as_array().expect("sites");
    let listed: Vec<&str> = listed.iter().filter_map(|site| site.as_str()).collect();
    let felt = |(at, event): (usize, &Event)| {
        let mut from = event.time;
        let until = match (event.f.as_str(), event.phase()) {
            ("exit", _) => from + session,
            ("stall", _) => {
                from = from.saturating_sub(event.stalled_ms().expect("a number") as u64 * 1_000_000);
                event.time + session
            }
            ("pause", Some("begin")) => {
                let over = |later: &&Event| {
                    let healed = later.phase() == Some("skipped") || later.verified() == Some(true);
                    later.f == "pause" && later.window() == event.window() && healed
                };
                let over = events[at..].iter().find(over);
                over.map_or(u64::MAX, |later| later.time + session)
            }
            _ => return false,
        };
        from <= events[aborted].time && until >= events[begin].time
    };
    !no && listed.iter().all(acknowledged) && !events.iter().enumerate().any(felt)
}
