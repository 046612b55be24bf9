//! The page: one file, complete without a network and without JavaScript. It has what was found of each subject under
//! each kind of faults, with a link to every run, and figures with the numbers below them, each with how many
//! observations it rests on.

use super::figure::{self, Figure, FigureLabels};
use super::pool::{AnomalyEstimate, MeasuredComparison, Pool};
use super::statistics::Estimate;
use super::words::{self, median, number};
use super::{Comparison, SubjectRun};
use crate::html::{self, Document, PAGE_STYLE, PICTURE_STYLE, plain, titled, unjudged_checks};
use crate::text;
use maud::{Markup, html};

const STYLES: [&str; 4] = [
    PAGE_STYLE,
    PICTURE_STYLE,
    include_str!("../../assets/night.css"),
    include_str!("../../assets/compare.css"),
];
/// What stands for all kinds of faults.
const TOGETHER: &str = "all together";

/// The whole page.
pub fn page(measured: &MeasuredComparison<'_>) -> String {
    let body = html! {
        main {
            (head(measured))
            (safety(measured))
            @for (number, figure) in figure::all(measured).iter().enumerate() { (figure_section(measured, number, figure)) }
            (method(measured))
            (settings(measured))
        }
    };
    Document {
        title: &text::clip(&measured.comparison.title(), 80),
        styles: &STYLES,
        class: "compare",
        body,
        ..Document::default()
    }
    .page()
}

fn head(measured: &MeasuredComparison<'_>) -> Markup {
    let comparison = measured.comparison;
    let lines = words::lines(measured);
    let (first, rest) = html::first_and_rest(&lines);
    let missing = comparison.planned.saturating_sub(comparison.runs.len());
    html! {
        header #first {
            p.facts {
                b { (text::clip(&comparison.title(), 80)) } " · begun " (text::clip(&comparison.begun, 40))
                @if missing > 0 { " · " b { (missing) " of " (comparison.planned) " runs are still to come" } }
            }
            h1 { (text::clip(first, 600)) }
            ul.conclusion { (html::items(rest, 900)) }
            p.note {
                "In brackets: 95 % intervals, or the range of fewer than five runs. A difference is claimed only where \
                 intervals do not overlap; all faults are taken together."
            }
        }
    }
}

fn figure_section(measured: &MeasuredComparison<'_>, number: usize, figure: &Figure) -> Markup {
    html! {
        section {
            h2 { (text::clip(&figure.title, 120)) }
            p.note {
                (text::clip(&figure.caption, 400))
                @if !matches!(figure.unit, "" | "ms") { " In " (figure.unit) "." }
            }
            (figure::picture(&figure::WIDE, &FigureLabels::new(measured.comparison), number, figure))
            details open {
                summary { "Numbers" }
                (numbers(measured, figure))
            }
        }
    }
}

fn method(measured: &MeasuredComparison<'_>) -> Markup {
    let kind = measured.comparison.kind;
    let paragraphs = [
        "Every subject ran the same plans: the same seed, the same fault windows, the same cycles of the clients. The \
         runs are interleaved, and which subject goes first rotates from one round to the next, so that a machine that \
         gets slower or faster meanwhile favours no subject."
            .to_string(),
        format!(
            "The wait ({}) is the time {}; those of the recovery and the last operations of a run are among them. Intervals are percentile bootstraps from a fixed seed: of five runs or more, whole \
             runs are drawn; of fewer, single observations, which then pass for independent of each other although those of one \
             run are not. A quantile is shown only if one observation is to be expected beyond it: p95 from 20 on, p99 from 100.",
            kind.wait, kind.wait_sentence
        ),
        format!(
            "Rates and costs are sums over runs divided by sums. Their interval comes from drawing whole runs; of fewer than five \
             it is the range of single runs. Requests and watch events are counted by the clients; a killed process takes its \
             count with it, and such runs are left out. Transactions are read from the servers' logs: what the clients' \
             sessions asked for, sessions opened and closed among it, in the whole run, for each {} of the whole run.",
            kind.unit
        ),
        format!(
            "The time after a fault runs from the moment at which it took effect, or, where it ended a hold, from the \
             last moment at which the holder certainly held, to the next {} of any client. Jain's index of the \
             clients' {} is 1 if all have the same share, 1/n if one has all; a killed or frozen client gets less.",
            kind.unit, kind.units
        ),
    ];
    let body = html! { @for paragraph in paragraphs { p { (paragraph) } } };
    titled("method", "How it is counted", body)
}

fn settings(measured: &MeasuredComparison<'_>) -> Markup {
    let Comparison { settings, subjects, .. } = measured.comparison;
    let settings = settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let promises = subjects
        .iter()
        .map(|subject| (subject.label.as_str(), subject.promise.as_str()));
    html::settings("Settings and subjects", settings.chain(promises))
}

/// What was found of each subject under each kind of faults.
fn safety(measured: &MeasuredComparison<'_>) -> Markup {
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
                tbody { @for subject in 0..comparison.subjects.len() { (subject_row(measured, subject)) "\n" } }
            }
        }
    };
    titled("safety", "Safety", body)
}

fn subject_row(measured: &MeasuredComparison<'_>, number: usize) -> Markup {
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
fn verdict(pool: &Pool) -> (&'static str, Markup) {
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

/// A column: what it is called, and what stands in it for a pool.
type Column<'a> = (String, &'a dyn Fn(&Pool) -> Markup);

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
fn numbers(measured: &MeasuredComparison<'_>, figure: &Figure) -> Markup {
    let kind = measured.comparison.kind;
    if figure.log {
        let quantile = |n: usize| move |pool: &Pool| shown(pool.waits[n], &format!("n too small ({})", pool.waited));
        let (p50, p95, p99) = (quantile(0), quantile(1), quantile(2));
        return number_table(
            measured,
            &[
                ("median, ms".into(), &p50),
                ("p95, ms".into(), &p95),
                ("p99, ms".into(), &p99),
            ],
        );
    }
    if figure.unit == "session timeouts" {
        return after_faults(measured);
    }
    if figure.title.ends_with("a second") {
        let rate: Column<'_> = (format!("{} a second", kind.units), &|pool| shown(pool.rate, "no run"));
        let fairness: Column<'_> = ("Jain's index, mean".into(), &|pool| shown(pool.fairness, "none"));
        return match kind.compete {
            true => number_table(measured, &[rate, fairness]),
            false => number_table(measured, &[rate]),
        };
    }
    number_table(
        measured,
        &[
            ("requests".into(), &|pool| shown(pool.requests, "not recorded")),
            ("watch events".into(), &|pool| shown(pool.watch_events, "not recorded")),
            ("transactions".into(), &|pool| shown(pool.transactions, "not read")),
        ],
    )
}

fn after_faults(measured: &MeasuredComparison<'_>) -> Markup {
    let timeouts = |values: &[f64]| match (values.first(), values.last()) {
        (Some(least), Some(most)) => html! {
            b { (median(values)) } " " small { (number(*least)) "–" (number(*most)) ", n " (values.len()) }
        },
        _ => html! { span.note { "none" } },
    };
    number_table(
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

fn number_table(measured: &MeasuredComparison<'_>, columns: &[Column<'_>]) -> Markup {
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
                tbody { @for subject in 0..measured.comparison.subjects.len() { (number_rows(measured, subject, columns)) } }
            }
        }
    }
}

/// The rows of a subject: one for each kind of faults, and one for all of them if there are several.
fn number_rows(measured: &MeasuredComparison<'_>, subject: usize, columns: &[Column<'_>]) -> Markup {
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
