//! What clients count of their requests and of what they hear.

use futures_util::FutureExt;
use serde_json::json;
use std::sync::Arc;
use zooquake_workloads::zk::counted::{CountedSession, Counters, Counts};
use zooquake_workloads::zk::{Connect, CreateMode, Zk};

use crate::bed::MOMENT;
use crate::driven::{ClientTestBed, DrivenClient};
use crate::world::RecipeWorld;
use zooquake_history::Node;
use zooquake_workloads::zk::sim::Net;

fn counts(clients: &mut [DrivenClient]) -> Vec<Counts> {
    let read =
        |client: &mut DrivenClient| serde_json::from_value(client.ok("quiesce", json!({}))["counts"].clone()).unwrap();
    clients.iter_mut().map(read).collect()
}

fn sum(counts: &[Counts], what: fn(&Counts) -> u64) -> u64 {
    counts.iter().map(what).sum()
}

/// Watch events, reads and writes of one change of leader among this many clients.
fn change(variant: &str, clients: usize) -> [u64; 3] {
    let bed = ClientTestBed::new();
    let name = |number: usize| Node::client(number).to_string();
    let mut all: Vec<DrivenClient> = (1..=clients)
        .map(|number| bed.drive(&name(number), "election", variant))
        .collect();
    all[0].ok("elect", json!({"grant": "g1"}));
    for (at, client) in all.iter_mut().enumerate().skip(1) {
        client.send("elect", json!({"grant": format!("g{}", at + 1)}));
    }
    let before = counts(&mut all);
    all[0].ok("resign", json!({"grant": "g1"}));
    bed.world.pass(MOMENT * 3);
    let after = counts(&mut all);
    assert_eq!(
        sum(&after, |counts| counts.pending),
        0,
        "{variant}: nothing is under way"
    );
    [|counts: &Counts| counts.events, Counts::reads, Counts::writes].map(|what| sum(&after, what) - sum(&before, what))
}

#[test]
fn a_herd_hears_and_reads_as_often_as_it_is_large() {
    assert_eq!(change("ticket", 4), [3, 3, 1]);
    assert_eq!(change("ticket", 9), [8, 8, 1]);
    // All but the new leader are refused their creation, and watch again.
    assert_eq!(change("ephemeral", 4), [3, 2, 1 + 3]);
    assert_eq!(change("ephemeral", 9), [8, 7, 1 + 8]);
}

#[test]
fn a_chain_wakes_one() {
    assert_eq!(change("sequential", 4), [1, 1, 1]);
    assert_eq!(change("sequential", 9), [1, 1, 1]);
}

fn session(world: &RecipeWorld, net: &Net, counters: &Counters) -> Arc<dyn Zk> {
    let zk = world.run(net.connect());
    Arc::new(CountedSession::new(zk, counters.clone()))
}

#[test]
fn every_request_is_counted_when_it_is_sent() {
    let world = RecipeWorld::default();
    let (net, counters) = (Net::new(&world), Counters::default());
    let zk = session(&world, &net, &counters);
    let unsent = zk.exists("/lock");
    assert_eq!(counters.read(), Counts::default(), "not sent yet");
    world.run(unsent).unwrap();
    world.run(zk.create("/lock/x", b"", CreateMode::Ephemeral)).unwrap();
    world.run(zk.set("/lock/x", b"1", None)).unwrap();
    world.run(zk.get("/lock/x")).unwrap();
    world.run(zk.children("/lock")).unwrap();
    world.run(zk.sync("/lock")).unwrap();
    world.run(zk.multi(Vec::new())).unwrap();
    world.run(zk.delete("/lock/x", None)).unwrap();
    let counted = counters.read();
    assert_eq!((counted.reads(), counted.writes(), counted.sync), (3, 4, 1));
    assert_eq!((counted.requests(), counted.pending), (8, 0));
    // The harness's own work is none of the recipe's.
    let own = world.run(zk.exists("/zooquake/scratch/c1")).unwrap();
    assert_eq!((own, counters.read()), (None, counted));
}

#[test]
fn an_event_is_counted_though_nobody_waited_for_it() {
    let world = RecipeWorld::default();
    let (net, counters) = (Net::new(&world), Counters::default());
    let zk = session(&world, &net, &counters);
    let (_, fired) = world.run(zk.exists_and_watch("/lock/x")).unwrap();
    let (_, quiet) = world.run(zk.exists_and_watch("/lock/y")).unwrap();
    world.run(zk.create("/lock/x", b"", CreateMode::Ephemeral)).unwrap();
    world.pass(MOMENT);
    assert_eq!(counters.read().events, 0);
    drop((fired, quiet));
    assert_eq!(counters.read().events, 1);
    let (_, watch) = world.run(zk.exists_and_watch("/lock/x")).unwrap();
    world.run(zk.delete("/lock/x", None)).unwrap();
    assert!(world.run(async move { watch.map(|_| true).await }));
    assert_eq!(counters.read().events, 2, "and once only");
}
