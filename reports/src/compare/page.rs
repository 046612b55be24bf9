//! The page: one file, complete without a network and without JavaScript.

use super::pool::MeasuredComparison;
use super::{Comparison, draw, figure, safety, tables, words};
use crate::html::{self, Document, PAGE_STYLE, PICTURE_STYLE};
use crate::text;
use maud::{Markup, html};

const STYLES: [&str; 4] = [
    PAGE_STYLE,
    PICTURE_STYLE,
    include_str!("../../assets/night.css"),
    include_str!("../../assets/compare.css"),
];

/// The whole page.
pub fn page(measured: &MeasuredComparison<'_>) -> String {
    let body = html! {
        main {
            (head(measured))
            (safety::section(measured))
            @for (number, figure) in figure::all(measured).iter().enumerate() { (section(measured, number, figure)) }
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

fn section(measured: &MeasuredComparison<'_>, number: usize, figure: &figure::Figure) -> Markup {
    html! {
        section {
            h2 { (text::clip(&figure.title, 120)) }
            p.note {
                (text::clip(&figure.caption, 400))
                @if !matches!(figure.unit, "" | "ms") { " In " (figure.unit) "." }
            }
            (draw::picture(&draw::WIDE, &figure::FigureLabels::new(measured.comparison), number, figure))
            details open {
                summary { "Numbers" }
                (tables::numbers(measured, figure))
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
    html::titled("method", "How it is counted", body)
}

fn settings(measured: &MeasuredComparison<'_>) -> Markup {
    let Comparison { settings, subjects, .. } = measured.comparison;
    let settings = settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let promises = subjects
        .iter()
        .map(|subject| (subject.label.as_str(), subject.promise.as_str()));
    html::settings("Settings and subjects", settings.chain(promises))
}
