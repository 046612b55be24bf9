//! Faults in words, for the first screen.

use crate::model::{Band, RunModel};
use crate::text;
use maud::{Markup, html};
use zooquake_checkers::analysis::numbered;
use zooquake_checkers::results::WindowResult;
use zooquake_checkers::{Anomaly, AnomalySpan};
use zooquake_history::plan::On;

/// How many are named; of more, their number is given.
const NAMED: usize = 8;

/// The faults that were near an anomaly, by the span of the checkers; nothing without one. Their span is named where it
/// is not that of the steps: what never ends after the recovery may have been broken long before.
pub fn near(model: &RunModel<'_>, anomaly: &Anomaly, steps: (u64, u64)) -> Markup {
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

/// The first of them, and how many more there are.
fn named(model: &RunModel<'_>, bands: &[&Band]) -> Markup {
    // One that is left out would take no less room than its number does.
    let shown = if bands.len() > NAMED + 1 { NAMED } else { bands.len() };
    html! {
        @for (at, band) in bands[..shown].iter().enumerate() {
            @if at > 0 { "; " }
            (text::clip(&in_words(model, band), 300))
        }
        @if shown < bands.len() {
            "; " a href="#windows" { "and " (text::grouped(bands.len() - shown)) " more" }
        }
    }
}

/// `pause c3, 9.012 s – 13.999 s (window 2, verified at 9.561 s)`; and why it does not count, if it does not.
fn in_words(model: &RunModel<'_>, band: &Band) -> String {
    let (window, verification) = (numbered(band.id), band.verification());
    format!("{} ({window}{verification}{})", band.course(), not(model, band))
}

/// `, does not count: hit c2 between two operations`; nothing if it counts.
fn not(model: &RunModel<'_>, band: &Band) -> String {
    let of = |window: &&WindowResult| i64::try_from(window.id) == Ok(band.id);
    let window = model.results.windows.iter().find(of);
    match window.map(|window| window.why.as_str()).filter(|why| !why.is_empty()) {
        _ if band.counts => String::new(),
        Some(why) => format!(", does not count: {}", text::clip(why, 120)),
        None => ", does not count".into(),
    }
}
