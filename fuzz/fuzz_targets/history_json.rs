//! Histories of others in JSON, lines or an array: read, written as ours, read again, and judged.

#![no_main]

use libfuzzer_sys::fuzz_target;
use zooquake_checkers::search::Notation;
use zooquake_fuzz::judge;
use zooquake_history::jsonl::{parse_json, parse_jsonl};

fuzz_target!(|bytes: &[u8]| {
    let (history, damage) = parse_json(bytes);
    let lines = history
        .events
        .iter()
        .map(|event| serde_json::to_string(event).expect("an event is JSON") + "\n");
    let (again, damaged) = parse_jsonl(lines.collect::<String>().as_bytes());
    assert!(damaged.is_none(), "{damaged:?}");
    assert_eq!(again.events, history.events);
    judge(&history, damage, Notation::Maps);
});
