//! Long histories.

use super::{held, plain};
use crate::expect::{explains, none, one, valid};
use crate::script::run;
use zooquake_history::EventType;

/// Fifty thousand reads and fifty thousand writes and compare-and-sets by four clients, each overlapping the next.
fn long(variant: &str) -> String {
    let one = |at: usize| {
        let (one, other, next, mzxid) = (at % 2 + 1, at % 2 + 3, at + 1, at + 100);
        let asked = match at % 3 {
            0 if at > 0 => format!("cas from={at} to={next}"),
            _ => format!("write value={next}"),
        };
        format!(
            "c{one} invoke {asked}; c{other} invoke read; c{one} ok {asked} mzxid={mzxid} session=0x{one}
             c{other} ok read value={next} mzxid={mzxid} server={variant}\n"
        )
    };
    let last = |client: usize| format!("c{client} invoke cas from=0 to=-{client}; c{client} fail cas\n");
    let ops: String = (0..50_000).map(one).collect();
    format!(
        "run ops\n{ops}run recovered\n{}run audit; run done",
        (1..4).map(last).collect::<String>()
    )
}

#[test]
fn a_hundred_thousand_operations_are_judged() {
    for variant in ["quorum-read", "read"] {
        let mut record = held(run(variant, &long(variant)), "50000", 50_099);
        valid(&record);
        let reads = |event: &&mut zooquake_history::Event| event.f == "read" && event.kind == EventType::Ok;
        // Every read after the first thousand shows what was there after the first ten.
        for event in record.history.events.iter_mut().filter(reads).skip(1000) {
            event.value["value"] = 10.into();
            event.value["mzxid"] = 109.into();
        }
        match variant {
            "read" => {
                assert_eq!(zooquake_checkers::check(&record).stats["stale_reads"], 49_000);
                let anomaly = one(&record, "stale-read");
                explains(&anomaly, "At worst it was 49989 acknowledged writes behind");
            }
            _ => drop(one(&record, "not-linearizable")),
        }
    }
}

#[test]
fn one_chain_of_compare_and_sets_is_judged() {
    let next = |at: usize| format!("c1 invoke cas from={at} to={0}; c1 ok cas from={at} to={0}\n", at + 1);
    let chain: String = (0..100_000).map(next).collect();
    let chain = format!("c1 invoke write value=0; c1 ok write value=0\n{chain}");
    none(&plain(&chain));
    let fork = format!("{chain}c2 invoke cas from=50000 to=200000; c2 ok cas from=50000 to=200000");
    one(&plain(&fork), "not-linearizable");
}
