//! What tells the page of a run that goes on from that of one that is over.

use super::{Document, LIVE_SCRIPT, PAGE_STYLE};
use crate::{Ongoing, text};

/// What goes on, as HTML, in place of what a verdict says.
pub fn sentence(ongoing: &Ongoing) -> String {
    format!(
        "<p class=\"sentence\">{}</p>{}",
        text::html(&ongoing.does, 200),
        note(
            ongoing,
            "What is below is known so far; the verdict comes at the end, and the page grows until then."
        )
    )
}

/// The page of a run that has recorded nothing yet.
pub fn waiting(ongoing: &Ongoing) -> String {
    let body = format!(
        "<main><h1>{}</h1>{}</main>",
        text::html(&ongoing.does, 200),
        note(ongoing, "The report follows as soon as the clients work.")
    );
    Document {
        title: "coming up",
        styles: &[PAGE_STYLE],
        body: &body,
        scripts: &[LIVE_SCRIPT],
        grows: true,
        ..Document::default()
    }
    .page()
}

fn note(ongoing: &Ongoing, says: &str) -> String {
    format!(
        "<p class=\"note\" id=\"live\" data-of=\"{}\">{says}</p>",
        text::escape(&ongoing.of)
    )
}
