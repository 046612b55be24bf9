//! Runs of scenes, told step by step: what was done, what was seen, and the votes that followed.

use super::table;
use crate::model::Story;
use crate::text;
use serde_json::Value;
use zooquake_checkers::Event;
use zooquake_checkers::plan::Scene;

/// The section; nothing if the run has no scenes.
pub fn section(story: &Story<'_>) -> String {
    let scenes = &story.record.plan.scenes;
    if scenes.is_empty() {
        return String::new();
    }
    let body: String = scenes.iter().map(|scene| one(story, scene)).collect();
    super::titled("scenes", "Scenes, step by step", &body)
}

fn one(story: &Story<'_>, scene: &Scene) -> String {
    let steps = story.record.history.events.iter().filter(|event| {
        event.on_lane("scene") && event.str("scene") == Some(scene.name.as_str()) && event.str("phase") == Some("done")
    });
    let election = elections(story).iter().find(|e| e["scene"] == scene.name.as_str());
    let ending = match election {
        Some(election) => format!(
            "<p>{} wins by {}, in epoch {}. The votes, in the order in which they were cast:</p>\n{}",
            text::html(&text::value(&election["winner"], 20), 20),
            text::html(&text::value(&election["rule"], 20), 20),
            text::html(&text::value(&election["epoch"], 20), 20),
            votes(election),
        ),
        None => "<p>It did not come about as planned; the reasons say why.</p>\n".to_owned(),
    };
    format!(
        "<h3>{}: {} is to win by {}</h3>\n{}{ending}",
        text::html(&scene.name, 40),
        text::html(&scene.winner, 20),
        text::html(&scene.rule, 20),
        table(
            "windows",
            ["no.", "seen at", "step", "seen", "what was seen"],
            steps.map(row)
        ),
    )
}

fn elections<'a>(story: &'a Story<'_>) -> &'a [Value] {
    let found = story.results.stats.get("elections").and_then(Value::as_array);
    found.map(Vec::as_slice).unwrap_or_default()
}

fn row(event: &Event) -> [String; 5] {
    let seen = event.bool("verified") == Some(true);
    [
        event.int("step").map(|n| n.to_string()).unwrap_or_default(),
        text::moment(event.time),
        text::html(&event.f, 20),
        if seen {
            "<b class=\"yes\">✓</b>".into()
        } else {
            "<b class=\"no\">✗</b>".into()
        },
        text::html(event.str("detail").unwrap_or_default(), 300),
    ]
}

/// The votes as (sid, zxid), as the textbook writes them.
fn votes(election: &Value) -> String {
    let all = election["votes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let part = |vote: &Value, name: &str| text::html(&text::value(&vote[name], 40), 40);
    let row = |vote: &Value| {
        let why = match vote["changed_by"].as_str() {
            Some(rule) => format!("changed: the other is higher by {}", text::html(rule, 20)),
            None => "its first".into(),
        };
        [
            format!("server {}", part(vote, "voter")),
            format!("({}, {})", part(vote, "sid"), part(vote, "zxid")),
            part(vote, "epoch"),
            part(vote, "round"),
            why,
        ]
    };
    let heads = ["voter", "vote (sid, zxid)", "epoch", "round", "why"];
    table("windows", heads, all.iter().take(500).map(row))
}
