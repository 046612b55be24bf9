//! Histories in JSON lines, ours or of others: read, written and read again, and judged.

#![no_main]

use libfuzzer_sys::fuzz_target;
use zooquake_fuzz::rewrite_json;
use zooquake_history::jsonl::parse_jsonl;

fuzz_target!(|bytes: &[u8]| rewrite_json(bytes, parse_jsonl));
