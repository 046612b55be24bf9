//! Operations of the recipes: what they are for, those in flight, how they ended, and how long a client's attempts at
//! one went on without success.

use serde_json::Value;
use std::time::Duration;
use zooquake_history::EventType;
use zooquake_history::liveness::AnsweredDurations;
use zooquake_history::operation::{self, Field, FieldType, Mode, Role};
use zooquake_history::protocol::Outcome;

/// What an operation is for holds and for triggers, whatever its family calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpKind {
    /// Asks for a grant.
    Acquire,
    /// Works under a grant, and reads.
    Read,
    /// Works under a grant, and writes where its family does.
    Write,
    /// Gives a grant back: the hold ends when it is sent.
    Release,
    /// Waits for other clients.
    Meet,
    /// Anything else.
    Single,
}

impl OpKind {
    /// What an operation of a family is for.
    pub fn in_family(family: &str, f: &str) -> Self {
        let grants = operation::family(family).is_some_and(|family| family.grants);
        match operation::op(f).map(|op| (op.role, op.waits)) {
            Some((Role::Wait, _)) if grants => Self::Acquire,
            Some((Role::Take, _)) if grants => Self::Read,
            Some((Role::Work, _)) if grants => Self::Write,
            Some((Role::Leave, _)) if grants => Self::Release,
            Some((_, true)) => Self::Meet,
            _ => Self::Single,
        }
    }
}

/// An operation of the recipe that was sent and is not answered.
#[derive(Debug, Clone)]
pub struct PendingOp {
    /// The number of the request.
    pub id: u64,
    /// What its family calls it.
    pub f: &'static str,
    /// What it is for.
    pub kind: OpKind,
    /// The grant it is about.
    pub grant: String,
    /// Milliseconds of work in it.
    pub work_ms: u64,
    /// When it was sent.
    pub since: Duration,
    /// How long since recovery a grant of the client's mode could have been given, when it was sent.
    pub free_at: Duration,
}

impl PendingOp {
    /// Adds its duration to those of answered operations, if it was answered `ok` at this moment and was no work under
    /// a grant.
    pub fn measure(&self, end: &Completion, now: Duration, answered: &mut AnsweredDurations) {
        if end.is_ok() && !matches!(self.kind, OpKind::Read | OpKind::Write) {
            answered.add(self.f, now.saturating_sub(self.since));
        }
    }
}

/// Operations of one name that a client was asked for.
#[derive(Debug, Clone, Copy)]
pub struct SentTally {
    pub count: u64,
    /// When the last one was sent.
    pub since: Duration,
    /// Milliseconds of work in the last one.
    pub work_ms: u64,
}

/// How an operation ended.
#[derive(Debug, Clone)]
pub struct Completion {
    /// The type of its completion.
    pub kind: EventType,
    pub value: Value,
    /// Why it failed or is unknown.
    pub error: Option<String>,
}

impl Completion {
    pub fn from_reply(outcome: Outcome, value: Value, error: Option<String>) -> Self {
        let kind = match outcome {
            Outcome::Ok => EventType::Ok,
            Outcome::Fail => EventType::Fail,
            Outcome::Info => EventType::Info,
        };
        Self { kind, value, error }
    }

    /// Whether the operation certainly happened.
    pub fn is_ok(&self) -> bool {
        self.kind == EventType::Ok
    }

    /// A field of its value; `None` if it is missing or of another type.
    pub fn get<T: FieldType + ?Sized>(&self, field: Field<T>) -> Option<T::Read<'_, Value>> {
        field.read_from(&self.value)
    }
}

/// Free time since recovery, by the mode that a request asks for.
pub type FreeTimes = [Duration; Mode::ALL.len()];

/// Attempts of one client at one operation that were not answered `ok`, one after the other. Only those count in which
/// all time was free.
#[derive(Debug, Clone)]
pub struct RefusalChain {
    f: &'static str,
    /// The modes that were asked for.
    modes: [bool; Mode::ALL.len()],
    since: FreeTimes,
    until: FreeTimes,
}

/// An attempt that was answered.
#[derive(Debug, Clone, Copy)]
pub struct EndedAttempt<'o> {
    pub op: &'o PendingOp,
    pub mode: Mode,
    pub now: Duration,
    /// The free time up to now.
    pub free: FreeTimes,
}

impl RefusalChain {
    /// The chain that follows when this attempt was not answered `ok`.
    pub fn after(last: Option<Self>, attempt: EndedAttempt<'_>) -> Option<Self> {
        let EndedAttempt { op, mode, now, free } = attempt;
        let last = last.filter(|last| last.f == op.f);
        let mode = mode as usize;
        let whole = free[mode].checked_sub(op.free_at) == Some(now.saturating_sub(op.since));
        if !whole {
            return last;
        }
        let mut chain = last.unwrap_or_else(|| {
            let mut since = free;
            since[mode] = op.free_at;
            Self {
                f: op.f,
                modes: [false; Mode::ALL.len()],
                since,
                until: free,
            }
        });
        chain.modes[mode] = true;
        chain.until = free;
        Some(chain)
    }

    /// For how long the attempts went on.
    pub fn lasted(&self) -> Duration {
        let spans = self
            .until
            .iter()
            .zip(&self.since)
            .map(|(until, since)| until.saturating_sub(*since));
        let asked = spans.zip(self.modes).filter(|(_, asked)| *asked);
        asked.map(|(span, _)| span).min().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn op(f: &'static str, since: u64, free_at: u64) -> PendingOp {
        PendingOp {
            id: 1,
            f,
            kind: OpKind::Acquire,
            grant: String::new(),
            work_ms: 0,
            since: ms(since),
            free_at: ms(free_at),
        }
    }

    fn after(last: Option<RefusalChain>, op: &PendingOp, now: u64, free: u64) -> Option<RefusalChain> {
        let (now, free) = (ms(now), [ms(free), ms(0)]);
        let mode = Mode::Exclusive;
        RefusalChain::after(last, EndedAttempt { op, mode, now, free })
    }

    #[test]
    fn it_goes_from_the_first_sending_to_the_last_end_in_free_time() {
        let chain = after(None, &op("acquire", 100, 0), 110, 10);
        let chain = after(chain, &op("acquire", 350, 250), 400, 300);
        assert_eq!(chain.as_ref().unwrap().lasted(), ms(300));
        // Somebody held in this attempt: it neither begins nor ends a chain.
        let held = after(chain, &op("acquire", 650, 550), 700, 560);
        assert_eq!(held.as_ref().unwrap().lasted(), ms(300));
        assert!(after(None, &op("acquire", 650, 550), 700, 560).is_none());
        let other = after(held, &op("release", 900, 760), 910, 770);
        assert_eq!(other.unwrap().lasted(), ms(10));
    }
}
