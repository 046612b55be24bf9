//! What a client was being asked when a fault struck.

use zooquake_history::{Event, EventType, Process, plan::Trigger};

/// Longest time after an operation was sent at which a moment is still defined by it, in milliseconds; a wait is
/// longer.
const TELLING_MS: u64 = 5_000;

/// A moment in a client's own sequence of operations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    client: String,
    f: String,
    nth: u64,
    work_ms: u64,
    after_ms: u64,
}

impl Moment {
    /// The moment of `event` in the operations of `client`: since its last one was sent; `None` if there is none near.
    pub fn at(events: &[Event], event: &Event, client: &str) -> Option<Self> {
        let before = &events[..event.index.min(events.len())];
        let mut asked = before.iter().filter(|e| is_asked(e, client));
        let last = asked.next_back()?;
        let after_ms = event.time.saturating_sub(last.time) / 1_000_000;
        let nth = 1 + asked.filter(|e| e.f == last.f).count() as u64;
        (after_ms <= TELLING_MS).then(|| Self {
            client: client.to_string(),
            f: last.f.to_string(),
            nth,
            work_ms: last.work_ms().unwrap_or(0).max(0).unsigned_abs(),
            after_ms,
        })
    }

    /// Whether the operation was still going on at `event`.
    pub fn is_busy(events: &[Event], event: &Event, client: &str) -> bool {
        let before = &events[..event.index.min(events.len())];
        let mut own = before.iter().rev();
        let last = own.find(|e| matches!(e.process, Process::Number(_)) && e.node.as_deref() == Some(client));
        last.is_some_and(|e| e.kind == EventType::Invoke)
    }

    /// The trigger that fires at this moment of another run; given up at `by_ms` after operations began.
    pub fn trigger(self, by_ms: u64) -> Trigger {
        Trigger::Op {
            client: self.client,
            f: self.f,
            nth: self.nth,
            work_ms: self.work_ms,
            after_ms: self.after_ms,
            by_ms,
        }
    }

    /// The moment in words.
    pub fn words(&self) -> String {
        let Self {
            client,
            f,
            nth,
            after_ms,
            ..
        } = self;
        format!("{after_ms} ms into `{f}` number {nth} of {client}")
    }
}

fn is_asked(event: &Event, client: &str) -> bool {
    event.kind == EventType::Invoke
        && matches!(event.process, Process::Number(_))
        && event.node.as_deref() == Some(client)
}
