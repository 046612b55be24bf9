//! The family `lock`.

use super::grant::{ACQUIRE, GRANTED, RELEASE, WRITE, WRITTEN, f};
use super::{Family, FinishRule, OpSpec, Role, control};

/// Locks: one client at a time holds.
pub const FAMILY: Family = Family {
    name: "lock",
    recipes: true,
    grants: true,
    ops: &[
        ACQUIRE,
        OpSpec::new(f::TRY_ACQUIRE, Role::Wait)
            .finishes(FinishRule::OkOrFail)
            .again(),
        WRITE,
        RELEASE,
    ],
    fields: &[
        WRITTEN,
        GRANTED,
        &control::beliefs("double-grant"),
        control::AUDITED,
        &control::session("foreign-znode"),
    ],
};
