//! Jepsen's text logs.

use serde_json::json;
use zooquake_history::textlog::parse_log;
use zooquake_history::{EventType, Process};

#[test]
fn events_are_read_among_the_lines_of_others() {
    let text = "INFO  jepsen.util - 3\t:invoke\t:cas\t[1 2]\n\
                INFO  jepsen.core - Worker 4 starting\n\
                \n\
                INFO  jepsen.util - 3\t:info\t:cas\t:timed-out\n\
                2026-11-20 21:00:00,123 INFO jepsen.util: :nemesis :info :start nil \"cut off n1\"\n";
    let (history, damage) = parse_log(text.as_bytes());
    assert_eq!(damage, None);
    let events = &history.events;
    assert_eq!(events.len(), 3);
    let found = (&events[0].process, &events[0].value);
    assert_eq!(found, (&Process::Number(3), &json!([1, 2]).into()));
    let found = (events[1].kind, events[1].value.as_str());
    assert_eq!(found, (EventType::Info, Some(":timed-out")));
    assert_eq!(events[2].process, Process::Name("nemesis".into()));
    assert_eq!(events[2].error.as_deref(), Some("cut off n1"));
    assert!(events.iter().enumerate().all(|(at, event)| event.index == at));
}

#[test]
fn damage_is_placed() {
    let place = |line: &str| {
        let text = format!("INFO  jepsen.util - 3 :invoke :read nil\n{line}\n");
        let (history, damage) = parse_log(text.as_bytes());
        assert_eq!(history.events.len(), 1, "{line}");
        damage.expect("it is damaged").to_string()
    };
    assert!(place("INFO  jepsen.util - 3 :ok :read").starts_with("line 2, column 32: expected a value"));
    assert!(place("INFO  jepsen.util - 3 :good :read nil").starts_with("line 2, column 23: expected :invoke"));
    assert!(place("INFO  jepsen.util - 3 :ok :read (1").starts_with("line 2, column 33: what begins here"));
    assert!(place("INFO  jepsen.util - 3 :ok :read 1 2 3").contains("expected the end of the line"));
    assert!(place("INFO  jepsen.util - [] :ok :read 1").starts_with("line 2, column 21: [] is not a process"));
    assert!(place("jepsen, but no log").starts_with("line 2, column 1: expected a line of a log"));
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    let (history, damage) = parse_log("\u{feff}INFO  jepsen.util - 3 :invoke :read nil\n".as_bytes());
    assert_eq!((history.events.len(), damage), (1, None));
    let line = "{\"index\":0,\"time\":0,\"process\":1,\"type\":\"invoke\",\"f\":\"read\"}\n";
    let (history, damage) = zooquake_history::event::parse_jsonl(format!("\u{feff}{line}").as_bytes());
    assert_eq!((history.events.len(), damage), (1, None));
}
