//! The whole run: the overview, and the timeline that zooms.

use crate::model::Story;
use crate::svg::{legend, overview};
use crate::text;

/// The section.
pub fn section(story: &Story<'_>) -> String {
    // Without an anomaly to open with, the overview is on the first screen already.
    let overview = if story.headline().is_some() {
        overview::draw(story, "overview") + &legend::overview(story)
    } else {
        String::new()
    };
    let last = story.phases.last().map(|p| text::escape(&p.name)).unwrap_or_default();
    let cut_off = match last.as_str() {
        "done" => String::new(),
        "" => "<p class=\"note\">The history tells of no phases.</p>".into(),
        _ => format!("<p class=\"note\">The history ends in phase “{last}”: the run was cut off.</p>"),
    };
    let body = format!(
        "{cut_off}{overview}\n<div id=\"timeline\" class=\"js\">\n<div class=\"tools\" role=\"toolbar\" aria-label=\"Timeline\">\
         <button type=\"button\" data-do=\"in\">+ zoom in</button><button type=\"button\" data-do=\"out\">− zoom out</button>\
         <button type=\"button\" data-do=\"left\">←</button><button type=\"button\" data-do=\"right\">→</button>\
         <button type=\"button\" data-do=\"all\">whole run</button><span id=\"filters\"></span></div>\n\
         <div class=\"stage\"><canvas id=\"canvas\" tabindex=\"0\" role=\"img\" aria-label=\"Timeline of all operations; arrow keys \
         move, plus and minus zoom, 0 shows the whole run\"></canvas><div id=\"tip\" role=\"status\"></div></div>\n\
         <p class=\"hint\">Drag to move; shift and drag to zoom into a part; Ctrl and wheel, or wheel after a click, to zoom; \
         keys ← → + − 0. Point at a bar for what it was.</p>\n</div>\n\
         <noscript><p class=\"note\">The timeline that zooms needs JavaScript; everything else on this page does not.</p></noscript>\n"
    );
    super::titled("run", "The whole run", &body)
}
