//! Runs of scenes, step by step: what was done, what was seen, and who won with which first votes.

use super::{elections, mark, plain, table};
use crate::model::RunModel;
use crate::{lists, text};
use maud::{Markup, html};
use zooquake_checkers::ensemble::{Account, VoteCast};
use zooquake_history::{Event, plan::Scene};

/// The section; nothing if the run has no scenes.
pub fn section(model: &RunModel<'_>) -> Markup {
    let scenes = &model.record.plan.scenes;
    if scenes.is_empty() {
        return Markup::default();
    }
    let elections = elections::accounts(model).unwrap_or_default();
    let body = html! {
        @for scene in scenes { (course(model, scene, &elections)) }
    };
    super::titled("scenes", "Scenes, step by step", body)
}

fn course(model: &RunModel<'_>, scene: &Scene, elections: &[Account]) -> Markup {
    let steps = model.record.history.events.iter().filter(|event| {
        event.is_of("scene") && event.scene() == Some(scene.name.as_str()) && event.phase() == Some("done")
    });
    let heads = ["no.", "seen at", "step", "seen", "what was seen"];
    html! {
        h3 {
            (text::clip(&scene.name, 40)) ": " (text::clip(&scene.winner, 20)) " is to win by " (text::clip(&scene.rule, 20))
        }
        (table("windows", heads, steps.map(row)))
        @match elections.iter().find(|election| election.scene.as_deref() == Some(&scene.name)) {
            Some(election) => (ending(election)),
            None => p { "It did not come about as planned; see the reasons." },
        }
    }
}

/// The winner, and the first vote of each server, as (sid, zxid); all votes are in the section on elections.
fn ending(election: &Account) -> Markup {
    let first = |vote: &&VoteCast| vote.leader == vote.sid;
    let firsts = election.votes.iter().filter(first).take(9);
    let firsts = firsts.map(|vote| format!("({}, {})", vote.sid, text::clip(&vote.zxid, 40)));
    let rule = election.rule.as_deref().unwrap_or("no rule");
    html! {
        p {
            "First votes (server, zxid): " (lists::joined(firsts, ", ")) ". "
            b { (text::clip(&election.winner, 20)) " wins by " (text::clip(rule, 20)) }
            ", and leads epoch " (election.epoch.unwrap_or_default()) "; its votes are listed "
            a href="#elections" { "below" } "."
        }
    }
}

fn row(event: &Event) -> [Markup; 5] {
    [
        plain(event.step().map(|n| n.to_string()).unwrap_or_default()),
        plain(text::moment(event.time)),
        plain(text::clip(&event.f, 20)),
        mark(event.verified() == Some(true), ["", ""]),
        plain(text::clip(event.detail().unwrap_or_default(), 300)),
    ]
}
