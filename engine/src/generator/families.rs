//! The registry of families. A new one is a file and a line here.

use super::{FamilyGenerator, Generator, barrier, commit, counter, grants, membership, queue, register};
use std::error::Error;
use std::fmt;
use zooquake_history::operation::{self, consensus, ensemble};
use zooquake_history::plan::Plan;

/// The families, as many as in [`operation::FAMILIES`] and in the same order: one that is added there alone does not
/// compile.
pub const FAMILIES: [FamilyGenerator; operation::FAMILIES.len()] = [
    grants::LOCK,
    grants::RWLOCK,
    grants::ELECTION,
    grants::SEMAPHORE,
    commit::FAMILY,
    barrier::FAMILY,
    queue::FAMILY,
    register::FAMILY,
    counter::FAMILY,
    membership::FAMILY,
    // The plans of scenes have no clients to ask.
    FamilyGenerator {
        spec: &ensemble::FAMILY,
        ..grants::LOCK
    },
    // Its nodes are no clients of the engine: a network plays its plans whole.
    FamilyGenerator {
        spec: &consensus::FAMILY,
        ..grants::LOCK
    },
];

/// A plan's family that has no generator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownFamily(String);

impl fmt::Display for UnknownFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no generator for the family `{}`", self.0)
    }
}

impl Error for UnknownFamily {}

/// The generator of the plan's family.
///
/// # Errors
/// If there is none.
pub fn from_plan(plan: &Plan) -> Result<Box<dyn Generator>, UnknownFamily> {
    let name = &plan.workload.family;
    let family = FAMILIES.iter().find(|family| family.spec.name == name);
    let family = family.ok_or_else(|| UnknownFamily(name.clone()))?;
    Ok((family.generator)(plan))
}
