//! Mutexes: on a lease, and the textbook's.
//!
//! The holder of a mutex that rests on a lease or a session may lose it without doing anything. So a hold is certain
//! only if its own release was answered with `ok`, because then it had not been lost until the release took effect. Any
//! other hold may have ended the moment after its grant, so its grant proves only that nobody held with certainty at
//! that moment. A history is decided without a search: in time O(n log n), by a sweep over what is certain. A hold
//! whose grant and release were answered lasted at least from the answer to the grant until the release was sent; it
//! need not have lasted longer. So an order exists exactly if these stretches are disjoint, and no other grant was
//! asked for and answered within one: between two stretches there is always a moment at which nobody need have held.
//!
//! The textbook's is held from an acquire to a release, by any process. It is a register of whether it is held, with
//! compare-and-sets.

use crate::call::{Call, CallOutcome, InputError, Reading, Remark};
use crate::generate::{
    ClientStage, Completion, GeneratedClients, GeneratedLoad, SimulatedObject, Simulation, one_client, simulate,
};
use crate::judgement::{StateNames, decide, without_requests};
use crate::model::{BrokenClaim, Model, NearLinearDecision, Op, UnknownStart, any_optional, contradiction, narrowed};
use crate::models::permits::shows_permits;
use crate::models::register::{FirstValue, RegisterOp, relevant, take_turns};
use crate::models::{ModelEntry, ModelFit, ModelSize};
use crate::search::{Budget, SearchDecision, search};
use crate::value::Value;
use fastrand::Rng;
use std::collections::HashMap;

pub(super) const HELD_TWICE: BrokenClaim = BrokenClaim {
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
        run: |options, _| simulate(options, MutexObject::new(options.clients, false)),
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
pub(super) fn lease_operations<'a>(calls: &[&'a Call<'a>]) -> Result<Reading<'a, LeaseOp>, InputError> {
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

/// A mutex on a lease, free at the beginning. Its state is the certain hold that is on, if one is.
#[derive(Debug, Clone, Copy)]
pub struct LeaseMutex;

/// An operation on the mutex that was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LeaseOp {
    /// A hold began that its release proves to have lasted until then. Holds are numbered.
    Grant(usize),
    /// That hold ended.
    Release(usize),
    /// A hold began that lasted for an unknown time.
    Glimpse,
}

impl Model for LeaseMutex {
    type State = Option<usize>;
    type Input = LeaseOp;

    fn initial(&self) -> Option<usize> {
        None
    }

    fn step(&self, hold: &Option<usize>, input: &LeaseOp) -> Option<Option<usize>> {
        match *input {
            LeaseOp::Grant(new) => hold.is_none().then_some(Some(new)),
            LeaseOp::Release(old) => (*hold == Some(old)).then_some(None),
            LeaseOp::Glimpse => hold.is_none().then_some(None),
        }
    }

    fn is_read(&self, input: &LeaseOp) -> bool {
        matches!(input, LeaseOp::Glimpse)
    }

    fn after(&self, input: &LeaseOp) -> Option<Option<usize>> {
        match *input {
            LeaseOp::Grant(new) => Some(Some(new)),
            LeaseOp::Release(_) | LeaseOp::Glimpse => Some(None),
        }
    }

    /// Decides if each grant of a hold has its only release, and all of them were answered.
    fn near(&self, ops: &[Op<LeaseOp>]) -> NearLinearDecision {
        let Some(stretches) = stretches(ops) else {
            return NearLinearDecision::Undecided;
        };
        // Of two that overlap some two overlap that begin next to each other.
        if let Some(pair) = stretches.windows(2).find(|pair| pair[1].from < pair[0].to) {
            return held_twice(ops, pair[0].grant, pair[1].grant);
        }
        let held = |op: usize| {
            let before = stretches.partition_point(|stretch| Some(stretch.from) < ops[op].complete);
            let held = stretches[..before].last()?;
            let within = held.from < ops[op].invoke && ops[op].complete < Some(held.to);
            within.then_some(held.grant)
        };
        let mut glimpses: Vec<usize> = (0..ops.len())
            .filter(|&op| ops[op].input == LeaseOp::Glimpse && ops[op].must())
            .collect();
        glimpses.sort_unstable_by_key(|&op| ops[op].complete);
        match glimpses.into_iter().find_map(|op| Some((held(op)?, op))) {
            Some((grant, op)) => held_twice(ops, grant, op),
            None => NearLinearDecision::Linearizable,
        }
    }
}

/// A stretch in which somebody certainly held, by positions.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    from: usize,
    to: usize,
    grant: usize,
}

/// The stretches of all answered grants, by their beginnings; `None` if something else than unanswered ends is missing.
fn stretches(ops: &[Op<LeaseOp>]) -> Option<Vec<Stretch>> {
    if any_optional(ops) {
        return None;
    }
    let mut holds: HashMap<usize, [Option<usize>; 2]> = HashMap::new();
    for (place, op) in ops.iter().enumerate() {
        let (hold, side) = match op.input {
            LeaseOp::Grant(hold) => (hold, 0),
            LeaseOp::Release(hold) => (hold, 1),
            LeaseOp::Glimpse => continue,
        };
        if holds.entry(hold).or_default()[side].replace(place).is_some() {
            return None;
        }
    }
    let mut all = Vec::new();
    for [grant, release] in holds.into_values() {
        let answered = |op: Option<usize>| op.and_then(|op| ops[op].complete);
        let (Some(grant), Some(from)) = (grant, answered(grant)) else {
            // A grant of unknown outcome is left out, unless a release of it was answered.
            if answered(release).is_some() {
                return None;
            }
            continue;
        };
        let to = release.map_or(usize::MAX, |release| ops[release].invoke);
        if to < from {
            return None;
        }
        all.push(Stretch { from, to, grant });
    }
    all.sort_unstable_by_key(|stretch| stretch.from);
    Some(all)
}

/// Of two holds the grants suffice: either release was sent after the later of them was answered.
fn held_twice(ops: &[Op<LeaseOp>], grant: usize, other: usize) -> NearLinearDecision {
    NearLinearDecision::Not(contradiction(ops, vec![grant, other], &HELD_TWICE))
}

/// A textbook mutex, free at the beginning. Its state is whether it is held.
#[derive(Debug, Clone, Copy)]
pub struct Mutex;

/// An operation on a textbook mutex that took effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MutexOp {
    /// It was free and is held.
    Acquire,
    /// It was held and is free.
    Release,
}

impl Model for Mutex {
    type State = bool;
    type Input = MutexOp;

    fn initial(&self) -> bool {
        false
    }

    fn step(&self, held: &bool, input: &MutexOp) -> Option<bool> {
        match (input, held) {
            (MutexOp::Acquire, false) => Some(true),
            (MutexOp::Release, true) => Some(false),
            _ => None,
        }
    }

    fn after(&self, input: &MutexOp) -> Option<bool> {
        Some(*input == MutexOp::Acquire)
    }

    fn relevant(&self, ops: &[Op<MutexOp>]) -> Option<Vec<usize>> {
        relevant(&as_register(ops), &FirstValue::With(&false))
    }

    fn explore(&self, ops: &[Op<MutexOp>], budget: &mut Budget<'_>) -> SearchDecision {
        let first = FirstValue::With(&false);
        take_turns(&as_register(ops), &first, |budget| search(self, ops, budget), budget)
    }

    fn decide_anywhere(&self, ops: &[Op<MutexOp>], budget: &mut Budget<'_>) -> SearchDecision {
        let (model, first) = (UnknownStart(self), FirstValue::Unknown);
        narrowed(ops, relevant(&as_register(ops), &first), |ops| {
            take_turns(&as_register(ops), &first, |budget| search(&model, ops, budget), budget)
        })
    }
}

/// The operations on a textbook mutex as compare-and-sets of whether it is held. Of these at most two are possible
/// next, so that a sweep over configurations is over in time nearly linear.
fn as_register(ops: &[Op<MutexOp>]) -> Vec<Op<RegisterOp<bool>>> {
    let set = |op: &Op<MutexOp>| match op.input {
        MutexOp::Acquire => op.with_input(RegisterOp::Cas(false, true)),
        MutexOp::Release => op.with_input(RegisterOp::Cas(true, false)),
    };
    ops.iter().map(set).collect()
}

/// A simulated mutex that tracks its holder, free at first.
#[derive(Debug)]
pub(super) struct MutexObject {
    holder: Option<usize>,
    /// The number of the last hold.
    hold: u64,
    /// Whether grants are answered with tokens: the numbers of their holds.
    tokens: bool,
    /// For each client the state that its answers show it.
    known: Vec<MutexClientState>,
}

/// The state of a simulated mutex's client by its own answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MutexClientState {
    Free,
    Held,
    /// It asked, and got no answer. It releases next, so that nothing stays held.
    Doubtful,
}

/// An operation on a simulated mutex, as a client invokes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MutexCall {
    /// To hold it.
    Acquire,
    /// To end the hold of this number.
    Release(u64),
}

impl MutexObject {
    /// A free one.
    pub fn new(clients: usize, tokens: bool) -> Self {
        Self {
            holder: None,
            hold: 0,
            tokens,
            known: vec![MutexClientState::Free; clients],
        }
    }

    /// How the last grant is answered.
    fn granted(&self) -> Completion {
        Completion::Ok(if self.tokens {
            Value::from(self.hold)
        } else {
            Value::Nil
        })
    }
}

impl SimulatedObject for MutexObject {
    type Op = MutexCall;

    fn draw(&mut self, client: usize, _: &mut Rng) -> MutexCall {
        match self.known[client] {
            MutexClientState::Free => MutexCall::Acquire,
            MutexClientState::Held | MutexClientState::Doubtful => MutexCall::Release(self.hold),
        }
    }

    fn request(op: &MutexCall) -> (&'static str, Value) {
        let f = match op {
            MutexCall::Acquire => "acquire",
            MutexCall::Release(_) => "release",
        };
        (f, Value::Nil)
    }

    fn apply(&mut self, client: usize, op: &MutexCall) -> Option<Completion> {
        match *op {
            MutexCall::Acquire if self.holder.is_some() => return None,
            MutexCall::Acquire => {
                self.holder = Some(client);
                self.hold += 1;
                return Some(self.granted());
            }
            MutexCall::Release(hold) if (self.holder, self.hold) == (Some(client), hold) => self.holder = None,
            MutexCall::Release(_) => return Some(Completion::Fail("not-held")),
        }
        Some(Completion::Ok(Value::Nil))
    }

    fn receive(&mut self, client: usize, op: &MutexCall, answer: Option<&Completion>) {
        self.known[client] = match (op, answer) {
            (_, None) => MutexClientState::Doubtful,
            (MutexCall::Acquire, Some(_)) => MutexClientState::Held,
            (MutexCall::Release(_), Some(_)) => MutexClientState::Free,
        };
    }

    fn may_be_late(&self, op: &MutexCall) -> bool {
        // An acquire that came after its client's release would hold for ever.
        matches!(op, MutexCall::Release(_))
    }

    fn plant(clients: &mut GeneratedClients<Self>, last: bool) -> bool {
        if last {
            make_held(clients);
        }
        let idle = |clients: &GeneratedClients<Self>, client| matches!(clients.stages[client], ClientStage::Idle);
        let held = |&client: &usize| clients.object.known[client] == MutexClientState::Held && idle(clients, client);
        let Some(holder) = clients.object.holder.filter(held) else {
            return false;
        };
        let may_be_granted = |&client: &usize| match clients.stages[client] {
            ClientStage::Idle => clients.object.known[client] == MutexClientState::Free,
            ClientStage::Sent(op, lost) => op == MutexCall::Acquire && !lost,
            _ => false,
        };
        let Some(other) = (0..clients.stages.len()).find(may_be_granted) else {
            return false;
        };
        let (release, ok) = (MutexCall::Release(clients.object.hold), Completion::Ok(Value::Nil));
        if idle(clients, other) {
            clients.invoke(other, &MutexCall::Acquire);
        }
        clients.stages[other] = ClientStage::Idle;
        // Of a mutex with tokens the same one is given out twice, one after the other.
        let tokens = clients.object.tokens;
        if tokens {
            clients.at_once(holder, &release, &ok);
        }
        let granted = clients.object.granted();
        clients.complete(other, &MutexCall::Acquire, &granted);
        clients.at_once(other, &release, &ok);
        if !tokens {
            clients.at_once(holder, &release, &ok);
        }
        clients.object.holder = None;
        true
    }
}

/// Takes one step, when no client begins anything by itself any more, towards a holder with an answered acquire:
/// releases a doubtful hold, or lets an idle client acquire the free mutex.
fn make_held(clients: &mut GeneratedClients<MutexObject>) {
    let doubtful = |&holder: &usize| clients.object.known[holder] == MutexClientState::Doubtful;
    let (client, op) = match (clients.object.holder, clients.idle().next()) {
        (Some(holder), _) if doubtful(&holder) => (holder, MutexCall::Release(clients.object.hold)),
        (None, Some(idle)) => (idle, MutexCall::Acquire),
        _ => return,
    };
    if matches!(clients.stages[client], ClientStage::Idle) {
        clients.try_at_once(client, &op);
    }
}
