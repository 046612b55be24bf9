//! Nothing passes, and connections stay open.

use super::bench::{CREATE, GET, SOON, WireProxyBench, reply, request};
use std::sync::Arc;
use std::time::Duration;

/// Long enough for what passes to arrive.
const MOMENT: Duration = Duration::from_millis(60);

#[tokio::test]
async fn nothing_passes_either_way_until_it_is_over_and_then_all_does() {
    let mut bench = WireProxyBench::answering_words().await;
    let (mut client, mut server) = bench.session().await;
    let proxy = Arc::clone(&bench.proxy);
    let stalling = tokio::spawn(async move { proxy.stall().await });
    while !bench.proxy.traffic().borrow().stalled {
        tokio::task::yield_now().await;
    }
    let asked = [request(1, CREATE, "/a"), request(2, GET, "/b")];
    client.say(&asked.concat()).await;
    let event = reply(-1, -1, 0, b"event");
    server.say(&event).await;
    let seen = stalling.await.unwrap().unwrap();
    assert_eq!((seen.connections, seen.unanswered_ms), (1, Some(300)));
    assert_eq!(seen.bytes, asked.concat().len() + event.len());
    server.hears_nothing(MOMENT).await;
    client.hears_nothing(MOMENT).await;

    let proxy = Arc::clone(&bench.proxy);
    let passing = tokio::spawn(async move { proxy.pass_on(SOON).await });
    assert_eq!(client.next().await, Some(event));
    for frame in asked {
        assert_eq!(server.next().await, Some(frame));
    }
    while !passing.is_finished() {
        server.say(&reply(1, 5, 0, &[])).await;
        client.next().await;
    }
    let passed = passing.await.unwrap().unwrap();
    assert!(
        passed.client_after_ms.is_some() && passed.through_us.is_some() && !passed.anew,
        "{passed:?}"
    );
}

#[tokio::test]
async fn what_a_client_sent_before_it_gave_up_arrives_late_and_what_it_dialled_and_gave_up_never() {
    let mut bench = WireProxyBench::answering_words().await;
    let (mut client, mut server) = bench.session().await;
    client.say(&request(1, GET, "/a")).await;
    server.next().await;
    let proxy = Arc::clone(&bench.proxy);
    let stalling = tokio::spawn(async move { proxy.stall().await });
    while !bench.proxy.traffic().borrow().stalled {
        tokio::task::yield_now().await;
    }
    client.say(&request(2, CREATE, "/b")).await;
    drop(client);
    stalling.await.unwrap().unwrap();
    let mut next = bench.dial().await;
    next.say(&super::bench::hello()).await;
    drop(next);
    server.hears_nothing(MOMENT).await;
    bench.proxy.pass_on(MOMENT).await.unwrap();
    assert_eq!(server.next().await, Some(request(2, CREATE, "/b")));
    assert_eq!(server.next().await, None);
    assert!(
        bench.connections.try_recv().is_err(),
        "the server has heard of no other connection"
    );
    // The next one is as any other.
    let (mut client, mut server) = bench.session().await;
    client.say(&request(3, GET, "/a")).await;
    server.apply(6).await;
    assert_eq!(client.next().await, Some(reply(3, 6, 0, &[])));
}

#[tokio::test]
async fn a_stall_without_anything_that_waits_is_none() {
    let mut bench = WireProxyBench::answering_words().await;
    let _session = bench.session().await;
    let seen = bench.proxy.stall().await.unwrap();
    assert_eq!((seen.connections, seen.bytes), (1, 0));
    assert_eq!(seen.unanswered_ms, Some(300));
}
