//! The same seed gives the same history, byte for byte, in debug and in release builds.

use super::space::Space;
use crate::run::simulation;
use fnv::FnvHasher;
use std::hash::Hasher;
use zooquake_history::Record;

/// Schedules of each variant.
const SCHEDULES: u64 = 12;

/// Digests of the records of the first schedules. A change of the model, of the engine or of a recipe changes them:
/// then put in what the test shows, and let both builds agree on it.
const DIGESTS: [(&str, u64); 4] = [
    ("lock/protected", 2083779555620410615),
    ("queue/claimed", 9246783793094193748),
    ("register/read", 4362976875361673540),
    ("commit/atomic", 16403111317635716702),
];

/// A hash of all that was recorded, as it would stand in the run's files.
fn digest(hasher: &mut FnvHasher, record: &Record) {
    let mut write = |part: serde_json::Result<Vec<u8>>| hasher.write(&part.unwrap());
    for event in &record.history.events {
        write(serde_json::to_vec(event));
    }
    write(serde_json::to_vec(&record.tree));
    write(serde_json::to_vec(&record.txnlog));
    write(serde_json::to_vec(&record.server_txnlogs));
    write(serde_json::to_vec(&record.servers));
}

#[test]
fn a_seed_gives_the_same_bytes_in_every_build() {
    let digests = DIGESTS.map(|(variant, _)| {
        let space = Space {
            variant: variant.into(),
            servers: 3,
            clients: 5,
            ops: 8,
            windows: 2,
            faults: ["kill", "pause", "partition", "drop-reply", "disconnect", "expire"]
                .map(String::from)
                .into(),
            ..Space::default()
        };
        let space = space.resolve().unwrap();
        let mut hasher = FnvHasher::default();
        for seed in 1..=SCHEDULES {
            digest(&mut hasher, &simulation::record(&space.case(seed)).unwrap());
        }
        (variant, hasher.finish())
    });
    assert_eq!(digests, DIGESTS);
}
