//! The numbers, with how many observations each rests on.

use super::figure::Figure;
use super::pool::{Measured, Pool};
use super::statistics::{self, Estimate};
use super::words::number;
use crate::text;

/// A column: what it is called, and what it says of a pool; the latter is HTML.
type Column<'a> = (String, &'a dyn Fn(&Pool) -> String);

/// An estimate with its interval, small, and what it rests on.
fn shown(estimate: Option<Estimate>, without: &str) -> String {
    estimate.map_or_else(
        || format!("<span class=\"note\">{without}</span>"),
        |e| {
            let ends = match e.one_run() {
                true => String::new(),
                false => format!("{}–{}, ", number(e.low), number(e.high)),
            };
            format!(
                "<b>{}</b> <small>{ends}n {}</small>",
                number(e.value),
                text::grouped(e.n)
            )
        },
    )
}

/// The table that belongs to a figure, by its place among them.
pub fn of(measured: &Measured<'_>, figure: &Figure) -> String {
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
            ("requests".into(), &|pool| shown(pool.requests, "not told")),
            ("watch events".into(), &|pool| shown(pool.watch_events, "not told")),
            ("transactions".into(), &|pool| shown(pool.transactions, "not read")),
        ],
    )
}

fn after(measured: &Measured<'_>) -> String {
    let timeouts = |values: &[f64]| match (values.first(), values.last()) {
        (Some(least), Some(most)) => {
            let median = statistics::quantile(values, 0.5).filter(|_| statistics::supports(values.len(), 0.5));
            format!(
                "<b>{}</b> <small>{}–{}, n {}</small>",
                median.map_or("n too small".to_string(), number),
                number(*least),
                number(*most),
                values.len()
            )
        }
        _ => "<span class=\"note\">none</span>".to_string(),
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
            ("never".into(), &|pool| pool.after.never.to_string()),
        ],
    )
}

fn table(measured: &Measured<'_>, columns: &[Column<'_>]) -> String {
    let comparison = measured.comparison;
    let head = |(head, _): &Column<'_>| format!("<th scope=\"col\">{head}</th>");
    let heads: String = columns.iter().map(head).collect();
    let mut rows = String::new();
    for (n, subject) in comparison.subjects.iter().enumerate() {
        let several = comparison.faults.len() > 1;
        let each = measured.each[n]
            .iter()
            .zip(comparison.faults.iter().map(String::as_str));
        let together = several.then_some((&measured.all[n], "all together"));
        for (row, (pool, faults)) in each.chain(together).enumerate() {
            let cell = |(_, cell): &Column<'_>| format!("<td>{}</td>", cell(pool));
            let cells: String = columns.iter().map(cell).collect();
            let label = if row == 0 {
                text::html(&subject.label, 60)
            } else {
                String::new()
            };
            let class = if faults == "all together" {
                " class=\"together\""
            } else {
                ""
            };
            rows += &format!(
                "<tr{class}><th scope=\"row\">{label}</th><td>{}</td>{cells}</tr>\n",
                text::html(faults, 60)
            );
        }
    }
    format!(
        "<div class=\"wide\"><table class=\"numbers\"><thead><tr><td></td><th scope=\"col\">faults</th>{heads}</tr></thead>\n\
         <tbody>{rows}</tbody></table></div>\n"
    )
}
