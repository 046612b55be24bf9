//! The family `consensus`, whose nodes are no clients of the engine: a network plays its plans whole.

use super::FamilyGenerator;
use super::grants::{GrantGenerator, GrantWords};
use zooquake_history::operation::consensus;

/// The family and its generator, which has no client to ask.
pub const FAMILY: FamilyGenerator = FamilyGenerator {
    spec: &consensus::FAMILY,
    generator: |plan| Box::new(GrantGenerator::new(plan, &GrantWords::ACQUIRE_AND_WRITE)),
};
