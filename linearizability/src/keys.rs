//! Jepsen's independent keys: each operation's value is a pair of a key and a value, and each key is an object of its
//! own.

use crate::equality::canonical;
use crate::{Call, CallOutcome, InputError, Value};
use std::collections::BTreeMap;

/// An object among several.
#[derive(Debug, Clone, Default)]
pub struct KeyedObject<'a> {
    /// Its key, as its first operation has it; nil if that names none.
    pub key: Value,
    /// Its operations, their values without the key.
    pub calls: Vec<Call<'a>>,
}

/// Whether values are pairs of a key and a value. Objects are in the order of their keys' texts.
#[derive(Debug)]
pub enum Partition<'a> {
    /// They are not: there is one object.
    Single,
    /// They are: some operation that has no value of its own has a key.
    Keyed(Vec<KeyedObject<'a>>),
    /// They may be: each is a pair, but so may be the values of a single register.
    Ambiguous(Vec<KeyedObject<'a>>),
}

/// Sorts operations by their keys, if they have such. One whose invocation is missing, and whose completion names no
/// key, may be of any, and is one of each key's.
///
/// # Errors
/// A read that was sent for one key was answered for another, or for none.
pub fn partition<'a>(calls: &[Call<'a>]) -> Result<Partition<'a>, InputError> {
    let (mut sure, mut possible) = (false, false);
    let mut keys: Vec<Option<String>> = Vec::with_capacity(calls.len());
    for call in calls {
        let Some([key, asked]) = split(&call.asked) else {
            if call.unsent {
                keys.push(None);
                continue;
            }
            return Ok(Partition::Single);
        };
        let Some(key) = canonical(key) else {
            return Ok(Partition::Single);
        };
        match call.f {
            "read" | "get" | "acquire" | "release" | "dequeue" | "drain" | "generate"
                if asked.is_nil() || call.unsent =>
            {
                sure |= asked.is_nil()
            }
            // Only texts are put under keys, so a pair is none.
            "put" | "append" => sure |= !is_plain(asked),
            "write" | "add" | "enqueue" => {}
            "cas" if asked.pair().is_some() => possible = true,
            _ => return Ok(Partition::Single),
        }
        keys.push(Some(key));
    }
    if !sure && !possible {
        return Ok(Partition::Single);
    }
    let objects = objects(calls, &keys);
    if !sure {
        return Ok(Partition::Ambiguous(
            objects.into_values().map(|(object, _)| object).collect(),
        ));
    }
    match objects.values().find_map(|(_, misplaced)| misplaced.clone()) {
        Some(misplaced) => Err(misplaced),
        None => Ok(Partition::Keyed(
            objects.into_values().map(|(object, _)| object).collect(),
        )),
    }
}

/// The objects by the texts of their keys, each with the first read of it that was answered for another key.
fn objects<'a>(calls: &[Call<'a>], keys: &[Option<String>]) -> BTreeMap<String, (KeyedObject<'a>, Option<InputError>)> {
    let names = keys.iter().flatten();
    let mut all: BTreeMap<String, (KeyedObject<'a>, Option<InputError>)> =
        names.map(|key| (key.clone(), Default::default())).collect();
    for (call, key) in calls.iter().zip(keys) {
        match key {
            Some(key) => {
                let (object, misplaced) = all.entry(key.clone()).or_default();
                if object.calls.is_empty() {
                    object.key = split(&call.asked).map(|[key, _]| key.clone()).unwrap_or_default();
                }
                let (own, answered) = without_key(call, key);
                if misplaced.is_none() && !answered {
                    *misplaced = other_key(call);
                }
                object.calls.push(own);
            }
            // Any other operation without a key has an unknown outcome, which proves nothing.
            None if matches!(call.f, "release" | "dequeue" | "drain") => {
                all.values_mut().for_each(|(object, _)| object.calls.push(call.clone()));
            }
            None => {}
        }
    }
    all
}

/// An operation without its key, and whether it was answered for that key.
fn without_key<'a>(call: &Call<'a>, key: &String) -> (Call<'a>, bool) {
    let asked = split(&call.asked).map_or(&call.asked, |[_, asked]| asked);
    let answered = split(&call.answered).filter(|[other, _]| canonical(other).as_ref() == Some(key));
    let own = answered.is_some();
    let call = Call {
        asked: asked.clone(),
        answered: answered.map_or(&call.answered, |[_, answered]| answered).clone(),
        ..*call
    };
    (call, own)
}

/// The error that a read is that was not answered for its own key.
fn other_key(call: &Call<'_>) -> Option<InputError> {
    let complete = call.complete?;
    let read = matches!(call.f, "read" | "get") && call.outcome == CallOutcome::Ok;
    read.then(|| InputError::OtherKey {
        f: call.f.to_owned(),
        invoke: call.invoke,
        asked: call.asked.clone(),
        complete,
        answered: call.answered.clone(),
    })
}

/// Whether it is a number, a boolean, a vector, a map or nothing.
fn is_plain(value: &Value) -> bool {
    matches!(
        value,
        Value::Nil | Value::Bool(_) | Value::Integer(_) | Value::Float(_) | Value::Vector(_) | Value::Map(_)
    )
}

fn split(value: &Value) -> Option<[&Value; 2]> {
    match value {
        Value::Vector(_) => value.pair(),
        _ => None,
    }
}
