//! Jepsen's text logs.

use serde_json::json;
use zooquake_history::textlog::{is_txt, parse_log, parse_txt, passed_over};
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
    assert!(place("INFO  jepsen.util - 3\t:ok\t:read\t1 2").contains("expected a tab or the end of the line"));
    assert!(place("INFO  jepsen.util - 3 :ok :read [1]2").contains("expected a blank or the end of the line"));
    assert!(place("INFO  jepsen.util - [] :ok :read 1").starts_with("line 2, column 21: [] is not a process"));
    assert!(place("INFO  jepsen.util - 3").starts_with("line 2, column 22: expected the type"));
    let (history, damage) = parse_log(b"6\t:invoke\t:read\tnil\nINFO  jepsen.util - 3 :ok :read 1\n");
    let told = damage.expect("it is damaged").to_string();
    assert!(
        told.starts_with("line 1, column 1: expected an entry of a log"),
        "{told}"
    );
    assert!(told.ends_with("; the line after it is not read either") && history.events.is_empty());
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    let (history, damage) = parse_log("\u{feff}INFO  jepsen.util - 3 :invoke :read nil\n".as_bytes());
    assert_eq!((history.events.len(), damage), (1, None));
    let line = "{\"index\":0,\"time\":0,\"process\":1,\"type\":\"invoke\",\"f\":\"read\"}\n";
    let (history, damage) = zooquake_history::event::parse_jsonl(format!("\u{feff}{line}").as_bytes());
    assert_eq!((history.events.len(), damage), (1, None));
}

#[test]
fn lines_that_begin_no_entry_belong_to_the_one_above() {
    let text = "lein test jepsen.lock-test\n\
                2019-06-10 10:31:00,100{GMT}\tINFO\t[jepsen worker 0] jepsen.util: 0\t:invoke\t:write\t1\n\
                2019-06-10 10:31:00,300{GMT}\tWARN\t[jepsen worker 3] jepsen.core: Process 3 crashed\n\
                java.net.SocketTimeoutException: Read timed out\n\
                \tat jepsen.util$await_fn.invoke(util.clj:453)\n\
                7\t:ok\t:read\t9\n\
                Caused by: java.io.IOException: closed\n\
                \t... 12 more\n\
                2019-06-10 10:31:00,400{GMT}\tINFO\t[jepsen worker 0] jepsen.print: 0\t:info\t:write\t1\ttimed out: \"n1\n\
                \tat n2\n\
                2019-06-10 10:31:01,000{GMT}\tINFO\t[main] jepsen.util: Waiting for :n1 to\n\
                catch up\n\
                2019-06-10 10:31:02,000{GMT}\tINFO\t[jepsen test runner] jepsen.core: {:linear {:valid? true,\n\
                 :configs ()}}\n\n\nEverything looks good! \u{30fd}\n";
    let (history, damage) = parse_log(text.as_bytes());
    assert_eq!(damage, None);
    let [invoke, info] = history.events.as_slice() else {
        panic!("{history:?}")
    };
    assert_eq!((invoke.kind, info.kind), (EventType::Invoke, EventType::Info));
    assert_eq!(info.error.as_deref(), Some("timed out: \"n1\n\tat n2"));
}

#[test]
fn what_the_nodes_have_printed_is_passed_over_but_not_in_events() {
    let line = |value: &[u8]| [b"INFO  jepsen.util - 3 :invoke :write ", value, b"\n"].concat();
    let noise = b"WARN  jepsen.core - \xff\xfe\n\xff\n";
    let (history, damage) = parse_log(&[line(b"1").as_slice(), noise, &line(b"2")].concat());
    assert_eq!((history.events.len(), damage), (2, None));
    let (history, damage) = parse_log(&[line(b"1").as_slice(), &line(b"\"\xff\"")].concat());
    assert_eq!(history.events.len(), 1);
    assert_eq!(
        damage.expect("it is damaged").to_string(),
        "line 2, column 39: it is no UTF-8"
    );
}

#[test]
fn a_log_without_events_is_damaged() {
    let (history, damage) = parse_log(b"INFO  jepsen.core - starting\nINFO  jepsen.core - over\n");
    let told = damage.expect("it is damaged").to_string();
    assert!(
        history.events.is_empty() && told.starts_with("line 1, column 1: no entry is an event"),
        "{told}"
    );
    assert!(told.ends_with("the line after it is not read either"), "{told}");
}

const TXT: &str = "0\t:invoke\t:write\t[1 \"a\\tb\"]\n\
                   :nemesis\t:info\t:start\t#<Grudge n1>\n\
                   0\t:ok\t:write\t[1 \"a\\tb\"]\n\
                   3\t:invoke\t:cas\t#:zk{:from 1, :to ^{:line 1} [2]}\n\
                   3\t:info\t:cas\t#error {\n :cause \"x\"}\tindeterminate: Read timed out\n\tat (Foo.java)\n\
                   4\t:fail\t:read\tnil\t[:not-held \"n1\"]\n";

#[test]
fn plain_lines_are_read() {
    assert!(is_txt(TXT.as_bytes()));
    assert!(!is_txt(b"INFO  jepsen.util - 3 :invoke :read nil\n3\t:ok\t:read\t1\n"));
    assert!(!is_txt(b"{:process 3, :type :ok}\n"));
    let (history, damage) = parse_txt(TXT.as_bytes());
    assert_eq!(damage, None);
    let events = &history.events;
    assert_eq!(events.len(), 6);
    assert_eq!(events[0].value, json!([1, "a\tb"]));
    let nemesis = (&events[1].process, events[1].value.as_str());
    assert_eq!(nemesis, (&Process::Name("nemesis".into()), Some("#<Grudge n1>")));
    assert_eq!(events[3].value, json!({"zk/from": 1, "zk/to": [2]}));
    let error = Some("indeterminate: Read timed out\n\tat (Foo.java)");
    assert_eq!((events[4].kind, events[4].error.as_deref()), (EventType::Info, error));
    assert_eq!(events[5].error.as_deref(), Some("[:not-held \"n1\"]"));
}

#[test]
fn a_plain_line_that_is_no_event_is_damage_unless_it_goes_on_with_an_error() {
    let place = |line: &str| {
        let text = format!("0\t:invoke\t:write\t1\n{line}\n0\t:ok\t:write\t1\n\n0\t:invoke\t:read\tnil\n");
        let (history, damage) = parse_txt(text.as_bytes());
        assert_eq!(history.events.len(), 1, "{line}");
        let told = damage.expect("it is damaged").to_string();
        assert!(told.ends_with("; the 2 lines after it are not read either"), "{told}");
        told
    };
    assert!(place("Read timed out").starts_with("line 2, column 1: expected an event"));
    assert!(place("3\t:maybe\t:write\t1").starts_with("line 2, column 3: expected :invoke"));
    assert!(place("INFO  jepsen.util - 3 :ok :read 17").starts_with("line 2, column 1: expected an event"));
    assert!(place("3\t:ok\t:read\t#<Foo>").starts_with("line 2, column 13: expected a tag"));
    let (history, damage) = parse_txt(b"0\t:invoke\t:write\t1\n0\t:ok");
    assert_eq!(history.events.len(), 1);
    assert!(
        damage
            .expect("it is cut")
            .to_string()
            .contains("found the end of the line")
    );
}

#[test]
fn lines_that_may_be_events_and_are_not_read_are_counted_by_what_they_are() {
    let text = "lein test jepsen.lock-test\n\
                \n\
                Retrieving jepsen\n\
                INFO  jepsen.util - 3\t:invoke\t:read\tnil\n\
                3\t:ok\t:read\t7\n\
                INFO  my.client - 4 :ok :read 17\n\
                2026-11-20 21:00:00,123 INFO [worker 4] my.client: 4\t:invoke\t:write\t[\"a: b\"]\n\
                5 :invoke :read nil\n\
                WARN  jepsen.core - Process 3 crashed {:type :info :f :read}\n\
                java.net.SocketTimeoutException: Read timed out\n\
                INFO  jepsen.util - waiting for :n1\n\
                INFO  jepsen.util - :nemesis :info :start nil\n";
    let sentences = |text: &str| {
        let (_, damage) = parse_log(text.as_bytes());
        let passed = passed_over(text.as_bytes(), damage.as_ref());
        passed.iter().map(ToString::to_string).collect::<Vec<String>>()
    };
    assert_eq!(
        sentences(text),
        [
            "line 1 is not read as an event: it stands above the first entry; nor is 1 more line",
            "line 5 is not read as an event: it is written like one, behind no logger; nor is 1 more line",
            "line 6 is not read as an event: it is written like one, behind a logger that is neither jepsen.util nor \
             jepsen.print; nor is 1 more line",
        ]
    );
    let (history, damage) = parse_log(text.as_bytes());
    assert_eq!((history.events.len(), damage), (2, None));
    // What stands below a damage is counted there.
    let cut = text.replace(
        "3\t:ok\t:read\t7\n",
        "5 :ok :read 8\nINFO  jepsen.util - 3\t:ok\t:read\n",
    );
    assert_eq!(
        sentences(&cut)[1..],
        ["line 5 is not read as an event: it is written like one, behind no logger"]
    );
    let many = "5 :ok :read 8\n".repeat(12);
    let many = sentences(&format!("INFO  jepsen.util - 3\t:invoke\t:read\tnil\n{many}"));
    assert!(many[0].ends_with("behind no logger; nor are 11 more lines"), "{many:?}");
    assert_eq!(sentences("INFO  jepsen.util - 3 :invoke :read nil\n"), [""; 0]);
}
