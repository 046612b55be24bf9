//! The value of an event: JSON, in a tenth of the memory of [`serde_json::Value`].
//!
//! An object is a sorted list of few entries, and its names and texts share their memory with equal ones ([`Text`]).
//! What can be asked has the names that it has in `serde_json`, and is written to the same bytes.

mod read;
mod write;

use crate::text::Text;
use serde_json::Number;
use std::ops::{Index, IndexMut};

/// A value of JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum Value {
    #[default]
    Null,
    /// `true`, `false`
    Bool(bool),
    Number(Number),
    String(Text),
    /// A list.
    Array(Box<[Value]>),
    /// Names with their values.
    Object(Fields),
}

/// The entries of an object, sorted by their names, each of which is there once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Fields(Box<[(Text, Value)]>);

/// What there is where nothing is.
static NULL: Value = Value::Null;

impl Fields {
    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, value)| value)
    }

    /// Whether there is a value of this name.
    pub fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The entries, by their names.
    pub fn iter(&self) -> impl Iterator<Item = (&Text, &Value)> {
        self.0.iter().map(|(name, value)| (name, value))
    }

    /// The values, by their names.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        self.0.iter_mut().map(|(_, value)| value)
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sets the value of a name.
    pub fn insert(&mut self, name: impl Into<Text>, value: impl Into<Value>) {
        *self = self.taken().into_iter().chain([(name.into(), value.into())]).collect();
    }

    /// Takes the value of a name away.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let mut entries = self.taken();
        let at = entries.iter().position(|(other, _)| other == name);
        let removed = at.map(|at| entries.remove(at).1);
        self.0 = entries.into();
        removed
    }

    fn taken(&mut self) -> Vec<(Text, Value)> {
        std::mem::take(&mut self.0).into_vec()
    }
}

/// Of entries with the same name the last one stays.
impl FromIterator<(Text, Value)> for Fields {
    fn from_iter<I: IntoIterator<Item = (Text, Value)>>(entries: I) -> Self {
        let mut entries: Vec<(Text, Value)> = entries.into_iter().collect();
        if !entries.is_sorted_by(|a, b| a.0 < b.0) {
            entries.reverse();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            entries.dedup_by(|a, b| a.0 == b.0);
        }
        Self(entries.into())
    }
}

impl Value {
    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether it is a string.
    pub fn is_string(&self) -> bool {
        matches!(self, Self::String(_))
    }

    /// Whether it is an object.
    pub fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// Whether it is a whole number that is not negative.
    pub fn is_u64(&self) -> bool {
        self.as_u64().is_some()
    }

    /// Its value if it is a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The number if it is a whole one that fits.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Number(number) => number.as_i64(),
            _ => None,
        }
    }

    /// The number if it is a whole one that fits.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Number(number) => number.as_u64(),
            _ => None,
        }
    }

    /// The string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The values of the list, if it is one.
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Self::Array(values) => Some(values),
            _ => None,
        }
    }

    /// The entries, if it is an object.
    pub fn as_object(&self) -> Option<&Fields> {
        match self {
            Self::Object(fields) => Some(fields),
            _ => None,
        }
    }

    /// The entries, if it is an object.
    pub fn as_object_mut(&mut self) -> Option<&mut Fields> {
        match self {
            Self::Object(fields) => Some(fields),
            _ => None,
        }
    }

    /// The value of a name, if it is an object that has one.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.as_object()?.get(name)
    }
}

/// The value of a name; `null` where there is none.
impl Index<&str> for Value {
    type Output = Value;

    fn index(&self, name: &str) -> &Value {
        self.get(name).unwrap_or(&NULL)
    }
}

/// The value at a place of a list; `null` where there is none.
impl Index<usize> for Value {
    type Output = Value;

    fn index(&self, at: usize) -> &Value {
        self.as_array().and_then(|values| values.get(at)).unwrap_or(&NULL)
    }
}

/// The value of a name, for which one is made if there is none.
///
/// # Panics
/// If it is neither an object nor `null`.
impl IndexMut<&str> for Value {
    fn index_mut(&mut self, name: &str) -> &mut Value {
        if self.is_null() {
            *self = Self::Object(Fields::default());
        }
        let fields = self.as_object_mut().expect("only an object has named values");
        if !fields.contains_key(name) {
            fields.insert(name, Self::Null);
        }
        let entry = fields.0.iter_mut().find(|(other, _)| other == name);
        &mut entry.expect("it was inserted").1
    }
}

/// The value at a place of a list.
///
/// # Panics
/// If there is none.
impl IndexMut<usize> for Value {
    fn index_mut(&mut self, at: usize) -> &mut Value {
        match self {
            Self::Array(values) => &mut values[at],
            _ => panic!("only a list has values at places"),
        }
    }
}
