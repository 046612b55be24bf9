//! What is served: how far a run has come, the page of that, made once for all who ask for it, news of a newer page,
//! and the count of those who wait for these.

use crate::run::folder::Folder;
use anyhow::{Context, Result};
use axum::body::Bytes;
use axum::response::sse::Event;
use futures_util::Stream;
use futures_util::stream::unfold;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, watch};
use tokio::time::sleep;
use zooquake_backend::files;
use zooquake_history::Record;
use zooquake_reports::{Extras, RunProgress, live_page, waiting_page};

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

/// How far a run has come.
pub enum LiveStage {
    /// Nothing is recorded yet.
    Waiting,
    /// The run of the folder goes on, and its history has so many bytes.
    Running(Folder, u64),
    /// The run of the folder is over, and its report is written.
    Finished(Folder),
}

impl LiveStage {
    /// The version of its page; another page has another one.
    pub fn version(&self) -> String {
        match self {
            Self::Waiting => "nothing".to_owned(),
            Self::Running(folder, bytes) => format!("{} {bytes}", folder.name()),
            Self::Finished(folder) => format!("{} over", folder.name()),
        }
    }

    /// Whether no page follows its page.
    pub fn is_last(&self) -> bool {
        matches!(self, Self::Finished(_))
    }

    /// The page.
    ///
    /// # Errors
    /// If what the run has recorded, or its report, cannot be read.
    pub fn page(&self) -> Result<String> {
        let version = self.version();
        match self {
            Self::Waiting => Ok(waiting_page(&RunProgress {
                version,
                activity: "the ensemble and its clients come up".into(),
            })),
            Self::Running(folder, _) => so_far(folder, version),
            Self::Finished(folder) => {
                let report = folder.file("report.html");
                files::read_to_string(&report, PAGE).with_context(|| format!("reading {}", report.display()))
            }
        }
    }
}

/// Most bytes of a report.
const PAGE: u64 = 1 << 30;

/// The page of a run that is not over, from what it has recorded.
fn so_far(folder: &Folder, version: String) -> Result<String> {
    let mut record = folder.load()?;
    let activity = activity(&record);
    let progress = RunProgress { version, activity };
    if !record.history.events.iter().any(|event| event.entered().is_some()) {
        return Ok(waiting_page(&progress));
    }
    let mut results = zooquake_checkers::check(&record);
    // What a run lacks that is not over, and a line of its history that is being written, mean nothing.
    record.damage.clear();
    results.reasons.clear();
    results.not_judged.clear();
    let now = record.history.events.last().map(|event| event.time);
    for window in &mut results.windows {
        window.until = window.until.or(window.from.and(now));
        window.why.insert_str(0, "so far: ");
    }
    let extras = Extras {
        run_name: folder.name(),
        progress: Some(progress),
        ..Extras::default()
    };
    Ok(live_page(&record, &results, &extras))
}

/// What goes on, by the last phase that has begun.
fn activity(record: &Record) -> String {
    let events = &record.history.events;
    let begun = events
        .iter()
        .rev()
        .find_map(|event| Some((event.entered()?, event.time)));
    let last = events.last().map_or(0, |event| event.time);
    match begun {
        None => "the clients come up".into(),
        Some(("ops", from)) => format!(
            "operations and faults go on, {} of {} s",
            (last - from) / 1_000_000_000,
            record.plan.time_ms.div_ceil(1000)
        ),
        Some(("heal", _)) => "the faults are being healed".into(),
        Some(("recover" | "not-recovered", _)) => "the ensemble and its clients recover".into(),
        Some(("recovered", _)) => "the last operations, and the reading of what was left behind".into(),
        Some(_) => "what was recorded is being checked".into(),
    }
}

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
