//! Pages of histories of others, with the longest order of their operations.

use crate::common::assert_harmless;
use crate::common::hostile::POISON;
use serde_json::{Value, json};
use zooquake_checkers::inferred_plan::{judge, subject};
use zooquake_checkers::search::picture::{PictureSubject, picture};
use zooquake_checkers::search::{Budget, ModelKind, Notation};
use zooquake_history::History;
use zooquake_history::event::parse_jsonl;
use zooquake_reports::history::{HistoryExtras, page};

/// Events of these processes, in this order.
fn history(events: &[(u64, &str, &str, Value)]) -> History {
    let line = |(index, (process, kind, f, value)): (usize, &(u64, &str, &str, Value))| {
        let event = json!({"index": index, "time": index, "process": process, "type": kind, "f": f, "value": value});
        format!("{event}\n")
    };
    let text: String = events.iter().enumerate().map(line).collect();
    let (history, damage) = parse_jsonl(text.as_bytes());
    assert!(damage.is_none(), "{damage:?}");
    history
}

/// The page of a history, of this model or what its operations show.
fn shown(history: &History, model: Option<&str>, steps: u64) -> String {
    let kind: Option<ModelKind> = model.map(|name| name.parse().expect("a model"));
    let mut enough = || false;
    let mut budget = Budget {
        steps,
        bytes: 1 << 28,
        expired: &mut enough,
    };
    let results = judge(history, Vec::new(), kind, Notation::Maps, &mut budget);
    let (kind, only) = subject(history, kind).expect("it is searched");
    let subject = PictureSubject {
        kind,
        terms: Notation::Maps.into(),
        only,
        anomalies: &results.anomalies,
    };
    budget.steps = steps;
    let picture = picture(history, subject, &mut budget);
    let extras = HistoryExtras {
        name: "history.jsonl".into(),
        budget: "60 s and 1024 MiB".into(),
        ..HistoryExtras::default()
    };
    let page = page(&picture, &results, &extras);
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
    page
}

fn written(
    process: u64,
    f: &'static str,
    asked: Value,
    answered: Value,
) -> [(u64, &'static str, &'static str, Value); 2] {
    [(process, "invoke", f, asked), (process, "ok", f, answered)]
}

#[test]
fn a_page_names_what_cannot_be_next_and_from_which_state() {
    let mut events = Vec::new();
    events.extend(written(0, "write", json!(1), json!(1)));
    events.extend(written(1, "write", json!(2), json!(2)));
    events.extend(written(0, "read", json!(null), json!(1)));
    events.push((2, "invoke", "write", json!(9)));
    let page = shown(&history(&events), None, 1_000_000);
    assert!(page.contains("INVALID"), "{page}");
    assert!(page.contains("What was answered before it has an order: it has the 2 steps that certainly happened."));
    assert!(page.contains("After its last step the state is 2, and read → 1 by process 0 cannot be next."));
    assert!(page.contains("id=\"stuck-0\"") && page.contains("href=\"#stuck-0\""));
    let (proof, whole) = page.split_once("<h2>Operations</h2>").expect("the operations");
    let bars = |part: &str| part.matches("class=\"words\"").count();
    assert!(proof.contains("id=\"stuck-proof-1\"") && proof.contains(">read → 1</text>"));
    assert!(
        bars(proof) > 1 && bars(proof) < bars(whole),
        "the proof alone, and then all"
    );
    assert!(page.contains("step 2, state after it: 2"), "under the pointer");
    assert!(page.contains("class=\"open\""), "what was never answered has no end");
    assert!(page.contains("it did not run out"));
}

#[test]
fn of_a_valid_history_an_order_is_shown() {
    let mut events = Vec::new();
    events.extend(written(0, "enqueue", json!("a"), json!("a")));
    events.extend(written(1, "dequeue", json!(null), json!("a")));
    let page = shown(&history(&events), Some("fifo-queue"), 1_000_000);
    assert!(page.contains("VALID") && !page.contains("stuck-0"));
    assert!(page.contains("An order of all was found: it has the 2 steps that certainly happened."));
    assert!(page.contains("state after it: empty"));
}

#[test]
fn the_key_that_fails_is_open_and_the_others_can_be_opened() {
    let mut events = Vec::new();
    for (key, found) in [("a", 1), ("b", 7), ("c", 1)] {
        events.extend(written(0, "write", json!([key, 1]), json!([key, 1])));
        events.extend(written(1, "read", json!([key, null]), json!([key, found])));
    }
    let page = shown(&history(&events), None, 1_000_000);
    let objects: Vec<&str> = page
        .split("<details class=\"object\" name=\"object\"")
        .skip(1)
        .collect();
    let summary = |at: usize| objects[at].split("</summary>").next().expect("a summary");
    assert_eq!(objects.len(), 3);
    assert!(
        summary(0).starts_with(" open>") && summary(0).contains("Key &quot;b&quot;: 2 operations, not-linearizable")
    );
    assert!(
        summary(1).starts_with('>')
            && summary(1).contains("Key &quot;a&quot;: 2 operations, an order of all was found")
    );
}

#[test]
fn many_operations_and_keys_stay_below_a_megabyte_and_what_is_left_out_is_counted() {
    let mut events = Vec::new();
    let long = "<\u{202e}".repeat(5_000);
    for number in 0..3_000 {
        let value = json!([number % 20, format!("{number} {long}")]);
        events.extend(written(number, "write", value.clone(), value));
        events.extend(written(
            number,
            "read",
            json!([number % 20, null]),
            json!([number % 20, null]),
        ));
    }
    events.extend(written(1, "write", json!([21, "never"]), json!([21, "never"])));
    events.extend(written(1, "read", json!([21, null]), json!([21, "else"])));
    let page = shown(&history(&events), None, 1_000_000);
    assert!(page.contains("200 of 300 operations are shown"));
    assert!(page.contains("more keys are not shown."));
}

#[test]
fn a_budget_that_runs_out_is_named() {
    let mut events = Vec::new();
    for number in 0..50 {
        events.extend(written(0, "write", json!(number % 3), json!(number % 3)));
    }
    let page = shown(&history(&events), None, 10);
    assert!(
        page.contains("the steps ran out, so that a longer one may exist"),
        "{page}"
    );
}

#[test]
fn models_without_an_order_show_their_operations() {
    let mut events = Vec::new();
    events.extend(written(0, "enqueue", json!(1), json!(1)));
    events.extend(written(1, "dequeue", json!(null), json!(1)));
    let page = shown(&history(&events), Some("total-queue"), 1_000_000);
    assert!(page.contains("No order is shown: a total-queue is judged without one order of all operations."));
    assert!(page.contains("process 1: dequeue"));
}

#[test]
fn hostile_histories_stay_text() {
    let mut events = Vec::new();
    events.extend(written(0, "write", json!([POISON, POISON]), json!([POISON, POISON])));
    events.extend(written(
        u64::MAX,
        "read",
        json!([POISON, null]),
        json!([POISON, { POISON: [POISON] }]),
    ));
    let mut history = history(&events);
    history.events[3].error = Some(POISON.to_owned());
    for f in ["read", POISON] {
        history.events[3].f = f.into();
        history.events[2].f = f.into();
        assert_harmless(&shown(&history, Some("register"), 1_000_000), 1);
    }
}
