//! All anomalies, each with the events that prove it.

use super::first::accepted;
use crate::model::{RunModel, Step};
use crate::svg::window;
use crate::text;
use zooquake_checkers::Anomaly;

/// How many are shown; the others are in `results.json`.
const SHOWN: usize = 100;
/// How many get a picture of their own.
const PICTURES: usize = 8;

pub fn section(model: &RunModel<'_>) -> String {
    let anomalies = &model.results.anomalies;
    let mut body = String::new();
    if anomalies.is_empty() {
        body.push_str("<p>None.</p>\n");
    }
    for (i, anomaly) in anomalies.iter().take(SHOWN).enumerate() {
        body.push_str(&one(model, anomaly, i));
    }
    if anomalies.len() > SHOWN {
        body.push_str(&format!(
            "<p>And {}, in results.json.</p>\n",
            text::count(anomalies.len() - SHOWN, "more anomaly")
        ));
    }
    super::titled(
        "anomalies",
        &format!("Anomalies ({})", text::grouped(anomalies.len())),
        &body,
    )
}

fn one(model: &RunModel<'_>, anomaly: &Anomaly, i: usize) -> String {
    let steps = model.steps(anomaly);
    let label = format!("The clients involved in anomaly {}, over time", i + 1);
    let picture = match (i, steps.is_empty()) {
        (0..PICTURES, false) => window::draw(model, &steps, &format!("w{}", i + 1), &label),
        _ => String::new(),
    };
    let left_out = anomaly.witness.len() - steps.len();
    let left_out = if left_out > 0 {
        format!("<p class=\"more\">{} not shown</p>", text::count(left_out, "step"))
    } else {
        String::new()
    };
    let note = accepted(model, anomaly)
        .map(|w| format!("<p class=\"accepted\">Known and accepted: {w}</p>"))
        .unwrap_or_default();
    format!(
        "<details class=\"anomaly\" id=\"a{n}\"{open}><summary><span class=\"no\">{n}</span> {} <span class=\"prop\">{}</span> \
         <span class=\"at\">{}</span> <button type=\"button\" class=\"show js\" data-anomaly=\"{i}\">Show in the timeline</button></summary>\n\
         <p>{}</p>{note}{picture}{}{left_out}</details>\n",
        badge(anomaly),
        text::html(&anomaly.property, 80),
        steps.last().map(|s| text::moment(s.time)).unwrap_or_default(),
        text::html(&anomaly.why, 2000),
        steps_list(&steps),
        n = i + 1,
        open = if i < 3 { " open" } else { "" },
    )
}

/// The kind of an anomaly, with what it means for the verdict.
pub fn badge(anomaly: &Anomaly) -> String {
    let kind = text::html(&anomaly.kind, 60);
    let (class, note) = match (anomaly.advisory, anomaly.accepted) {
        (true, true) => ("advisory", " <i>advisory, known and accepted</i>"),
        (true, false) => ("advisory", " <i>advisory</i>"),
        (false, true) => ("violation known", " <i>known and accepted</i>"),
        (false, false) => ("violation", ""),
    };
    format!("<span class=\"badge {class}\">{kind}{note}</span>")
}

/// The steps as a numbered list; the numbers are those of the picture.
pub fn steps_list(steps: &[Step]) -> String {
    let mut out = String::from("<ol class=\"steps\">");
    for (i, step) in steps.iter().enumerate() {
        let last = if i + 1 == steps.len() { " last" } else { "" };
        out.push_str(&format!(
            "<li value=\"{n}\"><span class=\"no{last}\">{n}</span><span class=\"at\">{}</span><b>{}</b> \
             <span title=\"{}\">{}</span> <span class=\"idx\">event {}</span></li>",
            text::moment(step.time),
            text::escape(&step.who),
            text::escape(&step.value),
            text::html(&step.what, 320),
            step.index,
            n = step.number,
        ));
    }
    out + "</ol>"
}
