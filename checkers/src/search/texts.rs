//! What the operations of a history mean to the text under a key.

use super::calls::Call;
use super::kv::{Kv, KvOp};
use super::reading::Reading;
use crate::edn::{Edn, from_json};
use crate::history::EventType;

/// The operations on the text of one key. A get of unknown outcome says nothing.
///
/// # Errors
///
/// What cannot be done to a text, and a value that is none.
pub fn kv<'a>(calls: &[Call<'a>]) -> Result<(Kv, Reading<'a, KvOp>), String> {
    let mut told = Vec::new();
    let (mut texts, mut found) = (Vec::new(), Vec::new());
    for &call in calls {
        let (value, list) = match call.f() {
            "get" if call.outcome() == EventType::Ok => (call.answered, &mut found),
            "get" => continue,
            "put" | "append" => (call.asked, &mut texts),
            other => return Err(format!("no text can {other} (event {})", call.invoke.index)),
        };
        let Edn::Str(text) = from_json(value) else {
            let (f, at) = (call.f(), call.invoke.index);
            return Err(format!("the {f} of event {at} has no text, but {value}"));
        };
        list.push(text.clone());
        told.push((call, text));
    }
    let model = Kv::new(texts, found);
    let mut reading = Reading::new();
    for (call, text) in told {
        let input = match call.f() {
            "get" => model.get(&text),
            "put" => model.put(&text),
            _ => model.append(&text),
        };
        reading.add(call, input);
    }
    Ok((model, reading))
}
