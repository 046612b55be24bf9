//! A server's own log.

#![no_main]

use libfuzzer_sys::fuzz_target;
use zooquake_history::ServerLog;

fuzz_target!(|bytes: &[u8]| {
    let log = ServerLog::read("n1", bytes);
    assert_eq!(log.server, "n1");
});
