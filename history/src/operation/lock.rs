//! The family `lock`.

use super::grant::{ACQUIRE, RELEASE, WRITE, f};
use super::{Family, FinishRule, OpSpec, Role};

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
};
