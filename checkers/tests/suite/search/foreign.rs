//! What other people's histories mean: equal values, first values, failures, and what cannot be paired.

use super::drawn::{access, recorded};
use super::judged::{log, maps};
use super::with_budget;
use crate::expect::says_first;
use fastrand::Rng;
use zooquake_checkers::search::ModelKind;
use zooquake_checkers::{Results, Verdict};
use zooquake_linearizability::models::register::{RegisterOp, UnsetRegister};
use zooquake_linearizability::{Op, SearchOutcome, search};

/// How many random histories are damaged.
const BROKEN: usize = 100_000;

pub fn register(events: &str) -> Results {
    maps(ModelKind::REGISTER, events)
}

#[track_caller]
pub fn verdicts(kind: ModelKind, cases: &[(&str, Verdict)]) {
    for (events, verdict) in cases {
        let found = maps(kind, events);
        assert_eq!(found.verdict, *verdict, "{events}: {found:?}");
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
        let lines = |read: &str| register(&format!("0 write {written} -> {written}; 1 read -> {read}")).verdict;
        assert_eq!(lines(read), Verdict::Valid, "{written} {read}");
        assert_eq!(lines("[7]"), Verdict::Invalid, "{written}");
    }
    verdicts(
        ModelKind::REGISTER,
        &[
            ("0 write 1 -> 1; 0 cas (1 2) -> [1 2]; 0 read -> 2", Verdict::Valid),
            ("0 write 1 -> 1; 0 cas (1 2) -> [1 2]; 0 read -> 1", Verdict::Invalid),
        ],
    );
}

#[test]
fn maps_as_values_are_values() {
    let lines = "0 write {:a 1} -> {:a 1}; 0 read -> {:a 2}";
    verdicts(ModelKind::REGISTER, &[(lines, Verdict::Invalid)]);
}

#[test]
fn an_object_as_a_value_is_refused() {
    let value = "#object[Foo 0x1b2c \"Foo@1b2c\"]";
    let results = register(&format!("0 write {value} -> {value}"));
    assert_eq!(results.verdict, Verdict::Unknown);
    says_first(&results, &["the write of event 0 cannot be compared"]);
}

#[test]
fn a_first_value_is_not_known_until_it_is_read() {
    verdicts(
        ModelKind::REGISTER,
        &[
            ("0 read -> 5; 0 write 1 -> 1", Verdict::Valid),
            ("0 cas [nil 1] -> [nil 1]; 0 read -> 1", Verdict::Valid),
            ("0 read -> 5; 0 read -> 6", Verdict::Invalid),
            ("0 read -> 5; 0 write 1 -> 1; 0 read -> 5", Verdict::Invalid),
        ],
    );
    // A write that failed excludes nothing, whenever it was sent: what it was to write may have been there before.
    let failed = "0 invoke write 3; 0 fail write 3";
    for (events, verdict) in [
        (format!("1 invoke read; {failed}; 1 ok read 3"), Verdict::Valid),
        (format!("{failed}; 1 read -> 3"), Verdict::Valid),
        (
            format!("1 read -> 3; 2 write 7 -> 7; {failed}; 1 read -> 7"),
            Verdict::Valid,
        ),
        (format!("2 write 7 -> 7; {failed}; 1 read -> 3"), Verdict::Invalid),
        (format!("1 read -> 4; {failed}; 1 read -> 3"), Verdict::Invalid),
    ] {
        verdicts(ModelKind::REGISTER, &[(&events, verdict)]);
    }
    let logged = log("0 :invoke :read nil; 0 :ok :read 5; 0 :invoke :write 1");
    assert_eq!(logged.verdict, Verdict::Valid);
}

#[test]
fn a_cas_that_failed_for_another_reason_says_nothing() {
    let begun = "0 :invoke :write 1; 0 :ok :write 1; 1 :invoke :cas [1 2]";
    let ended = |end: &str| log(&format!("{begun}; {end}")).verdict;
    assert_eq!(ended("1 :fail :cas [1 2]"), Verdict::Invalid);
    assert_eq!(ended("1 :fail :cas (1 2) :cas-mismatch"), Verdict::Invalid);
    assert_eq!(ended("1 :fail :cas [1 2] :connection-refused"), Verdict::Valid);
    assert_eq!(ended("1 :fail :cas [1 2] \"timed out\""), Verdict::Valid);
    assert_eq!(ended("1 :fail :cas :timed-out"), Verdict::Valid);
    let never = ended("1 :fail :cas [1 2] :refused; 0 :invoke :read nil; 0 :ok :read 2");
    assert_eq!(never, Verdict::Invalid, "it failed all the same");
}

const WRITTEN: &str = "7 write 1 -> 1; 7 write 2 -> 2";

#[test]
fn what_cannot_be_paired_is_unknown_and_the_rest_is_judged() {
    let damaged = [
        "0 invoke write 5; 0 write 6 -> 6",
        "0 ok write 5",
        "0 invoke read; 0 ok write 5",
        "0 write 5 -> 5; 0 ok write 5",
    ];
    for lines in damaged {
        let results = register(&format!("{lines}; {WRITTEN}"));
        assert_eq!(results.verdict, Verdict::Unknown, "{lines:?}");
        says_first(&results, &["process 0"]);
        // What it may have written at any time explains what was read.
        for (read, verdict) in [(1, Verdict::Invalid), (5, Verdict::Unknown)] {
            let results = register(&format!("{lines}; {WRITTEN}; 8 read -> {read}"));
            assert_eq!(results.verdict, verdict, "{lines}");
        }
    }
    verdicts(
        ModelKind::MUTEX,
        &[
            (
                "0 acquire -> nil; 0 ok acquire; 1 acquire -> nil; 0 release -> nil",
                Verdict::Unknown,
            ),
            ("0 acquire -> nil; 1 acquire -> nil; 0 release -> nil", Verdict::Invalid),
        ],
    );
}

#[test]
fn a_witness_of_two_holds_has_the_releases_that_it_needs() {
    let both = "2 acquire -> nil; 3 acquire -> nil; 3 invoke release; 2 invoke release; 3 ok release; 2 ok release";
    let results = maps(ModelKind::MUTEX, both);
    let witness = &results.anomalies[0].witness;
    assert_eq!(witness, &[0, 1, 2, 3, 5, 7], "that of 3 proves nothing more");
}

/// The events of operations, by position: process, type, name and value. Each operation has a process of its own.
pub fn events(ops: &[Op<RegisterOp<u8>>]) -> Vec<(usize, [String; 4])> {
    let mut all = Vec::new();
    for (process, op) in ops.iter().enumerate() {
        let (f, asked, answered) = match &op.input {
            RegisterOp::Read(value) => ("read", "nil".to_owned(), value.to_string()),
            RegisterOp::Write(value) => ("write", value.to_string(), value.to_string()),
            RegisterOp::Cas(from, to) => ("cas", format!("[{from} {to}]"), format!("[{from} {to}]")),
            RegisterOp::Mismatch(_) => continue,
        };
        let event = |kind: &str, value| [process.to_string(), kind.to_owned(), f.to_owned(), value];
        all.push((op.invoke, event("invoke", asked)));
        all.extend(op.complete.map(|end| (end, event("ok", answered))));
    }
    all.sort_by_key(|(position, _)| *position);
    all
}

#[test]
fn no_record_that_cannot_be_paired_convicts_what_was_linearizable() {
    let mut rng = Rng::with_seed(9);
    let mut unpaired = 0;
    for _ in 0..BROKEN {
        let ops = recorded(&mut rng, &|rng| access(rng, 3));
        if !matches!(
            with_budget(|budget| search(&UnsetRegister::default(), &ops, budget)),
            SearchOutcome::Linearizable { .. }
        ) {
            continue;
        }
        let mut lines: Vec<[String; 4]> = events(&ops).into_iter().map(|(_, event)| event).collect();
        // More than one damage may hide each other: two operations of one process that each lost a line look like one.
        damage(&mut rng, &mut lines);
        let lines: Vec<String> = lines.iter().map(|event| event.join(" ")).collect();
        let results = register(&lines.join("; "));
        assert_ne!(results.verdict, Verdict::Invalid, "{lines:#?} {:?}", results.anomalies);
        unpaired += usize::from(results.verdict == Verdict::Unknown);
    }
    assert!(unpaired > BROKEN / 5, "{unpaired}");
}

/// Leaves a line out, writes a completion twice or under another name, or gives two operations one process.
fn damage(rng: &mut Rng, lines: &mut Vec<[String; 4]>) {
    if lines.is_empty() {
        return;
    }
    let at = rng.usize(0..lines.len());
    let completion = lines[at][1] == "ok";
    match rng.u8(0..4) {
        // Only where a second line shows that the operation existed: without one its loss cannot be noticed.
        0 if lines.iter().filter(|line| line[0] == lines[at][0]).count() == 2 => drop(lines.remove(at)),
        1 if completion => {
            lines.insert(rng.usize(at + 1..=lines.len()), lines[at].clone());
        }
        2 if completion => lines[at][2] = ["read", "write", "txn"][rng.usize(0..3)].to_owned(),
        _ => {
            let (one, other) = (lines[at][0].clone(), lines[rng.usize(0..lines.len())][0].clone());
            lines
                .iter_mut()
                .filter(|line| line[0] == one)
                .for_each(|line| line[0] = other.clone());
        }
    }
}
