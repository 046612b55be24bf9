//! The family `rwlock`.

use super::grant::{ACQUIRE, GRANTED, READ, RELEASE, WRITE, WRITTEN};
use super::{Family, control};

/// Read-write locks: readers hold shared, writers exclusively.
pub const FAMILY: Family = Family {
    name: "rwlock",
    recipes: true,
    grants: true,
    ops: &[ACQUIRE, READ, WRITE, RELEASE],
    fields: &[
        WRITTEN,
        GRANTED,
        &control::beliefs("double-grant"),
        control::AUDITED,
        &control::session("foreign-znode"),
    ],
};
