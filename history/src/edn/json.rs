//! Values to and from JSON, without loss for every JSON value, and for nearly every EDN value.
//!
//! What JSON lacks (keywords, sets, lists, tags, …) becomes a string that holds its text, such as `":timeout"`. A
//! string that would be taken for such a text is quoted once more. Keywords and strings change places in the keys of
//! maps: `{:a 1}` is `{"a":1}`, as it is for Jepsen. Lost are only the difference between symbols and strings, and map
//! entries with the same key.

use super::{Edn, parse};
use crate::text::Text;
use crate::value::Value;

/// A value as JSON.
pub fn to_json(value: &Edn) -> Value {
    match value {
        Edn::Nil => Value::Null,
        Edn::Bool(value) => Value::Bool(*value),
        Edn::Int(value) => (*value).into(),
        Edn::Float(value) => (*value).into(),
        Edn::Str(text) => encode(text, foreign).into(),
        Edn::Symbol(text) => text.clone().into(),
        Edn::Vector(values) => values.iter().map(to_json).collect(),
        Edn::Map(entries) => {
            let entries = entries.iter().map(|(key, value)| (to_key(key), to_json(value)));
            entries.collect()
        }
        Edn::Number(text) => match text.parse::<u64>() {
            Ok(value) => value.into(),
            Err(_) => text.clone().into(),
        },
        Edn::Char(_) | Edn::Keyword(_) | Edn::List(_) | Edn::Set(_) | Edn::Tagged(..) => value.to_string().into(),
    }
}

/// A value from JSON.
pub fn from_json(value: &Value) -> Edn {
    match value {
        Value::Null => Edn::Nil,
        Value::Bool(value) => Edn::Bool(*value),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(value), _) => Edn::Int(value),
            (None, Some(value)) if number.is_f64() => Edn::Float(value),
            _ => Edn::Number(number.to_string()),
        },
        Value::String(text) => decode(text, foreign),
        Value::Array(values) => Edn::Vector(values.iter().map(from_json).collect()),
        Value::Object(entries) => {
            let entries = entries.iter().map(|(key, value)| (from_key(key), from_json(value)));
            Edn::Map(entries.collect())
        }
    }
}

/// Whether a keyword of this name is written as it is: it reads back as that keyword, and nobody takes it for a number.
pub fn plain(name: &str) -> bool {
    let first = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    first
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || "_-.*+!?$%&=<>/'".contains(c))
}

/// A string for what is a string in JSON: itself, but quoted if [`decode`] would take it for something else.
pub fn encode(text: &str, foreign: fn(&Edn) -> bool) -> String {
    match decode(text, foreign) {
        Edn::Str(same) if same == text => same,
        _ => Edn::Str(text.to_owned()).to_string(),
    }
}

/// What a string of JSON stands for: the value whose text it is, if that is one that JSON lacks and the text is just as
/// it would be written, else itself.
pub fn decode(text: &str, foreign: fn(&Edn) -> bool) -> Edn {
    let mut outer = None;
    let mut inner = text.to_owned();
    // A string quoted any number of times is meant if what is at its heart would be taken for something else.
    let heart = loop {
        match parse(&inner) {
            Ok(value) if value.to_string() != inner => break None,
            Ok(Edn::Str(content)) => {
                outer.get_or_insert_with(|| Edn::Str(content.clone()));
                inner = content;
            }
            Ok(value) => break Some(value),
            Err(_) => break None,
        }
    };
    match heart {
        Some(value) if foreign(&value) => outer.unwrap_or(value),
        _ => Edn::Str(text.to_owned()),
    }
}

/// Values that JSON lacks.
fn foreign(value: &Edn) -> bool {
    match value {
        Edn::Number(text) => text.parse::<u64>().is_err(),
        Edn::Char(_) | Edn::Keyword(_) | Edn::List(_) | Edn::Set(_) | Edn::Tagged(..) => true,
        _ => false,
    }
}

/// Keys that are neither strings nor written as the bare names of keywords.
fn foreign_key(value: &Edn) -> bool {
    !matches!(value, Edn::Str(_)) && !matches!(value, Edn::Keyword(name) if bare(name))
}

/// Whether a keyword as a key is written without its colon.
fn bare(name: &str) -> bool {
    plain(name) && !["nil", "true", "false"].contains(&name)
}

fn to_key(key: &Edn) -> Text {
    match key {
        Edn::Keyword(name) if bare(name) => name.into(),
        Edn::Str(text) => encode(text, foreign_key).into(),
        other => other.to_string().into(),
    }
}

fn from_key(key: &str) -> Edn {
    if bare(key) {
        return Edn::Keyword(key.to_owned());
    }
    decode(key, foreign_key)
}
