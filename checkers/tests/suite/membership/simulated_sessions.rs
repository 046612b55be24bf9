//! A small model of what ZooKeeper promises: one order of transactions, servers that lag, sessions that never go back,
//! one-shot watches whose event comes before newer data. Requests of a session are served in their order, each at one
//! moment, and its messages arrive in theirs.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The transactions begin with the first of this epoch.
const EPOCH: i64 = 1 << 32;

/// The data and the age of a member's znode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SimulatedZnode {
    pub czxid: i64,
    pub mzxid: i64,
    pub value: i64,
    pub session: u64,
}

/// What a transaction does; members are counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Create { member: usize, value: i64, session: u64 },
    Write { member: usize, value: i64, session: u64 },
    Delete { member: usize, session: u64 },
    Close { session: u64 },
}

/// The members of one state.
pub type GroupState = BTreeMap<usize, SimulatedZnode>;

/// The transactions, in their order. The state after the first `at` of them is that at the moment `at`.
#[derive(Debug, Clone, Default)]
pub struct SimulatedLog {
    pub changes: Vec<Change>,
    states: Vec<GroupState>,
}

impl SimulatedLog {
    pub fn len(&self) -> usize {
        self.changes.len()
    }

    /// The zxid of the transaction by which the state of a moment came about.
    pub fn zxid(at: usize) -> i64 {
        EPOCH + at as i64
    }

    pub fn state(&self, at: usize) -> GroupState {
        at.checked_sub(1).map(|at| self.states[at].clone()).unwrap_or_default()
    }

    pub fn last(&self) -> GroupState {
        self.state(self.len())
    }

    /// Adds a transaction; gives its zxid.
    pub fn push(&mut self, change: Change) -> i64 {
        let mut state = self.last();
        let zxid = Self::zxid(self.len() + 1);
        match change {
            Change::Create { member, value, session } => {
                let (czxid, mzxid) = (zxid, zxid);
                let znode = SimulatedZnode {
                    czxid,
                    mzxid,
                    value,
                    session,
                };
                assert!(state.insert(member, znode).is_none(), "a path has one znode at a time");
            }
            Change::Write { member, value, .. } => {
                let znode = state.get_mut(&member).expect("only what is there is written");
                (znode.mzxid, znode.value) = (zxid, value);
            }
            Change::Delete { member, .. } => drop(state.remove(&member)),
            Change::Close { session } => state.retain(|_, znode| znode.session != session),
        }
        self.changes.push(change);
        self.states.push(state);
        zxid
    }
}

#[derive(Debug, Clone, Copy)]
enum ReadRequest {
    List,
    Data(usize),
}

#[derive(Debug, Clone)]
enum SessionMessage {
    ListChanged,
    DataChanged(usize),
    Listed(BTreeSet<usize>),
    Data(usize, Option<SimulatedZnode>),
}

/// A session that watches, as its server keeps it, and what is on its way to and from it.
#[derive(Debug, Clone)]
struct WatchSession {
    /// The moment of its server.
    at: usize,
    list_watch: bool,
    data_watches: BTreeSet<usize>,
    requests: VecDeque<ReadRequest>,
    messages: VecDeque<SessionMessage>,
}

/// A correct recipe: lists and reads with watches, again after each event.
#[derive(Debug, Clone)]
pub struct Watcher {
    session: WatchSession,
    listed: BTreeSet<usize>,
    known: GroupState,
    /// Whether it has a list, and whether it has read all that the first list of its connection had, so that it may
    /// show what it knows.
    has_list: bool,
    has_all: bool,
}

impl Watcher {
    /// One in a session whose server is at a moment.
    pub fn new(at: usize) -> Self {
        Self {
            session: WatchSession {
                at,
                list_watch: false,
                data_watches: BTreeSet::new(),
                requests: VecDeque::from([ReadRequest::List]),
                messages: VecDeque::new(),
            },
            listed: BTreeSet::new(),
            known: BTreeMap::new(),
            has_list: false,
            has_all: false,
        }
    }

    /// Its connection is gone, and there is one to another server: what was on its way is lost, and all is read again.
    pub fn reconnect(&mut self, at: usize) {
        *self = Self::new(self.session.at.max(at));
    }

    /// Its server applies the next transaction, and sends the events of the watches that this triggers.
    pub fn advance(&mut self, log: &SimulatedLog) {
        let session = &mut self.session;
        if session.at >= log.len() {
            return;
        }
        let (before, after) = (log.state(session.at), log.state(session.at + 1));
        session.at += 1;
        if session.list_watch && !before.keys().eq(after.keys()) {
            session.list_watch = false;
            session.messages.push_back(SessionMessage::ListChanged);
        }
        let changed = |member: &usize| before.get(member) != after.get(member);
        let fired: Vec<usize> = session.data_watches.iter().copied().filter(changed).collect();
        for member in fired {
            session.data_watches.remove(&member);
            session.messages.push_back(SessionMessage::DataChanged(member));
        }
    }

    /// Its server serves the oldest request.
    pub fn serve(&mut self, log: &SimulatedLog) {
        let session = &mut self.session;
        let state = log.state(session.at);
        match session.requests.pop_front() {
            Some(ReadRequest::List) => {
                session.list_watch = true;
                let listed = state.keys().copied().collect();
                session.messages.push_back(SessionMessage::Listed(listed));
            }
            Some(ReadRequest::Data(member)) => {
                let znode = state.get(&member).copied();
                if znode.is_some() {
                    session.data_watches.insert(member);
                }
                session.messages.push_back(SessionMessage::Data(member, znode));
            }
            None => {}
        }
    }

    /// It works off the oldest message.
    pub fn work(&mut self) {
        let Some(message) = self.session.messages.pop_front() else {
            return;
        };
        match message {
            SessionMessage::ListChanged => self.session.requests.push_back(ReadRequest::List),
            SessionMessage::DataChanged(member) => self.session.requests.push_back(ReadRequest::Data(member)),
            SessionMessage::Listed(listed) => {
                self.has_list = true;
                self.known.retain(|member, _| listed.contains(member));
                let new = listed.iter().filter(|member| !self.known.contains_key(member));
                self.session
                    .requests
                    .extend(new.map(|&member| ReadRequest::Data(member)));
                self.listed = listed;
            }
            SessionMessage::Data(member, Some(znode)) => drop(self.known.insert(member, znode)),
            SessionMessage::Data(member, None) => {
                self.known.remove(&member);
                self.listed.remove(&member);
            }
        }
        let all = self.listed.iter().all(|member| self.known.contains_key(member));
        self.has_all |= self.has_list && all;
    }

    /// All is served and worked off.
    pub fn settle(&mut self, log: &SimulatedLog) {
        while self.session.at < log.len() {
            self.advance(log);
        }
        while !self.session.requests.is_empty() || !self.session.messages.is_empty() {
            self.work();
            self.serve(log);
        }
    }

    /// What it shows; `None` if it has not read a whole group yet. One that showed a part of the first list would leave
    /// out members that it had shown before its connection was gone.
    pub fn view(&self) -> Option<GroupState> {
        let listed = self.known.iter().filter(|(member, _)| self.listed.contains(member));
        self.has_all
            .then(|| listed.map(|(&member, &znode)| (member, znode)).collect())
    }
}
