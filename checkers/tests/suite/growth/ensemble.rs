//! Long logs of servers, and runs of many scenes.

use super::{Long, records_grow};
use crate::ensemble::server_log_lines::{BEGUN_MS, ServerLogWriter, sample};
use serde_json::{Value, json};
use zooquake_history::{
    Node, Record, ServerLog, ServerSample,
    plan::{Act, Scene, Step},
};

/// A run of a register whose only evidence is that of the servers.
fn record(logs: Vec<ServerLog>, servers: Vec<ServerSample>) -> Record {
    let mut long = Long::default();
    long.run("clock", json!({ "unix_us": BEGUN_MS * 1000 }));
    long.phase("done");
    let mut record = long.record("register", "read", 1);
    record.plan.cluster.servers = logs.len();
    record.logs = Some(logs);
    record.servers = Some(servers);
    record
}

/// One server wins again and again, as its samples state; another never stops looking for a leader, and votes for it
/// each time.
fn wins(count: i64) -> Record {
    let [mut winner, voter] = [1, 2].map(|sid| ServerLogWriter::new(sid, false).starts(0));
    let mut voter = voter.looks(1, 0);
    let mut servers = Vec::new();
    for k in 1..=count {
        let (ms, vote) = (10 * k, (k - 1, k << 32, 1));
        winner = winner
            .looks(ms, vote.1)
            .casts(ms + 1, k, vote)
            .hears(ms + 3, 2, "LOOKING", k, vote)
            .becomes(ms + 4, "LEADING")
            .leads(ms + 5, k, "[1, 2]");
        voter = voter.casts(ms + 1, k, (k - 1, 0, 2)).casts(ms + 2, k, vote);
        servers.push(sample(ms as u64 + 6, "n1", "leader", k << 32 | 1));
    }
    record(vec![winner.log(), voter.log()], servers)
}

#[test]
fn elections_while_one_server_looks_for_ever() {
    records_grow(10, &[], |_, count| wins(count as i64));
    let results = zooquake_checkers::check(&wins(2000));
    let elections = results.stats["elections"].as_array().expect("elections");
    let told = elections.iter().filter(|election| election["votes_left_out"].is_null());
    assert!(told.clone().count() > 100, "many elections tell their votes");
    assert!(told.clone().count() < 2000, "all votes together are too many");
    let voted = |election: &Value| election["votes"].as_array().is_some_and(|votes| !votes.is_empty());
    assert!(told.clone().all(voted));
    let rule = &elections[1999]["rule"];
    assert_eq!(rule, "epoch", "what is not a list of votes is told of all");
    assert_eq!(elections[1999]["lost_ms"], json!(10));
}

/// Each server has a log of its own, and each but the first put itself forward before it voted for the first.
#[test]
fn voters_that_broke_the_order() {
    records_grow(8, &[("lesser-vote-won", |count| count - 1)], |_, count| {
        let count = count as i64;
        let best = (1, 1, 1);
        let mut winner = ServerLogWriter::new(1, false).starts(0).looks(1, 1).casts(2, 1, best);
        let mut logs = Vec::new();
        for sid in 2..=count {
            winner = winner.hears(5, sid, "LOOKING", 1, best);
            let voter = ServerLogWriter::new(sid, false)
                .starts(0)
                .looks(1, 2)
                .casts(2, 1, (1, 2, sid))
                .casts(4, 1, best)
                .becomes(7, "FOLLOWING");
            logs.push(voter.log());
        }
        logs.push(winner.becomes(6, "LEADING").leads(8, 2, "[1, 2]").log());
        record(logs, vec![])
    });
}

/// Scenes of one step each, with samples of their servers.
#[test]
fn scenes_one_after_the_other() {
    records_grow(3, &[], |mut long, count| {
        let mut servers = Vec::new();
        let mut scenes = Vec::new();
        for k in 0..count {
            let name = format!("s{k}");
            long.scene(json!({"scene": name, "step": 1, "phase": "begin"}));
            servers.push(ServerSample {
                time: long.now,
                ..sample(0, "n1", "follower", 0)
            });
            long.scene(json!({"scene": name, "step": 1, "phase": "done", "verified": true, "leader": "n1"}));
            scenes.push(Scene {
                name,
                steps: vec![Step {
                    act: Act::Elect,
                    servers: vec![Node::server(1)],
                }],
                winner: Node::server(1),
                rule: String::new(),
            });
        }
        let mut record = long.record("ensemble", "textbook", 0);
        record.plan.cluster.observers = 100;
        record.plan.scenes = scenes;
        record.servers = Some(servers);
        record
    });
}
