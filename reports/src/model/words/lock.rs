//! The family `lock`.

use super::{FamilyWords, grant};
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
pub(super) const FAMILY: FamilyWords = FamilyWords {
    spec: &lock::FAMILY,
    terms: |_| &TERMS,
    predicate: grant::predicate,
};
