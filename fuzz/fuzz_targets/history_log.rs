//! Jepsen's text logs: read, written and read again, and judged.

#![no_main]

use libfuzzer_sys::fuzz_target;
use zooquake_checkers::search::Notation;
use zooquake_fuzz::judge;
use zooquake_history::textlog::{parse_log, to_log};

fuzz_target!(|bytes: &[u8]| {
    let (history, damage) = parse_log(bytes);
    let written = to_log(&history);
    let (again, damaged) = parse_log(written.as_bytes());
    assert!(damaged.is_none(), "{damaged:?} in {written}");
    assert_eq!(again.events.len(), history.events.len(), "{written}");
    judge(&history, damage, Notation::Log);
});
