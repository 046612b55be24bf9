//! News of the page, as server-sent events.

use super::site::{Site, Watch};
use crate::run::folder::Folder;
use axum::response::sse::Event;
use futures_util::Stream;
use futures_util::stream::unfold;
use std::convert::Infallible;
use std::sync::Arc;
use tokio::sync::watch;
use tokio::time::sleep;

/// The news for one watcher: one event when there is a newer page than the one in view, and comments, which show each
/// side that the other is still there.
pub struct News {
    site: Arc<Site>,
    _watch: Watch,
    over: watch::Receiver<Option<Folder>>,
    /// The version of the page in view.
    version: String,
    /// Whether the first comment was sent.
    begun: bool,
    /// Whether the event was sent.
    reported: bool,
}

impl News {
    /// News for a watcher of this version of the page.
    pub fn new(site: Arc<Site>, version: String) -> Self {
        Self {
            _watch: site.watch(),
            over: site.over(),
            site,
            version,
            begun: false,
            reported: false,
        }
    }

    /// Its events, without end.
    pub fn events(self) -> impl Stream<Item = Result<Event, Infallible>> {
        unfold(self, async |mut news| Some((Ok(news.next().await), news)))
    }

    async fn next(&mut self) -> Event {
        if !std::mem::replace(&mut self.begun, true) {
            return Event::default().comment("");
        }
        self.pause().await;
        if !self.reported && self.site.stage().await.version() != self.version {
            self.reported = true;
            return Event::default().event("newer").data("");
        }
        Event::default().comment("")
    }

    /// Ends when a newer page may be made, or a run is over.
    async fn pause(&mut self) {
        let rest = self.site.rest().await;
        tokio::select! {
            () = sleep(rest) => {}
            Ok(()) = self.over.changed() => {}
        }
    }
}
