//! A client that is brought from one server to another one.

use super::bench::{Bench, CREATE, End, SOON, hello, request, welcome};
use crate::sidecar::wire::{Brought, Proxy, locked};
use anyhow::Result;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use zooquake_history::fault::{Which, Wire, WireOp};

/// A proxy in front of two servers, and a client with a session on the first one.
struct Two {
    proxy: Arc<Proxy>,
    ports: Vec<u16>,
    servers: [Bench; 2],
    /// The client's end, and the first server's.
    session: (End, End),
}

impl Two {
    async fn new() -> Self {
        let mut servers = [Bench::new().await, Bench::new().await];
        let proxy = Arc::new(Proxy::default());
        let addresses: Vec<SocketAddr> = servers.iter().map(|server| server.server).collect();
        let ports = proxy.open(&addresses, 0).await.unwrap();
        let mut client = dial(ports[0]).await;
        client.say(&hello()).await;
        let mut first = servers[0].accepted().await;
        assert_eq!(first.next().await, Some(hello()));
        first.say(&welcome(0x77)).await;
        assert_eq!(client.next().await, Some(welcome(0x77)));
        Self {
            proxy,
            ports,
            servers,
            session: (client, first),
        }
    }

    /// Begins to bring the client to the second server.
    async fn bring(&self, comes: Duration) -> JoinHandle<Result<Option<Brought>>> {
        let (proxy, to) = (Arc::clone(&self.proxy), self.servers[1].server);
        let op = WireOp::Create;
        let wire = Wire::DropReply(Which { op, nth: 1 });
        let bringing = tokio::spawn(async move { proxy.bring(wire, to, SOON, comes).await });
        while locked(&self.proxy.rule).is_none() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        bringing
    }

    /// The client's create is applied, and its reply lost.
    async fn lose(&mut self) {
        let (client, server) = &mut self.session;
        client.say(&request(1, CREATE, "/lock/a")).await;
        server.apply(0x105).await;
        assert_eq!(client.next().await, None);
    }

    async fn is_refused(&self, server: usize) -> bool {
        let mut client = dial(self.ports[server]).await;
        tokio::time::timeout(SOON, client.frames.next()).await.unwrap().is_err()
    }
}

async fn dial(port: u16) -> End {
    End::of(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap())
}

#[tokio::test]
async fn only_that_server_takes_the_client_and_is_asked_until_it_does() {
    let mut two = Two::new().await;
    let bringing = two.bring(SOON).await;
    two.lose().await;
    assert!(two.is_refused(0).await);
    let mut client = dial(two.ports[1]).await;
    client.say(&hello()).await;
    // It is behind what the client has seen.
    for _ in 0..3 {
        assert_eq!(two.servers[1].accepted().await.next().await, Some(hello()));
    }
    let mut second = two.servers[1].accepted().await;
    assert_eq!(second.next().await, Some(hello()));
    second.say(&welcome(0x77)).await;
    assert_eq!(client.next().await, Some(welcome(0x77)));
    client.say(&request(2, CREATE, "/lock/a")).await;
    second.apply(0x106).await;
    assert!(client.next().await.is_some(), "the next one is answered");
    let Brought { dropped, came_after_ms } = bringing.await.unwrap().unwrap().expect("it acted");
    assert_eq!((dropped.zxid, dropped.path.as_deref()), (Some(0x105), Some("/lock/a")));
    assert!(came_after_ms.is_some());
    let _again = dial(two.ports[0]).await;
    two.servers[0].accepted().await;
}

#[tokio::test]
async fn a_client_that_does_not_come_may_go_anywhere_afterwards() {
    let mut two = Two::new().await;
    let bringing = two.bring(Duration::from_millis(50)).await;
    two.lose().await;
    let brought = bringing.await.unwrap().unwrap().expect("it acted");
    assert_eq!(brought.came_after_ms, None);
    let _again = dial(two.ports[0]).await;
    two.servers[0].accepted().await;
}

#[tokio::test]
async fn nothing_is_refused_once_nothing_is_to_be_lost() {
    let mut two = Two::new().await;
    let bringing = two.bring(SOON).await;
    two.proxy.disarm();
    assert_eq!(bringing.await.unwrap().unwrap(), None);
    let _other = dial(two.ports[0]).await;
    two.servers[0].accepted().await;
    let elsewhere: SocketAddr = (Ipv4Addr::LOCALHOST, 1).into();
    assert!(two.proxy.bring(Wire::Close, elsewhere, SOON, SOON).await.is_err());
}
