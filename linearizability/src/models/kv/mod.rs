//! Texts under keys, as porcupine's key-value model has them: `get`, `put` and `append`.

mod sequential;

pub use sequential::{Kv, KvOp, TextPlace};

use crate::call_order::StateNames;
use crate::models::entry::{ModelEntry, ModelFit, ModelSize};
use crate::models::support::{decide, unable, unordered};
use crate::reading::Reading;
use crate::{BrokenClaim, CallOutcome, InputError, Value};

const UNORDERED: BrokenClaim = unordered("no order of the operations on the text fits");

/// The text under a key, which is empty at first. A get of unknown outcome proves nothing.
pub static TEXTS: ModelEntry = ModelEntry {
    names: &["kv"],
    summary: "get, put and append of texts under keys",
    operations: &["get", "put", "append"],
    size: ModelSize::Fixed,
    begins: Some("each key has the empty text at first"),
    // What is added, only its reads show; what is got alone may be of anything.
    fits: |operations| match operations.any(&["put", "append"]) && !operations.any(&["add"]) {
        true => ModelFit::Possible,
        false => ModelFit::Not,
    },
    simulations: &[],
    judge: |model, calls, _, _, inquiry| {
        let mut told = Vec::new();
        let (mut texts, mut found) = (Vec::new(), Vec::new());
        for &call in calls {
            let (value, list) = match call.f {
                "get" if call.outcome == CallOutcome::Ok => (&call.answered, &mut found),
                "get" => continue,
                "put" | "append" => (&call.asked, &mut texts),
                _ => return Err(unable(model, call)),
            };
            let Value::Text(text) = value else {
                let (f, at) = (call.f, call.invoke);
                return Err(InputError::Unexpected {
                    what: format!("the {f} of event {at} has no text"),
                    found: value.clone(),
                });
            };
            list.push(text.to_string());
            told.push((call, text));
        }
        let model = Kv::new(texts, found);
        let mut reading: Reading<'_, KvOp> = Reading::new();
        for (call, text) in told {
            let input = match call.f {
                "get" => model.get(text),
                "put" => model.put(text),
                _ => model.append(text),
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
