//! The family `rwlock`, in the words of a lock.

use super::family::FamilyWords;
use super::{grant, lock};
use zooquake_history::operation::rwlock;

/// The family and its words.
pub const FAMILY: FamilyWords = FamilyWords {
    spec: &rwlock::FAMILY,
    terms: |_| &lock::TERMS,
    predicate: grant::predicate,
};
