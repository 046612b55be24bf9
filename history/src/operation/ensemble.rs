//! The family `ensemble`: scenes, which have no clients.

use super::Family;

/// Scenes of an ensemble itself. Nobody is asked for anything.
pub const FAMILY: Family = Family {
    name: "ensemble",
    recipes: false,
    grants: false,
    ops: &[],
    fields: &[],
};
