//! The family `lock`.

use super::family::FamilyWords;
use super::grant;
use crate::model::terms::Terms;
use zooquake_history::operation::lock;

/// Words for a lock.
pub const TERMS: Terms = Terms {
    holds: "holds",
    hold: Some("holds"),
    wait: Some("waits"),
    work: "works, then writes",
    take: Some("reads"),
    leave: Some("releases"),
    took: "write accepted",
    refused: Some("refused"),
    no: None,
};

/// The family and its words.
pub const FAMILY: FamilyWords = FamilyWords {
    spec: &lock::FAMILY,
    terms: |_| &TERMS,
    predicate: grant::predicate,
};
