//! Mutexes: on a lease, and the textbook's.

use super::{HistoryModel, Judgement, decide};
use crate::lease::LeaseMutex;
use crate::mutex::Mutex;
use crate::reading;
use crate::{Call, Claim};

const HELD_TWICE: Claim = Claim {
    kind: "double-grant",
    property: "mutual exclusion",
    says: "two held the mutex at once, although holds count only as far as they are certain",
};
const UNORDERED: Claim = Claim {
    kind: "double-grant",
    property: "mutual exclusion",
    says: "no order fits in which the mutex is held from each acquire to the next release that succeeded",
};

/// Mutexes that may be lost like a lease.
pub static LEASES: HistoryModel = HistoryModel {
    names: &["mutex"],
    operations: &["acquire", "release"],
    sized: false,
    judge: |_, calls, _, _, budget| {
        let reading = reading::lease(calls)?;
        Ok(without_requests(
            decide(HELD_TWICE, &LeaseMutex, reading, budget),
            calls,
        ))
    },
};

/// Mutexes that are held until a release succeeds.
pub static TEXTBOOK: HistoryModel = HistoryModel {
    names: &["mutex-strict"],
    operations: &["acquire", "release"],
    sized: false,
    judge: |_, calls, _, _, budget| {
        let reading = reading::mutex(calls)?;
        Ok(decide(UNORDERED, &Mutex, reading, budget))
    },
};

/// What was found, without the requests for grants where each of these was released: such holds overlap by when they were
/// granted, and not by when that was asked for.
pub fn without_requests<'a>(mut found: Judgement<'a>, calls: &[&Call<'_>]) -> Judgement<'a> {
    for violation in &mut found.violations {
        let of = |f: &str| -> Vec<usize> {
            let requests = calls.iter().filter(|call| call.f == f).map(|call| call.invoke);
            requests
                .filter(|at| violation.events.binary_search(at).is_ok())
                .collect()
        };
        let (acquires, releases) = (of("acquire"), of("release"));
        if acquires.len() == releases.len() {
            violation.events.retain(|at| acquires.binary_search(at).is_err());
        }
    }
    found
}
