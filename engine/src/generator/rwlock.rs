//! The family `rwlock`.

use super::FamilyGenerator;
use super::grants::{GrantGenerator, GrantWords};
use zooquake_history::operation::rwlock;

const WORDS: GrantWords = GrantWords {
    shared: 6,
    ..GrantWords::ACQUIRE_AND_WRITE
};

/// The family and its generator.
pub const FAMILY: FamilyGenerator = FamilyGenerator {
    spec: &rwlock::FAMILY,
    generator: |plan| Box::new(GrantGenerator::new(plan, &WORDS)),
};
