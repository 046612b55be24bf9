//! Grants: the holders, and the interval of each hold where the history shows it.

mod beliefs;
mod control;
pub(crate) mod terms;

pub use beliefs::Denial;

use crate::analysis::grants::terms::GrantTerms;
use crate::analysis::{Op, Ops, ops};
use beliefs::Beliefs;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use zooquake_history::operation::{
    Mode,
    grant::{ACCEPTED, MODE, f},
};
use zooquake_history::{Event, EventType, Process, Value};

/// A request that the client answered as the holder: the events that sent and answered it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct HolderAnswer {
    /// The event that sent the request.
    pub sent: usize,
    /// The event that answered it.
    pub read: usize,
}

/// One grant. Every position is that of an event in the history.
#[derive(Debug, Clone, Default)]
pub struct Grant<'a> {
    /// Its name, `g7`.
    pub name: &'a str,
    /// The client that asked for it.
    pub node: &'a str,
    /// How it is held, as its request asked; `None` if that is not known: the request is missing and others are not for
    /// exclusive grants, or its mode cannot be read.
    pub mode: Option<Mode>,
    /// Where it was asked for.
    pub asked: Option<usize>,
    /// The same, if its answer is certainly that to this request: it was given no earlier.
    pub requested: Option<usize>,
    /// Where it was read, which begins the hold.
    pub read: Option<usize>,
    /// Whether that answer is a disputed one.
    pub disputed: bool,
    /// The znode it rests on.
    pub path: Option<&'a str>,
    /// Its age: the zxid that created that znode.
    pub czxid: Option<i64>,
    /// The session that owned that znode.
    pub session: Option<&'a str>,
    /// The fencing token.
    pub token: Option<i64>,
    /// Where its release was sent.
    pub release: Option<usize>,
    /// Where its release was answered with `ok`.
    pub released: Option<usize>,
    /// Whether a release of it was answered whose request is not in the history, so that it may have been sent at any
    /// time.
    pub release_unasked: bool,
    /// Where the hold ended: its release was sent, its client reported that it no longer holds, or its stream ended.
    pub end: Option<usize>,
    /// Requests sent after it was read and answered as holder, by the moment they were sent.
    pub answers: Vec<HolderAnswer>,
    /// Those of them that were a `confirm`, sent before its release was ([`beliefs`]).
    pub confirms: Vec<HolderAnswer>,
}

impl Grant<'_> {
    /// A release of it was answered that nobody is known to have asked for: what its client confirmed may have been
    /// asked for after that release was sent.
    fn released_unasked(&mut self) {
        self.release_unasked = true;
        let confirms = std::mem::take(&mut self.confirms);
        self.answers.retain(|answer| !confirms.contains(answer));
    }
}

/// A client that reports that it holds, after it had denied that.
#[derive(Debug, Clone, Copy)]
pub struct HoldContradiction {
    /// The answer to `confirm` that reports the hold.
    pub confirm: usize,
    /// The grant that it names.
    pub grant: usize,
    /// The report or the end of the process that contradicts the answer.
    pub denial: Denial,
}

/// An accepted write, in the order of the history.
#[derive(Debug, Clone, Copy)]
pub struct Write {
    /// The grant it was made under.
    pub grant: usize,
    /// Where its answer was read.
    pub read: usize,
    /// Its place among the transactions of the ensemble, for a resource in ZooKeeper.
    pub mzxid: Option<i64>,
}

/// All grants of a history, by the first event that names each, and what was done under them.
#[derive(Debug, Default)]
pub struct Grants<'a> {
    /// Every grant, in the order of the first event that names it.
    pub all: Vec<Grant<'a>>,
    /// The accepted writes, in the order of their answers.
    pub writes: Vec<Write>,
    /// Whether some request asks for another mode than exclusive.
    pub moded: bool,
    /// Answers to `confirm` that convict nobody, because their clients contradict themselves.
    pub contradictions: Vec<HoldContradiction>,
    beliefs: Beliefs<'a>,
    by_name: HashMap<&'a str, usize>,
    /// Grants read and not ended, by client: where each was read, and its number.
    open: BTreeMap<&'a str, BTreeSet<(usize, usize)>>,
}

impl<'a> Grants<'a> {
    /// Reads the grants out of a history, in one pass.
    pub fn new(events: &'a [Event], ops: &Ops<'a>, names: &GrantTerms) -> Self {
        let mut grants = Self::default();
        for (at, event) in events.iter().enumerate() {
            match &event.process {
                Process::Number(_) => {
                    grants.work(events, at, ops, names);
                }
                Process::Name(name) if !ops::is_harness(name) => {
                    grants.control(event, at, ops.completes[at].and_then(|op| ops.control[op].sent()));
                }
                Process::Name(_) => {}
            }
        }
        let plain = (!grants.moded).then_some(Mode::Exclusive);
        for grant in &mut grants.all {
            grant.mode = grant.mode.or(plain);
            grant.answers.sort_unstable();
            grant.confirms.sort_unstable();
        }
        grants
    }

    /// Grants that were certainly read, in the order in which they were.
    pub fn read(&self) -> Vec<usize> {
        let mut read: Vec<usize> = (0..self.all.len())
            .filter(|&grant| self.all[grant].read.is_some() && !self.all[grant].disputed)
            .collect();
        read.sort_unstable_by_key(|&grant| self.all[grant].read);
        read
    }

    fn named(&mut self, name: &'a str, node: &'a str) -> usize {
        let next = self.all.len();
        let grant = *self.by_name.entry(name).or_insert(next);
        if grant == next {
            self.all.push(Grant {
                name,
                node,
                ..Grant::default()
            });
        }
        grant
    }

    fn work(&mut self, events: &'a [Event], at: usize, ops: &Ops<'a>, names: &GrantTerms) {
        let event = &events[at];
        let op = ops.completes[at].map(|op| &ops.work[op]);
        let asked = || op?.invoke.and_then(|at| events[at].grant());
        self.not_held(event, at, op.filter(|op| !op.doubtful).and_then(|_| asked()));
        let Some(name) = event.grant().or_else(asked) else {
            return;
        };
        let disputed = ops.disputed.contains(&at);
        let node = ops::node(event);
        let mut grant = self.named(name, node);
        if event.f == names.ops.takes {
            if event.kind == EventType::Invoke && self.all[grant].asked.is_some() {
                // The name is used again: a grant of its own.
                self.by_name.remove(name);
                grant = self.named(name, node);
            }
            self.acquire(event, at, grant, op.and_then(Op::sent));
            self.all[grant].disputed |= disputed && self.all[grant].read == Some(at);
        } else if disputed {
            // Who acted under the grant, if anybody did, is not known.
        } else if event.f == names.ops.gives {
            match event.kind {
                EventType::Invoke => {
                    let of = &mut self.all[grant];
                    of.release.get_or_insert(at);
                    // One that another client sent, or that was sent before the grant was read, may have released
                    // nothing.
                    if of.read.is_some() && of.node == node {
                        self.end(grant, at);
                    }
                }
                EventType::Ok | EventType::Fail | EventType::Info => {
                    let of = &mut self.all[grant];
                    if event.kind == EventType::Ok {
                        of.released.get_or_insert(at);
                    }
                    if asked() != Some(name) {
                        of.released_unasked();
                    }
                }
            }
        } else if matches!(event.f.as_str(), f::READ | f::WRITE | f::WORK) {
            self.work_under(event, at, op.and_then(|op| op.sent()), grant);
        }
    }

    fn acquire(&mut self, event: &'a Event, at: usize, number: usize, sent: Option<usize>) {
        let grant = &mut self.all[number];
        match event.kind {
            EventType::Invoke => {
                grant.asked = Some(at);
                grant.mode = mode(event);
                self.moded |= grant.mode != Some(Mode::Exclusive);
            }
            EventType::Ok if grant.read.is_none() => {
                grant.read = Some(at);
                grant.requested = sent;
                grant.path = event.path();
                grant.czxid = event.czxid();
                grant.session = event.session();
                grant.token = event.token();
                self.open.entry(grant.node).or_default().insert((at, number));
            }
            _ => {}
        }
    }

    fn work_under(&mut self, event: &'a Event, at: usize, sent: Option<usize>, grant: usize) {
        let error = event.error.as_deref().unwrap_or_default();
        match event.kind {
            EventType::Ok if matches!(event.f.as_str(), f::READ | f::WORK) => self.answer(grant, sent, at),
            EventType::Ok if accepted(event) => {
                self.writes.push(Write {
                    grant,
                    read: at,
                    mzxid: event.mzxid(),
                });
                self.answer(grant, sent, at);
            }
            EventType::Fail if error.starts_with("refused") => self.answer(grant, sent, at),
            EventType::Fail if error.starts_with("not-held") => self.end(grant, at),
            _ => {}
        }
    }

    fn answer(&mut self, grant: usize, sent: Option<usize>, at: usize) {
        let grant = &mut self.all[grant];
        if let (Some(sent), Some(read)) = (sent, grant.read)
            && sent > read
        {
            grant.answers.push(HolderAnswer { sent, read: at });
        }
    }

    fn end(&mut self, number: usize, at: usize) {
        let grant = &mut self.all[number];
        grant.end.get_or_insert(at);
        if let (Some(open), Some(read)) = (self.open.get_mut(grant.node), grant.read) {
            open.remove(&(read, number));
        }
    }
}

/// The mode that a request asks for; `None` if it names one that cannot be read.
pub fn mode(request: &Event) -> Option<Mode> {
    match request.get(MODE.any()) {
        Some(_) => request.mode(),
        None => Some(Mode::default()),
    }
}

/// Whether a write that was answered `ok` was accepted: the field is `true`, `null` or absent. Any other value proves
/// nothing.
fn accepted(event: &Event) -> bool {
    matches!(event.get(ACCEPTED.any()), None | Some(Value::Null | Value::Bool(true)))
}
