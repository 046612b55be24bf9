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
use testcontainers::bollard::query_parameters::EventsOptionsBuilder;
use tokio::task::JoinHandle;

/// Interval of the pings.
const PING: Duration = Duration::from_secs(1);

/// An engine that lives answers a ping within this time, also under load.
const PONG: Duration = Duration::from_secs(5);

/// Rest between two looks for an engine that was lost.
const AGAIN: Duration = Duration::from_millis(250);

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
        while !answers(&docker).await {
            tokio::time::sleep(AGAIN).await;
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
    loop {
        tokio::select! {
            event = events.next() => match event {
                Some(Ok(_)) => {}
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
