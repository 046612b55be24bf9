//! The family `ensemble`, whose plans have no clients.

use super::FamilyGenerator;
use super::grants::{GrantGenerator, GrantWords};
use zooquake_history::operation::ensemble;

/// The family and its generator, which has no client to ask.
pub const FAMILY: FamilyGenerator = FamilyGenerator {
    spec: &ensemble::FAMILY,
    generator: |plan| Box::new(GrantGenerator::new(plan, &GrantWords::ACQUIRE_AND_WRITE)),
};
