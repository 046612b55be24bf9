//! The proxy against a client and a server of these tests.

mod bench;
mod expire;
mod held;
mod late;
mod overhead;
mod routed;
mod stalled;

use super::{LossKind, Proxy, RuleAction};
use bench::{CLOSE, CREATE, DELETE, GET, MULTI, SET, SOON, WireProxyBench, framed, hello, reply, reply_of, request};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use zooquake_history::fault::{NthRequest, Wire, WireOp};

#[tokio::test]
async fn frames_survive_being_split_and_joined_and_large() {
    let mut bench = WireProxyBench::new().await;
    let (mut client, mut server) = bench.session().await;
    let large = framed(&vec![7; 3 << 20]);
    let stream = [
        request(1, GET, "/a"),
        large.clone(),
        request(-2, 11, ""),
        request(2, SET, "/b"),
    ]
    .concat();
    let send = async {
        for part in stream[..40].chunks(3) {
            client.say(part).await;
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        client.say(&stream[40..]).await;
    };
    let take = async {
        assert_eq!(server.next().await, Some(request(1, GET, "/a")));
        assert_eq!(server.next().await, Some(large.clone()));
        assert_eq!(server.next().await, Some(request(-2, 11, "")));
        assert_eq!(server.next().await, Some(request(2, SET, "/b")));
    };
    tokio::join!(send, take);
    let (answer, event) = (reply(1, 9, 0, &vec![3; 2 << 20]), reply(-1, -1, 0, b"event"));
    let say = async { server.say(&[answer.clone(), event.clone()].concat()).await };
    let hear = async {
        assert_eq!(client.next().await, Some(answer.clone()));
        assert_eq!(client.next().await, Some(event.clone()));
    };
    tokio::join!(say, hear);
}

#[tokio::test]
async fn the_reply_to_an_applied_create_is_lost_and_nothing_before_it() {
    let mut bench = WireProxyBench::new().await;
    let (mut client, mut server) = bench.session().await;
    let armed = bench.armed(reply_of(WireOp::Create, 2)).await;
    let asked = [
        request(1, CREATE, "/lock/a"),
        request(-2, 11, ""),
        request(2, CREATE, "/lock/b"),
        request(3, GET, "/lock/b"),
    ];
    client.say(&asked.concat()).await;
    for frame in asked {
        assert_eq!(server.next().await, Some(frame));
    }
    let told = [
        reply(1, 0x101, 0, b"/lock/a"),
        reply(-1, -1, 0, b"event"),
        reply(-2, 0x101, 0, &[]),
        reply(2, 0x102, 0, b"/lock/b"),
        reply(3, 0x102, 0, &[]),
    ];
    server.say(&told.concat()).await;
    for frame in &told[..3] {
        assert_eq!(client.next().await.as_ref(), Some(frame));
    }
    // An end and not a reset: `next` gives no error.
    assert_eq!(client.next().await, None);
    let dropped = armed.await.unwrap().expect("it acted");
    assert_eq!(
        (dropped.action, dropped.op.as_str(), dropped.xid),
        (RuleAction::Lost(LossKind::Reply), "create", 2)
    );
    assert_eq!((dropped.path.as_deref(), dropped.zxid), (Some("/lock/b"), Some(0x102)));
    assert_eq!(
        (dropped.session.as_deref(), dropped.outcome.as_str()),
        (Some("0x77"), "applied")
    );
    drop(client);
    assert_eq!(server.next().await, None, "the server's connection ends too");
    // The next connection is as any other, and seen.
    let proxy = Arc::clone(&bench.proxy);
    let reconnected = tokio::spawn(async move { proxy.reconnect(SOON).await });
    let (mut client, mut server) = bench.session().await;
    client.say(&request(4, CREATE, "/lock/c")).await;
    server.apply(0x103).await;
    assert_eq!(client.next().await, Some(reply(4, 0x103, 0, &[])));
    let reconnected = reconnected.await.unwrap();
    assert!(
        reconnected.client_after_ms.is_some() && reconnected.passes,
        "{reconnected:?}"
    );
}

#[tokio::test]
async fn a_write_that_was_not_applied_is_answered_and_the_next_one_taken() {
    let mut bench = WireProxyBench::new().await;
    let (mut client, mut server) = bench.session().await;
    let armed = bench.armed(reply_of(WireOp::AnyWrite, 1)).await;
    client.say(&request(1, DELETE, "/gone")).await;
    server.next().await;
    server.say(&reply(1, 5, -101, &[])).await;
    assert_eq!(client.next().await, Some(reply(1, 5, -101, &[])));
    // A transaction that failed is answered without error, but all its results are errors.
    let failed = [&(-1_i32).to_be_bytes()[..], &[0], &0_i32.to_be_bytes()].concat();
    client.say(&request(2, MULTI, "")).await;
    server.next().await;
    server.say(&reply(2, 6, 0, &failed)).await;
    assert_eq!(client.next().await, Some(reply(2, 6, 0, &failed)));
    client.say(&request(3, CLOSE, "")).await;
    server.apply(7).await;
    assert_eq!(client.next().await, None);
    let dropped = armed.await.unwrap().expect("it acted");
    assert_eq!(
        (dropped.op.as_str(), dropped.xid, dropped.zxid),
        ("closeSession", 3, Some(7))
    );
}

#[tokio::test]
async fn a_dropped_request_reaches_no_server() {
    let mut bench = WireProxyBench::new().await;
    let (mut client, mut server) = bench.session().await;
    let which = NthRequest {
        op: WireOp::Removal,
        nth: 1,
    };
    let armed = bench.armed(Wire::DropRequest(which)).await;
    let asked = [request(1, GET, "/a"), request(2, DELETE, "/a"), request(3, GET, "/a")];
    client.say(&asked.concat()).await;
    assert_eq!(server.next().await, Some(request(1, GET, "/a")));
    assert_eq!(server.next().await, None);
    assert_eq!(client.next().await, None);
    let dropped = armed.await.unwrap().expect("it acted");
    assert_eq!(
        (dropped.action, dropped.zxid),
        (RuleAction::Lost(LossKind::Request), None)
    );
    assert_eq!(dropped.outcome, "not-sent");
}

#[tokio::test]
async fn a_rule_that_nothing_matches_is_taken_away() {
    let mut bench = WireProxyBench::new().await;
    let (mut client, mut server) = bench.session().await;
    let none = bench.proxy.arm(reply_of(WireOp::SetData, 1), Duration::from_millis(20));
    assert_eq!(none.await.unwrap(), None);
    let disarmed = bench.armed(reply_of(WireOp::Create, 1)).await;
    bench.proxy.disarm();
    assert_eq!(disarmed.await.unwrap(), None);
    client.say(&request(1, CREATE, "/a")).await;
    server.apply(5).await;
    assert_eq!(client.next().await, Some(reply(1, 5, 0, &[])));
    assert!(Proxy::default().arm(reply_of(WireOp::Create, 1), SOON).await.is_err());
}

#[tokio::test]
async fn ended_connections_end_as_told_and_new_ones_are_refused_until_healed() {
    for how in [Wire::Close, Wire::Reset] {
        let mut bench = WireProxyBench::new().await;
        let (mut client, mut server) = bench.session().await;
        let disconnected = bench.proxy.disconnect(how).await.unwrap();
        assert_eq!((disconnected.connections, disconnected.refuses), (1, true));
        let end = timeout(SOON, client.frames.next()).await.unwrap();
        assert_eq!(end.is_err(), how == Wire::Reset, "{how:?}: {end:?}");
        assert_eq!(server.next().await, None);
        assert!(bench.refuses().await);
        let proxy = Arc::clone(&bench.proxy);
        let reconnected = tokio::spawn(async move { proxy.reconnect(SOON).await });
        while bench.proxy.refusal.borrow().is_some() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let _session = bench.session().await;
        assert!(reconnected.await.unwrap().passes);
    }
}

#[tokio::test]
async fn four_letter_words_pass_and_a_dead_server_ends_the_connection() {
    let mut bench = WireProxyBench::new().await;
    let mut client = bench.dial().await;
    client.say(b"srvr").await;
    let mut server = bench.accepted().await;
    assert_eq!(server.next().await.as_deref(), Some(&b"srvr"[..]));
    server.say(b"Mode: leader\n").await;
    drop(server);
    let mut text = String::new();
    client.frames.unframed().read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "Mode: leader\n");

    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let dead: SocketAddr = listener.local_addr().unwrap();
    drop(listener);
    let proxy = Arc::new(Proxy::default());
    let port = proxy.open(&[dead], 0).await.unwrap()[0];
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap();
    stream.write_all(&hello()).await.unwrap();
    assert_eq!(timeout(SOON, stream.read(&mut [0; 8])).await.unwrap().unwrap(), 0);
}

#[tokio::test]
async fn what_is_no_frame_ends_the_connection() {
    let mut bench = WireProxyBench::new().await;
    let (mut client, _server) = bench.session().await;
    client.say(&[0xff; 8]).await;
    assert_eq!(client.next().await, None);
}
