//! The checkers against histories written by hand, against a brute force, and against damage.
//!
//! # Random histories
//!
//! The tests named `agreement` and `doubtful_evidence`, `search::total` and others draw small random histories of each
//! family and model, and hold the checkers against definitions taken literally. The environment sets how many each of
//! them draws:
//!
//! ```text
//! ZOOQUAKE_HISTORIES=1000000 cargo test --release -p zooquake-checkers --test suite agreement
//! ZOOQUAKE_HISTORIES=1000000 cargo test --release -p zooquake-checkers --test suite search::
//! ```
//!
//! Without it they draw ten thousand of each family, 25,000 of each model, and four thousand spoilt ones. Those named
//! `minimal` draw three thousand, and try the witness of every anomaly in them.

/// How many random histories of a family a test is to draw: the number in `ZOOQUAKE_HISTORIES`, else `usual`.
fn histories(usual: u64) -> u64 {
    match std::env::var("ZOOQUAKE_HISTORIES") {
        Ok(text) => text.parse().expect("ZOOQUAKE_HISTORIES is a number"),
        Err(_) => usual,
    }
}

mod accepted_anomalies;
mod agreement;
mod analysis;
mod anomaly_tally;
mod brute_force;
mod client_crash;
mod commit;
mod concurrent_histories;
mod consensus;
mod counter;
mod damaged_histories;
mod deletions;
mod disputed_answers;
mod doubtful_evidence;
mod election;
mod election_terms;
mod ended_holds;
mod ensemble;
mod expect;
mod failover;
mod foreign_znode;
mod generated_histories;
mod grant_modes;
mod grant_safety;
mod growth;
mod idle;
mod inferred_plan;
mod leases;
mod liveness;
mod lost_engines;
mod membership;
mod minimal_witnesses;
mod missing_evidence;
mod orphan_cause;
mod overlaps;
mod pairing;
mod plain_definitions;
mod promised_evidence;
mod queue;
mod record_gaps;
mod recovery;
mod refused_for_ever;
mod register;
mod required_fields;
mod rwlock;
mod scale;
mod script;
mod script_lines;
mod search;
mod semaphore;
mod sessionless_clients;
mod simulated_locks;
mod stolen_znode;
mod texts;
mod unfinished_operations;
mod verdicts;
mod waiting_causes;
mod wakeups_and_orphans;
