//! Records that are cut off, empty, absurd or made to break the page.

use crate::common::hostile::{POISON, event, poison, poisoned};
use crate::common::{Run, assert_harmless, data, families, hostile, results};
use serde_json::{Value, json};
use zooquake_checkers::{Anomaly, Results, Verdict};
use zooquake_history::{EventType, History, Process, Record};

#[test]
fn no_family_lets_text_out_of_its_words() {
    let runs = [
        families::claimed(),
        families::double_barrier(),
        families::commit(),
        families::register(),
    ];
    for (n, mut run) in runs.into_iter().enumerate() {
        for event in &mut run.record.history.events {
            let mut value = event.value.clone().into();
            poison(&mut value);
            event.value = value.into();
            event.error = event.error.as_ref().map(|_| POISON.to_owned());
        }
        run.results.anomalies[0].witness = (0..run.record.history.events.len()).collect();
        assert_harmless(&run.write(&format!("poison-{n}")).page(), 2);
    }
}

#[test]
fn hostile_text_stays_text() {
    let page = poisoned().write("poison").page();
    assert_harmless(&page, 2);
    assert!(data(&page).is_object());
}

#[test]
fn huge_values_are_cut() {
    let page = hostile::huge().write("huge").page();
    assert!(page.len() < 600_000, "{} bytes", page.len());
    assert!(page.contains("(1000000 bytes)"));
}

#[test]
fn a_hundred_thousand_processes_share_few_rows() {
    let page = hostile::processes(100_000).write("processes").page();
    assert!(page.contains("others"));
    assert!(page.len() < 3_000_000, "{} bytes", page.len());
}

#[test]
fn an_empty_history_gives_a_report() {
    assert!(Run::default().write("empty").page().contains("UNKNOWN"));
}

#[test]
fn a_history_cut_off_anywhere_gives_a_report() {
    let whole = results::invalid();
    let n = whole.record.history.events.len();
    for keep in [1, 7, n / 3, n / 2, n - 1] {
        let mut run = results::invalid();
        run.record.history.events.truncate(keep);
        run.record.servers = None;
        assert!(
            run.write(&format!("cut-{keep}")).page().contains("INVALID"),
            "cut at {keep}"
        );
    }
    let mut run = results::unknown();
    run.record.history.events.truncate(n / 2);
    assert!(run.write("cut-unknown").page().contains("the run was cut off"));
}

#[test]
fn absurd_times_and_witnesses_do_no_harm() {
    let c = |n| Process::Number(n);
    let nemesis = || Process::Name("nemesis".into());
    let (invoke, ok, info) = (EventType::Invoke, EventType::Ok, EventType::Info);
    let on = |window: i64| json!({"window": window, "phase": "on"});
    let events = vec![
        event(0, u64::MAX, c(1), ok, "acquire", json!({"grant": "g1"})),
        event(1, 0, c(1), invoke, "write", json!({"work_ms": i64::MIN})),
        event(2, 5, nemesis(), info, "pause", on(1)),
        event(3, 1, nemesis(), info, "pause", on(-1)),
        event(4, 0, c(1), ok, "write", json!({"accepted": "yes"})),
        event(5, 9, c(2), invoke, "release", Value::Null),
    ];
    let anomaly = |witness| Anomaly {
        kind: "stale-write".into(),
        property: "p".into(),
        advisory: false,
        accepted: true,
        witness,
        span: None,
        stuck: None,
        cause: None,
        why: "because".into(),
    };
    let results = Results {
        verdict: Verdict::Invalid,
        anomalies: vec![
            anomaly(vec![4, 0, 900, usize::MAX]),
            anomaly(vec![]),
            anomaly(vec![2, 3]),
        ],
        ..Results::default()
    };
    let record = Record {
        history: History { events },
        ..Record::default()
    };
    let run = Run {
        record,
        results,
        ..Run::default()
    };
    let page = run.write("absurd").page();
    assert!(
        !page.contains("NaN") && !page.contains("=\"inf"),
        "a number that is none"
    );
    assert!(page.contains("2 steps not shown"));
}
