//! The family `election`.

use super::{FamilyWords, grant, lock};
use crate::model::terms::Terms;
use zooquake_history::operation::election;

const TERMS: Terms = Terms {
    holds: "leads under",
    hold: Some("leads"),
    wait: Some("stands for election"),
    leave: Some("resigns"),
    ..lock::TERMS
};

/// The family and its words.
pub(super) const FAMILY: FamilyWords = FamilyWords {
    spec: &election::FAMILY,
    terms: |_| &TERMS,
    predicate: grant::predicate,
};
