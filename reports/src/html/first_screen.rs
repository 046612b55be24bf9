//! The first screen: what broke, when, under which fault, and how to see it again.

use super::anomalies::{anomaly_cause, badge, follow, steps_list};
use super::commands::reproduce;
use super::facts::{ensemble, operations, simulated};
use super::tickets::linked;
use super::{faults, live, meanings, messages, plain};
use crate::model::{DrawnWitness, OpStats, OperationOutcome, Root, RunModel, op_stats};
use crate::svg::{legend, overview, window};
use crate::{lists, text};
use maud::{Markup, html};
use std::collections::BTreeMap;
use zooquake_checkers::{Anomaly, Verdict};
use zooquake_history::protocol::KitPart;

/// How many steps fit on the first screen: the three events of each of three clients.
const STEPS: usize = 9;
/// How many reasons do.
const REASONS: usize = 5;

/// The first screen.
pub fn section(model: &RunModel<'_>) -> Markup {
    html! {
        header #first {
            (head(model))
            (simulated(model))
            (kinds(model))
            (not_judged(model))
            (by_kit(model))
            (order(model))
            @match model.headline() {
                Some(root) => (invalid(model, root)),
                None => (calm(model)),
            }
        }
    }
}

/// The verdict in a word; of a run that goes on, that.
fn word(model: &RunModel<'_>) -> String {
    match model.extras.progress {
        Some(_) => "RUNNING".into(),
        None => model.results.verdict.to_string().to_uppercase(),
    }
}

/// What the verdict means; of a run that goes on, what it does.
fn sentence(model: &RunModel<'_>) -> Markup {
    if let Some(progress) = &model.extras.progress {
        return live::sentence(progress);
    }
    let words = match (model.results.verdict, model.headline()) {
        (Verdict::Invalid, Some(root)) => html! {
            b { (text::clip(&root.anomaly.kind, 60)) } " breaks " b { (text::clip(&root.anomaly.property, 80)) }
        },
        (Verdict::Invalid, None) => plain("a property was violated"),
        (Verdict::Valid, _) => plain("every property held, and the run has the evidence that this verdict requires"),
        (Verdict::Unknown, _) => plain("the run does not suffice to decide whether the promise holds"),
    };
    html! { p.sentence { (words) } }
}

fn head(model: &RunModel<'_>) -> Markup {
    let plan = &model.record.plan;
    let faults = match plan.faults.join(", ") {
        faults if faults.is_empty() => "none".to_owned(),
        faults => text::clip(&faults, 80),
    };
    html! {
        div.verdict {
            h1 { (word(model)) }
            div {
                (sentence(model))
                p.promise { b { (text::clip(&plan.workload.name(), 80)) } " " (linked(&text::clip(&plan.workload.promise, 220))) }
                p.facts {
                    (ensemble(model)) ", " (text::count(plan.cluster.clients, "client")) ", " (operations(model))
                    " · faults asked for: " (faults) " · seed " (plan.seed) " · " (text::clip(&model.extras.run_name, 100))
                    @if plan.cluster.timing.hazardous() {
                        " " b.hazard {
                            "hazardous timing: a cut-off server may serve a client whose session has expired"
                        }
                    }
                }
            }
        }
    }
}

/// Anomalies by kind, with how many and what they mean for the verdict.
fn kinds(model: &RunModel<'_>) -> Markup {
    let mut kinds: BTreeMap<(bool, bool, &str), (usize, &Anomaly)> = BTreeMap::new();
    for anomaly in &model.results.anomalies {
        kinds
            .entry((anomaly.advisory, anomaly.accepted, &anomaly.kind))
            .or_insert((0, anomaly))
            .0 += 1;
    }
    if kinds.is_empty() {
        return Markup::default();
    }
    // Stands once, and only where it is true: one kind that is not known fails a night.
    let green = kinds.values().all(|(_, anomaly)| anomaly.advisory || anomaly.accepted);
    let first = kinds.values().position(|(_, anomaly)| !anomaly.advisory && green);
    html! {
        ul.kinds {
            @for (at, (n, anomaly)) in kinds.values().take(12).enumerate() {
                li {
                    (badge(anomaly)) " × " (text::grouped(*n))
                    @if let Some(why) = accepted(model, anomaly) {
                        " " small {
                            @if first == Some(at) {
                                "for this variant (INVALID applies to this run; a nightly stays green): "
                            }
                            (why)
                        }
                    }
                }
            }
        }
    }
}

/// Why an anomaly is known for the variant, if it is.
pub fn accepted(model: &RunModel<'_>, anomaly: &Anomaly) -> Option<Markup> {
    let plan = &model.record.plan;
    let known = plan.workload.accepted.iter();
    let all: Vec<_> = known
        .filter(|known| anomaly.accepted && known.anomaly == anomaly.kind)
        .collect();
    let under = |known: &&zooquake_history::plan::AcceptedAnomaly| {
        let span = anomaly.span;
        span.is_some_and(|span| model.analysis.faults.any_near(plan, span, &known.faults))
    };
    let found = all.iter().copied().find(under).or(all.first().copied())?;
    Some(html! { (linked(&text::clip(&found.reason, 260))) " " cite { (linked(&text::clip(&found.source, 160))) } })
}

fn invalid(model: &RunModel<'_>, root: &Root<'_>) -> Markup {
    let anomaly = root.anomaly;
    let witness = DrawnWitness::new(model, anomaly);
    let steps = &witness.steps;
    let followers = root.followers.len() + root.more;
    let times = || steps.iter().map(|s| s.time);
    let (from, until) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
    let when = match steps.is_empty() {
        true => "not recorded".into(),
        false => format!("{} – {}", text::moment(from), text::moment(until)),
    };
    let label = format!("The clients involved in {}, over time", text::clip(&anomaly.kind, 60));
    html! {
        p.why {
            (text::clip(&anomaly.why, 900))
            @if followers > 0 { " " a href={ "#a" (root.number) } { (follow(followers)) } "." }
        }
        @if let Some(cause) = anomaly_cause(anomaly) { (cause) }
        @if let Some(mend) = meanings::sentence(model, anomaly) { (mend) }
        p.when { b { "When" } " " (when) " \u{2003} " (faults::near(model, anomaly, (from, until))) }
        @match messages::picture(model, Some(anomaly)) {
            Some(picture) => (picture),
            None => {
                (window::draw(model, &witness, "witness", &label))
                (legend::window(model, &witness))
            }
        }
        div.below {
            div {
                h3 {
                    "Step by step " button.show.js type="button" data-anomaly=(root.number - 1) { "Show in the timeline" }
                }
                (steps_list(steps, STEPS))
                @if steps.len() > STEPS + 1 { p.more { a href={ "#a" (root.number) } { "more of its steps" } } }
            }
            (reproduce(model))
        }
    }
}

/// Nothing was violated: what the run exercised, or why that does not suffice.
fn calm(model: &RunModel<'_>) -> Markup {
    let (notes, reasons): (Vec<_>, Vec<_>) = model.results.reasons.iter().partition(|r| r.starts_with("note: "));
    let damage = &model.record.damage;
    html! {
        @if !reasons.is_empty() {
            h3 { "Why the verdict is not “valid”" }
            (list("reasons", &reasons))
        }
        @if !damage.is_empty() {
            h3 { "Damage of the record" }
            (list("reasons", damage))
        }
        @match messages::picture(model, None) {
            Some(picture) => (picture),
            None => {
                (overview::draw(model, "overview"))
                (legend::overview(model))
            }
        }
        div.below {
            div {
                h3 { "What was exercised" }
                (exercised(model))
                @if !notes.is_empty() { (list("notes", &notes)) }
            }
            (reproduce(model))
        }
    }
}

/// What was not judged because the clients do not report it.
fn not_judged(model: &RunModel<'_>) -> Markup {
    let all = model.results.not_judged.iter();
    let lines: Vec<String> = all.map(|check| format!("{}: {}", check.check, check.why)).collect();
    if lines.is_empty() {
        return Markup::default();
    }
    html! {
        h3 { "Not judged" }
        (list("reasons", &lines))
    }
}

/// What the clients' kit did in place of the recipe, which is not on trial.
fn by_kit(model: &RunModel<'_>) -> Markup {
    let hellos = model.analysis.events.iter().filter(|event| event.f == "hello");
    let words = hellos.filter_map(|event| event.kit()).flatten();
    let parts = KitPart::from_words(words.filter_map(|word| word.as_str()));
    html! {
        @if !parts.is_empty() {
            p.kit {
                @for (place, part) in parts.iter().enumerate() {
                    @if place > 0 { "; " }
                    span title=(part.words()) { (part.name()) ": by the kit" }
                }
            }
        }
    }
}

/// The way to the page of the operations and their order, if there is one beside this page.
fn order(model: &RunModel<'_>) -> Markup {
    html! {
        @if let Some(page) = &model.extras.order_page {
            p.order { a href=(page) { "All operations by process, and the longest order of them" } }
        }
    }
}

/// As many of the items as leave room for the picture.
fn list(class: &str, items: &[impl AsRef<str>]) -> Markup {
    html! {
        ul class=(class) {
            @for item in items.iter().take(REASONS) { li { (text::clip(item.as_ref(), 400)) } }
            @if items.len() > REASONS {
                li { a href="#reasons" { "and " (text::grouped(items.len() - REASONS)) " more" } }
            }
        }
    }
}

fn exercised(model: &RunModel<'_>) -> Markup {
    html! {
        ul.facts.two {
            @for kind in model.fault_kinds() {
                @let counting = model.windows_of(kind).filter(|w| w.counts).count();
                li {
                    (if counting > 0 { "✓" } else { "✗" }) " " b { (text::clip(kind, 40)) } ": " (counting) " of "
                    (text::count(model.windows_of(kind).count(), "window")) " counted"
                }
            }
            @for (f, stats) in op_stats(&model.ops).iter().take(6) {
                li { b { (text::clip(f, 40)) } ": " (ends(stats)) }
            }
        }
    }
}

/// `283 ok, 1 fail`: how operations ended.
fn ends(stats: &OpStats) -> String {
    let counts = OperationOutcome::ALL.iter().zip(stats.counts.map(text::grouped));
    let shown = counts.filter(|(outcome, n)| **outcome == OperationOutcome::Ok || n != "0");
    lists::joined(shown.map(|(outcome, n)| format!("{n} {}", outcome.name())), ", ")
}
