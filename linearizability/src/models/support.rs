//! What the models share: contradictions, and the way from operations to what was found.

use crate::call_order::{StateNames, order};
use crate::equality::canonical;
use crate::inquiry::Inquiry;
use crate::models::entry::ModelEntry;
use crate::proof::prove;
use crate::reading::Reading;
use crate::{
    BrokenClaim, Budget, Call, CallOutcome, Contradiction, InputError, Judgement, Model, Op, Remark, Value, Violation,
    Witness,
};
use std::collections::BTreeMap;

/// Whether something has an end although it need not have happened, as only witnesses in the making have it.
pub fn any_optional<I>(ops: &[Op<I>]) -> bool {
    ops.iter().any(|op| op.complete.is_some() && !op.required)
}

/// Operations that contradict each other; the one that ends last is stuck.
pub fn contradiction<I>(ops: &[Op<I>], mut witness: Vec<usize>, claim: &'static BrokenClaim) -> Contradiction {
    witness.sort_unstable();
    witness.dedup();
    let stuck = witness.iter().copied().max_by_key(|&op| ops[op].complete);
    Contradiction {
        stuck: stuck.unwrap_or_default(),
        witness: Witness {
            ops: witness,
            least: true,
        },
        claim: Some(claim),
    }
}

/// Of some contradictions the one that ends first.
pub fn earliest<I>(ops: &[Op<I>], found: impl IntoIterator<Item = Contradiction>) -> Option<Contradiction> {
    let end = |found: &Contradiction| (ops[found.stuck].complete, found.witness.ops.len());
    found.into_iter().min_by_key(end)
}

/// That no order of an object's operations fits, as the beginning of a sentence.
pub const fn unordered(says: &'static str) -> BrokenClaim {
    BrokenClaim {
        kind: "not-linearizable",
        property: "linearizability",
        says,
    }
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
        Inquiry::Order(budget, text) => Judgement {
            order: Some(order(model, &reading, show, *text, budget)),
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

/// An operation that a model lacks, in words.
pub fn unable(model: &ModelEntry, call: &Call<'_>) -> InputError {
    let (name, operations) = (model.names[0], model.operations.join(", "));
    let (f, at) = (call.f, call.invoke);
    InputError::Unable(format!("a {name} has no operation {f} (event {at}), but {operations}"))
}

/// The two values of a compare-and-set, the one that it wants and the one that it writes.
///
/// # Errors
/// It has none, or its answer is [of something else](answered_so).
pub fn compared<'c>(call: &'c Call<'_>) -> Result<[&'c Value; 2], InputError> {
    match call.asked.pair() {
        Some(asked) => answered_so(call, asked),
        None => Err(InputError::Unexpected {
            what: format!("the cas of event {} has no pair of values", call.invoke),
            found: call.asked.clone(),
        }),
    }
}

/// The two values that a compare-and-set was sent with, if its answer leaves no doubt about them.
///
/// # Errors
/// It was answered `ok` with `false` or with other values, by which it is not known what it did.
pub fn answered_so<'c>(call: &'c Call<'_>, asked: [&'c Value; 2]) -> Result<[&'c Value; 2], InputError> {
    let fields = || Some([call.answered.field("from")?, call.answered.field("to")?]);
    let other = |answered: [&Value; 2]| answered.map(canonical) != asked.map(canonical);
    let doubtful = call.answered == Value::Bool(false) || call.answered.pair().or_else(fields).is_some_and(other);
    match call.complete {
        Some(complete) if call.outcome == CallOutcome::Ok && doubtful => Err(InputError::Unexpected {
            what: format!(
                "what the cas of event {} did is not known: it was answered ok at event {complete}",
                call.invoke
            ),
            found: call.answered.clone(),
        }),
        _ => Ok(asked),
    }
}
