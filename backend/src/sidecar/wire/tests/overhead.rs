//! What the proxy costs while no fault is on: against a server that answers at once, beside no proxy.
//!
//! `cargo test --release -p zooquake-backend overhead -- --ignored --nocapture`

use super::bench::{ConnectionEnd, GET, hello, reply, request, welcome};
use crate::sidecar::wire::Proxy;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};

/// Round trips of which the median counts.
const TRIPS: usize = 4_000;

/// Requests whose rate counts.
const REQUESTS: i32 = 100_000;

/// How many of them are under way at once.
const WINDOW: i32 = 64;

/// The most that the proxy may add to a round trip.
const ADDED: Duration = Duration::from_micros(200);

/// The least requests a second that the proxy carries.
const RATE: f64 = 20_000.0;

/// Rounds of each, in turns; the best counts, because other work only makes it worse.
const ROUNDS: usize = 5;

/// A server that answers each request at once.
async fn server() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
    let address = listener.local_addr().expect("its address");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                stream.set_nodelay(true).expect("a live socket");
                let mut client = ConnectionEnd::new(stream);
                client.next().await.expect("a request for a session");
                client.say(&welcome(0x77)).await;
                while let Ok(Some(frame)) = client.frames.next().await {
                    let xid = i32::from_be_bytes(frame[4..8].try_into().expect("four bytes"));
                    client.say(&reply(xid, 1, 0, &[0; 80])).await;
                }
            });
        }
    });
    address
}

async fn session(address: SocketAddr) -> ConnectionEnd {
    let stream = TcpStream::connect(address).await.expect("it listens");
    stream.set_nodelay(true).expect("a live socket");
    let mut client = ConnectionEnd::new(stream);
    client.say(&hello()).await;
    assert_eq!(client.next().await, Some(welcome(0x77)));
    client
}

/// The median time of a round trip.
async fn trip(address: SocketAddr) -> Duration {
    let mut client = session(address).await;
    let mut times = Vec::with_capacity(TRIPS);
    for xid in 0..TRIPS as i32 {
        let begun = Instant::now();
        client.say(&request(xid, GET, "/zooquake/probe")).await;
        client.next().await.expect("an answer");
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    times[times.len() / 2]
}

/// Requests a second, with some under way at once.
async fn rate(address: SocketAddr) -> f64 {
    let mut client = session(address).await;
    let begun = Instant::now();
    for xid in 0..WINDOW {
        client.say(&request(xid, GET, "/zooquake/probe")).await;
    }
    for xid in WINDOW..REQUESTS + WINDOW {
        client.next().await.expect("an answer");
        if xid < REQUESTS {
            client.say(&request(xid, GET, "/zooquake/probe")).await;
        }
    }
    f64::from(REQUESTS) / begun.elapsed().as_secs_f64()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "measures, which takes a quiet machine"]
#[expect(clippy::print_stdout, reason = "its figures are what it is for")]
async fn overhead_without_a_fault_is_small() {
    let server = server().await;
    let proxy = Arc::new(Proxy::default());
    let port = proxy.open(&[server], 0).await.expect("a port")[0];
    let through: SocketAddr = (Ipv4Addr::LOCALHOST, port).into();
    let (mut trips, mut rates) = ([Duration::MAX; 2], [0.0_f64; 2]);
    for _ in 0..ROUNDS {
        for (way, address) in [server, through].into_iter().enumerate() {
            trips[way] = trips[way].min(trip(address).await);
            rates[way] = rates[way].max(rate(address).await);
        }
    }
    let added = trips[1].saturating_sub(trips[0]);
    println!(
        "round trip {:?} past the proxy, {:?} through it: {added:?} added",
        trips[0], trips[1]
    );
    println!("requests/s {:.0} past the proxy, {:.0} through it", rates[0], rates[1]);
    assert!(added < ADDED, "{added:?}");
    assert!(rates[1] >= RATE, "{:.0}", rates[1]);
}
