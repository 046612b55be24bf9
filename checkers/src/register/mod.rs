//! The family `register`: ZooKeeper itself, as one znode that is read, written, and compared and set.
//!
//! `accesses` reads out of a history what was done to the register and when. [`zooquake_linearizability::unique`]
//! judges it in nearly linear time, `contradictions` and `witness` put what contradicts every order into words, `minimal_contradictions` shows each by
//! the fewest events, and `cross_check` compares the judgement with that of the general search. The checkers are
//! `linearizability`, `session_order` and `stale_read`, which explains a stale read by `server_roles`.
//! `transaction_consistency` holds the transactions that answers name against each other and against the logs.

mod accesses;
mod contradictions;
mod cross_check;
mod linearizability;
mod minimal_contradictions;
mod server_roles;
mod session_order;
mod stale_read;
mod transaction_consistency;
mod witness;

use crate::analysis::Analysis;
use crate::findings::Findings;
use crate::liveness::unfinished;
use crate::plan::RegisterReads;
use crate::statistics::{milliseconds, percentile};
use crate::text::count;
use crate::verdict::{self, Requirements};
use crate::{EventType, Record, Results};
use accesses::Accesses;
use serde_json::{Value, json};
use std::collections::HashSet;

/// The checkers of the family, by the names in `results.json`.
pub const CHECKERS: &[&str] = &[
    "not-linearizable",
    "session-order",
    "stale-read",
    "evidence",
    "second-opinion",
];

/// The znode that is the register.
const PATH: &str = "/register";

const NEEDS: Requirements = Requirements {
    progress: &[&["write", "cas"], &["read"]],
    tree: "what the register held at last was not looked at",
    logged: &[],
};

/// The whole verdict over a run of a register.
pub fn check(record: &Record) -> Results {
    let run = Analysis::new(record);
    let promised = record.plan.workload.capabilities().reads == RegisterReads::Linearizable;
    let accesses = Accesses::new(&run, promised, &HashSet::new());
    let (tree, unreadable) = accesses.of_tree(&run, PATH);
    let mut found = Findings::default();
    if unreadable > 0 {
        found.reasons.push(format!(
            "in {} of the znode tree {PATH} has no value that can be read: what the register held then was not looked at",
            count(unreadable, "reading")
        ));
    }
    linearizability::check(&run, &accesses, &tree, promised, &mut found);
    session_order::check(&run, &accesses, &mut found);
    let stale = (!promised).then(|| stale_read::check(&run, &accesses, &mut found));
    transaction_consistency::check(&run, &accesses, &tree, PATH, &mut found);
    unfinished::check(&run, true, &mut found);
    let mut results = verdict::close(&run, found, &NEEDS);
    results.stats.extend(stats(&run, stale));
    results
}

/// Durations of accesses, by name.
fn stats(run: &Analysis<'_>, stale: Option<usize>) -> Vec<(String, Value)> {
    let mut stats = vec![("stale_reads".to_owned(), json!(stale))];
    for f in ["read", "write", "cas"] {
        // From the sending of each to its answer `ok`.
        let answered = run.ops.work.iter().filter(|op| op.f == f).filter_map(|op| {
            let end = op.end.filter(|&end| run.events[end].kind == EventType::Ok)?;
            Some(run.time(end).saturating_sub(run.time(op.invoke?)))
        });
        let mut times: Vec<u64> = answered.collect();
        times.sort_unstable();
        for (name, share) in [("p50", 50), ("p95", 95), ("max", 100)] {
            let time = percentile(&times, share).map(milliseconds);
            stats.push((format!("{f}_{name}_ms"), json!(time)));
        }
    }
    stats
}
