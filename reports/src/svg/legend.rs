//! What the marks of the pictures mean, in the words of the run's family.

use super::{Screen, overview, window};
use crate::model::{Band, DrawnHold, DrawnOperation, DrawnWitness, Mark, OperationOutcome, RunModel};
use crate::{palette, text};
use maud::{Markup, html};

/// One key: its mark, and what that means.
pub fn key(class: &str, sign: &str, words: &str) -> Markup {
    html! { span { i class={ "key " (class) } { (sign) } (words) } }
}

/// Of the picture of one anomaly: only what is to be seen in it.
pub fn window(model: &RunModel<'_>, witness: &DrawnWitness) -> Markup {
    let (scale, rows) = window::view(model, witness, Screen::Wide);
    let seen = |lane: usize, from, until| rows.contains(&lane) && scale.shows(from, until);
    let ops: Vec<&DrawnOperation> = model.ops.iter().filter(|op| seen(op.lane, op.start, op.end)).collect();
    let ended: Vec<&DrawnOperation> = ops.iter().copied().filter(|op| window::marked(op, &scale)).collect();
    let marks = model.terms.marks(&ended).into_iter();
    let marks = marks.map(|(mark, words)| match mark {
        Mark::Refused => key("refused", "✗", words),
        Mark::No => key("said-no", "–", words),
        Mark::Took | Mark::Nothing => key("took", "✓", words),
    });
    let unmarked = |outcome| {
        ended
            .iter()
            .any(|op| op.outcome == outcome && op.mark() == Mark::Nothing)
    };
    let holds = model.holds.iter().filter(|h| seen(h.lane, h.from, h.until));
    let bands: Vec<&Band> = model.bands.iter().filter(|b| scale.shows(b.from, b.until)).collect();
    let on: Vec<&str> = bands.iter().map(|b| b.fault.as_str()).collect();
    html! {
        p.legend {
            (spans(model, &ops, holds))
            @for mark in marks { (mark) }
            @if unmarked(OperationOutcome::Fail) { (key("bad", "×", "failed")) }
            @if unmarked(OperationOutcome::Info) { (key("unknown", "?", "outcome unknown")) }
            @if window::shows_expiry(model, &scale, &rows) { (key("bad", "✕", "its session was expired by the ensemble")) }
            (key("num", "1", "step below"))
            @match &witness.cause {
                Some(cause) if cause.proven => (key("cause", "→", "from its cause")),
                Some(_) => (key("cause", "⇢", "from what may be its cause")),
                None => "",
            }
            (faults(model.fault_kinds().into_iter().filter(|kind| on.contains(kind))))
            (strikes(bands.into_iter()))
        }
    }
}

/// Of the picture of the whole run.
pub fn overview(model: &RunModel<'_>) -> Markup {
    let ops: Vec<&DrawnOperation> = model.ops.iter().collect();
    html! {
        p.legend {
            (spans(model, &ops, model.holds.iter()))
            (key("bad", "×", "failed"))
            (key("bad", "○", "outcome unknown"))
            (key("flag", "▼", "anomaly"))
            @if !model.servers.is_empty() {
                (key("leads", "", "server leads the ensemble"))
                (key("follows", "", "follows"))
                (key("silent", "", "silent"))
            }
            (overview::sessions_legend(&model.sessions))
            (faults(model.fault_kinds().into_iter()))
            (strikes(model.bands.iter()))
        }
    }
}

/// Holds, and operations by what they are for.
fn spans<'h>(
    model: &RunModel<'_>,
    ops: &[&DrawnOperation<'_>],
    holds: impl Iterator<Item = &'h DrawnHold<'h>>,
) -> Markup {
    html! {
        @for (shared, words) in model.terms.holds(holds) { (key(palette::hold_class(shared), "", &words)) }
        @for (role, words) in model.terms.roles(ops) { (key(palette::role_class(role), "", words)) }
    }
}

/// That a band has a paler part, if one has.
fn strikes<'b>(mut bands: impl Iterator<Item = &'b Band>) -> Markup {
    match bands.any(|band| band.verified != Some(band.from)) {
        true => key("strike", "", "paler: struck, effect not verified yet"),
        false => Markup::default(),
    }
}

/// Kinds of fault.
fn faults<'k>(kinds: impl Iterator<Item = &'k str>) -> Markup {
    html! {
        @for kind in kinds { (key(&format!("fault {}", palette::fault_class(kind)), "", &text::clip(kind, 30))) }
    }
}
