//! What gives out permits: semaphores, read-write locks, reentrant mutexes.
//!
//! As with mutexes a hold is certain only if its release was answered with `ok`. Releases end a process's holds in the
//! order opposite to that of their grants. After a release that failed, or gives back something else than the last hold
//! has, nothing is known of the holds that the process has then. So it is after one that names another client than the
//! last hold, and of all holds of a client that several processes name.
//!
//! The value of a request for permits, and of their release, is a number or a mode, or a map with it in the field
//! `permits` or `mode`, beside which the client may stand in the field `client`.

mod sequential;

pub use sequential::{PermitOp, Permits};

use crate::call::{Call, CallOutcome, InputError, Reading, Remark};
use crate::equality::canonical;
use crate::generate::{
    ClientStage, Completion, GeneratedClients, GeneratedEvent, GeneratedLoad, Options, SimulatedObject, Simulation,
    one_client, simulate,
};
use crate::judgement::{decide, without_requests};
use crate::model::BrokenClaim;
use crate::models::{ModelEntry, ModelFit, ModelSize};
use crate::value::Value;
use fastrand::Rng;
use std::collections::{HashMap, HashSet};

const UNORDERED: BrokenClaim = BrokenClaim {
    kind: "double-grant",
    property: "mutual exclusion",
    says: "no order fits in which the certain parts of holds exclude each other",
};

/// More than any number of readers takes, and more than there are simulated clients.
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
        let reading = holds(model, calls, |call| permits(call).map(Some))?;
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
        let weight = |call: &Call<'_>| match grant_mode(&call.asked) {
            Some(GrantMode::Shared) => Ok(Some(1)),
            Some(GrantMode::Exclusive) => Ok(Some(ALL)),
            None if call.f == "release" && names_no_mode(call) => Ok(None),
            None => Err(unexpected(call, "names neither read nor write")),
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
        let client = client(call);
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
    /// is `None` if it names no number.
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

/// Fields that name whose permits they are, or what they rest on, and never how many.
const BESIDE: [&str; 16] = [
    "client", "czxid", "fence", "holder", "id", "lease", "name", "node", "owner", "path", "process", "session",
    "thread", "token", "uid", "uuid",
];

/// In which mode a lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GrantMode {
    Shared,
    Exclusive,
}

/// How many permits an operation is of: one if it names no number.
///
/// # Errors
/// Its value is something else than a number, or a map that has one, or nothing but names; or its answer names another
/// number than it was sent for.
fn permits(call: &Call<'_>) -> Result<u64, InputError> {
    let asked = number(call, &call.asked)?.unwrap_or(1);
    match &call.answered {
        answered @ Value::Map(_) if number(call, answered)?.is_some_and(|answered| answered != asked) => {
            Err(InputError::Unexpected {
                what: format!(
                    "the {} of event {} was sent for {asked} of the permits and not answered so",
                    call.f, call.invoke
                ),
                found: answered.clone(),
            })
        }
        _ => Ok(asked),
    }
}

/// The number that a value names, if it names one.
fn number(call: &Call<'_>, value: &Value) -> Result<Option<u64>, InputError> {
    let named = match value {
        Value::Nil => return Ok(None),
        Value::Map(entries) => match named(value, "permits") {
            None if entries
                .iter()
                .all(|(key, _)| key.word().is_some_and(|key| BESIDE.contains(&key))) =>
            {
                return Ok(None);
            }
            named => named,
        },
        value => Some(value),
    };
    match named.and_then(Value::as_u64) {
        Some(permits) if permits > 0 => Ok(Some(permits)),
        _ => Err(InputError::Unexpected {
            what: format!("the {} of event {} has no number of permits", call.f, call.invoke),
            found: value.clone(),
        }),
    }
}

/// The mode that a value of an operation names.
fn grant_mode(value: &Value) -> Option<GrantMode> {
    match named(value, "mode").unwrap_or(value).word() {
        Some("read" | "shared") => Some(GrantMode::Shared),
        Some("write" | "exclusive") => Some(GrantMode::Exclusive),
        _ => None,
    }
}

/// Whether an operation was sent without a mode, and not with what is none.
fn names_no_mode(call: &Call<'_>) -> bool {
    call.asked.is_nil() || call.asked.is_map() && named(&call.asked, "mode").is_none()
}

/// Whether a value of an `acquire` shows that more than one may be granted at once: it is a number of permits, or a
/// mode, also behind a key.
pub(super) fn shows_permits(value: &Value) -> bool {
    let value = match value.pair() {
        Some([_, value]) => value,
        None => value,
    };
    value.as_u64().is_some() || named(value, "permits").is_some() || grant_mode(value).is_some()
}

/// The client that an operation names, as a text that is the same for equal ones.
fn client(call: &Call<'_>) -> Option<String> {
    let client = [&call.asked, &call.answered]
        .into_iter()
        .find_map(|value| named(value, "client"));
    client.filter(|client| !client.is_nil()).and_then(canonical)
}

/// The value under a name, a keyword or a text, if it is a map that has one.
fn named<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    value.entry(|key| key.word() == Some(name))
}

/// The error that the value of an operation is not what it should be.
fn unexpected(call: &Call<'_>, lack: &str) -> InputError {
    InputError::Unexpected {
        what: format!("the {} of event {} {lack}", call.f, call.invoke),
        found: call.asked.clone(),
    }
}

/// The clients that operations name.
struct NamedClients<'a> {
    /// Those that several processes name: which of their holds a release ends is not known.
    shared: HashSet<String>,
    /// The first operation of one of these, and the first one of it by another process.
    first: Option<[&'a Call<'a>; 2]>,
}

impl<'a> NamedClients<'a> {
    /// Those of these operations.
    fn new(calls: &[&'a Call<'a>]) -> Self {
        let mut first_of: HashMap<String, &Call<'_>> = HashMap::new();
        let (mut shared, mut first) = (HashSet::new(), None);
        for &call in calls {
            let Some(client) = client(call) else { continue };
            let before = *first_of.entry(client.clone()).or_insert(call);
            if before.process != call.process {
                first.get_or_insert([before, call]);
                shared.insert(client);
            }
        }
        Self { shared, first }
    }

    /// Whether several processes name this one.
    fn is_shared(&self, client: Option<&String>) -> bool {
        client.is_some_and(|client| self.shared.contains(client))
    }

    /// What is to be said of those that several processes name.
    fn remark(&self) -> Option<Remark<'a>> {
        let [first, other] = self.first?;
        Some(Remark::ClientShared { first, other })
    }
}

fn simulate_permits(options: &Options, style: Style) -> Vec<GeneratedEvent> {
    simulate(options, PermitObject::new(style, options.clients))
}

/// What is simulated, and gives out permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// A semaphore of so many.
    Semaphore(u64),
    /// A read-write lock: a writer takes all, a reader one.
    ReadWrite,
    /// A mutex that its holder may acquire again.
    Reentrant,
}

/// How often a holder of a reentrant mutex acquires it at most.
const DEEPEST: u64 = 3;

impl Style {
    fn permits(self) -> u64 {
        match self {
            Self::Semaphore(permits) => permits,
            Self::ReadWrite => ALL,
            Self::Reentrant => 1,
        }
    }
}

/// A simulated semaphore, read-write lock or reentrant mutex, which tracks its holders; no permit is taken at first.
#[derive(Debug)]
struct PermitObject {
    style: Style,
    /// What each client holds.
    held: Vec<Option<PermitHold>>,
    next: u64,
    known: Vec<PermitClientState>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PermitHold {
    number: u64,
    weight: u64,
    depth: u64,
}

/// The state of a simulated object's client by its own answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PermitClientState {
    Free,
    /// It acquired so many times.
    Held(u64),
    /// It asked, and got no answer. It gives back all next, so that nothing stays held.
    Doubtful,
}

/// An operation on a simulated object. What of it is written down depends on the style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PermitCall {
    /// To hold so many.
    Acquire(Style, u64),
    /// To end the hold of this number once, or altogether.
    Release(u64, bool),
}

impl PermitObject {
    fn new(style: Style, clients: usize) -> Self {
        Self {
            style,
            held: vec![None; clients],
            next: 0,
            known: vec![PermitClientState::Free; clients],
        }
    }

    fn taken(&self) -> u64 {
        self.held.iter().flatten().map(|hold| hold.weight).sum()
    }

    fn release(&self, client: usize) -> PermitCall {
        let number = self.held[client].map_or(self.next, |hold| hold.number);
        PermitCall::Release(number, self.known[client] == PermitClientState::Doubtful)
    }

    /// The idle clients that hold by an answered acquire.
    fn holders(clients: &GeneratedClients<Self>) -> Vec<usize> {
        let object = &clients.object;
        let held = |&client: &usize| {
            matches!(object.known[client], PermitClientState::Held(_)) && object.held[client].is_some()
        };
        clients.idle().filter(held).collect()
    }

    fn free(clients: &GeneratedClients<Self>) -> Option<usize> {
        let free = |&client: &usize| clients.object.known[client] == PermitClientState::Free;
        clients.idle().find(free)
    }

    /// A client that holds nothing and may be granted so much: it waits for that, or does nothing.
    fn grantee(clients: &GeneratedClients<Self>) -> Option<(usize, u64)> {
        let waits = |client: usize| match clients.stages[client] {
            ClientStage::Sent(PermitCall::Acquire(_, weight), false) if clients.object.held[client].is_none() => {
                Some((client, weight))
            }
            _ => None,
        };
        let most = if clients.object.style == Style::ReadWrite {
            ALL
        } else {
            1
        };
        let mut waiting = (0..clients.stages.len()).filter_map(waits);
        { waiting.find(|&(_, weight)| weight == most) }.or_else(|| Some((Self::free(clients)?, most)))
    }
}

impl SimulatedObject for PermitObject {
    type Op = PermitCall;

    fn draw(&mut self, client: usize, rng: &mut Rng) -> PermitCall {
        let again = match self.known[client] {
            PermitClientState::Free => true,
            PermitClientState::Held(depth) => self.style == Style::Reentrant && depth < DEEPEST && rng.bool(),
            PermitClientState::Doubtful => false,
        };
        let writes = self.style == Style::ReadWrite && rng.u8(0..4) == 0;
        match again {
            true => PermitCall::Acquire(self.style, if writes { ALL } else { 1 }),
            false => self.release(client),
        }
    }

    fn request(op: &PermitCall) -> (&'static str, Value) {
        match *op {
            PermitCall::Acquire(Style::ReadWrite, ALL) => ("acquire", Value::from("write")),
            PermitCall::Acquire(Style::ReadWrite, _) => ("acquire", Value::from("read")),
            PermitCall::Acquire(..) => ("acquire", Value::Nil),
            PermitCall::Release(..) => ("release", Value::Nil),
        }
    }

    fn apply(&mut self, client: usize, op: &PermitCall) -> Option<Completion> {
        match (*op, self.held[client]) {
            (PermitCall::Acquire(..), Some(hold)) => {
                let depth = hold.depth + 1;
                self.held[client] = Some(PermitHold { depth, ..hold });
            }
            (PermitCall::Acquire(_, weight), None) => {
                if self.taken() + weight > self.style.permits() {
                    return None;
                }
                self.next += 1;
                self.held[client] = Some(PermitHold {
                    number: self.next,
                    weight,
                    depth: 1,
                });
            }
            (PermitCall::Release(number, all), Some(hold)) if hold.number == number => {
                let depth = if all { 0 } else { hold.depth - 1 };
                self.held[client] = (depth > 0).then_some(PermitHold { depth, ..hold });
            }
            (PermitCall::Release(..), _) => return Some(Completion::Fail("not-held")),
        }
        Some(Completion::Ok(Value::Nil))
    }

    fn receive(&mut self, client: usize, op: &PermitCall, answer: Option<&Completion>) {
        self.known[client] = match (op, answer, self.known[client]) {
            (_, None, _) => PermitClientState::Doubtful,
            (PermitCall::Acquire(..), Some(_), PermitClientState::Held(depth)) => PermitClientState::Held(depth + 1),
            (PermitCall::Acquire(..), Some(_), _) => PermitClientState::Held(1),
            (PermitCall::Release(_, false), Some(Completion::Ok(_)), PermitClientState::Held(depth)) if depth > 1 => {
                PermitClientState::Held(depth - 1)
            }
            (PermitCall::Release(..), Some(_), _) => PermitClientState::Free,
        };
    }

    fn may_be_late(&self, op: &PermitCall) -> bool {
        // An acquire that came after its client's release would hold for ever.
        matches!(op, PermitCall::Release(..))
    }

    fn plant(clients: &mut GeneratedClients<Self>, last: bool) -> bool {
        if last {
            settle(clients);
        }
        let holders = Self::holders(clients);
        let Some((other, weight)) = Self::grantee(clients) else {
            return false;
        };
        let style = clients.object.style;
        let held: u64 = holders
            .iter()
            .filter_map(|&client| Some(clients.object.held[client]?.weight))
            .sum();
        if held + weight <= style.permits() {
            return false;
        }
        let (acquire, ok) = (PermitCall::Acquire(style, weight), Completion::Ok(Value::Nil));
        if matches!(clients.stages[other], ClientStage::Idle) {
            clients.invoke(other, &acquire);
        }
        clients.stages[other] = ClientStage::Idle;
        clients.complete(other, &acquire, &ok);
        clients.at_once(other, &PermitCall::Release(0, false), &ok);
        for holder in holders {
            while let Some(hold) = clients.object.held[holder] {
                let release = PermitCall::Release(hold.number, false);
                clients.object.apply(holder, &release);
                clients.at_once(holder, &release, &ok);
            }
        }
        true
    }
}

/// Has a client give back what it need not hold, or hold what it can, when no client begins anything by itself any
/// more.
fn settle(clients: &mut GeneratedClients<PermitObject>) {
    let doubtful = |&client: &usize| clients.object.known[client] == PermitClientState::Doubtful;
    let (client, op) = match (clients.idle().find(doubtful), PermitObject::free(clients)) {
        (Some(doubtful), _) => (doubtful, clients.object.release(doubtful)),
        (None, Some(free)) if clients.idle().count() > PermitObject::holders(clients).len() + 1 => {
            (free, PermitCall::Acquire(clients.object.style, 1))
        }
        _ => return,
    };
    if matches!(clients.stages[client], ClientStage::Idle) {
        clients.try_at_once(client, &op);
    }
}
