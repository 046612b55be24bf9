//! Jepsen's histories in EDN: read, written and read again, and judged.

#![no_main]

use libfuzzer_sys::fuzz_target;
use zooquake_checkers::search::Notation;
use zooquake_fuzz::judge;
use zooquake_history::edn::{parse_edn, to_edn};

fuzz_target!(|bytes: &[u8]| {
    let (history, damage) = parse_edn(bytes);
    let written = to_edn(&history);
    let (again, damaged) = parse_edn(written.as_bytes());
    assert!(damaged.is_none(), "{damaged:?} in {written}");
    assert_eq!(again.events.len(), history.events.len(), "{written}");
    judge(&history, damage, Notation::Maps);
});
