//! Runs of scenes, told step by step: what was done, what was seen, and who won with which first votes.

use super::table;
use crate::model::RunModel;
use crate::text;
use serde_json::Value;
use zooquake_checkers::Event;
use zooquake_checkers::ensemble::{Account, VoteCast};
use zooquake_checkers::plan::Scene;

/// The section; nothing if the run has no scenes.
pub fn section(model: &RunModel<'_>) -> String {
    let scenes = &model.record.plan.scenes;
    if scenes.is_empty() {
        return String::new();
    }
    let body: String = scenes.iter().map(|scene| one(model, scene)).collect();
    super::titled("scenes", "Scenes, step by step", &body)
}

fn one(model: &RunModel<'_>, scene: &Scene) -> String {
    let steps = model.record.history.events.iter().filter(|event| {
        event.is_of("scene") && event.scene() == Some(scene.name.as_str()) && event.phase() == Some("done")
    });
    let ending = match elections(model).find(|election| election.scene.as_deref() == Some(&scene.name)) {
        Some(election) => ending(&election),
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

fn elections(model: &RunModel<'_>) -> impl Iterator<Item = Account> {
    let all = model.results.stats.get("elections").and_then(Value::as_array);
    let all = all.into_iter().flatten();
    all.filter_map(|one| serde_json::from_value(one.clone()).ok())
}

/// Who won, and with what each server had begun, as (sid, zxid); all votes are in the section on elections.
fn ending(election: &Account) -> String {
    let first = |vote: &&VoteCast| vote.leader == vote.sid;
    let firsts = election.votes.iter().filter(first).take(9);
    let firsts: Vec<String> = firsts
        .map(|vote| format!("({}, {})", vote.sid, text::html(&vote.zxid, 40)))
        .collect();
    format!(
        "<p>First votes (server, zxid): {}. <b>{} wins by {}</b>, and leads epoch {}; vote by vote it is told \
         <a href=\"#elections\">below</a>.</p>\n",
        firsts.join(", "),
        text::html(&election.winner, 20),
        text::html(election.rule.as_deref().unwrap_or("no rule"), 20),
        election.epoch.unwrap_or_default(),
    )
}

fn row(event: &Event) -> [String; 5] {
    let seen = event.verified() == Some(true);
    [
        event.step().map(|n| n.to_string()).unwrap_or_default(),
        text::moment(event.time),
        text::html(&event.f, 20),
        if seen {
            "<b class=\"yes\">✓</b>".into()
        } else {
            "<b class=\"no\">✗</b>".into()
        },
        text::html(event.detail().unwrap_or_default(), 300),
    ]
}
