//! What failed, one for each signature, and the cells without a verdict.

use super::{Cell, CellOutcome, Night, NightFailure};
use crate::html::cause;
use crate::text;
use maud::{Markup, html};

/// Reports of a failure that are linked.
const REPORTS: usize = 20;

/// The sections; those without entries are left out.
pub fn sections(night: &Night) -> Markup {
    let undecided = night.cells_with(&[CellOutcome::Unknown, CellOutcome::Failed]);
    let skipped = night.cells_with(&[CellOutcome::Skipped]);
    html! {
        @if !night.failures.is_empty() {
            section #failures {
                h2 { "New anomalies (" (night.failures.len()) ")" }
                @for one in &night.failures { (failure(one)) "\n" }
            }
        }
        @if !undecided.is_empty() {
            section #undecided {
                h2 { "Without a verdict" }
                ul { @for cell in undecided { (problem(cell)) } }
            }
        }
        @if !skipped.is_empty() {
            section #skipped {
                h2 { "Not run (" (skipped.len()) " of " (night.cells.len()) ")" }
                p {
                    "There was no time left for these, or the night was stopped. The next night takes them before others."
                }
                ul.skipped { @for cell in skipped { li { (name(cell)) } } }
            }
        }
    }
}

fn name(cell: &Cell) -> Markup {
    html! {
        b { (text::clip(&cell.variant, 80)) } " under " (text::clip(&cell.faults, 80)) ", " (cell.seed_in_full())
    }
}

fn failure(failure: &NightFailure) -> Markup {
    let reports = failure.seeds.iter().zip(&failure.runs).take(REPORTS);
    html! {
        article.failure {
            h3 {
                span.badge.violation { (text::clip(&failure.anomaly, 60)) } " breaks " (text::clip(&failure.property, 80))
                " · " (text::clip(&failure.variant, 80)) " under " (text::clip(&failure.faults, 80))
                " · " (text::count(failure.seeds.len(), "cell")) " · " (text::clip(&failure.since, 120))
            }
            p { (text::clip(&failure.why, 2000)) }
            @if let Some(cause) = cause(&failure.cause, failure.cause_proven) { (cause) }
            @if !failure.followers.is_empty() { p.facts { "From it follow: " (text::clip(&failure.followers, 300)) } }
            p.facts {
                "Reports: "
                @for (at, (seed, run)) in reports.enumerate() {
                    @if at > 0 { ", " }
                    a href={ (text::visible(run)) "/report.html" } { "seed " (seed) }
                }
            }
            pre { (text::visible(&failure.again)) }
        }
    }
}

fn problem(cell: &Cell) -> Markup {
    html! {
        li {
            (cell.outcome.sign()) " " (name(cell)) ": " (cell.outcome.words())
            ul {
                @for attempt in &cell.attempts {
                    @let why = match &attempt.error {
                        Some(error) => format!("the harness failed: {error}"),
                        None => attempt.reasons.join("; "),
                    };
                    li {
                        "seed " (attempt.seed) ": " (text::clip(&why, 1200))
                        @if let Some(run) = &attempt.run { " " a href=(text::visible(run)) { "its folder" } }
                        br;
                        code { (text::visible(&attempt.again)) }
                    }
                }
            }
        }
    }
}
