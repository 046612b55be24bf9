//! Jepsen's `history.txt`: read and judged. What is read of it is written as a log, and read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use zooquake_checkers::search::Notation;
use zooquake_fuzz::judge;
use zooquake_history::textlog::{parse_log, parse_txt, to_log};

fuzz_target!(|bytes: &[u8]| {
    let (history, damage) = parse_txt(bytes);
    if !history.events.is_empty() {
        let (again, damaged) = parse_log(to_log(&history).as_bytes());
        assert!(damaged.is_none(), "{damaged:?}");
        assert_eq!(again.events.len(), history.events.len());
    }
    judge(&history, damage, Notation::Maps);
});
