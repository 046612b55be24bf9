//! Members of double barriers whose znodes another client deleted, or made: random histories, and what every execution
//! of them has.

use super::every_execution::naive_members;
use crate::expect::of_kind;
use crate::foreign_znode;
use crate::liveness::node;
use crate::script::{logged, txn};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use zooquake_checkers::{Anomaly, check};
use zooquake_history::{EventType, Record, Txn};

/// A double barrier with the ensemble's log: what each enter made, in some in another session, and deletions by
/// whatever session. Most clients name sessions of their own.
pub fn with_log(seed: u64, mut record: Record) -> Record {
    let mut random = fastrand::Rng::with_seed(seed ^ 0x10c);
    let mut made = BTreeMap::new();
    for event in &mut record.history.events {
        let own = node(event).strip_prefix('c').map(|number| format!("0x{number}"));
        if let Some(session) = own.filter(|_| event.session().is_some() && random.u8(0..5) > 0) {
            event.value["session"] = json!(session).into();
        }
        if let ("enter", EventType::Ok, Some(czxid)) = (event.f.as_str(), event.kind, event.czxid()) {
            let path = format!("/barrier/m{czxid}");
            let own = event.session().expect("its own").to_owned();
            let other = format!("0x{}", random.u8(1..5));
            made.insert(czxid, (path.clone(), if random.u8(0..8) > 0 { own } else { other }));
            event.value["path"] = json!(path).into();
        }
    }
    let last = record.history.events.len() as i64 + 1;
    let mut txns = vec![];
    for zxid in 1..=last {
        let standing: Vec<_> = made.range(..zxid).map(|(_, (path, _))| path).collect();
        let session = format!("0x{}", random.u8(1..5));
        txns.push(match (made.get(&zxid), random.choice(&standing)) {
            (Some((path, session)), _) => Txn {
                ephemeral: [None, Some(true), Some(false)][random.usize(0..3)],
                ..txn(zxid, session, "create", path)
            },
            (None, Some(path)) if random.bool() => txn(zxid, &session, "delete", path),
            _ => txn(zxid, &session, "setData", "/x"),
        });
    }
    logged(record, txns)
}

#[test]
fn members_agree_with_the_brute_force() {
    let (mut certain, mut observed) = (0, 0);
    for seed in 0..crate::histories(10_000) {
        let record = with_log(seed, crate::queue::simulated_barriers::rounds(3 * seed + 1));
        assert_eq!(record.plan.workload.variant, "double");
        let results = check(&record);
        let place = |anomaly: &Anomaly| {
            let read = anomaly.witness.iter().find(|&&at| {
                record.history.events[at]
                    .path()
                    .is_some_and(|path| anomaly.why.contains(&format!("rests on {path}.")))
            });
            (*read.expect("the place"), !anomaly.advisory)
        };
        let found: BTreeSet<_> = of_kind(&results, "stolen-znode").into_iter().map(place).collect();
        let naive = naive_members(&record);
        assert_eq!(
            found,
            naive,
            "seed {seed}\n{}",
            crate::doubtful_evidence::lines(&record)
        );
        let foreign = of_kind(&results, "foreign-znode").into_iter();
        let foreign = foreign.map(|anomaly| (anomaly.witness[anomaly.witness.len() - 1], !anomaly.advisory));
        assert_eq!(
            foreign.collect::<BTreeSet<_>>(),
            foreign_znode::naive(&record),
            "seed {seed} {results:#?}\n{}",
            crate::doubtful_evidence::lines(&record)
        );
        certain += naive.iter().filter(|(_, certain)| *certain).count() as u64;
        observed += naive.iter().filter(|(_, certain)| !*certain).count() as u64;
    }
    let all = crate::histories(10_000);
    assert!(
        certain > all / 100 && observed > all / 100,
        "{certain} and {observed} of {all}"
    );
}
