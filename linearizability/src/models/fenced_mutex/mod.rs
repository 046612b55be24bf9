//! Mutexes whose grants have tokens: `acquire` is answered with one, bare or in a field `token` or `fence`.

mod sequential;

pub use sequential::{FencedMutex, FencedOp};

use crate::call::{Reading, Remark};
use crate::generate::{GeneratedLoad, Simulation, one_client, simulate};
use crate::judgement::{StateNames, decide};
use crate::model::BrokenClaim;
use crate::models::entry::{ModelEntry, ModelFit, ModelSize};
use crate::models::mutex::{LeaseOp, generator, lease_operations};
use crate::value::Value;

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
        run: |options, _| simulate(options, generator::Mutex::new(options.clients, true)),
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
