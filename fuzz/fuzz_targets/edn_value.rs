//! A value in EDN, and numbers and names as they are written in it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use zooquake_history::edn::{from_json, parse, to_json};

fuzz_target!(|text: &str| {
    if let Ok(value) = parse(text) {
        // What histories keep of a value is read back as what they keep of it.
        let kept = to_json(&value);
        assert_eq!(to_json(&from_json(&kept)), kept);
    }
});
