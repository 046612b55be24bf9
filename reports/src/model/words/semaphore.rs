//! The family `semaphore`.

use super::{FamilyWords, grant, lock};
use crate::model::terms::Terms;
use zooquake_history::operation::semaphore;

const TERMS: Terms = Terms {
    work: "works",
    took: "has worked",
    refused: None,
    ..lock::TERMS
};

/// The family and its words.
pub(super) const FAMILY: FamilyWords = FamilyWords {
    spec: &semaphore::FAMILY,
    terms: |_| &TERMS,
    predicate: grant::predicate,
};
