//! The parts of the page that only a run that goes on has.

use super::{Document, LIVE_SCRIPT, PAGE_STYLE};
use crate::{RunProgress, text};
use maud::{Markup, html};

/// What goes on, in place of the sentence of a verdict.
pub fn sentence(progress: &RunProgress) -> Markup {
    html! {
        p.sentence { (text::clip(&progress.activity, 200)) }
        (note(
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
                (note(progress, "The report follows as soon as the clients work."))
            }
        },
        scripts: &[LIVE_SCRIPT],
        grows: true,
        ..Document::default()
    }
    .page()
}

fn note(progress: &RunProgress, words: &str) -> Markup {
    html! { p #live .note data-of=(text::visible(&progress.version)) { (words) } }
}
