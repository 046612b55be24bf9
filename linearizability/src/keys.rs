//! Jepsen's independent keys: each operation's value is a pair of a key and a value, and each key is an object of its
//! own.

use crate::call::{Call, CallOutcome, InputError};
use crate::equality::canonical;
use crate::value::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

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

/// The operations that have a key where others of the history show that there are keys.
const KEYED: [&str; 12] = [
    "read", "get", "acquire", "release", "dequeue", "drain", "generate", "put", "append", "write", "add", "enqueue",
];

/// Sorts operations by their keys, if they have such. One whose invocation is missing, and whose completion names no
/// key, may be of any, and is one of each key's. Where operations show that there are keys, a compare-and-set may have
/// its own beside both values, `[key old new]`.
///
/// # Errors
/// A read that was sent for one key was answered for another, or for none. An operation names no key although others
/// show that there are keys. A compare-and-set `[key old new]` is of a key that nothing else names.
pub fn partition<'a>(calls: &[Call<'a>]) -> Result<Partition<'a>, InputError> {
    let shown = calls.iter().find(|call| shows_keys(call));
    let calls: Vec<NestedCall<'_, 'a>> = calls
        .iter()
        .map(|call| NestedCall::new(call, shown.is_some()))
        .collect();
    let mut possible = false;
    let mut keys: Vec<Option<String>> = Vec::with_capacity(calls.len());
    for NestedCall { call, .. } in &calls {
        let Some(key) = key(call, shown.is_some()) else {
            if call.unsent && split(&call.asked).is_none() {
                keys.push(None);
                continue;
            }
            return match shown {
                Some(shown) if call.f == "cas" || KEYED.contains(&call.f) => Err(keyless(call, shown)),
                _ => Ok(Partition::Single),
            };
        };
        let Some(key) = canonical(key) else {
            return Ok(Partition::Single);
        };
        possible |= call.f == "cas";
        keys.push(Some(key));
    }
    if shown.is_none() && !possible {
        return Ok(Partition::Single);
    }
    if let Some(stray) = stray(&calls, &keys) {
        return Err(InputError::Unexpected {
            what: format!(
                "the cas of event {} is of a key that nothing but such a cas names",
                stray.invoke
            ),
            found: stray.asked.clone(),
        });
    }
    let objects = objects(calls.iter().map(|nested| &*nested.call), &keys);
    if shown.is_none() {
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

/// Whether an operation has a key, and no value that might make both a pair of values.
fn shows_keys(call: &Call<'_>) -> bool {
    let Some([_, asked]) = split(&call.asked) else {
        return false;
    };
    match call.f {
        "read" | "get" | "dequeue" | "drain" | "generate" => asked.is_nil(),
        // How many permits, or for whom: no pair is that.
        "acquire" | "release" => asked.is_nil() || asked.is_map(),
        // Only texts are put under keys, so a pair is none.
        "put" | "append" => !is_plain(asked),
        _ => false,
    }
}

/// The key of an operation, if its value may be a pair of a key and a value; `shown`: other operations show that there
/// are keys.
fn key<'c>(call: &'c Call<'_>, shown: bool) -> Option<&'c Value> {
    let [key, asked] = split(&call.asked)?;
    let has = match call.f {
        "read" | "get" | "dequeue" | "drain" | "generate" => asked.is_nil() || call.unsent,
        "acquire" | "release" => shown || asked.is_nil() || asked.is_map() || call.unsent,
        "put" | "append" | "write" | "add" | "enqueue" => true,
        "cas" => asked.pair().is_some(),
        _ => false,
    };
    has.then_some(key)
}

/// The error that an operation names no key, where another one shows that there are keys.
fn keyless(call: &Call<'_>, shown: &Call<'_>) -> InputError {
    InputError::Unexpected {
        what: format!(
            "the {} of event {} names no key, as the {} of event {} does",
            call.f, call.invoke, shown.f, shown.invoke
        ),
        found: call.asked.clone(),
    }
}

/// An operation, in which the key of a compare-and-set stands before the pair of its values.
struct NestedCall<'c, 'a> {
    call: Cow<'c, Call<'a>>,
    /// Whether it was written `[key old new]`.
    flat: bool,
}

impl<'c, 'a> NestedCall<'c, 'a> {
    /// `shown`: other operations show that there are keys.
    fn new(call: &'c Call<'a>, shown: bool) -> Self {
        let [asked, answered] = [&call.asked, &call.answered].map(|value| match shown && call.f == "cas" {
            true => nested(value),
            false => None,
        });
        let flat = asked.is_some();
        let call = match (asked, answered) {
            (None, None) => Cow::Borrowed(call),
            (asked, answered) => Cow::Owned(Call {
                asked: asked.unwrap_or_else(|| call.asked.clone()),
                answered: answered.unwrap_or_else(|| call.answered.clone()),
                ..*call
            }),
        };
        Self { call, flat }
    }
}

/// `[key [old new]]` of `[key old new]`.
fn nested(value: &Value) -> Option<Value> {
    match value {
        Value::Vector(values) => match &**values {
            [key, old, new] => {
                let pair = [old, new].into_iter().cloned().collect();
                Some([key.clone(), pair].into_iter().collect())
            }
            _ => None,
        },
        _ => None,
    }
}

/// The first compare-and-set, written `[key old new]`, of a key that no other operation names.
fn stray<'c, 'a>(calls: &'c [NestedCall<'_, 'a>], keys: &[Option<String>]) -> Option<&'c Call<'a>> {
    let named = calls.iter().zip(keys).filter(|(nested, _)| !nested.flat);
    let named: HashSet<&String> = named.filter_map(|(_, key)| key.as_ref()).collect();
    let mut flat = calls.iter().zip(keys).filter(|(nested, _)| nested.flat);
    flat.find(|(_, key)| key.as_ref().is_some_and(|key| !named.contains(key)))
        .map(|(nested, _)| &*nested.call)
}

/// The objects by the texts of their keys, each with the first read of it that was answered for another key.
fn objects<'c, 'a: 'c>(
    calls: impl Iterator<Item = &'c Call<'a>>,
    keys: &[Option<String>],
) -> BTreeMap<String, (KeyedObject<'a>, Option<InputError>)> {
    let names = keys.iter().flatten();
    let mut all: BTreeMap<String, (KeyedObject<'a>, Option<InputError>)> =
        names.map(|key| (key.clone(), Default::default())).collect();
    for (call, key) in calls.zip(keys) {
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
