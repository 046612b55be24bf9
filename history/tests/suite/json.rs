//! Histories of others in JSON.

use serde_json::json;
use zooquake_history::event::{Damage, parse_jsonl};
use zooquake_history::jsonl::parse_json;
use zooquake_history::{Event, Process, Value};

const LINES: &str = r#"{"type":"invoke","f":"write","value":1,"process":0}
{"type":"ok","f":"write","value":1,"process":0}
{"type":"info","f":":start","value":null,"process":"nemesis","error":["timeout","x"]}
"#;

fn whole(text: &str) -> Vec<Event> {
    let (history, damage) = parse_json(text.as_bytes());
    assert_eq!(damage, None, "{text}");
    history.events
}

fn damaged(text: &str) -> (usize, Damage) {
    let (history, damage) = parse_json(text.as_bytes());
    (history.events.len(), damage.expect("it is damaged"))
}

/// The lines as an array.
fn array(lines: &str) -> String {
    format!("[{}]\n", lines.trim_end().replace('\n', ",\n"))
}

#[test]
fn index_and_time_may_be_missing() {
    let read = whole(LINES);
    let told: Vec<(usize, u64)> = read.iter().map(|event| (event.index, event.time)).collect();
    assert_eq!(told, [(0, 0), (1, 0), (2, 0)]);
    assert_eq!((&read[0].value, read[2].f.as_str()), (&json!(1).into(), "start"));
    assert_eq!(read[2].process, Process::Name("nemesis".into()));
    assert_eq!(read[2].error.as_deref(), Some("[\"timeout\" \"x\"]"));
    assert_eq!(whole(&array(LINES)), read);
    assert_eq!(
        whole(&LINES.replace('\n', "\n\n")),
        read,
        "empty lines are none of these"
    );
    let timed = LINES.replace("{\"type", "{\"time\":7,\"type").replacen("7", "9", 1);
    assert_eq!(whole(&timed)[2].time, 9, "time never goes back");
    let indexed = r#"{"index":0,"type":"invoke","f":"read","process":0}"#;
    assert_eq!(whole(indexed)[0].value, Value::Null);
    assert_eq!(whole("[]"), []);
    let keyed = r#"[{"type":"invoke","f":"put","key":"x","value":"a","process":0}]"#;
    assert_eq!(whole(keyed)[0].value, json!(["x", "a"]));
}

#[test]
fn what_some_events_have_all_must_have() {
    let without = r#"{"type":"ok","f":"read","value":1,"process":0}"#;
    for name in ["index", "time"] {
        let with = |number: u64| format!("{{\"{name}\":{number},{}", &without[1..]);
        for as_array in [false, true] {
            let text = |lines: String| if as_array { array(&lines) } else { lines };
            let (kept, damage) = damaged(&text(format!("{}\n{without}\n{}\n", with(0), with(2))));
            assert_eq!(
                (kept, damage.line),
                (usize::from(as_array || name == "time" || name == "index"), 2),
                "{damage}"
            );
            assert!(damage.what.contains(&format!("missing field `{name}`")), "{damage}");
            let (kept, damage) = damaged(&text(format!("{without}\n{without}\n{}\n", with(2))));
            assert_eq!((kept, damage.line), (0, 1), "{damage}");
            assert!(damage.what.contains("missing field `"), "{damage}");
        }
    }
}

#[test]
fn ours_are_read_as_ours() {
    let line = |index: u64, time: u64| {
        format!("{{\"index\":{index},\"time\":{time},\"process\":1,\"type\":\"ok\",\"f\":\"read\"}}\n")
    };
    let sound = line(0, 3) + &line(1, 4);
    assert_eq!(parse_json(sound.as_bytes()), parse_jsonl(sound.as_bytes()));
    for wrong in [
        line(0, 3) + &line(2, 4),
        line(0, 3) + &line(1, 2),
        line(0, 3) + &line(1, 4)[..20],
        line(0, 3) + "\n",
    ] {
        let (history, damage) = parse_json(wrong.as_bytes());
        assert_eq!(history.events.len(), 1, "{wrong}");
        assert_eq!(damage, parse_jsonl(wrong.as_bytes()).1, "{wrong}");
    }
    // In an array, which is never ours, only the order counts.
    assert_eq!(whole(&array(&(line(4, 3) + &line(9, 2))))[1].index, 1);
}

#[test]
fn what_is_cut_or_wrong_in_an_array_is_placed() {
    let text = array(LINES);
    for end in 0..text.trim_end().len() {
        let (history, damage) = parse_json(&text.as_bytes()[..end]);
        let whole = text[..end].matches('}').count();
        assert_eq!(history.events.len(), whole, "cut at {end}");
        assert_eq!(damage.is_some(), end > 0, "cut at {end}");
    }
    let (kept, damage) = damaged(&text.replace("\"ok\"", "\"maybe\""));
    assert_eq!((kept, damage.line, damage.column), (1, 2, 1));
    assert!(
        damage.what.contains("maybe") && damage.what.ends_with("the line after it is not read either"),
        "{damage}"
    );
    assert!(damaged(&(text.clone() + "{}")).1.what.starts_with("expected the end"));
    assert!(damaged("[1]").1.what.starts_with("expected an event, found 1"));
    assert!(
        damaged("[{\"type\":\"ok\",\"f\":\"read\"}]")
            .1
            .what
            .contains("missing field `process`")
    );
}
