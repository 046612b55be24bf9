//! Jepsen's histories in EDN: read, written and read again, and judged.

#![no_main]

use libfuzzer_sys::fuzz_target;
use zooquake_checkers::search::Notation;
use zooquake_fuzz::rewrite;
use zooquake_history::edn::{parse_edn, to_edn};

fuzz_target!(|bytes: &[u8]| rewrite(bytes, parse_edn, to_edn, Notation::Maps));
