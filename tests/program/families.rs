//! Short real runs of variants on a real ensemble.

use crate::common::{RunFiles, short, valid};

/// A run of the variant under these faults, which may be followed by more options, is judged.
fn shaken(name: &str, faults: &str, time: &str, judge: impl FnOnce(&RunFiles)) {
    let line = format!("{name} --time {time} --seed 1 --faults {faults}");
    short(&name.replace('/', "-"), &line, judge);
}

/// A stale write is all that may have been found.
fn stale_at_most(ran: &RunFiles) {
    ran.at_most("stale-write");
    assert_ne!(ran.code, 2, "{}", ran.story());
}

fn writes_stale(ran: &RunFiles) {
    let damage = ran.damage();
    let stale = damage.iter().any(|kind| kind == "stale-write");
    assert!(stale && ran.code == 1, "{damage:?}: {}", ran.story());
}

/// More leases are given than there are, and nothing else is found.
fn over_capacity(ran: &RunFiles) {
    ran.at_most("over-capacity");
    assert_eq!(ran.code, 1, "{}", ran.story());
}

/// A test for each run: its variant, its faults, its time, and how it is judged.
macro_rules! runs {
    ($($test:ident: $variant:literal, $faults:literal, $time:literal, $judge:ident;)*) => {
        $(
            #[test]
            fn $test() {
                shaken($variant, $faults, $time, $judge);
            }
        )*
    };
}

runs! {
    lock_fenced_is_valid_under_pauses_of_its_holder: "lock/fenced", "pause,kill", "14s", valid;
    lock_predecessor_writes_stale_under_pause: "lock/predecessor", "pause", "9s", writes_stale;
    lock_crate_is_valid_without_faults_on_a_single_server: "lock/crate", "none --servers 1", "5s", valid;
    lock_protected_keeps_exclusion_and_leaves_nothing_behind_under_partition: "lock/protected", "partition", "9s", stale_at_most;
    rwlock_fenced_is_valid_under_pause: "rwlock/fenced", "pause", "9s", valid;
    election_ticket: "election/ticket", "none", "4s", valid;
    election_ephemeral: "election/ephemeral", "none", "4s", valid;
    election_sequential_writes_stale_under_pause: "election/sequential", "pause", "9s", writes_stale;
    election_acknowledged_leaves_nothing_behind: "election/acknowledged", "partition", "9s", stale_at_most;
    election_epoch_is_valid_under_pause: "election/epoch", "pause", "9s", valid;
    semaphore_leases_is_valid_under_pause: "semaphore/leases", "pause", "9s", valid;
    semaphore_timed_is_valid_under_pause: "semaphore/timed", "pause", "9s", valid;
    semaphore_counted_is_over_capacity_without_faults: "semaphore/counted", "none", "4s", over_capacity;
    queue_barrier: "barrier/tutorial", "none", "4s", valid;
    queue_double_barrier_is_valid_under_kill: "barrier/double", "kill", "9s", valid;
    queue_fifo: "queue/fifo", "none", "4s", valid;
    queue_claimed_is_valid_under_lost_replies: "queue/claimed", "drop-reply", "9s", valid;
    commit_broadcast: "commit/broadcast", "none", "12s", valid;
    commit_coordinated: "commit/coordinated", "none", "12s", valid;
    commit_ephemeral: "commit/ephemeral", "none", "12s", valid;
    commit_atomic_is_valid_under_lost_replies: "commit/atomic", "drop-reply", "12s", valid;
}
