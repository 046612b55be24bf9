//! Histories without a plan: what was promised is inferred from what was asked and answered.
//!
//! Where nothing shows it, only what every promise of the family has is judged, and a reason says so. The verdict is
//! never `valid`: which faults were asked for stands in the plan.

use crate::plan::{Plan, Resource, Target, Trigger, Window, Workload};
use crate::search::{self, Budget, ModelKind, Notation};
use crate::verdict::verdict;
use crate::{Event, EventType, History, Process, Record, Results, Verdict, families};
use std::collections::BTreeMap;
use zooquake_history::operation::barrier::ROUND;
use zooquake_history::operation::commit::TX;
use zooquake_history::operation::counter::ID;
use zooquake_history::operation::grant::{ACCEPTED, GRANT, MODE, TOKEN};
use zooquake_history::operation::queue::ITEM;
use zooquake_history::operation::register::{self, FROM, TO};
use zooquake_history::operation::{Any, CZXID, Field, MZXID, PATH};

/// Judges a history that has no plan: as what `kind` says; else, if it is written as ours are, by what it shows to be
/// promised; else by search, as what its operations show. `damage`: what of it could not be read.
pub fn judge(
    history: &History,
    damage: Vec<String>,
    kind: Option<ModelKind>,
    notation: Notation,
    budget: &mut Budget<'_>,
) -> Results {
    let ours = kind.is_none() && is_ours(history);
    if let Some(kind) = kind.or_else(|| search::infer(history).filter(|_| !ours)) {
        return search::judge(history, damage, kind, notation, budget);
    }
    check(history, damage.clone()).unwrap_or_else(|what| Results {
        verdict: Verdict::Unknown,
        reasons: damage.into_iter().chain([what]).collect(),
        ..Results::default()
    })
}

/// Judges a history of ours that has no plan; `damage`: what of it could not be read.
///
/// # Errors
/// Its operations are not written as those of any family are.
pub fn check(history: &History, damage: Vec<String>) -> Result<Results, String> {
    let promise = infer(history).ok_or_else(|| unjudged(history))?;
    let mut record = Record {
        plan: promise.plan,
        history: history.clone(),
        damage,
        ..Record::default()
    };
    record
        .damage
        .push(format!("plan.json is missing: {}", promise.basis.join("; ")));
    let mut results = families::check(&record);
    // A vote may lawfully take as long as a session, a hand-over twice as long, and how long that is stands only in the
    // plan.
    for kind in ["needless-abort", "idle-lock", "leaderless"] {
        unjudge(&mut results, kind, "the session timeout");
    }
    if record.plan.workload.family == "semaphore" {
        unjudge(&mut results, "over-capacity", "the number of leases");
        unjudge(&mut results, "stale-holder", "the number of leases");
    }
    Ok(results)
}

/// Takes back an anomaly that depends on something that only the plan has.
fn unjudge(results: &mut Results, kind: &str, on: &str) {
    let all = results.anomalies.len();
    results.anomalies.retain(|anomaly| anomaly.kind != kind);
    if results.anomalies.len() < all {
        let what = format!("{kind} was not judged: it depends on {on}, which the plan tells");
        results.reasons.insert(0, what);
        results.verdict = verdict(&results.anomalies, &results.reasons);
    }
}

/// Whether a history is written as ours are: its operations name what those of some family name.
pub fn is_ours(history: &History) -> bool {
    infer(history).is_some()
}

/// Why nothing judges a history: what its operations are.
pub fn unjudged(history: &History) -> String {
    let mut names: Vec<&str> = invocations(history).map(|event| event.f.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    match names.as_slice() {
        [] => "the history holds no operation".to_owned(),
        names => format!(
            "nothing here judges the operations {} unless --model says what they are of ({}); else there are the families of our \
             own histories",
            names.join(", "),
            ModelKind::names()
        ),
    }
}

/// A plan that has all that is known of a history's promise.
#[derive(Debug)]
struct Promise {
    plan: Plan,
    /// From what in the history it was inferred, in words.
    basis: Vec<&'static str>,
}

fn infer(history: &History) -> Option<Promise> {
    let (family, variant, mut basis) = family(history)?;
    let mut workload = Workload {
        family: family.to_owned(),
        variant: variant.to_owned(),
        promise: "inferred from the history".to_owned(),
        ..Workload::default()
    };
    if matches!(family, "lock" | "rwlock" | "election") {
        workload.resource = resource(history, &mut basis);
        workload.fenced = answers(history).any(|event| known(event, TOKEN.any()));
    }
    let windows = windows(history);
    let mut faults: Vec<String> = windows.iter().map(|window| window.fault.clone()).collect();
    faults.sort_unstable();
    faults.dedup();
    let plan = Plan {
        format: 1,
        workload,
        faults,
        windows,
        ..Plan::default()
    };
    Some(Promise { plan, basis })
}

/// The family, the variant whose promise is judged, and what that rests on.
fn family(history: &History) -> Option<(&'static str, &'static str, Vec<&'static str>)> {
    let any = |names: &[&str], field: Field<Any>| {
        let of = |event: &Event| names.contains(&event.f.as_str()) && event.get(field).is_some();
        invocations(history).any(of)
    };
    let one = |family, variant, basis: &'static str| Some((family, variant, vec![basis]));
    if any(&["elect", "resign"], GRANT.any()) {
        return one("election", "unknown", "it elects, so it was judged as an election");
    }
    if any(&["work"], GRANT.any()) {
        let basis =
            "clients work under grants and write nothing, so it was judged as a semaphore, of one lease at least";
        return one("semaphore", "unknown", basis);
    }
    if any(&["acquire"], GRANT.any()) && any(&["acquire"], MODE.any()) {
        let basis = "its requests for grants name modes, so it was judged as a read-write lock";
        return one("rwlock", "unknown", basis);
    }
    if any(&["acquire", "release"], GRANT.any()) {
        return one("lock", "unknown", "it acquires grants, so it was judged as a lock");
    }
    if any(&["join"], ROUND.any()) {
        let basis = "members join, so it was judged as the tutorial's barrier";
        return one("barrier", "tutorial", basis);
    }
    if any(&["enter", "leave"], ROUND.any()) {
        let basis = "nobody joins, so it was judged as a double barrier";
        return one("barrier", "double", basis);
    }
    if any(&["enqueue", "acknowledge"], ITEM.any()) || dequeues(history) {
        let basis = match claims(history) {
            true => "items are claimed, so it was judged by what queue/claimed promises",
            false => {
                "nothing tells whether an item may be delivered again until it is acknowledged, so only what queue/fifo and \
                 queue/claimed both promise was judged"
            }
        };
        return one("queue", "claimed", basis);
    }
    if any(&["begin", "decide", "vote", "decided"], TX.any()) {
        let basis = "it votes and decides, so it was judged as a two-phase commit";
        return one("commit", "unknown", basis);
    }
    if answers(history).any(|event| event.f == "increment" && event.get(ID.any()).is_some()) {
        let basis = "increments are given ids, so it was judged as a counter that began at 0";
        return one("counter", "unknown", basis);
    }
    register(history).then_some((
        "register",
        "unknown",
        vec!["what every variant of a register promises was judged, which is not that reads are linearizable"],
    ))
}

/// Whether all operations are a register's with its values in fields.
fn register(history: &History) -> bool {
    let mut some = false;
    let all = invocations(history).all(|event| {
        some = true;
        match event.f.as_str() {
            "read" => event.value.is_object(),
            "write" => event.get(register::VALUE.any()).is_some(),
            "cas" => event.get(FROM.any()).is_some() && event.get(TO.any()).is_some(),
            _ => false,
        }
    });
    some && all
}

fn dequeues(history: &History) -> bool {
    answers(history).any(|event| event.f == "dequeue" && event.get(ITEM.any()).is_some())
}

/// Whether items are claimed and acknowledged.
fn claims(history: &History) -> bool {
    let acknowledges = invocations(history).any(|event| event.f == "acknowledge");
    acknowledges
        || answers(history).any(|event| event.f == "dequeue" && (known(event, PATH.any()) || known(event, CZXID.any())))
}

/// Where the resource is, by the fields of its writes. If none shows it, the resource is taken to be in ZooKeeper,
/// where writes without an `mzxid` have no known order.
fn resource(history: &History, basis: &mut Vec<&'static str>) -> Resource {
    let writes = || answers(history).filter(|event| event.f == "write");
    if writes().any(|event| known(event, MZXID.any())) {
        basis.push("writes name their transactions, so the resource is in ZooKeeper");
        Resource::Zookeeper
    } else if writes().any(|event| known(event, ACCEPTED.any())) {
        basis.push("writes say that they were accepted, so the resource is outside of ZooKeeper");
        Resource::External
    } else {
        if writes().next().is_some() {
            basis.push("nothing tells where the resource is, so the order of writes was not judged");
        }
        Resource::Zookeeper
    }
}

/// A window for each fault in the history.
fn windows(history: &History) -> Vec<Window> {
    let mut faults: BTreeMap<usize, &str> = BTreeMap::new();
    for event in history.events.iter().filter(|event| event.is_of("nemesis")) {
        if let Some(id) = event.window().and_then(|id| usize::try_from(id).ok()) {
            faults.entry(id).or_insert(&event.f);
        }
    }
    let window = |(id, fault): (usize, &str)| Window {
        id,
        fault: fault.to_owned(),
        target: Target::Client,
        payload: None,
        trigger: Trigger::At { at_ms: 0 },
        duration_ms: 0,
    };
    faults.into_iter().map(window).collect()
}

fn invocations(history: &History) -> impl Iterator<Item = &Event> {
    numbered(history).filter(|event| event.kind == EventType::Invoke)
}

fn answers(history: &History) -> impl Iterator<Item = &Event> {
    numbered(history).filter(|event| event.kind == EventType::Ok)
}

fn numbered(history: &History) -> impl Iterator<Item = &Event> {
    let events = history.events.iter();
    events.filter(|event| matches!(event.process, Process::Number(_)))
}

/// Whether an event has a field that is not null.
fn known(event: &Event, field: Field<Any>) -> bool {
    event.get(field).is_some_and(|value| !value.is_null())
}
