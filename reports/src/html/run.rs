//! The whole run: the timeline that zooms or, where there is no JavaScript and on paper, the overview.

use crate::model::RunModel;
use crate::svg::{legend, overview};
use crate::text;
use zooquake_checkers::Value;
use zooquake_checkers::plan::On;

pub fn section(model: &RunModel<'_>) -> String {
    // Without an anomaly to open with, the overview is on the first screen already.
    let (overview, legend_of) = match model.headline() {
        Some(_) => (
            format!("<div class=\"no-js\">{}</div>\n", overview::draw(model, "overview")),
            "legends",
        ),
        None => (String::new(), "legends js"),
    };
    let last = model.phases.last().map(|p| text::escape(&p.name)).unwrap_or_default();
    let cut_off = match last.as_str() {
        _ if model.extras.ongoing.is_some() => String::new(),
        "done" => String::new(),
        "" => "<p class=\"note\">The history tells of no phases.</p>".into(),
        _ => format!("<p class=\"note\">The history ends in phase “{last}”: the run was cut off.</p>"),
    };
    let (timeline, confinement) = (timeline(), confinement(model));
    let body = format!(
        "{cut_off}{overview}{timeline}{confinement}<div class=\"{legend_of}\">{}</div>\
         <noscript><p class=\"note\">The timeline that zooms needs JavaScript; everything else on this page does not.</p></noscript>\n",
        legend::overview(model)
    );
    super::titled("run", "The whole run", &body)
}

/// What the run's containers could do; nothing for a history that does not tell it.
fn confinement(model: &RunModel<'_>) -> String {
    if model.record.plan.on == On::Sim {
        return String::new();
    }
    let mut events = model.record.history.events.iter();
    let Some(event) = events.find(|event| event.f == "confinement" && event.is_of("run")) else {
        return String::new();
    };
    let confinement = &event.value;
    let mut facts = Vec::new();
    if confinement["internal_network"] == true {
        facts.push("a network without a way out".to_string());
    }
    if confinement["no_new_privileges"] == true {
        facts.push("no new privileges".to_string());
    }
    let security = names(&confinement["security"]);
    facts.push(match security.is_empty() {
        true => "the engine confines system calls no further".to_string(),
        false => format!("security options of the engine: {security}"),
    });
    let roles = confinement["containers"].as_array().into_iter().flatten().map(|one| {
        let capabilities = Some(names(&one["capabilities"])).filter(|names| !names.is_empty());
        let limit = |name: &str| {
            one[name]
                .as_u64()
                .map_or("any number".to_string(), |most| most.to_string())
        };
        format!(
            "{} as {}: capabilities {}, MiB of memory {}, processes {}",
            one["role"].as_str().unwrap_or("containers"),
            one["user"]
                .as_str()
                .map_or("the user of the image".to_string(), |user| format!("user {user}")),
            capabilities.unwrap_or_else(|| "none".to_string()),
            limit("memory_mib"),
            limit("pids"),
        )
    });
    let items = std::iter::once(facts.join("; ")).chain(roles);
    let items: String = items
        .map(|item| format!("<li>{}</li>", text::html(&item, 300)))
        .collect();
    format!("<details><summary>What the containers could do</summary><ul class=\"facts\">{items}</ul></details>\n")
}

/// Texts of a list, with commas.
fn names(list: &Value) -> String {
    let names = list.as_array().into_iter().flatten().filter_map(Value::as_str);
    names.collect::<Vec<_>>().join(", ")
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
