//! Fields of an event's value: the name and the type of each, defined once.

use super::Made;
use crate::event::Event;
use serde_json::Value;
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

    /// The same field, read as whatever stands in it, be it `null`.
    pub const fn any(self) -> Field<Value> {
        Field::new(self.name)
    }

    /// What the field says; `None` if it is missing or of another type.
    pub fn of(self, value: &Value) -> Option<T::Read<'_>>
    where
        T: FieldType,
    {
        T::read(value.get(self.name)?)
    }

    /// Writes the field into a value that has fields or is `null`; any other value stays as it is.
    pub fn put(self, value: &mut Value, what: impl Into<Value>) {
        if value.is_null() {
            *value = Value::Object(serde_json::Map::new());
        }
        if let Some(fields) = value.as_object_mut() {
            fields.insert(self.name.to_owned(), what.into());
        }
    }
}

/// A type that fields are of.
pub trait FieldType {
    /// What is read of it.
    type Read<'a>;

    /// Reads it; `None` for a value of another type.
    fn read(value: &Value) -> Option<Self::Read<'_>>;
}

impl FieldType for str {
    type Read<'a> = &'a str;

    fn read(value: &Value) -> Option<&str> {
        value.as_str()
    }
}

impl FieldType for i64 {
    type Read<'a> = i64;

    fn read(value: &Value) -> Option<i64> {
        value.as_i64()
    }
}

impl FieldType for bool {
    type Read<'a> = bool;

    fn read(value: &Value) -> Option<bool> {
        value.as_bool()
    }
}

impl FieldType for [Value] {
    type Read<'a> = &'a [Value];

    fn read(value: &Value) -> Option<&[Value]> {
        value.as_array().map(Vec::as_slice)
    }
}

impl FieldType for Value {
    type Read<'a> = &'a Value;

    fn read(value: &Value) -> Option<&Value> {
        Some(value)
    }
}

/// A znode as it is named: its path and its czxid, each `None` if it is missing or of another type.
impl FieldType for Made {
    type Read<'a> = (Option<&'a str>, Option<i64>);

    fn read(value: &Value) -> Option<Self::Read<'_>> {
        let made = (super::PATH.of(value), super::CZXID.of(value));
        value.is_object().then_some(made)
    }
}

impl Event {
    /// What a field of the value says; `None` if it is missing or of another type.
    pub fn get<T: FieldType + ?Sized>(&self, field: Field<T>) -> Option<T::Read<'_>> {
        field.of(&self.value)
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
                pub fn $method(&self) -> Option<<$type as $crate::operation::FieldType>::Read<'_>> {
                    self.get($constant)
                }
            )*
        }
    };
}
pub(super) use fields;
