//! Values to JSON and to those of `serde_json`, and what they equal.

use super::{Fields, Value};
use crate::schema::schema_like;
use crate::text::Text;
use serde::{Serialize, Serializer};
use std::fmt;

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => to.serialize_unit(),
            Self::Bool(value) => to.serialize_bool(*value),
            Self::Number(number) => number.serialize(to),
            Self::String(text) => text.serialize(to),
            Self::Array(values) => to.collect_seq(values),
            Self::Object(fields) => fields.serialize(to),
        }
    }
}

schema_like!(Value, serde_json::Value);

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.iter())
    }
}

/// JSON on one line.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl From<&Value> for serde_json::Value {
    fn from(value: &Value) -> Self {
        serde_json::to_value(value).expect("it is JSON")
    }
}

impl From<Value> for serde_json::Value {
    fn from(value: Value) -> Self {
        Self::from(&value)
    }
}

impl PartialEq<serde_json::Value> for Value {
    fn eq(&self, other: &serde_json::Value) -> bool {
        use serde_json::Value as Other;
        match (self, other) {
            (Self::Null, Other::Null) => true,
            (Self::Bool(one), Other::Bool(two)) => one == two,
            (Self::Number(one), Other::Number(two)) => one == two,
            (Self::String(one), Other::String(two)) => one == two,
            (Self::Array(one), Other::Array(two)) => one.iter().eq(two),
            (Self::Object(one), Other::Object(two)) => {
                let same = |(name, value): (&Text, &Self)| two.get(name.as_str()).is_some_and(|two| value == two);
                one.len() == two.len() && one.iter().all(same)
            }
            _ => false,
        }
    }
}

/// What a string is compared with.
macro_rules! compared {
    ($($type:ty),*) => {
        $(
            impl PartialEq<$type> for Value {
                fn eq(&self, other: &$type) -> bool {
                    let other: &str = other;
                    self.as_str() == Some(other)
                }
            }
        )*
    };
}

compared!(str, &str, String);

impl PartialEq<bool> for Value {
    fn eq(&self, other: &bool) -> bool {
        self.as_bool() == Some(*other)
    }
}
