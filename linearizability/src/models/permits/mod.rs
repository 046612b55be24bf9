//! What gives out permits: semaphores, read-write locks, reentrant mutexes.
//!
//! As with mutexes a hold is certain only if its release was answered with `ok`. Releases end a process's holds in the
//! order opposite to that of their grants. After a release that failed, or gives back something else than the last hold
//! has, nothing is known of the holds that the process has then. So it is after one that names another client than the
//! last hold, and of all holds of a client that several processes name.

mod generator;
mod request;
mod sequential;

pub(super) use request::shows_permits;
pub use sequential::{PermitOp, Permits};

use crate::call::{Call, CallOutcome, InputError, Reading};
use crate::generate::{GeneratedEvent, GeneratedLoad, Options, Simulation, one_client, simulate};
use crate::judgement::{decide, without_requests};
use crate::model::BrokenClaim;
use crate::models::{ModelEntry, ModelFit, ModelSize};
use generator::Style;
use request::{GrantMode, NamedClients};
use std::collections::{HashMap, HashSet};

const UNORDERED: BrokenClaim = BrokenClaim {
    kind: "double-grant",
    property: "mutual exclusion",
    says: "no order fits in which the certain parts of holds exclude each other",
};

/// More than any number of readers takes.
const ALL: u64 = 1 << 40;

/// Semaphores: `acquire` of one permit, or of as many as its value, or the field `permits` of that.
pub static SEMAPHORE: ModelEntry = ModelEntry {
    names: &["semaphore"],
    summary: "acquire, release, each of one permit or of so many; holds count as a mutex's do",
    operations: &["acquire", "release"],
    size: ModelSize::Number { tried: 3, least: 1 },
    begins: Some("a semaphore has all its permits at first"),
    fits: |_| ModelFit::Not,
    simulations: &[Simulation {
        name: "semaphore",
        clients: |permits, violation| if violation { permits as usize + 1 } else { 1 },
        loads: &[GeneratedLoad::COMMON],
        run: |options, permits| simulate_permits(options, Style::Semaphore(permits.into())),
    }],
    judge: |model, calls, _, size, inquiry| {
        let reading = holds(model, calls, |call| request::permits(call).map(Some))?;
        let model = Permits {
            permits: u64::from(size),
        };
        Ok(without_requests(
            decide(UNORDERED, &model, reading, &|holds, _| taken(holds), inquiry),
            calls,
        ))
    },
};

/// Read-write locks: `acquire` and `release` with the mode as the value, `read` or `write`, or in its field `mode`.
pub static READ_WRITE: ModelEntry = ModelEntry {
    names: &["rwlock"],
    summary: "acquire, release, with the value read or write; holds count as a mutex's do",
    operations: &["acquire", "release"],
    size: ModelSize::Fixed,
    begins: Some("a lock is free at first"),
    fits: |_| ModelFit::Not,
    simulations: &[Simulation {
        name: "rwlock",
        clients: one_client,
        loads: &[GeneratedLoad::COMMON],
        run: |options, _| simulate_permits(options, Style::ReadWrite),
    }],
    judge: |model, calls, _, _, inquiry| {
        let weight = |call: &Call<'_>| match request::mode(call) {
            Some(GrantMode::Shared) => Ok(Some(1)),
            Some(GrantMode::Exclusive) => Ok(Some(ALL)),
            None if call.f == "release" && request::names_no_mode(call) => Ok(None),
            None => Err(request::unexpected(call, "names neither read nor write")),
        };
        let reading = holds(model, calls, weight)?;
        let found = decide(
            UNORDERED,
            &Permits { permits: ALL },
            reading,
            &|holds, _| shared(holds),
            inquiry,
        );
        Ok(without_requests(found, calls))
    },
};

/// Mutexes whose holder may acquire them again: they are free once they were released as often.
pub static REENTRANT: ModelEntry = ModelEntry {
    names: &["reentrant-mutex"],
    summary: "acquire, release; its holder may acquire it again; holds count as a mutex's do",
    operations: &["acquire", "release"],
    size: ModelSize::Fixed,
    begins: Some("a mutex is free at first"),
    fits: |_| ModelFit::Not,
    simulations: &[Simulation {
        name: "reentrant-mutex",
        clients: one_client,
        loads: &[GeneratedLoad::COMMON],
        run: |options, _| simulate_permits(options, Style::Reentrant),
    }],
    judge: |model, calls, _, _, inquiry| {
        let all = holds(model, calls, |_| Ok(Some(1)))?;
        let found = decide(
            UNORDERED,
            &Permits { permits: 1 },
            outermost(all),
            &|holds, _| taken(holds),
            inquiry,
        );
        Ok(without_requests(found, calls))
    },
};

/// How many permits are certainly taken.
fn taken(holds: &[(usize, u64)]) -> String {
    let permits: u64 = holds.iter().map(|&(_, weight)| weight).sum();
    match permits {
        0 => "free".to_owned(),
        1 => "1 permit taken".to_owned(),
        permits => format!("{permits} permits taken"),
    }
}

/// Who certainly holds a read-write lock.
fn shared(holds: &[(usize, u64)]) -> String {
    match holds {
        [] => "free".to_owned(),
        [(_, ALL)] => "held by a writer".to_owned(),
        [_] => "held by 1 reader".to_owned(),
        readers => format!("held by {} readers", readers.len()),
    }
}

fn simulate_permits(options: &Options, style: Style) -> Vec<GeneratedEvent> {
    simulate(options, generator::Permits::new(style, options.clients))
}

/// The holds of the operations, each of as many permits as `weight` returns; a release for which that is `None` returns
/// as many as its grant took.
fn holds<'a>(
    model: &ModelEntry,
    calls: &[&'a Call<'a>],
    weight: impl Fn(&Call<'a>) -> Result<Option<u64>, InputError>,
) -> Result<Reading<'a, PermitOp>, InputError> {
    let mut reading = Reading::new();
    let clients = NamedClients::new(calls);
    reading.notes.extend(clients.remark());
    let mut held: HashMap<u64, Vec<CertainHold>> = HashMap::new();
    for &call in calls {
        if !model.operations.contains(&call.f) {
            return Err(model.unable(call));
        }
        let client = request::client(call);
        let shared = clients.is_shared(client.as_ref());
        let held = held.entry(call.process).or_default();
        match (call.f, call.outcome) {
            ("acquire", CallOutcome::Ok) => {
                let weight = weight(call)?.unwrap_or(1);
                if !shared {
                    held.push(CertainHold {
                        op: reading.ops.len(),
                        weight,
                        client,
                    });
                }
                reading.add(call, PermitOp::Glimpse(weight));
            }
            ("acquire", _) => {}
            (_, CallOutcome::Ok) => match (held.pop(), weight(call)?) {
                (Some(hold), returned) if !shared && hold.is_released(returned, client.as_ref()) => {
                    let CertainHold { op, weight, .. } = hold;
                    reading.ops[op].input = PermitOp::Grant(op, weight);
                    let release = reading.ops.len();
                    reading.revealed_by.insert(op, (release, PermitOp::Glimpse(weight)));
                    reading.add(call, PermitOp::Release(op, weight));
                }
                _ => held.clear(),
            },
            _ => held.clear(),
        }
    }
    Ok(reading)
}

/// A hold of a process that may be released.
struct CertainHold {
    /// The place of its grant.
    op: usize,
    weight: u64,
    /// The client that its grant names.
    client: Option<String>,
}

impl CertainHold {
    /// Whether a release of its process is of this hold: it gives back as much, and names no other client. `returned`
    /// is
    /// `None` if it names no number.
    fn is_released(&self, returned: Option<u64>, client: Option<&String>) -> bool {
        let same = |(one, other)| one == other;
        returned.is_none_or(|returned| returned == self.weight) && self.client.as_ref().zip(client).is_none_or(same)
    }
}

/// The holds without what happened within another one of the same process.
fn outermost(all: Reading<'_, PermitOp>) -> Reading<'_, PermitOp> {
    // From when to when each process certainly held, the last time.
    let mut until: HashMap<u64, usize> = HashMap::new();
    let mut within: HashSet<usize> = HashSet::new();
    let mut order: Vec<usize> = (0..all.ops.len()).collect();
    order.sort_unstable_by_key(|&op| all.ops[op].invoke);
    for op in order {
        let process = all.calls[op].process;
        let held = until.get(&process).is_some_and(|&until| all.ops[op].invoke < until);
        match (all.ops[op].input, all.revealed_by.get(&op)) {
            (PermitOp::Release(..), _) => {}
            (_, Some((release, _))) if held => within.extend([op, *release]),
            (_, None) if held => drop(within.insert(op)),
            (_, Some((release, _))) => drop(until.insert(process, all.ops[*release].invoke)),
            _ => {}
        }
    }
    let kept: Vec<usize> = (0..all.ops.len()).filter(|op| !within.contains(op)).collect();
    let place = |op: &usize| kept.binary_search(op).ok();
    let revealed = all
        .revealed_by
        .iter()
        .filter_map(|(op, (by, input))| Some((place(op)?, (place(by)?, *input))));
    Reading {
        ops: kept.iter().map(|&op| all.ops[op].clone()).collect(),
        calls: kept.iter().map(|&op| all.calls[op]).collect(),
        revealed_by: revealed.collect(),
        notes: all.notes,
    }
}
