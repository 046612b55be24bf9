//! Latencies, of operations and of what clients wait for, rates and errors.

use super::{table, titled};
use crate::model::{LatencyTerms, OpStats, RunModel, errors, op_stats};
use crate::svg::charts;
use crate::svg::scale::LogScale;
use crate::text;
use serde::Deserialize;
use std::collections::BTreeMap;
use zooquake_checkers::analysis::Latency;
use zooquake_checkers::sample;

pub fn section(model: &RunModel<'_>) -> String {
    let stats = op_stats(&model.ops);
    let mut out = vec![
        titled(
            "latencies",
            "Latency",
            &(operations(&stats) + &series_legend(model) + &charts::latency(model)),
        ),
        titled(
            "rates",
            "Operations per second",
            &(rate_legend() + &charts::rate(model)),
        ),
    ];
    out.extend(waits(model));
    out.extend(leaderless(model));
    out.push(titled("errors", "Errors", &error_table(model)));
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
        let histogram = charts::histogram(&s.latencies, &log, f);
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

fn series_legend(model: &RunModel<'_>) -> String {
    let mut out = String::from("<p class=\"legend\">");
    for (i, name) in charts::series(&model.ops).iter().enumerate() {
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
fn waits(model: &RunModel<'_>) -> Option<String> {
    let terms = LatencyTerms::of(sample::kind(&model.record.plan.workload).latency)?;
    let latencies = model.latencies();
    let picture = (!latencies.is_empty()).then(|| charts::latencies(model, terms.heading, &latencies))?;
    let body = wait_words(model, &terms, &latencies) + &picture;
    Some(titled("waits", terms.heading, &body))
}

fn wait_words(model: &RunModel<'_>, terms: &LatencyTerms, latencies: &[Latency<'_>]) -> String {
    let line = |name: &str, faulty: Option<bool>| {
        let some = latencies.iter().filter(|l| faulty.is_none_or(|f| f == l.faulty));
        let mut stats = OpStats {
            latencies: some.map(|l| l.ns).collect(),
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
    let longest = latencies.iter().max_by_key(|l| l.ns).map(|l| {
        let to = model.row(l).map_or("", |row| &model.lanes.names()[row]);
        format!(
            "<p>The longest: {} from {}, to {} ({}).</p>\n",
            text::duration(l.ns),
            text::moment(model.analysis.time(l.from)),
            text::html(to, 24),
            terms.after
        )
    });
    let heads = ["", terms.noun, "p50", "p95", "longest"];
    format!(
        "<p>{}</p>\n{}{}",
        terms.sentence,
        table("numbers", heads, rows.into_iter()),
        longest.unwrap_or_default()
    )
}

fn error_table(model: &RunModel<'_>) -> String {
    let errors = errors(&model.ops);
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

/// An entry of `leaderless` in the statistics of the results.
#[derive(Debug, Deserialize)]
struct Entry {
    window: usize,
    fault: String,
    ms: Option<f64>,
    session_timeouts: Option<f64>,
}

/// How long nobody led, or held, after each fault on whoever did; `None` if no fault struck whoever led.
fn leaderless(model: &RunModel<'_>) -> Option<String> {
    let stat = model.results.stats.get("leaderless")?;
    let mut entries = Vec::<Entry>::deserialize(stat).ok()?;
    if entries.is_empty() {
        return None;
    }
    let election = model.record.plan.workload.family == "election";
    let heading = if election {
        "Without a leader"
    } else {
        "Until the next grant"
    };
    let session_ms = model.record.plan.cluster.timing.session_ms;
    let words = format!(
        "<p>From each fault that struck whoever {}, or from the last moment at which it certainly did, to the next grant. \
         The session timeout is {session_ms} ms.</p>\n",
        if election { "led" } else { "held" },
    );
    // The longest first; `never` is longest of all.
    let longest = |entry: &Entry| entry.ms.unwrap_or(f64::INFINITY);
    entries.sort_by(|a, b| longest(b).total_cmp(&longest(a)));
    let rows = entries.iter().take(40).map(|entry| {
        [
            entry.window.to_string(),
            text::html(&entry.fault, 24),
            entry.ms.map_or("never".into(), |ms| text::duration((ms * 1e6) as u64)),
            entry
                .session_timeouts
                .map_or("–".into(), |timeouts| format!("{timeouts:.2}")),
        ]
    });
    let heads = ["window", "fault", "time", "session timeouts"];
    Some(titled("leaderless", heading, &(words + &table("numbers", heads, rows))))
}
