//! The checkers against histories written by hand, against a brute force, and against damage.
//!
//! # Random histories
//!
//! The tests named `agree` and `spoilt`, `search::total` and others draw small random histories of each family and model, and hold the
//! checkers against definitions taken literally. How many they draw, each, the environment says:
//!
//! ```text
//! ZOOQUAKE_HISTORIES=1000000 cargo test --release -p zooquake-checkers --test suite agree
//! ZOOQUAKE_HISTORIES=1000000 cargo test --release -p zooquake-checkers --test suite search::
//! ```
//!
//! Without it they draw ten thousand of each family, 25,000 of each model, and four thousand spoilt ones. Those named `minimal` draw
//! three thousand, and try the witness of every anomaly in them.

/// How many random histories of a family a test is to draw: what `ZOOQUAKE_HISTORIES` says, else as many as usual.
fn histories(usual: u64) -> u64 {
    match std::env::var("ZOOQUAKE_HISTORIES") {
        Ok(text) => text.parse().expect("ZOOQUAKE_HISTORIES is a number"),
        Err(_) => usual,
    }
}

mod accepted;
mod agree;
mod analysis;
mod bare;
mod brute;
mod commit;
mod concurrent;
mod counter;
mod crash;
mod damage;
mod deletions;
mod disputed;
mod drawn;
mod election;
mod ensemble;
mod expect;
mod failover;
mod finishing;
mod foreign;
mod generated;
mod growth;
mod idle;
mod leavers;
mod minimal;
mod modes;
mod naive;
mod overlaps;
mod pairing;
mod promised;
mod queue;
mod recovery;
mod register;
mod rwlock;
mod safety;
mod scale;
mod script;
mod search;
mod semaphore;
mod shutdown;
mod spoilt;
mod stolen;
mod teller;
mod terms;
mod texts;
mod untold;
mod verdicts;
mod world;
