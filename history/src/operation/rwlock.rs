//! The family `rwlock`.

use super::Family;
use super::grant::{ACQUIRE, READ, RELEASE, WRITE};

/// Read-write locks: readers hold shared, writers exclusively.
pub const FAMILY: Family = Family {
    name: "rwlock",
    recipes: true,
    grants: true,
    ops: &[ACQUIRE, READ, WRITE, RELEASE],
};
