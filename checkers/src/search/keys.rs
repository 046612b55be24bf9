//! Jepsen's independent keys: each operation's value is a pair of a key and a value, and each key is an object of its own.

use super::calls::Call;
use super::values::{canonical, pair};
use crate::{EventType, Value};
use std::collections::BTreeMap;

/// The operations of each key, by the key's text; their values without the key.
pub type Keys<'a> = BTreeMap<String, Vec<Call<'a>>>;

/// Whether values are pairs of a key and a value.
#[derive(Debug)]
pub enum Keyed<'a> {
    /// They are not.
    No,
    /// They are: some operation that has no value of its own has a key.
    Yes(Keys<'a>),
    /// They may be: each is a pair, but so may be the values of a single register.
    Maybe(Keys<'a>),
}

/// Sorts operations by their keys, if they have such. One whose invocation is missing, and whose completion names no key, may be of any,
/// and is one of each key's.
///
/// # Errors
/// A read that was sent for one key was answered for another, or for none.
pub fn keyed<'a>(calls: &[Call<'a>]) -> Result<Keyed<'a>, String> {
    let (mut sure, mut possible) = (false, false);
    let mut of: Vec<Option<(String, Call<'a>)>> = Vec::with_capacity(calls.len());
    for call in calls {
        let Some((key, asked)) = split(call.asked) else {
            if call.unsent {
                of.push(None);
                continue;
            }
            return Ok(Keyed::No);
        };
        let Ok(key) = canonical(key) else { return Ok(Keyed::No) };
        match call.f() {
            "read" | "get" | "acquire" | "release" | "dequeue" | "drain" | "generate"
                if asked.is_null() || call.unsent =>
            {
                sure |= asked.is_null()
            }
            // Only texts are put under keys, so a pair is none.
            "put" | "append" => sure |= asked.is_string(),
            "write" | "add" | "enqueue" => {}
            "cas" if pair(asked).is_some() => possible = true,
            _ => return Ok(Keyed::No),
        }
        let answered = match split(call.answered) {
            Some((other, answered)) if canonical(other).as_ref() == Ok(&key) => answered,
            _ => call.answered,
        };
        let call = Call {
            asked,
            answered,
            ..*call
        };
        of.push(Some((key, call)));
    }
    if !sure && !possible {
        return Ok(Keyed::No);
    }
    let names = of.iter().flatten().map(|(key, _)| key.clone());
    let mut keys: Keys<'a> = names.map(|key| (key, Vec::new())).collect();
    for (call, own) in calls.iter().zip(of) {
        match own {
            Some((key, call)) => keys.entry(key).or_default().push(call),
            // An outcome that is not known of any other operation says nothing.
            None if matches!(call.f(), "release" | "dequeue" | "drain") => {
                keys.values_mut().for_each(|of_key| of_key.push(*call));
            }
            None => {}
        }
    }
    if sure {
        keys.values().flatten().try_for_each(answered)?;
        return Ok(Keyed::Yes(keys));
    }
    Ok(Keyed::Maybe(keys))
}

fn split(value: &Value) -> Option<(&Value, &Value)> {
    match value.as_array()? {
        [key, value] => Some((key, value)),
        _ => None,
    }
}

/// Checks that a read was answered for its own key.
fn answered(call: &Call<'_>) -> Result<(), String> {
    let reads = matches!(call.f(), "read" | "get");
    let read = call.end.filter(|end| reads && end.kind == EventType::Ok);
    match read {
        Some(end) if std::ptr::eq(call.answered, &raw const end.value) => Err(format!(
            "the {} of event {} was sent for the key of {}, and answered for another at event {}: {}",
            call.f(),
            call.invoke.index,
            call.invoke.value,
            end.index,
            end.value
        )),
        _ => Ok(()),
    }
}
