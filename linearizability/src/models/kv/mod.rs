//! Texts under keys, as porcupine's key-value model has them: `get`, `put` and `append`, and beside these `cas`.

mod sequential;

pub use sequential::{Kv, KvOp, TextPlace};

use crate::call::{Call, CallOutcome, InputError, Reading};
use crate::equality::compared;
use crate::judgement::{StateNames, decide};
use crate::model::{BrokenClaim, unordered};
use crate::models::entry::{ModelEntry, ModelFit, ModelSize, unable};
use crate::value::Value;

const UNORDERED: BrokenClaim = unordered("no order of the operations on the text fits");

/// The text under a key, which is empty at first. A get of unknown outcome, and a cas that failed, prove nothing.
pub static TEXTS: ModelEntry = ModelEntry {
    names: &["kv"],
    summary: "get, put, append and cas of texts under keys",
    operations: &["get", "put", "append", "cas"],
    size: ModelSize::Fixed,
    begins: Some("each key has the empty text at first"),
    // What is added, only its reads show; what is got alone may be of anything.
    fits: |operations| {
        let changed = operations.any(&["put", "append"]) || operations.any(&["get"]) && operations.any(&["cas"]);
        match changed && !operations.any(&["add"]) {
            true => ModelFit::Possible,
            false => ModelFit::Not,
        }
    },
    simulations: &[],
    judge: |model, calls, _, _, inquiry| {
        let mut accesses = Vec::new();
        let (mut texts, mut found) = (Vec::new(), Vec::new());
        for &call in calls {
            let access = match call.f {
                "get" if call.outcome == CallOutcome::Ok => TextAccess::Get(text(call, &call.answered)?),
                "get" => continue,
                "put" => TextAccess::Put(text(call, &call.asked)?),
                "append" => TextAccess::Append(text(call, &call.asked)?),
                "cas" => {
                    let [from, to] = compared(call)?;
                    TextAccess::Cas(text(call, from)?, text(call, to)?)
                }
                _ => return Err(unable(model, call)),
            };
            let (left, seen) = match access {
                TextAccess::Get(text) => (None, Some(text)),
                TextAccess::Put(text) | TextAccess::Append(text) => (Some(text), None),
                TextAccess::Cas(from, to) => (Some(to), Some(from)),
            };
            texts.extend(left.map(str::to_owned));
            found.extend(seen.map(str::to_owned));
            accesses.push((call, access));
        }
        let model = Kv::new(texts, found);
        let mut reading: Reading<'_, KvOp> = Reading::new();
        for (call, access) in accesses {
            let input = match access {
                TextAccess::Get(text) => model.get(text),
                TextAccess::Put(text) => model.put(text),
                TextAccess::Append(text) => model.append(text),
                TextAccess::Cas(from, to) => model.cas(from, to),
            };
            reading.add(call, input);
        }
        let words = |place: &TextPlace, names: &StateNames<'_, '_>| match model.text(*place) {
            Some(text) => (names.text)(&Value::from(text)),
            None => "a text that no get found".to_owned(),
        };
        Ok(decide(UNORDERED, &model, reading, &words, inquiry))
    },
};

/// An operation on the text under a key, as it was written down.
#[derive(Clone, Copy)]
enum TextAccess<'a> {
    Get(&'a str),
    Put(&'a str),
    Append(&'a str),
    Cas(&'a str, &'a str),
}

/// The text that a value of an operation is.
///
/// # Errors
/// It is none.
fn text<'c>(call: &Call<'_>, value: &'c Value) -> Result<&'c str, InputError> {
    match value {
        Value::Text(text) => Ok(text),
        _ => Err(InputError::Unexpected {
            what: format!("the {} of event {} has no text", call.f, call.invoke),
            found: value.clone(),
        }),
    }
}
