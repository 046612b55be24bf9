//! When the leader takes a session for over.

use std::collections::BTreeMap;
use std::time::Duration;

/// A session, as the leader has it.
#[derive(Debug)]
struct TrackedSession {
    timeout: Duration,
    /// The tick at which it is over if nothing is heard of it.
    over: Duration,
    /// The server that has it.
    owner: Option<usize>,
    closing: bool,
}

/// The sessions of a leader. Their ends are rounded up to ticks, as ZooKeeper's `ExpiryQueue` rounds them.
#[derive(Debug)]
pub(super) struct Tracker {
    sessions: BTreeMap<i64, TrackedSession>,
    tick: Duration,
}

/// The next tick after a moment.
pub(super) fn round_up(time: Duration, tick: Duration) -> Duration {
    let ticks = time.as_nanos() / tick.as_nanos().max(1) + 1;
    tick * u32::try_from(ticks).unwrap_or(u32::MAX)
}

impl Tracker {
    /// All these sessions were heard of just now.
    pub(super) fn new(sessions: &BTreeMap<i64, Duration>, tick: Duration, now: Duration) -> Self {
        let tracked = |(session, timeout): (&i64, &Duration)| {
            let tracked = TrackedSession {
                timeout: *timeout,
                over: round_up(now + *timeout, tick),
                owner: None,
                closing: false,
            };
            (*session, tracked)
        };
        Self {
            sessions: sessions.iter().map(tracked).collect(),
            tick,
        }
    }

    pub(super) fn open(&mut self, session: i64, timeout: Duration, owner: usize, now: Duration) {
        let tracked = TrackedSession {
            timeout,
            over: round_up(now + timeout, self.tick),
            owner: Some(owner),
            closing: false,
        };
        self.sessions.insert(session, tracked);
    }

    /// It was heard of. Its timeout, if it lives.
    pub(super) fn touch(&mut self, session: i64, now: Duration) -> Option<Duration> {
        let tick = self.tick;
        let tracked = self.sessions.get_mut(&session).filter(|tracked| !tracked.closing)?;
        tracked.over = tracked.over.max(round_up(now + tracked.timeout, tick));
        Some(tracked.timeout)
    }

    /// A server takes a session over that lives; its timeout.
    pub(super) fn take_over(&mut self, session: i64, owner: usize, now: Duration) -> Option<Duration> {
        let timeout = self.touch(session, now)?;
        if let Some(tracked) = self.sessions.get_mut(&session) {
            tracked.owner = Some(owner);
        }
        Some(timeout)
    }

    /// Why a request of a session is refused that comes through this server.
    pub(super) fn refuses(&mut self, session: i64, server: usize) -> Option<&'static str> {
        let Some(tracked) = self.sessions.get_mut(&session).filter(|tracked| !tracked.closing) else {
            return Some("session expired");
        };
        (*tracked.owner.get_or_insert(server) != server).then_some("session moved")
    }

    /// It is about to end, and takes no requests any more.
    pub(super) fn close(&mut self, session: i64) {
        if let Some(tracked) = self.sessions.get_mut(&session) {
            tracked.closing = true;
        }
    }

    /// The sessions whose time is over by now.
    pub(super) fn over(&self, now: Duration) -> Vec<i64> {
        let over = |tracked: &TrackedSession| !tracked.closing && tracked.over <= now;
        let sessions = self.sessions.iter().filter(|(_, tracked)| over(tracked));
        sessions.map(|(session, _)| *session).collect()
    }
}
