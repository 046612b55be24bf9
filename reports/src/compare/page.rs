//! The page: one file, complete without a network and without JavaScript.

use super::pool::Measured;
use super::{Comparison, draw, figure, safety, tables, words};
use crate::{html, text};

const STYLES: [&str; 4] = [
    html::PAGE_STYLE,
    include_str!("../../assets/picture.css"),
    include_str!("../../assets/night.css"),
    include_str!("../../assets/compare.css"),
];

/// The whole page.
pub fn page(measured: &Measured<'_>) -> String {
    let figures = figure::all(measured);
    let figures = figures.iter().enumerate();
    let figures: String = figures
        .map(|(number, figure)| section(measured, number, figure))
        .collect();
    let body = format!(
        "<main>\n{}{}{figures}{}{}</main>",
        head(measured),
        safety::section(measured),
        method(measured),
        settings(measured),
    );
    let document = html::Document {
        title: &text::clip(&measured.comparison.title(), 80),
        styles: &STYLES,
        class: "compare",
        body: &body,
        ..html::Document::default()
    };
    document.page()
}

fn head(measured: &Measured<'_>) -> String {
    let comparison = measured.comparison;
    let lines = words::of(measured);
    let (first, rest) = lines.split_first().map_or(("", &[][..]), |(f, r)| (f.as_str(), r));
    let rest = html::items(rest, 900);
    let missing = text::if_any(comparison.planned.saturating_sub(comparison.runs.len()), |n| {
        format!(" · <b>{n} of {} runs are still to come</b>", comparison.planned)
    });
    format!(
        "<header id=\"first\"><p class=\"facts\"><b>{}</b> · begun {}{missing}</p>\n<h1>{}</h1>\n\
         <ul class=\"conclusion\">{rest}</ul>\n<p class=\"note\">In brackets: 95 % intervals, or the range of fewer than five runs. A \
         difference is claimed only where intervals do not overlap; all faults are taken together.</p></header>\n",
        text::html(&comparison.title(), 80),
        text::html(&comparison.begun, 40),
        text::html(first, 600),
    )
}

fn section(measured: &Measured<'_>, number: usize, figure: &figure::Figure) -> String {
    let unit = match figure.unit {
        "" | "ms" => String::new(),
        unit => format!(" In {unit}."),
    };
    format!(
        "<section>\n<h2>{}</h2>\n<p class=\"note\">{}{unit}</p>\n{}<details open><summary>Numbers</summary>\n{}</details>\n</section>\n",
        text::html(&figure.title, 120),
        text::html(&figure.caption, 400),
        draw::picture(measured, number, figure),
        tables::of(measured, figure),
    )
}

fn method(measured: &Measured<'_>) -> String {
    let kind = measured.comparison.kind;
    let paragraphs = [
        "Every subject ran the same plans: the same seed, the same fault windows, the same cycles of the clients. The runs are \
         interleaved, and which subject goes first rotates from one round to the next, so that a machine that gets slower \
         or faster meanwhile favours nobody."
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
            "The time after a fault runs from the moment at which it took effect, or, where it ended a hold, from the last moment \
             at which the holder certainly held, to the next {} of whichever client. Jain's index of the clients' {} is 1 if all \
             have the same share, 1/n if one has all; who is killed or frozen gets less.",
            kind.unit, kind.units
        ),
    ];
    let paragraph = |words: &String| format!("<p>{}</p>\n", text::escape(words));
    let paragraphs: String = paragraphs.iter().map(paragraph).collect();
    format!("<section id=\"method\">\n<h2>How it is counted</h2>\n{paragraphs}</section>\n")
}

fn settings(measured: &Measured<'_>) -> String {
    let Comparison { settings, subjects, .. } = measured.comparison;
    let settings = settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let promises = subjects
        .iter()
        .map(|subject| (subject.label.as_str(), subject.promise.as_str()));
    html::settings("Settings and subjects", settings.chain(promises))
}
