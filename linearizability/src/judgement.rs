//! What is found of an object's operations: whether they have an order and what contradicts that, or how far orders
//! reach.

use crate::call::{Call, InputError, Reading, Remark};
use crate::model::{BrokenClaim, Model, Op};
use crate::proof::{Proof, prove};
use crate::search::{Budget, OrderEnd, longest_order};
use crate::value::Value;
use std::collections::BTreeMap;

/// What was found of the operations of one object. It is linearizable if there are neither violations nor remarks that
/// [leave that open](Remark::leaves_open).
#[derive(Debug, Default)]
pub struct Judgement<'a> {
    /// The contradictions found; empty if an order fits all that was judged.
    pub violations: Vec<Violation<'a>>,
    /// What was not judged, and other remarks on the judgement.
    pub remarks: Vec<Remark<'a>>,
    /// The longest order, if that was asked for in place of a verdict.
    pub(crate) order: Option<CallOrder<'a>>,
}

/// Operations that no order fits, with what they break.
#[derive(Debug, Clone)]
pub struct Violation<'a> {
    /// The property that they break.
    pub claim: BrokenClaim,
    /// The one that cannot have its answer.
    pub stuck: &'a Call<'a>,
    /// All of them: even if of every other operation nobody knew whether it happened, no order fits. The same operation
    /// may be among them more than once.
    pub witness: Vec<&'a Call<'a>>,
    /// Positions of the events that prove it, ascending.
    pub events: Vec<usize>,
    /// Whether none of them can be left out; if not, the budget ran out before that was known.
    pub minimal: bool,
    /// How many operations that were answered before `stuck` fit together; `None` if that is not known.
    pub fits: Option<usize>,
}

impl<'a> Violation<'a> {
    /// What proves that the operations of these calls have no order; `claim` is broken where the proof names no more
    /// specific one.
    pub(crate) fn new(claim: BrokenClaim, calls: &[&'a Call<'a>], proof: &Proof) -> Self {
        let witness: Vec<&Call<'_>> = proof.witness.ops.iter().map(|&op| calls[op]).collect();
        let both = |call: &&Call<'_>| [Some(call.invoke), call.complete];
        let mut events: Vec<usize> = witness.iter().flat_map(both).flatten().collect();
        events.sort_unstable();
        events.dedup();
        Self {
            claim: proof.claim.copied().unwrap_or(claim),
            stuck: calls[proof.stuck],
            witness,
            events,
            minimal: proof.witness.least,
            fits: proof.fits,
        }
    }
}

/// What is to be found out, and within which budget.
pub enum Inquiry<'b, 'x> {
    /// Whether there is an order of all, and what contradicts it.
    Verdict(&'b mut Budget<'x>),
    /// How far orders reach.
    Order(&'b mut Budget<'x>, OrderTerms<'b>),
}

/// Of what an order is looked for, and how its states are written.
#[derive(Clone, Copy)]
pub struct OrderTerms<'t> {
    /// How a state names values.
    pub text: &'t dyn Fn(&Value) -> String,
    /// A position of the history, if the order is of what was answered before it: of what was in flight then it is as
    /// if nobody knew whether it happened.
    pub before: Option<usize>,
}

/// Decides what was read, by a model, or orders it; `claim` is broken where nothing is known more closely, and `show`
/// puts a state into words.
pub fn decide<'a, M: Model>(
    claim: BrokenClaim,
    model: &M,
    reading: Reading<'a, M::Input>,
    show: &dyn Fn(&M::State, &StateNames<'_, 'a>) -> String,
    inquiry: &mut Inquiry<'_, '_>,
) -> Judgement<'a> {
    match inquiry {
        Inquiry::Verdict(budget) => judge(claim, model, reading, budget),
        Inquiry::Order(budget, terms) => Judgement {
            order: Some(order(model, &reading, show, *terms, budget)),
            ..Judgement::default()
        },
    }
}

/// Decides what was read, by a model; `claim` is broken where nothing is known more closely.
pub fn judge<'a, M: Model>(
    claim: BrokenClaim,
    model: &M,
    reading: Reading<'a, M::Input>,
    budget: &mut Budget<'_>,
) -> Judgement<'a> {
    let proof = prove(model, &reading, budget);
    let Reading { calls, notes, .. } = reading;
    let mut found = Judgement {
        remarks: notes,
        ..Judgement::default()
    };
    match proof {
        Ok(proof) => {
            let violation = proof.map(|proof| Violation::new(claim, &calls, &proof));
            found.violations.extend(violation);
        }
        Err(limit) => found.remarks.push(Remark::GaveUp(limit)),
    }
    found
}

/// Judges operations by themselves that have the same name, a number.
///
/// # Errors
/// An operation without a name: it may be any.
pub fn apart<'a>(
    calls: &[&'a Call<'a>],
    mut name: impl FnMut(&Call<'a>) -> Result<u32, InputError>,
    mut judge: impl FnMut(&[&'a Call<'a>]) -> Result<Judgement<'a>, InputError>,
) -> Result<Judgement<'a>, InputError> {
    let mut parts: BTreeMap<u32, Vec<&Call<'_>>> = BTreeMap::new();
    for &call in calls {
        parts.entry(name(call)?).or_default().push(call);
    }
    let mut all = Judgement::default();
    for part in parts.values() {
        match judge(part) {
            Ok(found) => {
                all.violations.extend(found.violations);
                all.remarks.extend(found.remarks);
            }
            Err(what) => all.remarks.push(Remark::Unjudged(what)),
        }
    }
    all.remarks.dedup();
    Ok(all)
}

/// What was found, without the requests for grants where each of these was released: such holds overlap by when they
/// were granted, and not by when that was asked for.
pub fn without_requests<'a>(mut found: Judgement<'a>, calls: &[&Call<'_>]) -> Judgement<'a> {
    for violation in &mut found.violations {
        let of = |f: &str| -> Vec<usize> {
            let requests = calls.iter().filter(|call| call.f == f).map(|call| call.invoke);
            requests
                .filter(|at| violation.events.binary_search(at).is_ok())
                .collect()
        };
        let (acquires, releases) = (of("acquire"), of("release"));
        if acquires.len() == releases.len() {
            violation.events.retain(|at| acquires.binary_search(at).is_err());
        }
    }
    found
}

/// The longest order that was found of an object's operations.
#[derive(Debug, Clone)]
pub struct CallOrder<'a> {
    /// The state at the beginning, in words.
    pub initial: String,
    /// The operations in the order. One that does several things, as a drain of a queue does, is there more than once.
    pub steps: Vec<OrderStep<'a>>,
    /// The operations that have to be next and cannot be, after the last step: by their completions. Of an order of
    /// what was answered before some operation it is that one, if it cannot be next.
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
fn order<'a, M: Model>(
    model: &M,
    reading: &Reading<'a, M::Input>,
    show: &dyn Fn(&M::State, &StateNames<'_, 'a>) -> String,
    terms: OrderTerms<'_>,
    budget: &mut Budget<'_>,
) -> CallOrder<'a> {
    let Reading { ops, calls, .. } = reading;
    let known = |op: &Op<M::Input>| terms.before.is_none_or(|before| op.complete < Some(before));
    // States name operations by their places: those that need not be in the order stay where they are.
    let required = |op: &Op<M::Input>| Op {
        required: op.required && known(op),
        ..op.clone()
    };
    let ops: &Vec<Op<M::Input>> = &ops.iter().map(required).collect();
    let found = longest_order(model, ops, budget);
    let names = StateNames {
        calls,
        text: terms.text,
    };
    let step = |(&op, state): (&usize, &M::State)| OrderStep {
        call: calls[op],
        state: show(state, &names),
        certain: ops[op].must(),
    };
    let state = found.states.last().cloned().unwrap_or_else(|| model.initial());
    let answered = |op: &usize| terms.before.is_some() && ops[*op].complete == terms.before;
    let cannot = |op: &usize| model.step(&state, &ops[*op].input).is_none();
    let after = (0..ops.len()).filter(|op| found.end == OrderEnd::Whole && answered(op) && cannot(op));
    let refused = found.refused.iter().copied().chain(after);
    let mut refused: Vec<&Call<'_>> = refused.map(|op| calls[op]).collect();
    refused.dedup_by_key(|call| call.invoke);
    CallOrder {
        initial: show(&model.initial(), &names),
        steps: found.order.iter().zip(&found.states).map(step).collect(),
        refused,
        certain: ops.iter().filter(|op| op.must()).count(),
        end: found.end,
    }
}
