//! Operations: what is asked and answered, as it stands in requests and in histories.

use serde_json::{Value, json};
use zooquake_history::operation::nemesis::{StepEvent, WINDOW, WindowEvent, WindowPhase};
use zooquake_history::operation::{Mode, Operation, ZnodeName, barrier, commit, control, grant, queue, register};
use zooquake_history::protocol::{Message, Request};
use zooquake_history::{Event, EventType, Node, Process};

fn request(f: &str, value: Value) -> Request {
    Request {
        id: 7,
        f: f.into(),
        value,
        timeout_ms: None,
    }
}

/// The event that records a value.
fn event(value: Value) -> Event {
    Event {
        index: 0,
        time: 0,
        process: Process::Number(1),
        kind: EventType::Ok,
        f: "f".into(),
        value: value.into(),
        error: None,
        node: None,
    }
}

#[test]
fn requests_are_read_by_name_and_value() {
    let write = request("write", json!({ "grant": "g7", "value": 31, "timeout_ms": 5 }));
    let (grant, value, work_ms) = ("g7".to_owned(), json!(31), 0);
    let found = write.operation().ok();
    assert_eq!(found, Some(grant::GrantRequest::Write { grant, value, work_ms }));
    let transaction = json!({ "tx": "t7", "sites": ["c2"] });
    let join = json!({ "f": "join", "value": { "round": 3, "members": 4, "member": 2 } });
    let read: barrier::BarrierRequest = serde_json::from_value(join.clone()).expect("a request");
    assert_eq!(written(&read)[1], join);
    let begin: commit::CommitRequest = request("begin", transaction).operation().expect("a transaction");
    assert_eq!(begin.tx(), "t7");
    for empty in [Value::Null, json!({})] {
        let found = request("dequeue", empty.clone()).operation().ok();
        assert_eq!(found, Some(queue::QueueRequest::Dequeue {}));
        let found = request("read", empty).operation().ok();
        assert_eq!(found, Some(register::RegisterRequest::Read {}));
    }
}

#[test]
fn a_request_that_is_none_says_why() {
    for (f, value, why) in [
        ("enter", json!({ "round": 1 }), "missing field `members`"),
        ("enter", json!({ "round": "1", "members": 2 }), "invalid type: string"),
        ("sit", json!({}), "unknown variant `sit`"),
    ] {
        let error = request(f, value)
            .operation::<barrier::BarrierRequest>()
            .expect_err("it is none");
        assert!(error.to_string().contains(why), "{error}");
    }
}

/// The request in two ways: by its methods, and as serde writes it.
fn written(operation: &impl Operation) -> [Value; 2] {
    let (f, value) = operation.parts();
    let whole = serde_json::to_value(operation).expect("a request is data");
    [json!({ "f": f, "value": value }), whole]
}

#[test]
fn a_request_has_the_name_and_the_value_that_are_sent() {
    let (grant, tx, item, round, members) = ("g7".to_owned(), "t7".to_owned(), 3, 2, 4);
    let transaction = commit::TransactionZnode {
        tx: tx.clone(),
        sites: vec!["c2".to_owned()],
        payload: json!(7),
    };
    let write = grant::GrantRequest::Write {
        grant: grant.clone(),
        value: json!(1),
        work_ms: 40,
    };
    let vote = commit::CommitRequest::Vote {
        tx: tx.clone(),
        vote: commit::Vote::Yes,
        work_ms: 50,
    };
    let all = [
        written(&barrier::BarrierRequest::Join {
            round,
            members,
            member: 1,
        }),
        written(&barrier::BarrierRequest::Enter { round, members }),
        written(&barrier::BarrierRequest::Leave { round }),
        written(&barrier::BarrierRequest::Close { round }),
        written(&commit::CommitRequest::Begin(transaction.clone())),
        written(&commit::CommitRequest::Decide(transaction)),
        written(&vote),
        written(&commit::CommitRequest::Decided { tx }),
        written(&grant::GrantRequest::Acquire {
            grant: grant.clone(),
            mode: Mode::default(),
        }),
        written(&grant::GrantRequest::Elect { grant: grant.clone() }),
        written(&grant::GrantRequest::Read {
            grant: grant.clone(),
            work_ms: 40,
        }),
        written(&write),
        written(&grant::GrantRequest::Work {
            grant: grant.clone(),
            work_ms: 40,
        }),
        written(&grant::GrantRequest::Release { grant: grant.clone() }),
        written(&grant::GrantRequest::Resign { grant }),
        written(&queue::QueueRequest::Enqueue { item }),
        written(&queue::QueueRequest::Dequeue {}),
        written(&queue::QueueRequest::Acknowledge { item }),
        written(&register::RegisterRequest::Read {}),
        written(&register::RegisterRequest::Write { value: 1 }),
        written(&register::RegisterRequest::Cas { from: 1, to: 2 }),
    ];
    for [parts, whole] in all {
        assert_eq!(parts, whole);
    }
}

#[test]
fn answers_say_null_for_what_a_client_cannot_tell() {
    let (grant, session, path) = ("g7".to_owned(), "0x1".to_owned(), "/lock/x-3".to_owned());
    let znode = ZnodeName { path, czxid: None };
    let granted = |ack| grant::GrantAnswer::Granted {
        grant: grant.clone(),
        znode: Some(znode.clone()),
        session: Some(session.clone()),
        token: None,
        ack,
    };
    let plain = json!({ "grant": "g7", "path": "/lock/x-3", "czxid": null, "session": "0x1" });
    assert_eq!(serde_json::to_value(granted(None)).expect("data"), plain);
    let told = serde_json::to_value(granted(Some(None))).expect("data");
    assert_eq!(told["ack"], Value::Null);
    assert!(told.as_object().is_some_and(|fields| fields.contains_key("ack")));
    let removed = barrier::BarrierAnswer::Left {
        round: 3,
        removed: None,
    };
    let found = serde_json::to_value(removed).expect("data");
    assert_eq!(found, json!({ "round": 3, "removed": null }));
}

#[test]
fn a_field_of_another_type_is_as_if_it_were_missing() {
    let sound = event(json!({ "grant": "g7", "czxid": 9, "removed": { "path": "/a", "czxid": 9 }, "accepted": false }));
    let found = (sound.grant(), sound.czxid(), sound.accepted());
    assert_eq!(found, (Some("g7"), Some(9), Some(false)));
    assert_eq!(sound.removed(), Some((Some("/a"), Some(9))));
    let odd = event(json!({ "grant": 7, "czxid": "9", "removed": 1, "accepted": 0, "round": 1.5 }));
    assert_eq!((odd.grant(), odd.czxid(), odd.accepted()), (None, None, None));
    assert_eq!((odd.removed(), odd.round(), odd.tx()), (None, None, None));
}

#[test]
fn a_field_is_read_as_it_stands_and_written_where_there_are_fields() {
    let odd = event(json!({ "grant": 7, "accepted": null, "counts": { "create": 3, "get": -1, "events": "2" } }));
    assert_eq!(odd.get(grant::GRANT.any()), Some(&7.into()));
    assert_eq!(odd.get(grant::ACCEPTED.any()), Some(&zooquake_history::Value::Null));
    assert_eq!(odd.get(WINDOW.any()), None);
    let counts = odd
        .counts()
        .map(|counts| (counts.requests(), counts.get, counts.events));
    assert_eq!(counts, Some((3, 0, 0)), "a number that is none counts nothing");
    for (mut value, expected) in [
        (
            json!({ "grant": "g7", "accepted": false }),
            json!({ "grant": "g7", "accepted": true }),
        ),
        (Value::Null, json!({ "accepted": true })),
        (json!(["g7"]), json!(["g7"])),
    ] {
        grant::ACCEPTED.put(&mut value, true);
        assert_eq!(value, expected);
    }
}

#[test]
fn only_the_run_enters_phases() {
    let mut phase = event(json!("heal"));
    phase.f = "phase".into();
    assert_eq!(phase.entered(), None);
    phase.process = Process::Name("run".into());
    assert_eq!(phase.entered(), Some("heal"));
    phase.value = json!({ "phase": "heal" }).into();
    assert_eq!(phase.entered(), None);
}

#[test]
fn faults_and_steps_are_written_without_what_is_not_known() {
    let mut window = WindowEvent {
        window: 2,
        phase: WindowPhase::Begin,
        target: Some("c3".to_owned()),
        verified: None,
        detail: None,
        evidence: None,
        hit: None,
    };
    let begin = json!({ "window": 2, "phase": "begin", "target": "c3" });
    assert_eq!(serde_json::to_value(&window).expect("data"), begin);
    (window.phase, window.verified) = (WindowPhase::Off, Some(false));
    window.detail = Some("still frozen".to_owned());
    let off = event(serde_json::to_value(&window).expect("data"));
    let found = (off.window(), off.phase(), off.target());
    assert_eq!(found, (Some(2), Some("off"), Some("c3")));
    assert_eq!((off.verified(), off.detail()), (Some(false), Some("still frozen")));
    let step = StepEvent {
        scene: "sid".to_owned(),
        step: 4,
        servers: vec![Node::server(3)],
        phase: WindowPhase::Done,
        verified: Some(true),
        detail: None,
        zxids: Some([(Node::server(3), "0x1".to_owned())].into()),
        leader: None,
    };
    let done = json!({
        "scene": "sid", "step": 4, "servers": ["n3"], "phase": "done", "verified": true, "zxids": { "n3": "0x1" }
    });
    assert_eq!(serde_json::to_value(&step).expect("data"), done);
}

#[test]
fn notices_are_messages() {
    let taking = Message::from(control::Notice::Taking { item: 12 });
    let line = serde_json::to_string(&taking).expect("a message is data");
    assert_eq!(line, r#"{"type":"notice","notice":"taking","value":{"item":12}}"#);
}
