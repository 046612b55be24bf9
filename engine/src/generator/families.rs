//! The registry of families. A new one is a file and a line here.

use super::{
    FamilyGenerator, Generator, barrier, commit, consensus, counter, election, ensemble, lock, membership, queue,
    register, rwlock, semaphore,
};
use std::error::Error;
use std::fmt;
use zooquake_history::plan::Plan;

/// The families, as in [`zooquake_history::operation::FAMILIES`].
pub const FAMILIES: &[FamilyGenerator] = &[
    lock::FAMILY,
    rwlock::FAMILY,
    election::FAMILY,
    semaphore::FAMILY,
    commit::FAMILY,
    barrier::FAMILY,
    queue::FAMILY,
    register::FAMILY,
    counter::FAMILY,
    membership::FAMILY,
    ensemble::FAMILY,
    consensus::FAMILY,
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
