//! Safety: what was found of each subject under each kind of faults, with a link to every run.

use super::SubjectRun;
use super::pool::{AnomalyEstimate, MeasuredComparison, Pool};
use crate::html::{plain, titled, unjudged_checks};
use crate::text;
use maud::{Markup, html};

pub fn section(measured: &MeasuredComparison<'_>) -> Markup {
    let comparison = measured.comparison;
    let body = html! {
        p.note {
            "Anomalies by kind, in how many runs, and how many in all. " i { "Known" }
            ": the variant is known for it under these faults. Observations that decide nothing are small. The \
             numbers lead to each run's report, by seed."
        }
        div.wide {
            table.matrix {
                thead {
                    tr { td {} @for faults in &comparison.faults { th scope="col" { (text::clip(faults, 60)) } } }
                }
                tbody { @for subject in 0..comparison.subjects.len() { (row(measured, subject)) "\n" } }
            }
        }
    };
    titled("safety", "Safety", body)
}

fn row(measured: &MeasuredComparison<'_>, number: usize) -> Markup {
    let subject = &measured.comparison.subjects[number];
    html! {
        tr {
            th scope="row" title=(text::clip(&subject.promise, 300)) { (text::clip(&subject.label, 60)) }
            @for faults in 0..measured.comparison.faults.len() { (place(measured, number, faults)) }
        }
    }
}

fn place(measured: &MeasuredComparison<'_>, subject: usize, faults: usize) -> Markup {
    let pool = &measured.each[subject][faults];
    let runs = || measured.comparison.runs_of(subject, Some(faults));
    let (class, verdict) = verdict(pool);
    html! {
        td {
            div class={ "cell " (class) } {
                (verdict) " " small { @for one in runs() { " " (run(one)) } }
                @for found in &pool.anomalies { (chip(found, pool.judged)) }
                (unjudged_checks(runs().flat_map(|run| &run.not_judged)))
            }
        }
    }
}

/// A run by its seed.
fn run(run: &SubjectRun) -> Markup {
    match (&run.run, &run.error) {
        (Some(folder), None) => html! { a href={ (text::visible(folder)) "/report.html" } { (run.seed) } },
        (_, Some(error)) => html! { span title=(text::clip(error, 300)) { (run.seed) " !" } },
        (None, None) => plain(run.seed),
    }
}

/// The style and the words for what the runs of a place came to.
pub fn verdict(pool: &Pool) -> (&'static str, Markup) {
    let broken = pool.damage().next().is_some();
    let (class, sign, words) = match (pool.judged, broken) {
        (0, _) => ("o-skipped", "–", "no run".to_string()),
        (_, true) => ("o-new", "✗", "broken".to_string()),
        (n, false) if pool.unknown == n => ("o-unknown", "?", "unknown".to_string()),
        (_, false) if pool.unknown > 0 => ("o-unknown", "?", format!("nothing found, {} unknown", pool.unknown)),
        (_, false) => ("o-expected", "✓", "no violation".to_string()),
    };
    let markup = html! {
        b { (sign) } " " (words)
        @if pool.failed > 0 { " " small { "harness failed × " (pool.failed) } }
    };
    (class, markup)
}

fn chip(found: &AnomalyEstimate, judged: usize) -> Markup {
    let class = if found.advisory { "known" } else { "news" };
    let note = match (found.advisory, found.accepted) {
        (true, _) => "observed",
        (false, true) => "known",
        (false, false) => "not known of it",
    };
    html! {
        span class={ "seen " (class) } {
            (text::clip(&found.kind, 60)) " × " (text::grouped(found.count)) " in " (found.runs) " of " (judged) " "
            i { (note) }
        }
    }
}
