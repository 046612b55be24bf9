//! Safety: what was found of each subject under each kind of faults, with a link to every run.

use super::pool::{Found, Measured, Pool};
use crate::{left, text};

pub fn section(measured: &Measured<'_>) -> String {
    let comparison = measured.comparison;
    let heads: String = comparison
        .faults
        .iter()
        .map(|faults| format!("<th scope=\"col\">{}</th>", text::html(faults, 60)))
        .collect();
    let rows: String = (0..comparison.subjects.len())
        .map(|subject| row(measured, subject))
        .collect();
    format!(
        "<section id=\"safety\">\n<h2>Safety</h2>\n<p class=\"note\">Anomalies by kind, in how many runs, and how many in \
         all. <i>Known</i>: the variant is known for it under these faults. Observations that decide nothing are small. The \
         numbers lead to each run's report, by seed.</p>\n\
         <div class=\"wide\"><table class=\"matrix\"><thead><tr><td></td>{heads}</tr></thead>\n<tbody>{rows}</tbody></table></div>\n\
         </section>\n"
    )
}

fn row(measured: &Measured<'_>, subject: usize) -> String {
    let places: String = (0..measured.comparison.faults.len())
        .map(|faults| place(measured, subject, faults))
        .collect();
    let subject = &measured.comparison.subjects[subject];
    format!(
        "<tr><th scope=\"row\" title=\"{}\">{}</th>{places}</tr>\n",
        text::html(&subject.promise, 300),
        text::html(&subject.label, 60)
    )
}

fn place(measured: &Measured<'_>, subject: usize, faults: usize) -> String {
    let pool = &measured.each[subject][faults];
    let (class, verdict) = verdict(pool);
    let seen: String = pool.anomalies.iter().map(|found| seen(found, pool.judged)).collect();
    let runs: String = measured
        .comparison
        .of(subject, Some(faults))
        .map(|run| match (&run.run, &run.error) {
            (Some(folder), None) => format!(" <a href=\"{}/report.html\">{}</a>", text::escape(folder), run.seed),
            (_, Some(error)) => format!(" <span title=\"{}\">{} !</span>", text::html(error, 300), run.seed),
            (None, None) => format!(" {}", run.seed),
        })
        .collect();
    let all = measured.comparison.of(subject, Some(faults));
    let left = left::chips(all.flat_map(|run| &run.not_judged));
    format!("<td><div class=\"cell {class}\">{verdict} <small>{runs}</small>{seen}{left}</div></td>")
}

/// The style and the words for what the runs of a place came to.
pub fn verdict(pool: &Pool) -> (&'static str, String) {
    let broken = pool.damage().next().is_some();
    let harness = text::if_any(pool.failed, |n| format!(" <small>harness failed × {n}</small>"));
    let (class, words) = match (pool.judged, broken) {
        (0, _) => ("o-skipped", "<b>–</b> no run".to_string()),
        (_, true) => ("o-new", "<b>✗</b> broken".to_string()),
        (n, false) if pool.unknown == n => ("o-unknown", "<b>?</b> unknown".to_string()),
        (_, false) if pool.unknown > 0 => ("o-unknown", format!("<b>?</b> nothing found, {} unknown", pool.unknown)),
        (_, false) => ("o-expected", "<b>✓</b> no violation".to_string()),
    };
    (class, words + &harness)
}

fn seen(found: &Found, judged: usize) -> String {
    let class = if found.advisory { "known" } else { "news" };
    let note = match (found.advisory, found.accepted) {
        (true, _) => " <i>observed</i>",
        (false, true) => " <i>known</i>",
        (false, false) => " <i>not known of it</i>",
    };
    format!(
        "<span class=\"seen {class}\">{} × {} in {} of {judged}{note}</span>",
        text::html(&found.kind, 60),
        text::grouped(found.count),
        found.runs
    )
}
