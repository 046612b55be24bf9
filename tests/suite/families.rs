//! Short real runs of variants on a real ensemble.

use crate::common::{Ran, short, valid};

/// A run of the variant under these faults, with the rest of its command line, is judged.
fn shaken_with(name: &str, faults: &str, time: &str, rest: &[&str], judge: impl FnOnce(&Ran)) {
    let arguments = [name, "--faults", faults, "--time", time, "--seed", "1"];
    short(&name.replace('/', "-"), &[&arguments, rest].concat(), judge);
}

fn shaken(name: &str, faults: &str, time: &str, judge: impl FnOnce(&Ran)) {
    shaken_with(name, faults, time, &[], judge);
}

/// A run of the variant without faults is valid.
fn calm(name: &str, time: &str) {
    shaken(name, "none", time, valid);
}

/// A stale write is all that may have been found.
fn stale_at_most(ran: &Ran) {
    ran.at_most("stale-write");
    assert_ne!(ran.code, 2, "{}", ran.story());
}

fn writes_stale(ran: &Ran) {
    let damage = ran.damage();
    let stale = damage.iter().any(|kind| kind == "stale-write");
    assert!(stale && ran.code == 1, "{damage:?}: {}", ran.story());
}

#[test]
fn lock_fenced_is_valid_under_pauses_of_its_holder() {
    shaken("lock/fenced", "pause,kill", "14s", valid);
}

#[test]
fn lock_predecessor_writes_stale_under_pause() {
    shaken("lock/predecessor", "pause", "9s", writes_stale);
}

#[test]
fn lock_children_is_valid_without_faults() {
    calm("lock/children", "5s");
}

#[test]
fn lock_crate_is_valid_without_faults_on_a_single_server() {
    shaken_with("lock/crate", "none", "5s", &["--servers", "1"], valid);
}

#[test]
fn lock_protected_keeps_exclusion_and_leaves_nothing_behind_under_partition() {
    shaken("lock/protected", "partition", "9s", stale_at_most);
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
    shaken("election/sequential", "pause", "9s", writes_stale);
}

#[test]
fn election_acknowledged_leaves_nothing_behind() {
    shaken("election/acknowledged", "partition", "9s", stale_at_most);
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
        ran.at_most("over-capacity");
        assert_eq!(ran.code, 1, "{}", ran.story());
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
