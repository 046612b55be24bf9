//! The whole run: the timeline that zooms or, where there is no JavaScript and on paper, the overview.

use crate::model::Story;
use crate::svg::{legend, overview};
use crate::text;

/// The section.
pub fn section(story: &Story<'_>) -> String {
    // Without an anomaly to open with, the overview is on the first screen already.
    let (overview, legend_of) = match story.headline() {
        Some(_) => (
            format!("<div class=\"no-js\">{}</div>\n", overview::draw(story, "overview")),
            "legends",
        ),
        None => (String::new(), "legends js"),
    };
    let last = story.phases.last().map(|p| text::escape(&p.name)).unwrap_or_default();
    let cut_off = match last.as_str() {
        "done" => String::new(),
        "" => "<p class=\"note\">The history tells of no phases.</p>".into(),
        _ => format!("<p class=\"note\">The history ends in phase “{last}”: the run was cut off.</p>"),
    };
    let timeline = timeline();
    let body = format!(
        "{cut_off}{overview}{timeline}<div class=\"{legend_of}\">{}</div>\
         <noscript><p class=\"note\">The timeline that zooms needs JavaScript; everything else on this page does not.</p></noscript>\n",
        legend::overview(story)
    );
    super::titled("run", "The whole run", &body)
}

/// The timeline, empty: the script draws it.
fn timeline() -> String {
    let button = |motion: &str, words: &str, label: &str| {
        format!(
            "<button type=\"button\" data-do=\"{motion}\" aria-label=\"{label}\" title=\"{label}\">{words}</button>"
        )
    };
    let tools = [
        button("in", "+", "zoom in (+)"),
        button("out", "−", "zoom out (−)"),
        button("left", "←", "earlier (←)"),
        button("right", "→", "later (→)"),
        button("all", "whole run", "the whole run (0)"),
    ];
    let leave = [
        button("previous", "previous", "the anomaly before (p)"),
        button("next", "next", "the next anomaly (n)"),
        button("all", "back to the whole run", "back to the whole run (Escape)"),
    ];
    format!(
        "<div id=\"timeline\" class=\"js\">\n<div class=\"tools\" role=\"toolbar\" aria-label=\"Timeline\">{}\
         <output id=\"range\"></output><span id=\"filters\"></span></div>\n\
         <div id=\"chosen\" class=\"tools\" hidden><b id=\"chosen-name\"></b> <span>only the steps that prove it</span>\
         <label><input type=\"checkbox\" id=\"around\"> and what happened around them</label>{}</div>\n\
         <div class=\"stage\"><canvas id=\"navigator\" aria-hidden=\"true\"></canvas>\
         <canvas id=\"canvas\" tabindex=\"0\" role=\"application\" aria-label=\"Timeline of all operations\" \
         aria-describedby=\"hint range\"></canvas><div id=\"tip\" role=\"status\"></div></div>\n\
         <div id=\"proof\"></div>\n\
         <p class=\"hint\" id=\"hint\">Drag to move; shift and drag, or drag in the strip, to zoom into a part; Ctrl and wheel, or wheel \
         after a click, or two fingers, to zoom; keys ← → + − 0, n and p for anomalies. Point at a bar for what it was.</p>\n</div>\n",
        tools.concat(),
        leave.concat(),
    )
}
