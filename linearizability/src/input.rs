//! Why the operations of a history cannot be decided.

use crate::Value;
use std::fmt;

/// An operation that is none of the model's, or whose values the model cannot have.
#[derive(Debug, Clone, PartialEq)]
pub enum InputError {
    /// What is wrong, in words.
    Unable(String),
    /// A value has another form than the model's.
    Unexpected {
        /// What is lacking, as the beginning of a sentence.
        what: String,
        /// The value that was found.
        found: Value,
    },
    /// It is not known what a value equals.
    Incomparable {
        /// The value's role, as the subject of a sentence.
        what: String,
        /// The value, which has no readable form.
        value: Value,
    },
    /// A read was sent for one key and answered for another one.
    OtherKey {
        /// The name of the read.
        f: String,
        /// The position of its invocation.
        invoke: usize,
        /// What it was invoked with.
        asked: Value,
        /// The position of its answer.
        complete: usize,
        /// What it was answered with.
        answered: Value,
    },
}

impl InputError {
    /// The same in words, with its values written by `text`, and one without readable form by `raw`.
    pub fn words(&self, text: impl Fn(&Value) -> String, raw: impl Fn(&Value) -> String) -> String {
        match self {
            Self::Unable(what) => what.clone(),
            Self::Unexpected { what, found } => format!("{what}, but {}", text(found)),
            Self::Incomparable { what, value } => format!(
                "{what} cannot be compared: {} has no readable form, so what it equals is not known",
                raw(value)
            ),
            Self::OtherKey {
                f,
                invoke,
                asked,
                complete,
                answered,
            } => format!(
                "the {f} of event {invoke} was sent for the key of {}, and answered for another at event {complete}: {}",
                text(asked),
                text(answered)
            ),
        }
    }
}

/// With its values as EDN.
impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words(Value::to_string, Value::to_string))
    }
}

impl std::error::Error for InputError {}
