//! Requests and answers that do not pair.

use super::{Counts, Family, USUAL, commits, grants, insert, items, lines, operations, registers, remove, rounds};
use fastrand::Rng;
use zooquake_checkers::history::{EventType, Process};
use zooquake_checkers::{Record, Verdict, check};

/// A history whose requests and answers do not pair.
pub struct Spoilt {
    what: &'static str,
    pub record: Record,
}

/// Answers an operation a second time, the same way or another.
fn twice(rng: &mut Rng, record: &Record) -> Option<Spoilt> {
    let mut all = operations(&record.history.events);
    all.retain(|&(at, end)| end.is_some_and(|end| !lane_info(record, at, end)));
    let (sent, end) = *rng.choice(&all)?;
    let end = end?;
    let events = &record.history.events;
    let mut again = events[end].clone();
    if matches!(again.process, Process::Number(_)) && rng.bool() {
        again.kind = *rng.choice(&[again.kind, EventType::Fail, EventType::Info])?;
    }
    // On a lane a later request of its name may be the one that is answered.
    let until = match again.process {
        Process::Number(_) => events.len(),
        Process::Name(_) => end + 1,
    };
    let open = |at: &usize| {
        events[*at].kind == EventType::Invoke && events[*at].process == again.process && events[*at].f == again.f
    };
    if until == end + 1 && (sent + 1..end).any(|at| open(&at)) {
        return None;
    }
    let at = rng.usize(end + 1..=until);
    // The only answer to another request is a lawful one.
    let waits = |&(asked, end): &(usize, Option<usize>)| {
        let same = events[asked].process == again.process && events[asked].f == again.f;
        same && asked < at && end.is_none()
    };
    if operations(events).iter().any(waits) {
        return None;
    }
    let mut spoilt = record.clone();
    insert(&mut spoilt, at, again);
    Some(Spoilt {
        what: "answered twice",
        record: spoilt,
    })
}

/// On a lane `info` without a request is a notice.
fn lane_info(record: &Record, at: usize, end: usize) -> bool {
    let events = &record.history.events;
    matches!(events[at].process, Process::Name(_)) && events[end].kind == EventType::Info
}

/// The request of an answer is missing.
fn unasked(rng: &mut Rng, record: &Record) -> Option<Spoilt> {
    let mut all = operations(&record.history.events);
    all.retain(|&(at, end)| end.is_some_and(|end| !lane_info(record, at, end)));
    let (sent, _) = *rng.choice(&all)?;
    let mut spoilt = record.clone();
    remove(&mut spoilt, sent);
    Some(Spoilt {
        what: "never asked for",
        record: spoilt,
    })
}

/// The answer names another operation than was asked for.
fn renamed(rng: &mut Rng, record: &Record) -> Option<Spoilt> {
    let events = &record.history.events;
    let numbered = |at: usize| matches!(events[at].process, Process::Number(_));
    let mut all = operations(events);
    all.retain(|&(at, end)| end.is_some() && numbered(at));
    let (sent, end) = *rng.choice(&all)?;
    let end = end?;
    let names: Vec<&str> = all.iter().map(|&(at, _)| events[at].f.as_str()).collect();
    let names: Vec<&str> = names.into_iter().filter(|f| *f != events[sent].f).collect();
    let mut spoilt = record.clone();
    spoilt.history.events[end].f = (*rng.choice(&names)?).to_owned();
    Some(Spoilt {
        what: "of another name",
        record: spoilt,
    })
}

/// A process is asked for a second operation while it is at the first.
fn busy(rng: &mut Rng, record: &Record, family: &Family) -> Option<Spoilt> {
    let events = &record.history.events;
    let mut all = operations(events);
    all.retain(|&(at, _)| matches!(events[at].process, Process::Number(_)));
    let (sent, end) = *rng.choice(&all)?;
    // An operation whose process has ended is over.
    let dead = |at: &usize| events[*at].f == "exit" && events[*at].node == events[sent].node;
    let over = (sent..end.unwrap_or(events.len())).find(dead);
    let at = rng.usize(sent + 1..=over.or(end).unwrap_or(events.len()));
    let (f, value) = (family.another)(rng);
    let mut second = events[sent].clone();
    (second.f, second.value) = (f.to_owned(), value);
    let mut spoilt = record.clone();
    insert(&mut spoilt, at, second);
    Some(Spoilt {
        what: "asked while busy",
        record: spoilt,
    })
}

pub fn spoil(rng: &mut Rng, record: &Record, family: &Family) -> Option<Spoilt> {
    match rng.u8(0..4) {
        0 => twice(rng, record),
        1 => unasked(rng, record),
        2 => renamed(rng, record),
        _ => busy(rng, record, family),
    }
}

fn misfits(family: &Family) {
    let mut counts = Counts::new();
    let count = crate::histories(USUAL);
    for seed in 0..count {
        let record = (family.make)(seed);
        let mut rng = Rng::with_seed(seed ^ 0x5b011);
        let Some(spoilt) = spoil(&mut rng, &record, family) else {
            continue;
        };
        let verdict = check(&spoilt.record).verdict;
        assert_ne!(
            verdict,
            Verdict::Valid,
            "seed {seed}, {}\n{}",
            spoilt.what,
            lines(&spoilt.record)
        );
        *counts.entry(spoilt.what).or_default() += 1;
        let was = check(&record).verdict;
        *counts.entry("valid before").or_default() += u64::from(was == Verdict::Valid);
        *counts.entry("invalid before").or_default() += u64::from(was == Verdict::Invalid);
        *counts.entry("invalid").or_default() += u64::from(verdict == Verdict::Invalid);
    }
    println!("{counts:?}");
    let sorts = [
        "answered twice",
        "never asked for",
        "of another name",
        "asked while busy",
    ];
    for sort in sorts.into_iter().chain(["valid before", "invalid before", "invalid"]) {
        let with = counts.get(sort).copied().unwrap_or_default();
        assert!(with > count / 400, "{sort} in {with} of {count}: {counts:?}");
    }
}

#[test]
fn misfits_of_locks() {
    misfits(&grants::LOCK);
}

#[test]
fn misfits_of_elections() {
    misfits(&grants::ELECTION);
}

#[test]
fn misfits_of_queues() {
    misfits(&items::FAMILY);
}

#[test]
fn misfits_of_barriers() {
    misfits(&rounds::FAMILY);
}

#[test]
fn misfits_of_commits() {
    misfits(&commits::FAMILY);
}

#[test]
fn misfits_of_registers() {
    misfits(&registers::FAMILY);
}
