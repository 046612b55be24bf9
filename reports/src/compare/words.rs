//! The numbers in sentences, and in a table for a README. A difference is claimed only where intervals do not overlap.

use super::Comparison;
use super::pool::{MeasuredComparison, Pool};
use super::statistics::{self, Estimate};
use crate::lists::{self, in_sentence};
use crate::text;
use std::collections::BTreeSet;

/// What the comparison shows, in sentences, the most important first.
pub fn summary(comparison: &Comparison) -> Vec<String> {
    lines(&MeasuredComparison::new(comparison))
}

/// The same of one that is measured already.
pub fn lines(measured: &MeasuredComparison<'_>) -> Vec<String> {
    let kind = measured.comparison.kind;
    let unit = kind.unit;
    let mut lines = safety(measured);
    match measured.comparison.virtual_time {
        true => lines.push("The ensembles were simulated: their clock is a model's, and no speed is compared.".into()),
        false => lines.extend(speed(measured)),
    }
    let each = |what: &str| format!("{what} for each {unit}");
    lines.extend(ranking(measured, (&each("ZooKeeper requests"), ""), true, |pool| {
        pool.requests
    }));
    lines.extend(ranking(measured, (&each("Watch events"), ""), true, |pool| {
        pool.watch_events
    }));
    lines.extend(ranking(measured, (&each("ZooKeeper transactions"), ""), true, |pool| {
        pool.transactions
    }));
    if kind.compete {
        lines.extend(ranking(
            measured,
            ("Fairness (Jain's index, mean)", ""),
            false,
            |pool| pool.fairness,
        ));
    }
    lines
}

/// Sentences on how long things took, and how often they came about.
fn speed(measured: &MeasuredComparison<'_>) -> Vec<String> {
    let kind = measured.comparison.kind;
    let (wait, unit) = (capital(kind.wait), kind.unit);
    let mut lines = Vec::new();
    lines.extend(ranking(measured, (&format!("{wait}, median"), "ms"), true, |pool| {
        pool.waits[0]
    }));
    lines.extend(ranking(measured, (&format!("{wait}, p95"), "ms"), true, |pool| {
        pool.waits[1]
    }));
    let next = format!("Next {unit} after a fault that ended a hold, median");
    lines.extend(ranking(measured, (&next, "ms"), true, |pool| pool.after.median_struck));
    let rate = format!("{} a second", capital(kind.units));
    lines.extend(ranking(measured, (&rate, ""), false, |pool| pool.rate));
    lines
}

/// The text with a capital first letter.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Sentences on safety: the subjects that broke a property, and those that did not.
fn safety(measured: &MeasuredComparison<'_>) -> Vec<String> {
    let subjects = &measured.comparison.subjects;
    let label = |n: usize| subjects[n].label.as_str();
    let judged: Vec<usize> = (0..subjects.len()).filter(|n| measured.all[*n].judged > 0).collect();
    let (clean, broken): (Vec<usize>, Vec<usize>) =
        judged.iter().partition(|n| measured.all[**n].damage().next().is_none());
    let names = |of: &[usize]| in_sentence(&of.iter().map(|n| label(*n)).collect::<Vec<_>>());
    let runs: usize = judged.iter().map(|n| measured.all[*n].judged).sum();
    let mut lines = vec![match (clean.as_slice(), broken.as_slice()) {
        ([], []) => "No run came to a verdict.".to_string(),
        (_, []) => format!("No violation was found in {}.", text::count(runs, "run")),
        ([], _) => format!("Every one broke: {}.", names(&broken)),
        ([only], _) => format!(
            "{} is the only one in which no violation was found ({}); {} broke.",
            label(*only),
            text::count(measured.all[*only].judged, "run"),
            names(&broken)
        ),
        _ => format!("No violation was found in {}; {} broke.", names(&clean), names(&broken)),
    }];
    let all = measured.all.iter().flat_map(Pool::damage);
    let kinds: BTreeSet<&str> = all.map(|found| found.kind.as_str()).collect();
    lines.extend(kinds.into_iter().map(|kind| broke_sentence(measured, kind)));
    let unknown: usize = measured.all.iter().map(|pool| pool.unknown).sum();
    let failed: usize = measured.all.iter().map(|pool| pool.failed).sum();
    if unknown > 0 {
        lines.push(format!(
            "Unknown verdicts: {unknown} of {runs}; those runs prove nothing about safety."
        ));
    }
    if failed > 0 {
        lines.push(format!("The harness failed in {failed} runs, which are not counted."));
    }
    lines
}

/// `stale-write: predecessor under pause (2 of 2 runs); …; not in fenced`.
fn broke_sentence(measured: &MeasuredComparison<'_>, kind: &str) -> String {
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for (n, subject) in measured.comparison.subjects.iter().enumerate() {
        let places = measured.each[n]
            .iter()
            .zip(&measured.comparison.faults)
            .filter_map(|(pool, faults)| {
                let found = pool.damage().find(|found| found.kind == kind)?;
                Some(format!("under {faults} ({} of {} runs)", found.runs, pool.judged))
            });
        let places: Vec<String> = places.collect();
        match places.is_empty() {
            false => with.push(format!("{} {}", subject.label, places.join(", "))),
            true if measured.all[n].judged > 0 => without.push(subject.label.as_str()),
            true => {}
        }
    }
    let never = match without.is_empty() {
        true => String::new(),
        false => format!("; never in {}", in_sentence(&without)),
    };
    format!("{kind}: {}{never}.", with.join("; "))
}

/// The best by a measure, those whose confidence intervals overlap with its, and the worst; `None` if fewer than two
/// have one.
fn ranking(
    measured: &MeasuredComparison<'_>,
    (what, unit): (&str, &str),
    lower: bool,
    of: fn(&Pool) -> Option<Estimate>,
) -> Option<String> {
    let subjects = &measured.comparison.subjects;
    let each = subjects.iter().zip(&measured.all);
    let mut ranked: Vec<(&str, Estimate)> = each
        .filter_map(|(subject, pool)| Some((subject.label.as_str(), of(pool)?)))
        .collect();
    ranked.sort_by(|a, b| {
        let order = a.1.value.total_cmp(&b.1.value);
        if lower { order } else { order.reverse() }
    });
    let [best, rest @ ..] = ranked.as_slice() else {
        return None;
    };
    let worst = rest.last()?;
    let said = |(label, estimate): &(&str, Estimate)| format!("{label} {}", written(estimate, unit));
    if let Some((_, few)) = ranked.iter().find(|(_, estimate)| !estimate.sure) {
        let (best, worst) = (said(best), said(worst));
        return Some(format!(
            "{what}: {best} to {worst}; too few runs ({}) to claim a difference.",
            few.n
        ));
    }
    let overlapping = rest.iter().filter(|other| other.1.overlaps(&best.1));
    let alike: Vec<String> = overlapping.map(said).collect();
    let last = match worst.1.overlaps(&best.1) {
        true => String::new(),
        false => format!("; the last is {}", said(worst)),
    };
    Some(match alike.len() {
        0 if rest.len() == 1 => format!("{what}: {} against {}.", said(best), said(worst)),
        0 => format!("{what}: {}, then {}{last}.", said(best), said(&rest[0])),
        n if n == rest.len() => format!("{what}: no difference seen; {} to {}.", said(best), said(worst)),
        _ => {
            let (best, alike) = (said(best), in_sentence(&alike));
            format!("{what}: {best}, not distinguishable from {alike}{last}.")
        }
    })
}

/// `2.13 ms (1.90–2.40)`.
fn written(estimate: &Estimate, unit: &str) -> String {
    let space = if unit.is_empty() { "" } else { " " };
    if estimate.one_run() {
        return format!("{}{space}{unit}", number(estimate.value));
    }
    format!(
        "{}{space}{unit} ({}–{})",
        number(estimate.value),
        number(estimate.low),
        number(estimate.high)
    )
}

/// The median of sorted values, if there are enough.
pub fn median(sorted: &[f64]) -> String {
    let median = statistics::quantile(sorted, 0.5).filter(|_| statistics::supports(sorted.len(), 0.5));
    median.map_or("n too small".to_string(), number)
}

/// A number with three digits.
pub fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 99.95 => format!("{value:.0}"),
        size if size >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// The table for a README: what was compared, a line a subject, all faults together.
pub fn table(measured: &MeasuredComparison<'_>) -> String {
    let comparison = measured.comparison;
    let kind = comparison.kind;
    let timed = !comparison.virtual_time;
    let mut heads = vec![comparison.family.clone(), "broke".to_string()];
    if timed {
        heads.extend([
            format!("{} median, ms", kind.wait),
            "p95".to_string(),
            "p99".to_string(),
            format!("next {} after a fault, in session timeouts: median, most", kind.unit),
            format!("{}/s", kind.units),
        ]);
    }
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
        if timed {
            cells.extend(pool.waits.map(|estimate| interval(estimate, "n too small")));
            cells.push(after(pool));
            cells.push(interval(pool.rate, "–"));
        }
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

/// What a subject broke, in the table: `stale-write (pause 2/2)`.
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
