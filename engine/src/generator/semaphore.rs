//! The family `semaphore`.

use super::FamilyGenerator;
use super::grants::{GrantGenerator, GrantWords};
use zooquake_history::operation::{grant::GrantRequest, semaphore};

const WORDS: GrantWords = GrantWords {
    work: |grant, _, work_ms| GrantRequest::Work { grant, work_ms },
    ..GrantWords::ACQUIRE_AND_WRITE
};

/// The family and its generator.
pub const FAMILY: FamilyGenerator = FamilyGenerator {
    spec: &semaphore::FAMILY,
    generator: |plan| Box::new(GrantGenerator::new(plan, &WORDS)),
};
