//! Triggers: when a fault window that waits for its moment, or for a client's state, begins.

use super::slot::{OpKind, Slot};
use crate::faults::nemesis::Fired;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use zooquake_checkers::plan::{State, Trigger, Window};

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
pub struct Armed {
    trigger: Trigger,
    from: Instant,
    /// When it is given up.
    until: Instant,
    fired: oneshot::Sender<Fired>,
}

impl Armed {
    /// Arms a window; `ops_began` is the moment from which its times count.
    pub fn new(window: &Window, ops_began: Instant, fired: oneshot::Sender<Fired>) -> Self {
        let (from_ms, by_ms) = match window.trigger {
            Trigger::At { at_ms } => (at_ms, at_ms),
            Trigger::State { from_ms, .. } => (from_ms, from_ms),
            Trigger::Op { by_ms, .. } => (0, by_ms),
        };
        let now = Instant::now();
        Self {
            trigger: window.trigger.clone(),
            from: (ops_began + Duration::from_millis(from_ms)).max(now),
            until: (ops_began + Duration::from_millis(by_ms)).max(now) + PATIENCE,
            fired,
        }
    }

    /// When it has to be looked at again, if nothing happens before.
    pub fn due(&self, slots: &[Slot]) -> Instant {
        match self.trigger {
            Trigger::At { .. } => self.from,
            Trigger::State { .. } | Trigger::Op { .. } => {
                let ready = slots.iter().filter_map(|slot| self.ready(slot, slots)).min();
                ready.unwrap_or(self.until).max(self.from)
            }
        }
    }

    /// When the client's state will have lasted long enough, if it is in the state.
    fn ready(&self, slot: &Slot, slots: &[Slot]) -> Option<Instant> {
        match &self.trigger {
            Trigger::At { .. } => None,
            Trigger::State { state, after_ms, .. } => self.in_state(state, *after_ms, slot, slots),
            Trigger::Op {
                client,
                f,
                nth,
                work_ms,
                after_ms,
                ..
            } => {
                let sent = slot.sent.get(f.as_str()).filter(|_| slot.name == *client)?;
                let ready = sent.since + Duration::from_millis(*after_ms);
                let late = ready + LATE < self.from || sent.count > *nth && sent.work_ms < *work_ms;
                (sent.count >= *nth && !late).then_some(ready)
            }
        }
    }

    fn in_state(&self, state: &State, after_ms: u64, slot: &Slot, slots: &[Slot]) -> Option<Instant> {
        let op = slot.op.as_ref()?;
        let named = matches!(state, State::Asked(_));
        let grants = matches!(op.kind, OpKind::Acquire | OpKind::Write | OpKind::Release);
        // Where any operation will do most are over in a few milliseconds.
        let any = !grants && !named;
        let after = Duration::from_millis(if any { after_ms.min(MOMENT_MS) } else { after_ms });
        let ready = op.since + after;
        // These two strike at the request itself, so it must be a fresh one.
        let fresh = op.since >= self.from;
        let others_hold = slots
            .iter()
            .any(|other| other.name != slot.name && other.hold.is_some());
        let works = slot.hold.is_some() && Duration::from_millis(op.work_ms) >= after + WORK_LEFT;
        let fits = match state {
            State::Asked(f) => op.f == f && fresh,
            _ if any => fresh,
            State::Acquiring => op.kind == OpKind::Acquire && fresh,
            State::Releasing => op.kind == OpKind::Release && fresh,
            // Work that began too long before the trigger was armed has too little left.
            State::Working => op.kind == OpKind::Write && works && ready >= self.from,
            State::Waiting => op.kind == OpKind::Acquire && others_hold,
        };
        fits.then_some(ready)
    }

    /// Fires if the moment has come; gives itself back if it has to wait on. A trigger that has waited too long is
    /// dropped, which the nemesis sees.
    pub fn poll(self, slots: &[Slot], now: Instant) -> Option<Self> {
        if now < self.from {
            return Some(self);
        }
        let holder = slots
            .iter()
            .find(|slot| slot.hold.is_some())
            .map(|slot| slot.name.clone());
        if matches!(self.trigger, Trigger::At { .. }) {
            // The nemesis has ended if nobody waits.
            let _ = self.fired.send(Fired { client: None, holder });
            return None;
        }
        let ready = slots
            .iter()
            .find(|slot| self.ready(slot, slots).is_some_and(|at| at <= now));
        if let Some(slot) = ready {
            let _ = self.fired.send(Fired {
                client: Some(slot.name.clone()),
                holder,
            });
            return None;
        }
        (now < self.until).then_some(self)
    }
}
