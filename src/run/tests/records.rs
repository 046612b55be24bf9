//! The record of a plan is the same one, however the plan is executed and wherever the record is kept.

use super::super::simulation;
use super::{plan, run};
use crate::planning::case::Case;
use zooquake_checkers::check;

#[test]
fn a_record_in_memory_is_the_one_that_its_folder_gives() {
    for name in ["lock/predecessor", "queue/claimed", "register/read"] {
        let plan = plan(name, 5, 12_000, &["kill", "pause", "drop-reply"]);
        let case = Case::new(plan).unwrap();
        let out = tempfile::tempdir().unwrap();
        let finished = simulation::run(&case, out.path()).unwrap();
        let (folder, memory) = (finished.folder.load().unwrap(), simulation::record(&case).unwrap());
        assert!(folder.history.events == memory.history.events, "{name}");
        assert_eq!((&folder.tree, &folder.txnlog), (&memory.tree, &memory.txnlog), "{name}");
        assert_eq!(folder.server_txnlogs, memory.server_txnlogs, "{name}");
        assert_eq!(
            (&folder.servers, &folder.damage),
            (&memory.servers, &memory.damage),
            "{name}"
        );
        assert_eq!(finished.results, check(&memory), "{name}");
    }
}

#[test]
fn the_same_plan_gives_the_same_history() {
    for name in [
        "lock/protected",
        "rwlock/fenced",
        "queue/claimed",
        "commit/atomic",
        "barrier/tutorial",
    ] {
        let ran = || {
            run(plan(
                name,
                3,
                15_000,
                &[
                    "kill",
                    "pause",
                    "partition",
                    "drop-reply",
                    "hold-reply",
                    "disconnect",
                    "expire",
                    "latency",
                    "stall",
                    "move",
                    "pin",
                    "lag",
                ],
            ))
        };
        assert!(ran().history == ran().history, "{name}");
    }
}
