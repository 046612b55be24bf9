//! A simulated mutex that knows its holder.

use crate::Value;
use crate::generate::clients::{Clients, Completion, Simulated, Stage};
use fastrand::Rng;

/// The mutex, free at first.
#[derive(Debug)]
pub struct Mutex {
    holder: Option<usize>,
    /// The number of the last hold.
    hold: u64,
    /// Whether grants are answered with tokens: the numbers of their holds.
    tokens: bool,
    /// For each client whether it holds, as far as it knows.
    known: Vec<ClientState>,
}

/// What a client knows of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClientState {
    Free,
    Held,
    /// It asked, and got no answer. It releases next, so that nothing stays held.
    Doubtful,
}

/// An operation on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
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
            known: vec![ClientState::Free; clients],
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

impl Simulated for Mutex {
    type Op = Request;

    fn draw(&mut self, client: usize, _: &mut Rng) -> Request {
        match self.known[client] {
            ClientState::Free => Request::Acquire,
            ClientState::Held | ClientState::Doubtful => Request::Release(self.hold),
        }
    }

    fn request(op: &Request) -> (&'static str, Value) {
        let f = match op {
            Request::Acquire => "acquire",
            Request::Release(_) => "release",
        };
        (f, Value::Nil)
    }

    fn apply(&mut self, client: usize, op: &Request) -> Option<Completion> {
        match *op {
            Request::Acquire if self.holder.is_some() => return None,
            Request::Acquire => {
                self.holder = Some(client);
                self.hold += 1;
                return Some(self.granted());
            }
            Request::Release(hold) if (self.holder, self.hold) == (Some(client), hold) => self.holder = None,
            Request::Release(_) => return Some(Completion::Fail("not-held")),
        }
        Some(Completion::Ok(Value::Nil))
    }

    fn receive(&mut self, client: usize, op: &Request, answer: Option<&Completion>) {
        self.known[client] = match (op, answer) {
            (_, None) => ClientState::Doubtful,
            (Request::Acquire, Some(_)) => ClientState::Held,
            (Request::Release(_), Some(_)) => ClientState::Free,
        };
    }

    fn may_be_late(&self, op: &Request) -> bool {
        // An acquire that came after its client's release would hold for ever.
        matches!(op, Request::Release(_))
    }

    fn plant(clients: &mut Clients<Self>, last: bool) -> bool {
        if last {
            make_held(clients);
        }
        let idle = |clients: &Clients<Self>, client| matches!(clients.stages[client], Stage::Idle);
        let held = |&client: &usize| clients.object.known[client] == ClientState::Held && idle(clients, client);
        let Some(holder) = clients.object.holder.filter(held) else {
            return false;
        };
        let may_be_granted = |&client: &usize| match clients.stages[client] {
            Stage::Idle => clients.object.known[client] == ClientState::Free,
            Stage::Sent(op, lost) => op == Request::Acquire && !lost,
            _ => false,
        };
        let Some(other) = (0..clients.stages.len()).find(may_be_granted) else {
            return false;
        };
        let (release, ok) = (Request::Release(clients.object.hold), Completion::Ok(Value::Nil));
        if idle(clients, other) {
            clients.invoke(other, &Request::Acquire);
        }
        clients.stages[other] = Stage::Idle;
        // Of a mutex with tokens the same one is given out twice, one after the other.
        let tokens = clients.object.tokens;
        if tokens {
            clients.at_once(holder, &release, &ok);
        }
        let granted = clients.object.granted();
        clients.complete(other, &Request::Acquire, &granted);
        clients.at_once(other, &release, &ok);
        if !tokens {
            clients.at_once(holder, &release, &ok);
        }
        clients.object.holder = None;
        true
    }
}

/// Sees to it that a client knows that it holds, when no client begins anything by itself any more.
fn make_held(clients: &mut Clients<Mutex>) {
    let doubtful = |&holder: &usize| clients.object.known[holder] == ClientState::Doubtful;
    let (client, op) = match (clients.object.holder, clients.idle().next()) {
        (Some(holder), _) if doubtful(&holder) => (holder, Request::Release(clients.object.hold)),
        (None, Some(idle)) => (idle, Request::Acquire),
        _ => return,
    };
    if matches!(clients.stages[client], Stage::Idle) {
        clients.try_at_once(client, &op);
    }
}
