//! A sequence of random operations of several sessions, and what comes of them.

use futures_util::FutureExt;
use std::collections::BTreeMap;
use std::sync::Arc;
use zooquake_workloads::zk::{
    Connect, CreateMode, Created, Error, MultiError, Op, OpResult, Stat, Watch, WatchEvent, Zk,
};

/// Operations of a sequence.
pub const STEPS: usize = 30;

/// Sessions of a sequence.
const SESSIONS: usize = 3;

/// What happened in a sequence: each line is a result, or an event.
pub type Story = Vec<String>;

/// One execution of a sequence.
pub struct Play {
    connect: Arc<dyn Connect>,
    root: String,
    rng: fastrand::Rng,
    sessions: Vec<Arc<dyn Zk>>,
    /// The watches that have not fired: by session, with the step that left them.
    watches: Vec<(usize, usize, Watch)>,
    /// The transactions, in the order in which they were seen first, and the sessions.
    zxids: Vec<i64>,
    owners: BTreeMap<i64, usize>,
    story: Story,
}

impl Play {
    /// Plays the sequence of a seed in sessions that are opened so, below a root of its own.
    pub async fn whole(connect: Arc<dyn Connect>, seed: u64) -> Story {
        let mut play = Self {
            connect,
            root: format!("/conformance-{seed}"),
            rng: fastrand::Rng::with_seed(seed),
            sessions: Vec::new(),
            watches: Vec::new(),
            zxids: Vec::new(),
            owners: BTreeMap::new(),
            story: Vec::new(),
        };
        for at in 0..SESSIONS {
            play.open(at).await;
        }
        let root = play.root.clone();
        let made = play.sessions[0].create(&root, b"", CreateMode::Persistent).await;
        made.expect("a root that nobody else has");
        for step in 0..STEPS {
            play.step(step).await;
            play.hear(step).await;
        }
        for session in std::mem::take(&mut play.sessions) {
            session.close().await;
        }
        play.ranked()
    }

    async fn open(&mut self, at: usize) {
        let session = self.connect.connect().await;
        let number = self.owners.len() + 1;
        self.owners.insert(session.session(), number);
        if at < self.sessions.len() {
            self.sessions[at] = session;
        } else {
            self.sessions.push(session);
        }
    }

    /// A path below the root.
    fn child(&mut self) -> String {
        let names = ["a", "b", "c", "a/x", "a/y", "b/x", "c/x"];
        format!("{}/{}", self.root, names[self.rng.usize(..names.len())])
    }

    fn path(&mut self) -> String {
        match self.rng.usize(..8) {
            0 => self.root.clone(),
            _ => self.child(),
        }
    }

    fn version(&mut self) -> Option<i32> {
        [None, None, None, Some(0), Some(1)][self.rng.usize(..5)]
    }

    fn mode(&mut self) -> CreateMode {
        match self.rng.usize(..6) {
            0 | 1 => CreateMode::Ephemeral,
            2 => CreateMode::EphemeralSequential,
            3 => CreateMode::PersistentSequential,
            _ => CreateMode::Persistent,
        }
    }

    fn op(&mut self) -> Op {
        let data = vec![b'0' + self.rng.u8(..10)];
        match self.rng.usize(..8) {
            0..4 => Op::Create(self.child(), data, self.mode()),
            4 | 5 => Op::Delete(self.path(), self.version()),
            6 => Op::Set(self.path(), data, self.version()),
            _ => Op::Check(self.path(), self.version()),
        }
    }

    /// Does one operation, and writes down what it answers.
    async fn step(&mut self, step: usize) {
        let at = self.rng.usize(..SESSIONS);
        let zk = self.sessions[at].clone();
        zk.sync(&self.root).await.expect("a sync");
        let what = self.rng.usize(..20);
        let said = match what {
            0..8 => match self.op() {
                Op::Create(path, data, mode) => {
                    let created = zk.create(&path, &data, mode).await;
                    format!("create {path} {mode:?}: {}", self.shown(created, Self::created))
                }
                Op::Delete(path, version) => {
                    format!("delete {path} {version:?}: {:?}", zk.delete(&path, version).await)
                }
                Op::Set(path, data, version) => {
                    let set = zk.set(&path, &data, version).await;
                    format!(
                        "set {path} {version:?}: {}",
                        self.shown(set, |play, stat| play.stat(stat))
                    )
                }
                check @ Op::Check(..) => self.multi(&zk, vec![check]).await,
            },
            8..11 => {
                let ops = (0..self.rng.usize(1..5)).map(|_| self.op()).collect();
                self.multi(&zk, ops).await
            }
            11 => {
                let state = zk.close().await;
                self.watches.retain(|(session, ..)| *session != at);
                self.open(at).await;
                format!("close {at}: {state:?}")
            }
            _ => self.read(step, at, what).await,
        };
        self.story.push(format!("{step} session {at} {said}"));
    }

    async fn multi(&mut self, zk: &Arc<dyn Zk>, ops: Vec<Op>) -> String {
        let done = zk.multi(ops.clone()).await;
        let said = match done {
            Ok(results) => results
                .into_iter()
                .map(|result| self.result(result))
                .collect::<Vec<_>>()
                .join(", "),
            Err(MultiError { index, error }) => format!("part {index:?} {}", kind(&error)),
        };
        format!("multi {ops:?}: {said}")
    }

    async fn read(&mut self, step: usize, at: usize, what: usize) -> String {
        let (zk, path) = (self.sessions[at].clone(), self.path());
        let mut keep = |watch| self.watches.push((at, step, watch));
        match what {
            12 | 13 => {
                let read = zk.get_and_watch(&path).await.map(|(data, stat, watch)| {
                    keep(watch);
                    (data, stat)
                });
                let said = self.shown(read, |play, (data, stat)| format!("{data:?} {}", play.stat(stat)));
                format!("get {path}: {said}")
            }
            14..17 => {
                let stat = zk.exists_and_watch(&path).await.map(|(stat, watch)| {
                    keep(watch);
                    stat
                });
                let said = self.shown(stat, |play, stat| stat.map_or("none".into(), |stat| play.stat(stat)));
                format!("exists {path}: {said}")
            }
            _ => {
                let names = zk.children_and_watch(&path).await.map(|(mut names, watch)| {
                    keep(watch);
                    names.sort();
                    names
                });
                format!(
                    "children {path}: {}",
                    self.shown(names, |_, names| format!("{names:?}"))
                )
            }
        }
    }

    /// Writes down the events of the watches that have fired by now.
    async fn hear(&mut self, step: usize) {
        for session in &self.sessions {
            session.sync(&self.root).await.expect("a sync");
        }
        let mut waiting = Vec::new();
        for (at, since, mut watch) in std::mem::take(&mut self.watches) {
            match (&mut watch).now_or_never() {
                Some(event) => self.story.push(heard(step, at, since, &event)),
                None => waiting.push((at, since, watch)),
            }
        }
        self.watches = waiting;
    }

    fn shown<T>(&mut self, result: Result<T, Error>, show: impl FnOnce(&mut Self, T) -> String) -> String {
        match result {
            Ok(result) => show(self, result),
            Err(error) => kind(&error),
        }
    }

    fn created(&mut self, created: Created) -> String {
        let stat = created.stat.map_or("no stat".to_string(), |stat| self.stat(stat));
        format!("{} {stat}", created.path)
    }

    fn result(&mut self, result: OpResult) -> String {
        match result {
            OpResult::Checked => "checked".to_string(),
            OpResult::Created(created) => self.created(created),
            OpResult::Set(stat) => self.stat(stat),
            OpResult::Deleted => "deleted".to_string(),
        }
    }

    /// A stat, with marks in the place of transactions and sessions.
    fn stat(&mut self, stat: Stat) -> String {
        self.zxids.extend([stat.czxid, stat.mzxid]);
        let owner = self.owners.get(&stat.ephemeral_owner).copied().unwrap_or_default();
        format!("<{}> <{}> version {} of {owner}", stat.czxid, stat.mzxid, stat.version)
    }

    /// The story, with each transaction replaced by its place among those that were seen.
    fn ranked(mut self) -> Story {
        self.zxids.sort_unstable();
        self.zxids.dedup();
        for line in &mut self.story {
            for (rank, zxid) in self.zxids.iter().enumerate() {
                *line = line.replace(&format!("<{zxid}>"), &format!("z{rank}"));
            }
        }
        self.story
    }
}

fn heard(step: usize, session: usize, since: usize, event: &WatchEvent) -> String {
    format!("{step} session {session} hears {event:?}, watched since {since}")
}

/// An error by its kind: what it says in words is the library's own.
fn kind(error: &Error) -> String {
    match error {
        Error::Unknown(_) => "unknown".to_string(),
        Error::BadArguments(_) => "bad arguments".to_string(),
        definite => format!("{definite:?}"),
    }
}
