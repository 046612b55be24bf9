//! The files of a run's folder, in one input with a line `--` between them: read and judged.

#![no_main]

use libfuzzer_sys::fuzz_target;
use zooquake_history::Record;
use zooquake_history::files::Files;

fuzz_target!(|bytes: &[u8]| {
    let mut files = split(bytes).into_iter().map(|file| (!file.is_empty()).then_some(file));
    let mut next = || files.next().flatten();
    let files = Files {
        history: next(),
        plan: next(),
        tree: next(),
        txnlog: next(),
        servers: next(),
        txnlogs: next(),
        provenance: next(),
        ..Files::default()
    };
    let results = zooquake_checkers::check(&Record::read(files));
    serde_json::to_string(&results).expect("results are JSON");
});

fn split(bytes: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let mut rest = bytes;
    while let Some(at) = rest.windows(4).position(|four| four == b"\n--\n") {
        parts.push(&rest[..at + 1]);
        rest = &rest[at + 4..];
    }
    parts.push(rest);
    parts
}
