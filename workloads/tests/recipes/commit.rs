//! Two-phase commits, driven line by line: what is decided early, late, in doubt and after a restart.

use serde_json::{Value, json};
use zooquake_workloads::protocol::Outcome;
use zooquake_workloads::zk::CreateMode;
use zooquake_workloads::zk::sim::Fate;

use crate::bed::{LONG, MOMENT};
use crate::driven::{ClientTestBed, DrivenClient};

const VARIANTS: [&str; 4] = ["broadcast", "coordinated", "ephemeral", "atomic"];

/// A coordinator and two sites.
fn parties(bed: &ClientTestBed, variant: &str) -> [DrivenClient; 3] {
    ["c1", "c2", "c3"].map(|name| bed.drive(name, "commit", variant))
}

fn transaction() -> Value {
    json!({"tx": "t1", "sites": ["c2", "c3"], "payload": {}})
}

fn vote(vote: &str, work_ms: u64) -> Value {
    json!({"tx": "t1", "vote": vote, "work_ms": work_ms})
}

/// The decision that an operation is answered with; `None` while it is not.
fn decision(client: &DrivenClient, asked: u64) -> Option<Value> {
    client.reply(asked).map(|(_, value, _)| value["decision"].clone())
}

fn ask_decision(client: &mut DrivenClient) -> u64 {
    client.send("decided", json!({"tx": "t1"}))
}

#[test]
fn one_no_is_enough_to_abort_early() {
    for variant in VARIANTS {
        let bed = ClientTestBed::new();
        let [mut c1, mut c2, mut c3] = parties(&bed, variant);
        let begin = c1.send("begin", transaction());
        // Sites of `ephemeral` make their znodes by voting.
        let slow = c3.send("vote", vote("yes", 500));
        c2.ok("vote", vote("no", 0));
        assert!(c1.reply(begin).is_some());
        let decide = c1.send("decide", transaction());
        let asked = ask_decision(&mut c2);
        assert_eq!(decision(&c1, decide), Some(json!("abort")), "{variant}");
        assert_eq!(decision(&c2, asked), Some(json!("abort")), "{variant}");
        assert_eq!(c3.reply(slow), None, "{variant}: before the other one has voted");
        bed.world.pass(LONG);
        assert!(c3.reply(slow).is_some());
        assert_eq!(c3.ok("decided", json!({"tx": "t1"}))["decision"], "abort", "{variant}");
    }
}

#[test]
fn an_atomic_transaction_begins_as_a_whole() {
    let bed = ClientTestBed::new();
    // Of the parent, the transaction and its sites, made one by one, the last would be missing.
    for fate in [Fate::Answered, Fate::Answered, Fate::Answered, Fate::RequestLost] {
        bed.net.next("create", fate);
    }
    let [mut c1, ..] = parties(&bed, "atomic");
    c1.ok("begin", transaction());
    assert!(bed.net.server().exists("/app/t1/c3").is_some());
}

/// T1, and T6 in the words of this recipe.
#[test]
fn an_atomic_decision_whose_reply_was_lost_stands() {
    for fate in [Fate::ReplyLost, Fate::RequestLost] {
        let bed = ClientTestBed::new();
        bed.net.server().create(0, "/app", b"", CreateMode::Persistent).unwrap();
        let [mut c1, mut c2, mut c3] = parties(&bed, "atomic");
        bed.net.next("multi", fate);
        assert_eq!(c1.end("begin", transaction()).0, Outcome::Ok, "{fate:?}");
        bed.net.next("set", fate);
        let voted = [c2.send("vote", vote("yes", 0)), c3.send("vote", vote("yes", 0))];
        bed.world.pass(LONG);
        assert!(c2.reply(voted[0]).is_some() && c3.reply(voted[1]).is_some());
        bed.net.next("create", fate);
        assert_eq!(c1.end("decide", transaction()).1["decision"], "commit", "{fate:?}");
        assert_eq!(c2.ok("decided", json!({"tx": "t1"}))["decision"], "commit", "{fate:?}");
    }
}

#[test]
fn a_tutorial_coordinator_does_not_guess_an_unknown_outcome() {
    for variant in ["coordinated", "ephemeral"] {
        let bed = ClientTestBed::new();
        let [mut c1, mut c2, mut c3] = parties(&bed, variant);
        c1.ok("begin", transaction());
        c2.ok("vote", vote("yes", 0));
        c3.ok("vote", vote("yes", 0));
        bed.net.next("create", Fate::ReplyLost);
        assert_eq!(
            c1.ask("decide", transaction()).0,
            Outcome::Info,
            "{variant}: it does not know"
        );
        assert_eq!(
            c2.ok("decided", json!({"tx": "t1"}))["decision"],
            "commit",
            "{variant}: it was written"
        );
    }
}

#[test]
fn a_restarted_site_says_what_it_said() {
    for variant in VARIANTS {
        let bed = ClientTestBed::new();
        let [mut c1, mut c2, mut c3] = parties(&bed, variant);
        c1.ok("begin", transaction());
        c2.ok("vote", vote("yes", 0));
        c3.ok("vote", vote("no", 0));
        c1.ok("decide", transaction());
        assert_eq!(c2.ok("decided", json!({"tx": "t1"}))["decision"], "abort");
        bed.net.expire(bed.net.last_session() - 1, MOMENT);
        bed.world.pass(LONG);
        let mut again = bed.drive("c2", "commit", variant);
        // Its log has a yes, whatever it is asked now.
        assert_eq!(again.ok("vote", vote("no", 0))["voted"], "yes", "{variant}");
        assert_eq!(
            again.ok("decided", json!({"tx": "t1"}))["decision"],
            "abort",
            "{variant}"
        );
    }
}

/// A site that learns no decision decides in the coordinator's place. A missing vote is no yes, and the decision that
/// was found first stands for the coordinator too, and for a vote that comes late.
#[test]
fn an_atomic_transaction_is_decided_without_its_coordinator_and_once() {
    for (second, decided) in [(Some("yes"), "commit"), (Some("no"), "abort"), (None, "abort")] {
        let bed = ClientTestBed::new();
        let [mut c1, mut c2, mut c3] = parties(&bed, "atomic");
        c1.ok("begin", transaction());
        c2.ok("vote", vote("yes", 0));
        if let Some(second) = second {
            c3.ok("vote", vote(second, 0));
        }
        let asked = ask_decision(&mut c2);
        assert_eq!(c2.reply(asked), None, "{second:?}: the coordinator may still decide");
        bed.world.pass(LONG + LONG);
        assert_eq!(decision(&c2, asked), Some(json!(decided)), "{second:?}");
        c3.ok("vote", vote("yes", 0));
        for (client, f, asked) in [
            (&mut c1, "decide", transaction()),
            (&mut c3, "decided", json!({"tx": "t1"})),
        ] {
            assert_eq!(client.ok(f, asked)["decision"], decided, "{second:?}");
        }
    }
}
