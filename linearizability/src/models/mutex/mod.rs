//! Mutexes: on a lease, and the textbook's.

mod certain_holds;
pub(crate) mod generator;
mod lease;
mod textbook;

pub use lease::{LeaseMutex, LeaseOp};
pub use textbook::{Mutex, MutexOp};

use crate::call::{Call, CallOutcome, InputError, Reading, Remark};
use crate::generate::{GeneratedLoad, Simulation, one_client, simulate};
use crate::judgement::{StateNames, decide, without_requests};
use crate::model::BrokenClaim;
use crate::models::entry::{ModelEntry, ModelFit, ModelSize};
use crate::models::permits::shows_permits;
use std::collections::HashMap;

pub(crate) const HELD_TWICE: BrokenClaim = BrokenClaim {
    kind: "double-grant",
    property: "mutual exclusion",
    says: "two held the mutex at once, although only the certain part of a hold counts",
};
const UNORDERED: BrokenClaim = BrokenClaim {
    kind: "double-grant",
    property: "mutual exclusion",
    says: "no order fits in which the mutex is held from each acquire to the next release that succeeded",
};

/// Mutexes that may be lost like a lease.
pub static LEASES: ModelEntry = ModelEntry {
    names: &["mutex"],
    summary: "acquire, release; may be lost like a lease: a hold counts as far as its release proves it",
    operations: &["acquire", "release"],
    size: ModelSize::Fixed,
    begins: Some("a mutex is free at first"),
    fits: |operations| {
        // A semaphore and a read-write lock grant more than one at once.
        ModelFit::shown_if(operations.any(&["acquire", "release"]) && !operations.acquires(shows_permits))
    },
    simulations: &[Simulation {
        name: "mutex",
        clients: one_client,
        loads: &[GeneratedLoad::COMMON],
        run: |options, _| simulate(options, generator::Mutex::new(options.clients, false)),
    }],
    judge: |_, calls, _, _, inquiry| {
        Ok(without_requests(
            decide(
                HELD_TWICE,
                &LeaseMutex,
                lease_operations(calls)?,
                &|hold, names| names.holder(*hold),
                inquiry,
            ),
            calls,
        ))
    },
};

/// Mutexes that are held until a release succeeds.
pub static TEXTBOOK: ModelEntry = ModelEntry {
    names: &["mutex-strict"],
    summary: "acquire, release; held from each acquire to the next release that succeeded",
    operations: &["acquire", "release"],
    size: ModelSize::Fixed,
    begins: Some("a mutex is free at first"),
    fits: |_| ModelFit::Not,
    simulations: &[],
    judge: |_, calls, _, _, inquiry| {
        let reading = textbook_operations(calls)?;
        let words = |held: &bool, _: &StateNames<'_, '_>| if *held { "held" } else { "free" }.to_owned();
        Ok(decide(UNORDERED, &Mutex, reading, &words, inquiry))
    },
};

/// The operations on a textbook mutex: what failed did not happen, and so a hold lasts until a release that did.
///
/// # Errors
///
/// What no mutex can do.
fn textbook_operations<'a>(calls: &[&'a Call<'a>]) -> Result<Reading<'a, MutexOp>, InputError> {
    let mut reading = Reading::new();
    for &call in calls {
        match call.f {
            "acquire" => reading.add(call, MutexOp::Acquire),
            "release" => reading.add(call, MutexOp::Release),
            _ => return Err(not_a_mutex(call)),
        }
    }
    Ok(reading)
}

/// The operations on a mutex that rests on a lease.
///
/// A release that was answered with `ok` proves that its process held until then; a hold that has none may have been
/// lost at any time. An acquire of unknown outcome proves nothing.
///
/// # Errors
///
/// What no mutex can do.
pub fn lease_operations<'a>(calls: &[&'a Call<'a>]) -> Result<Reading<'a, LeaseOp>, InputError> {
    let mut reading = Reading::new();
    // The grant of each process that it has not tried to give back, as a place in `reading`.
    let mut held: HashMap<u64, usize> = HashMap::new();
    for &call in calls {
        match (call.f, call.outcome) {
            ("acquire", CallOutcome::Ok) => {
                held.insert(call.process, reading.ops.len());
                reading.add(call, LeaseOp::Glimpse);
            }
            ("acquire", _) => {}
            ("release", outcome) => {
                let Some(hold) = held.remove(&call.process) else {
                    continue;
                };
                // An answer may be `ok` because nothing was left to remove.
                let removed = call.answered.field("removed");
                match outcome {
                    CallOutcome::Ok if removed.is_none_or(|removed| !removed.is_nil()) => {
                        reading.ops[hold].input = LeaseOp::Grant(hold);
                        let release = reading.ops.len();
                        reading.revealed_by.insert(hold, (release, LeaseOp::Glimpse));
                        reading.add(call, LeaseOp::Release(hold));
                    }
                    CallOutcome::Fail if lost(call) => reading.notes.push(Remark::LeaseLost {
                        grant: reading.calls[hold],
                        release: call,
                    }),
                    CallOutcome::Ok | CallOutcome::Fail | CallOutcome::Info => {}
                }
            }
            _ => return Err(not_a_mutex(call)),
        }
    }
    Ok(reading)
}

fn not_a_mutex(call: &Call<'_>) -> InputError {
    InputError::Unable(format!("no mutex can {} (event {})", call.f, call.invoke))
}

/// Whether a release failed because the hold had ended before, by its error.
fn lost(release: &Call<'_>) -> bool {
    const SIGNS: [&str; 6] = ["lease", "not-held", "not-found", "not found", "expired", "no-node"];
    let error = release.error.map(str::to_lowercase);
    error.is_some_and(|error| SIGNS.iter().any(|sign| error.contains(sign)))
}
