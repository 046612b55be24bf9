//! Mutexes on a lease whose grants have tokens that grow (Kleppmann, "How to do distributed locking", 2016): `acquire`
//! is answered with one, bare or in a field `token` or `fence`.
//!
//! Tokens define the order of all grants, so each operation is done as soon as it was sent and what comes before it is
//! done; an order exists exactly if that is soon enough. That takes time O(n log n). A hold is certain as a mutex's is
//! (`mutex`), from the answer to its grant until its release was sent. An acquire of unknown outcome proves nothing.
//! Where a grant has no token it takes a search.

use crate::call::{Reading, Remark};
use crate::generate::{GeneratedLoad, Simulation, one_client, simulate};
use crate::judgement::{StateNames, decide};
use crate::model::{BrokenClaim, Contradiction, Model, NearLinearDecision, Op, any_optional, contradiction, earliest};
use crate::models::mutex::{HELD_TWICE, LeaseOp, MutexObject, lease_operations};
use crate::models::{ModelEntry, ModelFit, ModelSize};
use crate::value::Value;
use std::collections::HashMap;

const NOT_GROWING: BrokenClaim = BrokenClaim {
    kind: "fencing-regression",
    property: "fencing",
    says: "a later grant has no larger token",
};
const UNORDERED: BrokenClaim = BrokenClaim {
    kind: "double-grant",
    property: "mutual exclusion",
    says: "no order fits in which the certain parts of holds exclude each other, and tokens grow",
};

/// Mutexes on a lease whose grants have tokens that grow.
pub static FENCED: ModelEntry = ModelEntry {
    names: &["fenced-mutex"],
    summary: "acquire, release; grants are answered with tokens that grow; holds count as a mutex's do",
    operations: &["acquire", "release"],
    size: ModelSize::Fixed,
    begins: Some("a mutex is free at first"),
    fits: |_| ModelFit::Not,
    simulations: &[Simulation {
        name: "fenced-mutex",
        clients: one_client,
        loads: &[GeneratedLoad::COMMON],
        run: |options, _| simulate(options, MutexObject::new(options.clients, true)),
    }],
    judge: |_, calls, _, _, inquiry| {
        let holds = lease_operations(calls)?;
        let tokens: Vec<Option<i64>> = holds.calls.iter().map(|call| token(&call.answered)).collect();
        let lacking = |op: usize| tokens[op].is_none() && !matches!(holds.ops[op].input, LeaseOp::Release(_));
        let without = (0..tokens.len()).filter(|&op| lacking(op)).count();
        let input = |op: usize, input: LeaseOp| match input {
            LeaseOp::Grant(hold) => FencedOp::Grant(hold, tokens[op]),
            LeaseOp::Release(hold) => FencedOp::Release(hold),
            LeaseOp::Glimpse => FencedOp::Glimpse(tokens[op]),
        };
        let ops = holds.ops.iter().enumerate();
        let reading = Reading {
            ops: ops.map(|(place, op)| op.with_input(input(place, op.input))).collect(),
            revealed_by: holds
                .revealed_by
                .iter()
                .map(|(&op, &(by, unrevealed))| (op, (by, input(op, unrevealed))))
                .collect(),
            calls: holds.calls,
            notes: holds.notes,
        };
        let words = |&(hold, last): &(Option<usize>, Option<i64>), names: &StateNames<'_, '_>| match last {
            Some(token) => format!("{}, last token {token}", names.holder(hold)),
            None => names.holder(hold),
        };
        let mut found = decide(UNORDERED, &FencedMutex, reading, &words, inquiry);
        if without > 0 {
            found.remarks.push(Remark::NoTokens(without));
        }
        Ok(found)
    },
};

fn token(answer: &Value) -> Option<i64> {
    // In JSON a keyword as a key may have been written with its colon.
    let field = |name| { answer.field(name) }.or_else(|| answer.entry(|key| is_text(key, name)));
    let field = ["token", "fence"].into_iter().find_map(field);
    field.unwrap_or(answer).as_i64()
}

/// Whether a value is a text of a name with a colon before it.
fn is_text(value: &Value, name: &str) -> bool {
    matches!(value, Value::Text(text) if text.strip_prefix(':') == Some(name))
}

/// The mutex, free at the beginning. Its state is the certain hold that is on, if one is, and the last token.
#[derive(Debug, Clone, Copy)]
pub struct FencedMutex;

/// An operation on the mutex. Holds are numbered; a token that is absent from the answer is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FencedOp {
    /// A hold with this token began that its release proves to have lasted until then.
    Grant(usize, Option<i64>),
    /// That hold ended.
    Release(usize),
    /// A hold with this token began that lasted for an unknown time.
    Glimpse(Option<i64>),
}

impl Model for FencedMutex {
    type State = (Option<usize>, Option<i64>);
    type Input = FencedOp;

    fn initial(&self) -> Self::State {
        (None, None)
    }

    fn step(&self, &(hold, last): &Self::State, input: &FencedOp) -> Option<Self::State> {
        let grows = |token: Option<i64>| hold.is_none() && (token.is_none() || token > last);
        match *input {
            FencedOp::Grant(new, token) => grows(token).then_some((Some(new), token.or(last))),
            FencedOp::Glimpse(token) => grows(token).then_some((None, token.or(last))),
            FencedOp::Release(old) => (hold == Some(old)).then_some((None, last)),
        }
    }

    fn is_read(&self, input: &FencedOp) -> bool {
        matches!(input, FencedOp::Glimpse(None))
    }

    fn after(&self, input: &FencedOp) -> Option<Self::State> {
        match *input {
            FencedOp::Grant(new, token) => token.map(|token| (Some(new), Some(token))),
            FencedOp::Glimpse(token) => token.map(|token| (None, Some(token))),
            FencedOp::Release(_) => None,
        }
    }

    fn near(&self, ops: &[Op<FencedOp>]) -> NearLinearDecision {
        let Some(order) = TokenOrder::new(ops) else {
            return NearLinearDecision::Undecided;
        };
        earliest(ops, order.same_token(ops).or_else(|| order.late(ops)))
            .map_or(NearLinearDecision::Linearizable, NearLinearDecision::Not)
    }
}

/// The grants that certainly happened, by their tokens.
struct TokenOrder {
    grants: Vec<(i64, usize)>,
    /// The release of each hold.
    releases: HashMap<usize, usize>,
}

impl TokenOrder {
    /// `None` if that is not known.
    fn new(ops: &[Op<FencedOp>]) -> Option<Self> {
        if any_optional(ops) {
            return None;
        }
        let (mut grants, mut releases, mut granted) = (Vec::new(), HashMap::new(), HashMap::new());
        for (place, op) in ops.iter().enumerate() {
            match op.input {
                FencedOp::Grant(hold, token) => {
                    if granted.insert(hold, place).is_some() {
                        return None;
                    }
                    if op.must() {
                        grants.push((token?, place));
                    }
                }
                FencedOp::Glimpse(token) if op.must() => grants.push((token?, place)),
                FencedOp::Glimpse(_) => {}
                FencedOp::Release(hold) => {
                    if releases.insert(hold, place).is_some() {
                        return None;
                    }
                }
            }
        }
        let of_a_grant = |(hold, &release): (&usize, &usize)| {
            let grant = granted.get(hold).map(|&grant| &ops[grant]);
            grant.is_some_and(|grant| grant.must() && grant.complete < Some(ops[release].invoke))
        };
        if !releases.iter().all(of_a_grant) {
            return None;
        }
        grants.sort_unstable();
        Some(Self { grants, releases })
    }

    /// Two grants with the same token.
    fn same_token(&self, ops: &[Op<FencedOp>]) -> Option<Contradiction> {
        let same = self.grants.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        let found = same.map(|pair| contradiction(ops, vec![pair[0].1, pair[1].1], &NOT_GROWING));
        earliest(ops, found)
    }

    /// A grant that was over before what comes before it could be done: an earlier one was sent, or a hold ended.
    fn late(&self, ops: &[Op<FencedOp>]) -> Option<Contradiction> {
        let mut found = None;
        // From when on the next one can be done because of what was sent, and because of what was held; with the grant.
        let mut sent: Option<(usize, usize)> = None;
        let mut held: Option<(usize, usize)> = None;
        for &(_, grant) in &self.grants {
            let late = |soonest: Option<(usize, usize)>| soonest.filter(|&(from, _)| Some(from) > ops[grant].complete);
            let broken = late(sent).map(|(_, before)| (before, &NOT_GROWING));
            let broken = broken.or_else(|| late(held).map(|(_, before)| (before, &HELD_TWICE)));
            let broken = broken.map(|(before, claim)| contradiction(ops, vec![before, grant], claim));
            found = earliest(ops, found.into_iter().chain(broken));
            sent = sent.max(Some((ops[grant].invoke, grant)));
            if let FencedOp::Grant(hold, _) = ops[grant].input {
                let ended = self.releases.get(&hold);
                held = held.max(Some((ended.map_or(usize::MAX, |&release| ops[release].invoke), grant)));
            }
        }
        found
    }
}
