//! A simulated semaphore, read-write lock or reentrant mutex, which tracks its holders.

use crate::generate::{ClientStage, Completion, GeneratedClients, SimulatedObject};
use crate::value::Value;
use fastrand::Rng;

/// What gives out permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A semaphore of so many.
    Semaphore(u64),
    /// A read-write lock: a writer takes all, a reader one.
    ReadWrite,
    /// A mutex that its holder may acquire again.
    Reentrant,
}

/// More than there are clients.
const ALL: u64 = 1 << 40;

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

/// The permits, none of which is taken at first.
#[derive(Debug)]
pub struct Permits {
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

/// A client's state by its own answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PermitClientState {
    Free,
    /// It acquired so many times.
    Held(u64),
    /// It asked, and got no answer. It gives back all next, so that nothing stays held.
    Doubtful,
}

/// An operation on them. What of them is written down depends on the style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermitCall {
    /// To hold so many.
    Acquire(Style, u64),
    /// To end the hold of this number once, or altogether.
    Release(u64, bool),
}

impl Permits {
    pub fn new(style: Style, clients: usize) -> Self {
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

impl SimulatedObject for Permits {
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
fn settle(clients: &mut GeneratedClients<Permits>) {
    let doubtful = |&client: &usize| clients.object.known[client] == PermitClientState::Doubtful;
    let (client, op) = match (clients.idle().find(doubtful), Permits::free(clients)) {
        (Some(doubtful), _) => (doubtful, clients.object.release(doubtful)),
        (None, Some(free)) if clients.idle().count() > Permits::holders(clients).len() + 1 => {
            (free, PermitCall::Acquire(clients.object.style, 1))
        }
        _ => return,
    };
    if matches!(clients.stages[client], ClientStage::Idle) {
        clients.try_at_once(client, &op);
    }
}
