//! `rwlock/*`: who is granted beside whom, and what a reader asks for that looks at its neighbour only.

use serde_json::json;
use zooquake_workloads::recipes::rwlock::{fenced, neighbour};
use zooquake_workloads::zk::sim::Fate;

use crate::bed::{AcquireAttempt, Client, GrantTestBed, LONG};
use crate::driven;

/// A client asks to read or to write, and stands in the queue.
fn ask(client: &Client, reads: bool) -> AcquireAttempt {
    if reads { client.ask_shared("g") } else { client.ask("g") }
}

/// The clients that hold, counted from 0.
fn holders(clients: &[Client]) -> Vec<usize> {
    (0..clients.len()).filter(|&client| clients[client].holds()).collect()
}

#[test]
fn readers_hold_together_and_grants_come_in_the_order_of_the_queue() {
    let clients = GrantTestBed::new(fenced).clients::<5>();
    let mut asked = vec![ask(&clients[0], true), ask(&clients[1], true)];
    assert_eq!(holders(&clients), [0, 1]);
    asked.extend([ask(&clients[2], false), ask(&clients[3], true), ask(&clients[4], true)]);
    assert_eq!(holders(&clients), [0, 1], "readers wait behind the writer");
    clients[1].hand_over("g");
    assert_eq!(holders(&clients), [0], "the writer waits for the other reader too");
    clients[0].hand_over("g");
    assert_eq!(holders(&clients), [2]);
    clients[2].hand_over("g");
    assert_eq!(holders(&clients), [3, 4]);
    let tokens: Vec<_> = asked.iter().map(|one| one.granted().token).collect();
    assert!(tokens.is_sorted_by(|a, b| a.is_some() && a < b));
}

#[test]
fn a_reader_whose_neighbour_is_a_reader_that_waits_holds_beside_the_writer() {
    for (bed, beside) in [
        (GrantTestBed::new(neighbour), vec![0, 2]),
        (GrantTestBed::new(fenced), vec![0]),
    ] {
        let clients = bed.clients::<3>();
        let _asked = [ask(&clients[0], false), ask(&clients[1], true), ask(&clients[2], true)];
        assert_eq!(holders(&clients), beside);
        clients[0].hand_over("g");
        assert_eq!(holders(&clients), [1, 2]);
    }
}

#[test]
fn writers_of_the_neighbour_s_recipe_exclude_each_other() {
    let clients = GrantTestBed::new(neighbour).clients::<3>();
    let _asked = [ask(&clients[0], true), ask(&clients[1], false), ask(&clients[2], false)];
    for holder in 0..3 {
        assert_eq!(holders(&clients), [holder]);
        clients[holder].hand_over("g");
    }
}

#[test]
fn a_reader_s_lost_reply_leaves_a_znode_that_is_found_again() {
    let bed = GrantTestBed::new(fenced);
    let client = bed.client();
    bed.net.next("create", Fate::ReplyLost);
    let reader = client.ask_shared("g");
    bed.world.pass(LONG);
    reader.granted();
    assert_eq!(bed.net.locks().len(), 1);
    client.hand_over("g");
    bed.assert_clean(&[client]);
}

#[test]
fn a_reader_reads_while_it_believes_to_hold() {
    for variant in ["fenced", "neighbour"] {
        let bed = driven::ClientTestBed::new();
        let mut client = bed.drive("c1", "rwlock", variant);
        let granted = client.ok("acquire", json!({"grant": "g1", "mode": "shared"}));
        assert!(granted["path"].as_str().unwrap().contains("read-"), "{granted}");
        let read = client.ok("read", json!({"grant": "g1", "work_ms": 5}));
        assert_eq!(read, json!({"grant": "g1"}));
        client.ok("release", json!({"grant": "g1"}));
        assert_eq!(client.failed("read", json!({"grant": "g1"})), "not-held");
        let granted = client.ok("acquire", json!({"grant": "g2"}));
        assert!(granted["path"].as_str().unwrap().contains("write-"), "{granted}");
    }
    let bed = driven::ClientTestBed::new();
    let mut lock = bed.drive("c1", "lock", "fenced");
    let error = lock.failed("read", json!({"grant": "g1"}));
    assert!(error.contains("no operation `read`"));
}
