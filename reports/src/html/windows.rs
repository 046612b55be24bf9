//! Fault windows: those that count for the verdict, and those that do not, with the reason.

use super::{mark, plain};
use crate::model::RunModel;
use crate::palette;
use crate::text;
use maud::{Markup, html};
use zooquake_checkers::results::WindowResult;

/// How many are listed.
const SHOWN: usize = 500;

pub fn section(model: &RunModel<'_>) -> Markup {
    let windows = &model.results.windows;
    // What did not count comes first: it is what a reader has to act upon.
    let (counting, others): (Vec<_>, Vec<_>) = windows.iter().partition(|w| w.counts);
    let order = others.into_iter().chain(counting);
    let heads = [
        "no.", "fault", "target", "struck", "verified", "healed", "lasted", "counts", "why",
    ];
    let body = html! {
        @if windows.is_empty() {
            p { "None were planned." }
        } @else {
            (super::table("windows", heads, order.take(SHOWN).map(|window| row(model, window))))
        }
        @if windows.len() > SHOWN {
            p { "And " (text::count(windows.len() - SHOWN, "more window")) ", in results.json." }
        }
    };
    super::titled("windows", &format!("Fault windows ({} counted)", counted(model)), body)
}

/// `3 of 4`: windows that count.
pub fn counted(model: &RunModel<'_>) -> String {
    let windows = &model.results.windows;
    let counted = windows.iter().filter(|window| window.counts).count();
    format!("{counted} of {}", windows.len())
}

/// A kind of fault, with its colour.
pub fn fault(kind: &str) -> Markup {
    html! { i class={ "key fault " (palette::fault_class(kind)) } {} (text::clip(kind, 40)) }
}

fn row(model: &RunModel<'_>, w: &WindowResult) -> [Markup; 9] {
    let band = i64::try_from(w.id).ok().and_then(|id| model.band(id));
    let struck = band.map(|band| band.from).or(w.from);
    let until = match struck {
        Some(_) => w.until.map_or("never healed".into(), text::moment),
        None => "–".into(),
    };
    let lasted = struck.zip(w.until).map(|(f, u)| text::duration(u.saturating_sub(f)));
    [
        plain(w.id),
        fault(&w.fault),
        plain(text::clip(&w.target.replace(',', ", "), text::LONG)),
        plain(struck.map_or("–".into(), text::moment)),
        plain(w.from.map_or("–".into(), text::moment)),
        plain(until),
        plain(lasted.unwrap_or_else(|| "–".into())),
        mark(w.counts, [" counts", " does not"]),
        plain(text::clip(&w.why, 300)),
    ]
}
