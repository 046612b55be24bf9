//! Jepsen's EDN.

use serde_json::json;
use zooquake_history::edn::{Edn, parse, parse_edn, to_json};
use zooquake_history::event::Damage;
use zooquake_history::{Event, EventType, Process};

fn events(text: &str) -> Vec<Event> {
    let (history, damage) = parse_edn(text.as_bytes());
    assert_eq!(damage, None, "{text}");
    history.events
}

fn damage(text: &str) -> (usize, String) {
    let (history, damage) = parse_edn(text.as_bytes());
    (history.events.len(), damage.expect("it is damaged").to_string())
}

#[test]
fn vectors_lists_and_bare_maps_are_histories() {
    let one = "{:process 3, :type :invoke, :f :write, :value 4}";
    let two = "{:process 3 :type :ok :f :write :value 4}";
    let (vector, list) = (format!("[{one}\n {two}]"), format!("({one} {two})\n"));
    let lines = format!("; a comment\n{one}\n{two} ; another\n");
    let read = events(&vector);
    assert_eq!(read.len(), 2);
    let found = (read[0].process.clone(), read[0].kind);
    assert_eq!(found, (Process::Number(3), EventType::Invoke));
    let found = (read[1].index, read[1].f.as_str(), &read[1].value);
    assert_eq!(found, (1, "write", &json!(4).into()));
    assert_eq!(events(&list), read);
    assert_eq!(events(&lines), read);
    assert_eq!(events(" ; nothing\n"), []);
    assert_eq!(events("[]"), []);
}

#[test]
fn fields_may_be_missing_or_of_several_kinds() {
    let read = events(
        "[{:type :info, :f :start, :process :nemesis, :time 12, :index 40, :value \"cut \\\"n1\\\"\"}
          #jepsen.history.Op{:type :fail, :f :cas, :process 1, :value [1 2], :time 9, :error [:not-found \"no lease\"]}
          {:type :info, :f :read, :process 0, :error :timeout, :exception #error {:cause nil}}]",
    );
    assert_eq!(read[0].process, Process::Name("nemesis".into()));
    let told = (read[0].index, read[0].time);
    assert_eq!(told, (0, 12), "its position counts, whatever is written");
    assert_eq!(read[0].value, "cut \"n1\"");
    assert_eq!(read[1].time, 12, "time never goes back");
    assert_eq!(read[1].error.as_deref(), Some("[:not-found \"no lease\"]"));
    let told = (&read[2].value, read[2].error.as_deref());
    assert_eq!(told, (&zooquake_history::Value::Null, Some(":timeout")));
}

#[test]
fn all_of_edn_is_read() {
    let text = "{:a #{1 2}, \"b\" (nil true) 3 \\newline, :c #inst \"2026-01-01\" #_ #_ discarded twice :d [1.5 -2 7N 1/3 ##Inf]}";
    let json = to_json(&parse(text).expect("it is EDN"));
    assert_eq!(
        json,
        json!({"a": "#{1 2}", "\"b\"": "(nil true)", "3": "\\newline", "c": "#inst \"2026-01-01\"",
               "d": [1.5, -2, "7N", "1/3", "##Inf"]})
    );
    assert_eq!(parse("\"\\u00e9\\t\\\\\"").unwrap(), Edn::Str("é\t\\".into()));
    assert_eq!(parse("-").unwrap(), Edn::Symbol("-".into()));
    let found = parse("18446744073709551615").map(|value| to_json(&value));
    assert_eq!(found, Ok(u64::MAX.into()));
}

#[test]
fn damage_is_placed_and_what_stands_before_it_is_kept() {
    let one = "{:process 3, :type :invoke, :f :write, :value 4}";
    let place = |text: &str| {
        let (kept, what) = damage(text);
        assert_eq!(kept, 1, "{text}: {what}");
        what
    };
    let told = place(&format!("[{one}\n {{:process 3}}]"));
    assert_eq!(told, "line 2, column 2: the operation has no :type");
    assert!(place(&format!("[{one}")).starts_with("line 1, column 50: expected an operation or ']'"));
    let told = place(&format!("{one}\n  17"));
    assert_eq!(told, "line 2, column 3: expected an operation, found 17");
    assert!(place(&format!("[{one}] {one}")).starts_with("line 1, column 52: expected the end"));
    assert!(
        place(&format!("{one}\n{{:process \"ü\", :type :ok, :f \"x}}")).starts_with("line 2, column 30: the string")
    );
    assert!(place(&format!("{one}\n{{:process 1 :type :ok :f :x :value }}")).contains("a key without a value"));
    assert!(place(&format!("{one}\n{{:process -1 :type :ok :f :x}}")).contains("-1 is not a process"));
    assert!(place(&format!("{one}\n{{:process 1 :type :maybe :f :x}}")).contains("found :maybe"));
    assert!(place(&format!("{one}\n{{:value 12x4}}")).starts_with("line 2, column 9: \"12x4\" is not a number"));
    assert!(place(&format!("{one}\n{{:value ]}}")).starts_with("line 2, column 9: expected a value"));
    assert!(place(&format!("{one}\n{{:value \"\\q\"}}")).starts_with("line 2, column 10: there is no such escape"));
}

#[test]
fn what_is_no_text_is_damage_after_what_is() {
    let bytes = b"{:process 3 :type :invoke :f :write}\n\xff\xfe".to_vec();
    let (history, damage) = parse_edn(&bytes);
    assert_eq!(history.events.len(), 1);
    let expected = Damage {
        line: 2,
        column: 1,
        what: "255 is no UTF-8".to_owned(),
    };
    assert_eq!(damage, Some(expected));
}

#[test]
fn objects_are_read_and_a_byte_order_mark_is_passed_over() {
    let read = events(
        "\u{feff}{:type :info, :f :read, :process 0, :exception #object[java.net.ConnectException 0x1b2c3d \"refused\"]}",
    );
    assert_eq!(read.len(), 1);
    assert_eq!(parse("0x1B").unwrap(), Edn::Int(27));
    assert_eq!(parse("-0xff").unwrap(), Edn::Int(-255));
    let found = parse("0xffffffffffffffff").unwrap();
    assert_eq!(found, Edn::Number("18446744073709551615".into()));
    assert!(parse("0x1g").is_err() && parse("0x").is_err() && parse("0x+1").is_err());
    let found = damage("\u{feff}{:process 0}").1;
    assert_eq!(found, "line 1, column 1: the operation has no :type");
    assert!(
        damage("#<Object@1b2c3d>")
            .1
            .starts_with("line 1, column 1: expected a tag")
    );
}

#[test]
fn maps_of_a_namespace_are_read_as_what_they_stand_for() {
    for (written, meant) in [
        ("#:zk{:code -4, :msg \"x\"}", "{:zk/code -4, :zk/msg \"x\"}"),
        (
            "#:a{:b #:c{:d 1}, :_/e 2, :x/y 3, z 4, _/z 5, \"s\" 6, 7 {:n 8}}",
            "{:a/b {:c/d 1}, :e 2, :x/y 3, a/z 4, z 5, \"s\" 6, 7 {:n 8}}",
        ),
        ("#:a.b-c {}", "{}"),
        ("[#:a{:b [#:c{:d nil}]}]", "[{:a/b [{:c/d nil}]}]"),
    ] {
        assert_eq!(
            parse(written).map(|read| read.to_string()),
            Ok(meant.to_owned()),
            "{written}"
        );
    }
    for wrong in [
        "#::{:a 1}",
        "#::a{:b 1}",
        "#:a/b{:c 1}",
        "#:a[1]",
        "#:a",
        "#:1{:b 1}",
        "#:a{:b}",
        "#:{:b 1}",
    ] {
        assert!(parse(wrong).is_err(), "{wrong}");
    }
    let read = events("{:process 0, :type :fail, :f :write, :value #:zk{:path \"/a\"}, :error #:zk{:code -4}}");
    assert_eq!(read[0].value, json!({"zk/path": "/a"}));
    assert_eq!(read[0].error.as_deref(), Some("{:zk/code -4}"));
    assert_eq!(
        events("#:jepsen{:_/process 0, :_/type :ok, :_/f :read, :node 3}").len(),
        1
    );
    assert!(
        damage("#:jepsen{:process 0, :type :ok, :f :read}")
            .1
            .contains("no :process")
    );
}

#[test]
fn metadata_is_dropped() {
    for written in [
        "^{:src 1} [2 3]",
        "^:kw ^sym ^\"s\" #^{:old true} [2 ^{:a [1]} 3]",
        "[#_^{:a 1} x 2 3]",
        "^[int] [2,3]",
    ] {
        assert_eq!(
            parse(written).map(|read| read.to_string()),
            Ok("[2 3]".to_owned()),
            "{written}"
        );
    }
    for wrong in ["^", "^{:a 1}", "^3 [1]", "[^:a]", "{:a ^:b}"] {
        assert!(parse(wrong).is_err(), "{wrong}");
    }
    let one = "^{:src 1} {:process 3, :type :invoke, :f :write, :value ^:x [4]}";
    let two = "^{:src 2} #jepsen.history.Op{:process 3 :type :ok :f :write :value ^sym [4]}";
    let lines = events(&format!("{one}\n{two}\n"));
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[1].value, json!([4]));
    assert_eq!(events(&format!("^{{:file \"h\"}}\n[{one}, {two}]")), lines);
    assert_eq!(
        damage(&format!("{one}\n^{{:src 2}}\n")).0,
        1,
        "what it belongs to is cut off"
    );
}

#[test]
fn lines_that_stay_unread_are_counted() {
    let one = "{:process 3, :type :invoke, :f :write, :value 4}";
    let (kept, told) = damage(&format!("{one}\n{{:process 3}}\n{one}\n\n{one}\n"));
    let expected = "line 2, column 1: the operation has no :type; the 2 lines after it are not read either";
    assert_eq!((kept, told.as_str()), (1, expected));
}
