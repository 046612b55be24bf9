//! Fields of an event's value: the name and the type of each, defined once.

use super::ZnodeName;
use crate::event::Event;
use crate::value::Value;
use std::marker::PhantomData;

/// A field of a value, of type `T`.
#[derive(Debug)]
pub struct Field<T: ?Sized> {
    name: &'static str,
    of: PhantomData<fn() -> Box<T>>,
}

impl<T: ?Sized> Clone for Field<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Field<T> {}

impl<T: ?Sized> Field<T> {
    /// The field of this name.
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name, of: PhantomData }
    }

    pub const fn name(self) -> &'static str {
        self.name
    }

    /// The same field, read as whatever stands in it, be it `null`.
    pub const fn any(self) -> Field<AnyType> {
        Field::new(self.name)
    }

    /// The content of the field; `None` if it is missing or of another type.
    pub fn read_from<V: JsonNode>(self, value: &V) -> Option<T::Read<'_, V>>
    where
        T: FieldType,
    {
        T::read(value.named(self.name)?)
    }

    /// Writes the field into a value that has fields or is `null`; any other value stays as it is.
    pub fn put(self, value: &mut serde_json::Value, what: impl Into<serde_json::Value>) {
        if value.is_null() {
            *value = serde_json::Map::new().into();
        }
        if let Some(fields) = value.as_object_mut() {
            fields.insert(self.name.to_owned(), what.into());
        }
    }
}

/// JSON, however it is held: that of an event, or of a message.
pub trait JsonNode: Sized {
    /// The value of a name, if it is an object that has one.
    fn named(&self, name: &str) -> Option<&Self>;

    /// Whether it is an object.
    fn is_object(&self) -> bool;

    /// Whether it is `null`.
    fn is_null(&self) -> bool;

    /// The string, if it is one.
    fn text(&self) -> Option<&str>;

    /// The number, if it is a whole one that fits.
    fn integer(&self) -> Option<i64>;

    /// The number, if it is a whole one that is not negative.
    fn count(&self) -> Option<u64>;

    /// Its value, if it is a boolean.
    fn boolean(&self) -> Option<bool>;

    /// The values, if it is a list.
    fn list(&self) -> Option<&[Self]>;
}

/// Implements [`JsonNode`] by methods that both types have.
macro_rules! node {
    ($type:ty, $slice:path) => {
        impl JsonNode for $type {
            fn named(&self, name: &str) -> Option<&Self> {
                self.get(name)
            }

            fn is_object(&self) -> bool {
                self.as_object().is_some()
            }

            fn is_null(&self) -> bool {
                <$type>::is_null(self)
            }

            fn text(&self) -> Option<&str> {
                self.as_str()
            }

            fn integer(&self) -> Option<i64> {
                self.as_i64()
            }

            fn count(&self) -> Option<u64> {
                self.as_u64()
            }

            fn boolean(&self) -> Option<bool> {
                self.as_bool()
            }

            fn list(&self) -> Option<&[Self]> {
                self.as_array().map($slice)
            }
        }
    };
}

node!(Value, AsRef::as_ref);
node!(serde_json::Value, Vec::as_slice);

/// What stands in a field of any type.
#[derive(Debug)]
pub struct AnyType;

/// A type that fields are of.
pub trait FieldType {
    /// What is read of it.
    type Read<'a, V: JsonNode + 'a>;

    /// Reads it; `None` for a value of another type.
    fn read<V: JsonNode>(value: &V) -> Option<Self::Read<'_, V>>;
}

impl FieldType for str {
    type Read<'a, V: JsonNode + 'a> = &'a str;

    fn read<V: JsonNode>(value: &V) -> Option<&str> {
        value.text()
    }
}

impl FieldType for i64 {
    type Read<'a, V: JsonNode + 'a> = i64;

    fn read<V: JsonNode>(value: &V) -> Option<i64> {
        value.integer()
    }
}

impl FieldType for bool {
    type Read<'a, V: JsonNode + 'a> = bool;

    fn read<V: JsonNode>(value: &V) -> Option<bool> {
        value.boolean()
    }
}

impl FieldType for [AnyType] {
    type Read<'a, V: JsonNode + 'a> = &'a [V];

    fn read<V: JsonNode>(value: &V) -> Option<&[V]> {
        value.list()
    }
}

impl FieldType for AnyType {
    type Read<'a, V: JsonNode + 'a> = &'a V;

    fn read<V: JsonNode>(value: &V) -> Option<&V> {
        Some(value)
    }
}

/// A znode as it is named: its path and its czxid, each `None` if it is missing or of another type.
impl FieldType for ZnodeName {
    type Read<'a, V: JsonNode + 'a> = (Option<&'a str>, Option<i64>);

    fn read<V: JsonNode>(value: &V) -> Option<Self::Read<'_, V>> {
        let made = (super::PATH.read_from(value), super::CZXID.read_from(value));
        value.is_object().then_some(made)
    }
}

impl Event {
    /// The content of a field of the value; `None` if it is missing or of another type.
    pub fn get<T: FieldType + ?Sized>(&self, field: Field<T>) -> Option<T::Read<'_, Value>> {
        field.read_from(&self.value)
    }
}

/// Defines fields, each as a constant, and as the method of [`Event`] that reads it.
macro_rules! fields {
    ($($(#[$doc:meta])* $constant:ident, $method:ident: $type:ty = $name:literal;)*) => {
        $(
            $(#[$doc])*
            pub const $constant: $crate::operation::Field<$type> = $crate::operation::Field::new($name);
        )*

        impl $crate::event::Event {
            $(
                $(#[$doc])*
                pub fn $method(&self) -> Option<<$type as $crate::operation::FieldType>::Read<'_, $crate::Value>> {
                    self.get($constant)
                }
            )*
        }
    };
}
pub(super) use fields;
