//! Jepsen's text logs: read, written and read again, and judged.

#![no_main]

use libfuzzer_sys::fuzz_target;
use zooquake_checkers::search::Notation;
use zooquake_fuzz::rewrite;
use zooquake_history::textlog::{parse_log, to_log};

fuzz_target!(|bytes: &[u8]| rewrite(bytes, parse_log, to_log, Notation::Log));
