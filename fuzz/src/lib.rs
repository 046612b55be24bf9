//! What the targets share: a history is written and read again, and judged.

use zooquake_checkers::inferred_plan;
use zooquake_checkers::search::{Budget, Notation};
use zooquake_history::jsonl::parse_jsonl;
use zooquake_history::{Damage, History};

/// Steps of a search, after which it gives up: a target that is slow finds little.
const STEPS: u64 = 20_000;

/// Memory of a search, in bytes.
const BYTES: usize = 256 << 20;

/// Judges a history that was read up to its first damage, by the names of its operations.
///
/// # Panics
/// If an anomaly rests on events that are not there.
pub fn judge(history: &History, damage: Option<Damage>, notation: Notation) {
    let damage: Vec<String> = damage.into_iter().map(|damage| damage.to_string()).collect();
    let mut budget = Budget {
        steps: STEPS,
        bytes: BYTES,
        expired: &mut || false,
    };
    for anomaly in inferred_plan::judge(history, damage, None, notation, &mut budget).anomalies {
        let known = |event: &usize| history.events.iter().any(|other| other.index == *event);
        assert!(
            anomaly.witness.iter().all(known),
            "{anomaly:?} rests on events that are not there"
        );
    }
}

/// Reads a history, writes it, reads that again, and judges what was read first.
///
/// # Panics
/// If what was written cannot be read, has another number of events, or an anomaly rests on events that are not there.
pub fn rewrite(
    bytes: &[u8],
    parse: fn(&[u8]) -> (History, Option<Damage>),
    write: fn(&History) -> String,
    notation: Notation,
) {
    let (history, damage) = parse(bytes);
    let written = write(&history);
    let (again, damaged) = parse(written.as_bytes());
    assert!(damaged.is_none(), "{damaged:?} in {written}");
    assert_eq!(again.events.len(), history.events.len(), "{written}");
    judge(&history, damage, notation);
}

/// Reads a history in JSON, of others or ours, writes it in lines as ours, reads these, and judges what was read first.
///
/// # Panics
/// If what was written cannot be read or has other events, or an anomaly rests on events that are not there.
pub fn rewrite_json(bytes: &[u8], parse: fn(&[u8]) -> (History, Option<Damage>)) {
    let (history, damage) = parse(bytes);
    let lines = history
        .events
        .iter()
        .map(|event| serde_json::to_string(event).expect("an event is JSON") + "\n");
    let (again, damaged) = parse_jsonl(lines.collect::<String>().as_bytes());
    assert!(damaged.is_none(), "{damaged:?}");
    assert_eq!(again.events, history.events);
    judge(&history, damage, Notation::Maps);
}
