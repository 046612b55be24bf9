//! The matrix: variants down, faults across, a line for each seed.

use super::{AnomalyCount, Cell, CellOutcome, Night};
use crate::html::{titled, unjudged_checks};
use crate::{lists, text};
use maud::{Markup, html};

/// The variants and the faults of a night, each in the order of its first cell.
pub fn axes(night: &Night) -> (Vec<&str>, Vec<&str>) {
    let variants = night.cells.iter().map(|cell| cell.variant.as_str());
    let faults = night.cells.iter().map(|cell| cell.faults.as_str());
    (
        lists::distinct(variants, usize::MAX),
        lists::distinct(faults, usize::MAX),
    )
}

pub fn section(night: &Night) -> Markup {
    let (variants, faults) = axes(night);
    let body = html! {
        p.legend {
            @for outcome in CellOutcome::ALL {
                span class={ "o-" (outcome.class()) } { b { (outcome.sign()) } " " (outcome.words()) }
            }
        }
        div.wide {
            table.matrix {
                thead { tr { td {} @for list in &faults { th scope="col" { (head(list)) } } } }
                tbody { @for variant in variants { (row(night, variant, &faults)) "\n" } }
            }
        }
    };
    titled("matrix", "Variants under faults", body)
}

/// A list of faults, which may be broken after each comma.
fn head(faults: &str) -> Markup {
    html! {
        @for (at, fault) in text::clip(faults, 80).split(',').enumerate() {
            @if at > 0 { "," wbr; }
            (fault)
        }
    }
}

fn row(night: &Night, variant: &str, faults: &[&str]) -> Markup {
    let (family, name) = variant.split_once('/').unwrap_or(("", variant));
    html! {
        tr {
            th scope="row" { span.family { (text::clip(family, 40)) "/" } (text::clip(name, 60)) }
            @for list in faults { (place(night, variant, list)) }
        }
    }
}

fn place(night: &Night, variant: &str, faults: &str) -> Markup {
    let mut cells = night.cells_at(variant, faults).peekable();
    match cells.peek() {
        None => html! { td.empty { span.o-none { "another part" } } },
        Some(_) => html! { td { @for one in cells { (cell(one)) } } },
    }
}

fn cell(cell: &Cell) -> Markup {
    let attempt = cell.decisive();
    let anomalies = attempt.iter().flat_map(|attempt| &attempt.anomalies);
    let words = match (cell.outcome, attempt.and_then(|attempt| attempt.verdict.as_deref())) {
        (CellOutcome::Expected, Some("valid")) => "valid",
        (CellOutcome::Expected, Some("invalid")) => "as known",
        (outcome, _) => outcome.words(),
    };
    let label = html! { b { (cell.outcome.sign()) } " " span { (words) } };
    html! {
        div class={ "cell o-" (cell.outcome.class()) } {
            @match attempt.and_then(|attempt| attempt.run.as_ref()) {
                Some(run) => a href={ (text::visible(run)) "/report.html" } { (label) },
                None => (label),
            }
            @if cell.attempts.len() > 1 { " " small { "after " (cell.attempts.len()) " runs" } }
            " " small { (cell.seed_shown()) }
            @for anomaly in anomalies.filter(|anomaly| !anomaly.advisory && anomaly.root.is_none()) {
                (chip(anomaly, attempt.map_or(&[], |attempt| &attempt.anomalies)))
            }
            (unjudged_checks(attempt.into_iter().flat_map(|attempt| &attempt.not_judged)))
        }
    }
}

/// A root among the anomalies of a run, with whether it is known and what follows from it.
fn chip(anomaly: &AnomalyCount, all: &[AnomalyCount]) -> Markup {
    let (class, note) = match anomaly.accepted {
        true => ("known", "known"),
        false => ("news", "new"),
    };
    html! {
        span class={ "seen " (class) } title=(text::clip(&anomaly.why, 300)) {
            (text::clip(&anomaly.counted(all), 120)) " " i { (note) }
        }
    }
}
