//! Nights as marks in a row, the newest at the right.

use super::CellOutcome;
use maud::{Markup, html};

/// The width of a night.
const STEP: usize = 14;

/// Draws what came of each night, with words for that; nothing where it is not known. `label` is what a screen reader
/// reads out.
pub fn draw(label: &str, nights: impl ExactSizeIterator<Item = Option<(CellOutcome, Markup)>>) -> Markup {
    let width = STEP * nights.len();
    html! {
        svg.spark role="img" aria-label=(label) width=(width) height="22" viewBox={ "0 0 " (width) " 22" } {
            path.base d={ "M0 19.5H" (width) } {}
            @for (n, night) in nights.enumerate() {
                @if let Some((outcome, words)) = night { (mark(n * STEP + STEP / 2, outcome, &words)) }
            }
        }
    }
}

fn mark(x: usize, outcome: CellOutcome, words: &Markup) -> Markup {
    let title = html! { title { (words) } };
    match outcome {
        CellOutcome::Skipped => Markup::default(),
        CellOutcome::Expected => html! { circle.m-expected cx=(x) cy="15" r="2.5" { (title) } },
        CellOutcome::New => html! { path.m-new d={ "M" (x) " 2V19" } { (title) } },
        CellOutcome::Unknown | CellOutcome::Failed => html! { circle.m-unknown cx=(x) cy="12" r="3.5" { (title) } },
    }
}
