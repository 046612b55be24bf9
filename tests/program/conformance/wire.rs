//! Lines to a real ensemble: a relay on the loopback, which understands as much of ZooKeeper's framing as it takes to
//! lose one request, or its reply, and to close a session from another connection.

use super::line::{Line, LineSource, Loss, Strike, locked};
use super::storm::Storm;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use zooquake_workloads::zk::{Connect, Zk, real};

const SYNC: i32 = 9;
const MULTI: i32 = 14;
const CLOSE: i32 = -11;

/// How often a server may hang up on who closes a session.
const HANG_UPS: u32 = 5;

/// Lines to these servers.
pub struct RealLines {
    pub servers: Vec<SocketAddr>,
    pub timeout: Duration,
    pub storm: Arc<Storm>,
}

impl LineSource for RealLines {
    fn line(&self) -> Arc<dyn Line> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        listener.set_nonblocking(true).expect("a socket that does not block");
        let listener = TcpListener::from_std(listener).expect("a listener");
        let connect = listener.local_addr().expect("its address").to_string();
        let relay = Arc::new(Relay {
            next: AtomicUsize::new(fastrand::usize(..)),
            servers: self.servers.clone(),
            loses: Mutex::new(None),
            password: Mutex::default(),
            cuts: watch::Sender::new(0),
            ended: watch::Sender::new(0),
            held: watch::Sender::new(false),
        });
        Arc::new(RealLine {
            ensemble: real::RealEnsemble {
                connect,
                session_timeout: self.timeout,
            },
            listens: tokio::spawn(Arc::clone(&relay).listen(listener)).abort_handle(),
            relay,
        })
    }

    fn enter(&self) -> BoxFuture<'static, Box<dyn Send>> {
        self.storm.enter()
    }

    fn strike(&self) -> Strike {
        self.storm.strike()
    }
}

struct RealLine {
    ensemble: real::RealEnsemble,
    relay: Arc<Relay>,
    listens: AbortHandle,
}

impl Drop for RealLine {
    fn drop(&mut self) {
        self.listens.abort();
        self.relay.cuts.send_modify(|cuts| *cuts += 1);
    }
}

impl Line for RealLine {
    fn connect(&self) -> BoxFuture<'static, Arc<dyn Zk>> {
        self.ensemble.connect()
    }

    fn cut(&self) -> BoxFuture<'static, ()> {
        let relay = Arc::clone(&self.relay);
        async move {
            let mut ended = relay.ended.subscribe();
            let before = *ended.borrow();
            relay.cuts.send_modify(|cuts| *cuts += 1);
            // A session in sync has a connection, so one ends.
            let ends = tokio::time::timeout(Duration::from_secs(5), ended.wait_for(|ended| *ended > before)).await;
            ends.expect("a connection that ends").expect("a relay");
        }
        .boxed()
    }

    fn lose(&self, loss: Loss) {
        *locked(&self.relay.loses) = Some(Rule { loss, of: None });
    }

    fn lost(&self) -> bool {
        locked(&self.relay.loses).take().is_none()
    }

    fn expire(&self, session: i64) -> BoxFuture<'static, ()> {
        let relay = Arc::clone(&self.relay);
        async move {
            relay.held.send_replace(true);
            // A server hangs up if it takes the session to be another one's, which was just lost: whether it has closed
            // it is open.
            let mut hung_up = 0;
            while let Err(error) = relay.close(session).await {
                match error.kind() {
                    io::ErrorKind::UnexpectedEof if hung_up < HANG_UPS => hung_up += 1,
                    io::ErrorKind::NotFound if hung_up > 0 => break,
                    _ => panic!("closing a session from elsewhere: {error}"),
                }
            }
            relay.held.send_replace(false);
        }
        .boxed()
    }
}

/// The request that is lost, or whose reply is.
struct Rule {
    loss: Loss,
    /// Its number and type, once it was sent.
    of: Option<(i32, i32)>,
}

struct Relay {
    servers: Vec<SocketAddr>,
    /// Each connection goes to the next server.
    next: AtomicUsize,
    loses: Mutex<Option<Rule>>,
    /// Timeout and password of the session, as the last server that took it up answered.
    password: Mutex<Vec<u8>>,
    cuts: watch::Sender<u64>,
    /// How many connections have ended.
    ended: watch::Sender<u64>,
    /// Whether new connections wait.
    held: watch::Sender<bool>,
}

impl Relay {
    async fn listen(self: Arc<Self>, listener: TcpListener) {
        while let Ok((client, _)) = listener.accept().await {
            let relay = Arc::clone(&self);
            let mut cuts = self.cuts.subscribe();
            tokio::spawn(async move {
                tokio::select! {
                    // However it ends: the client looks for another connection.
                    _ = relay.carry(client) => {}
                    _ = cuts.changed() => {}
                }
                relay.ended.send_modify(|ended| *ended += 1);
            });
        }
    }

    fn server(&self) -> SocketAddr {
        self.servers[self.next.fetch_add(1, Ordering::SeqCst) % self.servers.len()]
    }

    async fn carry(&self, client: TcpStream) -> io::Result<()> {
        // The sender is kept as long as the relay is.
        let _ = self.held.subscribe().wait_for(|held| !held).await;
        let server = TcpStream::connect(self.server()).await?;
        client.set_nodelay(true)?;
        server.set_nodelay(true)?;
        let ((asks, to_client), (answers, to_server)) = (client.into_split(), server.into_split());
        tokio::select! {
            ended = self.upward(asks, to_server) => ended,
            ended = self.downward(answers, to_client) => ended,
        }
    }

    async fn upward(&self, mut asks: OwnedReadHalf, mut out: OwnedWriteHalf) -> io::Result<()> {
        out.write_all(&frame(&mut asks).await?).await?;
        loop {
            let frame = frame(&mut asks).await?;
            if self.loses_request(&frame) {
                return Ok(());
            }
            out.write_all(&frame).await?;
        }
    }

    async fn downward(&self, mut answers: OwnedReadHalf, mut out: OwnedWriteHalf) -> io::Result<()> {
        let first = frame(&mut answers).await?;
        if int(&first, 8) > 0 {
            *locked(&self.password) = [&first[8..12], &first[20..40]].concat();
        }
        out.write_all(&first).await?;
        loop {
            let frame = frame(&mut answers).await?;
            if self.loses_reply(&frame) {
                return Ok(());
            }
            out.write_all(&frame).await?;
        }
    }

    fn loses_request(&self, frame: &[u8]) -> bool {
        let (xid, code) = (int(frame, 4), int(frame, 8));
        let mut loses = locked(&self.loses);
        match &mut *loses {
            // The library's own requests have negative numbers.
            _ if xid < 0 || [SYNC, CLOSE].contains(&code) => false,
            Some(rule) if rule.loss == Loss::Reply => {
                rule.of = Some((xid, code));
                false
            }
            rule => rule.take().is_some(),
        }
    }

    fn loses_reply(&self, frame: &[u8]) -> bool {
        let (xid, err) = (int(frame, 4), int(frame, 16));
        let mut loses = locked(&self.loses);
        let of = loses.as_ref().and_then(|rule| rule.of).filter(|(of, _)| *of == xid);
        // A multi that failed is answered without an error, and with results that are all errors.
        let done = of.is_some_and(|(_, code)| err == 0 && !(code == MULTI && int(frame, 20) == -1));
        done && loses.take().is_some()
    }

    /// Takes the session up over another connection, and closes it there. [`io::ErrorKind::NotFound`] if it is over
    /// already.
    async fn close(&self, session: i64) -> io::Result<()> {
        let password = locked(&self.password).clone();
        let (timeout, password) = password.split_at(4);
        let hello = [&[0; 12], timeout, &session.to_be_bytes(), password, &[0]].concat();
        let (mut answers, mut out) = TcpStream::connect(self.server()).await?.into_split();
        out.write_all(&framed(&hello)).await?;
        if int(&frame(&mut answers).await?, 8) <= 0 {
            return Err(io::Error::new(io::ErrorKind::NotFound, "the session is over already"));
        }
        let xid = 1_i32;
        out.write_all(&framed(&[xid.to_be_bytes(), CLOSE.to_be_bytes()].concat()))
            .await?;
        let reply = frame(&mut answers).await?;
        match (int(&reply, 4), int(&reply, 16)) {
            (1, 0) => Ok(()),
            other => Err(io::Error::other(format!("closing it is answered by {other:?}"))),
        }
    }
}

/// The next frame, with its length in front.
async fn frame(from: &mut OwnedReadHalf) -> io::Result<Vec<u8>> {
    let mut frame = vec![0; 4];
    from.read_exact(&mut frame).await?;
    let length = usize::try_from(int(&frame, 0)).map_err(io::Error::other)?;
    frame.resize(4 + length, 0);
    from.read_exact(&mut frame[4..]).await?;
    Ok(frame)
}

fn framed(body: &[u8]) -> Vec<u8> {
    [&(body.len() as i32).to_be_bytes(), body].concat()
}

/// The number at a place; 0 beyond the end, where short frames have nothing.
fn int(bytes: &[u8], at: usize) -> i32 {
    let bytes = bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
    bytes.map_or(0, i32::from_be_bytes)
}
