//! What the anomalies mean, taken literally, over the bare events: every order is tried. With nothing of the checkers.

use std::collections::BTreeSet;
use zooquake_history::operation::register::{FROM, TO, VALUE};
use zooquake_history::{Event, EventType, Record};

/// An operation that happened or may have. Times are twice the index of an event, so that odd ones lie between events.
#[derive(Debug, Clone)]
struct RegisterOp {
    f: String,
    /// What it found.
    found: Option<Option<i64>>,
    /// What it wrote.
    wrote: Option<i64>,
    sent: i64,
    ended: Option<i64>,
}

fn paired(events: &[Event]) -> Vec<(Option<usize>, Option<usize>)> {
    let mut all = Vec::new();
    let mine = |at: usize, other: usize| events[at].process == events[other].process;
    let works = |event: &Event| matches!(event.f.as_str(), "read" | "write" | "cas");
    for at in (0..events.len()).filter(|&at| works(&events[at])) {
        if events[at].kind == EventType::Invoke {
            let next = (at + 1..events.len()).find(|&other| mine(at, other));
            all.push((Some(at), next.filter(|&next| events[next].kind != EventType::Invoke)));
        } else {
            let before = (0..at).rev().find(|&other| mine(at, other));
            if before.is_none_or(|before| events[before].kind != EventType::Invoke) {
                all.push((None, Some(at)));
            }
        }
    }
    all
}

fn ok(events: &[Event], end: Option<usize>) -> Option<usize> {
    end.filter(|&end| events[end].kind == EventType::Ok)
}

/// Where a read may begin: where it was sent, or, if reads are not promised to be linearizable, where the last write of
/// its session was sent that had been acknowledged by then.
fn sent(record: &Record, invoke: Option<usize>, end: usize) -> i64 {
    let events = &record.history.events;
    let Some(invoke) = invoke else { return -1 };
    if record.plan.workload.variant == "quorum-read" {
        return 2 * invoke as i64;
    }
    let own = paired(events).into_iter().filter_map(|(sent, acknowledged)| {
        let acknowledged = ok(events, acknowledged).filter(|&at| at < invoke)?;
        let writes = events[acknowledged].f != "read";
        let same = events[acknowledged].session() == events[end].session();
        (writes && same).then_some(2 * sent? as i64)
    });
    own.max().unwrap_or(-1)
}

fn ops(record: &Record) -> Vec<RegisterOp> {
    let events = &record.history.events;
    let mut all = Vec::new();
    for (invoke, end) in paired(events) {
        let answer = ok(events, end);
        let failed = end.is_some_and(|end| events[end].kind == EventType::Fail);
        let Some(told) = answer.or(invoke).filter(|_| !failed) else {
            continue;
        };
        if events[told].f == "read" && answer.is_none() {
            continue;
        }
        let reads = events[told].f == "read";
        all.push(RegisterOp {
            f: events[told].f.to_string(),
            found: match events[told].f.as_str() {
                "read" => Some(events[told].get(VALUE)),
                "cas" => Some(events[told].get(FROM)),
                _ => None,
            },
            wrote: match events[told].f.as_str() {
                "write" => events[told].get(VALUE),
                _ => events[told].get(TO),
            },
            sent: match answer {
                Some(end) if reads => sent(record, invoke, end),
                _ => invoke.map_or(-1, |at| 2 * at as i64),
            },
            ended: answer.map(|at| 2 * at as i64),
        });
    }
    for reading in record.tree.iter().flat_map(|tree| &tree.readings) {
        all.extend(reading.znodes.iter().map(|znode| RegisterOp {
            f: "read".to_owned(),
            found: Some(znode.data.parse().ok()),
            wrote: None,
            sent: 2 * reading.index as i64 - 1,
            ended: Some(2 * reading.end_index as i64 - 1),
        }));
    }
    all
}

/// Whether some order of the operations fits.
pub fn linearizable(record: &Record) -> bool {
    fits(&mut ops(record), None)
}

/// Whether what is left can be put in an order from this value on; what is unknown may be left out.
fn fits(left: &mut Vec<RegisterOp>, value: Option<i64>) -> bool {
    if left.iter().all(|op| op.ended.is_none()) {
        return true;
    }
    for at in 0..left.len() {
        let first = left
            .iter()
            .all(|other| other.ended.is_none_or(|ended| ended >= left[at].sent));
        if first && left[at].found.is_none_or(|found| found == value) {
            let op = left.remove(at);
            let after = if op.f == "read" { value } else { op.wrote };
            let fits = fits(left, after);
            left.insert(at, op);
            if fits {
                return true;
            }
        }
    }
    false
}

/// The sessions that were shown less than before.
pub fn backward(record: &Record) -> BTreeSet<String> {
    let events = &record.history.events;
    let all = paired(events);
    let reads = all.iter().filter_map(|&(invoke, end)| {
        let (invoke, end) = (invoke?, ok(events, end).filter(|&end| events[end].f == "read")?);
        let older = |&(_, other): &(_, Option<usize>)| {
            let before = ok(events, other).filter(|&other| other < invoke);
            before.is_some_and(|other| {
                events[other].session() == events[end].session() && events[other].mzxid() > events[end].mzxid()
            })
        };
        let session = events[end].session().expect("it is told");
        all.iter().any(older).then(|| session.to_owned())
    });
    reads.collect()
}

/// The answers of reads that missed writes acknowledged before they were sent, and how many each missed.
pub fn stale(record: &Record) -> Vec<(usize, usize)> {
    let events = &record.history.events;
    let all = paired(events);
    let reads = all.iter().filter_map(|&(invoke, end)| {
        let (invoke, end) = (invoke?, ok(events, end).filter(|&end| events[end].f == "read")?);
        let missed = |&&(_, other): &&(_, Option<usize>)| {
            let before = ok(events, other).filter(|&other| other < invoke && events[other].f != "read");
            before.is_some_and(|other| events[other].mzxid() > events[end].mzxid())
        };
        let missed = all.iter().filter(missed).count();
        (missed > 0).then_some((end, missed))
    });
    reads.collect()
}
