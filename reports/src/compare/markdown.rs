//! The table for a README.

use super::pool::{Measured, Pool};
use super::statistics::Estimate;
use super::words::number;

/// What was compared, a line a subject, all faults together.
pub fn of(measured: &Measured<'_>) -> String {
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
        let mut cells = vec![escape(&subject.label), broke(measured, n)];
        cells.extend(pool.waits.map(|estimate| interval(estimate, "n too small")));
        cells.push(after(pool));
        cells.push(interval(pool.rate, "–"));
        if kind.compete {
            cells.push(pool.fairness.map_or("–".into(), |e| number(e.value)));
        }
        let costs = [pool.requests, pool.watch_events, pool.transactions];
        cells.extend(costs.map(|e| e.map_or("not told".into(), |e| number(e.value))));
        out += &line(&cells);
    }
    let settings: Vec<String> = comparison
        .settings
        .iter()
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    format!(
        "{out}\n{}. In brackets: 95 % intervals.\n",
        escape(&settings.join("; "))
    )
}

/// `stale-write (pause 2/2)`.
fn broke(measured: &Measured<'_>, subject: usize) -> String {
    let mut parts: Vec<String> = Vec::new();
    for found in measured.all[subject].damage() {
        let places = measured.each[subject].iter().zip(&measured.comparison.faults);
        let under = places.filter_map(|(pool, faults)| {
            let here = pool.damage().find(|other| other.kind == found.kind)?;
            Some(format!("{faults} {}/{}", here.runs, pool.judged))
        });
        parts.push(format!("{} ({})", found.kind, under.collect::<Vec<_>>().join(", ")));
    }
    let pool = &measured.all[subject];
    match (pool.judged, parts.is_empty(), pool.unknown) {
        (0, ..) => "no run".to_string(),
        (_, false, _) => escape(&parts.join("; ")),
        (n, true, 0) => format!("nothing in {n} runs"),
        (n, true, unknown) => format!("nothing in {n} runs, {unknown} of them unknown"),
    }
}

fn after(pool: &Pool) -> String {
    let values = &pool.after.timeouts;
    match (super::statistics::quantile(values, 0.5), values.last()) {
        (Some(median), Some(most)) => format!("{}, {}", number(median), number(*most)),
        _ => "–".to_string(),
    }
}

fn interval(estimate: Option<Estimate>, without: &str) -> String {
    estimate.map_or(without.to_string(), |e| {
        format!("{} ({}–{})", number(e.value), number(e.low), number(e.high))
    })
}

/// Text that is nothing but text in a table.
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('|', "\\|")
        .replace('<', "&lt;")
        .replace('\n', " ")
}
