//! The ensemble's own elections: each vote with the rule that changed it, and how long nobody led.

use super::{table, titled};
use crate::model::RunModel;
use crate::text;
use zooquake_checkers::ensemble::{Account, VoteCast};

/// How many elections are told.
const SHOWN: usize = 100;
/// How many votes of one are told.
const VOTES: usize = 100;
/// How many elections are unfolded from the start, if there are no more.
const OPEN: usize = 3;

const MS: u64 = 1_000_000;

/// The section; nothing for results without elections.
pub fn section(model: &RunModel<'_>) -> String {
    let Some(elections) = model.results.stats.get("elections").and_then(|all| all.as_array()) else {
        return String::new();
    };
    let account = |one: &serde_json::Value| serde_json::from_value(one.clone()).ok();
    let accounts: Vec<Account> = elections.iter().filter_map(account).collect();
    let mut body = String::from(
        "<p>What the servers' own logs tell of ZooKeeper's leader elections. A vote is (server, zxid) with the epoch of that \
         server. Everyone first votes for itself; a higher round begins the vote anew, and within a round the higher epoch wins, \
         then the higher zxid, then the higher server id.</p>\n",
    );
    if accounts.is_empty() && !elections.is_empty() {
        // Those of a family that tells its elections itself.
        return String::new();
    }
    if accounts.is_empty() {
        body.push_str("<p>The logs tell of none.</p>\n");
    }
    for (at, account) in accounts.iter().take(SHOWN).enumerate() {
        body.push_str(&one(account, at, accounts.len() <= OPEN));
    }
    if accounts.len() > SHOWN {
        let more = text::count(accounts.len() - SHOWN, "more election");
        body.push_str(&format!("<p>And {more}, in results.json.</p>\n"));
    }
    let heading = format!("Elections of the ensemble ({})", text::grouped(accounts.len()));
    titled("elections", &heading, &body)
}

fn one(account: &Account, at: usize, open: bool) -> String {
    let open = if open { " open" } else { "" };
    let scene = account
        .scene
        .as_ref()
        .map(|scene| format!("{}: ", text::html(scene, 80)));
    format!(
        "<details class=\"election\"{open}><summary><span class=\"no\">{}</span> <span class=\"at\">{}</span> {}{}</summary>\n{}{}</details>\n",
        at + 1,
        began(account),
        scene.unwrap_or_default(),
        outcome(account),
        course(account),
        votes(account)
    )
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
fn outcome(account: &Account) -> String {
    let server = text::html(&account.winner, 24);
    let rule = account.rule.as_deref().map(|rule| format!(" by {}", words(rule)));
    let led = match account.epoch {
        Some(epoch) => format!("and led epoch {epoch}"),
        None => "and never came to lead".to_owned(),
    };
    let lost = account.lost_ms.map(|ms| format!("; nobody led for {}", after(ms)));
    format!(
        "<b>{server}</b> won round {}{} {led}{}",
        account.round,
        rule.unwrap_or_default(),
        lost.unwrap_or_default()
    )
}

/// What came when.
fn course(account: &Account) -> String {
    let mut steps = Vec::new();
    if let Some(ms) = account.quorum_ms {
        steps.push(format!("a quorum's votes had reached it after {}", after(ms)));
    }
    steps.push(format!(
        "it knew that it had won after {}, counting the servers {}",
        after(account.won_ms),
        list(&account.counted)
    ));
    if let Some(ms) = account.established_ms {
        steps.push(format!(
            "the servers {} had acknowledged it as leader after {}",
            list(&account.supporters),
            after(ms)
        ));
    }
    format!("<p>{}.</p>\n", steps.join("; "))
}

fn votes(account: &Account) -> String {
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
    let more = text::if_any(account.votes.len().saturating_sub(VOTES), |n| {
        format!("<p>And {}, in results.json.</p>\n", text::count(n, "more vote"))
    });
    table("votes", heads, rows) + &more
}

fn row(account: &Account, vote: &VoteCast) -> [String; 8] {
    let own = if vote.sid == vote.leader { " (itself)" } else { "" };
    let first = account.votes.iter().find(|other| other.sid == vote.sid) == Some(vote);
    let why = match vote.rule.as_deref() {
        Some(rule) => words(rule),
        None if first => "its first vote".to_owned(),
        None => "<b class=\"no\">no rule allows it</b>".to_owned(),
    };
    [
        after(vote.ms),
        vote.sid.to_string(),
        vote.round.to_string(),
        format!("{}{own}", vote.leader),
        text::html(&vote.zxid, 24),
        vote.epoch.to_string(),
        why,
        if vote.counted {
            "✓".into()
        } else {
            "not by the winner".into()
        },
    ]
}

fn words(rule: &str) -> String {
    match rule {
        "round" => "a higher round".into(),
        "epoch" => "the higher epoch".into(),
        "zxid" => "the higher zxid".into(),
        "sid" => "the higher server id".into(),
        other => text::html(other, 24),
    }
}

/// A time since the election began; a server may have voted before those who were counted began to look.
fn after(ms: i64) -> String {
    let length = text::duration(ms.unsigned_abs().saturating_mul(MS));
    if ms < 0 { format!("−{length}") } else { length }
}

fn list(sids: &[i64]) -> String {
    let sids: Vec<String> = sids.iter().take(32).map(i64::to_string).collect();
    sids.join(", ")
}
