//! Short real runs of read-write locks, elections, semaphores, queues, barriers and two-phase commits on a real ensemble.

use crate::common::{Ran, short, valid};

/// A run of the variant without faults is valid.
fn calm(name: &str, time: &str) {
    short(
        &name.replace('/', "-"),
        &[name, "--faults", "none", "--time", time, "--seed", "1"],
        valid,
    );
}

/// A run of the variant under these faults is judged.
fn shaken(name: &str, faults: &str, time: &str, judge: impl FnOnce(&Ran)) {
    short(
        &name.replace('/', "-"),
        &[name, "--faults", faults, "--time", time, "--seed", "1"],
        judge,
    );
}

#[test]
fn rwlock_fenced_is_valid_under_pause() {
    shaken("rwlock/fenced", "pause", "9s", valid);
}

#[test]
fn election_ticket() {
    calm("election/ticket", "4s");
}

#[test]
fn election_ephemeral() {
    calm("election/ephemeral", "4s");
}

#[test]
fn election_sequential_writes_stale_under_pause() {
    shaken("election/sequential", "pause", "9s", |ran| {
        assert_eq!(ran.code, 1, "{}", ran.story());
        assert!(
            ran.damage().contains(&"stale-write".to_string()),
            "{:?}: {}",
            ran.damage(),
            ran.story()
        );
    });
}

#[test]
fn election_acknowledged_leaves_nothing_behind() {
    shaken("election/acknowledged", "partition", "9s", |ran| {
        assert!(
            ran.damage().iter().all(|kind| kind == "stale-write"),
            "{:?}: {}",
            ran.damage(),
            ran.story()
        );
        assert_ne!(ran.code, 2, "{}", ran.story());
    });
}

#[test]
fn election_epoch_is_valid_under_pause() {
    shaken("election/epoch", "pause", "9s", valid);
}

#[test]
fn semaphore_leases_is_valid_under_pause() {
    shaken("semaphore/leases", "pause", "9s", valid);
}

#[test]
fn semaphore_counted_is_over_capacity_without_faults() {
    shaken("semaphore/counted", "none", "4s", |ran| {
        assert_eq!(ran.code, 1, "{}", ran.story());
        assert!(
            ran.damage().iter().all(|kind| kind == "over-capacity"),
            "{:?}: {}",
            ran.damage(),
            ran.story()
        );
    });
}

#[test]
fn queue_barrier() {
    calm("barrier/tutorial", "4s");
}

#[test]
fn queue_double_barrier_is_valid_under_kill() {
    shaken("barrier/double", "kill", "9s", valid);
}

#[test]
fn queue_fifo() {
    calm("queue/fifo", "4s");
}

#[test]
fn queue_claimed_is_valid_under_lost_replies() {
    shaken("queue/claimed", "drop-reply", "9s", valid);
}

#[test]
fn commit_broadcast() {
    calm("commit/broadcast", "5s");
}

#[test]
fn commit_coordinated() {
    calm("commit/coordinated", "5s");
}

#[test]
fn commit_ephemeral() {
    calm("commit/ephemeral", "5s");
}

#[test]
fn commit_atomic_is_valid_under_lost_replies() {
    shaken("commit/atomic", "drop-reply", "12s", valid);
}
