//! The definitions of the other anomalies, restated in the plainest way, whatever it costs.

use crate::brute_force::{capacity, excludes, names, read, sent, shared};
use crate::liveness::{bound, node, phase, recovery};
use std::collections::BTreeSet;
use zooquake_history::{Event, EventType, Process, Record};

/// Readings of grants whose token is no higher than that of one that excludes them and was read before they were asked
/// for.
pub fn regressions(record: &Record) -> BTreeSet<usize> {
    let events = &record.history.events;
    let reads = || {
        events
            .iter()
            .enumerate()
            .filter(|(_, event)| event.f == "acquire" && event.kind == EventType::Ok)
    };
    let lower = |&(at, event): &(usize, &Event)| {
        let asked = sent(events, at).expect("it was asked for");
        let excludes = |other: &Event| match (other.grant(), event.grant()) {
            (Some(earlier), Some(later)) => excludes(record, earlier, later),
            _ => false,
        };
        reads().any(|(before, other)| before < asked && excludes(other) && other.token() >= event.token())
    };
    reads().filter(lower).map(|(at, _)| at).collect()
}

/// Grants whose release removed another's znode.
pub fn unowned(record: &Record) -> BTreeSet<String> {
    let events = &record.history.events;
    let mut found = BTreeSet::new();
    for event in events
        .iter()
        .filter(|event| event.f == "release" && event.kind == EventType::Ok)
    {
        let name = event.grant().expect("a grant");
        let removed = event
            .value
            .get("removed")
            .and_then(|removed| removed.get("czxid"))
            .and_then(|czxid| czxid.as_i64());
        let own = read(events, name).and_then(|at| events[at].czxid());
        if removed.is_some() && own.is_some() && removed != own {
            found.insert(name.to_owned());
        }
    }
    found
}

/// Whether a grant is held just after the event at `at`.
fn held(events: &[Event], name: &str, at: usize) -> bool {
    let Some(read) = read(events, name).filter(|&read| read <= at) else {
        return false;
    };
    let who = node(&events[read]);
    !(read + 1..=at).any(|at| {
        let event = &events[at];
        let named = event.grant() == Some(name);
        match (event.f.as_str(), event.kind) {
            ("release", EventType::Invoke) | ("lost", EventType::Info) => named,
            ("read" | "write", EventType::Fail) => named && event.error.as_deref() == Some("not-held"),
            ("exit", EventType::Info) => node(event) == who,
            ("confirm", EventType::Ok) => {
                let after = sent(events, at).is_some_and(|sent| sent > read);
                node(event) == who && event.holds() == Some(false) && after
            }
            _ => false,
        }
    })
}

/// Whether the event at `asked` asks for a grant, and by the event at `at` it was not answered and its process had not
/// ended.
fn open(events: &[Event], asked: usize, at: usize) -> bool {
    let asks = |event: &Event| event.f == "acquire" && event.kind == EventType::Invoke;
    let same = |event: &Event| event.f == "acquire" && event.process == events[asked].process;
    let ended = |event: &Event| event.f == "exit" && node(event) == node(&events[asked]);
    asks(&events[asked]) && !events[asked + 1..=at].iter().any(|event| same(event) || ended(event))
}

/// How an attempt to acquire ended that did not finish.
#[derive(Clone, Copy, PartialEq)]
enum AttemptEnd {
    Never,
    Unknown,
    Failed,
}

/// An attempt to acquire that did not finish after recovery.
struct UnfinishedAcquire {
    asked: usize,
    until: usize,
    how: AttemptEnd,
}

/// The attempts of one client that did not finish after recovery; a series is of those that ended, one after the other
/// in one process, if none finished later.
fn series(events: &[Event], client: &str, recovered: usize, audit: usize) -> Vec<Vec<UnfinishedAcquire>> {
    let asked = |at: &usize| {
        let event = &events[*at];
        event.f == "acquire" && event.kind == EventType::Invoke && node(event) == client
    };
    let end = |asked: usize| {
        let same = |at: &usize| events[*at].process == events[asked].process && events[*at].f == "acquire";
        (asked + 1..=audit).find(|at| same(at) && events[*at].kind != EventType::Invoke)
    };
    let granted: Vec<(usize, usize)> = (0..audit)
        .filter(asked)
        .filter_map(|asked| Some((asked, end(asked)?)))
        .filter(|&(_, end)| end > recovered && events[end].kind == EventType::Ok)
        .collect();
    let dies = |at: usize| {
        matches!(&events[at].process, Process::Name(_)) && events[at].f == "exit" && node(&events[at]) == client
    };
    let mut all: Vec<Vec<UnfinishedAcquire>> = vec![];
    let mut last: Option<(AttemptEnd, bool, usize)> = None;
    for asked in (0..audit).filter(asked) {
        let end = end(asked);
        if (asked..end.unwrap_or(audit)).any(dies) || end.is_some_and(|end| end <= recovered) {
            continue;
        }
        let how = match end.map(|end| events[end].kind) {
            None => AttemptEnd::Never,
            Some(EventType::Ok) => {
                last = None;
                continue;
            }
            Some(EventType::Info) => AttemptEnd::Unknown,
            Some(_) => AttemptEnd::Failed,
        };
        let until = end.unwrap_or(audit);
        let later = granted.iter().any(|&(_, read)| read > until);
        let attempt = UnfinishedAcquire { asked, until, how };
        // One that is pending is not followed by another attempt, but by another request at the same time.
        let goes_on = last
            .is_some_and(|(before, ended, until)| before != AttemptEnd::Never && !ended && !(until..asked).any(dies));
        if how != AttemptEnd::Never && goes_on && !later {
            all.last_mut().expect("one").push(attempt);
        } else {
            all.push(vec![attempt]);
        }
        last = Some((how, how != AttemptEnd::Never && later, until));
    }
    all
}

/// Where the acquires were sent that stay pending after recovery though nobody holds, or are refused again and again.
pub fn lost(record: &Record) -> BTreeSet<usize> {
    let events = &record.history.events;
    let Some((recovered, audit)) = recovery(events) else {
        return BTreeSet::new();
    };
    let names = names(events);
    let granted = (0..audit).filter(|&at| events[at].f == "acquire" && events[at].kind == EventType::Ok);
    let bound = bound(granted.map(|at| events[at].time - events[sent(events, at).expect("it was asked for")].time));
    let excluded = |at: usize, share: bool| {
        let held = names.iter().filter(|name| held(events, name, at));
        let (shared, exclusive): (Vec<&str>, Vec<&str>) = held.partition(|name| shared(events, name));
        match share {
            true => !exclusive.is_empty(),
            false => !shared.is_empty() || exclusive.len() >= capacity(record),
        }
    };
    let share = |asked: usize| events[asked].value["mode"] == "shared";
    // Somebody may stand before the client in a queue, and wait for those who hold.
    let waits = |at: usize, of: bool| (0..=at).any(|asked| open(events, asked, at) && share(asked) == of);
    let free = |at: usize, of: bool| !(excluded(at, of) || excluded(at, !of) && waits(at, !of));
    let waited = |asked: usize, until: usize, of: &[bool]| -> u64 {
        let span = (recovered.max(asked)..until).filter(|at| of.iter().all(|of| free(*at, *of)));
        span.map(|at| events[at + 1].time - events[at].time).sum()
    };
    let alone = |one: &&UnfinishedAcquire| (recovered.max(one.asked)..one.until).all(|at| free(at, share(one.asked)));
    let clients = record
        .plan
        .cluster
        .client_nodes()
        .into_iter()
        .map(|client| client.to_string());
    let all = clients.flat_map(|client| series(events, &client, recovered, audit));
    let convicted = |attempts: Vec<UnfinishedAcquire>| {
        let alone_of = |one: &UnfinishedAcquire| (one.asked, one.until, vec![share(one.asked)]);
        let mut spells: Vec<(usize, usize, Vec<bool>)> = attempts.iter().map(alone_of).collect();
        let refused: Vec<&UnfinishedAcquire> = attempts.iter().filter(alone).collect();
        if let (Some(first), Some(last), true) = (refused.first(), refused.last(), attempts[0].how != AttemptEnd::Never)
        {
            let of = refused.iter().map(|one| share(one.asked)).collect();
            spells.push((first.asked, last.until, of));
        }
        let (waited, asked) = spells
            .into_iter()
            .map(|(asked, until, of)| (waited(asked, until, &of), asked))
            .max()?;
        (waited >= bound).then_some(asked)
    };
    all.filter_map(convicted).collect()
}

/// Paths of znodes that are there before and after the last `quiesce` and that nobody named.
pub fn orphans(record: &Record) -> BTreeSet<&str> {
    let events = &record.history.events;
    let readings = &record.tree.as_ref().expect("a tree").readings;
    let answers: Vec<&Event> = events
        .iter()
        .filter(|event| event.f == "quiesce" && event.kind == EventType::Ok)
        .collect();
    let named = |path: &str| {
        answers
            .iter()
            .any(|event| event.value.to_string().contains(&format!("{path:?}")))
    };
    let recovered = phase(events, "recovered").is_some();
    let mut found = BTreeSet::new();
    for znode in &readings[1].znodes {
        let owner = znode.owner.as_deref().expect("an owner");
        let known = events
            .iter()
            .find(|event| ["hello", "acquire"].contains(&event.f.as_str()) && event.session() == Some(owner));
        let judged = match known {
            Some(event) => answers.iter().any(|answer| {
                node(answer) == node(event) && (recovered || answer.value.to_string().contains(&format!("{owner:?}")))
            }),
            None => recovered && answers.len() == record.plan.cluster.clients,
        };
        let there = readings[0].znodes.contains(znode) && znode.path.starts_with("/lock/");
        if there && judged && !named(&znode.path) {
            found.insert(znode.path.as_str());
        }
    }
    found
}
