//! Operations: what is asked and answered, as it stands in requests and in histories.

use serde_json::{Value, json};
use zooquake_history::operation::{Made, barrier, commit, control, grant, queue, register};
use zooquake_history::protocol::{Message, Request};
use zooquake_history::{Event, EventType, Process};

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
        value,
        error: None,
        node: None,
    }
}

#[test]
fn requests_are_read_by_name_and_value() {
    let write = request("write", json!({ "grant": "g7", "value": 31, "timeout_ms": 5 }));
    let (grant, value, work_ms) = ("g7".to_owned(), json!(31), 0);
    assert_eq!(
        write.operation().ok(),
        Some(grant::Request::Write { grant, value, work_ms })
    );
    let transaction = json!({ "tx": "t7", "sites": ["c2"] });
    let begin: commit::Request = request("begin", transaction).operation().expect("a transaction");
    assert_eq!(begin.tx(), "t7");
    for empty in [Value::Null, json!({})] {
        assert_eq!(
            request("dequeue", empty.clone()).operation().ok(),
            Some(queue::Request::Dequeue {})
        );
        assert_eq!(
            request("read", empty).operation().ok(),
            Some(register::Request::Read {})
        );
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
            .operation::<barrier::Request>()
            .expect_err("it is none");
        assert!(error.to_string().contains(why), "{error}");
    }
}

#[test]
fn requests_are_written_as_they_are_read() {
    let join = barrier::Request::Join {
        round: 3,
        members: 4,
        member: 2,
    };
    let written = serde_json::to_value(&join).expect("a request is data");
    assert_eq!(
        written,
        json!({ "f": "join", "value": { "round": 3, "members": 4, "member": 2 } })
    );
    assert_eq!(serde_json::from_value::<barrier::Request>(written).ok(), Some(join));
}

#[test]
fn answers_say_null_for_what_a_client_cannot_tell() {
    let (grant, session, path) = ("g7".to_owned(), "0x1".to_owned(), "/lock/x-3".to_owned());
    let znode = Made { path, czxid: None };
    let granted = |ack| grant::Answer::Granted {
        grant: grant.clone(),
        znode: znode.clone(),
        session: session.clone(),
        token: None,
        ack,
    };
    let plain = json!({ "grant": "g7", "path": "/lock/x-3", "czxid": null, "session": "0x1" });
    assert_eq!(serde_json::to_value(granted(None)).expect("data"), plain);
    let told = serde_json::to_value(granted(Some(None))).expect("data");
    assert_eq!(told["ack"], Value::Null);
    assert!(told.as_object().is_some_and(|fields| fields.contains_key("ack")));
    let removed = barrier::Answer::Left {
        round: 3,
        removed: None,
    };
    assert_eq!(
        serde_json::to_value(removed).expect("data"),
        json!({ "round": 3, "removed": null })
    );
}

#[test]
fn a_field_of_another_type_is_as_if_it_were_missing() {
    let sound = event(json!({ "grant": "g7", "czxid": 9, "removed": { "path": "/a", "czxid": 9 }, "accepted": false }));
    assert_eq!(
        (sound.grant(), sound.czxid(), sound.accepted()),
        (Some("g7"), Some(9), Some(false))
    );
    assert_eq!(sound.removed(), Some((Some("/a"), Some(9))));
    let odd = event(json!({ "grant": 7, "czxid": "9", "removed": 1, "accepted": 0, "round": 1.5 }));
    assert_eq!((odd.grant(), odd.czxid(), odd.accepted()), (None, None, None));
    assert_eq!((odd.removed(), odd.round(), odd.tx()), (None, None, None));
}

#[test]
fn notices_are_messages() {
    let taking = Message::from(control::Notice::Taking { item: 12 });
    let line = serde_json::to_string(&taking).expect("a message is data");
    assert_eq!(line, r#"{"type":"notice","notice":"taking","value":{"item":12}}"#);
}
