//! How long nobody led, or held, after each fault on whoever did.

use super::{table, titled};
use crate::model::RunModel;
use crate::text;
use serde::Deserialize;

/// An entry of `leaderless` in the statistics of the results.
#[derive(Debug, Deserialize)]
struct Entry {
    window: usize,
    fault: String,
    ms: Option<f64>,
    session_timeouts: Option<f64>,
}

/// The section; `None` if no fault struck whoever led.
pub fn section(model: &RunModel<'_>) -> Option<String> {
    let stat = model.results.stats.get("leaderless")?;
    let mut entries = Vec::<Entry>::deserialize(stat).ok()?;
    if entries.is_empty() {
        return None;
    }
    let election = model.record.plan.workload.family == "election";
    let heading = if election {
        "Without a leader"
    } else {
        "Until the next grant"
    };
    let session_ms = model.record.plan.cluster.timing.session_ms;
    let words = format!(
        "<p>From each fault that struck whoever {}, or from the last moment at which it certainly did, to the next grant. \
         The session timeout is {session_ms} ms.</p>\n",
        if election { "led" } else { "held" },
    );
    // The longest first; `never` is longest of all.
    let longest = |entry: &Entry| entry.ms.unwrap_or(f64::INFINITY);
    entries.sort_by(|a, b| longest(b).total_cmp(&longest(a)));
    let rows = entries.iter().take(40).map(|entry| {
        [
            entry.window.to_string(),
            text::html(&entry.fault, 24),
            entry.ms.map_or("never".into(), |ms| text::duration((ms * 1e6) as u64)),
            entry
                .session_timeouts
                .map_or("–".into(), |timeouts| format!("{timeouts:.2}")),
        ]
    });
    let heads = ["window", "fault", "time", "session timeouts"];
    Some(titled("leaderless", heading, &(words + &table("numbers", heads, rows))))
}
