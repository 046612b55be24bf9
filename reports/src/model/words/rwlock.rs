//! The family `rwlock`, in the words of a lock.

use super::{FamilyWords, grant, lock};
use zooquake_history::operation::rwlock;

/// The family and its words.
pub(super) const FAMILY: FamilyWords = FamilyWords {
    spec: &rwlock::FAMILY,
    terms: |_| &lock::TERMS,
    predicate: grant::predicate,
};
