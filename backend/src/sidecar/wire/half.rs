//! Half of a connection: what one side sends, passed on in order, at once or when the proxy lets it.

use super::Proxy;
use super::frame::{self, Frames};
use super::rule::FrameVerdict;
use super::traffic::Traffic;
use std::collections::VecDeque;
use std::future::pending;
use std::io;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// The most bytes that wait in a half; the sender's kernel keeps what comes beyond.
const WAITING: usize = 8 << 20;

/// The most bytes that are read at once of what is not framed.
const CHUNK: usize = 16 << 10;

/// Where what is passed on comes from.
pub enum HalfSource<'a> {
    /// From a client: its first request, which opens the session, and the others.
    Requests {
        frames: &'a mut Frames<OwnedReadHalf>,
        first: Option<Vec<u8>>,
    },
    /// From a client that asks a four letter word: that word.
    Word(Option<Vec<u8>>),
    /// From a server: its answer to the first request, and the others.
    Replies {
        frames: &'a mut Frames<OwnedReadHalf>,
        server: SocketAddr,
        first: bool,
    },
    /// From a server that was asked a four letter word.
    Text(&'a mut OwnedReadHalf),
}

/// What waits in a half.
enum HalfItem {
    Bytes(Vec<u8>),
    /// The sender has ended the connection.
    End(io::Result<()>),
}

impl HalfItem {
    fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::End(_) => 0,
        }
    }
}

/// Half of a connection.
pub struct Half<'a> {
    proxy: &'a Proxy,
    connection: u64,
    source: HalfSource<'a>,
    traffic: watch::Receiver<Traffic>,
    /// What was read and not passed on, with the moments at which it is due.
    waiting: VecDeque<(Instant, HalfItem)>,
    bytes: usize,
    ended: bool,
}

/// What still waits is lost with its half.
impl Drop for Half<'_> {
    fn drop(&mut self) {
        self.proxy.wait_less(self.bytes);
    }
}

impl<'a> Half<'a> {
    /// The half of a connection in which what this source yields is passed on.
    pub fn new(proxy: &'a Proxy, connection: u64, source: HalfSource<'a>) -> Self {
        Self {
            proxy,
            connection,
            source,
            traffic: proxy.traffic(),
            waiting: VecDeque::new(),
            bytes: 0,
            ended: false,
        }
    }

    /// Passes on what comes, until the sender ends the connection or a rule does, and all before that was passed on.
    ///
    /// # Errors
    /// If the sender breaks the connection, sends what is no frame, or the receiver takes nothing more.
    pub async fn carry(mut self, to: &mut OwnedWriteHalf) -> io::Result<()> {
        loop {
            let due = self.due();
            tokio::select! {
                biased;
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                    match self.waiting.pop_front() {
                        Some((_, HalfItem::Bytes(bytes))) => {
                            to.write_all(&bytes).await?;
                            self.passed(bytes.len());
                        }
                        Some((_, HalfItem::End(end))) => return end,
                        None => {}
                    }
                }
                // The proxy keeps the channel open as long as it carries anything.
                _ = self.traffic.changed(), if !self.waiting.is_empty() => {}
                next = self.source.next(self.proxy, self.connection), if !self.ended && self.bytes < WAITING => {
                    let next = match next {
                        Ok(Some(bytes)) => HalfItem::Bytes(bytes),
                        Ok(None) => HalfItem::End(Ok(())),
                        Err(error) => HalfItem::End(Err(error)),
                    };
                    match (self.waits(), next) {
                        (None, HalfItem::Bytes(bytes)) => {
                            to.write_all(&bytes).await?;
                            self.proxy.carried(&self.source);
                        }
                        (None, HalfItem::End(end)) => return end,
                        (Some(due), next) => self.queue(due, next),
                    }
                }
            }
        }
    }

    fn queue(&mut self, due: Instant, next: HalfItem) {
        self.ended = matches!(next, HalfItem::End(_));
        self.bytes += next.len();
        self.proxy.wait_more(next.len());
        if self.is_held(*self.traffic.borrow()) {
            self.proxy.held(self.connection, next.len());
        }
        self.waiting.push_back((due, next));
    }

    /// So many bytes that waited were passed on.
    fn passed(&mut self, bytes: usize) {
        self.bytes -= bytes;
        self.proxy.wait_less(bytes);
        if self.bytes == 0 && self.source.is_server() {
            self.proxy.delivered(self.connection);
        }
    }

    fn is_held(&self, traffic: Traffic) -> bool {
        traffic.reply_held == Some(self.connection) && self.source.is_server()
    }

    fn is_blocked(&self, traffic: Traffic) -> bool {
        traffic.stalled || self.is_held(traffic)
    }

    /// When what has waited longest is passed on; `None` if nothing waits, or nothing passes at the moment.
    fn due(&mut self) -> Option<Instant> {
        let traffic = *self.traffic.borrow_and_update();
        let (due, _) = self.waiting.front().filter(|_| !self.is_blocked(traffic))?;
        Some(match traffic.latency {
            Some(_) => *due,
            None => Instant::now(),
        })
    }

    /// When what was read just now is due, which is not before what was read earlier; `None` if it need not wait.
    fn waits(&self) -> Option<Instant> {
        let traffic = *self.traffic.borrow();
        let now = Instant::now();
        let due = traffic.latency.map(|latency| now + super::traffic::drawn(latency));
        let earlier = self.waiting.back().map(|(due, _)| *due);
        let blocked = self.is_blocked(traffic).then_some(now);
        due.max(earlier).max(blocked)
    }
}

impl HalfSource<'_> {
    /// Whether a server sends it.
    pub fn is_server(&self) -> bool {
        matches!(self, Self::Replies { .. } | Self::Text(_))
    }

    /// Whether it is what a server sends on a session's connection.
    pub fn is_session(&self) -> bool {
        matches!(self, Self::Replies { .. })
    }

    /// What comes next; `None` at the end of the connection, which may be a rule's doing. May be dropped at any moment.
    async fn next(&mut self, proxy: &Proxy, connection: u64) -> io::Result<Option<Vec<u8>>> {
        match self {
            Self::Requests { frames, first } => {
                if let Some(first) = first.take() {
                    return Ok(Some(first));
                }
                let frame = frames.next().await?;
                Ok(frame.filter(|frame| proxy.asked(connection, frame) != FrameVerdict::Drop))
            }
            Self::Word(word) => match word.take() {
                Some(word) => Ok(Some(word)),
                // What a client sends after it is not passed on; the server ends the connection.
                None => pending().await,
            },
            Self::Replies { frames, server, first } => {
                let frame = frames.next().await?;
                if let Some(frame) = frame.as_deref().filter(|_| std::mem::take(first)) {
                    proxy.answered(connection, *server, frame::session(frame));
                    return Ok(Some(frame.to_vec()));
                }
                Ok(frame.filter(|frame| proxy.replied(connection, frame) != FrameVerdict::Drop))
            }
            Self::Text(stream) => {
                let mut chunk = Vec::with_capacity(CHUNK);
                let read = stream.read_buf(&mut chunk).await?;
                Ok((read > 0).then_some(chunk))
            }
        }
    }
}
