//! The family `lock`.

use super::FamilyGenerator;
use super::grants::{GrantGenerator, GrantWords};
use zooquake_history::operation::lock;

/// The family and its generator.
pub const FAMILY: FamilyGenerator = FamilyGenerator {
    spec: &lock::FAMILY,
    generator: |plan| Box::new(GrantGenerator::new(plan, &GrantWords::ACQUIRE_AND_WRITE)),
};
