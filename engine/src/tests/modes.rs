//! Holds that are shared, and several at a time.

use super::*;
use crate::generator;
use std::num::NonZeroUsize;
use zooquake_history::operation::{Mode, grant};
use zooquake_history::plan::{Capabilities, ClientState};

/// An engine whose clients, of a lock that so many may hold, have asked for grants of these modes, named `m1` for c1
/// and so on.
fn asking(capacity: usize, modes: &[Mode]) -> Bench {
    let mut bench = Bench::with("lock/fenced", modes.len(), |plan| {
        let capacity = NonZeroUsize::new(capacity).unwrap();
        plan.workload.capabilities = Some(Capabilities {
            capacity,
            ..Capabilities::NONE
        });
    });
    for (client, &mode) in modes.iter().enumerate() {
        bench.answer(client, "acquire", Outcome::Fail, Value::Null);
        ask(&mut bench, client, mode);
    }
    bench
}

fn ask(bench: &mut Bench, client: usize, mode: Mode) {
    let grant = format!("m{}", client + 1);
    let request = generator::OperationRequest {
        timeout_ms: None,
        ..generator::OperationRequest::new(&grant::GrantRequest::Acquire { grant, mode }, 0)
    };
    bench.engine.clients.workers[client].due = None;
    bench.engine.clients.ask(&mut bench.engine.run, client, request);
    bench.step(Input::Turn);
}

/// The clients that are asked to confirm once these have been granted, one after the other.
fn confirming(capacity: usize, modes: &[Mode]) -> Vec<usize> {
    let mut bench = asking(capacity, modes);
    (0..modes.len()).for_each(|client| bench.ok(client, "acquire"));
    (0..modes.len())
        .filter(|&client| bench.asked(client, "confirm"))
        .collect()
}

use Mode::{Exclusive, Shared};

#[test]
fn all_that_hold_are_asked_to_confirm_while_some_exclude_each_other() {
    assert_eq!(confirming(1, &[Shared, Shared, Shared]), [0; 0]);
    assert_eq!(confirming(1, &[Shared, Shared, Exclusive]), [0, 1, 2]);
    assert_eq!(confirming(1, &[Exclusive, Shared]), [0, 1]);
    assert_eq!(confirming(2, &[Exclusive, Exclusive]), [0; 0]);
    assert_eq!(confirming(2, &[Exclusive, Exclusive, Exclusive]), [0, 1, 2]);
}

#[test]
fn nobody_is_asked_any_more_once_what_is_left_fits() {
    let mut bench = asking(2, &[Exclusive, Exclusive, Exclusive]);
    (0..3).for_each(|client| bench.ok(client, "acquire"));
    bench.answer(2, "confirm", Outcome::Ok, json!({ "holds": false }));
    for client in 0..2 {
        bench.ok(client, "confirm");
    }
    bench.pass(600);
    assert!((0..3).all(|client| !bench.asked(client, "confirm")));
}

/// Milliseconds of free time of each client while some hold and the rest wait, in a tenth of a second.
fn free(capacity: usize, modes: &[Mode], holders: &[usize]) -> Vec<u128> {
    let mut bench = asking(capacity, modes);
    bench.let_rest();
    holders.iter().for_each(|&client| bench.ok(client, "acquire"));
    bench.let_rest();
    bench.engine.clients.restart_free_time();
    bench.now += Duration::from_millis(100);
    bench.step(Input::Turn);
    let free = |client| bench.engine.clients.holds.free_time(client).as_millis();
    (0..modes.len()).map(free).collect()
}

#[test]
fn time_is_free_for_one_that_what_is_held_does_not_exclude() {
    assert_eq!(free(1, &[Exclusive, Exclusive], &[]), [100, 100]);
    assert_eq!(free(1, &[Exclusive, Exclusive], &[0]), [0, 0]);
    assert_eq!(free(1, &[Exclusive, Shared], &[0]), [0, 0]);
    assert_eq!(free(1, &[Shared, Exclusive], &[0]), [0, 0]);
    assert_eq!(free(1, &[Shared, Shared], &[0]), [100, 100]);
    assert_eq!(free(2, &[Exclusive, Exclusive], &[0]), [100, 100]);
    assert_eq!(free(2, &[Exclusive, Exclusive, Exclusive], &[0, 1]), [0, 0, 0]);
}

#[test]
fn time_is_not_free_for_a_reader_while_a_writer_waits_for_another_reader() {
    assert_eq!(free(1, &[Shared, Exclusive, Shared], &[0]), [0, 0, 0]);
    assert_eq!(free(1, &[Shared, Exclusive, Shared], &[]), [100, 100, 100]);
}

/// Whether a window that waits for one that waits fires.
fn strikes_one_that_waits(capacity: usize, modes: &[Mode]) -> bool {
    let mut bench = asking(capacity, modes);
    (0..modes.len() - 1).for_each(|client| bench.ok(client, "acquire"));
    bench.let_rest();
    bench.answers();
    bench.report(5, super::faults::in_state(ClientState::Waiting, 0));
    !bench.answers().is_empty()
}

#[test]
fn one_that_waits_is_struck_while_it_is_excluded() {
    assert!(strikes_one_that_waits(1, &[Exclusive, Exclusive]));
    assert!(strikes_one_that_waits(1, &[Shared, Exclusive]));
    assert!(strikes_one_that_waits(1, &[Exclusive, Shared]));
    assert!(!strikes_one_that_waits(1, &[Shared, Shared]));
    assert!(!strikes_one_that_waits(2, &[Exclusive, Exclusive]));
    assert!(strikes_one_that_waits(2, &[Exclusive, Exclusive, Exclusive]));
}

/// A reader's work is its read, and a writer's its write.
#[test]
fn one_that_works_under_a_shared_grant_reads_and_is_struck_as_a_holder() {
    let mut bench = Bench::running("rwlock/fenced", 1);
    for _ in 0..20 {
        bench.ok_at_once(0, "acquire");
        let reads = bench.engine.clients.holds.mode(0) == Shared;
        assert_ne!(bench.asked(0, "read"), bench.asked(0, "write"));
        assert_eq!(bench.asked(0, "read"), reads);
        bench.report(5, super::faults::in_state(ClientState::Working, 0));
        assert!(!bench.answers().is_empty());
        if reads {
            bench.ok(0, "read");
            let read = bench.completions("read").pop().map(|entry| entry.value.clone());
            assert_eq!(read.unwrap()["value"], bench.engine.clients.resource.read().clone());
        } else {
            let written = json!({ "grant": "g", "value": 7, "token": 7 });
            bench.answer(0, "write", Outcome::Ok, written);
        }
        bench.pass(0);
        bench.ok(0, "release");
        bench.pass(200);
    }
    assert!(bench.completions("read").len() > 5 && bench.completions("write").len() > 3);
}

#[test]
fn a_read_that_is_not_held_ends_the_hold() {
    let mut bench = Bench::running("rwlock/fenced", 4);
    let shared = (0..4)
        .find(|&client| bench.engine.clients.holds.mode(client) == Shared)
        .unwrap();
    bench.ok_at_once(shared, "acquire");
    assert!(bench.engine.clients.holds.is_holder(shared));
    bench.answer(shared, "read", Outcome::Fail, Value::Null);
    assert!(!bench.engine.clients.holds.is_holder(shared));
}

/// After recovery a second reader stays pending while another one holds: that is its own doing.
#[test]
fn the_bound_of_liveness_runs_for_a_reader_while_another_one_holds() {
    for (modes, over) in [([Shared, Shared], true), ([Exclusive, Shared], false)] {
        let mut bench = asking(1, &modes);
        bench.ok(0, "acquire");
        bench.engine.clients.restart_free_time();
        bench.let_rest();
        bench.now += Duration::from_secs(11);
        bench.step(Input::Turn);
        let bound = Duration::from_secs(10);
        assert_eq!(bench.engine.clients.holds.free_time(1) >= bound, over, "{modes:?}");
    }
}
