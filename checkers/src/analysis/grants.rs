//! Grants: the holders, the interval of each hold where the history shows it, and which answers to `confirm` convict,
//! by what clients believe of their grants.
//!
//! An answer `"holds":true` to a request sent at S convicts if S comes after all grants concerned were read, and before
//! the client's own release was sent; when it is answered does not matter, nor when others release. Let S be the
//! earliest of such sendings, one of each client. Then all of them held at S:
//!
//! - Each client had its grant at S, as that was read before. It looked at its belief after its own request was sent,
//!   so not before S, and believed in this grant still. Belief in a grant ends once, so it believed at S.
//! - Before it looked it wrote in the session that the grant rests on, to a request sent not before S. So that session
//!   lived at S, and had not been replaced.
//! - Its own release was sent later than its own `confirm`, so not before S: nothing had asked it to give the grant
//!   back.
//!
//! The argument needs the premise that belief ends once. A client whose stream has a denial before the answer breaks
//! it: a `lost` or a `not-held` of that grant, or `"holds":false` to a request sent after the grant was read. One
//! client's lines are read in the order in which they were written, so that is certain. So does a process that holds by
//! a grant of an earlier process of its client: a grant dies with the process that was given it. Such an answer
//! convicts nobody, and is a reason against `valid`. What the client confirmed before the denial stands.
//!
//! Which request an answer belongs to is not always certain. An answer pairs with the oldest open `confirm`; it may be
//! that to a later one, so it counts only if no `confirm` was sent between the release and it. Where the request of a
//! release is not in the history the release may have been sent before every `confirm`.

use super::{Op, Ops, ops};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use zooquake_history::operation::grant::{ACCEPTED, MODE, f};
use zooquake_history::operation::{GrantOps, Mode, control, election, lock, rwlock, semaphore};
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
    /// Where it was asked for, if its answer is certainly that to this request: it was given no earlier.
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
    /// Those of the answers that were to a `confirm`, sent before its release was (`Beliefs`).
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

    /// Takes note of a client that refused a request because it holds no more; `asked` names the grant if it is certain
    /// which request it refused.
    fn not_held(&mut self, event: &'a Event, at: usize, asked: Option<&'a str>) {
        if !ops::is_not_held(event) {
            return;
        }
        let node = ops::node(event);
        match event.grant().or(asked) {
            Some(name) => {
                let known = self.by_name.get(name).copied();
                let own = known.filter(|&grant| self.all[grant].node == node && self.all[grant].read.is_some());
                own.into_iter().for_each(|grant| self.beliefs.denied(grant, at));
            }
            None => self.beliefs.denied_any(node, at),
        }
    }

    /// An event outside of operations that concerns grants: a report of a client that it holds or no longer holds, or
    /// the end of its process.
    fn control(&mut self, event: &'a Event, at: usize, sent: Option<usize>) {
        let node = ops::node(event);
        match (event.f.as_str(), event.kind) {
            ("exit", EventType::Info) => {
                self.beliefs.exited(node, at);
                for (_, grant) in self.open.remove(node).unwrap_or_default() {
                    self.all[grant].end.get_or_insert(at);
                }
            }
            ("lost", EventType::Info) => {
                let known = event.grant().and_then(|name| self.by_name.get(name).copied());
                if event.grant().is_none() {
                    self.beliefs.denied_any(node, at);
                }
                if let Some(grant) = known.filter(|&grant| self.all[grant].node == node) {
                    self.beliefs.denied(grant, at);
                    if self.all[grant].read.is_some() {
                        self.end(grant, at);
                    }
                }
            }
            (control::f::CONFIRM, EventType::Invoke) => self.beliefs.asked(node, at),
            (control::f::CONFIRM, EventType::Ok) => self.confirm(event, at, sent),
            _ => {}
        }
    }

    fn confirm(&mut self, event: &'a Event, at: usize, sent: Option<usize>) {
        let node = ops::node(event);
        match event.holds() {
            Some(true) => {
                let known = event.grant().and_then(|name| self.by_name.get(name).copied());
                if let Some(grant) = known.filter(|&grant| self.all[grant].node == node) {
                    self.holds(grant, at, sent);
                }
            }
            Some(false) => {
                self.beliefs.disclaimed(node, at, sent);
                // An answer to a request sent before a grant was read may be older than the grant.
                let older = |open: &BTreeSet<(usize, usize)>| open.range(..(sent?, 0)).next().copied();
                while let Some((_, grant)) = self.open.get(node).and_then(older) {
                    self.end(grant, at);
                }
            }
            None => {}
        }
    }

    /// The client answered that it holds by this grant of its own, to a `confirm` sent at `sent`, if that is certain.
    fn holds(&mut self, number: usize, at: usize, sent: Option<usize>) {
        let grant = &mut self.all[number];
        if let Some(denial) = self.beliefs.denial(number, grant) {
            let contradiction = HoldContradiction {
                confirm: at,
                grant: number,
                denial,
            };
            return self.contradictions.push(contradiction);
        }
        let released = grant
            .release
            .is_some_and(|release| self.beliefs.asked_after(grant.node, release));
        if let (Some(sent), Some(read)) = (sent, grant.read)
            && sent > read
            && !released
            && !grant.release_unasked
        {
            grant.confirms.push(HolderAnswer { sent, read: at });
            grant.answers.push(HolderAnswer { sent, read: at });
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

/// What denies that a client holds by a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denial {
    /// At this event its client reported that it no longer holds: `lost`, `not-held` or `"holds":false`.
    Words(usize),
    /// At this event the process ended that was given the grant.
    Exit(usize),
    /// At this event its client reported the same, but it is not certain of which grant.
    Perhaps(usize),
}

/// The denials until an event, and the last `confirm` of each client. Positions are those of events.
#[derive(Debug, Default)]
struct Beliefs<'a> {
    /// By grant: the first.
    by_grant: HashMap<usize, usize>,
    /// By client: where its process ended last.
    exits: HashMap<&'a str, usize>,
    /// By client: the last sending of a `confirm` that it answered with `"holds":false`, and that answer.
    disclaimers: HashMap<&'a str, (usize, usize)>,
    /// By client: the last denial of which the grant is not certain.
    uncertain: HashMap<&'a str, usize>,
    /// By client: where it was sent a `confirm` last.
    asked: HashMap<&'a str, usize>,
}

impl<'a> Beliefs<'a> {
    /// Records that the client of this grant reported that it no longer holds.
    fn denied(&mut self, grant: usize, at: usize) {
        self.by_grant.entry(grant).or_insert(at);
    }

    /// Records that a client reported the same for a grant that is not identified.
    fn denied_any(&mut self, node: &'a str, at: usize) {
        self.uncertain.insert(node, at);
    }

    /// Records that a client's process ended.
    fn exited(&mut self, node: &'a str, at: usize) {
        self.exits.insert(node, at);
    }

    /// A client was sent a `confirm`.
    fn asked(&mut self, node: &'a str, at: usize) {
        self.asked.insert(node, at);
    }

    /// A client answered a `confirm` with `"holds":false`; `sent` is where that was sent, if it is certain.
    fn disclaimed(&mut self, node: &'a str, at: usize, sent: Option<usize>) {
        match sent {
            Some(sent) if self.disclaimers.get(node).is_none_or(|&(last, _)| last < sent) => {
                self.disclaimers.insert(node, (sent, at));
            }
            Some(_) => {}
            None => self.denied_any(node, at),
        }
    }

    /// Whether a client was sent a `confirm` after an event.
    fn asked_after(&self, node: &str, event: usize) -> bool {
        self.asked.get(node).is_some_and(|&asked| asked > event)
    }

    /// What denies until now that a grant is held.
    fn denial(&self, number: usize, grant: &Grant<'_>) -> Option<Denial> {
        if let Some(&at) = self.by_grant.get(&number) {
            return Some(Denial::Words(at));
        }
        let read = grant.read?;
        let exit = self.exits.get(grant.node).filter(|&&at| at > read);
        let disclaimer = self.disclaimers.get(grant.node).filter(|(sent, _)| *sent > read);
        let uncertain = self.uncertain.get(grant.node).filter(|&&at| at > read);
        exit.map(|&at| Denial::Exit(at))
            .or(disclaimer.map(|&(_, at)| Denial::Words(at)))
            .or(uncertain.map(|&at| Denial::Perhaps(at)))
    }
}

/// What a family calls the operations, anomalies and things that all exclusive grants have in common: a lock is
/// acquired, a leadership is won.
#[derive(Debug)]
pub struct GrantTerms {
    /// The operations.
    pub ops: GrantOps,
    /// What is granted, for texts.
    pub thing: &'static str,
    /// Anomaly: two clients confirmed that each holds.
    pub double: &'static str,
    /// Anomaly, advisory: certain holds overlap otherwise.
    pub stale_holder: &'static str,
    /// Anomaly: a later grant has no higher token.
    pub regression: &'static str,
    /// Anomaly: nobody is granted though nobody holds.
    pub pending: &'static str,
    /// Anomaly, advisory: for long nobody holds though somebody waits, and no fault is near.
    pub idle: &'static str,
}

/// The families that grant.
const GRANTING: &[(&str, &GrantTerms)] = &[
    (lock::FAMILY.name, &LOCK),
    (rwlock::FAMILY.name, &RWLOCK),
    (election::FAMILY.name, &ELECTION),
    (semaphore::FAMILY.name, &SEMAPHORE),
];

/// The terms of a family that grants nothing: no operation and no anomaly has these names.
const NOTHING: GrantTerms = GrantTerms {
    ops: GrantOps {
        takes: "",
        reads: None,
        works: "",
        gives: "",
    },
    thing: "",
    double: "",
    stale_holder: "",
    regression: "",
    pending: "",
    idle: "",
};

const LOCK: GrantTerms = GrantTerms {
    ops: lock::FAMILY.grant_ops(),
    thing: "the lock",
    double: "double-grant",
    stale_holder: "stale-holder",
    regression: "fencing-regression",
    pending: "lost-wakeup",
    idle: "idle-lock",
};

/// The terms of a read-write lock.
const RWLOCK: GrantTerms = GrantTerms {
    ops: rwlock::FAMILY.grant_ops(),
    ..LOCK
};

const ELECTION: GrantTerms = GrantTerms {
    ops: election::FAMILY.grant_ops(),
    thing: "the leadership",
    double: "two-leaders",
    stale_holder: "stale-leader",
    regression: "epoch-regression",
    pending: "no-leader",
    idle: "leaderless",
};

/// The terms of a semaphore. With one lease, too, two clients are more than may hold.
const SEMAPHORE: GrantTerms = GrantTerms {
    ops: semaphore::FAMILY.grant_ops(),
    thing: "a lease",
    double: "over-capacity",
    regression: "",
    ..LOCK
};

impl GrantTerms {
    /// What a family calls them; empty names of one that grants nothing.
    pub(super) fn of_family(family: &str) -> &'static Self {
        let found = GRANTING.iter().find(|(name, _)| *name == family);
        found.map_or(&NOTHING, |(_, terms)| terms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zooquake_history::operation::FAMILIES;

    #[test]
    fn each_family_that_grants_has_terms() {
        let granting = FAMILIES.iter().filter(|family| family.grants).map(|family| family.name);
        assert!(granting.eq(GRANTING.iter().map(|(name, _)| *name)));
    }
}
