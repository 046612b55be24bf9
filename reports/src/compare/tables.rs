//! The numbers, with how many observations each rests on.

use super::figure::Figure;
use super::pool::{MeasuredComparison, Pool};
use super::statistics::Estimate;
use super::words::{median, number};
use crate::html::plain;
use crate::text;
use maud::{Markup, html};

/// A column: what it is called, and what stands in it for a pool.
type Column<'a> = (String, &'a dyn Fn(&Pool) -> Markup);

/// What stands for all kinds of faults.
const TOGETHER: &str = "all together";

/// An estimate with its interval, small, and what it rests on.
fn shown(estimate: Option<Estimate>, without: &str) -> Markup {
    let Some(estimate) = estimate else {
        return html! { span.note { (without) } };
    };
    html! {
        b { (number(estimate.value)) } " "
        small {
            @if !estimate.one_run() { (number(estimate.low)) "–" (number(estimate.high)) ", " }
            "n " (text::grouped(estimate.n))
        }
    }
}

/// The table that belongs to a figure, by its place among them.
pub fn numbers(measured: &MeasuredComparison<'_>, figure: &Figure) -> Markup {
    let kind = measured.comparison.kind;
    if figure.log {
        let quantile = |n: usize| move |pool: &Pool| shown(pool.waits[n], &format!("n too small ({})", pool.waited));
        let (p50, p95, p99) = (quantile(0), quantile(1), quantile(2));
        return table(
            measured,
            &[
                ("median, ms".into(), &p50),
                ("p95, ms".into(), &p95),
                ("p99, ms".into(), &p99),
            ],
        );
    }
    if figure.unit == "session timeouts" {
        return after(measured);
    }
    if figure.title.ends_with("a second") {
        let rate: Column<'_> = (format!("{} a second", kind.units), &|pool| shown(pool.rate, "no run"));
        let fairness: Column<'_> = ("Jain's index, mean".into(), &|pool| shown(pool.fairness, "none"));
        return match kind.compete {
            true => table(measured, &[rate, fairness]),
            false => table(measured, &[rate]),
        };
    }
    table(
        measured,
        &[
            ("requests".into(), &|pool| shown(pool.requests, "not recorded")),
            ("watch events".into(), &|pool| shown(pool.watch_events, "not recorded")),
            ("transactions".into(), &|pool| shown(pool.transactions, "not read")),
        ],
    )
}

fn after(measured: &MeasuredComparison<'_>) -> Markup {
    let timeouts = |values: &[f64]| match (values.first(), values.last()) {
        (Some(least), Some(most)) => html! {
            b { (median(values)) } " " small { (number(*least)) "–" (number(*most)) ", n " (values.len()) }
        },
        _ => html! { span.note { "none" } },
    };
    table(
        measured,
        &[
            ("all: median, ms".into(), &|pool| {
                shown(pool.after.median, "n too small")
            }),
            ("all, in session timeouts".into(), &|pool| {
                timeouts(&pool.after.timeouts)
            }),
            ("ended a hold: median, ms".into(), &|pool| {
                shown(pool.after.median_struck, "n too small")
            }),
            ("ended a hold, in session timeouts".into(), &|pool| {
                timeouts(&pool.after.struck)
            }),
            ("never".into(), &|pool| plain(pool.after.never)),
        ],
    )
}

fn table(measured: &MeasuredComparison<'_>, columns: &[Column<'_>]) -> Markup {
    html! {
        div.wide {
            table.numbers {
                thead {
                    tr {
                        td {}
                        th scope="col" { "faults" }
                        @for (head, _) in columns { th scope="col" { (head) } }
                    }
                }
                tbody { @for subject in 0..measured.comparison.subjects.len() { (rows(measured, subject, columns)) } }
            }
        }
    }
}

/// The rows of a subject: one for each kind of faults, and one for all of them if there are several.
fn rows(measured: &MeasuredComparison<'_>, subject: usize, columns: &[Column<'_>]) -> Markup {
    let comparison = measured.comparison;
    let each = measured.each[subject]
        .iter()
        .zip(comparison.faults.iter().map(String::as_str));
    let together = (comparison.faults.len() > 1).then_some((&measured.all[subject], TOGETHER));
    html! {
        @for (row, (pool, faults)) in each.chain(together).enumerate() {
            tr.together[faults == TOGETHER] {
                th scope="row" { @if row == 0 { (text::clip(&comparison.subjects[subject].label, 60)) } }
                td { (text::clip(faults, 60)) }
                @for (_, cell) in columns { td { (cell(pool)) } }
            }
            "\n"
        }
    }
}
