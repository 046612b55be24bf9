//! What other people's histories mean: keys, equal values, first values, failures, and what cannot be paired.

use super::judged::{log, maps};
use super::{agree, brute};
use fastrand::Rng;
use zooquake_checkers::search::register::{Register, RegisterOp};
use zooquake_checkers::search::{Kind, Op};
use zooquake_checkers::{Results, Verdict};

const KEYED: usize = 20_000;

fn register(lines: &[&str]) -> Results {
    maps(Kind::Register, lines)
}

#[track_caller]
fn verdicts(kind: Kind, cases: &[(&[&str], Verdict)]) {
    for (lines, verdict) in cases {
        let found = maps(kind, lines);
        assert_eq!(
            found.verdict, *verdict,
            "{lines:#?}: {:?} {:?}",
            found.anomalies, found.reasons
        );
    }
}

const KEYS: [&str; 8] = [
    "0 invoke write [0 1]",
    "0 ok write [0 1]",
    "1 invoke write [:x 5]",
    "1 ok write [:x 5]",
    "0 invoke read [0 nil]",
    "0 ok read [0 1]",
    "1 invoke read [:x nil]",
    "1 ok read [:x 5]",
];

#[test]
fn independent_keys_are_registers_of_their_own() {
    let valid = register(&KEYS);
    assert_eq!(valid.verdict, Verdict::Valid, "{:?}", valid.reasons);
    assert!(valid.reasons[0].contains("each of 2 keys"), "{:?}", valid.reasons);
    let stale = [
        "2 invoke write [:x 6]",
        "2 ok write [:x 6]",
        "0 invoke read [:x nil]",
        "0 ok read [:x 5]",
    ];
    let invalid = register(&[&KEYS[..], &stale].concat());
    assert_eq!(invalid.verdict, Verdict::Invalid);
    assert_eq!(invalid.anomalies[0].witness, [8, 9, 10, 11]);
    assert!(
        invalid.anomalies[0].why.starts_with("Key \":x\": "),
        "{}",
        invalid.anomalies[0].why
    );
    let cas = [
        "0 invoke cas [0 [1 2]]",
        "0 ok cas [0 [1 2]]",
        "0 invoke read [0 nil]",
        "0 ok read [0 2]",
    ];
    verdicts(
        Kind::Register,
        &[
            (&[&KEYS[..], &cas].concat(), Verdict::Valid),
            (
                &[&KEYS[..], &cas[..2], &["0 invoke read [0.0 nil]", "0 ok read [0 1]"]].concat(),
                Verdict::Invalid,
            ),
            (
                &[&KEYS[..4], &["0 invoke read [0 nil]", "0 ok read [:x 5]"]].concat(),
                Verdict::Unknown,
            ),
            (
                &[&KEYS[..4], &["0 invoke read [0 nil]", "0 info read :timed-out"]].concat(),
                Verdict::Valid,
            ),
        ],
    );
}

#[test]
fn pairs_that_are_values_are_no_keys() {
    let written = [
        "0 invoke write [0 1]",
        "0 ok write [0 1]",
        "0 invoke write [1 2]",
        "0 ok write [1 2]",
    ];
    let read = |value| [&written[..], &["0 invoke read nil", value]].concat();
    verdicts(
        Kind::Register,
        &[
            (&read("0 ok read [1 2]"), Verdict::Valid),
            (&read("0 ok read [0 1]"), Verdict::Invalid),
        ],
    );
    // Without a read nothing tells; where both readings agree that does not matter.
    let cas = |value| [&written[..], &["1 invoke cas [[1 2] [3 4]]", value]].concat();
    verdicts(Kind::Register, &[(&cas("1 ok cas [[1 2] [3 4]]"), Verdict::Valid)]);
    let either = [
        "0 invoke write [0 1]",
        "0 ok write [0 1]",
        "0 invoke cas [0 [1 2]]",
        "0 ok cas [0 [1 2]]",
    ];
    let unknown = register(&either);
    assert_eq!(unknown.verdict, Verdict::Unknown);
    assert!(
        unknown.reasons[0].contains("nothing tells whether"),
        "{:?}",
        unknown.reasons
    );
}

#[test]
fn mutexes_may_have_keys_too() {
    let both = [
        "0 invoke acquire [:a nil]",
        "0 ok acquire [:a nil]",
        "1 invoke acquire [:b nil]",
        "1 ok acquire [:b nil]",
        "0 invoke release [:a nil]",
        "0 ok release [:a nil]",
        "1 invoke release [:b nil]",
        "1 ok release [:b nil]",
    ];
    let same = both.map(|line| line.replace(":b", ":a"));
    let same: Vec<&str> = same.iter().map(String::as_str).collect();
    for kind in [Kind::Mutex, Kind::MutexStrict] {
        verdicts(kind, &[(&both, Verdict::Valid), (&same, Verdict::Invalid)]);
    }
}

#[test]
fn equal_values_may_be_written_in_many_ways() {
    for (written, read) in [
        ("#{1 2}", "#{2 1}"),
        ("[1 2]", "(1 2)"),
        ("1N", "1"),
        ("1", "1.0"),
        ("{:a 1 :b 2}", "{:b 2 :a 1}"),
    ] {
        let lines = |read: &str| {
            let text = format!("0 invoke write {written}|0 ok write {written}|1 invoke read nil|1 ok read {read}");
            register(&text.split('|').collect::<Vec<_>>()).verdict
        };
        assert_eq!(lines(read), Verdict::Valid, "{written} {read}");
        assert_eq!(lines("[7]"), Verdict::Invalid, "{written}");
    }
    let list = [
        "0 invoke write 1",
        "0 ok write 1",
        "0 invoke cas (1 2)",
        "0 ok cas [1 2]",
        "0 invoke read",
        "0 ok read 2",
    ];
    verdicts(
        Kind::Register,
        &[
            (&list, Verdict::Valid),
            (
                &[&list[..4], &["0 invoke read", "0 ok read 1"]].concat(),
                Verdict::Invalid,
            ),
        ],
    );
}

#[test]
fn maps_as_values_are_values() {
    let lines = [
        "0 invoke write {:a 1}",
        "0 ok write {:a 1}",
        "0 invoke read nil",
        "0 ok read {:a 2}",
    ];
    verdicts(Kind::Register, &[(&lines, Verdict::Invalid)]);
}

#[test]
fn an_object_as_a_value_is_refused() {
    let value = "#object[Foo 0x1b2c \"Foo@1b2c\"]";
    let written = [format!("0 invoke write {value}"), format!("0 ok write {value}")];
    let results = register(&written.each_ref().map(String::as_str));
    assert_eq!(results.verdict, Verdict::Unknown);
    assert!(
        results.reasons[0].contains("the write of event 0 cannot be compared"),
        "{:?}",
        results.reasons
    );
}

#[test]
fn a_first_value_is_not_known_until_it_is_read() {
    let first = ["0 invoke read", "0 ok read 5", "0 invoke write 1", "0 ok write 1"];
    verdicts(
        Kind::Register,
        &[
            (&first, Verdict::Valid),
            (
                &[
                    "0 invoke cas [nil 1]",
                    "0 ok cas [nil 1]",
                    "0 invoke read",
                    "0 ok read 1",
                ],
                Verdict::Valid,
            ),
            (
                &[&first[..2], &["0 invoke read", "0 ok read 6"]].concat(),
                Verdict::Invalid,
            ),
            (
                &[&first[..], &["0 invoke read", "0 ok read 5"]].concat(),
                Verdict::Invalid,
            ),
            // What only a write that failed was to write, no register began with.
            (
                &["1 invoke read", "0 invoke write 3", "0 fail write 3", "1 ok read 3"],
                Verdict::Invalid,
            ),
            (
                &["1 invoke read", "0 invoke write 3", "0 fail write 3", "1 ok read 4"],
                Verdict::Valid,
            ),
        ],
    );
    assert_eq!(
        log(&["0 :invoke :read nil", "0 :ok :read 5", "0 :invoke :write 1"]).verdict,
        Verdict::Valid
    );
}

#[test]
fn a_cas_that_failed_for_another_reason_says_nothing() {
    let ended = |end: &str| log(&["0 :invoke :write 1", "0 :ok :write 1", "1 :invoke :cas [1 2]", end]).verdict;
    assert_eq!(ended("1 :fail :cas [1 2]"), Verdict::Invalid);
    assert_eq!(ended("1 :fail :cas (1 2) :cas-mismatch"), Verdict::Invalid);
    assert_eq!(ended("1 :fail :cas [1 2] :connection-refused"), Verdict::Valid);
    assert_eq!(ended("1 :fail :cas [1 2] \"timed out\""), Verdict::Valid);
    assert_eq!(ended("1 :fail :cas :timed-out"), Verdict::Valid);
    let never = [
        "0 :invoke :write 1",
        "0 :ok :write 1",
        "1 :invoke :cas [1 2]",
        "1 :fail :cas [1 2] :refused",
        "0 :invoke :read nil",
        "0 :ok :read 2",
    ];
    assert_eq!(log(&never).verdict, Verdict::Invalid, "it failed all the same");
}

const STALE: [&str; 6] = [
    "7 invoke write 1",
    "7 ok write 1",
    "7 invoke write 2",
    "7 ok write 2",
    "8 invoke read",
    "8 ok read 1",
];

#[test]
fn what_cannot_be_paired_is_unknown_and_the_rest_is_judged() {
    let damaged: [&[&str]; 4] = [
        &["0 invoke write 5", "0 invoke write 6", "0 ok write 6"],
        &["0 ok write 5"],
        &["0 invoke read", "0 ok write 5"],
        &["0 invoke write 5", "0 ok write 5", "0 ok write 5"],
    ];
    for lines in damaged {
        let results = register(&[lines, &STALE[..4]].concat());
        assert_eq!(results.verdict, Verdict::Unknown, "{lines:?}");
        assert!(results.reasons[0].contains("process 0"), "{:?}", results.reasons);
        assert_eq!(
            register(&[lines, &STALE].concat()).verdict,
            Verdict::Invalid,
            "{lines:?}"
        );
        // What it may have written at any time explains what was read.
        let read = [lines, &STALE[..4], &["8 invoke read", "8 ok read 5"]].concat();
        assert_eq!(register(&read).verdict, Verdict::Unknown, "{lines:?}");
    }
    let held = [
        "0 invoke acquire",
        "0 ok acquire",
        "0 ok acquire",
        "1 invoke acquire",
        "1 ok acquire",
    ];
    let released = ["0 invoke release", "0 ok release"];
    verdicts(
        Kind::Mutex,
        &[
            (&[&held[..], &released].concat(), Verdict::Unknown),
            (&[&held[..2], &held[3..], &released].concat(), Verdict::Invalid),
        ],
    );
}

#[test]
fn a_witness_of_two_holds_has_the_releases_that_it_needs() {
    let both = [
        "2 invoke acquire",
        "2 ok acquire",
        "3 invoke acquire",
        "3 ok acquire",
        "3 invoke release",
        "2 invoke release",
        "3 ok release",
        "2 ok release",
    ];
    let results = maps(Kind::Mutex, &both);
    let witness = &results.anomalies[0].witness;
    assert_eq!(witness, &[0, 1, 2, 3, 5, 7], "that of 3 proves nothing more");
}

/// The events of operations on a key, by position; each operation has a process of its own.
fn events(key: usize, ops: &[Op<RegisterOp<u8>>]) -> Vec<(usize, String)> {
    let mut all = Vec::new();
    for (number, op) in ops.iter().enumerate() {
        let process = 2 * number + key;
        let (f, asked, answered) = match &op.input {
            RegisterOp::Read(value) => ("read", "nil".to_owned(), value.to_string()),
            RegisterOp::Write(value) => ("write", value.to_string(), value.to_string()),
            RegisterOp::Cas(from, to) => ("cas", format!("[{from} {to}]"), format!("[{from} {to}]")),
            RegisterOp::Mismatch(_) => continue,
        };
        all.push((op.invoke, format!("{process} invoke {f} [{key} {asked}]")));
        all.extend(
            op.complete
                .map(|end| (end, format!("{process} ok {f} [{key} {answered}]"))),
        );
    }
    all
}

#[test]
fn each_key_is_judged_as_by_itself() {
    let mut rng = Rng::with_seed(8);
    let mut bad = 0;
    for _ in 0..KEYED {
        let keys = [0, 1].map(|_| {
            let mut ops = agree::history(&mut rng, &|rng| agree::access(rng, 3));
            ops.iter_mut().for_each(|op| {
                op.complete = op.complete.filter(|_| op.required);
            });
            ops
        });
        let mut all: Vec<(usize, String)> = (0..).zip(&keys).flat_map(|(key, ops)| events(key, ops)).collect();
        // A read that is never answered tells that there are keys, and nothing else.
        all.push((usize::MAX, "99 invoke read [0 nil]".to_owned()));
        all.sort_by_key(|(position, _)| *position);
        let lines: Vec<&str> = all.iter().map(|(_, line)| line.as_str()).collect();
        let fits = |ops: &Vec<Op<RegisterOp<u8>>>| {
            let mut first = [0, 1, 2, 9].into_iter();
            first.any(|initial| brute::linearizable(&Register { initial }, ops))
        };
        let expected = if keys.iter().all(fits) {
            Verdict::Valid
        } else {
            Verdict::Invalid
        };
        bad += usize::from(expected == Verdict::Invalid);
        assert_eq!(register(&lines).verdict, expected, "{lines:#?}");
    }
    assert!(bad > KEYED / 20 && bad < KEYED / 20 * 19, "{bad} bad");
}
