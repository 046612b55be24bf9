//! How far orders of operations reach, as these were recorded.

use crate::reading::Reading;
use crate::{Budget, Call, Model, OrderEnd, Value, longest_order};

/// The longest order that was found of an object's operations.
#[derive(Debug, Clone)]
pub struct CallOrder<'a> {
    /// The state at the beginning, in words.
    pub initial: String,
    /// The operations in the order. One that does several things, as a drain of a queue does, is there more than once.
    pub steps: Vec<OrderStep<'a>>,
    /// The operations that have to be next and cannot be, after the last step: by their completions.
    pub refused: Vec<&'a Call<'a>>,
    /// How many steps an order has that holds all that certainly happened, without those of unknown outcome.
    pub certain: usize,
    /// Why it ends there.
    pub end: OrderEnd,
}

/// An operation in an order.
#[derive(Debug, Clone)]
pub struct OrderStep<'a> {
    /// The operation.
    pub call: &'a Call<'a>,
    /// The state after it, in words.
    pub state: String,
    /// Whether it certainly happened; another one need not have, and the order uses it.
    pub certain: bool,
}

/// What words about a state are made of.
pub struct StateNames<'s, 'a> {
    /// The operations, by their places in the reading.
    pub calls: &'s [&'a Call<'a>],
    /// How a value is written.
    pub text: &'s dyn Fn(&Value) -> String,
}

impl StateNames<'_, '_> {
    /// Values in words: the first ones of many, and how many there are.
    pub fn list<'v>(&self, values: impl ExactSizeIterator<Item = &'v Value>) -> String {
        const SHOWN: usize = 12;
        let all = values.len();
        let shown: Vec<String> = values.take(SHOWN).map(self.text).collect();
        match all {
            0 => "empty".to_owned(),
            _ if all > SHOWN => format!("{}, … {all} in all", shown.join(", ")),
            _ => shown.join(", "),
        }
    }

    /// Who holds, by the place of the grant.
    pub fn holder(&self, hold: Option<usize>) -> String {
        let process = hold.and_then(|hold| self.calls.get(hold)).map(|call| call.process);
        process.map_or("free".to_owned(), |process| format!("held by process {process}"))
    }
}

/// The longest order of what was read, within a budget; `show` puts a state into words.
pub fn order<'a, M: Model>(
    model: &M,
    reading: &Reading<'a, M::Input>,
    show: &dyn Fn(&M::State, &StateNames<'_, 'a>) -> String,
    text: &dyn Fn(&Value) -> String,
    budget: &mut Budget<'_>,
) -> CallOrder<'a> {
    let Reading { ops, calls, .. } = reading;
    let found = longest_order(model, ops, budget);
    let names = StateNames { calls, text };
    let step = |(&op, state): (&usize, &M::State)| OrderStep {
        call: calls[op],
        state: show(state, &names),
        certain: ops[op].must(),
    };
    let mut refused: Vec<&Call<'_>> = found.refused.iter().map(|&op| calls[op]).collect();
    refused.dedup_by_key(|call| call.invoke);
    CallOrder {
        initial: show(&model.initial(), &names),
        steps: found.order.iter().zip(&found.states).map(step).collect(),
        refused,
        certain: ops.iter().filter(|op| op.must()).count(),
        end: found.end,
    }
}
