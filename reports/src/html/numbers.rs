//! Latencies, rates, passages and errors.

use super::{leaderless, table, titled};
use crate::model::{OpStats, Passage, Story, Way, errors, op_stats};
use crate::svg::scale::LogScale;
use crate::svg::{charts, histogram};
use crate::text;
use std::collections::BTreeMap;

/// The sections.
pub fn section(story: &Story<'_>) -> String {
    let stats = op_stats(&story.ops);
    let mut out = vec![
        titled(
            "latencies",
            "Latency",
            &(operations(&stats) + &series_legend(story) + &charts::latency(story)),
        ),
        titled(
            "rates",
            "Operations per second",
            &(rate_legend() + &charts::rate(story)),
        ),
    ];
    out.extend(story.terms.passage.and_then(|passage| passages(story, passage)));
    out.extend(leaderless::section(story));
    out.push(titled("errors", "Errors", &error_table(story)));
    out.join("\n")
}

fn operations(stats: &BTreeMap<&str, OpStats>) -> String {
    let log = LogScale::over(
        stats
            .values()
            .flat_map(|s| [s.quantile(0.0), s.quantile(1.0)])
            .flatten(),
        0.0,
        1.0,
    );
    let heads = [
        "operation",
        "ok",
        "fail",
        "info",
        "pending",
        "p50",
        "p95",
        "p99",
        "longest",
        "latency of ok",
    ];
    let rows = stats.iter().take(24).map(|(f, s)| {
        let [ok, fail, info, pending] = s.counts.map(text::grouped);
        let q = |share| s.quantile(share).map_or("–".into(), text::duration);
        let histogram = histogram::draw(&s.latencies, &log, f);
        [
            text::html(f, 40),
            ok,
            fail,
            info,
            pending,
            q(0.5),
            q(0.95),
            q(0.99),
            q(1.0),
            histogram,
        ]
    });
    table("numbers", heads, rows)
}

fn series_legend(story: &Story<'_>) -> String {
    let mut out = String::from("<p class=\"legend\">");
    for (i, name) in charts::series(&story.ops).iter().enumerate() {
        out.push_str(&format!(
            "<span><i class=\"key s{i}\"></i>{}</span>",
            text::html(name, 40)
        ));
    }
    out + "<span>• ok</span><span>× fail</span><span>○ info</span><span>from the sending to the answer</span></p>"
}

fn rate_legend() -> String {
    "<p class=\"legend\"><span><i class=\"key r-ok\"></i>ok</span><span><i class=\"key r-fail\"></i>fail</span>\
     <span><i class=\"key r-info\"></i>info</span><span>by the time of the answer</span></p>"
        .into()
}

/// How long what clients wait for took to reach them, if anything did.
fn passages(story: &Story<'_>, passage: &Passage) -> Option<String> {
    let ways = passage.all(story);
    let picture = (!ways.is_empty()).then(|| charts::passage(story, passage.heading, &ways))?;
    let body = passage_words(story, passage, &ways) + &picture;
    Some(titled("passages", passage.heading, &body))
}

fn passage_words(story: &Story<'_>, passage: &Passage, ways: &[Way]) -> String {
    let line = |name: &str, faulty: Option<bool>| {
        let some = ways.iter().filter(|h| faulty.is_none_or(|f| f == h.faulty));
        let mut stats = OpStats {
            latencies: some.map(|h| h.took).collect(),
            ..OpStats::default()
        };
        stats.latencies.sort_unstable();
        let q = |share| stats.quantile(share).map_or("–".into(), text::duration);
        [
            name.to_owned(),
            text::grouped(stats.latencies.len()),
            q(0.5),
            q(0.95),
            q(1.0),
        ]
    };
    let rows = [
        line("• no fault on", Some(false)),
        line("× a fault on", Some(true)),
        line("all", None),
    ];
    let longest = ways.iter().max_by_key(|h| h.took).map(|h| {
        let to = text::html(&story.lanes.names()[h.to], 24);
        format!(
            "<p>The longest: {} from {}, to {to} ({}).</p>\n",
            text::duration(h.took),
            text::moment(h.at),
            h.after
        )
    });
    let heads = ["", passage.noun, "p50", "p95", "longest"];
    format!(
        "<p>{}</p>\n{}{}",
        passage.sentence,
        table("numbers", heads, rows.into_iter()),
        longest.unwrap_or_default()
    )
}

fn error_table(story: &Story<'_>) -> String {
    let errors = errors(&story.ops);
    if errors.is_empty() {
        return "<p>None.</p>\n".into();
    }
    let rows = errors.iter().map(|((f, outcome, kind), n)| {
        [
            text::grouped(*n),
            text::escape(f),
            outcome.name().to_owned(),
            text::escape(kind),
        ]
    });
    table("numbers errors", ["how often", "operation", "outcome", "error"], rows)
}
