//! Long histories.

use super::told::{held, kinds, record};
use std::fmt::Write;
use zooquake_checkers::{EventType, Verdict, check};

/// Fifty thousand reads and fifty thousand writes and compare-and-sets by four clients, each overlapping the next.
fn long(variant: &str) -> String {
    let mut text = String::from("run ops\n");
    for at in 0..50_000 {
        let (one, other) = (at % 2 + 1, at % 2 + 3);
        let (f, asked) = match at % 3 {
            0 if at > 0 => ("cas", format!("from={at} to={}", at + 1)),
            _ => ("write", format!("value={}", at + 1)),
        };
        let mzxid = at + 100;
        writeln!(
            text,
            "c{one} invoke {f} {asked}\n c{other} invoke read\n c{one} ok {f} {asked} mzxid={mzxid} session=0x{one}\n c{other} ok read value={} \
             mzxid={mzxid} server={variant}",
            at + 1
        )
        .expect("a string");
    }
    text += "run recovered\n";
    for client in 1..4 {
        writeln!(text, "c{client} invoke cas from=0 to=-{client}\n c{client} fail cas").expect("a string");
    }
    text + "run audit\n run done"
}

#[test]
fn a_hundred_thousand_operations_are_judged() {
    for variant in ["quorum-read", "read"] {
        let mut record = held(record(variant, &long(variant)), "50000", 50_099);
        let results = check(&record);
        assert_eq!(
            results.verdict,
            Verdict::Valid,
            "{:?} {:?}",
            results.anomalies,
            results.reasons
        );
        let reads = |event: &&mut zooquake_checkers::Event| event.f == "read" && event.kind == EventType::Ok;
        let events = &mut record.history.events;
        // Every read after the first thousand shows what was there after the first ten.
        for event in events.iter_mut().filter(reads).skip(1000) {
            event.value["value"] = 10.into();
            event.value["mzxid"] = 109.into();
        }
        let results = check(&record);
        match variant {
            "read" => {
                assert_eq!(kinds(&results), ["stale-read"]);
                assert_eq!(results.stats["stale_reads"], 49_000);
                let worst = "At worst it was 49989 acknowledged writes behind";
                assert!(results.anomalies[0].why.contains(worst), "{}", results.anomalies[0].why);
            }
            _ => assert_eq!(kinds(&results), ["not-linearizable"]),
        }
    }
}

#[test]
fn one_chain_of_compare_and_sets_is_judged() {
    let mut text = String::from("c1 invoke write value=0\n c1 ok write value=0\n");
    for at in 0..100_000 {
        writeln!(
            text,
            "c1 invoke cas from={at} to={}\n c1 ok cas from={at} to={}",
            at + 1,
            at + 1
        )
        .expect("a string");
    }
    assert_eq!(kinds(&check(&record("read", &text))), [""; 0]);
    text += "c2 invoke cas from=50000 to=200000\n c2 ok cas from=50000 to=200000";
    assert_eq!(kinds(&check(&record("read", &text))), ["not-linearizable"]);
}
