//! The page that is served, made once for all who ask for it, and the count of those who watch it.

use super::page::LiveStage;
use crate::run::folder::Folder;
use anyhow::Result;
use axum::body::Bytes;
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, watch};

/// The shortest time between two pages.
const PACE: Duration = Duration::from_secs(2);

/// A page that took so long to make is not made again before so many times that: the run has the machine.
const REST: u32 = 10;

/// A page, its version, and how long it took to make.
struct CachedPage {
    version: String,
    html: Bytes,
    took: Duration,
}

/// What is served.
pub struct Site {
    begun: watch::Receiver<Option<Folder>>,
    over: watch::Receiver<Option<Folder>>,
    page: Mutex<Option<CachedPage>>,
    /// How many wait for news.
    watchers: watch::Sender<usize>,
    /// How many times the last page was sent.
    last_pages: watch::Sender<usize>,
}

impl Site {
    /// A site of the runs whose folders come from these channels, when they begin and when they are over.
    pub fn new(begun: watch::Receiver<Option<Folder>>, over: watch::Receiver<Option<Folder>>) -> Self {
        Self {
            begun,
            over,
            page: Mutex::new(None),
            watchers: watch::Sender::new(0),
            last_pages: watch::Sender::new(0),
        }
    }

    /// How far the run has come.
    pub async fn stage(&self) -> LiveStage {
        let Some(folder) = self.begun.borrow().clone() else {
            return LiveStage::Waiting;
        };
        if self.over.borrow().as_ref().is_some_and(|over| over.path == folder.path) {
            return LiveStage::Finished(folder);
        }
        match tokio::fs::metadata(folder.file("history.jsonl")).await {
            Ok(history) => LiveStage::Running(folder, history.len()),
            Err(_) => LiveStage::Waiting,
        }
    }

    /// The page of a stage.
    ///
    /// # Errors
    /// If what the run has recorded, or its report, cannot be read.
    pub async fn page(&self, stage: LiveStage) -> Result<Bytes> {
        let version = stage.version();
        let mut cached = self.page.lock().await;
        if let Some(page) = cached.as_ref().filter(|page| page.version == version) {
            return Ok(page.html.clone());
        }
        let begun = Instant::now();
        let html = Bytes::from(tokio::task::spawn_blocking(move || stage.page()).await??);
        *cached = Some(CachedPage {
            version,
            html: html.clone(),
            took: begun.elapsed(),
        });
        Ok(html)
    }

    /// How long the page rests before it may be made again.
    pub async fn rest(&self) -> Duration {
        let page = self.page.lock().await;
        PACE.max(page.as_ref().map_or(Duration::ZERO, |page| page.took) * REST)
    }

    /// The folder of the run that was over last, as it changes.
    pub fn over(&self) -> watch::Receiver<Option<Folder>> {
        self.over.clone()
    }

    /// Counts one more who waits for news, until the end of the returned value.
    pub fn watch(&self) -> Watch {
        self.watchers.send_modify(|watchers| *watchers += 1);
        Watch(self.watchers.clone())
    }

    /// Counts that a watcher got the last page.
    pub fn last_page_sent(&self) {
        self.last_pages.send_modify(|pages| *pages += 1);
    }

    /// Ends when as many got the last page as wait for news now.
    pub async fn all_have_the_last(&self) {
        let watching = *self.watchers.borrow();
        // Fails only when the site is gone.
        let _ = self.last_pages.subscribe().wait_for(|pages| *pages >= watching).await;
    }
}

/// One who waits for news.
pub struct Watch(watch::Sender<usize>);

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.send_modify(|watchers| *watchers -= 1);
    }
}
