//! Triggers: when a fault window that waits for its moment, or for a client's state, begins.

use super::clients::Clients;
use super::clients::worker::Worker;
use super::operation::OpKind;
use std::time::Duration;
use zooquake_history::plan::{ClientState, Trigger, Window};

/// How long a trigger by state may wait before the window is given up.
const PATIENCE: Duration = Duration::from_secs(8);

/// A write must have at least this much of its work left when a fault strikes in it.
const WORK_LEFT: Duration = Duration::from_millis(100);

/// How long the moment of an operation may be past when its trigger is armed.
const LATE: Duration = Duration::from_millis(20);

/// How far into an operation of a family without grants a fault strikes, at most, in milliseconds.
const MOMENT_MS: u64 = 2;

/// A window that waits for its trigger.
#[derive(Debug)]
pub struct ArmedTrigger {
    trigger: Trigger,
    from: Duration,
    /// When it is given up.
    until: Duration,
    /// That of the nemesis's report.
    pub token: u64,
}

/// What comes of looking at a trigger.
#[derive(Debug)]
pub enum TriggerState {
    /// It has to wait on.
    Waits(ArmedTrigger),
    /// It fires, for the state of this client if it waited for one.
    Fires(Option<String>),
    /// It has waited too long.
    Expires,
}

impl ArmedTrigger {
    /// Arms a window; `ops_began` is the moment from which its times count, `token` that of the nemesis's report.
    pub fn new(window: &Window, ops_began: Duration, now: Duration, token: u64) -> Self {
        let (from_ms, by_ms) = match window.trigger {
            Trigger::At { at_ms } => (at_ms, at_ms),
            Trigger::State { from_ms, .. } => (from_ms, from_ms),
            Trigger::Op { by_ms, .. } => (0, by_ms),
        };
        Self {
            trigger: window.trigger.clone(),
            from: (ops_began + Duration::from_millis(from_ms)).max(now),
            until: (ops_began + Duration::from_millis(by_ms)).max(now) + PATIENCE,
            token,
        }
    }

    /// When it has to be looked at again, if nothing happens before.
    pub fn due(&self, clients: &Clients) -> Duration {
        match self.trigger {
            Trigger::At { .. } => self.from,
            Trigger::State { .. } | Trigger::Op { .. } => {
                let workers = clients.workers.iter();
                let ready = workers.filter_map(|worker| self.ready(worker, clients));
                ready.min().unwrap_or(self.until).max(self.from)
            }
        }
    }

    /// When the client's state will have lasted long enough, if it is in the state.
    fn ready(&self, worker: &Worker, clients: &Clients) -> Option<Duration> {
        match &self.trigger {
            Trigger::At { .. } => None,
            Trigger::State { state, after_ms, .. } => self.in_state(state, *after_ms, worker, clients),
            Trigger::Op {
                client,
                f,
                nth,
                work_ms,
                after_ms,
                ..
            } => {
                let sent = worker.sent.get(f.as_str()).filter(|_| worker.name == *client)?;
                let ready = sent.since + Duration::from_millis(*after_ms);
                let late = ready + LATE < self.from || sent.count > *nth && sent.work_ms < *work_ms;
                (sent.count >= *nth && !late).then_some(ready)
            }
        }
    }

    /// The same for a state.
    fn in_state(&self, state: &ClientState, after_ms: u64, worker: &Worker, clients: &Clients) -> Option<Duration> {
        if let ClientState::Answered(f) = state {
            let (_, since) = worker.answered.filter(|(answered, _)| answered == f)?;
            let ready = since + Duration::from_millis(after_ms);
            return (ready >= self.from).then_some(ready);
        }
        let op = worker.op.as_ref()?;
        let named = matches!(state, ClientState::Asked(_));
        let works = matches!(op.kind, OpKind::Read | OpKind::Write);
        let grants = works || matches!(op.kind, OpKind::Acquire | OpKind::Release);
        // Where any operation will do most are over in a few milliseconds.
        let any = !grants && !named;
        let after = Duration::from_millis(if any { after_ms.min(MOMENT_MS) } else { after_ms });
        let ready = op.since + after;
        // These two strike at the request itself, so it must be a fresh one.
        let fresh = op.since >= self.from;
        let lasts = clients.holds.is_holder(worker.number) && Duration::from_millis(op.work_ms) >= after + WORK_LEFT;
        let fits = match state {
            ClientState::Asked(f) => op.f == f && fresh,
            _ if any => fresh,
            ClientState::Acquiring => op.kind == OpKind::Acquire && fresh,
            ClientState::Releasing => op.kind == OpKind::Release && fresh,
            // Work that began too long before the trigger was armed has too little left.
            ClientState::Working => works && lasts && ready >= self.from,
            ClientState::Waiting => op.kind == OpKind::Acquire && clients.holds.excludes(worker.number),
            ClientState::Answered(_) => false,
        };
        fits.then_some(ready)
    }

    /// Fires if the moment has come, and is given up if it has waited too long.
    pub fn poll(self, clients: &Clients, now: Duration) -> TriggerState {
        if now < self.from {
            return TriggerState::Waits(self);
        }
        if matches!(self.trigger, Trigger::At { .. }) {
            return TriggerState::Fires(None);
        }
        let ready = |worker: &&Worker| self.ready(worker, clients).is_some_and(|at| at <= now);
        match clients.workers.iter().find(ready) {
            Some(worker) => TriggerState::Fires(Some(worker.name.clone())),
            None if now < self.until => TriggerState::Waits(self),
            None => TriggerState::Expires,
        }
    }
}
