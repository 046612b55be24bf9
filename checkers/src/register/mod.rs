//! The family `register`: ZooKeeper itself, as one znode that is read, written, and compared and set.
//!
//! [`accesses`] reads out of a history what was done to the register and when. [`zooquake_linearizability::unique`]
//! judges it in nearly linear time, [`contradictions`] puts what contradicts every order into words and shows each by
//! the fewest events. The checkers are [`linearizability`], with the general search as a second opinion,
//! [`session_order`] and [`stale_read`], which explains a stale read by what its server was.
//! [`transaction_consistency`] holds the transactions that answers name against each other and against the logs.

mod accesses;
mod contradictions;
mod linearizability;
mod session_order;
mod stale_read;
mod transaction_consistency;

use crate::analysis::{Analysis, LatencyKind};
use crate::family_checks::{FamilyChecks, FamilyMeasures, Inference, UnitSource, invocations};
use crate::findings::Findings;
use crate::liveness::refused_for_ever;
use crate::statistics::percentiles;
use crate::text::count;
use crate::verdict::Requirements;
use crate::{Results, liveness, verdict};
use accesses::Accesses;
use serde_json::{Value, json};
use std::collections::HashSet;
use zooquake_history::operation::register::{self, FROM, TO, f};
use zooquake_history::{
    EventType, History, Record,
    plan::{Plan, RegisterReads},
};

/// The operations of a run that have one order if its promise holds: without reads where these may be stale. `None` if
/// the run is not of a register.
pub fn operations_in_order(plan: &Plan) -> Option<&'static [&'static str]> {
    (plan.workload.family == FAMILY.spec.name).then(|| match plan.workload.capabilities().reads {
        RegisterReads::Linearizable => &[f::READ, f::WRITE, f::CAS][..],
        _ => &[f::WRITE, f::CAS],
    })
}

/// The znode that is the register.
const PATH: &str = "/register";

/// The family of registers.
pub const FAMILY: FamilyChecks = FamilyChecks {
    spec: &register::FAMILY,
    check,
    checkers: &[
        "not-linearizable",
        "session-order",
        "stale-read",
        "evidence",
        "second-opinion",
        refused_for_ever::NAME,
    ],
    measures: Some(FamilyMeasures {
        units: "operations",
        unit: "operation",
        wait: "answer",
        wait_sentence: "from the sending of a read, write or compare-and-set to its answer",
        compete: false,
        source: UnitSource::Answered(&[f::READ, f::WRITE, f::CAS], None),
        latency: LatencyKind::Answer,
    }),
    infer: |history| {
        let basis = "what every variant of a register promises was judged, which is not that reads are linearizable";
        is_register(history).then(|| Inference::family(basis))
    },
    needs_plan: &[],
};

const NEEDS: Requirements = Requirements {
    progress: &[&[f::WRITE, f::CAS], &[f::READ]],
    tree: "what the register held at last was not looked at",
    logged: &[],
};

/// The whole verdict over a run of a register.
fn check(record: &Record) -> Results {
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
    liveness::check(&run, true, &mut found);
    let mut results = verdict::close(&run, found, &NEEDS);
    results.stats.extend(stats(&run, stale));
    results
}

/// Durations of accesses, by name.
fn stats(run: &Analysis<'_>, stale: Option<usize>) -> Vec<(String, Value)> {
    let mut stats = vec![("stale_reads".to_owned(), json!(stale))];
    for f in [f::READ, f::WRITE, f::CAS] {
        // From the sending of each to its answer `ok`.
        let answered = run.ops.work.iter().filter(|op| op.f == f).filter_map(|op| {
            let end = op.end.filter(|&end| run.events[end].kind == EventType::Ok)?;
            Some(run.time(end).saturating_sub(run.time(op.invoke?)))
        });
        stats.extend(percentiles(f, answered));
    }
    stats
}

/// Whether all operations are a register's with its values in fields.
fn is_register(history: &History) -> bool {
    let mut some = false;
    let all = invocations(history).all(|event| {
        some = true;
        match event.f.as_str() {
            f::READ => event.value.is_object(),
            f::WRITE => event.get(register::VALUE.any()).is_some(),
            f::CAS => event.get(FROM.any()).is_some() && event.get(TO.any()).is_some(),
            _ => false,
        }
    });
    some && all
}
