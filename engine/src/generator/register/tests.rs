//! What clients of a register are asked, when they have lost an operation, when a leader is frozen, and at the end.

use super::*;
use crate::operation::OpKind;
use serde_json::Value;
use std::collections::BTreeSet;
use zooquake_history::EventType;

fn generator() -> RegisterGenerator {
    RegisterGenerator::new(&Plan {
        clients: vec![ClientPlan::default(); 2],
        ..Plan::default()
    })
}

fn at(phase: GeneratorPhase) -> GeneratorMoment {
    let now = Duration::ZERO;
    GeneratorMoment { phase, now }
}

/// Lets a client do its next operation, which succeeds.
fn go(generator: &mut RegisterGenerator, client: usize, phase: GeneratorPhase) -> Option<(&'static str, Value)> {
    let Assignment::Ask(request) = generator.next(client, at(phase)) else {
        return None;
    };
    let op = PendingOp {
        id: 1,
        f: request.f,
        kind: OpKind::Single,
        grant: String::new(),
        work_ms: 0,
        since: Duration::ZERO,
        free_at: Duration::ZERO,
    };
    let end = Completion {
        kind: EventType::Ok,
        value: request.value.clone(),
        error: None,
    };
    generator.ended(client, &op, &end, at(phase));
    Some((request.f, request.value))
}

#[test]
fn values_are_unique_and_a_swap_starts_from_what_was_heard_last() {
    let (mut generator, mut heard, mut seen) = (generator(), None, BTreeSet::new());
    let mut swaps = 0;
    for turn in 0..400 {
        let (f, value) = go(&mut generator, turn % 2, GeneratorPhase::Load).unwrap();
        let written = match f {
            "cas" => {
                assert_eq!(register::FROM.read_from(&value), heard);
                swaps += 1;
                register::TO.read_from(&value)
            }
            "write" => register::VALUE.read_from(&value),
            _ => continue,
        };
        assert!(seen.insert(written), "{written:?} twice");
        heard = written;
    }
    assert!(swaps > 20, "{swaps} swaps");
}

#[test]
fn after_a_loss_and_around_the_freezing_of_a_leader_clients_only_read() {
    let frozen = Window {
        id: 1,
        fault: "pause".to_string(),
        target: Target::Leader,
        payload: None,
        trigger: Trigger::At { at_ms: 300 },
        duration_ms: 3_000,
    };
    let mut around = RegisterGenerator::new(&Plan {
        clients: vec![ClientPlan::default(); 2],
        windows: vec![frozen],
        ..Plan::default()
    });
    let mut lost = generator();
    for _ in 0..50 {
        lost.clients[1].lost = true;
        assert_eq!(go(&mut lost, 1, GeneratorPhase::Load).unwrap().0, "read");
        assert!(!lost.clients[1].lost, "it was answered");
        assert_eq!(go(&mut around, 0, GeneratorPhase::Load).unwrap().0, "read");
    }
    around.reading.clear();
    let names: BTreeSet<&str> = (0..50)
        .map(|_| go(&mut around, 0, GeneratorPhase::Load).unwrap().0)
        .collect();
    assert_eq!(names, BTreeSet::from(["cas", "read", "write"]));
}

#[test]
fn after_recovery_each_client_writes_once_and_reads_once() {
    let mut generator = generator();
    go(&mut generator, 0, GeneratorPhase::Load);
    assert!(go(&mut generator, 0, GeneratorPhase::Drain).is_none());
    generator.recovered(&AnsweredDurations::default());
    for client in [0, 1] {
        let names: Vec<&str> = std::iter::from_fn(|| go(&mut generator, client, GeneratorPhase::Final))
            .map(|(f, _)| f)
            .collect();
        assert_eq!(names, ["write", "read"]);
        assert!(generator.finished(client));
    }
}
