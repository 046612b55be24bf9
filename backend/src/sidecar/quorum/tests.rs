//! The quorum proxy between a follower and a leader of these tests, over the loopback and without redirection.

use super::{QuorumProxy, Relief, end_at};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

const SOON: Duration = Duration::from_secs(10);

/// So long that nothing comes before it is ended.
const LONG: Duration = Duration::from_secs(3_600);

/// Long enough to see that nothing comes.
const MOMENT: Duration = Duration::from_millis(100);

/// A leader, and a follower's way to it.
struct QuorumProxyBench {
    proxy: Arc<QuorumProxy>,
    leader: TcpListener,
    way: SocketAddr,
}

impl QuorumProxyBench {
    async fn new() -> Self {
        let leader = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let proxy = Arc::new(QuorumProxy::default());
        let ports = proxy.listen(&[leader.local_addr().unwrap()]).await.unwrap();
        let way = (Ipv4Addr::LOCALHOST, ports[0]).into();
        Self { proxy, leader, way }
    }

    /// The follower's end of a connection, and the leader's.
    async fn connected(&self) -> (TcpStream, TcpStream) {
        let before = self.proxy.links().made;
        let follower = TcpStream::connect(self.way).await.unwrap();
        let (leader, _) = timeout(SOON, self.leader.accept()).await.unwrap().unwrap();
        self.until(|proxy| proxy.links().made > before).await;
        (follower, leader)
    }

    async fn until(&self, holds: impl Fn(&QuorumProxy) -> bool) {
        let waits = async {
            while !holds(&self.proxy) {
                sleep(Duration::from_millis(1)).await;
            }
        };
        timeout(SOON, waits).await.expect("it comes about");
    }
}

async fn read(stream: &mut TcpStream, bytes: usize) -> Vec<u8> {
    let mut read = vec![0; bytes];
    timeout(SOON, stream.read_exact(&mut read))
        .await
        .expect("in time")
        .expect("bytes");
    read
}

async fn nothing_comes(stream: &mut TcpStream) {
    let came = timeout(MOMENT, stream.read_u8()).await;
    assert!(came.is_err(), "{came:?}");
}

/// Bytes whose order shows.
fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at % 251) as u8).collect()
}

#[tokio::test]
async fn bytes_keep_their_order_whenever_the_delay_changes() {
    let bench = QuorumProxyBench::new().await;
    let (mut follower, leader) = bench.connected().await;
    let sent = pattern(3 << 20);
    let (mut from_follower, mut to_follower) = leader.into_split();
    let send = async {
        for (at, part) in sent.chunks(100_001).enumerate() {
            match at % 3 {
                0 => drop(bench.proxy.lag(Duration::from_millis(20), LONG).unwrap()),
                1 => drop(bench.proxy.lag(Duration::from_millis(3), LONG).unwrap()),
                _ => drop(bench.proxy.catch_up()),
            }
            to_follower.write_all(part).await.unwrap();
            sleep(Duration::from_millis(2)).await;
        }
    };
    let ((), came) = tokio::join!(send, read(&mut follower, sent.len()));
    assert!(came == sent);
    follower.write_all(&sent).await.unwrap();
    let mut back = vec![0; sent.len()];
    timeout(SOON, from_follower.read_exact(&mut back))
        .await
        .unwrap()
        .unwrap();
    assert!(back == sent);
}

#[tokio::test]
async fn what_the_leader_sends_is_late_by_the_delay_and_what_the_follower_sends_is_not() {
    let bench = QuorumProxyBench::new().await;
    let (mut follower, mut leader) = bench.connected().await;
    let delay = Duration::from_millis(300);
    bench.proxy.lag(delay, LONG).unwrap();
    let sent = Instant::now();
    leader.write_all(b"proposal").await.unwrap();
    follower.write_all(b"request").await.unwrap();
    assert_eq!(read(&mut leader, 7).await, b"request");
    assert_eq!(read(&mut follower, 8).await, b"proposal");
    assert!(sent.elapsed() >= delay);
    bench.proxy.lag(LONG, LONG).unwrap();
    leader.write_all(b"late").await.unwrap();
    follower.write_all(b"prompt").await.unwrap();
    assert_eq!(read(&mut leader, 6).await, b"prompt");
    nothing_comes(&mut follower).await;
}

#[tokio::test]
async fn what_has_waited_comes_at_once_when_the_delay_ends() {
    let bench = QuorumProxyBench::new().await;
    let (mut follower, mut leader) = bench.connected().await;
    assert_eq!(bench.proxy.catch_up(), Relief { lagged: false, made: 0 });
    bench.proxy.lag(LONG, LONG).unwrap();
    for part in [&b"one "[..], b"two "] {
        leader.write_all(part).await.unwrap();
        nothing_comes(&mut follower).await;
    }
    assert_eq!(bench.proxy.catch_up(), Relief { lagged: true, made: 0 });
    assert_eq!(read(&mut follower, 8).await, b"one two ");
    leader.write_all(b"three").await.unwrap();
    assert_eq!(read(&mut follower, 5).await, b"three");
}

#[tokio::test]
async fn a_delay_ends_by_itself_and_its_limit_is_not_that_of_the_next_one() {
    let bench = QuorumProxyBench::new().await;
    let (mut follower, mut leader) = bench.connected().await;
    bench.proxy.lag(LONG, MOMENT).unwrap();
    leader.write_all(b"a").await.unwrap();
    assert_eq!(read(&mut follower, 1).await, b"a");
    bench.proxy.lag(LONG, MOMENT).unwrap();
    bench.proxy.catch_up();
    bench.proxy.lag(LONG, LONG).unwrap();
    leader.write_all(b"b").await.unwrap();
    nothing_comes(&mut follower).await;
    nothing_comes(&mut follower).await;
}

#[tokio::test]
async fn a_leader_that_ends_the_connection_ends_it_at_once_after_what_it_sent() {
    let bench = QuorumProxyBench::new().await;
    let (mut follower, mut leader) = bench.connected().await;
    bench.proxy.lag(LONG, LONG).unwrap();
    leader.write_all(b"last words").await.unwrap();
    drop(leader);
    let mut rest = Vec::new();
    timeout(SOON, follower.read_to_end(&mut rest)).await.unwrap().unwrap();
    assert_eq!(rest, b"last words");
    drop(follower);
    bench.until(|proxy| proxy.links().open == 0).await;
}

#[tokio::test]
async fn a_follower_s_end_and_resets_are_passed_on_at_once() {
    let bench = QuorumProxyBench::new().await;
    let (mut follower, mut leader) = bench.connected().await;
    bench.proxy.lag(LONG, LONG).unwrap();
    follower.write_all(b"bye").await.unwrap();
    follower.shutdown().await.unwrap();
    let mut rest = Vec::new();
    timeout(SOON, leader.read_to_end(&mut rest)).await.unwrap().unwrap();
    assert_eq!(rest, b"bye");
    // The other half goes on.
    bench.proxy.catch_up();
    leader.write_all(b"still here").await.unwrap();
    assert_eq!(read(&mut follower, 10).await, b"still here");

    for leader_resets in [true, false] {
        let (follower, leader) = bench.connected().await;
        let (ends, mut hears) = if leader_resets {
            (leader, follower)
        } else {
            (follower, leader)
        };
        ends.set_zero_linger().unwrap();
        drop(ends);
        let heard = timeout(SOON, hears.read_u8()).await.unwrap().unwrap_err();
        assert_eq!(heard.kind(), std::io::ErrorKind::ConnectionReset);
    }
}

#[tokio::test]
async fn a_leader_that_takes_no_connection_is_asked_again_and_then_the_follower_s_is_reset() {
    let leader = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = leader.local_addr().unwrap();
    drop(leader);
    let proxy = Arc::new(QuorumProxy::default());
    let port = proxy.listen(&[address]).await.unwrap()[0];
    let mut follower = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap();
    let heard = timeout(SOON, follower.read_u8()).await.unwrap().unwrap_err();
    assert_eq!(heard.kind(), std::io::ErrorKind::ConnectionReset);
    assert_eq!(proxy.links().made, 0);

    let mut follower = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap();
    sleep(MOMENT).await;
    let leader = TcpListener::bind(address).await.unwrap();
    let (mut accepted, _) = timeout(SOON, leader.accept()).await.unwrap().unwrap();
    follower.write_all(b"hello").await.unwrap();
    assert_eq!(read(&mut accepted, 5).await, b"hello");
}

#[tokio::test]
async fn only_so_much_waits_here_and_nothing_of_it_is_lost() {
    let bench = QuorumProxyBench::new().await;
    let (mut follower, mut leader) = bench.connected().await;
    bench.proxy.lag(LONG, LONG).unwrap();
    let sent = pattern(64 << 20);
    let mut written = 0;
    while let Ok(more) = timeout(MOMENT * 5, leader.write(&sent[written..])).await {
        written += more.unwrap();
        assert!(written < sent.len(), "all of it waits here");
    }
    bench.proxy.catch_up();
    let rest = async { leader.write_all(&sent[written..]).await.unwrap() };
    let ((), came) = tokio::join!(rest, read(&mut follower, sent.len()));
    assert!(came == sent);
}

#[tokio::test]
async fn a_server_that_changes_its_leader_is_known_to_have() {
    let bench = QuorumProxyBench::new().await;
    assert!(bench.proxy.lag(LONG, LONG).is_err(), "it follows nobody");
    let first = bench.connected().await;
    let before = bench.proxy.lag(LONG, LONG).unwrap();
    assert_eq!((before.made, before.open), (1, 1));
    drop(first);
    bench.until(|proxy| proxy.links().open == 0).await;
    let _second = bench.connected().await;
    assert_eq!(bench.proxy.catch_up(), Relief { lagged: true, made: 1 });
}

#[tokio::test]
async fn another_program_ends_the_delay() {
    let bench = QuorumProxyBench::new().await;
    let (mut follower, mut leader) = bench.connected().await;
    let ends = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = ends.local_addr().unwrap();
    let answering = tokio::spawn(Arc::clone(&bench.proxy).answer_ends(ends));
    bench.proxy.lag(LONG, LONG).unwrap();
    leader.write_all(b"late").await.unwrap();
    nothing_comes(&mut follower).await;
    assert!(end_at(address).await.unwrap());
    assert_eq!(read(&mut follower, 4).await, b"late");
    assert!(!end_at(address).await.unwrap(), "there is none any more");
    answering.abort();
    assert!(answering.await.unwrap_err().is_cancelled());
    assert!(!end_at(address).await.unwrap(), "there is no proxy");
}
