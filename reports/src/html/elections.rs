//! The ensemble's own elections: each vote with the rule that changed it, and how long nobody led; and runs of scenes,
//! step by step: what was done, what was seen, and who won with which first votes.

use super::{mark, plain, table, titled};
use crate::model::RunModel;
use crate::{lists, text};
use maud::{Markup, html};
use serde::Deserialize;
use zooquake_checkers::ensemble::{Account, VoteCast};
use zooquake_history::Event;
use zooquake_history::plan::Scene;

/// How many elections are shown.
const SHOWN: usize = 100;
/// How many votes of one are shown.
const VOTES: usize = 100;
/// How many elections are unfolded from the start, if there are no more.
const OPEN: usize = 3;
const MS: u64 = 1_000_000;

/// The section of the elections; nothing for results without any.
pub fn section(model: &RunModel<'_>) -> Markup {
    let Some(accounts) = accounts(model) else {
        return Markup::default();
    };
    let body = html! {
        p {
            "ZooKeeper's leader elections, as the servers' own logs show them. A vote is (server, zxid) with the epoch \
             of that server. Each server first votes for itself; a higher round restarts the vote, and within a round \
             the higher epoch wins, then the higher zxid, then the higher server id."
        }
        @if accounts.is_empty() { p { "The logs show none." } }
        @for (at, account) in accounts.iter().take(SHOWN).enumerate() {
            (details(account, at, accounts.len() <= OPEN)) "\n"
        }
        @if accounts.len() > SHOWN {
            p { "And " (text::count(accounts.len() - SHOWN, "more election")) ", in results.json." }
        }
    };
    let heading = format!("Elections of the ensemble ({})", text::grouped(accounts.len()));
    titled("elections", &heading, body)
}

/// The elections of the results; `None` where they have none, or only elections of a family's own, which have another
/// shape.
fn accounts(model: &RunModel<'_>) -> Option<Vec<Account>> {
    let elections = model.results.stats.get("elections")?.as_array()?;
    let accounts: Vec<Account> = elections
        .iter()
        .filter_map(|one| Account::deserialize(one).ok())
        .collect();
    (elections.is_empty() || !accounts.is_empty()).then_some(accounts)
}

fn details(account: &Account, at: usize, open: bool) -> Markup {
    html! {
        details.election open[open] {
            summary {
                span.no { (at + 1) } " " span.at { (began(account)) } " "
                @if let Some(scene) = &account.scene { (text::clip(scene, 80)) ": " }
                (outcome(account))
            }
            (course(account))
            (votes(account))
        }
    }
}

/// When it began, in the time of the run.
fn began(account: &Account) -> String {
    match account.began_ms {
        Some(ms) if ms >= 0 => text::moment(ms.unsigned_abs().saturating_mul(MS)),
        Some(_) => "before the first event".to_owned(),
        None => String::new(),
    }
}

/// In one line.
fn outcome(account: &Account) -> Markup {
    html! {
        b { (text::clip(&account.winner, 24)) } " won round " (account.round)
        @if let Some(rule) = &account.rule { " by " (words(rule)) }
        @match account.epoch {
            Some(epoch) => { " and led epoch " (epoch) }
            None => " and never came to lead",
        }
        @if let Some(ms) = account.lost_ms { "; nobody led for " (after(ms)) }
    }
}

/// What came when.
fn course(account: &Account) -> Markup {
    let (won, counted, supporters) = (after(account.won_ms), list(&account.counted), list(&account.supporters));
    html! {
        p {
            @if let Some(ms) = account.quorum_ms { "a quorum's votes had reached it after " (after(ms)) "; " }
            "it found that it had won after " (won) ", counting the servers " (counted)
            @if let Some(ms) = account.established_ms {
                "; the servers " (supporters) " had acknowledged it as leader after " (after(ms))
            }
            "."
        }
    }
}

fn votes(account: &Account) -> Markup {
    let heads = [
        "after",
        "server",
        "round",
        "votes for",
        "its zxid",
        "its epoch",
        "why it changed",
        "counted",
    ];
    let rows = account.votes.iter().take(VOTES).map(|vote| row(account, vote));
    html! {
        (table("votes", heads, rows))
        @if account.votes.len() > VOTES {
            p { "And " (text::count(account.votes.len() - VOTES, "more vote")) ", in results.json." }
        }
    }
}

fn row(account: &Account, vote: &VoteCast) -> [Markup; 8] {
    let own = if vote.sid == vote.leader { " (itself)" } else { "" };
    let first = account.votes.iter().find(|other| other.sid == vote.sid) == Some(vote);
    let why = match vote.rule.as_deref() {
        Some(rule) => plain(words(rule)),
        None if first => plain("its first vote"),
        None => html! { b.no { "no rule allows it" } },
    };
    [
        plain(after(vote.ms)),
        plain(vote.sid),
        plain(vote.round),
        html! { (vote.leader) (own) },
        plain(text::clip(&vote.zxid, 24)),
        plain(vote.epoch),
        why,
        plain(if vote.counted { "✓" } else { "not by the winner" }),
    ]
}

fn words(rule: &str) -> String {
    match rule {
        "round" => "a higher round".into(),
        "epoch" => "the higher epoch".into(),
        "zxid" => "the higher zxid".into(),
        "sid" => "the higher server id".into(),
        other => text::clip(other, 24),
    }
}

/// A time since the election began; a server may have voted before those who were counted began to look.
fn after(ms: i64) -> String {
    let length = text::millis(ms.unsigned_abs());
    if ms < 0 { format!("−{length}") } else { length }
}

fn list(sids: &[i64]) -> String {
    lists::joined(sids.iter().take(32), ", ")
}

/// The section of the scenes; nothing if the run has none.
pub fn scenes(model: &RunModel<'_>) -> Markup {
    let scenes = &model.record.plan.scenes;
    if scenes.is_empty() {
        return Markup::default();
    }
    let elections = accounts(model).unwrap_or_default();
    let body = html! {
        @for scene in scenes { (scene_course(model, scene, &elections)) }
    };
    titled("scenes", "Scenes, step by step", body)
}

fn scene_course(model: &RunModel<'_>, scene: &Scene, elections: &[Account]) -> Markup {
    let steps = model.record.history.events.iter().filter(|event| {
        event.is_of("scene") && event.scene() == Some(scene.name.as_str()) && event.phase() == Some("done")
    });
    let heads = ["no.", "seen at", "step", "seen", "what was seen"];
    html! {
        h3 {
            (text::clip(&scene.name, 40)) ": " (text::clip(&scene.winner.to_string(), 20)) " is to win by "
            (text::clip(&scene.rule, 20))
        }
        (table("windows", heads, steps.map(scene_row)))
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

fn scene_row(event: &Event) -> [Markup; 5] {
    [
        plain(event.step().map(|n| n.to_string()).unwrap_or_default()),
        plain(text::moment(event.time)),
        plain(text::clip(&event.f, 20)),
        mark(event.verified() == Some(true), ["", ""]),
        plain(text::clip(event.detail().unwrap_or_default(), 300)),
    ]
}
