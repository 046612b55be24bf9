//! Attempts of one client at one operation that were not answered `ok`, one after the other: how long they went on.

use crate::operation::PendingOp;
use std::time::Duration;
use zooquake_history::operation::Mode;

/// Free time since recovery, by the mode that a request asks for.
pub type FreeTimes = [Duration; Mode::ALL.len()];

/// Such attempts. Only those count in which all time was free.
#[derive(Debug, Clone)]
pub struct RefusalChain {
    f: &'static str,
    /// The modes that were asked for.
    modes: [bool; Mode::ALL.len()],
    since: FreeTimes,
    until: FreeTimes,
}

/// An answered try of an operation.
#[derive(Debug, Clone, Copy)]
pub struct EndedAttempt<'o> {
    pub op: &'o PendingOp,
    pub mode: Mode,
    pub now: Duration,
    /// Up to now.
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

    /// For how long it went on.
    pub fn lasted(&self) -> Duration {
        let of = |(mode, _): &(usize, &bool)| self.until[*mode].saturating_sub(self.since[*mode]);
        let asked = self.modes.iter().enumerate().filter(|(_, asked)| **asked);
        asked.map(|mode| of(&mode)).min().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::OpKind;

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
