//! All anomalies, each with the events that prove it.

use super::first::accepted;
use crate::model::{RunModel, WitnessStep};
use crate::svg::window;
use crate::text;
use maud::{Markup, html};
use zooquake_checkers::Anomaly;

/// How many are shown; the others are in `results.json`.
const SHOWN: usize = 100;
/// How many get a picture of their own.
const PICTURES: usize = 8;
/// How many are unfolded from the start.
const OPEN: usize = 3;

pub fn section(model: &RunModel<'_>) -> Markup {
    let anomalies = &model.results.anomalies;
    let body = html! {
        @if anomalies.is_empty() { p { "None." } }
        @for (i, anomaly) in anomalies.iter().take(SHOWN).enumerate() { (details(model, anomaly, i)) "\n" }
        @if anomalies.len() > SHOWN {
            p { "And " (text::count(anomalies.len() - SHOWN, "more anomaly")) ", in results.json." }
        }
    };
    let heading = format!("Anomalies ({})", text::grouped(anomalies.len()));
    super::titled("anomalies", &heading, body)
}

fn details(model: &RunModel<'_>, anomaly: &Anomaly, i: usize) -> Markup {
    let steps = model.steps(anomaly);
    let label = format!("The clients involved in anomaly {}, over time", i + 1);
    let left_out = anomaly.witness.len() - steps.len();
    html! {
        details #{ "a" (i + 1) } .anomaly open[i < OPEN] {
            summary {
                span.no { (i + 1) } " " (badge(anomaly)) " "
                span.prop { (text::clip(&anomaly.property, 80)) } " "
                span.at { (steps.last().map(|step| text::moment(step.time)).unwrap_or_default()) } " "
                button.show.js type="button" data-anomaly=(i) { "Show in the timeline" }
            }
            p { (text::clip(&anomaly.why, 2000)) }
            @if let Some(why) = accepted(model, anomaly) { p.accepted { "Known and accepted: " (why) } }
            @if i < PICTURES && !steps.is_empty() {
                (window::draw(model, &steps, &format!("w{}", i + 1), &label))
            }
            (steps_list(&steps))
            @if left_out > 0 { p.more { (text::count(left_out, "step")) " not shown" } }
        }
    }
}

/// The kind of an anomaly, with what it means for the verdict.
pub fn badge(anomaly: &Anomaly) -> Markup {
    let (class, note) = match (anomaly.advisory, anomaly.accepted) {
        (true, true) => ("advisory", "advisory, known and accepted"),
        (true, false) => ("advisory", "advisory"),
        (false, true) => ("violation known", "known and accepted"),
        (false, false) => ("violation", ""),
    };
    html! {
        span class={ "badge " (class) } {
            (text::clip(&anomaly.kind, 60))
            @if !note.is_empty() { " " i { (note) } }
        }
    }
}

/// The steps as a numbered list; the numbers are those of the picture.
pub fn steps_list(steps: &[WitnessStep]) -> Markup {
    html! {
        ol.steps {
            @for (i, step) in steps.iter().enumerate() {
                li value=(step.number) {
                    span.no.last[i + 1 == steps.len()] { (step.number) }
                    span.at { (text::moment(step.time)) }
                    b { (text::visible(&step.who)) } " "
                    span title=(text::visible(&step.value)) { (text::clip(&step.what, 320)) } " "
                    span.idx { "event " (step.index) }
                }
            }
        }
    }
}
