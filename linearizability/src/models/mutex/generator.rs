//! A simulated mutex that tracks its holder.

use crate::generate::{ClientStage, Completion, GeneratedClients, SimulatedObject};
use crate::value::Value;
use fastrand::Rng;

/// The mutex, free at first.
#[derive(Debug)]
pub struct Mutex {
    holder: Option<usize>,
    /// The number of the last hold.
    hold: u64,
    /// Whether grants are answered with tokens: the numbers of their holds.
    tokens: bool,
    /// For each client the state that its answers show it.
    known: Vec<MutexClientState>,
}

/// A client's state by its own answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MutexClientState {
    Free,
    Held,
    /// It asked, and got no answer. It releases next, so that nothing stays held.
    Doubtful,
}

/// An operation on the mutex, as a client invokes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MutexCall {
    /// To hold it.
    Acquire,
    /// To end the hold of this number.
    Release(u64),
}

impl Mutex {
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

impl SimulatedObject for Mutex {
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
fn make_held(clients: &mut GeneratedClients<Mutex>) {
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
