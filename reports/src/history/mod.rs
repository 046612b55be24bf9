//! The page of a history that is searched for an order: its operations, and how far an order of them reaches.

mod chart;
mod words;

use crate::html::{Document, PAGE_STYLE};
use crate::{publish, text};
use anyhow::{Context, Result};
use maud::{Markup, html};
use std::path::Path;
use zooquake_checkers::search::picture::{HistoryPicture, ObjectPicture, OperationBar};
use zooquake_checkers::{Anomaly, Results, Verdict};

/// What the page shows beside the history and its results.
#[derive(Debug, Clone, Default)]
pub struct HistoryExtras {
    /// The name of the history.
    pub name: String,
    /// The zooquake that checked it; empty where nothing states it.
    pub checked_by: String,
    /// What the search for a verdict was allowed, in words; empty if the verdict is of no search.
    pub budget: String,
    /// What is left out of the order, and why, as a sentence; empty if nothing is.
    pub remark: String,
}

/// How many anomalies and reasons are written out.
const WRITTEN: usize = 10;

/// How large a page may be, in bytes.
const LARGEST: usize = 1_000_000;

/// The page, as a file of less than a megabyte: where it would be more, the values in it are cut sooner.
pub fn page(picture: &HistoryPicture, results: &Results, extras: &HistoryExtras) -> String {
    let page = |picture: &HistoryPicture| drawn(picture, results, extras);
    let shorter = [60, 12].into_iter().map(|most| page(&cut(picture, most)));
    let mut pages = std::iter::once_with(|| page(picture)).chain(shorter);
    pages.find(|page| page.len() < LARGEST).unwrap_or_else(|| {
        let none = HistoryPicture {
            left_out: picture.objects.len() + picture.left_out,
            ..HistoryPicture::default()
        };
        page(&none)
    })
}

/// The same with texts of so many characters at most.
fn cut(picture: &HistoryPicture, most: usize) -> HistoryPicture {
    let mut picture = picture.clone();
    let shorten = |words: &mut String| *words = text::clip(words, most);
    for object in &mut picture.objects {
        for bar in &mut object.bars {
            [&mut bar.f, &mut bar.asked, &mut bar.answered]
                .into_iter()
                .for_each(shorten);
            bar.error.iter_mut().for_each(shorten);
        }
        if let Ok(order) = &mut object.order {
            order.steps.iter_mut().for_each(|step| shorten(&mut step.state));
        }
    }
    picture
}

fn drawn(picture: &HistoryPicture, results: &Results, extras: &HistoryExtras) -> String {
    let title = format!("{} – {}", words::verdict(results.verdict), text::clip(&extras.name, 80));
    let body = html! {
        main {
            header {
                h1 { b class=(class(results.verdict)) { (words::verdict(results.verdict)) } " " (text::clip(&extras.name, 200)) }
            }
            (findings(picture, results)) "\n"
            section #operations {
                h2 { "Operations" }
                @if !extras.remark.is_empty() { p.note { (text::clip(&extras.remark, 400)) } }
                (objects(picture, results))
            }
            (check(picture, results, extras))
        }
    };
    Document {
        title: &title,
        styles: &[PAGE_STYLE, include_str!("../../assets/history.css")],
        class: "history",
        body,
        scripts: &[include_str!("../../assets/history.js")],
        ..Document::default()
    }
    .page()
}

/// Writes the page.
///
/// # Errors
/// If it cannot be written.
pub fn write(picture: &HistoryPicture, results: &Results, extras: &HistoryExtras, path: &Path) -> Result<()> {
    publish(path, page(picture, results, extras)).with_context(|| format!("cannot write {}", path.display()))
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Valid => "yes",
        Verdict::Invalid | Verdict::Unknown => "no",
    }
}

/// How the history was checked.
fn check(picture: &HistoryPicture, results: &Results, extras: &HistoryExtras) -> Markup {
    html! {
        section #check {
            h2 { "The check" }
            table {
                @if !picture.model.is_empty() {
                    tr { th scope="row" { "model" } td { (text::clip(&picture.model, 60)) } }
                }
                @if !extras.budget.is_empty() {
                    tr {
                        th scope="row" { "budget" }
                        td { (text::clip(&extras.budget, 120)) "; " (words::used_up(results)) }
                    }
                }
                @if !extras.checked_by.is_empty() {
                    tr { th scope="row" { "checked by" } td { "zooquake " (text::clip(&extras.checked_by, 80)) } }
                }
            }
        }
    }
}

fn findings(picture: &HistoryPicture, results: &Results) -> Markup {
    let (anomalies, reasons) = (&results.anomalies, &results.reasons);
    html! {
        section #why {
            @for (at, anomaly) in anomalies.iter().take(WRITTEN).enumerate() {
                (sentence(at, anomaly))
                (proof(picture, at, anomaly)) "\n"
            }
            (more(anomalies.len(), "anomaly is", "anomalies are"))
            @if !reasons.is_empty() {
                ul { @for reason in reasons.iter().take(WRITTEN) { li { (text::clip(reason, 1000)) } } }
                (more(reasons.len(), "reason is", "reasons are"))
            }
        }
    }
}

/// The operations that prove an anomaly by themselves, each with all of its values; nothing where they are not shown.
fn proof(picture: &HistoryPicture, at: usize, anomaly: &Anomaly) -> Markup {
    let has = |event: usize| anomaly.witness.contains(&event);
    let proves = |bar: &&OperationBar| has(bar.from) || bar.to.is_some_and(has);
    let object = picture.objects.iter().find(|object| object.anomalies.contains(&at));
    let bars: Vec<OperationBar> = object
        .into_iter()
        .flat_map(|object| &object.bars)
        .filter(proves)
        .cloned()
        .collect();
    let alone = ObjectPicture {
        key: None,
        stuck: bars.iter().position(|bar| Some(bar.from) == anomaly.stuck),
        operations: bars.len(),
        order: Err(String::new()),
        anomalies: vec![at],
        bars,
    };
    html! {
        @if !alone.bars.is_empty() { (chart::draw(&format!("proof-{}", at + 1), &alone)) }
    }
}

fn more(all: usize, one: &str, many: &str) -> Markup {
    let left = all.saturating_sub(WRITTEN);
    html! {
        @if left > 0 { p.note { (text::grouped(left)) " more " (if left == 1 { one } else { many }) " not shown." } }
    }
}

fn sentence(at: usize, anomaly: &Anomaly) -> Markup {
    let class = if anomaly.advisory {
        "badge advisory"
    } else {
        "badge violation"
    };
    html! {
        div.anomaly id={ "a" (at + 1) } {
            span class=(class) { (text::clip(&anomaly.kind, 60)) }
            span.prop { (text::clip(&anomaly.property, 80)) }
            p { (text::clip(&anomaly.why, 2000)) }
        }
    }
}

fn objects(picture: &HistoryPicture, results: &Results) -> Markup {
    let shown = &picture.objects;
    html! {
        @match shown.as_slice() {
            [] => p.note {
                "No operation is shown: this history is judged by the checkers of its family, or not at all, and no order of its \
                 operations is searched for."
            },
            [one] if one.key.is_none() => (object(0, one)),
            _ => @for (at, one) in shown.iter().enumerate() {
                details.object name="object" open[at == 0] {
                    summary { (words::summary(one, results)) }
                    (object(at, one))
                }
                "\n"
            },
        }
        @if picture.left_out > 0 {
            p.note { (words::left_out(picture.left_out)) }
        }
    }
}

/// The operations of one object, and their order.
fn object(at: usize, one: &ObjectPicture) -> Markup {
    html! {
        p { (words::shown(one)) }
        @match &one.order {
            Ok(order) => @for line in words::order(order, one) { p { (text::clip(&line, 2000)) } },
            Err(why) => p { "No order is shown: " (text::clip(why, 600)) "." },
        }
        @if !one.bars.is_empty() {
            (chart::legend(&at.to_string(), one))
            (chart::draw(&at.to_string(), one))
            (steps(one))
        }
    }
}

/// The order as a table, for those without a pointer.
fn steps(one: &ObjectPicture) -> Markup {
    let Ok(order) = &one.order else { return html! {} };
    html! {
        @if !order.steps.is_empty() {
            details.steps {
                summary { "The order, step by step" }
                table.numbers {
                    tr { th { "step" } th { "operation" } th { "process" } th { "state after it" } }
                    @for step in &order.steps {
                        @let bar = &one.bars[step.bar];
                        tr {
                            td { (step.number) }
                            td { (text::clip(&words::operation(bar), 120)) @if !step.certain { " (its outcome is unknown)" } }
                            td { (bar.process) }
                            td { (text::clip(&step.state, 120)) }
                        }
                        "\n"
                    }
                }
            }
        }
    }
}
