//! A simulated double barrier: each client enters the round that gathers, and leaves it once it has opened.

use crate::Value;
use crate::generate::clients::{Clients, Completion, Simulated};
use fastrand::Rng;

/// The barrier, at its first round.
#[derive(Debug)]
pub struct Barrier {
    members: usize,
    /// The round that gathers; those before it have opened. Nobody enters round 0.
    round: u64,
    /// How many have come to it.
    arrived: usize,
    /// The round that each client is in, before it opened and after.
    inside: Vec<Option<u64>>,
}

/// An operation on it, in some round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// To wait until all are there.
    Enter(u64),
    /// To wait until all have left.
    Leave(u64),
}

impl Barrier {
    /// One that so many enter together.
    pub fn new(members: u32, clients: usize) -> Self {
        Self {
            members: members as usize,
            round: 1,
            arrived: 0,
            inside: vec![None; clients],
        }
    }
}

impl Simulated for Barrier {
    type Op = Request;

    fn draw(&mut self, client: usize, _: &mut Rng) -> Request {
        self.inside[client].map_or(Request::Enter(self.round), Request::Leave)
    }

    fn request(op: &Request) -> (&'static str, Value) {
        match *op {
            Request::Enter(round) => ("enter", Value::from(round)),
            Request::Leave(round) => ("leave", Value::from(round)),
        }
    }

    fn apply(&mut self, client: usize, op: &Request) -> Option<Completion> {
        let (round, open) = match *op {
            Request::Enter(round) => {
                let came = self.inside[client].replace(round).is_none();
                self.arrived += usize::from(came && round == self.round);
                if self.arrived == self.members {
                    (self.round, self.arrived) = (self.round + 1, 0);
                }
                (round, round < self.round)
            }
            Request::Leave(round) => {
                self.inside[client] = None;
                (round, !self.inside.contains(&Some(round)))
            }
        };
        open.then(|| Completion::Ok(Value::from(round)))
    }

    fn receive(&mut self, client: usize, _: &Request, answer: Option<&Completion>) {
        // One that got no answer has died.
        if answer.is_none() {
            self.inside[client] = None;
        }
    }

    fn may_be_late(&self, _: &Request) -> bool {
        false
    }

    fn plant_by(clients: &mut Clients<Self>, client: usize, _: bool) -> bool {
        clients.at_once(client, &Request::Enter(0), &Completion::Ok(Value::from(0_u64)));
        true
    }
}
