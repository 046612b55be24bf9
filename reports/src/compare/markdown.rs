//! The table for a README.

use super::pool::{MeasuredComparison, Pool};
use super::statistics::Estimate;
use super::words::{median, number, written};
use crate::{lists, text};

/// What was compared, a line a subject, all faults together.
pub fn table(measured: &MeasuredComparison<'_>) -> String {
    let comparison = measured.comparison;
    let kind = comparison.kind;
    let mut heads = vec![
        comparison.family.clone(),
        "broke".to_string(),
        format!("{} median, ms", kind.wait),
        "p95".to_string(),
        "p99".to_string(),
        format!("next {} after a fault, in session timeouts: median, most", kind.unit),
        format!("{}/s", kind.units),
    ];
    if kind.compete {
        heads.push("fairness".to_string());
    }
    heads.extend(["requests", "watch events", "transactions"].map(|what| format!("{what} a {}", kind.unit)));
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut out = line(&heads);
    out += &line(&vec!["---".to_string(); heads.len()]);
    for (n, subject) in comparison.subjects.iter().enumerate() {
        let pool = &measured.all[n];
        let mut cells = vec![text::in_markdown(&subject.label), broke(measured, n)];
        cells.extend(pool.waits.map(|estimate| interval(estimate, "n too small")));
        cells.push(after(pool));
        cells.push(interval(pool.rate, "–"));
        if kind.compete {
            cells.push(pool.fairness.map_or("–".into(), |e| number(e.value)));
        }
        let costs = [pool.requests, pool.watch_events, pool.transactions];
        cells.extend(costs.map(|e| e.map_or("not recorded".into(), |e| number(e.value))));
        out += &line(&cells);
    }
    format!(
        "{out}\n{}. In brackets: 95 % intervals; of a rate of fewer than five runs, their range.\n",
        text::in_markdown(&comparison.settings_in_words("; "))
    )
}

/// `stale-write (pause 2/2)`.
fn broke(measured: &MeasuredComparison<'_>, subject: usize) -> String {
    let mut parts: Vec<String> = Vec::new();
    for found in measured.all[subject].damage() {
        let places = measured.each[subject].iter().zip(&measured.comparison.faults);
        let under = places.filter_map(|(pool, faults)| {
            let here = pool.damage().find(|other| other.kind == found.kind)?;
            Some(format!("{faults} {}/{}", here.runs, pool.judged))
        });
        parts.push(format!("{} ({})", found.kind, lists::joined(under, ", ")));
    }
    let pool = &measured.all[subject];
    match (pool.judged, parts.is_empty(), pool.unknown) {
        (0, ..) => "no run".to_string(),
        (_, false, _) => text::in_markdown(&parts.join("; ")),
        (n, true, 0) => format!("nothing in {}", text::count(n, "run")),
        (n, true, unknown) => format!("nothing in {}, {unknown} of them unknown", text::count(n, "run")),
    }
}

fn after(pool: &Pool) -> String {
    let values = &pool.after.timeouts;
    match values.last() {
        Some(most) => format!("{}, {}", median(values), number(*most)),
        None => "–".to_string(),
    }
}

fn interval(estimate: Option<Estimate>, without: &str) -> String {
    estimate.map_or(without.to_string(), |estimate| written(&estimate, ""))
}
