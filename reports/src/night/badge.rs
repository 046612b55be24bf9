//! A badge for a README or a CI page: one line that says what came of a night, as an SVG that loads nothing.

use super::{CellOutcome, Night, Standing};
use maud::html;

/// What a badge says at the left.
const LABEL: &str = "zooquake";

/// The badge of a night: what is worst in it, counted, in the colour of its exit code.
pub fn of_night(night: &Night) -> String {
    let (new, still) = (
        night.failures_of(Standing::NewTonight).len(),
        night.failures_of(Standing::StillThere).len(),
    );
    let words = match night.code {
        0 => format!("{} as expected", night.count(CellOutcome::Expected)),
        1 => [(new, "new"), (still, "still there")]
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, words)| format!("{count} {words}"))
            .collect::<Vec<_>>()
            .join(", "),
        2 => "unknown".to_string(),
        _ => "harness failed".to_string(),
    };
    svg(&words, night.code)
}

/// An image of 20 pixels of height; `code` is a night's exit code, which decides its colour.
fn svg(words: &str, code: u8) -> String {
    let colour = match code {
        0 => "#2e7d32",
        1 => "#b71c1c",
        _ => "#555",
    };
    let (left, right) = (width(LABEL), width(words));
    let all = left + right;
    let title = format!("{LABEL}: {words}");
    let at = |from: usize, width: usize| (from + width / 2).to_string();
    let image = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(all) height="20" role="img" aria-label=(title) {
            title { (title) }
            rect width=(left) height="20" fill="#333" {}
            rect x=(left) width=(right) height="20" fill=(colour) {}
            g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" {
                text x=(at(0, left)) y="14" textLength=(left - MARGIN) { (LABEL) }
                text x=(at(left, right)) y="14" textLength=(right - MARGIN) { (words) }
            }
        }
    };
    image.into_string()
}

/// What a text has of air beside it, in pixels.
const MARGIN: usize = 12;

/// The width of a text of this font and size with its margins, in pixels; `textLength` fits the text to it.
fn width(text: &str) -> usize {
    text.chars().count() * 13 / 2 + MARGIN
}
