//! One connection of the client, carried on to a server until one side or a rule ends it.

use super::Proxy;
use super::frame::{self, Frames};
use super::half::{Half, HalfSource};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use zooquake_history::fault::Wire;

/// How long a closed connection is still read, so that its close is a FIN and not a reset.
const LINGER: Duration = Duration::from_secs(1);

/// The connection to the server.
pub struct Upstream {
    /// What the server sends.
    pub answers: Frames<OwnedReadHalf>,
    /// What is sent to it.
    pub out: OwnedWriteHalf,
}

impl Upstream {
    /// Connects to a server.
    ///
    /// # Errors
    /// If the server does not take the connection.
    pub async fn connect(server: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(server).await?;
        // Without it small requests wait for acknowledgements; an error only costs time.
        let _ = stream.set_nodelay(true);
        let (from_server, out) = stream.into_split();
        let answers = Frames::new(from_server);
        Ok(Self { answers, out })
    }
}

/// Carries one connection to its end.
pub async fn relay(proxy: Arc<Proxy>, client: TcpStream, server: SocketAddr) {
    // As in `Upstream::connect`.
    let _ = client.set_nodelay(true);
    let open = proxy.opened(server);
    let (from_client, mut to_client) = client.into_split();
    let mut asks = Frames::new(from_client);
    let mut upstream = None;
    let how = tokio::select! {
        how = proxy.refused(server) => how,
        // However it broke: the client sees its connection end.
        _ = carry(&proxy, open.id, &mut asks, &mut to_client, server, &mut upstream) => Wire::Close,
    };
    if how == Wire::Reset {
        reset(asks, to_client);
        return;
    }
    // An error means that the peer has gone already.
    let _ = to_client.shutdown().await;
    drop(open);
    let rest = async {
        match &mut upstream {
            Some(Upstream { answers, out }) => {
                let _ = out.shutdown().await;
                tokio::join!(asks.drain(), answers.drain());
            }
            None => asks.drain().await,
        }
    };
    // A peer that keeps its end open does not hold this one.
    let _ = tokio::time::timeout(LINGER, rest).await;
}

/// Ends a connection by RST: the other side gets an error, not an end.
fn reset(asks: Frames<OwnedReadHalf>, to_client: OwnedWriteHalf) {
    // If the option is not taken, the connection is closed all the same.
    let _ = to_client.as_ref().set_zero_linger();
    // Dropped as it is, this half would send a FIN first.
    to_client.forget();
    drop(asks);
}

async fn carry(
    proxy: &Proxy,
    id: u64,
    asks: &mut Frames<OwnedReadHalf>,
    to_client: &mut OwnedWriteHalf,
    server: SocketAddr,
    upstream: &mut Option<Upstream>,
) -> io::Result<()> {
    let connected = tokio::select! {
        connected = async {
            proxy.lets_connect().await;
            Upstream::connect(server).await
        } => connected?,
        // What a client has given up must not reach a server later.
        () = asks.until_end() => return Ok(()),
    };
    let Upstream { answers, out } = upstream.insert(connected);
    let Some(first) = asks.next().await? else { return Ok(()) };
    let (up, down) = match frame::is_word(&first) {
        true => (HalfSource::Word(Some(first)), HalfSource::Text(answers.unframed())),
        false => (
            HalfSource::Requests {
                frames: asks,
                first: Some(first),
            },
            HalfSource::Replies {
                frames: answers,
                server,
                first: true,
            },
        ),
    };
    tokio::select! {
        ended = Half::new(proxy, id, up).carry(out) => ended,
        ended = Half::new(proxy, id, down).carry(to_client) => ended,
    }
}
