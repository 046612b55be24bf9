//! One round of a double barrier: it takes so many members to enter, and all leave together.
//!
//! An enter counts from its sending on, whatever became of it: one that failed may have been counted while it waited. A
//! member is certainly inside as long as a mutex is certainly held: from the answer to its enter until its leave was
//! sent, if that was answered with `ok`; any other may have died. A leave that failed ends nothing. An order exists
//! exactly if enough enters were sent before the first of them was answered, and each leave that was answered had a
//! moment at which nobody was certainly inside; both take time O(n log n).

use crate::model::{BrokenClaim, Contradiction, Model, NearLinearDecision, Op, contradiction, earliest};
use crate::models::presence::{Presence, PresenceSpan};
use std::collections::HashMap;
use std::rc::Rc;

/// Too few had come.
pub const ENTERED: BrokenClaim = BrokenClaim {
    kind: "early-release",
    property: "all or none",
    says: "an enter was answered before as many of its round were sent as the barrier has members",
};
const LEFT: BrokenClaim = BrokenClaim {
    kind: "early-release",
    property: "all or none",
    says: "a leave was answered although at each moment of it some other member certainly was inside",
};

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
