//! The family `election`.

use super::grant::{WRITE, f};
use super::{Family, OpSpec, Role};

/// Elections of a leader.
pub const FAMILY: Family = Family {
    name: "election",
    recipes: true,
    grants: true,
    ops: &[
        OpSpec::new(f::ELECT, Role::Wait).waits().again(),
        WRITE,
        OpSpec::new(f::RESIGN, Role::Leave),
    ],
};
