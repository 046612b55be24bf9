//! What all generators have in common after recovery: each client finishes, failing fast is not finishing, and a second
//! recovery begins it again.

use super::*;
use crate::operation::OpKind;
use serde_json::json;
use std::collections::BTreeMap;
use zooquake_history::EventType;
use zooquake_history::operation::commit::{CommitRequest, Vote};
use zooquake_history::operation::grant::GrantRequest;
use zooquake_history::plan::ClientPlan;

pub const CLIENTS: usize = 3;

#[test]
fn each_family_of_histories_has_a_generator() {
    let here = families::FAMILIES.iter().map(|family| family.spec.name);
    let all = zooquake_history::operation::FAMILIES.iter().map(|family| family.name);
    assert!(here.eq(all));
}

pub fn plan(name: &str) -> Plan {
    let (family, variant) = name.split_once('/').unwrap();
    let mut plan = Plan::default();
    plan.workload.family = family.to_string();
    plan.workload.variant = variant.to_string();
    plan.clients = vec![ClientPlan::default(); CLIENTS];
    plan
}

fn generator(name: &str) -> Box<dyn Generator> {
    from_plan(&plan(name)).unwrap()
}

/// An end without an error.
pub fn end(kind: EventType, value: Value) -> Completion {
    let error = None;
    Completion { kind, value, error }
}

const ALL: [&str; 12] = [
    "lock/fenced",
    "rwlock/fenced",
    "election/epoch",
    "semaphore/leases",
    "barrier/tutorial",
    "barrier/double",
    "barrier/gate",
    "queue/fifo",
    "queue/claimed",
    "commit/atomic",
    "register/quorum-read",
    "counter/versioned",
];

/// The answer of a client that does all that it is asked.
fn well(f: &str, value: &Value) -> Value {
    let mut value = value.clone();
    match f {
        "dequeue" => value = json!({ "item": 7 }),
        "decide" | "decided" => value["decision"] = json!("commit"),
        _ => {}
    }
    value
}

/// The operation of a request that was sent at a moment.
pub fn op(request: OperationRequest, since: Duration) -> PendingOp {
    PendingOp {
        id: 1,
        f: request.f,
        kind: OpKind::in_family("", request.f),
        grant: request.grant,
        work_ms: 0,
        since,
        free_at: Duration::ZERO,
    }
}

pub fn at(now: Duration) -> GeneratorMoment {
    let phase = GeneratorPhase::Final;
    GeneratorMoment { phase, now }
}

/// Asks every client again and again, as the engine does, for so many rounds; returns who was asked what, and the
/// shortest pause after an answer that was not `ok`.
fn go(
    generator: &mut dyn Generator,
    rounds: usize,
    now: &mut Duration,
    answer: impl Fn(usize, &str) -> EventType,
) -> (Vec<(usize, &'static str)>, Duration) {
    let (mut asked, mut shortest) = (Vec::new(), Duration::MAX);
    for _ in 0..rounds {
        let mut sent = Vec::new();
        for client in 0..CLIENTS {
            match generator.next(client, at(*now)) {
                Assignment::Ask(request) => sent.push((client, request)),
                // The barrier's members give the application a head start.
                Assignment::Wait(time) | Assignment::Await(time) => *now += time.min(Duration::from_millis(20)),
                Assignment::Nothing => {}
            }
        }
        for (client, request) in sent {
            asked.push((client, request.f));
            let (f, value) = (request.f, request.value.clone());
            let op = op(request, *now);
            let kind = answer(client, f);
            let value = match kind {
                EventType::Ok => well(f, &value),
                _ => json!({ "tx": value["tx"] }),
            };
            let error = (kind != EventType::Ok).then(|| "no".to_string());
            let pause = generator.ended(client, &op, &Completion { kind, value, error }, at(*now));
            if kind != EventType::Ok {
                shortest = shortest.min(pause);
            }
        }
    }
    (asked, shortest)
}

pub fn finished(generator: &dyn Generator) -> bool {
    (0..CLIENTS).all(|client| generator.finished(client))
}

#[test]
fn who_does_all_that_it_is_asked_finishes_and_does_so_again() {
    for name in ALL {
        let (mut generator, mut now) = (generator(name), Duration::ZERO);
        for time in ["once", "again"] {
            generator.recovered(&AnsweredDurations::default());
            assert!(name == "barrier/tutorial" || !finished(&*generator), "{name} {time}");
            let (asked, _) = go(&mut *generator, 20, &mut now, |_, _| EventType::Ok);
            assert!(finished(&*generator), "{name} {time}: {asked:?}");
        }
    }
}

#[test]
fn failing_fast_is_not_finishing_and_is_no_busy_loop() {
    for name in ALL {
        for kind in [EventType::Fail, EventType::Info] {
            let (mut generator, mut now) = (generator(name), Duration::ZERO);
            generator.recovered(&AnsweredDurations::default());
            let (asked, shortest) = go(&mut *generator, 20, &mut now, |_, _| kind);
            assert!(!finished(&*generator), "{name} {kind:?}");
            assert!(asked.len() > 4, "{name} {kind:?} is asked again: {asked:?}");
            assert!(shortest >= Duration::from_millis(200), "{name} {kind:?}: {shortest:?}");
            let (asked, _) = go(&mut *generator, 30, &mut now, |_, _| EventType::Ok);
            assert!(finished(&*generator), "{name} after {kind:?}: {asked:?}");
        }
    }
}

#[test]
fn a_site_that_never_learns_the_decision_is_asked_for_it_again() {
    for (who, f) in [(2, "decided"), (0, "decide")] {
        let (mut generator, mut now) = (generator("commit/atomic"), Duration::ZERO);
        generator.recovered(&AnsweredDurations::default());
        let unknown = |client, asked: &str| match (client, asked) {
            (client, asked) if client == who && asked == f => EventType::Info,
            _ => EventType::Ok,
        };
        let (asked, _) = go(&mut *generator, 20, &mut now, unknown);
        assert!(!finished(&*generator), "{f}");
        assert!(asked.iter().filter(|one| **one == (who, f)).count() > 3, "{asked:?}");
    }
}

#[test]
fn after_recovery_an_operation_of_a_queue_does_not_time_out_within_the_bound() {
    for (f, timeout_ms) in [("dequeue", 32_000), ("acknowledge", 32_000), ("enqueue", 32_000)] {
        let mut answered = AnsweredDurations::default();
        answered.add(f, Duration::from_secs(3));
        let mut generator = generator("queue/claimed");
        generator.recovered(&answered);
        let Assignment::Ask(request) = generator.next(0, at(Duration::ZERO)) else {
            panic!("a producer waits for nobody")
        };
        assert_eq!(request.timeout_ms, Some(timeout_ms), "{f}");
    }
}

/// The first request of each operation, as it stands in the history: its name and its value.
fn requests(name: &str) -> Vec<String> {
    let (mut generator, mut now, mut first) = (generator(name), Duration::ZERO, BTreeMap::new());
    let mut waited = false;
    for phase in [GeneratorPhase::Load, GeneratorPhase::Final] {
        for turn in 0..30 * CLIENTS {
            let (client, at) = (turn % CLIENTS, GeneratorMoment { phase, now });
            let Assignment::Ask(request) = generator.next(client, at) else {
                now += Duration::from_millis(20);
                continue;
            };
            let (f, value) = (request.f, request.value.clone());
            first.entry(f).or_insert_with(|| format!("{f} {value}"));
            // A barrier opens only when its application has waited.
            let waits = f == "enter" && !std::mem::replace(&mut waited, true);
            let kind = if waits { EventType::Info } else { EventType::Ok };
            generator.ended(client, &op(request, now), &end(kind, well(f, &value)), at);
        }
        generator.recovered(&AnsweredDurations::default());
    }
    first.into_values().collect()
}

#[test]
fn a_request_names_the_grant_that_it_is_about_and_the_work_in_it() {
    let (grant, value, tx, vote) = ("g7".to_string(), json!(1), "t7".to_string(), Vote::Yes);
    let write = OperationRequest::new(
        &GrantRequest::Write {
            grant,
            value,
            work_ms: 40,
        },
        0,
    );
    let vote = OperationRequest::new(&CommitRequest::Vote { tx, vote, work_ms: 50 }, 0);
    assert_eq!((write.grant.as_str(), write.work_ms), ("g7", 40));
    assert_eq!((vote.grant.as_str(), vote.work_ms), ("", 50));
}

#[test]
fn requests_are_written_as_the_history_s_format_says() {
    let expected = r#"
        lock/fenced: acquire {"grant":"g1"}
        lock/fenced: release {"grant":"g1"}
        lock/fenced: write {"grant":"g1","value":1,"work_ms":0}
        rwlock/fenced: acquire {"grant":"g1","mode":"shared"}
        rwlock/fenced: read {"grant":"g1","work_ms":0}
        rwlock/fenced: release {"grant":"g1"}
        rwlock/fenced: write {"grant":"g2","value":1,"work_ms":0}
        election/epoch: elect {"grant":"g1"}
        election/epoch: resign {"grant":"g1"}
        election/epoch: write {"grant":"g1","value":1,"work_ms":0}
        semaphore/leases: acquire {"grant":"g1"}
        semaphore/leases: release {"grant":"g1"}
        semaphore/leases: work {"grant":"g1","work_ms":0}
        barrier/tutorial: close {"round":1}
        barrier/tutorial: enter {"members":2,"round":1}
        barrier/tutorial: join {"member":1,"members":2,"round":1}
        barrier/double: enter {"members":3,"round":1}
        barrier/double: leave {"round":1}
        barrier/gate: lift {"round":1}
        barrier/gate: raise {"round":1}
        barrier/gate: wait {"round":1}
        queue/claimed: acknowledge {"item":7}
        queue/claimed: dequeue {}
        queue/claimed: enqueue {"item":1}
        commit/atomic: begin {"payload":1,"sites":["c2","c3"],"tx":"t1"}
        commit/atomic: decide {"payload":1,"sites":["c2","c3"],"tx":"t1"}
        commit/atomic: decided {"tx":"t1"}
        commit/atomic: vote {"tx":"t1","vote":"yes","work_ms":0}
        register/quorum-read: cas {"from":3,"to":4}
        register/quorum-read: read {}
        register/quorum-read: write {"value":1}
        counter/versioned: get {}
        counter/versioned: increment {}"#;
    let found = ALL.iter().filter(|name| **name != "queue/fifo").flat_map(|name| {
        let requests = requests(name).into_iter();
        requests.map(move |request| format!("{name}: {request}"))
    });
    let expected = expected.lines().skip(1).map(str::trim);
    assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}
