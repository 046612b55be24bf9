//! The family `semaphore`.

use super::grant::{ACQUIRE, GRANTED, RELEASE, f};
use super::{Family, OpSpec, Role, control};

/// Semaphores: as many clients hold at a time as there are leases. There is nothing that they write.
pub const FAMILY: Family = Family {
    name: "semaphore",
    recipes: true,
    grants: true,
    ops: &[ACQUIRE, OpSpec::new(f::WORK, Role::Work), RELEASE],
    fields: &[
        GRANTED,
        &control::beliefs("over-capacity"),
        control::AUDITED,
        &control::session("foreign-znode"),
    ],
};
