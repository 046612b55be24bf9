//! The first screen: what broke, when, under which fault, and how to see it again.

use super::anomalies::{badge, steps_list};
use super::commands::reproduce;
use super::{faults, live};
use crate::model::{Outcome, RunModel, op_stats};
use crate::svg::{legend, overview, window};
use crate::text;
use std::collections::{BTreeMap, BTreeSet};
use zooquake_checkers::plan::On;
use zooquake_checkers::{Anomaly, Verdict};

/// How many steps fit on the first screen: the three events of each of three clients.
const STEPS: usize = 9;
/// How many reasons do.
const REASONS: usize = 5;

/// The first screen.
pub fn section(model: &RunModel<'_>) -> String {
    let picture = match model.headline() {
        Some(anomaly) => invalid(model, anomaly),
        None => calm(model),
    };
    format!(
        "<header id=\"first\">\n{}{}{}{}{picture}</header>",
        head(model),
        simulated(model),
        kinds(model),
        not_judged(model)
    )
}

/// The verdict in a word, and what it says, as HTML; of a run that goes on, that, and what it does.
fn verdict(model: &RunModel<'_>) -> (String, String) {
    if let Some(ongoing) = &model.extras.ongoing {
        return ("RUNNING".into(), live::sentence(ongoing));
    }
    let sentence = match (model.results.verdict, model.headline()) {
        (Verdict::Invalid, Some(a)) => format!(
            "<b>{}</b> breaks <b>{}</b>",
            text::html(&a.kind, 60),
            text::html(&a.property, 80)
        ),
        (Verdict::Invalid, None) => "a property was violated".into(),
        (Verdict::Valid, _) => "every property held, and the run had what it takes to say so".into(),
        (Verdict::Unknown, _) => "the run does not suffice to say whether the promise holds".into(),
    };
    let word = model.results.verdict.to_string().to_uppercase();
    (word, format!("<p class=\"sentence\">{sentence}</p>"))
}

fn head(model: &RunModel<'_>) -> String {
    let workload = &model.record.plan.workload;
    let (word, says) = verdict(model);
    let faults = match model.record.plan.faults.join(", ") {
        faults if faults.is_empty() => "none".to_owned(),
        faults => text::html(&faults, 80),
    };
    let hazard = match model.record.plan.cluster.timing.hazardous() {
        true => {
            " <b class=\"hazard\">hazardous timing: a cut-off server may serve a client whose session has expired</b>"
        }
        false => "",
    };
    let cluster = &model.record.plan.cluster;
    format!(
        "<div class=\"verdict\"><h1>{}</h1><div>{says}\
         <p class=\"promise\"><b>{}</b> {}</p><p class=\"facts\">{}, {}, {} · faults asked for: {faults} · seed {} · {}{hazard}</p></div></div>\n",
        text::escape(&word),
        text::html(&workload.name(), 80),
        text::html(&workload.promise, 220),
        ensemble(model),
        text::count(cluster.clients, "client"),
        operations(model),
        model.record.plan.seed,
        text::html(&model.extras.run_name, 100),
    )
}

/// That no ZooKeeper took part, if none did.
fn simulated(model: &RunModel<'_>) -> &'static str {
    match model.record.plan.on {
        On::Docker => "",
        On::Sim => {
            "<p class=\"note simulated\"><b>The ensemble was simulated</b>: a model of ZooKeeper in virtual time. No ZooKeeper took part; \
             <code>replay --on docker</code> runs the plan on a real ensemble.</p>\n"
        }
    }
}

/// `523 operations and 26 control requests`: the timeline shows both.
fn operations(model: &RunModel<'_>) -> String {
    let control = model.ops.iter().filter(|op| op.control).count();
    let operations = text::count(model.ops.len() - control, "operation");
    match control {
        0 => operations,
        some => format!("{operations} and {}", text::count(some, "control request")),
    }
}

/// `3 servers and 1 observer of ZooKeeper 3.8.0`: the versions are those that the servers told.
fn ensemble(model: &RunModel<'_>) -> String {
    let cluster = &model.record.plan.cluster;
    let observers = text::if_any(cluster.observers, |some| {
        format!(" and {}", text::count(some, "observer"))
    });
    let samples = model.record.servers.iter().flatten();
    let samples = samples.map(|sample| sample.version.as_str());
    if model.record.plan.on == On::Sim {
        let servers = text::count(cluster.servers, "simulated server");
        return format!("{servers}{observers}");
    }
    let versions: BTreeSet<&str> = samples.filter(|version| !version.is_empty()).collect();
    let versions: Vec<&str> = versions.into_iter().take(4).collect();
    let of = match versions.as_slice() {
        [] => String::new(),
        told => format!(" of ZooKeeper {}", text::html(&told.join(" and "), 60)),
    };
    format!("{}{observers}{of}", text::count(cluster.servers, "server"))
}

/// Anomalies by kind, with how many and what they mean for the verdict.
fn kinds(model: &RunModel<'_>) -> String {
    let mut kinds: BTreeMap<(bool, bool, &str), (usize, &Anomaly)> = BTreeMap::new();
    for anomaly in &model.results.anomalies {
        kinds
            .entry((anomaly.advisory, anomaly.accepted, &anomaly.kind))
            .or_insert((0, anomaly))
            .0 += 1;
    }
    if kinds.is_empty() {
        return String::new();
    }
    // Said once, and only where it is true: one kind that is not known fails a night.
    let mut green = match kinds.values().all(|(_, a)| a.advisory || a.accepted) {
        true => "for this variant (INVALID tells of this run; a nightly stays green): ",
        false => "",
    };
    let chips = kinds.values().take(12).map(|(n, a)| {
        let green = if a.advisory { "" } else { std::mem::take(&mut green) };
        let note = accepted(model, a)
            .map(|why| format!(" <small>{green}{why}</small>"))
            .unwrap_or_default();
        format!("<li>{} × {}{note}</li>", badge(a), text::grouped(*n))
    });
    format!("<ul class=\"kinds\">{}</ul>\n", chips.collect::<String>())
}

/// Why an anomaly is known for the variant, if it is.
pub fn accepted(model: &RunModel<'_>, anomaly: &Anomaly) -> Option<String> {
    let plan = &model.record.plan;
    let known = plan.workload.accepted.iter();
    let all: Vec<_> = known
        .filter(|known| anomaly.accepted && known.anomaly == anomaly.kind)
        .collect();
    let under = |known: &&zooquake_checkers::plan::Accepted| {
        let span = anomaly.span;
        span.is_some_and(|span| model.analysis.faults.any_near(plan, span, &known.faults))
    };
    let found = all.iter().copied().find(under).or(all.first().copied())?;
    Some(format!(
        "{} <cite>{}</cite>",
        text::html(&found.reason, 260),
        text::html(&found.source, 160)
    ))
}

fn invalid(model: &RunModel<'_>, anomaly: &Anomaly) -> String {
    let steps = model.steps(anomaly);
    let times = || steps.iter().map(|s| s.time);
    let (from, until) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
    let faults = faults::near(model, anomaly, (from, until));
    let when = if steps.is_empty() {
        "not told".into()
    } else {
        format!("{} – {}", text::moment(from), text::moment(until))
    };
    let more = text::if_any(steps.len().saturating_sub(STEPS), |n| {
        format!(
            "<p class=\"more\"><a href=\"#a1\">and {}</a></p>",
            text::count(n, "more step")
        )
    });
    format!(
        "<p class=\"why\">{}</p>\n<p class=\"when\"><b>When</b> {when} &emsp; {}</p>\n{}{}\n<div class=\"below\"><div><h3>Step by step \
         <button type=\"button\" class=\"show js\" data-anomaly=\"0\">Show in the timeline</button></h3>{}{more}</div>{}</div>\n",
        text::html(&anomaly.why, 900),
        faults,
        window::draw(
            model,
            &steps,
            "witness",
            &format!("The clients involved in {}, over time", text::clip(&anomaly.kind, 60))
        ),
        legend::window(model, &steps),
        steps_list(&steps[..steps.len().min(STEPS)]),
        reproduce(model),
    )
}

/// Nothing was violated: what the run exercised, or why that does not suffice.
fn calm(model: &RunModel<'_>) -> String {
    let (notes, reasons): (Vec<_>, Vec<_>) = model.results.reasons.iter().partition(|r| r.starts_with("note: "));
    let mut out = String::new();
    if !reasons.is_empty() {
        out.push_str(&format!(
            "<h3>Why the verdict is not “valid”</h3>{}",
            list("reasons", &reasons)
        ));
    }
    let damage: Vec<_> = model.record.damage.iter().collect();
    if !damage.is_empty() {
        out.push_str(&format!("<h3>Damage of the record</h3>{}", list("reasons", &damage)));
    }
    out.push_str(&overview::draw(model, "overview"));
    out.push_str(&legend::overview(model));
    out.push_str(&format!(
        "<div class=\"below\"><div><h3>What was exercised</h3>{}",
        exercised(model)
    ));
    if !notes.is_empty() {
        out.push_str(&list("notes", &notes));
    }
    out + "</div>" + &reproduce(model) + "</div>\n"
}

/// What was not judged because the clients cannot tell it.
fn not_judged(model: &RunModel<'_>) -> String {
    let left = model.results.not_judged.iter();
    let left: Vec<String> = left.map(|left| format!("{}: {}", left.check, left.why)).collect();
    match left.is_empty() {
        true => String::new(),
        false => format!(
            "<h3>Not judged</h3>{}",
            list("reasons", &left.iter().collect::<Vec<_>>())
        ),
    }
}

/// As many of the items as leave room for the picture.
fn list(class: &str, items: &[&String]) -> String {
    let first = items.iter().take(REASONS);
    let shown = first.map(|r| format!("<li>{}</li>", text::html(r, 400)));
    let more = text::if_any(items.len().saturating_sub(REASONS), |n| {
        format!("<li><a href=\"#reasons\">and {} more</a></li>", text::grouped(n))
    });
    format!("<ul class=\"{class}\">{}{more}</ul>\n", shown.collect::<String>())
}

fn exercised(model: &RunModel<'_>) -> String {
    let mut rows = String::new();
    for kind in model.fault_kinds() {
        let (all, counting) = (
            model.windows_of(kind).count(),
            model.windows_of(kind).filter(|w| w.counts).count(),
        );
        let mark = if counting > 0 { "✓" } else { "✗" };
        rows.push_str(&format!(
            "<li>{mark} <b>{}</b>: {counting} of {} counted</li>",
            text::html(kind, 40),
            text::count(all, "window")
        ));
    }
    for (f, stats) in op_stats(&model.ops).iter().take(6) {
        let [ok, fail, info, pending] = stats.counts.map(text::grouped);
        let ends = Outcome::ALL.iter().zip([ok, fail, info, pending]);
        let ends = ends.filter(|(o, n)| **o == Outcome::Ok || n != "0");
        let ends: Vec<_> = ends.map(|(o, n)| format!("{n} {}", o.name())).collect();
        rows.push_str(&format!("<li><b>{}</b>: {}</li>", text::html(f, 40), ends.join(", ")));
    }
    format!("<ul class=\"facts two\">{rows}</ul>")
}
