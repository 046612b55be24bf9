//! The family `election`.

use super::FamilyGenerator;
use super::grants::{GrantGenerator, GrantWords};
use zooquake_history::operation::{election, grant::GrantRequest};

const WORDS: GrantWords = GrantWords {
    acquire: |grant, _| GrantRequest::Elect { grant },
    release: |grant| GrantRequest::Resign { grant },
    ..GrantWords::ACQUIRE_AND_WRITE
};

/// The family and its generator.
pub const FAMILY: FamilyGenerator = FamilyGenerator {
    spec: &election::FAMILY,
    generator: |plan| Box::new(GrantGenerator::new(plan, &WORDS)),
};
