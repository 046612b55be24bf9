//! Traffic that is late.

use super::bench::{GET, SOON, WireProxyBench, reply, request};
use crate::sidecar::wire::traffic::drawn;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zooquake_history::fault::Latency;

const LATE: Latency = Latency { ms: 30, jitter_ms: 20 };

/// The least that one way takes.
const LEAST: Duration = Duration::from_millis(LATE.ms - LATE.jitter_ms);

#[tokio::test]
async fn all_is_late_both_ways_and_in_order_until_it_is_over() {
    let mut bench = WireProxyBench::answering_words().await;
    let (mut client, mut server) = bench.session().await;
    let seen = bench.proxy.delay(LATE).await.unwrap();
    let least_us = 2 * LEAST.as_micros() as u64;
    assert!(
        seen.through_us >= least_us && seen.through_us > seen.past_us,
        "{seen:?}"
    );
    for xid in 0..30 {
        let begun = Instant::now();
        client.say(&request(xid, GET, "/a")).await;
        client.say(&request(xid + 100, GET, "/b")).await;
        assert_eq!(server.next().await, Some(request(xid, GET, "/a")));
        assert!(begun.elapsed() >= LEAST, "{:?}", begun.elapsed());
        assert_eq!(server.next().await, Some(request(xid + 100, GET, "/b")));
        let begun = Instant::now();
        server
            .say(&[reply(xid, 1, 0, &[]), reply(xid + 100, 1, 0, &[])].concat())
            .await;
        assert_eq!(client.next().await, Some(reply(xid, 1, 0, &[])));
        assert!(begun.elapsed() >= LEAST, "{:?}", begun.elapsed());
        assert_eq!(client.next().await, Some(reply(xid + 100, 1, 0, &[])));
    }
    let proxy = Arc::clone(&bench.proxy);
    let passing = tokio::spawn(async move { proxy.pass_on(SOON).await });
    while !passing.is_finished() {
        client.say(&request(7, GET, "/a")).await;
        server.apply(1).await;
        client.next().await;
    }
    let passed = passing.await.unwrap().unwrap();
    assert!(passed.client_after_ms.is_some() && passed.held.is_none(), "{passed:?}");
    assert!(passed.through_us.is_some_and(|us| us < least_us), "{passed:?}");
}

#[tokio::test]
async fn what_is_under_way_when_it_is_over_arrives_at_once() {
    let mut bench = WireProxyBench::answering_words().await;
    let (mut client, mut server) = bench.session().await;
    let late = Latency { ms: 700, jitter_ms: 0 };
    bench.proxy.delay(late).await.unwrap();
    client.say(&request(1, GET, "/a")).await;
    server.hears_nothing(Duration::from_millis(50)).await;
    let begun = Instant::now();
    let (passed, heard) = tokio::join!(bench.proxy.pass_on(Duration::from_millis(100)), server.next());
    assert_eq!(heard, Some(request(1, GET, "/a")));
    assert!(
        begun.elapsed() < Duration::from_millis(late.ms),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(passed.unwrap().client_after_ms, None, "the server has not answered");
}

#[tokio::test]
async fn an_end_is_late_too_and_comes_after_what_was_sent() {
    let mut bench = WireProxyBench::answering_words().await;
    let (mut client, mut server) = bench.session().await;
    bench.proxy.delay(LATE).await.unwrap();
    client.say(&request(1, GET, "/a")).await;
    let begun = Instant::now();
    drop(client);
    assert_eq!(server.next().await, Some(request(1, GET, "/a")));
    assert_eq!(server.next().await, None);
    assert!(begun.elapsed() >= LEAST, "{:?}", begun.elapsed());
}

#[test]
fn a_delay_differs_from_the_mean_by_the_jitter_at_most() {
    let all: Vec<u128> = (0..2_000).map(|_| drawn(LATE).as_millis()).collect();
    let (least, most) = (all.iter().min().unwrap(), all.iter().max().unwrap());
    assert!(
        (10..12).contains(least) && (48..=50).contains(most),
        "{least} to {most}"
    );
    assert_eq!(drawn(Latency { ms: 5, jitter_ms: 0 }), Duration::from_millis(5));
}

#[tokio::test]
async fn without_a_server_that_answers_nothing_is_late() {
    let bench = WireProxyBench::new().await;
    assert!(bench.proxy.delay(LATE).await.is_err());
    assert_eq!(bench.proxy.traffic().borrow().latency, None);
}
