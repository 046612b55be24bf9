//! Scenes: valid as planned, unknown when the votes meet otherwise.

use super::server_log_lines::{BEGUN_MS, ServerLogWriter};
use crate::expect;
use crate::script::{self, changed};
use serde_json::{Value, json};
use zooquake_checkers::{Verdict, check};
use zooquake_history::{
    Event, EventType, History, Node, Plan, Record,
    plan::{Act, ClusterPlan, Scene, Step, Workload},
};

/// The zxid that servers 4 and 5 have.
const Z: i64 = 0x2_0000_0003;

fn event(index: usize, named: &str, f: &str, value: Value) -> Event {
    script::event(
        index,
        index as u64 * 1_000_000_000,
        named,
        None,
        EventType::Info,
        f,
        value,
    )
}

/// Servers 3, 4 and 5 look for a leader, 3 with this zxid, and elect the one with the highest vote. The observer 6
/// receives the notifications.
fn logs(zxid: i64) -> Vec<zooquake_history::ServerLog> {
    let own = |sid: i64| (2, if sid == 3 { zxid } else { Z }, sid);
    let best = [3, 4, 5].map(own).into_iter().max().expect("three");
    let voter = |sid: i64| {
        let mut teller = ServerLogWriter::new(sid, false)
            .starts(0)
            .looks(100, own(sid).1)
            .casts(110, 3, own(sid));
        if own(sid) != best {
            teller = teller.casts(130, 3, best);
        }
        for other in [3, 4, 5].into_iter().filter(|other| *other != sid) {
            teller = teller.hears(140, other, "LOOKING", 3, best);
        }
        if best.2 == sid {
            teller.becomes(350, "LEADING").leads(400, 3, "[3, 4, 5]").log()
        } else {
            teller.becomes(350, "FOLLOWING").log()
        }
    };
    let observer = ServerLogWriter::new(6, false)
        .starts(0)
        .looks(100, i64::MIN)
        .hears(140, best.2, "LEADING", 3, best)
        .becomes(350, "OBSERVING");
    [3, 4, 5].map(voter).into_iter().chain([observer.log()]).collect()
}

/// A run of one scene, planned to be won by 3 by zxid, and seen to be won by `leader`.
fn record(zxid: i64, leader: &str, verified: bool) -> Record {
    let servers: Vec<String> = ["n3", "n4", "n5", "n6"].map(String::from).into();
    let seen = json!({ "scene": "zxid", "step": 1, "servers": servers, "phase": "done", "verified": verified,
        "leader": leader, "detail": "all serve" });
    let clock = json!({ "unix_us": BEGUN_MS * 1000 });
    let events = vec![
        event(0, "run", "clock", clock),
        event(1, "scene", "elect", seen),
        event(2, "run", "phase", json!("done")),
    ];
    Record {
        plan: Plan {
            workload: Workload {
                family: "ensemble".into(),
                variant: "textbook".into(),
                ..Workload::default()
            },
            cluster: ClusterPlan {
                servers: 5,
                observers: 1,
                ..ClusterPlan::default()
            },
            scenes: vec![Scene {
                name: "zxid".into(),
                winner: "n3".into(),
                rule: "zxid".into(),
                steps: vec![Step {
                    act: Act::Elect,
                    servers: servers.iter().map(|name| Node::from(name.as_str())).collect(),
                }],
            }],
            ..Plan::default()
        },
        history: History { events },
        scenes: [("zxid".to_owned(), logs(zxid))].into(),
        ..Record::default()
    }
}

#[track_caller]
fn unknown(record: &Record, why: &str) {
    assert_eq!(expect::unknown(record, why).anomalies, []);
}

#[test]
fn the_planned_outcome_is_valid_and_told() {
    let results = check(&record(Z + 3, "n3", true));
    assert_eq!((results.verdict, &results.reasons), (Verdict::Valid, &vec![]));
    let election = &results.stats["elections"][0];
    let told = ["scene", "winner", "rule"].map(|name| election[name].as_str().unwrap_or_default());
    assert_eq!(told, ["zxid", "n3", "zxid"]);
    let votes = election["votes"].as_array().expect("votes").iter();
    let votes: Vec<[&Value; 2]> = votes.map(|vote| [&vote["sid"], &vote["leader"]]).collect();
    assert_eq!(votes, [[3, 3], [4, 4], [5, 5], [4, 3], [5, 3]]);
}

#[test]
fn another_outcome_convicts_nobody() {
    unknown(&record(Z, "n5", true), "n5 won by sid, and not n3 by zxid");
    unknown(&record(Z + 3, "n5", true), "the logs show the election of n3");
}

#[test]
fn a_step_that_was_not_seen_is_unknown() {
    unknown(&record(Z + 3, "n3", false), "step 1 (elect) did not come about");
    let never = changed(record(Z + 3, "n3", true), |never| drop(never.history.events.remove(1)));
    unknown(&never, "step 1 (elect) was not made");
}

#[test]
fn an_observer_that_votes_or_does_not_observe_is_named() {
    let mut voted = record(Z + 3, "n3", true);
    let logs = voted.scenes.get_mut("zxid").expect("the scene");
    let three = ServerLogWriter::new(3, false)
        .starts(0)
        .looks(100, Z)
        .hears(110, 6, "LOOKING", 3, (2, Z, 6));
    logs.push(three.log());
    unknown(&voted, "n6, an observer, has voted");
    let mut absent = record(Z + 3, "n3", true);
    absent.scenes.get_mut("zxid").expect("the scene").pop();
    unknown(&absent, "n6 was not seen to observe");
}
