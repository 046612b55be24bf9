//! Operations on a counter, which begins at 0.

use super::{Family, Field, FieldContent, FieldSource, OpSpec, Operation, RequiredField, Role, control, fields};
use serde::{Deserialize, Serialize};

/// Names of the operations.
pub mod f {
    /// To add 1.
    pub const INCREMENT: &str = "increment";
    /// To read the value.
    pub const GET: &str = "get";
}

/// Counters. A fault strikes in any of their operations.
pub const FAMILY: Family = Family {
    name: "counter",
    recipes: true,
    grants: false,
    ops: &[OpSpec::new(f::INCREMENT, Role::Work), OpSpec::new(f::GET, Role::Take)],
    fields: &[
        &[
            RequiredField::new(
                FieldSource::Answer(&[f::INCREMENT]),
                &["id"],
                FieldContent::Number,
                "duplicate-id",
            )
            .doubted(),
            RequiredField::new(
                FieldSource::Answer(&[f::GET]),
                &["value"],
                FieldContent::Number,
                "lost-increment",
            )
            .doubted(),
        ],
        &control::confirmed("lost-increment"),
    ],
};

/// What a client is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "f", content = "value", rename_all = "kebab-case")]
pub enum CounterRequest {
    /// To add 1.
    Increment {},
    /// To read the value.
    Get {},
}

/// What a client answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CounterAnswer {
    /// What was made or read.
    #[serde(flatten)]
    pub what: CounterContent,
    /// The transaction that wrote it; `None` where the client cannot give it.
    pub mzxid: Option<i64>,
    /// The session that asked.
    pub session: String,
    /// The only server that the client uses; `None` if it may use all.
    pub server: Option<String>,
}

/// What was made or read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum CounterContent {
    /// By `increment`.
    Made {
        /// The value that it made, which no other increment is given.
        id: i64,
    },
    /// By `get`.
    Value { value: i64 },
}

impl Operation for CounterRequest {}

/// What was read.
pub const VALUE: Field<i64> = Field::new("value");

fields! {
    /// The value that an increment made.
    ID, id: i64 = "id";
}
