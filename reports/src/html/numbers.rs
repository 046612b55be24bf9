//! Latencies, of operations and of what clients wait for, rates and errors.

use super::{plain, table, titled};
use crate::model::{LatencyTerms, OpStats, RunModel, errors, op_stats};
use crate::svg::charts;
use crate::svg::scale::LogScale;
use crate::text;
use maud::{Markup, html};
use serde::Deserialize;
use std::collections::BTreeMap;
use zooquake_checkers::analysis::Latency;
use zooquake_checkers::sample;

pub fn section(model: &RunModel<'_>) -> Markup {
    let stats = op_stats(&model.ops);
    let latencies = html! {
        (operations(&stats)) (series_legend(model)) (charts::latency(model))
        (quantiles_legend(model)) (charts::quantiles(model))
    };
    let rates = html! { (rate_legend()) (charts::rate(model)) };
    html! {
        (titled("latencies", "Latency", latencies)) "\n"
        (titled("rates", "Operations per second", rates)) "\n"
        @for section in waits(model).into_iter().chain(leaderless(model)) { (section) "\n" }
        (titled("errors", "Errors", error_table(model)))
    }
}

fn operations(stats: &BTreeMap<&str, OpStats>) -> Markup {
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
        let q = |share| s.quantile(share).map_or("–".into(), text::duration);
        let histogram = charts::histogram(&s.latencies, &log, f);
        let [p50, p95, p99, longest] = [0.5, 0.95, 0.99, 1.0].map(q).map(plain);
        let [ok, fail, info, pending] = s.counts.map(text::grouped).map(plain);
        let name = plain(text::clip(f, 40));
        [name, ok, fail, info, pending, p50, p95, p99, longest, histogram]
    });
    table("numbers", heads, rows)
}

fn series(model: &RunModel<'_>) -> Markup {
    html! {
        @for (i, name) in charts::series(&model.ops).iter().enumerate() {
            span { i class={ "key s" (i) } {} (text::clip(name, 40)) }
        }
    }
}

fn quantiles_legend(model: &RunModel<'_>) -> Markup {
    html! {
        p.legend {
            (series(model))
            @for (_, class, name) in charts::QUANTILES { span { i class={ "key quantile " (class) } {} (name) } }
            span { "of what was answered ok, by the time of the sending" }
        }
    }
}

fn series_legend(model: &RunModel<'_>) -> Markup {
    html! {
        p.legend {
            (series(model))
            span { "• ok" } span { "× fail" } span { "○ info" } span { "from the sending to the answer" }
        }
    }
}

fn rate_legend() -> Markup {
    html! {
        p.legend {
            span { i.key.r-ok {} "ok" } span { i.key.r-fail {} "fail" } span { i.key.r-info {} "info" }
            span { "by the time of the answer" }
        }
    }
}

/// How long what clients wait for took to reach them, if anything did.
fn waits(model: &RunModel<'_>) -> Option<Markup> {
    let terms = LatencyTerms::from_kind(sample::measures(&model.record.plan.workload)?.latency)?;
    let latencies = model.latencies();
    let picture = (!latencies.is_empty()).then(|| charts::latencies(model, terms.heading, &latencies))?;
    let body = html! { (wait_words(model, &terms, &latencies)) (picture) };
    Some(titled("waits", terms.heading, body))
}

fn wait_words(model: &RunModel<'_>, terms: &LatencyTerms, latencies: &[Latency<'_>]) -> Markup {
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
    let heads = ["", terms.noun, "p50", "p95", "longest"];
    html! {
        p { (terms.sentence) }
        (table("numbers", heads, rows.into_iter()))
        @if let Some(longest) = latencies.iter().max_by_key(|l| l.ns) {
            @let to = model.row(longest).map_or("", |row| &model.lanes.names[row]);
            p {
                "The longest: " (text::duration(longest.ns)) " from " (text::moment(model.analysis.time(longest.from)))
                ", to " (text::clip(to, 24)) " (" (terms.after) ")."
            }
        }
    }
}

fn error_table(model: &RunModel<'_>) -> Markup {
    let errors = errors(&model.ops);
    if errors.is_empty() {
        return html! { p { "None." } };
    }
    let rows = errors.iter().map(|((f, outcome, kind), n)| {
        [
            text::grouped(*n),
            text::visible(f),
            outcome.name().to_owned(),
            text::visible(kind),
        ]
    });
    table("numbers errors", ["how often", "operation", "outcome", "error"], rows)
}

/// An entry of `leaderless` in the statistics of the results.
#[derive(Debug, Deserialize)]
struct LeaderlessEntry {
    window: usize,
    fault: String,
    ms: Option<f64>,
    session_timeouts: Option<f64>,
}

/// How long nobody led, or held, after each fault on the leader or holder; `None` if no fault struck one.
fn leaderless(model: &RunModel<'_>) -> Option<Markup> {
    let mut entries = Vec::<LeaderlessEntry>::deserialize(model.results.stats.get("leaderless")?).ok()?;
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
    // The longest first; `never` is longest of all.
    let longest = |entry: &LeaderlessEntry| entry.ms.unwrap_or(f64::INFINITY);
    entries.sort_by(|a, b| longest(b).total_cmp(&longest(a)));
    let rows = entries.iter().take(40).map(|entry| {
        [
            entry.window.to_string(),
            text::clip(&entry.fault, 24),
            entry.ms.map_or("never".into(), |ms| text::duration((ms * 1e6) as u64)),
            entry
                .session_timeouts
                .map_or("–".into(), |timeouts| format!("{timeouts:.2}")),
        ]
    });
    let heads = ["window", "fault", "time", "session timeouts"];
    let body = html! {
        p {
            "From each fault that struck a client that " (if election { "led" } else { "held" })
            ", or from the last moment at which that was certain, to the next grant. The session timeout is " (session_ms) " ms."
        }
        (table("numbers", heads, rows))
    };
    Some(titled("leaderless", heading, body))
}
