//! The registry of families. A new one is a folder and a line here.

use super::variant::{FamilyVariants, Variant};
use super::{barrier, commit, counter, election, lock, membership, queue, register, rwlock, semaphore};
use std::sync::LazyLock;
use zooquake_history::operation::RECIPE_FAMILIES;

/// The families with recipes, in the order of [`zooquake_history::operation::FAMILIES`].
pub const FAMILIES: &[FamilyVariants; RECIPE_FAMILIES] = &[
    lock::variants::FAMILY,
    rwlock::variants::FAMILY,
    election::variants::FAMILY,
    semaphore::variants::FAMILY,
    commit::FAMILY,
    barrier::variants::FAMILY,
    queue::FAMILY,
    register::variants::FAMILY,
    counter::variants::FAMILY,
    membership::FAMILY,
];

/// All variants but those with planted bugs, by family, in the order in which they are shown.
pub fn registry() -> &'static [Variant] {
    static ALL: LazyLock<Vec<Variant>> =
        LazyLock::new(|| FAMILIES.iter().flat_map(|family| family.variants).copied().collect());
    &ALL
}
