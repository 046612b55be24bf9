//! The part of ZooKeeper's framing that the proxy parses: frames behind a length of four bytes, the headers of requests
//! and replies, and the first answer of a connection.

use std::fmt;
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt};
use zooquake_history::fault::WireOp;

/// Longest frame that is taken for one; servers refuse requests of more than 1 MiB unless `jute.maxbuffer` is larger.
const LONGEST: usize = 64 << 20;

/// Cuts frames out of a stream.
#[derive(Debug)]
pub struct Frames<R> {
    from: R,
    buffer: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Frames<R> {
    /// Frames of this stream.
    pub fn new(from: R) -> Self {
        Self {
            from,
            buffer: Vec::new(),
        }
    }

    /// The next frame with its length in front; `None` at the end of the stream, also if that is inside a frame.
    ///
    /// A four letter word, which has no length in front, comes as it is.
    ///
    /// # Errors
    /// If the stream breaks, or what comes is no frame.
    pub async fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            if let Some(length) = self.length()?
                && self.buffer.len() >= length
            {
                let rest = self.buffer.split_off(length);
                return Ok(Some(std::mem::replace(&mut self.buffer, rest)));
            }
            if self.from.read_buf(&mut self.buffer).await? == 0 {
                return Ok(None);
            }
        }
    }

    fn length(&self) -> io::Result<Option<usize>> {
        let Some(head) = int(&self.buffer, 0) else {
            return Ok(None);
        };
        if is_word(&self.buffer) {
            return Ok(Some(4));
        }
        match usize::try_from(head) {
            Ok(length) if length <= LONGEST => Ok(Some(4 + length)),
            _ => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("a frame of {head} bytes"),
            )),
        }
    }

    /// Reads on until the stream ends, and keeps what comes for [`Frames::next`]. May be dropped at any moment.
    pub async fn until_end(&mut self) {
        while matches!(self.from.read_buf(&mut self.buffer).await, Ok(1..)) {}
    }

    /// Reads to the end and throws away what comes.
    pub async fn drain(&mut self) {
        while matches!(self.from.read_buf(&mut self.buffer).await, Ok(1..)) {
            self.buffer.clear();
        }
    }

    /// The stream itself, for what is not framed.
    pub fn unframed(&mut self) -> &mut R {
        &mut self.from
    }
}

/// Whether a connection that begins so asks a four letter word. Read as a length that would be more than 1.6 GB.
pub fn is_word(bytes: &[u8]) -> bool {
    bytes.len() >= 4 && bytes[..4].iter().all(u8::is_ascii_lowercase)
}

/// A request of a client, after its first one, which opens the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientFrame {
    /// Its number in the session; negative for pings and the like.
    pub xid: i32,
    /// Its type.
    pub code: i32,
    /// The znode, where the request begins with one.
    pub path: Option<String>,
}

/// Reads a request.
pub fn asked(frame: &[u8]) -> Option<ClientFrame> {
    let (xid, code) = (int(frame, 4)?, int(frame, 8)?);
    let path = has_path(code).then(|| string(frame, 12)).flatten();
    Some(ClientFrame { xid, code, path })
}

/// A reply of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyFrame {
    /// The request's number; negative for watch events, pings and the like.
    pub xid: i32,
    /// The zxid that the reply carries: of a write, its own.
    pub zxid: i64,
    /// Error code, 0 for none.
    pub err: i32,
}

impl ReplyFrame {
    /// Whether a write that is answered so has been applied.
    pub fn applied(&self, code: i32, frame: &[u8]) -> bool {
        // A transaction that failed as a whole is answered without error, and with results that are all errors.
        let failed = code == MULTI && int(frame, 20) == Some(-1);
        self.err == 0 && !failed
    }
}

/// Reads a reply's header.
pub fn replied(frame: &[u8]) -> Option<ReplyFrame> {
    Some(ReplyFrame {
        xid: int(frame, 4)?,
        zxid: long(frame, 8)?,
        err: int(frame, 16)?,
    })
}

/// A session, as the first answer of a connection grants it.
#[derive(Clone, PartialEq, Eq)]
pub struct Session {
    /// The id that the server has assigned.
    pub id: i64,
    timeout_ms: i32,
    /// With its length in front.
    password: Vec<u8>,
}

/// Without the password, which must not be logged.
impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.id)
    }
}

impl Session {
    /// The request that takes the session up over another connection.
    pub fn take_up(&self) -> Vec<u8> {
        // A server that lags behind the zxid that a client has seen last refuses it; 0 suits every server.
        let (version, last_zxid, read_only) = (0_i32, 0_i64, 0_u8);
        let body = [
            &version.to_be_bytes()[..],
            &last_zxid.to_be_bytes(),
            &self.timeout_ms.to_be_bytes(),
            &self.id.to_be_bytes(),
            &self.password,
            &[read_only],
        ];
        framed(&body.concat())
    }
}

/// The session that the first answer of a connection opens or takes up; `None` if the server refuses it.
pub fn session(frame: &[u8]) -> Option<Session> {
    let timeout_ms = int(frame, 8).filter(|timeout| *timeout > 0)?;
    Some(Session {
        id: long(frame, 12)?,
        timeout_ms,
        password: frame.get(20..24 + bytes(frame, 20)?.len())?.to_vec(),
    })
}

/// The request with this number that closes the connection's session.
pub fn close(xid: i32) -> Vec<u8> {
    framed(&[xid.to_be_bytes(), CLOSE_SESSION.to_be_bytes()].concat())
}

/// A frame of this body, with its length in front.
pub fn framed(body: &[u8]) -> Vec<u8> {
    [&(body.len() as i32).to_be_bytes(), body].concat()
}

const CREATE: i32 = 1;
const DELETE: i32 = 2;
const SET_DATA: i32 = 5;
const MULTI: i32 = 14;
const CREATE2: i32 = 15;
const CREATE_CONTAINER: i32 = 19;
const DELETE_CONTAINER: i32 = 20;
const CREATE_TTL: i32 = 21;
const CLOSE_SESSION: i32 = -11;

fn is_create(code: i32) -> bool {
    matches!(code, CREATE | CREATE2 | CREATE_CONTAINER | CREATE_TTL)
}

fn is_delete(code: i32) -> bool {
    matches!(code, DELETE | DELETE_CONTAINER)
}

fn has_path(code: i32) -> bool {
    is_create(code) || is_delete(code) || code == SET_DATA
}

/// Whether a request is of the kind.
pub fn is(code: i32, op: WireOp) -> bool {
    match op {
        WireOp::Create => is_create(code),
        WireOp::Delete => is_delete(code),
        WireOp::SetData => code == SET_DATA,
        WireOp::Multi => code == MULTI,
        WireOp::CloseSession => code == CLOSE_SESSION,
        WireOp::Removal => is_delete(code) || code == CLOSE_SESSION,
        WireOp::AnyWrite => has_path(code) || code == MULTI || code == CLOSE_SESSION,
    }
}

/// Name of a request's type.
pub fn name(code: i32) -> &'static str {
    match code {
        CLOSE_SESSION => "closeSession",
        MULTI => "multi",
        SET_DATA => "setData",
        _ if is_create(code) => "create",
        _ if is_delete(code) => "delete",
        _ => "request",
    }
}

fn int(bytes: &[u8], at: usize) -> Option<i32> {
    Some(i32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<i64> {
    Some(i64::from_be_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

fn string(from: &[u8], at: usize) -> Option<String> {
    Some(String::from_utf8_lossy(bytes(from, at)?).into_owned())
}

/// What stands behind its length; a length of -1 stands for none.
fn bytes(from: &[u8], at: usize) -> Option<&[u8]> {
    let length = usize::try_from(int(from, at)?).ok()?;
    from.get(at + 4..(at + 4).checked_add(length)?)
}
