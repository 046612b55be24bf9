//! A sequence of random operations of several sessions, and what comes of them.

use super::draw::Draw;
use super::line::{Line, LineSource, Loss, Storms, Strike, in_sync};
use super::words::{UNKNOWN, Words, heard, kind};
use futures_util::future::{BoxFuture, try_join_all};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use std::sync::Arc;
use zooquake_workloads::zk::{CreateMode, MultiError, MultiOp, Watch, WatchEvent, Zk};

/// Operations of a sequence.
pub const STEPS: usize = 30;

/// Sessions of a sequence.
const SESSIONS: usize = 3;

/// What happened in a sequence: each line is a result, or an event.
pub type Story = Vec<String>;

/// The watches of a session that have not fired, each with its path and the step that left it. They are polled in the
/// order in which they fire.
type Watches = FuturesUnordered<BoxFuture<'static, (String, usize, WatchEvent)>>;

/// A session, and where it is open.
struct Seat {
    line: Arc<dyn Line>,
    zk: Arc<dyn Zk>,
    watches: Watches,
}

/// One execution of a sequence.
pub struct Play {
    draw: Draw,
    words: Words,
    seats: Vec<Seat>,
    /// Whether ZooKeeper leaves the order of the events of this step open.
    unordered: bool,
    story: Story,
}

impl Play {
    /// Plays the sequence of a seed in sessions on these lines, below a root of their own.
    ///
    /// # Errors
    /// If a session is over of itself, or an operation has an unknown outcome without a fault: such a sequence is not
    /// compared.
    pub async fn whole(lines: Arc<dyn LineSource>, seed: u64, root: String, storms: Storms) -> Result<Story, String> {
        let _playing = lines.enter().await;
        let mut play = Self {
            draw: Draw {
                rng: fastrand::Rng::with_seed(seed),
                root,
            },
            words: Words::default(),
            seats: Vec::new(),
            unordered: false,
            story: Vec::new(),
        };
        for _ in 0..SESSIONS {
            let line = lines.line();
            let zk = play.open(&line).await;
            play.seats.push(Seat {
                line,
                zk,
                watches: Watches::new(),
            });
        }
        let root = play.draw.root.clone();
        let made = play.seats[0].zk.create(&root, b"", CreateMode::Persistent).await;
        made.map_err(|error| format!("the root was not made: {error:?}"))?;
        for step in 0..STEPS {
            play.unordered = false;
            match storms {
                Storms::HalfWay if step == STEPS / 2 => play.stormy_step(step, lines.strike()).await?,
                _ => play.step(step).await?,
            }
            play.hear(step).await?;
        }
        for seat in std::mem::take(&mut play.seats) {
            seat.zk.close().await;
        }
        Ok(play.words.ranked(play.story, &play.draw.root))
    }

    async fn open(&mut self, line: &Arc<dyn Line>) -> Arc<dyn Zk> {
        let zk = line.connect().await;
        self.words.opened(zk.session());
        zk
    }

    /// Opens another session in the place of one that is over, whose watches all end with it.
    async fn reopen(&mut self, step: usize, at: usize) {
        let mut events: Vec<_> = std::mem::take(&mut self.seats[at].watches).collect().await;
        events.sort_by_key(|(path, since, _)| (path.clone(), *since));
        self.story.extend(events.into_iter().map(|event| match event {
            // Its own ephemerals go with it, and its connection: whether the events of that still come is a race.
            (path, since, WatchEvent::Deleted | WatchEvent::ChildrenChanged | WatchEvent::Session(_)) => {
                format!("{step} session {at} hears of {path} no more, watched since {since}")
            }
            other => heard(step, at, other),
        }));
        let line = Arc::clone(&self.seats[at].line);
        self.seats[at].zk = self.open(&line).await;
    }

    /// Does one thing, and writes down what comes of it.
    async fn step(&mut self, step: usize) -> Result<(), String> {
        let at = self.draw.rng.usize(..SESSIONS);
        let zk = self.seats[at].zk.clone();
        in_sync(&zk, &self.draw.root).await?;
        let output = match self.draw.rng.usize(..28) {
            0..18 => self.operation(step, at).await,
            18..20 => {
                let state = zk.close().await;
                format!("closes: {state:?}")
            }
            20..22 => {
                self.seats[at].line.expire(zk.session()).await;
                let mut state = zk.state();
                while !state.is_over() {
                    state = zk.changed(state).await;
                }
                format!("is closed from elsewhere: {state:?}")
            }
            22..24 => {
                self.seats[at].line.cut().await;
                "loses its connection".to_string()
            }
            other => {
                let loss = if other < 26 { Loss::Reply } else { Loss::Request };
                self.seats[at].line.lose(loss);
                let output = self.operation(step, at).await;
                match self.seats[at].line.lost() {
                    true => format!("loses the {loss:?} of {output}"),
                    false => format!("does not lose the {loss:?} of {output}"),
                }
            }
        };
        if output.ends_with(UNKNOWN) != output.starts_with("loses the") {
            return Err(format!("step {step}, session {at} {output}"));
        }
        // What removes the ephemerals of a session removes them in no order, and watches are set again in none.
        self.unordered = ["closes", "is closed", "loses"]
            .iter()
            .any(|fault| output.starts_with(fault));
        self.story.push(format!("{step} session {at} {output}"));
        if zk.state().is_over() {
            self.reopen(step, at).await;
        }
        Ok(())
    }

    /// Does one operation while a server is struck, and waits until all serve again. It changes one znode at most, so
    /// that who is not connected hears the same of it later.
    async fn stormy_step(&mut self, step: usize, strike: Strike) -> Result<(), String> {
        let at = self.draw.rng.usize(..SESSIONS);
        try_join_all(self.seats.iter().map(|seat| in_sync(&seat.zk, &self.draw.root))).await?;
        let op = loop {
            match self.draw.op() {
                MultiOp::Check(..) => {}
                op => break op,
            }
        };
        strike.begins.await;
        let output = self.write(at, op).await;
        strike.is_over.await;
        self.unordered = true;
        self.story
            .push(format!("{step} session {at}, while a server is struck: {output}"));
        Ok(())
    }

    /// Does an operation, and returns its answer in words.
    async fn operation(&mut self, step: usize, at: usize) -> String {
        let zk = self.seats[at].zk.clone();
        let what = self.draw.rng.usize(..19);
        match what {
            0..8 => {
                let op = self.draw.op();
                self.write(at, op).await
            }
            8..11 => {
                let ops = (0..self.draw.rng.usize(1..5)).map(|_| self.draw.op()).collect();
                self.multi(&zk, ops).await
            }
            _ => self.read(step, at, what).await,
        }
    }

    /// Does one operation by itself; a check is a multi of one part.
    async fn write(&mut self, at: usize, op: MultiOp) -> String {
        let zk = self.seats[at].zk.clone();
        match op {
            MultiOp::Create(path, data, mode) => {
                let created = zk.create(&path, &data, mode).await;
                format!("create {path} {mode:?}: {}", self.words.shown(created, Words::created))
            }
            MultiOp::Delete(path, version) => {
                let deleted = zk.delete(&path, version).await;
                format!(
                    "delete {path} {version:?}: {}",
                    self.words.shown(deleted, |_, ()| "deleted".to_string())
                )
            }
            MultiOp::Set(path, data, version) => {
                let set = zk.set(&path, &data, version).await;
                format!(
                    "set {path} {version:?}: {}",
                    self.words.shown(set, |words, stat| words.stat(stat))
                )
            }
            check @ MultiOp::Check(..) => self.multi(&zk, vec![check]).await,
        }
    }

    async fn multi(&mut self, zk: &Arc<dyn Zk>, ops: Vec<MultiOp>) -> String {
        let output = match zk.multi(ops.clone()).await {
            Ok(results) => results
                .into_iter()
                .map(|result| self.words.result(result))
                .collect::<Vec<_>>()
                .join(", "),
            Err(MultiError { index, error }) => format!("part {index:?} {}", kind(&error)),
        };
        format!("multi {ops:?}: {output}")
    }

    async fn read(&mut self, step: usize, at: usize, what: usize) -> String {
        let (zk, path) = (self.seats[at].zk.clone(), self.draw.path());
        let mut left: Option<Watch> = None;
        let mut keep = |watch| left = Some(watch);
        let output = match what {
            11 | 12 => {
                let read = zk.get_and_watch(&path).await.map(|(data, stat, watch)| {
                    keep(watch);
                    (data, stat)
                });
                let output = self
                    .words
                    .shown(read, |words, (data, stat)| format!("{data:?} {}", words.stat(stat)));
                format!("get {path}: {output}")
            }
            13..16 => {
                let stat = zk.exists_and_watch(&path).await.map(|(stat, watch)| {
                    keep(watch);
                    stat
                });
                let output = self
                    .words
                    .shown(stat, |words, stat| stat.map_or("none".into(), |stat| words.stat(stat)));
                format!("exists {path}: {output}")
            }
            _ => {
                let names = zk.children_and_watch(&path).await.map(|(mut names, watch)| {
                    keep(watch);
                    names.sort();
                    names
                });
                let output = self.words.shown(names, |_, names| format!("{names:?}"));
                format!("children {path}: {output}")
            }
        };
        if let Some(watch) = left {
            let event = watch.map(move |event| (path, step, event));
            self.seats[at].watches.push(event.boxed());
        }
        output
    }

    /// Writes down the events of the watches that have fired by now, those of each session in their order.
    async fn hear(&mut self, step: usize) -> Result<(), String> {
        try_join_all(self.seats.iter().map(|seat| in_sync(&seat.zk, &self.draw.root))).await?;
        for at in 0..SESSIONS {
            let mut events = Vec::new();
            while let Some(Some(event)) = self.seats[at].watches.next().now_or_never() {
                events.push(event);
            }
            // Of one event all its watches hear at once.
            match self.unordered {
                true => events.sort_by_key(|(path, since, event)| (path.clone(), format!("{event:?}"), *since)),
                false => events
                    .chunk_by_mut(|one, next| (&one.0, &one.2) == (&next.0, &next.2))
                    .for_each(|one| one.sort_by_key(|(_, since, _)| *since)),
            }
            self.story
                .extend(events.into_iter().map(|event| heard(step, at, event)));
        }
        Ok(())
    }
}
