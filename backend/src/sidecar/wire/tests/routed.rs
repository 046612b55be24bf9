//! A client that one of two servers alone may serve.

use super::bench::{GET, SOON, WireProxyBench, reply, request};
use crate::sidecar::wire::{Proxy, RouteEffect};
use anyhow::Result;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;

/// Two servers behind one proxy.
async fn two_servers() -> [WireProxyBench; 2] {
    let (mut a, mut b) = (
        WireProxyBench::answering_words().await,
        WireProxyBench::answering_words().await,
    );
    let proxy = Arc::new(Proxy::default());
    let ports = proxy.open(&[a.server, b.server], 0).await.unwrap();
    (a.port, b.port) = (ports[0], ports[1]);
    (a.proxy, b.proxy) = (Arc::clone(&proxy), proxy);
    [a, b]
}

fn routed(bench: &WireProxyBench, server: SocketAddr, limit: Duration) -> JoinHandle<Result<RouteEffect>> {
    let proxy = Arc::clone(&bench.proxy);
    tokio::spawn(async move { proxy.route(server, limit).await })
}

#[tokio::test]
async fn a_client_is_moved_to_the_one_server_that_is_let_through_and_may_go_back_afterwards() {
    let [mut a, mut b] = two_servers().await;
    let (mut client, mut server) = a.session().await;
    let moved = routed(&a, b.server, SOON);
    assert_eq!(client.next().await, None);
    assert_eq!(server.next().await, None);
    assert!(a.refuses().await);
    assert!(!moved.is_finished(), "no server serves the client");
    let (mut client, mut server) = b.session().await;
    let seen = moved.await.unwrap().unwrap();
    assert_eq!((seen.ended, seen.refuses), (1, true));
    assert!(seen.served_after_ms.is_some());

    assert_eq!(a.proxy.unroute().await, [a.server, b.server]);
    client.say(&request(1, GET, "/a")).await;
    server.apply(5).await;
    assert_eq!(client.next().await, Some(reply(1, 5, 0, &[])), "its connection stays");
    a.session().await;
}

#[tokio::test]
async fn a_client_that_is_there_already_stays() {
    let [a, mut b] = two_servers().await;
    let (mut client, mut server) = b.session().await;
    let seen = routed(&a, b.server, SOON).await.unwrap().unwrap();
    assert_eq!((seen.ended, seen.refuses), (0, true));
    assert!(seen.served_after_ms.is_some());
    client.say(&request(1, GET, "/a")).await;
    server.apply(5).await;
    assert_eq!(client.next().await, Some(reply(1, 5, 0, &[])));
}

#[tokio::test]
async fn a_client_that_does_not_come_is_not_served_and_no_other_server_is_known() {
    let [mut a, b] = two_servers().await;
    let (mut client, _server) = a.session().await;
    let seen = routed(&a, b.server, Duration::from_millis(20)).await.unwrap().unwrap();
    assert_eq!((seen.ended, seen.served_after_ms), (1, None));
    assert_eq!(client.next().await, None);
    let unknown = WireProxyBench::new().await.server;
    assert!(routed(&a, unknown, SOON).await.unwrap().is_err());
}
