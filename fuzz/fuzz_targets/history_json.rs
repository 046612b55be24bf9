//! Histories of others in JSON, lines or an array: read, written as ours, read again, and judged.

#![no_main]

use libfuzzer_sys::fuzz_target;
use zooquake_fuzz::rewrite_json;
use zooquake_history::jsonl::parse_json;

fuzz_target!(|bytes: &[u8]| rewrite_json(bytes, parse_json));
