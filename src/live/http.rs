//! As much of HTTP as a page and its news take.

use super::page::Shown;
use crate::run::folder::Folder;
use anyhow::Result;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Mutex, watch};
use tokio::time::{sleep, timeout};

/// The longest head of a request.
const HEAD: usize = 16 * 1024;

/// How long a request may take to arrive.
const PATIENCE: Duration = Duration::from_secs(5);

/// The shortest time between two pages.
const PACE: Duration = Duration::from_secs(2);

/// A page that took so long to make is not made again before so many times that: the run has the machine.
const REST: u32 = 10;

/// What a request asks for.
#[derive(Debug, PartialEq)]
pub enum Asked {
    /// The page.
    Page,
    /// To be told when there is a newer page than this.
    News(String),
}

impl Asked {
    /// What the target of a request asks for; `None` if there is no such thing.
    pub fn of(target: &str) -> Option<Self> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        match path {
            "/" => Some(Self::Page),
            "/events" => Some(Self::News(query.strip_prefix("of=").unwrap_or_default().to_owned())),
            _ => None,
        }
    }
}

/// A page, what names it, and how long it took to make.
#[derive(Clone)]
struct Made {
    of: String,
    html: Arc<str>,
    took: Duration,
}

/// What is served.
pub struct Site {
    /// The names by which it may be asked: a page of somebody else's, whose name is made to lead here, has another.
    names: [String; 2],
    begun: watch::Receiver<Option<Folder>>,
    over: watch::Receiver<Option<Folder>>,
    page: Mutex<Option<Made>>,
    /// How many wait for news, and how many got the last page.
    waiting: watch::Sender<usize>,
    lasts: watch::Sender<usize>,
}

impl Site {
    /// What is served on this port.
    pub fn new(port: u16, begun: watch::Receiver<Option<Folder>>, over: watch::Receiver<Option<Folder>>) -> Self {
        Self {
            names: ["127.0.0.1", "localhost"].map(|name| format!("{name}:{port}")),
            begun,
            over,
            page: Mutex::new(None),
            waiting: watch::Sender::new(0),
            lasts: watch::Sender::new(0),
        }
    }

    /// Ends when as many got the last page as wait for news now.
    pub async fn all_have_the_last(&self) {
        let watching = *self.waiting.borrow();
        // Fails only when the site is gone.
        let _ = self.lasts.subscribe().wait_for(|lasts| *lasts >= watching).await;
    }

    /// Answers the request of a connection.
    ///
    /// # Errors
    /// If the other end went away.
    pub async fn answer(&self, mut stream: TcpStream) -> io::Result<()> {
        match timeout(PATIENCE, self.asked(&mut stream)).await {
            Ok(Ok(Asked::Page)) => self.send_page(&mut stream).await,
            Ok(Ok(Asked::News(of))) => self.tell_news(&mut stream, &of).await,
            Ok(Err(refusal)) => send(&mut stream, refusal, "text/plain", refusal).await,
            Err(_) => send(&mut stream, "408 Request Timeout", "text/plain", "").await,
        }
    }

    /// What a request asks for; or how it is refused.
    async fn asked(&self, stream: &mut TcpStream) -> Result<Asked, &'static str> {
        const BAD: &str = "400 Bad Request";
        let mut head = Vec::new();
        while !head.windows(4).any(|end| end == b"\r\n\r\n") {
            let mut more = [0; 1024];
            let count = stream.read(&mut more).await.map_err(|_| BAD)?;
            head.extend_from_slice(&more[..count]);
            if count == 0 || head.len() > HEAD {
                return Err(BAD);
            }
        }
        let mut headers = [httparse::EMPTY_HEADER; 100];
        let mut request = httparse::Request::new(&mut headers);
        request.parse(&head).map_err(|_| BAD)?;
        let hosts = request
            .headers
            .iter()
            .filter(|header| header.name.eq_ignore_ascii_case("host"));
        let mut hosts = hosts.map(|header| header.value);
        let ours = |host: &[u8]| self.names.iter().any(|name| name.as_bytes() == host);
        if !hosts.next().is_some_and(ours) || hosts.next().is_some() {
            return Err("403 Forbidden");
        }
        match (request.method, Asked::of(request.path.unwrap_or_default())) {
            (Some("GET"), Some(asked)) => Ok(asked),
            (Some("GET"), None) => Err("404 Not Found"),
            _ => Err("405 Method Not Allowed"),
        }
    }

    /// What there is to be shown now.
    async fn shown(&self) -> Shown {
        let Some(folder) = self.begun.borrow().clone() else {
            return Shown::Nothing;
        };
        if self.over.borrow().as_ref().is_some_and(|over| over.path == folder.path) {
            return Shown::Over(folder);
        }
        match tokio::fs::metadata(folder.file("history.jsonl")).await {
            Ok(history) => Shown::SoFar(folder, history.len()),
            Err(_) => Shown::Nothing,
        }
    }

    async fn send_page(&self, stream: &mut TcpStream) -> io::Result<()> {
        let shown = self.shown().await;
        let last = matches!(shown, Shown::Over(_));
        match self.made(shown).await {
            Ok(made) => send(stream, "200 OK", "text/html", &made.html).await?,
            Err(error) => send(stream, "500 Internal Server Error", "text/plain", &format!("{error:#}")).await?,
        }
        if last {
            self.lasts.send_modify(|lasts| *lasts += 1);
        }
        Ok(())
    }

    /// The page, made once for all who ask for it.
    async fn made(&self, shown: Shown) -> Result<Made> {
        let of = shown.name();
        let mut page = self.page.lock().await;
        if let Some(made) = page.as_ref().filter(|made| made.of == of) {
            return Ok(made.clone());
        }
        let begun = Instant::now();
        let html = tokio::task::spawn_blocking(move || shown.page()).await??.into();
        let took = begun.elapsed();
        Ok(page.insert(Made { of, html, took }).clone())
    }

    /// Tells by an event when there is a newer page; comments show that the other end is still there.
    async fn tell_news(&self, stream: &mut TcpStream, of: &str) -> io::Result<()> {
        let _waits = Waits::begin(&self.waiting);
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n";
        stream.write_all(head.as_bytes()).await?;
        let mut over = self.over.clone();
        let mut told = false;
        loop {
            stream.write_all(b":\n\n").await?;
            let took = self.page.lock().await.as_ref().map_or(Duration::ZERO, |made| made.took);
            tokio::select! {
                () = sleep(PACE.max(took * REST)) => {}
                Ok(()) = over.changed() => {}
            }
            if !told && self.shown().await.name() != of {
                stream.write_all(b"event: newer\ndata:\n\n").await?;
                told = true;
            }
        }
    }
}

/// One who waits for news.
struct Waits<'a>(&'a watch::Sender<usize>);

impl<'a> Waits<'a> {
    fn begin(waiting: &'a watch::Sender<usize>) -> Self {
        waiting.send_modify(|waiting| *waiting += 1);
        Self(waiting)
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|waiting| *waiting -= 1);
    }
}

async fn send(stream: &mut TcpStream, status: &str, kind: &str, body: &str) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await
}
