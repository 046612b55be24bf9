//! Whether the engine of a machine answers while a run stands there.
//!
//! Containers go on without it; what ends are the streams to their processes. A long request without an answer ends
//! with the engine or with the way to it, and pings show an engine that hangs.

use super::POLL;
use futures_util::StreamExt;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use testcontainers::bollard::Docker;
use testcontainers::bollard::errors::Error;
use testcontainers::bollard::query_parameters::EventsOptionsBuilder;
use tokio::task::JoinHandle;

/// Interval of the pings.
const PING: Duration = Duration::from_secs(1);

/// An engine that lives answers a ping within this time, also under load.
const PONG: Duration = Duration::from_secs(5);

/// Rest between two looks for an engine that was lost. A loss lasts as long at least, so that every loop that turns
/// sees it.
const AGAIN: Duration = Duration::from_secs(1);

/// All streams of an engine end within this time, as the one here does.
const TOGETHER: Duration = Duration::from_millis(500);

/// Looks at one engine until it is dropped.
#[derive(Debug)]
pub struct EngineWatch {
    state: Arc<WatchState>,
    looking: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct WatchState {
    /// Whether it does not answer.
    lost: AtomicBool,
    /// How often it was lost.
    losses: AtomicU64,
}

impl WatchState {
    fn lose(&self) {
        self.losses.fetch_add(1, Ordering::SeqCst);
        self.lost.store(true, Ordering::SeqCst);
    }
}

impl EngineWatch {
    /// Begins to look at an engine, which answers now.
    pub fn start(docker: &Docker) -> Self {
        let state = Arc::<WatchState>::default();
        let looking = tokio::spawn(look(docker.clone(), Arc::clone(&state)));
        Self { state, looking }
    }

    /// Whether it does not answer.
    pub fn is_lost(&self) -> bool {
        self.state.lost.load(Ordering::SeqCst)
    }

    /// How often it was lost.
    pub fn losses(&self) -> u64 {
        self.state.losses.load(Ordering::SeqCst)
    }

    /// Whether it was lost since there were so many losses. Streams of which one has ended just now may all be about to
    /// end: that is waited for.
    pub async fn lost_since(&self, losses: u64) -> bool {
        let begun = Instant::now();
        while self.losses() == losses && begun.elapsed() < TOGETHER {
            tokio::time::sleep(POLL).await;
        }
        self.losses() != losses
    }

    /// Waits until it answers; false if it does not within this time.
    pub async fn answers_within(&self, limit: Duration) -> bool {
        let begun = Instant::now();
        while self.is_lost() && begun.elapsed() < limit {
            tokio::time::sleep(POLL).await;
        }
        !self.is_lost()
    }
}

impl Drop for EngineWatch {
    fn drop(&mut self) {
        self.looking.abort();
    }
}

async fn look(docker: Docker, state: Arc<WatchState>) {
    loop {
        let why = until_lost(&docker).await;
        log::warn!("a Docker engine is lost, and looked for: {why}");
        state.lose();
        loop {
            tokio::time::sleep(AGAIN).await;
            if answers(&docker).await {
                break;
            }
        }
        state.lost.store(false, Ordering::SeqCst);
    }
}

/// Returns, with the reason, when the engine does not answer a ping, or ends a request that would go on.
async fn until_lost(docker: &Docker) -> &'static str {
    // Events that do not occur.
    let none = HashMap::from([("container", vec!["none"])]);
    let options = EventsOptionsBuilder::default().filters(&none).build();
    let mut events = std::pin::pin!(docker.events(Some(options)));
    let mut pings = tokio::time::interval(PING);
    let mut handed_out = true;
    loop {
        tokio::select! {
            event = events.next(), if handed_out => match event {
                Some(Ok(_)) => {}
                // What stands before the engine may refuse its events; pings remain.
                Some(Err(Error::DockerResponseServerError { .. })) => handed_out = false,
                Some(Err(_)) | None => return "the way to it ended",
            },
            _ = pings.tick() => if !answers(docker).await {
                return "it does not answer a ping";
            },
        }
    }
}

async fn answers(docker: &Docker) -> bool {
    matches!(tokio::time::timeout(PONG, docker.ping()).await, Ok(Ok(_)))
}

#[cfg(test)]
mod tests {
    use super::super::engine::{Address, client};
    use super::*;
    use std::path::PathBuf;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{UnixListener, UnixStream};
    use tokio::task::JoinSet;

    /// The answer to a request for events that go on.
    const EVENTS: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";

    const REFUSAL: &str = "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\n{}";

    const PONG_ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK";

    /// An engine that answers pings, and requests for events with this, until the task is aborted: then all its
    /// connections end.
    fn engine(path: PathBuf, events: &'static str) -> JoinHandle<()> {
        // That of an engine before it may be there.
        let _ = std::fs::remove_file(&path);
        let listener = UnixListener::bind(path).expect("a socket");
        tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(answer(stream, events));
            }
        })
    }

    async fn answer(mut stream: UnixStream, events: &str) {
        let mut request = [0; 4096];
        let read = stream.read(&mut request).await.unwrap_or(0);
        let of_events = String::from_utf8_lossy(&request[..read]).contains("/events");
        let answer = if of_events { events } else { PONG_ANSWER };
        // The client may have gone.
        let _ = stream.write_all(answer.as_bytes()).await;
        if answer == EVENTS {
            std::future::pending::<()>().await;
        }
    }

    async fn until(what: &str, condition: impl Fn() -> bool) {
        let begun = Instant::now();
        while !condition() {
            assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    #[tokio::test]
    async fn a_way_that_ends_is_a_loss_until_there_is_one_again() {
        let folder = tempfile::tempdir().expect("a folder for a socket");
        let path = folder.path().join("engine.sock");
        let lives = engine(path.clone(), EVENTS);
        let watch = EngineWatch::start(&client(Address::Unix(path.clone())).expect("a client"));
        assert!(!watch.lost_since(0).await && !watch.is_lost());
        lives.abort();
        until("its end is seen", || watch.is_lost()).await;
        assert!(watch.lost_since(0).await && !watch.answers_within(Duration::from_millis(100)).await);
        let again = engine(path, EVENTS);
        assert!(watch.answers_within(Duration::from_secs(20)).await);
        assert_eq!(watch.losses(), 1);
        again.abort();
        until("its second end is seen", || watch.losses() == 2).await;
    }

    #[tokio::test]
    async fn an_engine_that_hands_out_no_events_is_there_as_long_as_it_answers_pings() {
        let folder = tempfile::tempdir().expect("a folder for a socket");
        let path = folder.path().join("engine.sock");
        let lives = engine(path.clone(), REFUSAL);
        let watch = EngineWatch::start(&client(Address::Unix(path)).expect("a client"));
        assert!(!watch.lost_since(0).await, "a refusal is an answer");
        lives.abort();
        until("its end is seen", || watch.is_lost()).await;
        assert_eq!(watch.losses(), 1);
    }
}
