//! Requests and answers that do not pair: never valid, and an anomaly is found only if every execution that fits has
//! it.

use super::{Claims, FamilyHistories, claim, drawn, insert, lines, operations, remove};
use crate::anomaly_tally::count;
use fastrand::Rng;
use zooquake_checkers::{Verdict, check};
use zooquake_history::{Event, EventType, Process, Record};

/// A history whose requests and answers do not pair.
pub struct Spoilt {
    what: &'static str,
    pub record: Record,
    /// Histories that pair, each of them what may have happened.
    readings: Vec<Record>,
}

/// Processes of readings, which no other history has.
const FIRST: Process = Process::Number(9_000);
const SECOND: Process = Process::Number(9_001);

/// The history in which the operation sent there has a process of its own, and is not answered.
fn unanswered(record: &Record, (sent, end): (usize, usize)) -> Record {
    let mut reading = record.clone();
    reading.history.events[sent].process = FIRST;
    remove(&mut reading, end);
    reading
}

/// Whether the process of the event's client ended between two events.
fn died(events: &[Event], of: usize, from: usize, to: usize) -> bool {
    let exit = |event: &Event| event.f == "exit" && event.node == events[of].node;
    events[from..to].iter().any(exit)
}

/// Answers an operation a second time, the same way or another.
fn twice(rng: &mut Rng, record: &Record) -> Option<Spoilt> {
    let mut all = operations(&record.history.events);
    all.retain(|&(at, end)| end.is_some_and(|end| !named_info(record, at, end)));
    let (sent, end) = *rng.choice(&all)?;
    let end = end?;
    let events = &record.history.events;
    let mut again = events[end].clone();
    if matches!(again.process, Process::Number(_)) && rng.bool() {
        again.kind = *rng.choice(&[again.kind, EventType::Fail, EventType::Info])?;
    }
    // In a named process a later request of its name may be the one that is answered.
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
    insert(&mut spoilt, at, again.clone());
    let mut readings = vec![record.clone()];
    if matches!(again.process, Process::Number(_)) && !died(events, sent, sent, at) {
        let mut second = record.clone();
        second.history.events[sent].process = FIRST;
        again.process = FIRST;
        insert(&mut second, at, again);
        remove(&mut second, end);
        readings.push(second);
    }
    Some(Spoilt {
        what: "answered twice",
        record: spoilt,
        readings,
    })
}

/// In a named process `info` without a request is a notice.
fn named_info(record: &Record, at: usize, end: usize) -> bool {
    let events = &record.history.events;
    matches!(events[at].process, Process::Name(_)) && events[end].kind == EventType::Info
}

/// The request of an answer is missing.
fn unasked(rng: &mut Rng, record: &Record) -> Option<Spoilt> {
    let mut all = operations(&record.history.events);
    all.retain(|&(at, end)| end.is_some_and(|end| !named_info(record, at, end)));
    let (sent, _) = *rng.choice(&all)?;
    let mut spoilt = record.clone();
    remove(&mut spoilt, sent);
    Some(Spoilt {
        what: "never asked for",
        record: spoilt,
        // Such an answer counts by its own fields, as histories may lack requests: no more is asserted of it.
        readings: Vec::new(),
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
    spoilt.history.events[end].f = (*rng.choice(&names)?).into();
    Some(Spoilt {
        what: "of another name",
        record: spoilt,
        readings: vec![record.clone(), unanswered(record, (sent, end))],
    })
}

/// A process is asked for a second operation while it is at the first.
fn busy(rng: &mut Rng, record: &Record, family: &FamilyHistories) -> Option<Spoilt> {
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
    (second.f, second.value) = (f.into(), value.into());
    let mut spoilt = record.clone();
    insert(&mut spoilt, at, second.clone());
    second.process = SECOND;
    let mut alone = record.clone();
    insert(&mut alone, at, second.clone());
    // The second one may also have got an answer that seems to be another's, who then got none.
    let same = |&(asked, end): &(usize, Option<usize>)| {
        let own = events[asked].process == events[sent].process && events[asked].f == second.f;
        let end = end.filter(|&end| own && end >= at && agrees(&second.value, &events[end].value))?;
        (!died(events, asked, at.min(asked), end)).then_some((asked, end))
    };
    let instead = |(asked, end): (usize, usize)| {
        let mut reading = record.clone();
        reading.history.events[asked].process = FIRST;
        reading.history.events[end].process = SECOND;
        insert(&mut reading, at, second.clone());
        reading
    };
    let readings = all.iter().filter_map(same).map(instead).chain([alone]).collect();
    Some(Spoilt {
        what: "asked while busy",
        record: spoilt,
        readings,
    })
}

/// Whether every field that a request and an answer share has the same value in both.
fn agrees(asked: &zooquake_history::Value, told: &zooquake_history::Value) -> bool {
    let mut fields = asked
        .as_object()
        .into_iter()
        .flat_map(zooquake_history::value::Fields::iter);
    fields.all(|(name, value)| told.get(name).is_none_or(|other| other == value))
}

pub fn spoil(rng: &mut Rng, record: &Record, family: &FamilyHistories) -> Option<Spoilt> {
    match rng.u8(0..4) {
        0 => twice(rng, record),
        1 => unasked(rng, record),
        2 => renamed(rng, record),
        _ => busy(rng, record, family),
    }
}

fn misfits(family: &FamilyHistories) {
    let sorts = [
        "answered twice",
        "never asked for",
        "of another name",
        "asked while busy",
        "valid before",
        "invalid before",
        "invalid",
    ];
    drawn(family, 0x5b011, &sorts, |seed, mut rng, record, counts| {
        let Some(spoilt) = spoil(&mut rng, &record, family) else {
            return;
        };
        let results = check(&spoilt.record);
        let text = || format!("seed {seed}, {}: {results:#?}\n{}", spoilt.what, lines(&spoilt.record));
        assert_ne!(results.verdict, Verdict::Valid, "{}", text());
        let found = decided((family.found)(&spoilt.record, &results));
        if results.reasons.iter().any(|reason| reason.contains("do not pair")) {
            for (number, reading) in spoilt.readings.iter().enumerate() {
                let wanted = decided((family.wanted)(reading));
                let more: Vec<_> = found.difference(&wanted).collect();
                assert!(more.is_empty(), "{more:?} is not in reading {number}: {}", text());
            }
        }
        count(counts, spoilt.what, true);
        let was = check(&record).verdict;
        count(counts, "valid before", was == Verdict::Valid);
        count(counts, "invalid before", was == Verdict::Invalid);
        count(counts, "invalid", results.verdict == Verdict::Invalid);
    });
}

/// The same, with one name for all contradictions about a decision: which of them it is depends on which other clients
/// reported it.
fn decided(claims: Claims) -> Claims {
    let decision = |kind: &str| matches!(kind, "split-decision" | "decision-flip" | "wrong-outcome");
    let each = |(kind, about): (String, String)| match decision(&kind) {
        true => claim("decision", about),
        false => (kind, about),
    };
    claims.into_iter().map(each).collect()
}

of_families!(misfits);
