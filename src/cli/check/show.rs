//! Verdicts for people and for machines.

use super::Checked;
use crate::cli::run::summary;
use serde_json::{Value, json};

/// Prints a verdict with what was found.
pub fn print(checked: &Checked) {
    println!("{}: {}", checked.path.display(), summary(&checked.results));
}

/// The same for machines.
pub fn as_json(checked: &Checked) -> Value {
    let Checked {
        path,
        results,
        parse_ms,
        check_ms,
        events,
    } = checked;
    json!({
        "path": path,
        "verdict": results.verdict,
        "anomalies": results.anomalies,
        "reasons": results.reasons,
        "stats": { "events": events, "parse_ms": parse_ms, "check_ms": check_ms },
    })
}
