//! What failed, one for each signature, and the cells without a verdict.

use super::{Cell, Failure, Night, Outcome};
use crate::text;

pub fn sections(night: &Night) -> String {
    let mut out = String::new();
    if !night.failures.is_empty() {
        let all: String = night.failures.iter().map(failure).collect();
        out.push_str(&format!(
            "<section id=\"failures\">\n<h2>New anomalies ({})</h2>\n{all}</section>\n",
            night.failures.len()
        ));
    }
    let of =
        |outcomes: &[Outcome]| -> Vec<&Cell> { night.cells.iter().filter(|c| outcomes.contains(&c.outcome)).collect() };
    let undecided = of(&[Outcome::Unknown, Outcome::Failed]);
    if !undecided.is_empty() {
        let rows: String = undecided.into_iter().map(problem).collect();
        out.push_str(&format!(
            "<section id=\"undecided\">\n<h2>Without a verdict</h2>\n<ul>{rows}</ul></section>\n"
        ));
    }
    let skipped = of(&[Outcome::Skipped]);
    if !skipped.is_empty() {
        let each = skipped.into_iter().map(|cell| format!("<li>{}</li>", name(cell)));
        let rows: String = each.collect();
        out.push_str(&format!(
            "<section id=\"skipped\">\n<h2>Not run</h2>\n<p>There was no time left for these, or the night was \
             stopped. The next night takes them before others.</p>\n<ul class=\"skipped\">{rows}</ul></section>\n"
        ));
    }
    out
}

fn name(cell: &Cell) -> String {
    format!(
        "<b>{}</b> under {}, seed {}",
        text::html(&cell.variant, 80),
        text::html(&cell.faults, 80),
        cell.seed
    )
}

fn failure(failure: &Failure) -> String {
    let runs = failure
        .seeds
        .iter()
        .zip(&failure.runs)
        .take(20)
        .map(|(seed, run)| format!("<a href=\"{}/report.html\">seed {seed}</a>", text::escape(run)));
    format!(
        "<article class=\"failure\"><h3><span class=\"badge violation\">{}</span> breaks {} · {} under {} · {} · {}</h3>\n\
         <p>{}</p>\n<p class=\"facts\">Reports: {}</p>\n<pre>{}</pre></article>\n",
        text::html(&failure.anomaly, 60),
        text::html(&failure.property, 80),
        text::html(&failure.variant, 80),
        text::html(&failure.faults, 80),
        text::count(failure.seeds.len(), "cell"),
        text::html(&failure.since, 120),
        text::html(&failure.why, 2000),
        runs.collect::<Vec<_>>().join(", "),
        text::escape(&failure.again),
    )
}

fn problem(cell: &Cell) -> String {
    let attempts = cell.attempts.iter().map(|attempt| {
        let why = match &attempt.error {
            Some(error) => format!("the harness failed: {error}"),
            None => attempt.reasons.join("; "),
        };
        let run = attempt.run.as_ref();
        let link = run.map(|run| format!(" <a href=\"{}\">its folder</a>", text::escape(run)));
        format!(
            "<li>seed {}: {}{}<br><code>{}</code></li>",
            attempt.seed,
            text::html(&why, 1200),
            link.unwrap_or_default(),
            text::escape(&attempt.again)
        )
    });
    format!(
        "<li>{} {}: {}<ul>{}</ul></li>",
        cell.outcome.sign(),
        name(cell),
        cell.outcome.words(),
        attempts.collect::<String>()
    )
}
