use super::*;
use crate::Plan;
use crate::plan::Window;
use serde_json::json;

#[test]
fn kinds_differ_in_name_colour_and_hatch() {
    for (n, kind) in KINDS.iter().enumerate() {
        assert_eq!(FaultKind::by_name(kind.name), kind);
        assert!(!kind.summary.is_empty());
        for other in &KINDS[..n] {
            assert!(kind.name != other.name && kind.colour != other.colour && kind.hatch != other.hatch);
        }
    }
    assert_eq!(FaultKind::by_name("no-such"), &OTHER);
}

#[test]
fn a_fault_of_a_whole_host_is_felt_as_that_of_nodes() {
    for (host, node) in [
        (HOST_KILL, "kill"),
        (HOST_PAUSE, "pause"),
        (HOST_PARTITION, "partition"),
    ] {
        assert!(host.is_felt_as(node) && host.is_felt_as(host.name) && !host.is_felt_as("lag"));
        let kind = FaultKind::by_name(node);
        assert!(!kind.is_felt_as(host.name), "{node}");
        assert_eq!((kind.fatal, kind.freezes), (host.fatal, host.freezes));
    }
}

/// A window with these fields beside those that every window has.
fn window(payload: &str) -> String {
    let rest = r#""trigger":{"at":{"at_ms":1}},"duration_ms":2"#;
    format!(r#"{{"id":1,"fault":"partition","target":"leader",{payload}{rest}}}"#)
}

fn read(payload: &str) -> Window {
    serde_json::from_str(&window(payload)).unwrap()
}

#[test]
fn payloads_are_read_and_written_again_byte_for_byte() {
    let which = |op, nth| NthRequest { op, nth };
    for (text, payload) in [
        ("", None),
        (r#""cut":"from-servers","#, Some(Payload::Cut(Cut::FromServers))),
        (r#""wire":"close","#, Some(Payload::Wire(Wire::Close))),
        (
            r#""wire":{"drop-reply":{"op":"any-write","nth":2}},"#,
            Some(Payload::Wire(Wire::DropReply(which(WireOp::AnyWrite, 2)))),
        ),
        (
            r#""wire":{"drop-request":{"op":"close-session","nth":1}},"#,
            Some(Payload::Wire(Wire::DropRequest(which(WireOp::CloseSession, 1)))),
        ),
        (
            r#""wire":{"hold-reply":{"op":"create","nth":1}},"#,
            Some(Payload::Wire(Wire::HoldReply(which(WireOp::Create, 1)))),
        ),
        (
            r#""latency":{"ms":80,"jitter_ms":24},"#,
            Some(Payload::Latency(Latency { ms: 80, jitter_ms: 24 })),
        ),
    ] {
        assert_eq!(read(text).payload, payload);
        assert_eq!(serde_json::to_string(&read(text)).unwrap(), window(text));
    }
}

#[test]
fn a_window_without_a_payload_may_say_so_and_what_no_kind_knows_is_passed_over() {
    assert_eq!(read(r#""cut":null,"wire":null,"#), read(""));
    let found = read(r#""blade":{"of":"a newer version"},"cut":"mute","#);
    assert_eq!(found, read(r#""cut":"mute","#));
}

#[test]
fn a_payload_of_another_type_is_refused_by_its_name_whatever_the_kind() {
    for (payload, names) in [
        (r#""cut":"sideways","#, ["`cut`", "`sideways`"]),
        (r#""cut":7,"#, ["`cut`", "invalid type"]),
        (r#""wire":{"drop-reply":{"op":"any-write"}},"#, ["`wire`", "`nth`"]),
        (r#""wire":{"drop-reply":{"op":"sync","nth":1}},"#, ["`wire`", "`sync`"]),
        (r#""latency":{"ms":80},"#, ["`latency`", "`jitter_ms`"]),
        (r#""cut":"mute","wire":"close","#, ["`cut` and `wire`", "single key"]),
    ] {
        let mut plan = json!(Plan::default());
        plan["windows"] = json!([serde_json::from_str::<Value>(&window(payload)).unwrap()]);
        let error = serde_json::from_value::<Plan>(plan).unwrap_err().to_string();
        assert!(names.iter().all(|name| error.contains(name)), "{payload}: {error}");
    }
}
