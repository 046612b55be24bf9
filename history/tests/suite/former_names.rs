//! What earlier versions called otherwise.

use serde_json::{Value, json};
use zooquake_history::edn::{parse_edn, to_edn};
use zooquake_history::event::parse_jsonl;
use zooquake_history::jsonl::parse_value;
use zooquake_history::{Plan, former_names};

/// A plan of a variant, with each of these faults once, as an earlier version wrote it.
fn plan(family: &str, variant: &str) -> Plan {
    let mut plan = serde_json::to_value(Plan::default()).expect("a plan is data");
    plan["workload"]["family"] = json!(family);
    plan["workload"]["variant"] = json!(variant);
    plan["workload"]["accepted"] =
        json!([{ "anomaly": "stuck-barrier", "faults": ["kill", "cut"], "reason": "", "source": "" }]);
    plan["faults"] = json!(["cut", "kill"]);
    plan["windows"] = json!([{
        "id": 1, "fault": "cut", "target": "client", "wire": "close", "trigger": { "at": { "at_ms": 1 } }, "duration_ms": 1
    }]);
    parse_value(plan.to_string().as_bytes()).expect("a plan")
}

#[test]
fn plans_are_read_under_their_present_names() {
    for (former, present) in [
        (("queue", "barrier"), "barrier/tutorial"),
        (("queue", "double-barrier"), "barrier/double"),
        (("queue", "double-barrier-planted"), "barrier/double-planted"),
        (("queue", "fifo"), "queue/fifo"),
        (("lock", "barrier"), "lock/barrier"),
    ] {
        let plan = plan(former.0, former.1);
        assert_eq!(plan.workload.name(), present);
        assert_eq!(plan.faults, ["disconnect", "kill"]);
        assert_eq!(plan.windows[0].fault, "disconnect");
        assert_eq!(plan.workload.accepted[0].faults, ["kill", "disconnect"]);
        let again = serde_json::to_string(&plan).expect("a plan is data");
        assert!(
            !again.contains("\"cut\"") && !again.contains("double-barrier"),
            "{again}"
        );
        assert_eq!(parse_value(again.as_bytes()), Ok(plan));
    }
}

#[test]
fn only_events_of_our_nemesis_are_renamed() {
    let line = |process: Value, f: &str, value: Value| {
        let event = json!({ "index": 0, "time": 0, "process": process, "type": "info", "f": f, "value": value });
        event.to_string()
    };
    let ours = json!({ "window": 1, "phase": "begin" });
    for (text, name) in [
        (line(json!("nemesis"), "cut", ours.clone()), "disconnect"),
        (line(json!("nemesis"), "kill", ours.clone()), "kill"),
        (line(json!("nemesis"), "cut", json!("n1")), "cut"),
        (line(json!(3), "cut", ours), "cut"),
    ] {
        let (history, damage) = parse_jsonl(text.as_bytes());
        assert_eq!((damage, history.events[0].f.as_str()), (None, name), "{text}");
        let former = to_edn(&history).replace("disconnect", "cut");
        assert_eq!(parse_edn(former.as_bytes()), (history, None), "{former}");
    }
}

#[test]
fn present_names_stay() {
    for name in ["disconnect", "kill", "no-such"] {
        assert_eq!(former_names::fault(name), name);
    }
    assert_eq!(former_names::variant("barrier", "double"), None);
}
