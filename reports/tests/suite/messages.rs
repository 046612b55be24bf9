//! The diagram of the messages of a consensus protocol, in the page and as a picture.

use serde_json::{Value, json};
use std::fs;
use zooquake_history::event::parse_jsonl;
use zooquake_history::plan::{ConsensusGoal, On, Plan, Workload};
use zooquake_history::{MessageRecord, Record};
use zooquake_reports::{Extras, write_all};

const NODES: [&str; 6] = [
    "acceptor1",
    "acceptor2",
    "acceptor3",
    "learner1",
    "learner2",
    "proposer1",
];

fn message(
    number: u32,
    (from, to): (&str, &str),
    (sent, received): (u64, Option<u64>),
    kind: &str,
    round: u32,
) -> MessageRecord {
    MessageRecord {
        number,
        copy_of: None,
        from: from.into(),
        to: to.into(),
        sent,
        received,
        lost: received.is_none().then_some(sent),
        kind: kind.into(),
        detail: if round == 1 { "1".into() } else { "2".into() },
        round: Some(round),
    }
}

/// Two learners learn different values, by two quorums that do not meet as they should.
fn disagreement(nodes: [&str; 6]) -> Record {
    let mut lines: Vec<Value> = Vec::new();
    let mut event = |time: u64, process: Value, kind: &str, f: &str, value: Value| {
        let index = lines.len();
        let node = if process.is_u64() { json!(nodes[5]) } else { Value::Null };
        lines.push(json!({"index": index, "time": time, "process": process, "type": kind, "f": f, "value": value, "node": node}));
    };
    event(0, json!("run"), "info", "nodes", json!(nodes));
    event(0, json!("run"), "info", "phase", json!("ops"));
    event(1_000, json!(0), "invoke", "propose", json!({"value": 1}));
    event(1_000, json!(1), "invoke", "propose", json!({"value": 2}));
    event(
        5_000_000,
        json!(nodes[3]),
        "info",
        "learned",
        json!({"value": 1, "round": 1}),
    );
    event(
        9_000_000,
        json!(nodes[4]),
        "info",
        "learned",
        json!({"value": 2, "round": 2}),
    );
    event(10_000_000, json!("run"), "info", "phase", json!("done"));
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let (history, damage) = parse_jsonl(text.as_bytes());
    assert_eq!(damage, None);
    let votes = [(0, 3, 1), (1, 3, 1), (1, 4, 2), (2, 4, 2)];
    let mut messages: Vec<MessageRecord> = (0..)
        .zip(votes)
        .map(|(number, (from, to, round))| {
            let sent = if round == 1 { 3_000_000 } else { 7_000_000 };
            let arrives = if round == 1 { 5_000_000 } else { 9_000_000 };
            message(number, (nodes[from], nodes[to]), (sent, Some(arrives)), "2b", round)
        })
        .collect();
    messages.push(message(4, (nodes[2], nodes[3]), (7_500_000, None), "2b", 2));
    Record {
        plan: Plan {
            on: On::Network,
            workload: Workload {
                family: "consensus".into(),
                variant: "paxos".into(),
                goal: ConsensusGoal::Value,
                ..Workload::default()
            },
            ..Plan::default()
        },
        history,
        messages: Some(messages),
        ..Record::default()
    }
}

fn page(record: &Record) -> (String, Vec<u8>) {
    let folder = tempfile::tempdir().expect("a folder");
    let results = zooquake_checkers::check(record);
    let written = write_all(record, &results, &Extras::default(), folder.path()).expect("a report");
    assert!(written.iter().any(|path| path.ends_with("messages.png")));
    let read = |name: &str| fs::read(folder.path().join(name)).expect("it was written");
    (
        String::from_utf8(read("report.html")).expect("text"),
        read("messages.png"),
    )
}

#[test]
fn a_disagreement_is_shown_with_the_votes_of_both_quorums() {
    let (page, picture) = page(&disagreement(NODES));
    assert!(page.contains("class=\"messages\""), "the diagram");
    assert!(page.contains("acceptor1 and acceptor2 voted for 1"), "the first quorum");
    assert!(page.contains("acceptor2 and acceptor3 voted for 2"), "the second one");
    assert!(
        page.contains("m-first") && page.contains("m-second"),
        "each has a colour"
    );
    for node in NODES {
        assert!(page.contains(&format!(">{node}<")), "the lane of {node}");
    }
    assert!(page.contains("The network was simulated") && page.contains("6 nodes"));
    let decoder = png::Decoder::new(std::io::Cursor::new(picture));
    let mut reader = decoder.read_info().expect("a picture");
    let mut pixels = vec![0; reader.output_buffer_size()];
    let info = reader.next_frame(&mut pixels).expect("its pixels");
    assert!(
        info.width >= 1_200 && info.height > 200,
        "{}x{}",
        info.width,
        info.height
    );
    let dark = pixels.iter().filter(|&&byte| byte < 100).count();
    assert!(dark > 2_000, "only {dark} dark bytes");
}

#[test]
fn hostile_names_of_nodes_are_escaped() {
    let hostile = ["<b>1", "acceptor2\"", "acceptor3", "learner1", "learner2", "proposer1"];
    let (page, _) = page(&disagreement(hostile));
    assert!(!page.contains("<b>1") && page.contains("&lt;b&gt;1"));
}

#[test]
fn a_run_that_is_no_networks_has_no_diagram() {
    let record = Record {
        messages: None,
        ..disagreement(NODES)
    };
    let folder = tempfile::tempdir().expect("a folder");
    let results = zooquake_checkers::check(&record);
    let written = write_all(&record, &results, &Extras::default(), folder.path()).expect("a report");
    assert!(!written.iter().any(|path| path.ends_with("messages.png")));
}
