//! Damaged histories: what stands before the damage is kept, and the damage is placed.

use serde_json::{Value, json};
use zooquake_history::event::parse_jsonl;
use zooquake_history::files::Files;
use zooquake_history::jsonl::{parse_lines, parse_value, to_line};
use zooquake_history::{Damage, Event, EventType, History, Plan, Process, Record, TreeReadings, Txn};

fn text() -> String {
    let (number, name) = (Process::Number, |name: &str| Process::Name(name.into()));
    let events: [(Process, EventType, &str, Value); 4] = [
        (number(1), EventType::Invoke, "acquire", json!({ "grant": "g1" })),
        (
            number(1),
            EventType::Ok,
            "acquire",
            json!({ "grant": "g1", "czxid": 10 }),
        ),
        (name("c1"), EventType::Info, "lost", json!({ "grant": "g1" })),
        (name("run"), EventType::Info, "phase", json!("done")),
    ];
    let event = |(index, (process, kind, f, value)): (usize, (Process, EventType, &str, Value))| Event {
        index,
        time: (index as u64 + 1) * 1_000_000_000,
        node: matches!(kind, EventType::Invoke | EventType::Ok).then(|| "c1".into()),
        process,
        kind,
        f: f.into(),
        value: value.into(),
        error: None,
    };
    events
        .into_iter()
        .enumerate()
        .map(event)
        .map(|event| to_line(&event))
        .collect()
}

fn read(text: impl AsRef<[u8]>) -> (usize, Damage) {
    let (history, damage) = parse_jsonl(text.as_ref());
    (history.events.len(), damage.expect("it is damaged"))
}

#[test]
fn what_is_written_is_read_again() {
    let (history, damage) = parse_jsonl(text().as_bytes());
    assert_eq!((history.events.len(), damage), (4, None));
    assert_eq!(history.events.iter().map(to_line).collect::<String>(), text());
    assert_eq!(parse_jsonl(b""), (History::default(), None));
    assert_eq!(parse_jsonl(text().trim_end().as_bytes()).1, None);
    assert_eq!(parse_jsonl(text().replace('\n', "\r\n").as_bytes()).1, None);
}

#[test]
fn every_cut_keeps_the_whole_lines_before_it() {
    let text = text();
    for end in 0..text.len() {
        let cut = &text.as_bytes()[..end];
        let (history, damage) = parse_jsonl(cut);
        let whole = cut.iter().filter(|&&byte| byte == b'\n').count();
        // A line that lacks nothing but its line break is whole.
        let complete = whole + usize::from(text.as_bytes()[end] == b'\n');
        assert_eq!(history.events.len(), complete);
        let inside = end > 0 && cut[end - 1] != b'\n' && text.as_bytes()[end] != b'\n';
        assert_eq!(damage.is_some(), inside, "cut at {end}");
        if let Some(damage) = damage {
            assert_eq!(damage.line, whole + 1);
            assert!(damage.what.starts_with("the last line is cut off"), "{damage}");
        }
    }
}

#[test]
fn what_is_wrong_in_a_line_is_placed() {
    for (right, wrong, kept, told) in [
        (
            "\"index\":2",
            "\"index\":7",
            2,
            "line 3, column 2: expected index 2, found 7",
        ),
        (
            "\"time\":3000000000",
            "\"time\":5",
            2,
            "time goes back from 2000000000 to 5 ns",
        ),
        ("\"type\":\"ok\"", "\"type\":\"maybe\"", 1, "unknown variant `maybe`"),
    ] {
        let (found, damage) = read(text().replacen(right, wrong, 1));
        assert_eq!((found, damage.line), (kept, kept + 1), "{damage}");
        assert!(damage.column > 1 && damage.to_string().contains(told), "{damage}");
    }
}

#[test]
fn garbage_is_placed_and_nothing_panics() {
    let mut lines: Vec<Vec<u8>> = text().lines().map(|line| line.as_bytes().to_vec()).collect();
    lines[1] = vec![0xff, 0x00, 0x9f, b'{', 0xfe];
    let (kept, damage) = read(lines.join(&b'\n'));
    assert_eq!((kept, damage.line), (1, 2));
    let (kept, damage) = read(text().replacen('\n', "\n\n", 1));
    let told = (kept, damage.what.as_str());
    assert_eq!(told, (1, "expected a JSON object, found an empty line"));
    read("[".repeat(100_000));
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..2000 {
        let mut bytes = text().into_bytes();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(..bytes.len());
            bytes[at] = random.u8(..);
        }
        parse_jsonl(&bytes);
    }
}

#[test]
fn other_files_are_read_the_same_way() {
    let line = to_line(&Txn {
        zxid: 7,
        op: "create".to_owned(),
        ..Txn::default()
    });
    let (txns, damage) = parse_lines::<Txn>(format!("{line}{line}oops\n{line}").as_bytes());
    assert_eq!((txns.len(), damage.map(|damage| damage.line)), (2, Some(3)));
    // Older versions recorded ZooKeeper's own line, and neither the parts of a multi nor which servers logged it.
    let older =
        br#"{"zxid":8,"session":"0x1","op":"multi","paths":[],"raw":"session 0x1 cxid 0x5 zxid 0x8 multi v{}"}"#;
    let (txns, damage) = parse_lines::<Txn>(older);
    assert!(damage.is_none() && txns[0].hides_parts() && txns[0].changes().next().is_none());
    assert!(parse_value::<TreeReadings>(br#"{"readings":[]}"#).is_ok());
    assert_eq!(parse_value::<TreeReadings>(b"{").expect_err("it is cut off").line, 1);
}

#[test]
fn a_record_is_read_as_far_as_its_files_are_sound() {
    let text = text();
    let plan = serde_json::to_vec(&Plan {
        format: 1,
        seed: 7,
        ..Plan::default()
    })
    .expect("a plan is data");
    let history = Some(text.as_bytes());
    let sound = Record::read(Files {
        plan: Some(&plan),
        history,
        tree: Some(b"{\"readings\":[]}"),
        txnlog: Some(b""),
        txnlogs: Some(br#"[{"server":"n1","voter":true,"whole":true,"first":0,"last":0,"transactions":0}]"#),
        servers: Some(b""),
        logs: Some(&[("n1".to_owned(), b"".to_vec())]),
        clients: &[],
        scenes: &[("zxid".to_owned(), vec![("n1".to_owned(), b"".to_vec())])],
        messages: None,
        provenance: Some(br#"{"zooquake":"0.1.0"}"#),
    });
    let found = (sound.damage.len(), sound.plan.seed, sound.history.events.len());
    assert_eq!(found, (0, 7, 4));
    assert_eq!(
        (sound.tree, sound.txnlog),
        (Some(TreeReadings::default()), Some(vec![]))
    );
    assert_eq!(sound.servers, Some(vec![]));
    let read = sound.server_txnlogs.expect("they are there");
    assert_eq!(
        (read[0].server.as_str(), read[0].whole, &read[0].problem),
        ("n1", true, &None)
    );
    assert_eq!(sound.logs.map(|logs| logs.len()), Some(1));
    assert_eq!(sound.scenes.get("zxid").map(Vec::len), Some(1));
    let cut = Record::read(Files {
        plan: Some(b"{"),
        history: history.map(|text| &text[..20]),
        tree: Some(b"["),
        txnlog: Some(b"?"),
        txnlogs: Some(b"{}"),
        servers: Some(b"{}"),
        logs: None,
        clients: &[],
        scenes: &[],
        messages: None,
        provenance: Some(b"["),
    });
    let named: Vec<&str> = cut
        .damage
        .iter()
        .filter_map(|damage| damage.split(',').next())
        .collect();
    assert_eq!(
        named,
        [
            "plan.json",
            "history.jsonl",
            "tree.json",
            "txnlog.jsonl",
            "txnlogs.json",
            "servers.jsonl",
            "provenance.json"
        ]
    );
    let found = Record::read(Files::default()).damage;
    assert_eq!(found, ["plan.json is missing", "history.jsonl is missing"]);
}
