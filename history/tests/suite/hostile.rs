//! Hostile input gives damage with a place, never a panic, and never an overflow of the stack.

use fastrand::Rng;
use serde_json::Value;
use zooquake_history::edn::{from_json, parse, parse_edn};
use zooquake_history::event::Damage;
use zooquake_history::jsonl::parse_json;
use zooquake_history::textlog::{parse_log, parse_txt};

const EDN: &str = "[{:process 3, :type :invoke, :f :cas, :value [1 #{2}], :error [:x \"y\\n\"]}\n {:index 1 #_ 4 \
                   :process :nemesis :type :info :f \"f\" :time 1.5 ; c\n}]\n";
const TXT: &str =
    "0\t:invoke\t:cas\t[1 #:a{:b ^:c d}]\n:nemesis\t:info\t:f\t#<x>\n0\t:info\t:cas\t[1 2]\tout of\n time\n";
const JSON: &str = "[{\"process\":0,\"type\":\"invoke\",\"f\":\"read\"},\n {\"process\":0,\"type\":\"ok\",\"f\":\"read\",\
                    \"value\":[1,null],\"error\":[\":x\"]}]\n";
const LOG: &str = "INFO  jepsen.util - 3\t:invoke\t:cas\t[1 2]\nINFO  jepsen.util - 3\t:info\t:cas\t:timed-out\n";

#[track_caller]
fn placed(bytes: &[u8], damage: Option<Damage>) {
    let Some(Damage { line, column, what }) = damage else {
        return;
    };
    let lines = bytes.split(|&byte| byte == b'\n').count();
    assert!((1..=lines).contains(&line), "{line} of {lines}");
    assert!(column >= 1 && column <= bytes.len() + 1 && !what.is_empty());
}

#[test]
fn broken_text_is_damage_with_a_place() {
    let mut rng = Rng::with_seed(6);
    let pieces: [&[u8]; 16] = [
        b"[", b"]", b"{", b"\"", b"\\", b"#", b"#_", b":", b";", b"\xff", b"1/", b"\n", b"^", b"#:a{", b"\t", b",",
    ];
    for round in 0..50_000 {
        let mut bytes = [EDN, LOG, TXT, JSON][round % 4].as_bytes().to_vec();
        for _ in 0..rng.usize(1..4) {
            let at = rng.usize(0..=bytes.len());
            match rng.u8(0..3) {
                0 => bytes.truncate(at),
                1 => drop(bytes.splice(at..at, pieces[rng.usize(0..pieces.len())].iter().copied())),
                _ => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = rng.u8(..)),
            }
        }
        placed(&bytes, parse_edn(&bytes).1);
        placed(&bytes, parse_log(&bytes).1);
        placed(&bytes, parse_txt(&bytes).1);
        placed(&bytes, parse_json(&bytes).1);
    }
}

#[test]
fn deep_nesting_is_damage() {
    for (open, line) in [
        ("[", 1),
        ("(", 1),
        ("{", 1),
        ("#{", 1),
        ("#t ", 1),
        ("#:a{", 1),
        ("^", 1),
        ("^a ", 1),
        ("#_ ", 1),
        ("{:a\n", 160),
    ] {
        let text = open.repeat(1_000_000);
        let damage = parse(&text).expect_err("it is too deep");
        assert!(damage.what.starts_with("values nest deeper than"), "{damage}");
        assert!((line..line + 2).contains(&damage.line), "{open}: {damage}");
        let (history, damage) = parse_edn(text.as_bytes());
        assert!(history.events.is_empty() && damage.is_some());
    }
}

#[test]
fn as_deep_as_json_may_be_is_read() {
    let text = format!("{}{}", "[".repeat(126), "]".repeat(126));
    let value: Value = serde_json::from_str(&text).expect("JSON may be that deep");
    let value = from_json(&value.into());
    let found = parse(&format!("[{{:value {value}}}]")).map(|read| read.to_string());
    assert_eq!(found, Ok(format!("[{{:value {value}}}]")));
}
