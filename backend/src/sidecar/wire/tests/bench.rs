//! A client, a server and the proxy between them, over the loopback.

pub use crate::sidecar::wire::frame::framed;
use crate::sidecar::wire::frame::{Frames, is_word};
use crate::sidecar::wire::{Proxy, RuleEffect, locked};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use zooquake_history::fault::{NthRequest, Wire, WireOp};

pub const SOON: Duration = Duration::from_secs(5);
pub const CREATE: i32 = 1;
pub const DELETE: i32 = 2;
pub const GET: i32 = 4;
pub const SET: i32 = 5;
pub const MULTI: i32 = 14;
pub const CLOSE: i32 = -11;
pub const PASSWORD: [u8; 16] = [0xab; 16];

pub fn hello() -> Vec<u8> {
    framed(&[0; 44])
}

pub fn request(xid: i32, code: i32, path: &str) -> Vec<u8> {
    let mut body = [xid.to_be_bytes(), code.to_be_bytes()].concat();
    if !path.is_empty() {
        body.extend((path.len() as i32).to_be_bytes());
        body.extend(path.as_bytes());
    }
    framed(&body)
}

pub fn reply(xid: i32, zxid: i64, err: i32, rest: &[u8]) -> Vec<u8> {
    framed(&[&xid.to_be_bytes()[..], &zxid.to_be_bytes(), &err.to_be_bytes(), rest].concat())
}

pub fn welcome(session: i64) -> Vec<u8> {
    connected(2000, session, PASSWORD)
}

/// The answer to a session that is over.
pub fn refusal() -> Vec<u8> {
    connected(0, 0, [0; 16])
}

fn connected(timeout_ms: i32, session: i64, password: [u8; 16]) -> Vec<u8> {
    let head = [0_i32.to_be_bytes(), timeout_ms.to_be_bytes()].concat();
    let password = [&16_i32.to_be_bytes()[..], &password, &[0]].concat();
    framed(&[head, session.to_be_bytes().to_vec(), password].concat())
}

pub struct ConnectionEnd {
    pub frames: Frames<OwnedReadHalf>,
    out: OwnedWriteHalf,
}

impl ConnectionEnd {
    pub fn new(stream: TcpStream) -> Self {
        let (frames, out) = stream.into_split();
        Self {
            frames: Frames::new(frames),
            out,
        }
    }

    pub async fn next(&mut self) -> Option<Vec<u8>> {
        timeout(SOON, self.frames.next())
            .await
            .expect("in time")
            .expect("frames")
    }

    /// Nothing comes for this long.
    pub async fn hears_nothing(&mut self, time: Duration) {
        let next = timeout(time, self.frames.next()).await;
        assert!(next.is_err(), "{next:?}");
    }

    pub async fn say(&mut self, bytes: &[u8]) {
        self.out.write_all(bytes).await.expect("the proxy reads");
    }

    /// Answers a request as applied, as an ensemble would.
    pub async fn apply(&mut self, zxid: i64) {
        let frame = self.next().await.expect("a request");
        let xid = i32::from_be_bytes(frame[4..8].try_into().unwrap());
        self.say(&reply(xid, zxid, 0, &[])).await;
    }
}

/// A proxy in front of one server, whose connections the test takes from a queue.
pub struct WireProxyBench {
    pub proxy: Arc<Proxy>,
    pub server: SocketAddr,
    pub port: u16,
    pub connections: mpsc::UnboundedReceiver<ConnectionEnd>,
}

impl WireProxyBench {
    /// Every connection is the test's.
    pub async fn new() -> Self {
        Self::with(|stream, sender| drop(sender.send(ConnectionEnd::new(stream)))).await
    }

    /// Four letter words are answered, and the other connections are the test's.
    pub async fn answering_words() -> Self {
        Self::with(|mut stream, sender| {
            tokio::spawn(async move {
                let mut first = [0; 4];
                while stream.peek(&mut first).await.is_ok_and(|read| (1..4).contains(&read)) {}
                match is_word(&first) {
                    true => stream.write_all(b"Mode: leader\n").await.expect("the probe listens"),
                    false => drop(sender.send(ConnectionEnd::new(stream))),
                }
            });
        })
        .await
    }

    async fn with(mut takes: impl FnMut(TcpStream, mpsc::UnboundedSender<ConnectionEnd>) + Send + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let server = listener.local_addr().unwrap();
        let (sender, connections) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                takes(stream, sender.clone());
            }
        });
        let proxy = Arc::new(Proxy::default());
        let port = proxy.open(&[server], 0).await.unwrap()[0];
        Self {
            proxy,
            server,
            port,
            connections,
        }
    }

    pub async fn dial(&self) -> ConnectionEnd {
        ConnectionEnd::new(TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).await.unwrap())
    }

    /// Whether a connection is ended at once: while it is made, or before anything comes on it.
    pub async fn refuses(&self) -> bool {
        match TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).await {
            Ok(stream) => {
                let end = timeout(SOON, ConnectionEnd::new(stream).frames.next()).await;
                matches!(end.expect("in time"), Ok(None) | Err(_))
            }
            Err(_) => true,
        }
    }

    /// The next connection that the server takes.
    pub async fn accepted(&mut self) -> ConnectionEnd {
        timeout(SOON, self.connections.recv()).await.unwrap().unwrap()
    }

    /// A client and its server, past the opening of session 0x77.
    pub async fn session(&mut self) -> (ConnectionEnd, ConnectionEnd) {
        self.answered(&welcome(0x77)).await
    }

    /// A client and its server, past the request for a session and this answer.
    pub async fn answered(&mut self, answer: &[u8]) -> (ConnectionEnd, ConnectionEnd) {
        let mut client = self.dial().await;
        client.say(&hello()).await;
        let mut server = self.accepted().await;
        assert_eq!(server.next().await, Some(hello()));
        server.say(answer).await;
        assert_eq!(client.next().await.as_deref(), Some(answer));
        (client, server)
    }

    pub async fn armed(&self, wire: Wire) -> JoinHandle<Option<RuleEffect>> {
        let proxy = Arc::clone(&self.proxy);
        let task = tokio::spawn(async move { proxy.arm(wire, SOON).await.expect("there is a proxy") });
        while locked(&self.proxy.rule).is_none() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        task
    }
}

pub fn held_reply_of(op: WireOp, nth: u32) -> Wire {
    Wire::HoldReply(NthRequest { op, nth })
}

pub fn reply_of(op: WireOp, nth: u32) -> Wire {
    Wire::DropReply(NthRequest { op, nth })
}
