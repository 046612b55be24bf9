//! The family `ensemble`, whose runs have no clients.

use super::FamilyWords;
use crate::model::terms::GENERAL;
use zooquake_history::operation::ensemble;

/// The family and its words.
pub(super) const FAMILY: FamilyWords = FamilyWords {
    spec: &ensemble::FAMILY,
    terms: |_| &GENERAL,
    predicate: |_| None,
};
