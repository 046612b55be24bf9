//! The first screen: what broke, when, under which fault, and how to see it again; of a run that goes on, what goes on.

use super::anomalies::{anomaly_cause, badge, cause, follow, mend_sentence, steps_list};
use super::tickets::linked;
use super::{Document, LIVE_SCRIPT, PAGE_STYLE, plain, run};
use crate::consensus::{self, ConsensusPicture};
use crate::model::{Band, DrawnWitness, OpStats, OperationOutcome, Root, RunModel, op_stats};
use crate::svg::{legend, window};
use crate::{RunProgress, lists, messages, text};
use maud::{Markup, html};
use std::collections::{BTreeMap, BTreeSet};
use zooquake_checkers::analysis::numbered;
use zooquake_checkers::consensus::node_names;
use zooquake_checkers::results::WindowResult;
use zooquake_checkers::{Anomaly, AnomalySpan, Verdict};
use zooquake_history::plan::On;
use zooquake_history::protocol::KitPart;

/// How many steps fit on the first screen: the three events of each of three clients.
const STEPS: usize = 9;
/// How many reasons do.
const REASONS: usize = 5;
/// How many faults are named; of more, their number is given.
const NAMED: usize = 8;
/// Longest command line that is shown, in bytes: one with the longest path fits. Longer ones are left out, because a
/// line that is cut off does something else.
const LONGEST_LINE: usize = 20_000;

/// The first screen.
pub fn section(model: &RunModel<'_>) -> Markup {
    html! {
        header #first {
            (head(model))
            @match model.headline() {
                Some(root) => (invalid(model, root)),
                None => {
                    (simulated(model))
                    (kinds(model))
                    (calm(model))
                    (circumstances(model))
                }
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
        return activity(progress);
    }
    let words = match (model.results.verdict, model.headline()) {
        (Verdict::Invalid, Some(root)) => html! {
            b { (text::clip(&root.anomaly.kind, 60)) } " breaks " b { "“" (text::clip(&root.anomaly.property, 80)) "”" }
            @if root.anomaly.accepted { " " small { "known and accepted" } }
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

/// What broke, why, and what mends it; its picture and its steps; below, folded, the evidence in full.
fn invalid(model: &RunModel<'_>, root: &Root<'_>) -> Markup {
    let anomaly = root.anomaly;
    let witness = DrawnWitness::new(model, anomaly);
    let label = format!("The clients involved in {}, over time", text::clip(&anomaly.kind, 60));
    let messages = consensus::picture(model, Some(anomaly));
    let shown = messages
        .as_ref()
        .and_then(|picture| cause(picture.cause.as_deref()?, true));
    html! {
        p.why { (text::clip(text::first_sentence(&anomaly.why), 400)) }
        @if let Some(cause) = anomaly_cause(anomaly).or(shown) { (cause) }
        @if let Some(mend) = mend_sentence(model, anomaly) { (mend) }
        @match &messages {
            Some(picture) => (message_diagram(picture, Some(anomaly))),
            None => {
                (window::draw_for_all(model, &witness, "witness", &label))
                (legend::window(model, &witness))
            }
        }
        div.below {
            div {
                h3 {
                    "Step by step " button.show.js type="button" data-anomaly=(root.number - 1) { "Show in the timeline" }
                }
                (steps_list(&witness, STEPS))
                @if witness.steps.len() > STEPS + 1 { p.more { a href={ "#a" (root.number) } { "more of its steps" } } }
                (evidence(model, root, &witness))
            }
            (reproduce(model))
        }
        (simulated(model))
        (kinds(model))
        (circumstances(model))
    }
}

/// Whether the first screen has the picture of the anomaly of this number.
pub fn shows_witness(model: &RunModel<'_>, number: usize) -> bool {
    let headline = model.headline().filter(|root| root.number == number);
    headline.is_some() && !consensus::is_drawn(model)
}

/// Whether the first screen has the picture of the whole run.
pub fn shows_run(model: &RunModel<'_>) -> bool {
    model.headline().is_none() && !consensus::is_drawn(model)
}

/// What the anomaly rests on in full, with the faults that were near, folded.
fn evidence(model: &RunModel<'_>, root: &Root<'_>, witness: &DrawnWitness) -> Markup {
    let followers = root.followers.len() + root.more;
    let times = || witness.steps.iter().map(|s| s.time);
    let (from, until) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
    let when = match witness.steps.is_empty() {
        true => "not recorded".into(),
        false => format!("{} – {}", text::moment(from), text::moment(until)),
    };
    html! {
        details.evidence {
            summary { "The evidence in full, and the faults near it" }
            p { (text::clip(&root.anomaly.why, 900)) }
            p.when { b { "When" } " " (when) " \u{2003} " (near(model, root.anomaly, (from, until))) }
        }
        @if followers > 0 { p.more { a href={ "#a" (root.number) } { (follow(followers)) } "." } }
    }
}

/// What was not judged, what the clients' kit did, and where the order of the operations is.
fn circumstances(model: &RunModel<'_>) -> Markup {
    html! {
        (not_judged(model))
        (by_kit(model))
        (order(model))
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
        @match consensus::picture(model, None) {
            Some(picture) => (message_diagram(&picture, None)),
            None => (run::picture(model)),
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

/// The faults that were near an anomaly, by the span of the checkers; nothing without one. Their span is named where it
/// is not that of the steps: what never ends after the recovery may have been broken long before.
fn near(model: &RunModel<'_>, anomaly: &Anomaly, steps: (u64, u64)) -> Markup {
    let Some(span) = anomaly.span else {
        return Markup::default();
    };
    let timeout = text::millis(model.record.plan.cluster.timing.session_ms);
    let timeout = timeout.replace(".00 ", " ").replace(".0 ", " ");
    // A network has no sessions; the time is the same.
    let ended = match model.record.plan.on {
        On::Network => format!("or ended less than {timeout} before"),
        On::Docker | On::Sim => format!("or ended less than one session timeout ({timeout}) before"),
    };
    let on = match span {
        AnomalySpan::Between(from, until) if (from, until) == steps => format!("on, {ended}"),
        AnomalySpan::Between(from, until) => format!("on in {} – {}, {ended}", text::moment(from), text::moment(until)),
        AnomalySpan::Any => "on at any time".to_owned(),
    };
    let bands: Vec<&Band> = model.bands_near(span).collect();
    match bands.is_empty() {
        true => html! { b { "Faults" } " none " (on) "." },
        false => html! { b { "Faults " (on) } " " (named(model, &bands)) },
    }
}

/// The first of the faults in words, and how many more there are.
fn named(model: &RunModel<'_>, bands: &[&Band]) -> Markup {
    // One that is left out would take no less room than its number does.
    let shown = if bands.len() > NAMED + 1 { NAMED } else { bands.len() };
    html! {
        @for (at, band) in bands[..shown].iter().enumerate() {
            @if at > 0 { "; " }
            (text::clip(&fault_in_words(model, band), 300))
        }
        @if shown < bands.len() {
            "; " a href="#windows" { "and " (text::grouped(bands.len() - shown)) " more" }
        }
    }
}

/// `pause c3, 9.012 s – 13.999 s (window 2, verified at 9.561 s)`; and why it does not count, if it does not.
fn fault_in_words(model: &RunModel<'_>, band: &Band) -> String {
    let (window, verification) = (numbered(band.id), band.verification());
    format!("{} ({window}{verification}{})", band.course(), not_counted(model, band))
}

/// `, does not count: hit c2 between two operations`; nothing if it counts.
fn not_counted(model: &RunModel<'_>, band: &Band) -> String {
    let of = |window: &&WindowResult| i64::try_from(window.id) == Ok(band.id);
    let window = model.results.windows.iter().find(of);
    match window.map(|window| window.why.as_str()).filter(|why| !why.is_empty()) {
        _ if band.counts => String::new(),
        Some(why) => format!(", does not count: {}", text::clip(why, 120)),
        None => ", does not count".into(),
    }
}

/// That no ZooKeeper took part, if none did.
fn simulated(model: &RunModel<'_>) -> Markup {
    match model.record.plan.on {
        On::Docker => Markup::default(),
        On::Network => html! {
            p.note.simulated { b { "The network was simulated" } ", in virtual time. No ZooKeeper took part." }
        },
        On::Sim => html! {
            p.note.simulated {
                b { "The ensemble was simulated" } ": a model of ZooKeeper in virtual time. No ZooKeeper took part; "
                code { "replay --on docker" } " runs the plan on a real ensemble."
            }
        },
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

/// `3 servers and 1 observer of ZooKeeper 3.8.0`: the versions are those that the servers report.
fn ensemble(model: &RunModel<'_>) -> String {
    let cluster = &model.record.plan.cluster;
    let observers = text::if_any(cluster.observers, |some| {
        format!(" and {}", text::count(some, "observer"))
    });
    if let Some(nodes) = network_nodes(model) {
        return text::count(nodes, "node");
    }
    if !model.record.plan.on.is_real() {
        return text::count(cluster.servers, "simulated server") + &observers;
    }
    let samples = model.record.servers.iter().flatten();
    let versions = samples.map(|sample| sample.version.as_str());
    let versions: BTreeSet<&str> = versions.filter(|version| !version.is_empty()).collect();
    let versions: Vec<&str> = versions.into_iter().take(4).collect();
    let of = match versions.as_slice() {
        [] => String::new(),
        versions => format!(" of ZooKeeper {}", text::clip(&versions.join(" and "), 60)),
    };
    format!("{}{observers}{of}", text::count(cluster.servers, "server"))
}

/// The diagram of the messages that lead to an anomaly or, without one, to the first decision or leader.
fn message_diagram(picture: &ConsensusPicture, anomaly: Option<&Anomaly>) -> Markup {
    let label = match anomaly {
        Some(anomaly) => format!(
            "The messages that lead to {}, time downwards",
            text::clip(&anomaly.kind, 60)
        ),
        None => "The messages up to the first decision or leader, time downwards".to_owned(),
    };
    html! {
        div.diagram {
            (messages::draw(&picture.diagram, "messages", &label))
            @for sentence in &picture.sentences { p { (text::clip(sentence, 600)) } }
            p.note { (picture.caption) }
        }
    }
}

/// How many nodes a network has; `None` of a run that is no network's.
fn network_nodes(model: &RunModel<'_>) -> Option<usize> {
    let names = node_names(&model.record.history.events);
    (!names.is_empty()).then_some(names.len())
}

/// The command lines that reproduce the run, without those longer than [`LONGEST_LINE`]; at most 8.
pub fn commands<'a>(model: &RunModel<'a>) -> impl Iterator<Item = &'a String> {
    let lines = model.extras.reproduce.iter();
    lines.filter(|line| line.len() <= LONGEST_LINE).take(8)
}

/// The command lines that reproduce the run, to be seen and copied; nothing if there are none.
fn reproduce(model: &RunModel<'_>) -> Markup {
    let mut lines = commands(model).peekable();
    if lines.peek().is_none() {
        return Markup::default();
    }
    html! {
        div {
            h3 { "See it again " button #ticket .show.js type="button" { "Copy for a ticket" } }
            pre.commands { @for line in lines { code { (command(line)) } "\n" } }
        }
    }
}

/// A command that is broken only between options, so that each stays with its value.
fn command(line: &str) -> Markup {
    html! {
        @for (at, words) in line.split(" --").enumerate() {
            @if at > 0 { " " }
            span { @if at > 0 { "--" } (text::visible(words)) }
        }
    }
}

/// What a run that goes on does, in place of the sentence of a verdict.
fn activity(progress: &RunProgress) -> Markup {
    html! {
        p.sentence { (text::clip(&progress.activity, 200)) }
        (news_note(
            progress,
            "What is below is known so far; the verdict comes at the end, and the page grows until then."
        ))
    }
}

/// The page of a run that has recorded nothing yet.
pub fn waiting(progress: &RunProgress) -> String {
    Document {
        title: "coming up",
        styles: &[PAGE_STYLE],
        body: html! {
            main {
                h1 { (text::clip(&progress.activity, 200)) }
                (news_note(progress, "The report follows as soon as the clients work."))
            }
        },
        scripts: &[LIVE_SCRIPT],
        grows: true,
        ..Document::default()
    }
    .page()
}

fn news_note(progress: &RunProgress, words: &str) -> Markup {
    html! { p #live .note data-of=(text::visible(&progress.version)) { (words) } }
}
