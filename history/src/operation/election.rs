//! The family `election`.

use super::grant::{ACKNOWLEDGED, GRANTED, WRITE, WRITTEN, f};
use super::{Family, OpSpec, Role, control};

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
    fields: &[
        WRITTEN,
        ACKNOWLEDGED,
        GRANTED,
        &control::beliefs("two-leaders"),
        control::AUDITED,
        &control::session("foreign-znode"),
    ],
};
