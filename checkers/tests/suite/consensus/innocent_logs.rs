//! Logs that differ, and others that are like them and innocent.

use super::simulated_logs::partition;
use crate::expect;
use serde_json::{Value, json};
use zooquake_checkers::{Results, check};
use zooquake_history::Record;

type PartitionLine = (&'static str, &'static str, Value);

/// A replica stores a message of an epoch at an offset.
fn stores(replica: &'static str, (offset, epoch, value): (u32, u32, u32)) -> PartitionLine {
    (
        replica,
        "stored",
        json!({ "offset": offset, "round": epoch, "value": value }),
    )
}

fn in_sync(replicas: &[&str]) -> PartitionLine {
    ("register1", "in-sync", json!({ "replicas": replicas }))
}

fn kills(replica: &str) -> PartitionLine {
    (
        "nemesis",
        "kill",
        json!({ "window": 1, "phase": "on", "target": replica }),
    )
}

fn both() -> PartitionLine {
    in_sync(&["replica1", "replica2"])
}

fn ended(lines: &[PartitionLine]) -> Record {
    partition(&[lines, &[("run", "phase", json!("done"))]].concat())
}

fn convicted(record: &Record) -> usize {
    expect::of_kind(&check(record), "diverging-replicas").len()
}

/// What is not judged of a record in which nothing diverges.
#[track_caller]
fn left(record: &Record) -> Vec<String> {
    let Results {
        anomalies, not_judged, ..
    } = check(record);
    assert!(anomalies.is_empty(), "{anomalies:?}");
    let line = |left: &zooquake_checkers::NotJudged| format!("{}: {}", left.check, left.why);
    not_judged.iter().map(line).collect()
}

/// Two logs that have message 5 of epoch 1, and then message 6 of epoch 1 and message 7 of another one.
fn tails(epoch: u32) -> Vec<PartitionLine> {
    vec![
        stores("replica1", (0, 1, 5)),
        stores("replica1", (1, 1, 6)),
        stores("replica2", (0, 1, 5)),
        stores("replica2", (1, epoch, 7)),
    ]
}

#[test]
fn different_messages_at_one_offset_of_one_epoch_convict() {
    let record = ended(&[tails(1), vec![both()]].concat());
    let anomaly = expect::proven_by(&record, "diverging-replicas", &[2, 4, 5]);
    let why = "At the end replica1 has message 6 at offset 1, stored at 0.002 s, and replica2 has message 7 there, stored at 0.004 s; both \
               records are of epoch 1, in which an offset has one record. Both run, and are in sync by the last state of the register, of \
               0.005 s. ";
    assert!(anomaly.why.starts_with(why), "{}", anomaly.why);
    assert_eq!((anomaly.property.as_str(), anomaly.accepted), ("one log", false));
}

#[test]
fn a_tail_below_a_record_of_a_later_epoch_convicts() {
    let later = [stores("replica1", (2, 2, 8)), stores("replica2", (2, 2, 8))];
    let record = ended(&[&tails(2)[..], &later, &[both()]].concat());
    let anomaly = expect::proven_by(&record, "diverging-replicas", &[2, 4, 5, 6, 7]);
    let why = "both have a record of epoch 2 at offset 2, before which their logs are to be the same.";
    assert!(anomaly.why.contains(why), "{}", anomaly.why);
}

#[test]
fn their_twins_are_innocent() {
    let guilty = tails(1);
    let with = |more: &[PartitionLine]| ended(&[&guilty[..], more].concat());
    let other = |lines: &[PartitionLine]| ended(&[lines, &[both()]].concat());
    let innocent = [
        ("one does not run", with(&[both(), kills("replica2")])),
        ("one is not in sync", with(&[in_sync(&["replica1"])])),
        ("one is in sync no longer", with(&[both(), in_sync(&["replica2"])])),
        ("nobody is in sync", with(&[in_sync(&[])])),
        ("an old epoch's tail is yet to be cut off", other(&tails(2))),
        (
            "the tail is cut off",
            with(&[both(), ("replica1", "truncated", json!({ "offset": 1 }))]),
        ),
        ("the record is replaced", with(&[both(), stores("replica1", (1, 1, 7))])),
        (
            "a record before it is replaced",
            with(&[both(), stores("replica1", (0, 1, 5))]),
        ),
        (
            "they have the same record",
            other(&[stores("replica1", (0, 1, 5)), stores("replica2", (0, 1, 5))]),
        ),
        (
            "they have the same message of two epochs",
            other(&[stores("replica1", (0, 1, 5)), stores("replica2", (0, 2, 5))]),
        ),
        (
            "they have different records at different offsets",
            other(&[stores("replica1", (0, 1, 5)), stores("replica2", (1, 1, 6))]),
        ),
        (
            "the run did not reach its end",
            partition(&[&guilty[..], &[both()]].concat()),
        ),
    ];
    for (why, record) in innocent {
        assert_eq!(left(&record), [""; 0], "{why}");
    }
    let guilty = [
        ("it runs", with(&[both()])),
        (
            "it runs again",
            with(&[
                both(),
                kills("replica2"),
                ("replica2", "following", json!({ "leader": "replica1", "round": 1 })),
            ]),
        ),
        ("it is in sync again", with(&[both(), in_sync(&["replica2"]), both()])),
    ];
    for (why, record) in guilty {
        assert_eq!(convicted(&record), 1, "{why}");
    }
}

#[test]
fn what_a_record_lacks_is_not_judged() {
    let epochless = |replica, value| (replica, "stored", json!({ "offset": 0, "value": value }));
    let absent = ended(&[epochless("replica1", 5), epochless("replica2", 6), both()]);
    let why =
        "diverging-replicas: 2 stored records without an epoch: what is before others of one epoch is still compared";
    assert_eq!(left(&absent), [why]);
    let one = ended(&[epochless("replica1", 5), stores("replica2", (0, 1, 6)), both()]);
    assert_eq!(left(&one), [why.replace("2 stored records", "1 stored record")]);
    let old = ended(&tails(1));
    let why = "diverging-replicas: the record does not have which replicas are in sync";
    assert_eq!(left(&old), [why]);
    // Before records of one epoch the message alone is compared.
    let (first, second) = (stores("replica1", (1, 2, 8)), stores("replica2", (1, 2, 8)));
    let below = ended(&[
        epochless("replica1", 5),
        epochless("replica2", 6),
        first,
        second,
        both(),
    ]);
    assert_eq!(convicted(&below), 1);
    assert_eq!(left(&ended(&[both()])), [""; 0], "nobody stored anything");
}
