//! Double barriers: `enter` and `leave`, with the round as their value. A round takes so many members to enter, and all
//! leave together.
//!
//! An enter counts from its sending on, whatever became of it: one that failed may have been counted while it waited. A
//! member is certainly inside as long as a mutex is certainly held: from the answer to its enter until its leave was
//! sent, if that was answered with `ok`; any other may have died. A leave that failed ends nothing. An order exists
//! exactly if enough enters were sent before the first of them was answered, and each leave that was answered had a
//! moment at which nobody was certainly inside; both take time O(n log n).

use crate::call::{Call, CallOutcome, InputError, Reading};
use crate::equality::ValueNumbers;
use crate::generate::{Completion, GeneratedClients, GeneratedLoad, SimulatedObject, Simulation, simulate};
use crate::judgement::{Inquiry, Judgement, apart, judge};
use crate::model::{BrokenClaim, Contradiction, Model, NearLinearDecision, Op, contradiction, earliest};
use crate::models::presence::{Presence, PresenceSpan};
use crate::models::{ModelEntry, ModelFit, ModelSize};
use crate::value::Value;
use fastrand::Rng;
use std::collections::HashMap;
use std::rc::Rc;

/// Too few had come.
const ENTERED: BrokenClaim = BrokenClaim {
    kind: "early-release",
    property: "all or none",
    says: "an enter was answered before as many of its round were sent as the barrier has members",
};
const LEFT: BrokenClaim = BrokenClaim {
    kind: "early-release",
    property: "all or none",
    says: "a leave was answered although at each moment of it some other member certainly was inside",
};

/// Barriers that so many members enter together and leave together, once in each round.
pub static BARRIER: ModelEntry = ModelEntry {
    names: &["barrier"],
    summary: "enter and leave of N members, with the round as the value",
    operations: &["enter", "leave"],
    size: ModelSize::Number { tried: 5, least: 2 },
    begins: Some("nobody is inside a barrier at first"),
    fits: |_| ModelFit::Not,
    simulations: &[Simulation {
        name: "barrier",
        clients: |members, _| members as usize,
        loads: &[GeneratedLoad::COMMON],
        run: |options, members| simulate(options, BarrierObject::new(members, options.clients)),
    }],
    judge: |model, calls, _, size, inquiry| {
        let mut rounds = ValueNumbers::default();
        let round = |call: &Call<'_>| {
            let (f, at) = (call.f, call.invoke);
            match f {
                "enter" | "leave" if call.asked.is_nil() => {
                    Err(InputError::Unable(format!("the {f} of event {at} names no round")))
                }
                "enter" | "leave" => rounds.number(&call.asked, || format!("the round of event {at}")),
                _ => Err(model.unable(call)),
            }
        };
        let barrier = Barrier { members: size };
        // Each round would have an order of its own.
        let Inquiry::Verdict(budget) = inquiry else {
            return Ok(Judgement::default());
        };
        apart(calls, round, |calls| Ok(judge(ENTERED, &barrier, read(calls), budget)))
    },
};

/// The operations of one round.
fn read<'a>(calls: &[&'a Call<'a>]) -> Reading<'a, BarrierOp> {
    let mut reading = Reading::new();
    let mut inside: HashMap<u64, &'a Call<'a>> = HashMap::new();
    for &call in calls {
        let ok = call.outcome == CallOutcome::Ok;
        if call.f == "enter" {
            // Also one that failed.
            reading.ops.push(Op::unknown(BarrierOp::Sent, call.from()));
            reading.calls.push(call);
            if ok {
                reading.add(call, BarrierOp::Opened);
                inside.insert(call.process, call);
            }
            continue;
        }
        if call.outcome == CallOutcome::Fail {
            // It is inside as before.
            continue;
        }
        let entered = inside.remove(&call.process);
        if ok {
            if let Some(enter) = entered {
                let stay = reading.ops.len();
                reading.add(enter, BarrierOp::Inside(stay));
                reading.revealed_by.insert(stay, (stay + 1, BarrierOp::Leaves(stay)));
                reading.add(call, BarrierOp::Leaves(stay));
            }
            reading.add(call, BarrierOp::Left);
        }
    }
    reading
}

/// The round, which no process has entered at the beginning.
#[derive(Debug, Clone, Copy)]
pub struct Barrier {
    /// How many members it takes.
    pub members: u32,
}

/// What happens in a round. Stays are numbered, and each is ended after it certainly began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BarrierOp {
    /// An enter was sent.
    Sent,
    /// An enter was answered.
    Opened,
    /// A stay began that its leave proves to have lasted until then.
    Inside(usize),
    /// That stay ended, if it had begun.
    Leaves(usize),
    /// A leave was answered.
    Left,
}

/// How far a round is: as many enters as were sent, up to the number that it takes, and who is certainly inside,
/// ascending.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Round {
    sent: u32,
    inside: Rc<[usize]>,
}

impl Model for Barrier {
    type State = Round;
    type Input = BarrierOp;

    fn initial(&self) -> Round {
        Round {
            sent: 0,
            inside: Rc::default(),
        }
    }

    fn step(&self, round: &Round, input: &BarrierOp) -> Option<Round> {
        let mut next = round.clone();
        match *input {
            BarrierOp::Sent => next.sent = self.members.min(round.sent + 1),
            BarrierOp::Opened if round.sent < self.members => return None,
            BarrierOp::Left if !round.inside.is_empty() => return None,
            BarrierOp::Opened | BarrierOp::Left => {}
            BarrierOp::Inside(stay) => {
                let (before, after) = round
                    .inside
                    .split_at(round.inside.partition_point(|&other| other < stay));
                next.inside = [before, &[stay], after].concat().into();
            }
            BarrierOp::Leaves(stay) => {
                next.inside = round.inside.iter().copied().filter(|&other| other != stay).collect()
            }
        }
        Some(next)
    }

    fn is_read(&self, input: &BarrierOp) -> bool {
        matches!(input, BarrierOp::Opened | BarrierOp::Left)
    }

    fn heap(&self, round: &Round) -> usize {
        size_of_val(&*round.inside)
    }

    fn near(&self, ops: &[Op<BarrierOp>]) -> NearLinearDecision {
        earliest(ops, [self.opened(ops), left(ops)].into_iter().flatten())
            .map_or(NearLinearDecision::Linearizable, NearLinearDecision::Not)
    }
}

impl Barrier {
    /// The first answer to an enter, if too few had been sent before it.
    fn opened(&self, ops: &[Op<BarrierOp>]) -> Option<Contradiction> {
        let answered = (0..ops.len()).filter(|&op| ops[op].input == BarrierOp::Opened && ops[op].must());
        let first = answered.min_by_key(|&op| ops[op].complete)?;
        let before = |op: &&Op<BarrierOp>| op.input == BarrierOp::Sent && Some(op.invoke) < ops[first].complete;
        let sent = ops.iter().filter(before).count();
        (sent < self.members as usize).then(|| contradiction(ops, vec![first], &ENTERED))
    }
}

/// The first answer to a leave during all of which somebody else was inside.
fn left(ops: &[Op<BarrierOp>]) -> Option<Contradiction> {
    let leaves = ops.iter().filter_map(|op| match op.input {
        BarrierOp::Leaves(stay) => Some((stay, op.invoke)),
        _ => None,
    });
    let leaves: HashMap<usize, usize> = leaves.collect();
    let inside = |(place, op): (usize, &Op<BarrierOp>)| match op.input {
        BarrierOp::Inside(stay) if op.must() => Some(PresenceSpan {
            from: op.complete?,
            to: leaves.get(&stay).copied().unwrap_or(usize::MAX),
            proof: place,
        }),
        _ => None,
    };
    let presence = Presence::new(ops.iter().enumerate().filter_map(inside).collect());
    let answered = (0..ops.len()).filter(|&op| ops[op].input == BarrierOp::Left && ops[op].must());
    let found = answered.filter_map(|op| {
        let mut proof = presence.throughout(ops[op].invoke, ops[op].complete?)?;
        proof.push(op);
        Some(contradiction(ops, proof, &LEFT))
    });
    earliest(ops, found)
}

/// A simulated barrier, at its first round: each client enters the round that gathers, and leaves it once it has
/// opened.
#[derive(Debug)]
struct BarrierObject {
    members: usize,
    /// The round that gathers; those before it have opened. Nobody enters round 0.
    round: u64,
    /// How many have come to it.
    arrived: usize,
    /// The round that each client is in, before it opened and after.
    inside: Vec<Option<u64>>,
}

/// An operation on a simulated barrier, in some round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BarrierCall {
    /// To wait until all are there.
    Enter(u64),
    /// To wait until all have left.
    Leave(u64),
}

impl BarrierObject {
    /// One that so many enter together.
    fn new(members: u32, clients: usize) -> Self {
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
