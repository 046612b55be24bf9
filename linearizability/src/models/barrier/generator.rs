//! A simulated double barrier: each client enters the round that gathers, and leaves it once it has opened.

use crate::generate::{Completion, GeneratedClients, SimulatedObject};
use crate::value::Value;
use fastrand::Rng;

/// The barrier, at its first round.
#[derive(Debug)]
pub struct BarrierObject {
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
pub enum BarrierCall {
    /// To wait until all are there.
    Enter(u64),
    /// To wait until all have left.
    Leave(u64),
}

impl BarrierObject {
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

impl SimulatedObject for BarrierObject {
    type Op = BarrierCall;

    fn draw(&mut self, client: usize, _: &mut Rng) -> BarrierCall {
        self.inside[client].map_or(BarrierCall::Enter(self.round), BarrierCall::Leave)
    }

    fn request(op: &BarrierCall) -> (&'static str, Value) {
        match *op {
            BarrierCall::Enter(round) => ("enter", Value::from(round)),
            BarrierCall::Leave(round) => ("leave", Value::from(round)),
        }
    }

    fn apply(&mut self, client: usize, op: &BarrierCall) -> Option<Completion> {
        let (round, open) = match *op {
            BarrierCall::Enter(round) => {
                let came = self.inside[client].replace(round).is_none();
                self.arrived += usize::from(came && round == self.round);
                if self.arrived == self.members {
                    (self.round, self.arrived) = (self.round + 1, 0);
                }
                (round, round < self.round)
            }
            BarrierCall::Leave(round) => {
                self.inside[client] = None;
                (round, !self.inside.contains(&Some(round)))
            }
        };
        open.then(|| Completion::Ok(Value::from(round)))
    }

    fn receive(&mut self, client: usize, _: &BarrierCall, answer: Option<&Completion>) {
        // One that got no answer has died.
        if answer.is_none() {
            self.inside[client] = None;
        }
    }

    fn may_be_late(&self, _: &BarrierCall) -> bool {
        false
    }

    fn plant_by(clients: &mut GeneratedClients<Self>, client: usize, _: bool) -> bool {
        clients.at_once(client, &BarrierCall::Enter(0), &Completion::Ok(Value::from(0_u64)));
        true
    }
}
