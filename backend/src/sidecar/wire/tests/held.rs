//! Replies that are kept back.

use super::bench::{CREATE, GET, SOON, WireProxyBench, held_reply_of, reply, request};
use crate::sidecar::wire::{HeldKind, HoldEffect, RuleAction};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use zooquake_history::fault::WireOp;

/// Long enough for what passes to arrive.
const MOMENT: Duration = Duration::from_millis(60);

#[tokio::test]
async fn a_reply_is_kept_back_with_all_that_follows_and_delivered_in_order() {
    let mut bench = WireProxyBench::answering_words().await;
    let (mut client, mut server) = bench.session().await;
    let armed = bench.armed(held_reply_of(WireOp::Create, 1)).await;
    client
        .say(&[request(1, GET, "/a"), request(2, CREATE, "/lock/a")].concat())
        .await;
    server.next().await;
    server.next().await;
    let told = [
        reply(1, 0x101, 0, b"before"),
        reply(2, 0x102, 0, b"/lock/a"),
        reply(-1, -1, 0, b"event"),
        reply(-2, 0x102, 0, &[]),
    ];
    server.say(&told.concat()).await;
    assert_eq!(client.next().await.as_ref(), Some(&told[0]));
    let held = armed.await.unwrap().expect("it acted");
    assert_eq!((held.action, held.xid), (RuleAction::Held(HeldKind::Reply), 2));
    let written = json!(held);
    assert_eq!((&written["held"], &written["zxid"]), (&json!("reply"), &json!(0x102)));
    assert_eq!((&written["outcome"], written.get("lost")), (&json!("applied"), None));

    client.hears_nothing(MOMENT).await;
    // The other way is open.
    client.say(&request(3, GET, "/b")).await;
    assert_eq!(server.next().await, Some(request(3, GET, "/b")));

    let proxy = Arc::clone(&bench.proxy);
    let passing = tokio::spawn(async move { proxy.pass_on(SOON).await });
    for frame in &told[1..] {
        assert_eq!(client.next().await.as_ref(), Some(frame));
    }
    server.say(&reply(3, 0x102, 0, &[])).await;
    assert_eq!(client.next().await, Some(reply(3, 0x102, 0, &[])));
    let passed = passing.await.unwrap().unwrap();
    let HoldEffect { bytes, ms, delivered } = passed.held.expect("a reply was kept back");
    assert_eq!((bytes, delivered), (told[1..].concat().len(), true));
    assert!(u128::from(ms) >= MOMENT.as_millis(), "{ms}");
    assert!(
        passed.client_after_ms.is_some() && passed.through_us.is_some() && !passed.anew,
        "{passed:?}"
    );
}

#[tokio::test]
async fn a_client_that_gives_the_connection_up_is_served_on_its_next() {
    let mut bench = WireProxyBench::answering_words().await;
    let (mut client, mut server) = bench.session().await;
    let armed = bench.armed(held_reply_of(WireOp::AnyWrite, 1)).await;
    client.say(&request(1, CREATE, "/lock/a")).await;
    server.apply(0x101).await;
    armed.await.unwrap().expect("it acted");
    client.hears_nothing(MOMENT).await;
    drop(client);
    assert_eq!(server.next().await, None, "the server learns of it at once");
    // What the client connects meanwhile is not kept back.
    let (mut client, mut server) = bench.session().await;
    client.say(&request(2, GET, "/a")).await;
    server.apply(0x101).await;
    assert_eq!(client.next().await, Some(reply(2, 0x101, 0, &[])));

    let proxy = Arc::clone(&bench.proxy);
    let passing = tokio::spawn(async move { proxy.pass_on(SOON).await });
    while !passing.is_finished() {
        client.say(&request(3, GET, "/a")).await;
        server.apply(0x101).await;
        client.next().await;
    }
    let passed = passing.await.unwrap().unwrap();
    let held = passed.held.expect("a reply was kept back");
    assert_eq!((held.bytes, held.delivered), (reply(1, 0x101, 0, &[]).len(), false));
    assert!(passed.anew && passed.client_after_ms.is_some(), "{passed:?}");
    assert_eq!(bench.proxy.pass_on(MOMENT).await.unwrap().held, None, "once");
}

#[tokio::test]
async fn a_reply_with_an_error_is_passed_on_and_the_next_kept_back() {
    let mut bench = WireProxyBench::answering_words().await;
    let (mut client, mut server) = bench.session().await;
    let armed = bench.armed(held_reply_of(WireOp::Create, 1)).await;
    for (xid, err) in [(1, -110), (2, 0)] {
        client.say(&request(xid, CREATE, "/a")).await;
        server.next().await;
        server.say(&reply(xid, 5, err, &[])).await;
    }
    assert_eq!(client.next().await, Some(reply(1, 5, -110, &[])));
    client.hears_nothing(MOMENT).await;
    assert_eq!(armed.await.unwrap().map(|held| held.xid), Some(2));
}

#[tokio::test]
async fn an_end_of_the_server_s_comes_after_what_is_kept_back() {
    let mut bench = WireProxyBench::answering_words().await;
    let (mut client, mut server) = bench.session().await;
    let armed = bench.armed(held_reply_of(WireOp::Create, 1)).await;
    client.say(&request(1, CREATE, "/a")).await;
    server.apply(7).await;
    armed.await.unwrap().expect("it acted");
    drop(server);
    client.hears_nothing(MOMENT).await;
    let passed = bench.proxy.pass_on(MOMENT).await.unwrap();
    assert_eq!(client.next().await, Some(reply(1, 7, 0, &[])));
    assert_eq!(client.next().await, None);
    assert_eq!(passed.held.map(|held| held.delivered), Some(true));
}
