//! One connection of the host's server with another one, carried until both sides have ended it.

use super::QuorumProxy;
use socket2::SockRef;
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout};

/// What marks the proxy's own connections, which are not redirected: `ZQ`.
pub const MARK: u32 = 0x5a51;

/// How long another server may take to take a connection. A follower that finds its leader not listening tries again
/// for about as long (`Learner.connectToLeader`), and this one's connection has been taken already.
const DIALS_WITHIN: Duration = Duration::from_secs(1);

/// Between two tries.
const DIALS_EVERY: Duration = Duration::from_millis(50);

/// The most bytes that wait at one connection; the other server's kernel keeps what comes beyond.
const WAITING: usize = 8 << 20;

/// The most bytes that are read at once.
const CHUNK: usize = 64 << 10;

/// Carries one connection to its end.
pub async fn relay(proxy: Arc<QuorumProxy>, server: TcpStream, peer: SocketAddr) {
    let Some(upstream) = dial(&proxy, peer).await else {
        reset(&server);
        return;
    };
    let _link = proxy.made();
    for stream in [&server, &upstream] {
        // An error only costs time.
        let _ = stream.set_nodelay(true);
    }
    let (mut from_server, mut to_server) = server.into_split();
    let (mut from_peer, mut to_peer) = upstream.into_split();
    let carried = tokio::try_join!(
        at_once(&mut from_server, &mut to_peer),
        late(&mut from_peer, &mut to_server, proxy.delay.subscribe()),
    );
    if carried.is_err() {
        // One side has reset the connection, or sends what the other does not take any more: so does this one.
        reset(to_server.as_ref());
        reset(to_peer.as_ref());
        to_server.forget();
        to_peer.forget();
    }
}

/// Connects to a server, as often as it takes; `None` if it does not take the connection in time.
async fn dial(proxy: &QuorumProxy, peer: SocketAddr) -> Option<TcpStream> {
    let dialled = async {
        loop {
            if let Ok(stream) = connect(peer, proxy.redirects.load(Ordering::Relaxed)).await {
                return stream;
            }
            sleep(DIALS_EVERY).await;
        }
    };
    timeout(DIALS_WITHIN, dialled).await.ok()
}

async fn connect(peer: SocketAddr, marked: bool) -> io::Result<TcpStream> {
    let socket = match peer {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    if marked {
        SockRef::from(&socket).set_mark(MARK)?;
    }
    socket.connect(peer).await
}

/// Has the kernel end a connection by RST once it is closed.
fn reset(stream: &TcpStream) {
    // If the option is not taken, the connection is closed all the same.
    let _ = stream.set_zero_linger();
}

/// From the host's server to the other one.
async fn at_once(from: &mut OwnedReadHalf, to: &mut OwnedWriteHalf) -> io::Result<()> {
    copy(from, to).await?;
    to.shutdown().await
}

/// From the other server to the host's one: each byte so long after it was read as the delay is at the moment, and no
/// longer than the connection lasts.
async fn late(
    from: &mut OwnedReadHalf,
    to: &mut OwnedWriteHalf,
    mut delay: watch::Receiver<Duration>,
) -> io::Result<()> {
    let mut waiting: VecDeque<(Instant, Vec<u8>)> = VecDeque::new();
    let mut bytes = 0;
    loop {
        let due = waiting.front().map(|(read, _)| *read + *delay.borrow_and_update());
        let mut chunk = Vec::new();
        tokio::select! {
            biased;
            () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                if let Some((_, chunk)) = waiting.pop_front() {
                    bytes -= chunk.len();
                    to.write_all(&chunk).await?;
                }
            }
            // The proxy keeps the channel open as long as it carries anything.
            _ = delay.changed(), if due.is_some() => {}
            read = read_some(from, &mut chunk), if bytes < WAITING => match read {
                Ok(1..) => {
                    bytes += chunk.len();
                    waiting.push_back((Instant::now(), chunk));
                }
                ended => {
                    for (_, chunk) in waiting {
                        to.write_all(&chunk).await?;
                    }
                    ended?;
                    return to.shutdown().await;
                }
            },
        }
    }
}

/// Reads some bytes; how many, 0 at the end. May be dropped at any moment.
async fn read_some(from: &mut OwnedReadHalf, into: &mut Vec<u8>) -> io::Result<usize> {
    from.readable().await?;
    into.reserve(CHUNK);
    from.read_buf(into).await
}
