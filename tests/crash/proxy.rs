//! A proxy between zooquake and its engine, which fails as engines do.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{fmt, thread};

/// The engine's own socket: the one that `DOCKER_HOST` names, at which everything else here asks, or the usual one.
fn engine_socket() -> PathBuf {
    let chosen = std::env::var("DOCKER_HOST").ok();
    let chosen = chosen.as_deref().and_then(|address| address.strip_prefix("unix://"));
    PathBuf::from(chosen.unwrap_or("/var/run/docker.sock"))
}

/// What happens to one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// Its answer comes so much later.
    Delay(Duration),
    /// It has no answer, and the engine does not hear of it.
    Hang,
    /// The engine has an error of its own.
    Error,
    /// Its answer ends after so many bytes.
    Cut(usize),
    /// Bytes of its answer are others.
    Garble,
    /// Its answer goes on for ever.
    Endless,
}

/// What a proxy does.
#[derive(Debug, Clone, Copy)]
pub enum Conduct {
    /// It passes everything on.
    Fair,
    /// The engine hears of each request to pause a container so much later, and whatever has become of who asked.
    SlowPause(Duration),
    /// The request of this number, from 0, fails so.
    Fails(usize, Failure),
}

/// A proxy that listens until it is dropped.
pub struct Proxy {
    socket: PathBuf,
    state: Arc<ProxyState>,
}

struct ProxyState {
    conduct: Conduct,
    seed: u64,
    requests: AtomicUsize,
    /// The request that failed.
    struck: Mutex<Option<String>>,
    over: AtomicBool,
}

impl Proxy {
    /// Listens at a socket in the folder.
    pub fn new(folder: &Path, conduct: Conduct, seed: u64) -> Self {
        let socket = folder.join("engine.sock");
        let listener = UnixListener::bind(&socket).expect("a socket for the proxy");
        let state = Arc::new(ProxyState {
            conduct,
            seed,
            requests: AtomicUsize::new(0),
            struck: Mutex::new(None),
            over: AtomicBool::new(false),
        });
        let serving = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if serving.over.load(Ordering::SeqCst) {
                    return;
                }
                let state = Arc::clone(&serving);
                thread::spawn(move || drop(state.serve(stream)));
            }
        });
        Self { socket, state }
    }

    /// The value of `DOCKER_HOST` that leads here.
    pub fn address(&self) -> String {
        format!("unix://{}", self.socket.display())
    }

    /// How many requests there were.
    pub fn requests(&self) -> usize {
        self.state.requests.load(Ordering::SeqCst)
    }

    /// The request that failed, if it came.
    pub fn struck(&self) -> Option<String> {
        self.state.struck.lock().expect("no holder panics").clone()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.state.over.store(true, Ordering::SeqCst);
        // Wakes the listener; that nothing listens any more is as good.
        let _ = UnixStream::connect(&self.socket);
    }
}

impl ProxyState {
    /// Serves one connection: zooquake has one for each request.
    fn serve(&self, mut client: UnixStream) -> std::io::Result<()> {
        let head = head(&mut client)?;
        let text = String::from_utf8_lossy(&head).into_owned();
        let line = text.lines().next().unwrap_or_default().to_owned();
        let number = self.requests.fetch_add(1, Ordering::SeqCst);
        let failure = match self.conduct {
            Conduct::Fails(at, failure) if at == number => {
                *self.struck.lock().expect("no holder panics") = Some(line);
                Some(failure)
            }
            Conduct::SlowPause(time) if line.starts_with("POST ") && line.contains("/pause ") => {
                thread::sleep(time);
                None
            }
            _ => None,
        };
        match failure {
            Some(Failure::Hang) => return hang(client, &self.over),
            Some(Failure::Error) => {
                let body = r#"{"message":"the engine is not itself"}"#;
                let answer = format!(
                    "HTTP/1.1 500 Internal Server Error\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                    body.len()
                );
                return client.write_all(answer.as_bytes());
            }
            _ => {}
        }
        let mut engine = UnixStream::connect(engine_socket())?;
        engine.write_all(&head)?;
        let (mut from, mut to) = (client.try_clone()?, engine.try_clone()?);
        thread::spawn(move || {
            let _ = std::io::copy(&mut from, &mut to);
            // The end of a process's stdin.
            let _ = to.shutdown(Shutdown::Write);
        });
        let passed = self.pass(&mut engine, &mut client, failure, number);
        let _ = engine.shutdown(Shutdown::Both);
        let _ = client.shutdown(Shutdown::Both);
        passed
    }

    /// Passes the answer on, or what becomes of it.
    fn pass(
        &self,
        engine: &mut UnixStream,
        client: &mut UnixStream,
        failure: Option<Failure>,
        number: usize,
    ) -> std::io::Result<()> {
        match failure {
            Some(Failure::Delay(time)) => thread::sleep(time),
            Some(Failure::Cut(bytes)) => {
                return std::io::copy(&mut engine.take(bytes as u64), client).map(drop);
            }
            Some(Failure::Garble) => return garble(engine, client, self.seed ^ number as u64),
            Some(Failure::Endless) => return endless(engine, client, self.seed),
            _ => {}
        }
        std::io::copy(engine, client).map(drop)
    }
}

/// Reads to the end of a head, and what came with it.
fn head(stream: &mut UnixStream) -> std::io::Result<Vec<u8>> {
    let (mut head, mut buffer) = (Vec::new(), [0; 4096]);
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut buffer)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            read => head.extend_from_slice(&buffer[..read]),
        }
    }
    Ok(head)
}

fn hang(client: UnixStream, over: &AtomicBool) -> std::io::Result<()> {
    client.set_read_timeout(Some(Duration::from_millis(200)))?;
    let (mut client, mut buffer) = (client, [0; 4096]);
    while !over.load(Ordering::SeqCst) {
        match client.read(&mut buffer) {
            Ok(0) => break,
            Err(error)
                if !matches!(
                    error.kind(),
                    std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
                ) =>
            {
                break;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Changes the first byte or one of the first, and one in forty of those that follow.
fn garble(engine: &mut UnixStream, client: &mut UnixStream, seed: u64) -> std::io::Result<()> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let (mut buffer, mut next) = ([0; 4096], rng.usize(0..300));
    loop {
        let read = engine.read(&mut buffer)?;
        if read == 0 {
            return Ok(());
        }
        while next < read {
            buffer[next] ^= 1 << rng.u8(0..8);
            next += rng.usize(1..80);
        }
        next -= read;
        client.write_all(&buffer[..read])?;
    }
}

/// Passes the head on, without the length that it promises, and then a stream without an end.
fn endless(engine: &mut UnixStream, client: &mut UnixStream, seed: u64) -> std::io::Result<()> {
    let head = head(engine)?;
    let end = head.windows(4).position(|end| end == b"\r\n\r\n").unwrap_or(0);
    let text = String::from_utf8_lossy(&head[..end]).into_owned();
    let kept = text.split("\r\n").filter(|line| {
        let line = line.to_ascii_lowercase();
        !line.starts_with("content-length") && !line.starts_with("transfer-encoding")
    });
    client.write_all((kept.collect::<Vec<_>>().join("\r\n") + "\r\n\r\n").as_bytes())?;
    let frame = [b"\x01\0\0\0\0\0\x10\0", &b"spam spam spam.\n".repeat(256)[..]].concat();
    let pieces = [vec![b' '; 65_536], vec![b'['; 65_536], frame.clone()];
    let streams = text.starts_with("HTTP/1.1 101");
    let piece = if streams {
        &frame
    } else {
        &pieces[seed as usize % pieces.len()]
    };
    loop {
        client.write_all(piece)?;
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Delay(time) => write!(f, "answered {} s later", time.as_secs()),
            Self::Hang => f.write_str("not answered"),
            Self::Error => f.write_str("answered with 500"),
            Self::Cut(bytes) => write!(f, "cut after {bytes} bytes"),
            Self::Garble => f.write_str("garbled"),
            Self::Endless => f.write_str("without an end"),
        }
    }
}
