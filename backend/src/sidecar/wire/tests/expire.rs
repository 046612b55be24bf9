//! Sessions that are closed from another connection. The client's server is the bench's, the other one a second
//! bench's.

use super::bench::{
    CLOSE, ConnectionEnd, PASSWORD, SOON, WireProxyBench, framed, hello, refusal, reply, request, welcome,
};
use crate::sidecar::wire::{ExpiryEffect, ReconnectEffect};
use anyhow::Result;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::task::JoinHandle;

/// Begins to expire the client's session over these servers.
fn expire(bench: &WireProxyBench, servers: &[SocketAddr]) -> JoinHandle<Result<Option<ExpiryEffect>>> {
    let (proxy, servers) = (Arc::clone(&bench.proxy), servers.to_vec());
    tokio::spawn(async move { proxy.expire(&servers).await })
}

/// The request that takes up a session with its timeout and password.
fn take_up(session: i64) -> Vec<u8> {
    let head = [&[0; 12][..], &2000_i32.to_be_bytes(), &session.to_be_bytes()].concat();
    framed(&[&head[..], &16_i32.to_be_bytes(), &PASSWORD, &[0]].concat())
}

/// The server's end of a connection over which the session is asked for, and answered so.
async fn asked(server: &mut WireProxyBench, session: i64, answer: &[u8]) -> ConnectionEnd {
    let mut own = server.accepted().await;
    assert_eq!(own.next().await, Some(take_up(session)));
    own.say(answer).await;
    own
}

/// A server takes the session up, closes it, and refuses it from then on.
async fn closes(server: &mut WireProxyBench, session: i64, zxid: i64) {
    let mut own = asked(server, session, &welcome(session)).await;
    assert_eq!(own.next().await, Some(request(1, CLOSE, "")));
    own.say(&reply(1, zxid, 0, &[])).await;
    asked(server, session, &refusal()).await;
}

#[tokio::test]
async fn a_session_is_closed_over_another_server_and_the_client_comes_back_in_a_new_one() {
    let (mut bench, mut other) = (WireProxyBench::new().await, WireProxyBench::new().await);
    let (mut client, server) = bench.session().await;
    let expired = expire(&bench, &[bench.server, other.server]);
    closes(&mut other, 0x77, 0x105).await;
    let session = "0x77".to_string();
    assert_eq!(
        expired.await.unwrap().unwrap(),
        Some(ExpiryEffect { session, zxid: 0x105 })
    );
    // As a server does with the connection of a session that was closed.
    drop(server);
    assert_eq!(client.next().await, None);
    let proxy = Arc::clone(&bench.proxy);
    let reconnected = tokio::spawn(async move { proxy.reconnect(SOON).await });
    let _refused = bench.answered(&refusal()).await;
    assert!(!reconnected.is_finished(), "a refusal is no session");
    let _new = bench.answered(&welcome(0x78)).await;
    assert!(matches!(
        reconnected.await.unwrap(),
        ReconnectEffect {
            client_after_ms: Some(_),
            passes: true
        }
    ));
}

#[tokio::test]
async fn a_client_that_comes_back_too_early_waits() {
    let (mut bench, mut other) = (WireProxyBench::new().await, WireProxyBench::new().await);
    let (client, server) = bench.session().await;
    let expired = expire(&bench, &[other.server]);
    let mut own = asked(&mut other, 0x77, &welcome(0x77)).await;
    drop((client, server));
    let mut early = bench.dial().await;
    early.say(&hello()).await;
    assert_eq!(own.next().await, Some(request(1, CLOSE, "")));
    own.say(&reply(1, 5, 0, &[])).await;
    let mut own = other.accepted().await;
    assert_eq!(own.next().await, Some(take_up(0x77)));
    assert!(bench.connections.is_empty(), "it has to wait for the answer to this");
    own.say(&refusal()).await;
    assert_eq!(bench.accepted().await.next().await, Some(hello()));
    assert!(expired.await.unwrap().unwrap().is_some());
}

#[tokio::test]
async fn the_session_that_was_opened_last_is_the_one_that_is_closed() {
    let (mut bench, mut other) = (WireProxyBench::new().await, WireProxyBench::new().await);
    let _old = bench.session().await;
    let _new = bench.answered(&welcome(0x78)).await;
    let expired = expire(&bench, &[other.server]);
    closes(&mut other, 0x78, 5).await;
    assert_eq!(expired.await.unwrap().unwrap().unwrap().session, "0x78");
}

#[tokio::test]
async fn a_client_without_a_session_has_none_that_could_be_closed() {
    let (mut bench, mut other) = (WireProxyBench::new().await, WireProxyBench::new().await);
    assert_eq!(bench.proxy.expire(&[other.server]).await.unwrap(), None);
    let refused = bench.answered(&refusal()).await;
    assert_eq!(bench.proxy.expire(&[other.server]).await.unwrap(), None);
    drop(refused);
    let _session = bench.session().await;
    let expired = expire(&bench, &[other.server]);
    asked(&mut other, 0x77, &refusal()).await;
    assert_eq!(expired.await.unwrap().unwrap(), None, "it had ended before");
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_passed_over_and_the_client_s_own_comes_last() {
    let (mut bench, mut other) = (WireProxyBench::new().await, WireProxyBench::new().await);
    let _session = bench.session().await;
    let expired = expire(&bench, &[bench.server, other.server]);
    drop(other.accepted().await);
    closes(&mut bench, 0x77, 5).await;
    assert!(expired.await.unwrap().unwrap().is_some());
}

#[tokio::test]
async fn what_was_not_seen_to_be_closed_is_an_error_that_does_not_show_the_password() {
    let (mut bench, mut other) = (WireProxyBench::new().await, WireProxyBench::new().await);
    let _session = bench.session().await;
    let error = |expired: Result<Option<ExpiryEffect>>| format!("{:?}", expired.unwrap_err());
    let mut errors = vec![error(bench.proxy.expire(&[]).await)];

    let expired = expire(&bench, &[other.server]);
    drop(asked(&mut other, 0x77, &welcome(0x77)).await);
    errors.push(error(expired.await.unwrap()));

    let expired = expire(&bench, &[other.server]);
    let mut own = asked(&mut other, 0x77, &welcome(0x77)).await;
    own.next().await;
    own.say(&reply(1, 5, -101, &[])).await;
    errors.push(error(expired.await.unwrap()));

    let expired = expire(&bench, &[other.server]);
    let mut own = asked(&mut other, 0x77, &welcome(0x77)).await;
    own.next().await;
    own.say(&reply(1, 5, 0, &[])).await;
    let _still = asked(&mut other, 0x77, &welcome(0x77)).await;
    errors.push(error(expired.await.unwrap()));
    assert!(errors[3].contains("taken up after its end"), "{errors:?}");

    let shown = format!("{errors:?} {:?}", bench.proxy);
    assert!(shown.contains("0x77"), "{shown}");
    assert!(!shown.contains("171, 171") && !shown.contains("ab, ab"), "{shown}");
}
