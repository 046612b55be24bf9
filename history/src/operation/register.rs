//! Operations on a register.

use super::{
    Family, Field, FieldContent, FieldSource, FinishRule, OpSpec, Operation, RequiredField, Role, fields, grant,
};
use crate::protocol::ClientLimit;
use serde::{Deserialize, Serialize};

/// Names of the operations.
pub mod f {
    pub use super::super::grant::f::{READ, WRITE};

    /// To set another value, if the register holds the one that is named.
    pub const CAS: &str = "cas";
}

/// Registers. A fault strikes in any of their operations.
pub const FAMILY: Family = Family {
    name: "register",
    recipes: true,
    grants: false,
    ops: &[
        grant::READ,
        grant::WRITE,
        OpSpec::new(f::CAS, Role::Work).finishes(FinishRule::OkOrMismatch),
    ],
    fields: &[&[
        RequiredField::new(
            FieldSource::Answer(&[f::READ]),
            &["value"],
            FieldContent::NumberOrNull,
            "not-linearizable",
        ),
        RequiredField::new(ACCESSES, &["session"], FieldContent::Session, "session-order")
            .unless(ClientLimit::Session, "these answers are of no known session"),
        RequiredField::new(ACCESSES, &["mzxid"], FieldContent::Number, "session-order")
            .unless(ClientLimit::Czxid, "these answers are of no known transaction"),
    ]],
};

const ACCESSES: FieldSource = FieldSource::Answer(&[f::READ, f::WRITE, f::CAS]);

/// What a client is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "f", content = "value", rename_all = "kebab-case")]
pub enum RegisterRequest {
    /// To read the value.
    Read {},
    /// To write a value.
    Write {
        /// The value, one that is written once in a run.
        value: i64,
    },
    /// To write a value if the register holds another.
    Cas {
        /// What it has to hold.
        from: i64,
        /// What is written.
        to: i64,
    },
}

/// What a client answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RegisterAnswer {
    /// What was read or written.
    #[serde(flatten)]
    pub what: RegisterContent,
    /// The transaction that wrote it.
    pub mzxid: i64,
    /// The session that asked.
    pub session: String,
    /// The only server that the client uses; `None` if it may use all.
    pub server: Option<String>,
}

/// What was read or written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum RegisterContent {
    /// By `read` and `write`.
    Value {
        /// The value; `None` before the first write.
        value: Option<i64>,
    },
    /// By `cas`.
    Swapped {
        /// What it held.
        from: i64,
        /// What it holds.
        to: i64,
    },
}

impl Operation for RegisterRequest {}

/// What was read, or what is written.
pub const VALUE: Field<i64> = Field::new("value");
/// What a `cas` finds.
pub const FROM: Field<i64> = Field::new("from");
/// What a `cas` writes.
pub const TO: Field<i64> = Field::new("to");

fields! {
    /// The server that answered, `n2`.
    SERVER, server: str = "server";
}
